/* SPDX-License-Identifier: MIT */
/*
 * compare.c - the order of interned strings: unsigned bytes, then length. Needs no interner, since a string
 * carries its length. No state.
 */
#include "entry.h"

static int by_length(size_t a, size_t b)
{
	return (a > b) - (a < b);
}

/* NULL comes first. True when that settles it. */
static bool settled(const char *a, const char *b, int *order)
{
	if (a == b) {
		*order = 0;
		return true;
	}
	if (!a || !b) {
		*order = a ? 1 : -1;
		return true;
	}
	return false;
}

int cistern_compare(const char *a, const char *b)
{
	size_t a_len, b_len;
	int order;

	if (settled(a, b, &order))
		return order;
	a_len = entry_len(a);
	b_len = entry_len(b);
	order = memcmp(a, b, a_len < b_len ? a_len : b_len);
	return order ? order : by_length(a_len, b_len);
}

/* In every locale, unlike tolower. */
static unsigned char fold(char ch)
{
	return ch >= 'A' && ch <= 'Z' ? (unsigned char)(ch - 'A' + 'a') : (unsigned char)ch;
}

int cistern_casecompare(const char *a, const char *b)
{
	size_t a_len, b_len;
	int order;

	if (settled(a, b, &order))
		return order;
	a_len = entry_len(a);
	b_len = entry_len(b);
	for (size_t i = 0; i < a_len && i < b_len; i++) {
		unsigned char x = fold(a[i]), y = fold(b[i]);

		if (x != y)
			return x < y ? -1 : 1;
	}
	return by_length(a_len, b_len);
}
