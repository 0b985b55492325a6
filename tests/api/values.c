/* SPDX-License-Identifier: MIT */
/* values.c - the number and the link kept with a string. */
#include "cases.h"
#include "figures.h"
#include "support.h"
#include "words.h"

#include <cistern.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static cistern *with(uint32_t value_size, bool links)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	cistern *c;

	config.value_size = value_size;
	config.links = links;
	config.shards = 4;
	c = cistern_create(&config);
	if (!c)
		ck_abort_msg("cistern_create: %s", strerror(errno));
	return c;
}

/* ---------------------------------------------------------------- values */

START_TEST(a_value_is_zero_at_first_and_then_what_was_set)
{
	cistern *c = with(_i ? 8 : 4, false);
	uint64_t large = _i ? UINT64_MAX : UINT32_MAX;
	const char *a = cistern_intern_cstr(c, "a"), *b = cistern_intern_cstr(c, "b");

	ck_assert_uint_eq(cistern_value(c, a), 0);
	ck_assert_int_eq(cistern_set_value(c, a, 7), 0);
	ck_assert_uint_eq(cistern_value(c, a), 7);
	ck_assert_uint_eq(cistern_value(c, b), 0);
	ck_assert_int_eq(cistern_set_value(c, b, large), 0);
	ck_assert_uint_eq(cistern_value(c, b), large);
	ck_assert_uint_eq(cistern_value(c, a), 7);
	ck_assert_int_eq(cistern_set_value(c, b, 0), 0);
	ck_assert_uint_eq(cistern_value(c, b), 0);
	ck_assert_str_eq(a, "a");
	ck_assert_str_eq(b, "b");
	ck_assert_ptr_eq(cistern_intern_cstr(c, "a"), a);
	cistern_destroy(c);
}
END_TEST

START_TEST(a_value_too_wide_is_refused)
{
	cistern *c = with(4, false);
	const char *a = cistern_intern_cstr(c, "a");
	uint64_t expected = 5;

	ck_assert_int_eq(cistern_set_value(c, a, 5), 0);
	errno = 0;
	ck_assert_int_eq(cistern_set_value(c, a, (uint64_t)UINT32_MAX + 1), -1);
	ck_assert_int_eq(errno, ERANGE);
	errno = 0;
	ck_assert_int_eq(cistern_set_value(c, a, UINT64_MAX), -1);
	ck_assert_int_eq(errno, ERANGE);
	errno = 0;
	ck_assert(!cistern_cas_value(c, a, &expected, (uint64_t)1 << 32));
	ck_assert_int_eq(errno, ERANGE);
	ck_assert_uint_eq(expected, 5);
	ck_assert_uint_eq(cistern_value(c, a), 5);
	cistern_destroy(c);
}
END_TEST

START_TEST(without_values_they_are_not_supported)
{
	cistern *c = with(0, true);
	const char *a = cistern_intern_cstr(c, "a");
	uint64_t expected = 0;

	errno = 0;
	ck_assert_int_eq(cistern_set_value(c, a, 1), -1);
	ck_assert_int_eq(errno, ENOTSUP);
	errno = 0;
	ck_assert(!cistern_cas_value(c, a, &expected, 1));
	ck_assert_int_eq(errno, ENOTSUP);
	ck_assert_uint_eq(expected, 0);
	ck_assert_uint_eq(cistern_value(c, a), 0);
	cistern_destroy(c);
}
END_TEST

START_TEST(values_of_null_are_invalid)
{
	cistern *c = with(8, false);
	const char *a = cistern_intern_cstr(c, "a");
	uint64_t expected = 3;

	errno = 0;
	ck_assert_int_eq(cistern_set_value(NULL, a, 1), -1);
	ck_assert_int_eq(errno, EINVAL);
	errno = 0;
	ck_assert_int_eq(cistern_set_value(c, NULL, 1), -1);
	ck_assert_int_eq(errno, EINVAL);
	errno = 0;
	ck_assert(!cistern_cas_value(NULL, a, &expected, 1));
	ck_assert_int_eq(errno, EINVAL);
	errno = 0;
	ck_assert(!cistern_cas_value(c, NULL, &expected, 1));
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_uint_eq(expected, 3);
	errno = 0;
	ck_assert(!cistern_cas_value(c, a, NULL, 1));
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_uint_eq(cistern_value(c, a), 0);
	cistern_destroy(c);
}
END_TEST

