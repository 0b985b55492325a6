/* SPDX-License-Identifier: MIT */
/* batch.c - many strings in one call: the same answers as single calls, and the prefix rule on
 * failure. */
#include "cases.h"
#include "figures.h"
#include "support.h"
#include "variants.h"
#include "words.h"

#include <cistern.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* What out holds before a call: an address that no interner returns. */
static const char untouched[] = "untouched";

static const size_t sizes[] = {0,  1,  2,  7,  8,  9,   15,  16,  17,  31,
			       32, 33, 63, 64, 65, 127, 128, 129, 1000};

/* Numbered strings, in memory of their own. */
struct list {
	cistern_span *in;
	const char **out;
	size_t n;
	char *bytes;
};

static void list_make(struct list *list, const char *prefix, size_t n)
{
	size_t i, at = 0;

	list->n = n;
	list->in = need(calloc(n + 1, sizeof(*list->in)));
	list->out = need(calloc(n + 1, sizeof(*list->out)));
	list->bytes = need(malloc(n * 40 + 1));
	for (i = 0; i < n; i++) {
		int len = snprintf(list->bytes + at, 40, "%s%zu", prefix, i);

		list->in[i].data = list->bytes + at;
		list->in[i].len = (size_t)len;
		at += (size_t)len;
	}
	for (i = 0; i <= n; i++)
		list->out[i] = untouched;
}

static void list_free(struct list *list)
{
	free(list->in);
	free(list->out);
	free(list->bytes);
}

static cistern *create(const cistern_config *config)
{
	cistern *c = cistern_create(config);

	if (!c)
		ck_abort_msg("cistern_create: %s", strerror(errno));
	return c;
}

START_TEST(a_batch_gives_what_single_calls_give)
{
	size_t s, i;

	for (s = 0; s < COUNT(sizes); s++) {
		cistern *c = variant_create(_i);
		struct list list;

		list_make(&list, "name ", sizes[s]);
		/* every third is there before */
		for (i = 0; i < list.n; i += 3)
			ck_assert_ptr_nonnull(cistern_intern(c, list.in[i].data, list.in[i].len));
		ck_assert_uint_eq(cistern_intern_batch(c, list.in, list.out, list.n), list.n);
		ck_assert_uint_eq(figures(c).strings, list.n);
		for (i = 0; i < list.n; i++) {
			ck_assert_ptr_nonnull(list.out[i]);
			ck_assert_ptr_eq(list.out[i],
					 cistern_find(c, list.in[i].data, list.in[i].len));
			ck_assert_ptr_eq(list.out[i],
					 cistern_intern(c, list.in[i].data, list.in[i].len));
			ck_assert_uint_eq(cistern_len(list.out[i]), list.in[i].len);
		}
		ck_assert_ptr_eq(list.out[list.n], untouched);
		ck_assert_uint_eq(figures(c).strings, list.n);
		list_free(&list);
		cistern_destroy(c);
	}
}
END_TEST

START_TEST(find_batch_gives_what_find_gives)
{
	size_t s, i;

	for (s = 0; s < COUNT(sizes); s++) {
		cistern *c = variant_create(_i);
		struct list list;
		size_t present = 0;

		list_make(&list, "name ", sizes[s]);
		for (i = 0; i < list.n; i++)
			list.out[i] = untouched;
		ck_assert_uint_eq(cistern_find_batch(c, list.in, list.out, list.n), 0);
		for (i = 0; i < list.n; i++)
			ck_assert_ptr_null(list.out[i]);
		for (i = 0; i < list.n; i += 1 + i % 4) {
			ck_assert_ptr_nonnull(cistern_intern(c, list.in[i].data, list.in[i].len));
			present++;
		}
		for (i = 0; i < list.n; i++)
			list.out[i] = untouched;
		errno = 1234;
		ck_assert_uint_eq(cistern_find_batch(c, list.in, list.out, list.n), present);
		ck_assert_int_eq(errno, 1234);
		for (i = 0; i < list.n; i++)
			ck_assert_ptr_eq(list.out[i],
					 cistern_find(c, list.in[i].data, list.in[i].len));
		ck_assert_ptr_eq(list.out[list.n], untouched);
		ck_assert_uint_eq(figures(c).strings, present);
		list_free(&list);
		cistern_destroy(c);
	}
}
END_TEST

