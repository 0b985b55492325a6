/* SPDX-License-Identifier: MIT */
/* api_intern.c - operations of the fuzz target: interning and finding, one by one, many and in
 * batches. */
#include "api.h"

#include <errno.h>

/* ---------------------------------------------------------------- one by one */

static void put(struct run *r, const struct text *text, const char *got, int error)
{
	model_interned(&r->m, text->data, text->len, got, error);
}

void op_intern(struct run *r)
{
	struct text text = take_text(r);
	const char *got;

	errno = 0;
	got = cistern_intern(r->m.c, text.data, text.len);
	put(r, &text, got, errno);
	free(text.data);
}

void op_intern_new(struct run *r)
{
	struct text text = take_text(r);
	bool there = words_get(&r->m.set, text.data, text.len) != NULL, is_new = there;
	const char *got;

	errno = 0;
	got = cistern_intern_new(r->m.c, text.data, text.len, &is_new);
	put(r, &text, got, errno);
	FUZZ_CHECK(is_new == (got ? !there : there));
	free(text.data);
}

void op_internv(struct run *r)
{
	struct text text = take_text(r);
	size_t cut = text.len ? fuzz_number(&r->in) % (text.len + 1) : 0;
	size_t last = text.len - cut ? fuzz_byte(&r->in) % (text.len - cut + 1) : 0;
	cistern_span parts[5] = {{text.data, cut},
				 {NULL, 0},
				 {text.data ? text.data + cut : NULL, text.len - cut - last},
				 {"", 0},
				 {text.data ? text.data + text.len - last : NULL, last}};
	const char *got;

	errno = 0;
	got = cistern_internv(r->m.c, parts, 5);
	put(r, &text, got, errno);
	free(text.data);
}

void op_intern_hashed(struct run *r)
{
	struct text text = take_text(r);
	uint64_t hash = cistern_hash(r->m.c, text.data, text.len);
	const char *got;

	model_found(&r->m, text.data, text.len,
		    cistern_find_hashed(r->m.c, text.data, text.len, hash));
	errno = 0;
	got = cistern_intern_hashed(r->m.c, text.data, text.len, hash);
	put(r, &text, got, errno);
	free(text.data);
}

void op_find(struct run *r)
{
	struct text text = take_text(r);

	errno = 123;
	model_found(&r->m, text.data, text.len, cistern_find(r->m.c, text.data, text.len));
	FUZZ_CHECK(errno == 123);
	free(text.data);
}

/* C strings end at their first NUL. */
void op_cstr(struct run *r)
{
	struct text text = take_text(r), whole = {need(malloc(text.len + 1)), 0};
	const char *got;

	if (text.len)
		memcpy(whole.data, text.data, text.len);
	whole.data[text.len] = '\0';
	whole.len = strlen(whole.data);
	model_found(&r->m, whole.data, whole.len, cistern_find_cstr(r->m.c, whole.data));
	errno = 0;
	got = cistern_intern_cstr(r->m.c, whole.data);
	put(r, &whole, got, errno);
	free(text.data);
	free(whole.data);
}

/* Many at once, so that tables grow without an input of thousands of bytes. */
void op_many(struct run *r)
{
	unsigned kind = fuzz_byte(&r->in), from = fuzz_number(&r->in),
		 n = 1 + 4u * fuzz_byte(&r->in), i;

	if (n > r->many)
		n = r->many;
	r->many -= n;
	for (i = from; i < from + n; i++) {
		struct text text = kind % 4 == 0   ? forged_text(r, i & 0xFFFF, true)
				   : kind % 4 == 1 ? forged_text(r, i & 0xFFFF, false)
						   : number_text(i);
		const char *got;

		errno = 0;
		got = cistern_intern(r->m.c, text.data, text.len);
		put(r, &text, got, errno);
		free(text.data);
	}
}

/* ---------------------------------------------------------------- batches */

enum { BATCH_MAX = 300 };

struct batch {
	struct text texts[BATCH_MAX];
	cistern_span in[BATCH_MAX];
	const char *out[BATCH_MAX];
	size_t n, bad; /* in[bad] is no string: a length and no address */
};

static struct batch *take_batch(struct run *r)
{
	struct batch *b = need(calloc(1, sizeof(*b)));
	unsigned from, every;
	size_t i;

	b->n = (fuzz_number(&r->in)) % (BATCH_MAX + 1);
	from = fuzz_number(&r->in);
	every = 1 + fuzz_byte(&r->in) % 64;
	b->bad = fuzz_byte(&r->in);
	if (b->bad < 128)
		b->bad = SIZE_MAX;
	for (i = 0; i < b->n; i++) {
		b->texts[i] = i % every == 0 && fuzz_left(&r->in) ? take_text(r)
								  : number_text(from + (unsigned)i);
		b->in[i] = i == b->bad ? (cistern_span){NULL, 1}
				       : (cistern_span){b->texts[i].data, b->texts[i].len};
		b->out[i] = "untouched";
	}
	return b;
}

static void free_batch(struct batch *b)
{
	size_t i;

	for (i = 0; i < b->n; i++)
		free(b->texts[i].data);
	free(b);
}

void op_find_batch(struct run *r)
{
	struct batch *b = take_batch(r);
	size_t found = 0, i, got;

	errno = 123;
	got = cistern_find_batch(r->m.c, b->in, b->out, b->n);
	FUZZ_CHECK(errno == 123);
	for (i = 0; i < b->n; i++) {
		if (i == b->bad)
			FUZZ_CHECK(!b->out[i]);
		else
			model_found(&r->m, b->in[i].data, b->in[i].len, b->out[i]);
		found += b->out[i] != NULL;
	}
	FUZZ_CHECK(got == found);
	free_batch(b);
}

/* Some of what stands behind a failure may be interned all the same. */
static void adopt(struct run *r, const cistern_span *span)
{
	const char *str =
	    span->data || !span->len ? cistern_find(r->m.c, span->data, span->len) : NULL;

	if (str)
		model_interned(&r->m, span->data, span->len, str, 0);
}

void op_intern_batch(struct run *r)
{
	struct batch *b = take_batch(r);
	size_t i, done;
	int error;

	errno = 0;
	done = cistern_intern_batch(r->m.c, b->in, b->out, b->n);
	error = errno;
	FUZZ_CHECK(done <= b->n && (done == b->n || error));
	for (i = 0; i < done; i++)
		FUZZ_CHECK(i != b->bad &&
			   model_interned(&r->m, b->in[i].data, b->in[i].len, b->out[i], 0));
	for (i = done + 1; i < b->n; i++) {
		FUZZ_CHECK(!b->out[i]);
		adopt(r, &b->in[i]);
	}
	if (done < b->n) {
		FUZZ_CHECK(!b->out[done]);
		if (done == b->bad)
			FUZZ_CHECK(error == EINVAL);
		else
			model_interned(&r->m, b->in[done].data, b->in[done].len, NULL, error);
	}
	free_batch(b);
}