START_TEST(cas_stores_only_over_what_was_expected)
{
	cistern *c = with(_i ? 8 : 4, true);
	const char *a = cistern_intern_cstr(c, "a");
	uint64_t expected = 0;

	ck_assert(cistern_cas_value(c, a, &expected, 10));
	ck_assert_uint_eq(expected, 0);
	ck_assert_uint_eq(cistern_value(c, a), 10);
	expected = 9;
	errno = 1234;
	ck_assert(!cistern_cas_value(c, a, &expected, 11));
	ck_assert_int_eq(errno, 1234);
	ck_assert_uint_eq(expected, 10);
	ck_assert_uint_eq(cistern_value(c, a), 10);
	ck_assert(cistern_cas_value(c, a, &expected, 11));
	ck_assert_uint_eq(cistern_value(c, a), 11);
	/* a number that cannot be there merely differs */
	expected = (UINT64_C(1) << 32) + 11;
	errno = 1234;
	ck_assert(!cistern_cas_value(c, a, &expected, 12));
	ck_assert_int_eq(errno, 1234);
	ck_assert_uint_eq(expected, 11);
	ck_assert_uint_eq(cistern_value(c, a), 11);
	cistern_destroy(c);
}
END_TEST

struct counting {
	cistern *c;
	const char *strings[4];
	size_t rounds;
};

static void count(support_worker *worker)
{
	struct counting *counting = worker->arg;
	size_t i;

	for (i = 0; i < counting->rounds; i++) {
		const char *str = counting->strings[i % 4];
		uint64_t expected = cistern_value(counting->c, str);

		while (!cistern_cas_value(counting->c, str, &expected, expected + 1))
			;
	}
}

START_TEST(cas_from_many_threads_loses_no_count)
{
	struct counting counting = {.c = with(_i ? 8 : 4, false),
				    .rounds = support_scaled(40000) & ~(size_t)3};
	size_t i;

	if (!counting.rounds)
		counting.rounds = 4;
	counting.strings[0] = cistern_intern_cstr(counting.c, "w");
	counting.strings[1] = cistern_intern_cstr(counting.c, "x");
	counting.strings[2] =
	    cistern_intern_cstr(counting.c, "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy");
	counting.strings[3] = cistern_intern_cstr(counting.c, "");
	support_run(4, count, &counting);
	for (i = 0; i < 4; i++)
		ck_assert_uint_eq(cistern_value(counting.c, counting.strings[i]), counting.rounds);
	cistern_destroy(counting.c);
}
END_TEST

struct handing {
	cistern *c;
	const char *str;
	uint64_t plain[1000];
};

/* One thread writes plain memory and sets the number, the others see the number and read the
 * memory. */
static void hand_over(support_worker *worker)
{
	struct handing *handing = worker->arg;
	uint64_t i;

	for (i = 1; i < 1000; i++) {
		if (worker->index == 0) {
			handing->plain[i] = i * 3;
			support_expect(worker, cistern_set_value(handing->c, handing->str, i) == 0);
		} else {
			uint64_t seen = cistern_value(handing->c, handing->str);

			if (!support_expect(worker, seen == 0 || handing->plain[seen] == seen * 3))
				return;
		}
	}
}

START_TEST(what_was_written_before_a_value_is_seen_with_it)
{
	struct handing handing = {.c = with(_i ? 8 : 4, false)};

	handing.str = cistern_intern_cstr(handing.c, "flag");
	support_run(3, hand_over, &handing);
	cistern_destroy(handing.c);
}
END_TEST

START_TEST(values_survive_growth)
{
	cistern *c = with(_i ? 8 : 4, true);
	int i, many = (int)support_scaled(30000);

	for (i = 0; i < many; i++) {
		char data[32];
		const char *str =
		    cistern_intern(c, data, (size_t)snprintf(data, sizeof(data), "v%d", i));

		ck_assert_ptr_nonnull(str);
		ck_assert_uint_eq(cistern_value(c, str), 0);
		ck_assert_int_eq(cistern_set_value(c, str, (uint64_t)i + 1), 0);
	}
	for (i = 0; i < many; i++) {
		char data[32];
		const char *str =
		    cistern_find(c, data, (size_t)snprintf(data, sizeof(data), "v%d", i));

		ck_assert_uint_eq(cistern_value(c, str), (uint64_t)i + 1);
	}
	figures_check(c);
	cistern_destroy(c);
}
END_TEST

