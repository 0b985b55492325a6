/* SPDX-License-Identifier: MIT */
/*
 * api_text.c - the strings that operations of the fuzz target take: bytes of the input, a string
 * that is there already or nearly so, a number, a long run of one byte, or one of those that
 * collide.
 */
#include "api.h"

#include "forge.h"

static struct text text_of(const char *data, size_t len)
{
	struct text text = {need(malloc(len ? len : 1)), len};

	if (len)
		memcpy(text.data, data, len);
	return text;
}

struct text number_text(unsigned number)
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

struct text forged_text(struct run *r, unsigned number, bool same)
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

struct text take_text(struct run *r)
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
