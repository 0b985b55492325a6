/* SPDX-License-Identifier: MIT */
/* share.c - the same strings on all threads at once: one pointer each, and one thread that added
 * it. */
#include "cases.h"
#include "figures.h"
#include "support.h"
#include "variants.h"
#include "ways.h"
#include "words.h"

#include <cistern.h>

#include <stdlib.h>
#include <string.h>

enum { THREADS = 4 };

struct shared {
	cistern *c;
	size_t keys;
	const char **seen[THREADS]; /* seen[t][k]: what thread t got for key k */
	uint64_t added[THREADS];
	bool in_order;
};

static size_t key(char *data, size_t k)
{
	return (size_t)snprintf(data, 64, "shared key number %zu", k);
}

static void intern_all(support_worker *worker)
{
	/* each thread takes another way to the same strings */
	static const enum way ways[THREADS] = {WAY_HASHED, WAY_PIECES, WAY_BATCH, WAY_NEW};
	struct shared *shared = worker->arg;
	size_t n = shared->keys, step, at, i;

	/* in order, threads meet at the same key; by a stride that is prime to the count, at random
	 */
	step = shared->in_order ? 1 : 7919 + 2 * worker->index;
	at = shared->in_order ? 0 : support_rng_below(&worker->rng, n);
	for (i = 0; i < n; i++, at = (at + step) % n) {
		char data[64];
		size_t len = key(data, at);
		const char *str = way_intern(shared->c, ways[worker->index], data, len, NULL);

		if (!support_expect(worker,
				    str && cistern_len(str) == len && memcmp(str, data, len) == 0))
			return;
		shared->seen[worker->index][at] = str;
	}
}

static void meet(cistern *c, size_t keys, bool in_order)
{
	struct shared shared = {.c = c, .keys = keys, .in_order = in_order};
	size_t k;
	unsigned t;

	for (t = 0; t < THREADS; t++)
		shared.seen[t] = need(calloc(keys, sizeof(char *)));
	support_run(THREADS, intern_all, &shared);
	for (k = 0; k < keys; k++) {
		char data[64];
		size_t len = key(data, k);

		for (t = 0; t < THREADS; t++)
			ck_assert_ptr_eq(shared.seen[t][k], shared.seen[0][k]);
		ck_assert_ptr_eq(cistern_find(c, data, len), shared.seen[0][k]);
	}
	ck_assert_uint_eq(figures(c).strings, keys);
	figures_check(c);
	for (t = 0; t < THREADS; t++)
		free(shared.seen[t]);
}

START_TEST(the_same_keys_on_all_threads_are_one_string_each)
{
	size_t round, rounds = support_scaled(8);

	for (round = 0; round < rounds; round++) {
		cistern *c = crowd_create(_i);

		/* a prime: every stride meets every key */
		meet(c, 4999, round % 2);
		cistern_destroy(c);
	}
}
END_TEST

static void count_added(support_worker *worker)
{
	struct shared *shared = worker->arg;
	size_t i;

	for (i = 0; i < shared->keys; i++) {
		char data[64];
		bool is_new = false;

		if (!support_expect(
			worker, cistern_intern_new(shared->c, data, key(data, i), &is_new) != NULL))
			return;
		shared->added[worker->index] += is_new;
	}
}

START_TEST(each_string_is_new_for_exactly_one_thread)
{
	size_t round, rounds = support_scaled(10);

	for (round = 0; round < rounds; round++) {
		struct shared shared = {.c = crowd_create(_i), .keys = 4000};
		uint64_t sum = 0;
		unsigned t;

		support_run(THREADS, count_added, &shared);
		for (t = 0; t < THREADS; t++)
			sum += shared.added[t];
		ck_assert_uint_eq(sum, shared.keys);
		ck_assert_uint_eq(figures(shared.c).strings, shared.keys);
		cistern_destroy(shared.c);
	}
}
END_TEST

/* ---------------------------------------------------------------- long strings */

enum { LENGTHY = 10240, RACES = 200 };

struct race {
	cistern *c;
	char (*data)[LENGTHY];
	const char *won[2][RACES];
	uint64_t added[2];
};

/* Strings of 4 KiB and more are copied before the lock is taken: both threads may copy, one may
 * win. */
static void race(support_worker *worker)
{
	struct race *r = worker->arg;
	size_t i, k;

	for (i = 0; i < RACES; i++) {
		bool is_new = false;

		if (worker->index >= 2) {
			/* the others make the shard grow meanwhile */
			for (k = 0; k < 40; k++) {
				char data[64];
				int len = snprintf(data, sizeof(data), "grow %u %zu %zu",
						   worker->index, i, k);

				support_expect(worker,
					       cistern_intern(r->c, data, (size_t)len) != NULL);
			}
			continue;
		}
		r->won[worker->index][i] = cistern_intern_new(r->c, r->data[i], LENGTHY, &is_new);
		r->added[worker->index] += is_new;
		support_expect(worker,
			       cistern_find(r->c, r->data[i], LENGTHY) == r->won[worker->index][i]);
		k = support_rng_below(&worker->rng, i + 1);
		support_expect(worker, cistern_intern(r->c, r->data[k], LENGTHY) ==
					   r->won[worker->index][k]);
	}
}

/*
 * What the losers of the races had copied is handed out again: nothing of it may show, neither
 * behind the end of a string nor in its value and link.
 */
static void reuse(cistern *c)
{
	char *fresh = need(malloc(LENGTHY));
	size_t i;

	memset(fresh, 'n', LENGTHY);
	for (i = 0; i < RACES; i++) {
		size_t len = 4096 + i * 23;
		const char *str;

		str = cistern_intern(c, fresh, len);
		ck_assert_ptr_nonnull(str);
		ck_assert_uint_eq(cistern_len(str), len);
		ck_assert_int_eq(memcmp(str, fresh, len), 0);
		ck_assert_int_eq(str[len], '\0');
		ck_assert_uint_eq(cistern_value(c, str), 0);
		ck_assert_ptr_null(cistern_linked(c, str));
	}
	free(fresh);
}

START_TEST(racing_long_strings_are_one_string_each)
{
	size_t round, rounds = support_scaled(5), i;
	char(*data)[LENGTHY] = need(malloc(sizeof(*data) * RACES));

	for (i = 0; i < RACES; i++) {
		memset(data[i], 'r', LENGTHY);
		memcpy(data[i] + LENGTHY - sizeof(i), &i, sizeof(i));
	}
	for (round = 0; round < rounds; round++) {
		struct race r = {.c = crowd_create(_i), .data = data};

		support_run(4, race, &r);
		for (i = 0; i < RACES; i++) {
			ck_assert_ptr_nonnull(r.won[0][i]);
			ck_assert_ptr_eq(r.won[0][i], r.won[1][i]);
			ck_assert_ptr_eq(cistern_find(r.c, data[i], LENGTHY), r.won[0][i]);
			ck_assert_int_eq(memcmp(r.won[0][i], data[i], LENGTHY), 0);
		}
		ck_assert_uint_eq(r.added[0] + r.added[1], RACES);
		ck_assert_uint_eq(figures(r.c).strings, RACES + 2 * RACES * 40);
		figures_check(r.c);
		reuse(r.c);
		figures_check(r.c);
		cistern_destroy(r.c);
	}
	free(data);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("share");

	cases_add_loop(s, the_same_keys_on_all_threads_are_one_string_each, CROWDS);
	cases_add_loop(s, each_string_is_new_for_exactly_one_thread, CROWDS);
	cases_add_loop(s, racing_long_strings_are_one_string_each, CROWDS);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "share", make);
}
