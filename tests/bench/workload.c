/* SPDX-License-Identifier: MIT */
/*
 * workload.c - tests that the benches notice when an engine is wrong: an engine that is right or
 * wrong on demand goes through the measurement that all benches share.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../../bench/engine_loop.h"
#include "../../bench/workload.h"
#include "support.h"

/* What the engine gets wrong. */
static enum fault {
	RIGHT,
	FORGETS,          /* a string is interned twice */
	OTHER_BYTES,      /* a string comes back changed */
	NO_NUL,           /* ... without its NUL */
	REFUSES,          /* one string cannot be interned */
	FINDS_ABSENT,     /* a look-up that has to miss does not */
	MISCOUNTS,        /* the count of strings is wrong */
	LATER_OTHER,      /* a hit gives another pointer than the build */
	OTHER_PER_THREAD, /* the two threads get different pointers */
	BATCH_OTHER,      /* the batch call answers differently */
	HOT_OTHER,        /* a hit gives another pointer after all of that went well */
	MISCOUNTS_LATER,  /* the second count of strings is wrong */
	REFUSES_GROWING,  /* nothing can be interned between two look-ups */
	NEW_TWICE,        /* strings that come after the build are interned anew each time */
	CRASHES,
	HIDES_MEMORY, /* no file can be opened any more */
	NOT_MADE
} fault;

struct entry {
	size_t len;
	char *data;
};

/* A list that is searched from its start, behind a lock: small corpora only. */
struct list {
	pthread_mutex_t lock;
	struct entry entries[400];
	size_t n, calls, counts, finds;
	bool batched; /* the last intern call was a batch */
	pthread_t first;
};

static const char *find(struct list *l, const char *s, size_t len)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->entries[i].len == len && memcmp(l->entries[i].data, s, len) == 0)
			return l->entries[i].data;
	return NULL;
}

static const char *find_one(struct list *l, const char *s, size_t len)
{
	__atomic_fetch_add(&l->finds, 1, __ATOMIC_RELAXED);
	if (fault == FINDS_ABSENT)
		return l->entries[0].data;
	return find(l, s, len);
}

/* As only the strings have that are not in the corpus. */
static bool has_high_bit(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)s[i] >= 0x80)
			return true;
	return false;
}

static const char *intern_locked(struct list *l, const char *s, size_t len)
{
	size_t call = l->calls++;
	if (fault == CRASHES)
		abort();
	if (fault == REFUSES && call == 150)
		return NULL;
	if (fault == REFUSES_GROWING && l->finds && !l->counts)
		return NULL;
	const char *found = find(l, s, len);
	if (fault == LATER_OTHER && call == 700)
		return found + 1;
	bool after_build = has_high_bit(s, len);
	if (found && !(fault == FORGETS && call == 250) && !(fault == NEW_TWICE && after_build))
		return found;
	struct entry *e = &l->entries[l->n++];
	e->len = len;
	e->data = malloc(len + 1);
	ck_assert_ptr_nonnull(e->data);
	memcpy(e->data, s, len);
	e->data[len] = fault == NO_NUL ? 'x' : '\0';
	if (fault == OTHER_BYTES)
		e->data[0]++;
	return e->data;
}

static const char *intern_one(struct list *l, const char *s, size_t len)
{
	pthread_mutex_lock(&l->lock);
	if (l->calls == 0)
		l->first = pthread_self();
	const char *p = intern_locked(l, s, len);
	bool other =
	    fault == OTHER_PER_THREAD && l->calls > 650 && !pthread_equal(l->first, pthread_self());
	other |= fault == HOT_OTHER && l->batched && !l->finds;
	pthread_mutex_unlock(&l->lock);
	return other ? p + 1 : p;
}

static size_t intern_group(struct list *l, const cistern_span *in, const char **out, size_t n)
{
	__atomic_store_n(&l->batched, false, __ATOMIC_RELAXED);
	for (size_t i = 0; i < n; i++)
		out[i] = intern_one(l, in[i].data, in[i].len);
	__atomic_store_n(&l->batched, true, __ATOMIC_RELAXED);
	if (fault == BATCH_OTHER && n > 1)
		out[0] = out[0] + 1;
	return n;
}