/* ---------------------------------------------------------------- links */

START_TEST(a_link_leads_both_ways)
{
	cistern *c = with(_i ? 8 : 0, true);
	const char *mangled = cistern_intern_cstr(c, "_ZN3fooEv");
	const char *demangled = cistern_intern_cstr(c, "foo()");

	ck_assert_ptr_null(cistern_linked(c, mangled));
	ck_assert_ptr_null(cistern_linked(c, demangled));
	ck_assert_int_eq(cistern_link(c, mangled, demangled), 0);
	ck_assert_ptr_eq(cistern_linked(c, mangled), demangled);
	ck_assert_ptr_eq(cistern_linked(c, demangled), mangled);
	ck_assert_str_eq(mangled, "_ZN3fooEv");
	ck_assert_str_eq(demangled, "foo()");
	ck_assert_uint_eq(cistern_value(c, mangled), 0);
	ck_assert_uint_eq(cistern_value(c, demangled), 0);
	cistern_destroy(c);
}
END_TEST

START_TEST(the_last_link_wins_both_ways)
{
	cistern *c = with(0, true);
	const char *a = cistern_intern_cstr(c, "a"), *b = cistern_intern_cstr(c, "b");
	const char *d = cistern_intern_cstr(c, "d");

	ck_assert_int_eq(cistern_link(c, a, b), 0);
	ck_assert_int_eq(cistern_link(c, a, d), 0);
	ck_assert_ptr_eq(cistern_linked(c, a), d);
	ck_assert_ptr_eq(cistern_linked(c, d), a);
	ck_assert_int_eq(cistern_link(c, b, a), 0);
	ck_assert_ptr_eq(cistern_linked(c, a), b);
	ck_assert_ptr_eq(cistern_linked(c, b), a);
	ck_assert_int_eq(cistern_link(c, a, a), 0);
	ck_assert_ptr_eq(cistern_linked(c, a), a);
	cistern_destroy(c);
}
END_TEST

START_TEST(the_empty_string_and_long_strings_can_be_linked)
{
	cistern *c = with(4, true);
	char *data = need(calloc(1, 100000));
	const char *empty = cistern_intern(c, "", 0), *lengthy = cistern_intern(c, data, 100000);

	ck_assert_int_eq(cistern_link(c, empty, lengthy), 0);
	ck_assert_ptr_eq(cistern_linked(c, empty), lengthy);
	ck_assert_ptr_eq(cistern_linked(c, lengthy), empty);
	free(data);
	cistern_destroy(c);
}
END_TEST

START_TEST(without_links_they_are_not_supported)
{
	cistern *c = with(8, false);
	const char *a = cistern_intern_cstr(c, "a"), *b = cistern_intern_cstr(c, "b");

	errno = 0;
	ck_assert_int_eq(cistern_link(c, a, b), -1);
	ck_assert_int_eq(errno, ENOTSUP);
	ck_assert_ptr_null(cistern_linked(c, a));
	cistern_destroy(c);
}
END_TEST