START_TEST(random_batches_agree_with_a_reference_set)
{
	cistern *c = variant_create(_i);
	support_rng rng = support_rng_start(0);
	size_t round, rounds = support_scaled(600), i;
	struct words set;

	words_init(&set);
	for (round = 0; round < rounds; round++) {
		cistern_span in[100];
		const char *out[100];
		struct word *words[100];
		size_t n = support_rng_below(&rng, 101), found, present = 0;

		for (i = 0; i < n; i++) {
			char data[300];
			size_t len = random_word(&rng, data, sizeof(data));

			words[i] = words_put(&set, data, len, NULL);
			in[i].data = words[i]->data;
			in[i].len = words[i]->len;
		}
		for (i = 0; i < n; i++)
			present += words[i]->kept != NULL;
		found = cistern_find_batch(c, in, out, n);
		ck_assert_uint_eq(found, present);
		for (i = 0; i < n; i++)
			ck_assert_ptr_eq(out[i], words[i]->kept);
		ck_assert_uint_eq(cistern_intern_batch(c, in, out, n), n);
		for (i = 0; i < n; i++) {
			if (!words[i]->kept)
				words[i]->kept = out[i];
			ck_assert_ptr_eq(out[i], words[i]->kept);
			ck_assert_uint_eq(cistern_len(out[i]), words[i]->len);
			ck_assert_int_eq(memcmp(out[i], words[i]->data, words[i]->len), 0);
		}
	}
	ck_assert_uint_eq(figures(c).strings, set.count);
	figures_check(c);
	words_free(&set);
	cistern_destroy(c);
}
END_TEST

START_TEST(duplicates_within_a_batch_are_one_string)
{
	cistern *c = variant_create(_i);
	struct list list;
	size_t i;

	list_make(&list, "twin ", 200);
	for (i = 0; i < list.n; i++)
		list.in[i] = list.in[i % 5];
	ck_assert_uint_eq(cistern_intern_batch(c, list.in, list.out, list.n), list.n);
	for (i = 0; i < list.n; i++)
		ck_assert_ptr_eq(list.out[i], list.out[i % 5]);
	for (i = 1; i < 5; i++)
		ck_assert_ptr_ne(list.out[i], list.out[i - 1]);
	ck_assert_uint_eq(figures(c).strings, 5);
	list_free(&list);
	cistern_destroy(c);
}
END_TEST

/* From an empty table of one shard, where each group makes the table grow under the keys of the
 * next. */
START_TEST(a_batch_may_grow_the_table_many_times)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	struct list list;
	cistern *c;
	size_t i;

	config.shards = 1;
	config.lock = _i ? CISTERN_LOCK_SPIN : CISTERN_LOCK_MUTEX;
	c = create(&config);
	list_make(&list, "grows ", support_scaled(50000));
	for (i = 3; i < list.n; i += 4)
		list.in[i] = list.in[i - 3];
	ck_assert_uint_eq(cistern_intern_batch(c, list.in, list.out, list.n), list.n);
	for (i = 0; i < list.n; i++)
		ck_assert_ptr_eq(list.out[i], cistern_find(c, list.in[i].data, list.in[i].len));
	ck_assert_uint_gt(figures(c).growths, 3);
	figures_check(c);
	list_free(&list);
	cistern_destroy(c);
}
END_TEST

START_TEST(long_strings_may_be_among_short_ones)
{
	static const size_t lengths[] = {1023, 1024, 1025, 4095, 4096, 4097, 70000, 1 << 20};
	cistern *c = variant_create(_i);
	char *data = need(malloc(1 << 20));
	struct list list;
	size_t i;

	memset(data, 'l', 1 << 20);
	list_make(&list, "short ", 100);
	for (i = 0; i < 48; i++) {
		list.in[i * 2].data = data;
		list.in[i * 2].len = lengths[i % COUNT(lengths)];
	}
	ck_assert_uint_eq(cistern_intern_batch(c, list.in, list.out, list.n), list.n);
	for (i = 0; i < list.n; i++) {
		ck_assert_ptr_eq(list.out[i], cistern_find(c, list.in[i].data, list.in[i].len));
		ck_assert_uint_eq(cistern_len(list.out[i]), list.in[i].len);
		ck_assert_int_eq(memcmp(list.out[i], list.in[i].data, list.in[i].len), 0);
	}
	ck_assert_uint_eq(figures(c).strings, COUNT(lengths) + 52);
	figures_check(c);
	free(data);
	list_free(&list);
	cistern_destroy(c);
}
END_TEST

START_TEST(the_empty_string_may_be_anywhere_in_a_batch)
{
	cistern *c = create(NULL);
	cistern_span in[4] = {{NULL, 0}, {"x", 1}, {"", 0}, {NULL, 0}};
	const char *out[4];

	ck_assert_uint_eq(cistern_intern_batch(c, in, out, 4), 4);
	ck_assert_ptr_eq(out[0], cistern_find(c, NULL, 0));
	ck_assert_ptr_eq(out[2], out[0]);
	ck_assert_ptr_eq(out[3], out[0]);
	ck_assert_ptr_ne(out[1], out[0]);
	cistern_destroy(c);
}
END_TEST

/* ---------------------------------------------------------------- failure */

