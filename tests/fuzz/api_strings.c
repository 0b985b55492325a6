/* SPDX-License-Identifier: MIT */
/* api_strings.c - operations of the fuzz target on strings that are there: values, links, ids,
 * order. */
#include "api.h"

#include <errno.h>

/* ---------------------------------------------------------------- what is kept with strings */

void op_value(struct run *r)
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

void op_cas_value(struct run *r)
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

void op_link(struct run *r)
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

void op_id(struct run *r)
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

void op_owns(struct run *r)
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

void op_compare(struct run *r)
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