static size_t find_group(struct list *l, const cistern_span *in, const char **out, size_t n)
{
	size_t found = 0;
	for (size_t i = 0; i < n; i++)
		found += (out[i] = find_one(l, in[i].data, in[i].len)) != NULL;
	return found;
}

ENGINE_LOOPS(list, struct list, intern_one, find_one)
ENGINE_BATCH_LOOPS(list, struct list, intern_group, find_group)

static void *create(const cistern_config *config)
{
	(void)config;
	if (fault == HIDES_MEMORY)
		setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, 0});
	struct list *l = fault == NOT_MADE ? NULL : calloc(1, sizeof *l);
	errno = ENOMEM;
	if (l)
		pthread_mutex_init(&l->lock, NULL);
	return l;
}

static void destroy(void *e)
{
	struct list *l = e;
	for (size_t i = 0; i < l->n; i++)
		free(l->entries[i].data);
	free(l);
}

static void stats(void *e, cistern_stats *out)
{
	struct list *l = e;
	memset(out, 0, sizeof *out);
	l->counts++;
	out->strings = l->n - (fault == MISCOUNTS) - (fault == MISCOUNTS_LATER && l->counts == 2);
}

static const struct engine engine_list = {
    .name = "list",
    .about = "a list",
    .create = create,
    .destroy = destroy,
    .intern = list_intern_loop,
    .find = list_find_loop,
    .intern_batch = list_intern_batch_loop,
    .find_batch = list_find_batch_loop,
    .stats = stats,
};

/* Whether the measurement is content with the engine. */
static bool passes(enum fault how, unsigned threads)
{
	struct corpus c;
	struct workload_result result;
	corpus_load(&c,
		    &(struct corpus_request){.generate = CORPUS_SYMBOLS, .count = 600, .seed = 3});
	ck_assert_uint_lt(c.ndistinct, 350);
	fault = how;
	struct workload w = {
	    .engine = &engine_list, .corpus = &c, .threads = threads, .pass_ms = 1, .steps = true};
	bool good = workload_run(&w, &result);
	if (good) {
		ck_assert(result.speed.build > 0 && result.speed.hit > 0);
		ck_assert(result.speed.batch > 0 && result.speed.miss > 0);
		ck_assert(result.speed.hot > 0 && result.speed.mixed > 0);
		ck_assert(result.speed.miss_slowest > 0);
		ck_assert(result.speed.miss_fastest >= result.speed.miss_slowest);
		ck_assert_uint_gt(result.after.rss, 0);
		ck_assert_uint_ge(result.after.peak, result.before.rss / 2);
	}
	corpus_unload(&c);
	return good;
}

START_TEST(right_engine_passes)
{
	ck_assert(passes(RIGHT, 1));
	ck_assert(passes(RIGHT, 2));
}
END_TEST

START_TEST(string_with_two_pointers_is_noticed)
{
	ck_assert(!passes(FORGETS, 1));
}
END_TEST

START_TEST(changed_bytes_are_noticed)
{
	ck_assert(!passes(OTHER_BYTES, 1));
}
END_TEST

START_TEST(missing_nul_is_noticed)
{
	ck_assert(!passes(NO_NUL, 1));
}
END_TEST

START_TEST(failed_intern_is_noticed)
{
	ck_assert(!passes(REFUSES, 1));
}
END_TEST

START_TEST(absent_string_that_is_found_is_noticed)
{
	ck_assert(!passes(FINDS_ABSENT, 1));
}
END_TEST

START_TEST(wrong_count_is_noticed)
{
	ck_assert(!passes(MISCOUNTS, 1));
}
END_TEST

START_TEST(pointer_that_changes_later_is_noticed)
{
	ck_assert(!passes(LATER_OTHER, 1));
}
END_TEST

START_TEST(pointers_that_differ_between_threads_are_noticed)
{
	ck_assert(!passes(OTHER_PER_THREAD, 2));
}
END_TEST

START_TEST(batch_that_answers_differently_is_noticed)
{
	ck_assert(!passes(BATCH_OTHER, 1));
}
END_TEST

