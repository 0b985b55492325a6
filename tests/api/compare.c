/* SPDX-License-Identifier: MIT */
/* compare.c - the order of interned strings, against a reference that goes byte by byte. */
#include "support.h"
#include "words.h"

#include <cistern.h>

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int sign(int n)
{
	return (n > 0) - (n < 0);
}

static int fold(unsigned char byte)
{
	return byte >= 'A' && byte <= 'Z' ? byte + 32 : byte;
}

static int reference(const struct word *a, const struct word *b, bool folded)
{
	size_t i;

	for (i = 0; i < a->len && i < b->len; i++) {
		int x = (unsigned char)a->data[i], y = (unsigned char)b->data[i];

		if (folded) {
			x = fold((unsigned char)x);
			y = fold((unsigned char)y);
		}
		if (x != y)
			return x < y ? -1 : 1;
	}
	return (a->len > b->len) - (a->len < b->len);
}

static cistern *create(void)
{
	cistern *c = cistern_create(NULL);

	if (!c)
		ck_abort_msg("cistern_create: %s", strerror(errno));
	return c;
}

START_TEST(compare_orders_by_bytes_then_by_length)
{
	/* in ascending order */
	static const cistern_span sorted[] = {
	    {"", 0},     {"\0", 1},   {"\0\0", 2},     {"\0a", 2},  {"\1", 1},
	    {"A", 1},    {"Z", 1},    {"a", 1},        {"a\0", 2},  {"a\0b", 3},
	    {"a\0c", 3}, {"aa", 2},   {"ab", 2},       {"b", 1},    {"z", 1},
	    {"\x7f", 1}, {"\x80", 1}, {"\xc3\xa4", 2}, {"\xff", 1}, {"\xff\xff", 2},
	};
	cistern *c = create();
	const char *strings[COUNT(sorted)];
	size_t i, j;

	for (i = 0; i < COUNT(sorted); i++)
		strings[i] = cistern_intern(c, sorted[i].data, sorted[i].len);
	for (i = 0; i < COUNT(sorted); i++) {
		for (j = 0; j < COUNT(sorted); j++)
			ck_assert_msg(sign(cistern_compare(strings[i], strings[j])) ==
					  (i > j) - (i < j),
				      "strings %zu and %zu", i, j);
	}
	cistern_destroy(c);
}
END_TEST

START_TEST(casecompare_takes_capitals_as_small_letters)
{
	static const struct {
		cistern_span a, b;
		int order;
	} pairs[] = {
	    {{"abc", 3}, {"ABC", 3}, 0},
	    {{"AbC", 3}, {"aBc", 3}, 0},
	    {{"abc", 3}, {"ABD", 3}, -1},
	    {{"ABD", 3}, {"abc", 3}, 1},
	    {{"ab", 2}, {"ABC", 3}, -1},
	    {{"a\0B", 3}, {"A\0b", 3}, 0},
	    {{"a\0B", 3}, {"A\0c", 3}, -1},
	    /* what lies beside the letters is no letter */
	    {{"@", 1}, {"`", 1}, -1},
	    {{"[", 1}, {"{", 1}, -1},
	    /* '_' is between the capitals and the small letters: A-Z are taken as a-z, not the
	       other way */
	    {{"_", 1}, {"A", 1}, -1},
	    {{"[", 1}, {"z", 1}, -1},
	    {{"Z", 1}, {"[", 1}, 1},
	    {{"\xc3\x84", 2}, {"\xc3\xa4", 2}, -1},
	    {{"\xc4", 1}, {"\xe4", 1}, -1},
	    {{"\xff", 1}, {"Z", 1}, 1},
	};
	cistern *c = create();
	size_t i;

	for (i = 0; i < COUNT(pairs); i++) {
		const char *a = cistern_intern(c, pairs[i].a.data, pairs[i].a.len);
		const char *b = cistern_intern(c, pairs[i].b.data, pairs[i].b.len);

		ck_assert_msg(sign(cistern_casecompare(a, b)) == pairs[i].order, "pair %zu", i);
		ck_assert_msg(sign(cistern_casecompare(b, a)) == -pairs[i].order, "pair %zu", i);
		ck_assert_int_eq(cistern_casecompare(a, a), 0);
	}
	cistern_destroy(c);
}
END_TEST

START_TEST(null_comes_first)
{
	cistern *c = create();
	const char *empty = cistern_intern(c, "", 0), *a = cistern_intern_cstr(c, "a");

	ck_assert_int_eq(cistern_compare(NULL, NULL), 0);
	ck_assert_int_lt(cistern_compare(NULL, empty), 0);
	ck_assert_int_gt(cistern_compare(empty, NULL), 0);
	ck_assert_int_lt(cistern_compare(NULL, a), 0);
	ck_assert_int_eq(cistern_casecompare(NULL, NULL), 0);
	ck_assert_int_lt(cistern_casecompare(NULL, empty), 0);
	ck_assert_int_gt(cistern_casecompare(a, NULL), 0);
	cistern_destroy(c);
}
END_TEST