START_TEST(links_of_null_are_invalid_and_change_nothing)
{
	cistern *c = with(0, true);
	const char *a = cistern_intern_cstr(c, "a"), *b = cistern_intern_cstr(c, "b");

	ck_assert_int_eq(cistern_link(c, a, b), 0);
	errno = 0;
	ck_assert_int_eq(cistern_link(NULL, a, b), -1);
	ck_assert_int_eq(errno, EINVAL);
	errno = 0;
	ck_assert_int_eq(cistern_link(c, NULL, b), -1);
	ck_assert_int_eq(errno, EINVAL);
	errno = 0;
	ck_assert_int_eq(cistern_link(c, a, NULL), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_ptr_eq(cistern_linked(c, a), b);
	ck_assert_ptr_eq(cistern_linked(c, b), a);
	cistern_destroy(c);
}
END_TEST

/* Strings of 2^24 - 1 bytes and more keep their length elsewhere: all fields beside it. */
START_TEST(fields_of_strings_with_long_headers_are_apart)
{
	enum { LIMIT = 1 << 24 };
	static const uint32_t value_sizes[] = {0, 4, 8};
	uint32_t value_size = value_sizes[_i % 3];
	bool links = _i >= 3;
	cistern *c = with(value_size, links);
	char *data = need(malloc(LIMIT + 1));
	const char *kept[4];
	size_t i;

	memset(data, 'f', LIMIT + 1);
	for (i = 0; i < 4; i++) {
		kept[i] = cistern_intern(c, data, LIMIT - 2 + i);
		ck_assert_ptr_nonnull(kept[i]);
		ck_assert_uint_eq(cistern_value(c, kept[i]), 0);
		ck_assert_ptr_null(cistern_linked(c, kept[i]));
	}
	for (i = 0; i < 4; i++) {
		if (value_size)
			ck_assert_int_eq(cistern_set_value(c, kept[i], UINT32_MAX - i), 0);
		if (links)
			ck_assert_int_eq(cistern_link(c, kept[i], kept[i ^ 2]), 0);
	}
	for (i = 0; i < 4; i++) {
		ck_assert_uint_eq(cistern_len(kept[i]), LIMIT - 2 + i);
		ck_assert_uint_eq(cistern_value(c, kept[i]), value_size ? UINT32_MAX - i : 0);
		ck_assert_ptr_eq(cistern_linked(c, kept[i]), links ? kept[i ^ 2] : NULL);
		ck_assert_ptr_eq(cistern_intern(c, data, LIMIT - 2 + i), kept[i]);
	}
	figures_check(c);
	free(data);
	cistern_destroy(c);
}
END_TEST

struct linking {
	cistern *c;
	const char *left[64], *right[64];
	size_t rounds;
};

static void link_pairs(support_worker *worker)
{
	struct linking *linking = worker->arg;
	size_t i;

	for (i = 0; i < linking->rounds; i++) {
		size_t at = support_rng_below(&worker->rng, 64);
		const char *there;

		if (!support_expect(worker, cistern_link(linking->c, linking->left[at],
							 linking->right[at]) == 0))
			return;
		there = cistern_linked(linking->c, linking->left[at]);
		if (!support_expect(worker, there == linking->right[at]))
			return;
		at = support_rng_below(&worker->rng, 64);
		there = cistern_linked(linking->c, linking->right[at]);
		if (!support_expect(worker, !there || there == linking->left[at]))
			return;
	}
}

START_TEST(links_from_many_threads_are_whole)
{
	struct linking linking = {.c = with(4, true), .rounds = support_scaled(50000)};
	int i;

	for (i = 0; i < 64; i++) {
		char data[32];

		linking.left[i] = cistern_intern(linking.c, data,
						 (size_t)snprintf(data, sizeof(data), "_Z%d", i));
		linking.right[i] = cistern_intern(linking.c, data,
						  (size_t)snprintf(data, sizeof(data), "f%d()", i));
	}
	support_run(4, link_pairs, &linking);
	for (i = 0; i < 64; i++) {
		ck_assert_ptr_eq(cistern_linked(linking.c, linking.left[i]), linking.right[i]);
		ck_assert_ptr_eq(cistern_linked(linking.c, linking.right[i]), linking.left[i]);
	}
	cistern_destroy(linking.c);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("values");

	cases_add_loop(s, a_value_is_zero_at_first_and_then_what_was_set, 2);
	support_add(s, a_value_too_wide_is_refused);
	support_add(s, without_values_they_are_not_supported);
	support_add(s, values_of_null_are_invalid);
	cases_add_loop(s, cas_stores_only_over_what_was_expected, 2);
	cases_add_loop(s, cas_from_many_threads_loses_no_count, 2);
	cases_add_loop(s, what_was_written_before_a_value_is_seen_with_it, 2);
	cases_add_loop(s, values_survive_growth, 2);
	cases_add_loop(s, a_link_leads_both_ways, 2);
	support_add(s, the_last_link_wins_both_ways);
	support_add(s, the_empty_string_and_long_strings_can_be_linked);
	support_add(s, without_links_they_are_not_supported);
	support_add(s, links_of_null_are_invalid_and_change_nothing);
	cases_add_loop(s, fields_of_strings_with_long_headers_are_apart, 6);
	support_add(s, links_from_many_threads_are_whole);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "values", make);
}