static void assert_prefix(const struct list *list, size_t done, const cistern *c)
{
	size_t i;

	for (i = 0; i < done; i++) {
		ck_assert_ptr_nonnull(list->out[i]);
		ck_assert_ptr_eq(list->out[i], cistern_find(c, list->in[i].data, list->in[i].len));
	}
	for (; i < list->n; i++)
		ck_assert_msg(!list->out[i], "out[%zu] of %zu is set, %zu are done", i, list->n,
			      done);
	ck_assert_ptr_eq(list->out[list->n], untouched);
}

static const struct {
	cistern_span span;
	int error;
} bad[] = {
    {{NULL, 1}, EINVAL},
    {{"x", SIZE_MAX}, EOVERFLOW},
    {{"x", SIZE_MAX / 4}, E2BIG},
};

START_TEST(a_bad_element_ends_the_prefix)
{
	static const size_t places[] = {0, 1, 14, 15, 16, 17, 31, 32, 33, 63, 64, 65, 99};
	size_t p;

	for (p = 0; p < COUNT(places); p++) {
		cistern *c = create(NULL);
		struct list list;
		size_t i;

		list_make(&list, "prefix ", 100);
		/* some before and some behind the bad one are there already */
		for (i = 0; i < list.n; i += 2)
			ck_assert_ptr_nonnull(cistern_intern(c, list.in[i].data, list.in[i].len));
		list.in[places[p]] = bad[_i].span;
		errno = 0;
		ck_assert_uint_eq(cistern_intern_batch(c, list.in, list.out, list.n), places[p]);
		ck_assert_int_eq(errno, bad[_i].error);
		assert_prefix(&list, places[p], c);
		/* the interner works on, the same batch without the bad one too */
		list.in[places[p]].data = "good";
		list.in[places[p]].len = 4;
		ck_assert_uint_eq(cistern_intern_batch(c, list.in, list.out, list.n), list.n);
		assert_prefix(&list, list.n, c);
		figures_check(c);
		list_free(&list);
		cistern_destroy(c);
	}
}
END_TEST

START_TEST(the_first_of_two_bad_elements_decides)
{
	cistern *c = create(NULL);
	struct list list;

	list_make(&list, "two ", 40);
	list.in[20] = bad[1].span;
	list.in[22] = bad[0].span;
	errno = 0;
	ck_assert_uint_eq(cistern_intern_batch(c, list.in, list.out, list.n), 20);
	ck_assert_int_eq(errno, EOVERFLOW);
	assert_prefix(&list, 20, c);
	list_free(&list);
	cistern_destroy(c);
}
END_TEST

START_TEST(find_batch_passes_over_bad_elements)
{
	cistern *c = create(NULL);
	struct list list;
	size_t i;

	list_make(&list, "pass ", 70);
	ck_assert_uint_eq(cistern_intern_batch(c, list.in, list.out, list.n), list.n);
	list.in[5] = bad[0].span;
	list.in[33] = bad[1].span;
	errno = 1234;
	ck_assert_uint_eq(cistern_find_batch(c, list.in, list.out, list.n), 68);
	ck_assert_int_eq(errno, 1234);
	for (i = 0; i < list.n; i++)
		ck_assert_int_eq(list.out[i] == NULL, i == 5 || i == 33);
	list_free(&list);
	cistern_destroy(c);
}
END_TEST

START_TEST(batches_of_null_are_invalid)
{
	cistern *c = create(NULL);
	cistern_span in = {"x", 1};
	const char *out = untouched;

	errno = 0;
	ck_assert_uint_eq(cistern_intern_batch(c, NULL, &out, 1), 0);
	ck_assert_int_eq(errno, EINVAL);
	errno = 0;
	ck_assert_uint_eq(cistern_intern_batch(c, &in, NULL, 1), 0);
	ck_assert_int_eq(errno, EINVAL);
	errno = 1234;
	ck_assert_uint_eq(cistern_find_batch(c, NULL, &out, 1), 0);
	ck_assert_uint_eq(cistern_find_batch(c, &in, NULL, 1), 0);
	ck_assert_uint_eq(cistern_find_batch(NULL, &in, &out, 1), 0);
	ck_assert_int_eq(errno, 1234);
	ck_assert_uint_eq(cistern_intern_batch(c, NULL, NULL, 0), 0);
	ck_assert_uint_eq(cistern_find_batch(c, NULL, NULL, 0), 0);
	ck_assert_uint_eq(figures(c).strings, 0);
	cistern_destroy(c);
}
END_TEST

/* Without an interner, or without spans, nothing is interned and nothing is found: all of out says
 * so. */