START_TEST(hot_string_with_another_pointer_is_noticed)
{
	ck_assert(!passes(HOT_OTHER, 1));
}
END_TEST

START_TEST(wrong_count_after_the_mix_is_noticed)
{
	ck_assert(!passes(MISCOUNTS_LATER, 1));
}
END_TEST

START_TEST(failed_intern_between_misses_is_noticed)
{
	ck_assert(!passes(REFUSES_GROWING, 1));
}
END_TEST

START_TEST(new_string_with_two_pointers_is_noticed)
{
	ck_assert(!passes(NEW_TWICE, 1));
	ck_assert(!passes(NEW_TWICE, 2));
}
END_TEST

START_TEST(crash_is_noticed)
{
	ck_assert(!passes(CRASHES, 1));
}
END_TEST

START_TEST(memory_that_cannot_be_read_is_not_none)
{
	ck_assert(!passes(HIDES_MEMORY, 1));
}
END_TEST

START_TEST(engine_that_cannot_be_made_is_noticed)
{
	ck_assert(!passes(NOT_MADE, 1));
}
END_TEST

START_TEST(spread_is_the_quartiles)
{
	double odd[] = {5, 1, 4, 2, 3}, one[] = {7}, even[] = {4, 1, 3, 2};
	struct harness_spread s = harness_spread_of(odd, 5);
	ck_assert(s.q1 == 2 && s.median == 3 && s.q3 == 4);
	s = harness_spread_of(one, 1);
	ck_assert(s.q1 == 7 && s.median == 7 && s.q3 == 7);
	s = harness_spread_of(even, 4);
	ck_assert(s.q1 == 1.75 && s.median == 2.5 && s.q3 == 3.25);
}
END_TEST

START_TEST(pairs_are_ratios_within_rounds)
{
	const double own[] = {2, 9, 4}, base[] = {1, 3, 4}, zero[] = {1, 0, 4},
		     hole[] = {2, NAN, 4};
	struct harness_pair p = harness_pair_of(own, base, 3);
	ck_assert(p.known && p.paired);
	/* 2/1, 9/3, 4/4: not the ratio of the medians, which is 4/3 */
	ck_assert(p.own.median == 4 && p.ratio.median == 2 && p.ratio.q3 == 2.5);
	ck_assert(own[1] == 9 && base[1] == 3);
	p = harness_pair_of(own, NULL, 3);
	ck_assert(p.known && !p.paired && p.own.median == 4);
	ck_assert(!harness_pair_of(own, zero, 3).paired);
	p = harness_pair_of(hole, base, 3);
	ck_assert(!p.known && !p.paired);
	ck_assert(!harness_pair_of(own, hole, 3).paired);
}
END_TEST

START_TEST(turns_go_back_and_forth)
{
	for (unsigned round = 0; round < 4; round++)
		for (size_t i = 0; i < 3; i++)
			ck_assert_uint_eq(harness_in_turn(i, 3, round), round % 2 ? 2 - i : i);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("bench/workload");
	support_add(s, right_engine_passes);
	support_add(s, string_with_two_pointers_is_noticed);
	support_add(s, changed_bytes_are_noticed);
	support_add(s, missing_nul_is_noticed);
	support_add(s, failed_intern_is_noticed);
	support_add(s, absent_string_that_is_found_is_noticed);
	support_add(s, wrong_count_is_noticed);
	support_add(s, pointer_that_changes_later_is_noticed);
	support_add(s, pointers_that_differ_between_threads_are_noticed);
	support_add(s, batch_that_answers_differently_is_noticed);
	support_add(s, hot_string_with_another_pointer_is_noticed);
	support_add(s, wrong_count_after_the_mix_is_noticed);
	support_add(s, failed_intern_between_misses_is_noticed);
	support_add(s, new_string_with_two_pointers_is_noticed);
	support_add(s, crash_is_noticed);
	support_add(s, memory_that_cannot_be_read_is_not_none);
	support_add(s, engine_that_cannot_be_made_is_noticed);
	support_add(s, spread_is_the_quartiles);
	support_add(s, pairs_are_ratios_within_rounds);
	support_add(s, turns_go_back_and_forth);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "bench/workload", make);
}
