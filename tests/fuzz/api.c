/* SPDX-License-Identifier: MIT */
/*
 * api.c - fuzz target: the bytes are a program of calls on one interner after another, and a plain
 * set next to it (model.h) knows each answer.
 *
 *   configuration, then operations: a byte that chooses, then what the operation takes
 *
 * A string is an operand of several kinds: bytes of the input, a string that is there already or
 * nearly so, a number, a long run of one byte, or one of those that collide under the interner's
 * secret, which follows from a fixed seed: so tables grow, fill and are re-keyed by inputs of some
 * bytes. To add an operation: a function, and its line in operations[].
 */
#include "fuzz.h"

#include "faults.h"
#include "forge.h"
#include "hash.h"
#include "json.h"
#include "model.h"
#include "tools.h"

#include <errno.h>

const char fuzz_target[] = "api";

enum {
	SEED = 7,
	OPERATIONS = 256, /* in one input */
	MANY = 20000,     /* strings of op_many in one input */
	BUDGET = 1 << 17  /* bytes of long strings in one input */
};

struct run {
	struct model m;
	struct fuzz_bytes in;
	struct secret secret;
	size_t budget; /* bytes that are left of BUDGET */
	unsigned many; /* strings that are left of MANY */
	bool giants;   /* one string of 16 MiB, whose length is escaped */
};

/* ---------------------------------------------------------------- configuration */

static cistern_config take_config(struct run *r)
{
	static const uint32_t shards[] = {1, 1, 2, 4, 16, 64, 256, 0};
	static const uint64_t slab_sizes[] = {256, 512, 4096, 65536};
	static const uint32_t intervals[] = {0, 1, 4, 32};
	static const uint64_t sizes[] = {65536,
					 131072,
					 1 << 20,
					 4 << 20,
					 UINT64_C(1) << 28,
					 UINT64_C(1) << 32,
					 UINT64_C(1) << 34,
					 UINT64_C(1) << 36};
	static const uint64_t limits[] = {0, 0, 0, 65536, 98304, 131072, 262144, 1 << 20};
	static const uint64_t longest[] = {0, 0, 0, 0, 1, 16, 129, 5000};
	static const uint64_t capacities[] = {0, 0, 100, 5000};
	static const uint64_t chunks[] = {0, 0, 4096, 65536};
	static const uint32_t values[] = {0, 4, 8, 8};
	static const cistern_hugepages huge[] = {CISTERN_HUGEPAGES_NEVER, CISTERN_HUGEPAGES_AUTO,
						 CISTERN_HUGEPAGES_NEVER, CISTERN_HUGEPAGES_ALWAYS};
	unsigned a = fuzz_byte(&r->in), b = fuzz_byte(&r->in), c = fuzz_byte(&r->in),
		 d = fuzz_byte(&r->in);
	cistern_config config = CISTERN_CONFIG_INIT;

	config.shards = shards[a & 7];
	config.slab_size = slab_sizes[a >> 3 & 3];
	config.growth_interval = intervals[a >> 5 & 3];
	if (a >> 7)
		config.slab_max = config.slab_size;
	/* ThreadSanitizer clears its shadow of the ranges each time */
	config.max_bytes = sizes[UNDER_TSAN ? b & 3 : b & 7];
	config.value_size = values[b >> 3 & 3];
	config.links = b >> 5 & 1;
	config.lock = b >> 6 & 1 ? CISTERN_LOCK_SPIN : CISTERN_LOCK_MUTEX;
	config.prefault = b >> 7;
	config.memory_limit = limits[c & 7];
	config.max_len = longest[c >> 3 & 7];
	config.capacity = capacities[c >> 6];
	config.commit_chunk = chunks[d & 3];
	config.hugepages = huge[d >> 2 & 3];
	r->giants = d >> 4 == 15;
	config.seed = SEED;
	return config;
}

/* ---------------------------------------------------------------- strings */

struct text {
	char *data; /* of that very size; NULL: the empty string without an address */
	size_t len;
};

static struct text text_of(const char *data, size_t len)
{
	struct text text = {need(malloc(len ? len : 1)), len};

	if (len)
		memcpy(text.data, data, len);
	return text;
}

static struct text number_text(unsigned number)
{
	char digits[16];

	return text_of(digits, (size_t)snprintf(digits, sizeof(digits), "%u", number));
}

/* A string that is there, or one that differs from it by little. */
static struct text known_text(struct run *r, unsigned how)
{
	const struct word *word = model_word(&r->m, fuzz_number(&r->in));
	struct text text;