/* Pairs that agree for a while, so that the order is decided late. */
START_TEST(random_pairs_agree_with_a_reference)
{
	cistern *c = create();
	support_rng rng = support_rng_start(0);
	size_t round, rounds = support_scaled(40000);

	for (round = 0; round < rounds; round++) {
		char x[120], y[120];
		struct word a = {.data = x}, b = {.data = y};
		const char *p, *q;

		a.len = random_word(&rng, x, sizeof(x));
		b.len = random_word(&rng, y, sizeof(y));
		if (round % 2 && a.len) {
			memcpy(y, x, a.len);
			b.len = support_rng_below(&rng, a.len + 1);
			if (b.len && round % 4 == 1)
				y[support_rng_below(&rng, b.len)] ^=
				    (char)(1 << support_rng_below(&rng, 8));
		}
		p = cistern_intern(c, x, a.len);
		q = cistern_intern(c, y, b.len);
		ck_assert_int_eq(sign(cistern_compare(p, q)), reference(&a, &b, false));
		ck_assert_int_eq(sign(cistern_compare(q, p)), reference(&b, &a, false));
		ck_assert_int_eq(cistern_compare(p, q) == 0, p == q);
		ck_assert_int_eq(sign(cistern_casecompare(p, q)), reference(&a, &b, true));
		ck_assert_int_eq(sign(cistern_casecompare(q, p)), reference(&b, &a, true));
	}
	cistern_destroy(c);
}
END_TEST

static int by_library(const void *a, const void *b)
{
	return cistern_compare(*(const char *const *)a, *(const char *const *)b);
}

static int by_library_folded(const void *a, const void *b)
{
	return cistern_casecompare(*(const char *const *)a, *(const char *const *)b);
}

START_TEST(compare_sorts)
{
	cistern *c = create();
	support_rng rng = support_rng_start(1);
	enum { MANY = 3000 };
	static const char *strings[MANY];
	size_t i;

	for (i = 0; i < MANY; i++) {
		char data[40];
		size_t len = random_word(&rng, data, sizeof(data));

		strings[i] = cistern_intern(c, data, len);
	}
	qsort(strings, MANY, sizeof(strings[0]), by_library);
	for (i = 1; i < MANY; i++) {
		struct word a = {.data = (char *)strings[i - 1],
				 .len = cistern_len(strings[i - 1])};
		struct word b = {.data = (char *)strings[i], .len = cistern_len(strings[i])};

		ck_assert_int_le(reference(&a, &b, false), 0);
	}
	qsort(strings, MANY, sizeof(strings[0]), by_library_folded);
	for (i = 1; i < MANY; i++) {
		struct word a = {.data = (char *)strings[i - 1],
				 .len = cistern_len(strings[i - 1])};
		struct word b = {.data = (char *)strings[i], .len = cistern_len(strings[i])};

		ck_assert_int_le(reference(&a, &b, true), 0);
	}
	cistern_destroy(c);
}
END_TEST

START_TEST(strings_of_two_interners_compare)
{
	cistern *one = create(), *two = create();
	const char *a = cistern_intern_cstr(one, "equal"), *b = cistern_intern_cstr(two, "equal");

	ck_assert_ptr_ne(a, b);
	ck_assert_int_eq(cistern_compare(a, b), 0);
	ck_assert_int_eq(cistern_casecompare(a, cistern_intern_cstr(two, "EQUAL")), 0);
	ck_assert_int_lt(cistern_compare(a, cistern_intern_cstr(two, "fewer")), 0);
	cistern_destroy(one);
	cistern_destroy(two);
}
END_TEST

/* In a Turkish locale i and I are no pair; in an 8-bit locale tolower(0xC4) may be 0xE4. */
START_TEST(the_locale_changes_nothing)
{
	static const char *const locales[] = {"C", "C.UTF-8", "tr_TR.UTF-8", "tr_TR.ISO-8859-9",
					      "de_DE.ISO-8859-1"};
	cistern *c = create();
	const char *upper = cistern_intern_cstr(c, "TITLE"),
		   *lower = cistern_intern_cstr(c, "title");
	const char *high_upper = cistern_intern_cstr(c, "\xc4"),
		   *high_lower = cistern_intern_cstr(c, "\xe4");
	size_t i, tried = 0;

	for (i = 0; i < COUNT(locales); i++) {
		if (!setlocale(LC_ALL, locales[i]))
			continue;
		tried++;
		ck_assert_int_eq(cistern_casecompare(upper, lower), 0);
		ck_assert_int_lt(cistern_casecompare(high_upper, high_lower), 0);
		ck_assert_int_lt(cistern_compare(upper, lower), 0);
	}
	ck_assert_uint_gt(tried, 0);
	cistern_destroy(c);
}
END_TEST

START_TEST(long_strings_compare_to_their_ends)
{
	enum { LIMIT = 1 << 24 };
	cistern *c = create();
	char *data = need(malloc(LIMIT + 1));
	const char *a, *b, *longer, *upper;

	memset(data, 'w', LIMIT + 1);
	a = cistern_intern(c, data, LIMIT);
	longer = cistern_intern(c, data, LIMIT + 1);
	data[LIMIT - 1] = 'x';
	b = cistern_intern(c, data, LIMIT);
	data[LIMIT - 1] = 'W';
	upper = cistern_intern(c, data, LIMIT);
	ck_assert_int_lt(cistern_compare(a, b), 0);
	ck_assert_int_lt(cistern_compare(a, longer), 0);
	ck_assert_int_gt(cistern_compare(b, longer), 0);
	ck_assert_int_eq(cistern_casecompare(upper, a), 0);
	ck_assert_int_lt(cistern_compare(upper, a), 0);
	free(data);
	cistern_destroy(c);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("compare");

	support_add(s, compare_orders_by_bytes_then_by_length);
	support_add(s, casecompare_takes_capitals_as_small_letters);
	support_add(s, null_comes_first);
	support_add(s, random_pairs_agree_with_a_reference);
	support_add(s, compare_sorts);
	support_add(s, strings_of_two_interners_compare);
	support_add(s, the_locale_changes_nothing);
	support_add(s, long_strings_compare_to_their_ends);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "compare", make);
}
