/* SPDX-License-Identifier: MIT */
/* api_buf.c - operation of the fuzz target: a builder. */
#include "api.h"

#include <errno.h>

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

void op_buf(struct run *r)
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