	if (!word)
		return (struct text){NULL, 0};
	text = text_of(word->data, word->len + 1); /* and its NUL */
	text.len -= how != 1;
	if (how == 2 && text.len)
		text.len--;
	if (how == 3 && text.len)
		text.data[text.len - 1] ^= 1;
	if (how == 4 && text.len)
		text.data[0] ^= 0x40;
	/* what is not part of it any more must not be there either */
	text.data = need(realloc(text.data, text.len ? text.len : 1));
	return text;
}

static struct text run_text(struct run *r, bool giant)
{
	size_t len = fuzz_number(&r->in);
	char byte = (char)fuzz_byte(&r->in);
	struct text text;

	if (giant && r->giants) {
		len = 0xFFFFF0 + len % 32;
		r->giants = false;
	} else if (len > r->budget) {
		len = r->budget;
	}
	r->budget -= len < r->budget ? len : r->budget;
	text = (struct text){need(malloc(len ? len : 1)), len};
	memset(text.data, byte, len);
	return text;
}

static struct text forged_text(struct run *r, unsigned number, bool same)
{
	char bytes[FORGED];

	if (same) {
		forge(&r->secret, number, bytes);
		return text_of(bytes, FORGED);
	}
	/* shard, tag and bucket are those of all the others, header byte and filter bit are not */
	forge_chosen(&r->secret, UINT64_C(0x1234560000000000) | (uint64_t)number << 24, bytes);
	return text_of(bytes, FORGED_CHOSEN);
}

static struct text take_text(struct run *r)
{
	unsigned kind = fuzz_byte(&r->in), detail = kind >> 3;
	struct text text;

	switch (kind & 7) {
	case 0:
	case 1:
		text.data = fuzz_text(&r->in, detail, &text.len);
		return text;
	case 2:
		text.data = fuzz_text(&r->in, fuzz_byte(&r->in), &text.len);
		return text;
	case 3:
		return known_text(r, 0);
	case 4:
		return known_text(r, 1 + detail % 4);
	case 5:
		return number_text(fuzz_number(&r->in));
	case 6:
		return run_text(r, detail == 31);
	default:
		return detail == 31 ? (struct text){NULL, 0}
				    : forged_text(r, fuzz_number(&r->in), detail % 2);
	}
}

/* ---------------------------------------------------------------- interning and finding */

static void put(struct run *r, const struct text *text, const char *got, int error)
{
	model_interned(&r->m, text->data, text->len, got, error);
}

static void op_intern(struct run *r)
{
	struct text text = take_text(r);
	const char *got;

	errno = 0;
	got = cistern_intern(r->m.c, text.data, text.len);
	put(r, &text, got, errno);
	free(text.data);
}

static void op_intern_new(struct run *r)
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

static void op_internv(struct run *r)
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

static void op_intern_hashed(struct run *r)
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

static void op_find(struct run *r)
{
	struct text text = take_text(r);

	errno = 123;
	model_found(&r->m, text.data, text.len, cistern_find(r->m.c, text.data, text.len));
	FUZZ_CHECK(errno == 123);
	free(text.data);
}

/* C strings end at their first NUL. */
static void op_cstr(struct run *r)
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
static void op_many(struct run *r)
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

static void op_find_batch(struct run *r)
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

static void op_intern_batch(struct run *r)
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

/* ---------------------------------------------------------------- what is kept with strings */

static void op_value(struct run *r)
{
	struct word *word = model_word(&r->m, fuzz_number(&r->in));
	uint64_t value = fuzz_number(&r->in) | (uint64_t)fuzz_byte(&r->in) << 32;
	int done;

	errno = 0;
	done = cistern_set_value(r->m.c, word ? word->kept : NULL, value);
	if (!word)
		FUZZ_CHECK(done == -1 && errno == EINVAL);
	else if (r->m.config.value_size == 0)
		FUZZ_CHECK(done == -1 && errno == ENOTSUP);
	else if (r->m.config.value_size == 4 && value > UINT32_MAX)
		FUZZ_CHECK(done == -1 && errno == ERANGE);
	else
		model_extra(&r->m, word)->value = value;
	if (word)
		FUZZ_CHECK(cistern_value(r->m.c, word->kept) == model_extra(&r->m, word)->value);
}