START_TEST(batches_that_cannot_be_looked_at_give_nulls)
{
	cistern *c = create(NULL);
	cistern_span in[3] = {{"x", 1}, {"y", 1}, {"z", 1}};
	const char *out[3];
	int call, i;

	for (call = 0; call < 4; call++) {
		for (i = 0; i < 3; i++)
			out[i] = untouched;
		switch (call) {
		case 0:
			ck_assert_uint_eq(cistern_intern_batch(NULL, in, out, 3), 0);
			break;
		case 1:
			ck_assert_uint_eq(cistern_intern_batch(c, NULL, out, 3), 0);
			break;
		case 2:
			ck_assert_uint_eq(cistern_find_batch(NULL, in, out, 3), 0);
			break;
		default:
			ck_assert_uint_eq(cistern_find_batch(c, NULL, out, 3), 0);
		}
		for (i = 0; i < 3; i++)
			ck_assert_msg(!out[i], "call %d left out[%d] as it was", call, i);
	}
	cistern_destroy(c);
}
END_TEST

START_TEST(a_batch_stops_where_the_range_is_full)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	struct list list;
	size_t done, again;
	cistern *c;

	if (_i % 2)
		config.memory_limit = 256 << 10;
	else
		config.max_bytes = 128 << 10;
	config.shards = _i / 2 ? 16 : 1;
	c = create(&config);
	list_make(&list, "fills a small range ", 20000);
	errno = 0;
	done = cistern_intern_batch(c, list.in, list.out, list.n);
	ck_assert_uint_lt(done, list.n);
	ck_assert_uint_gt(done, 1000);
	ck_assert_int_eq(errno, ENOSPC);
	assert_prefix(&list, done, c);
	figures_check(c);
	/* all hits: no room is needed */
	again = cistern_intern_batch(c, list.in, list.out, done);
	ck_assert_uint_eq(again, done);
	errno = 0;
	again = cistern_intern_batch(c, list.in, list.out, list.n);
	ck_assert_uint_ge(again, done);
	ck_assert_uint_lt(again, list.n);
	ck_assert_int_eq(errno, ENOSPC);
	assert_prefix(&list, again, c);
	list_free(&list);
	cistern_destroy(c);
}
END_TEST

/* There is room for one copy of the string: the second mention of it is a hit, and hits need none. */
START_TEST(a_long_string_that_the_same_batch_has_added_needs_no_room)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	char *data = need(calloc(1, 40000));
	const char *out[4];
	cistern *c;

	config.max_bytes = 64 << 10;
	for (config.shards = 1; config.shards <= 16; config.shards *= 16) {
		cistern_span in[4] = {{data, 40000}, {"short", 5}, {data, 40000}, {"short", 5}};

		c = create(&config);
		ck_assert_uint_eq(cistern_intern_batch(c, in, out, 4), 4);
		ck_assert(out[0] == out[2] && out[1] == out[3]);
		ck_assert_ptr_eq(cistern_find(c, data, 40000), out[0]);
		ck_assert_uint_eq(figures(c).strings, 2);
		figures_check(c);
		cistern_destroy(c);
	}
	free(data);
}
END_TEST

START_TEST(max_len_ends_the_prefix_too)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	struct list list;
	cistern *c;

	config.max_len = 20;
	c = create(&config);
	list_make(&list, "len ", 50);
	list.in[37].data = "twenty-one bytes long";
	list.in[37].len = 21;
	errno = 0;
	ck_assert_uint_eq(cistern_intern_batch(c, list.in, list.out, list.n), 37);
	ck_assert_int_eq(errno, E2BIG);
	assert_prefix(&list, 37, c);
	list_free(&list);
	cistern_destroy(c);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("batch");

	cases_add_loop(s, a_batch_gives_what_single_calls_give, VARIANTS);
	cases_add_loop(s, find_batch_gives_what_find_gives, VARIANTS);
	cases_add_loop(s, random_batches_agree_with_a_reference_set, VARIANTS);
	cases_add_loop(s, duplicates_within_a_batch_are_one_string, VARIANTS);
	cases_add_loop(s, a_batch_may_grow_the_table_many_times, 2);
	cases_add_loop(s, long_strings_may_be_among_short_ones, VARIANTS);
	support_add(s, the_empty_string_may_be_anywhere_in_a_batch);
	cases_add_loop(s, a_bad_element_ends_the_prefix, COUNT(bad));
	support_add(s, the_first_of_two_bad_elements_decides);
	support_add(s, find_batch_passes_over_bad_elements);
	support_add(s, batches_of_null_are_invalid);
	support_add(s, batches_that_cannot_be_looked_at_give_nulls);
	cases_add_loop(s, a_batch_stops_where_the_range_is_full, 4);
	support_add(s, a_long_string_that_the_same_batch_has_added_needs_no_room);
	support_add(s, max_len_ends_the_prefix_too);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "batch", make);
}