static void op_cas_value(struct run *r)
{
	struct word *word = model_word(&r->m, fuzz_number(&r->in));
	uint64_t expected = fuzz_byte(&r->in), desired = fuzz_number(&r->in), was, before;
	struct extra *extra;
	bool done;

	if (!word)
		return;
	extra = model_extra(&r->m, word);
	was = extra->value;
	if (expected == 0)
		expected = was;
	else if (expected == 1)
		expected = was + (UINT64_C(1) << 32);
	if (desired & 0x8000)
		desired <<= 20;
	before = expected;
	errno = 123;
	done = cistern_cas_value(r->m.c, word->kept, &expected, desired);
	if (r->m.config.value_size == 0 || (r->m.config.value_size == 4 && desired > UINT32_MAX)) {
		FUZZ_CHECK(!done && expected == before);
		FUZZ_CHECK(errno == (r->m.config.value_size ? ERANGE : ENOTSUP));
		return;
	}
	FUZZ_CHECK(errno == 123 && done == (before == was) && expected == was);
	if (done)
		extra->value = desired;
}

static void op_link(struct run *r)
{
	struct word *a = model_word(&r->m, fuzz_number(&r->in)),
		    *b = model_word(&r->m, fuzz_number(&r->in));
	int done;

	errno = 0;
	done = cistern_link(r->m.c, a ? a->kept : NULL, b ? b->kept : NULL);
	if (!a) {
		FUZZ_CHECK(done == -1 && errno == EINVAL);
	} else if (!r->m.config.links) {
		FUZZ_CHECK(done == -1 && errno == ENOTSUP);
	} else {
		FUZZ_CHECK(done == 0);
		model_extra(&r->m, a)->link = b;
		model_extra(&r->m, b)->link = a;
		FUZZ_CHECK(cistern_linked(r->m.c, a->kept) == b->kept);
	}
}

/* ---------------------------------------------------------------- ids and pointers */

static void op_id(struct run *r)
{
	const struct word *word = model_word(&r->m, fuzz_number(&r->in));
	cistern_id id = word ? cistern_id_of(r->m.c, word->kept) : 0;
	const char *str;

	id += (cistern_id)(int8_t)fuzz_byte(&r->in);
	if (fuzz_byte(&r->in) == 255)
		id = fuzz_number(&r->in) | (cistern_id)fuzz_number(&r->in) << 16;
	str = cistern_str(r->m.c, id);
	if (cistern_id_valid(r->m.c, id))
		FUZZ_CHECK(model_owner(&r->m, str) && cistern_id_of(r->m.c, str) == id);
	else
		FUZZ_CHECK(!str || !model_owner(&r->m, str));
	FUZZ_CHECK(id != 0 || !str);
}

static void op_owns(struct run *r)
{
	const struct word *word = model_word(&r->m, fuzz_number(&r->in));
	uintptr_t at = word ? (uintptr_t)word->kept : 0;

	at += (uintptr_t)(intptr_t)(int16_t)fuzz_number(&r->in);
	FUZZ_CHECK(cistern_owns(r->m.c, (const void *)at) ==
		   (model_owner(&r->m, (const void *)at) != NULL));
}

static int sign(int x)
{
	return (x > 0) - (x < 0);
}

static int fold(unsigned char ch)
{
	return ch >= 'A' && ch <= 'Z' ? ch - 'A' + 'a' : ch;
}

static void op_compare(struct run *r)
{
	const struct word *a = model_word(&r->m, fuzz_number(&r->in)),
			  *b = model_word(&r->m, fuzz_number(&r->in));
	int plain = 0, folded = 0;
	size_t i;

	if (!a) {
		FUZZ_CHECK(cistern_compare(NULL, NULL) == 0);
		return;
	}
	for (i = 0; i < a->len && i < b->len; i++) {
		unsigned char x = (unsigned char)a->data[i], y = (unsigned char)b->data[i];

		plain = plain ? plain : x - y;
		folded = folded ? folded : fold(x) - fold(y);
	}
	plain = plain ? plain : (a->len > b->len) - (a->len < b->len);
	folded = folded ? folded : (a->len > b->len) - (a->len < b->len);
	FUZZ_CHECK(sign(cistern_compare(a->kept, b->kept)) == sign(plain));
	FUZZ_CHECK(sign(cistern_casecompare(a->kept, b->kept)) == sign(folded));
	FUZZ_CHECK(cistern_compare(NULL, a->kept) < 0 && cistern_casecompare(a->kept, NULL) > 0);
}

/* ---------------------------------------------------------------- builders */

/* A builder is held against a plain array; what comes out is interned. */
struct draft {
	cistern_buf buf;
	char text[70000];
	size_t len;
	bool failed;
};

static void draft_add(struct run *r, struct draft *d)
{
	struct text text = take_text(r);

	if (d->len + text.len <= sizeof(d->text)) {
		FUZZ_CHECK(cistern_buf_add(&d->buf, text.data, text.len) == !d->failed);
		if (!d->failed && text.len) {
			memcpy(d->text + d->len, text.data, text.len);
			d->len += text.len;
		}
	}
	free(text.data);
}

static void draft_step(struct run *r, struct draft *d, unsigned step)
{
	cistern_span span = cistern_buf_span(&d->buf);
	unsigned number = fuzz_byte(&r->in);
	size_t from = d->len ? number % d->len : 0;

	switch (step) {
	case 0:
		draft_add(r, d);
		break;
	case 1:
		FUZZ_CHECK(cistern_buf_addch(&d->buf, (char)number) == !d->failed);
		if (!d->failed)
			d->text[d->len++] = (char)number;
		break;
	case 2: /* a piece of itself */
		FUZZ_CHECK(cistern_buf_add(&d->buf, span.data + from, d->len - from) == !d->failed);
		if (!d->failed) {
			memcpy(d->text + d->len, d->text + from, d->len - from);
			d->len += d->len - from;
		}
		break;
	case 3:
		FUZZ_CHECK(cistern_buf_addf(&d->buf, "%*u", (int)number, number) == !d->failed);
		if (!d->failed)
			d->len += (size_t)snprintf(d->text + d->len, sizeof(d->text) - d->len,
						   "%*u", (int)number, number);
		break;
	case 4:
		FUZZ_CHECK(cistern_buf_reserve(&d->buf, number * 16) == !d->failed);
		break;
	case 5:
		cistern_buf_reset(&d->buf);
		d->len = 0;
		d->failed = false;
		break;
	case 6:
		cistern_buf_release(&d->buf);
		d->len = 0;
		d->failed = false;
		break;
	default: /* what cannot be added sticks */
		d->failed |= number >= 240;
		if (number >= 240)
			FUZZ_CHECK(!cistern_buf_add(&d->buf, NULL, number % 2 ? 1 : SIZE_MAX));
	}
}

static void op_buf(struct run *r)
{
	struct draft *d = need(calloc(1, sizeof(*d)));
	size_t size = fuzz_byte(&r->in);
	char *storage = need(malloc(size ? size : 1));
	unsigned steps = fuzz_byte(&r->in) % 16;
	const char *got;

	if (size)
		cistern_buf_init_fixed(&d->buf, storage, size);
	else
		cistern_buf_init(&d->buf);
	while (steps--) {
		cistern_span span;

		/* room for the longest step, one that doubles */
		if (d->len < sizeof(d->text) / 2 - 256)
			draft_step(r, d, fuzz_byte(&r->in) % 8);
		span = cistern_buf_span(&d->buf);
		FUZZ_CHECK(span.len == d->len && memcmp(span.data, d->text, d->len) == 0);
		FUZZ_CHECK(span.data[span.len] == '\0' && cistern_buf_failed(&d->buf) == d->failed);
	}
	errno = 0;
	got = cistern_buf_intern(r->m.c, &d->buf);
	if (d->failed)
		FUZZ_CHECK(!got && errno == ENOMEM);
	else
		model_interned(&r->m, d->text, d->len, got, errno);
	cistern_buf_release(&d->buf);
	free(storage);
	free(d);
}

/* ---------------------------------------------------------------- the interner as a whole */

static void op_reserve(struct run *r)
{
	unsigned how = fuzz_byte(&r->in);
	size_t n = fuzz_number(&r->in);

	if (how == 0)
		n = SIZE_MAX;
	else if (how == 1 && r->m.in_effect.max_bytes <= 4 << 20) /* elsewhere it might be there */
		n = UINT32_MAX;
	errno = 0;
	if (cistern_reserve(r->m.c, n) != 0)
		FUZZ_CHECK(errno == ENOSPC || (errno == EOVERFLOW && n > UINT32_MAX) ||
			   (errno == ENOMEM && model_was_refused(&r->m)));
	else
		FUZZ_CHECK(n <= UINT32_MAX);
}

static void op_print(struct run *r)
{
	unsigned format = fuzz_byte(&r->in) % 4;
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	int done, error;

	need(f);
	errno = 0;
	done = cistern_stats_print(r->m.c, f, (cistern_format)format);
	error = errno; /* fclose may set it, under ThreadSanitizer it does */
	FUZZ_CHECK(fclose(f) == 0);
	FUZZ_CHECK(format == 3 ? done == -1 && error == EINVAL && size == 0
			       : done == 0 && size > 0);
	if (format == CISTERN_FORMAT_JSON) {
		uint64_t strings = 0;

		FUZZ_CHECK(json_number(text, "strings", &strings) && strings == r->m.set.count);
	}
	free(text);
}

/* Arguments that are none. The set of strings must not notice. */
static void op_wrong(struct run *r)
{
	cistern *c = r->m.c;
	cistern_span parts[2] = {{"a", SIZE_MAX}, {"b", 2}};
	const char *out = "untouched";
	uint64_t number = 0;

	errno = 0;
	FUZZ_CHECK(!cistern_intern(c, NULL, 1) && errno == EINVAL);
	FUZZ_CHECK(!cistern_intern(c, "a", SIZE_MAX - fuzz_byte(&r->in)) && errno == EOVERFLOW);
	FUZZ_CHECK(!cistern_internv(c, parts, 2) && errno == EOVERFLOW);
	errno = 123;
	FUZZ_CHECK(!cistern_find(c, "a", SIZE_MAX) && !cistern_find(c, NULL, 1));
	FUZZ_CHECK(!cistern_find_hashed(c, NULL, 7, 7) && cistern_hash(c, NULL, 1) == 0);
	FUZZ_CHECK(cistern_find_batch(c, NULL, &out, 1) == 0 && !out);
	FUZZ_CHECK(!cistern_intern_cstr(c, NULL) && !cistern_find_cstr(c, NULL));
	FUZZ_CHECK(errno == 123);
	FUZZ_CHECK(cistern_intern_batch(c, NULL, &out, 1) == 0 && errno == EINVAL);
	errno = 0;
	FUZZ_CHECK(!cistern_cas_value(c, NULL, &number, 1) && errno == EINVAL);
	FUZZ_CHECK(!cistern_owns(c, NULL) && !cistern_id_valid(c, 0) && !cistern_str(c, 0));
	FUZZ_CHECK(cistern_foreach(c, NULL, NULL) == -1 && cistern_reserve(NULL, 1) == -1);
}

/* From now on the system refuses what it is asked for, once, some times or for good. */
static void op_fault(struct run *r)
{
	static const unsigned kinds[] = {0,
					 FAULT_BIT(COMMIT),
					 FAULT_BIT(COMMIT),
					 FAULTS_MEMORY,
					 FAULTS_HINTS,
					 FAULTS_RANDOM,
					 FAULTS_ALL,
					 FAULT_BIT(RESERVE)};
	unsigned how = fuzz_byte(&r->in);
	struct fault_plan plan = {.kinds = kinds[how % 8], .after = fuzz_byte(&r->in)};

	plan.times = how >= 192 ? FAULTS_FOR_GOOD : 1 + how / 8;
	faults_plan(&plan);
}

static void op_check(struct run *r)
{
	model_check(&r->m);
}

/* Makes an interner; false where there is none. */
static bool begin(struct run *r)
{
	cistern_config config = take_config(r);

	if (!model_open(&r->m, &config))
		return false;
	secret_from_seed(&r->secret, SEED);
	return true;
}

static void (*const operations[])(struct run *r) = {
    op_intern,       op_intern_new, op_internv, op_intern_hashed, op_find,  op_cstr,
    op_many,         op_find_batch, op_value,   op_cas_value,     op_link,  op_id,
    op_intern_batch, op_owns,       op_compare, op_buf,           op_print, op_reserve,
    op_wrong,        op_check,      op_fault,
};
enum { NOPERATIONS = sizeof(operations) / sizeof(operations[0]), OP_RESTART = NOPERATIONS };

/* What has failed must not have left anything behind. */
static void end(struct run *r)
{
	faults_plan(NULL);
	model_check(&r->m);
	model_close(&r->m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run r = {.in = {data, data + size}, .budget = BUDGET, .many = MANY};
	int left = OPERATIONS;

	if (!begin(&r))
		return 0;
	while (fuzz_left(&r.in) && left-- > 0) {
		unsigned op = fuzz_byte(&r.in) % (NOPERATIONS + 1);

		if (op != OP_RESTART) {
			operations[op](&r);
			continue;
		}
		end(&r);
		if (!begin(&r))
			return 0;
	}
	end(&r);
	return 0;
}
