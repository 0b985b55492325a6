/* SPDX-License-Identifier: MIT */
/*
 * thrift.c - what a start and what threads cost in memory: a new interner and its first hundred
 * strings stay within a budget and allocate nothing, a small range is used up before it is called
 * full, and threads that race take exactly what one thread takes. What a string costs is in
 * stats.c.
 */
#include "allocs.h"
#include "cases.h"
#include "child.h"
#include "figures.h"
#include "maps.h"
#include "support.h"
#include "tools.h"
#include "variants.h"

#include <cistern.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KIB UINT64_C(1024)

static cistern *create(const cistern_config *config)
{
	cistern *c = cistern_create(config);

	ck_assert_ptr_nonnull(c);
	return c;
}

static void intern_hundred(cistern *c)
{
	int i;

	for (i = 0; i < 100; i++) {
		char data[64];
		int len = snprintf(data, sizeof(data), "%s_%d",
				   i % 3 ? "an_identifier" : "a_somewhat_longer_identifier", i);

		ck_assert_ptr_nonnull(cistern_intern(c, data, (size_t)len));
	}
}

/* ---------------------------------------------------------------- a start */

/*
 * Committed memory, which resident memory cannot pass: a page or two, less than half a KiB a shard,
 * and a first chunk for strings. 256 shards are the most that the automatic choice takes.
 */
static const struct start {
	uint32_t shards;
	uint64_t alone, hundred; /* KiB at most: at first, and with a hundred strings */
} starts[] = {{0, 96, 160}, {1, 8, 72}, {16, 12, 76}, {64, 28, 96}, {256, 96, 160}};

START_TEST(a_start_stays_within_its_budget)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	const struct start *start = &starts[_i];
	/* the budget is for pages of 4 KiB; ends of commits are rounded to larger ones elsewhere */
	uint64_t rounding = 4 * ((uint64_t)sysconf(_SC_PAGESIZE) - 4096);
	cistern_stats alone, hundred;
	cistern *c;

	config.shards = start->shards;
	c = create(&config);
	alone = figures(c);
	intern_hundred(c);
	hundred = figures(c);
	printf("# %llu shards: %llu bytes committed at first, %llu with 100 strings\n",
	       (unsigned long long)alone.shards, (unsigned long long)alone.committed_bytes,
	       (unsigned long long)hundred.committed_bytes);
	ck_assert_uint_le(alone.committed_bytes, start->alone * KIB + rounding);
	ck_assert_uint_le(hundred.committed_bytes, start->hundred * KIB + rounding);
	cistern_destroy(c);
}
END_TEST

static int start_and_count(void *arg)
{
	static struct maps before, after;
	unsigned long calls = allocs_calls();
	size_t i, reserved = 0;
	bool mapped = maps_read(&before);
	cistern *c = cistern_create(arg);

	CHILD_CHECK(c && cistern_intern_cstr(c, "first"));
	CHILD_CHECK(cistern_find_cstr(c, "first"));
	CHILD_CHECK(allocs_calls() == calls);
	if (!mapped)
		return 0;
	/* Two ranges, each of which a commit, and the hint where huge pages begin, may split. */
	CHILD_CHECK(maps_read(&after));
	CHILD_CHECK(after.count <= before.count + 8);
	for (i = 0; i < after.count; i++)
		reserved += after.ranges[i].to - after.ranges[i].from;
	for (i = 0; i < before.count; i++)
		reserved -= before.ranges[i].to - before.ranges[i].from;
	CHILD_CHECK(reserved == figures(c).reserved_bytes);
	intern_hundred(c);
	CHILD_CHECK(allocs_calls() == calls);
	cistern_destroy(c);
	CHILD_CHECK(allocs_calls() == calls);
	CHILD_CHECK(maps_read(&after) && after.count == before.count);
	return 0;
}

START_TEST(a_start_allocates_nothing_but_its_two_ranges)
{
	cistern_config config = variant(_i);
	struct child child;

	if (!allocs_counted() || UNDER_ASAN || UNDER_TSAN || UNDER_VALGRIND)
		return; /* they map memory, and allocate, beside the program */
	child_run(&child, start_and_count, &config);
	ck_assert(child_ok(&child));
	child_free(&child);
}
END_TEST

/* ---------------------------------------------------------------- small ranges */

/* Many shards would leave a small range in pieces that none can use: slabs and shards are fitted to
 * it. */
START_TEST(a_small_range_is_mostly_usable_whatever_the_shards)
{
	static const uint64_t ranges[] = {64 * KIB, 1024 * KIB};
	static const size_t lengths[] = {6, 30, 100};
	size_t range, length;

	for (range = 0; range < sizeof(ranges) / sizeof(ranges[0]); range++)
		for (length = 0; length < sizeof(lengths) / sizeof(lengths[0]); length++) {
			cistern_config config = CISTERN_CONFIG_INIT;
			char data[128];
			cistern_stats stats;
			cistern *c;
			size_t i = 0;

			config.shards = 256;
			config.max_bytes = ranges[range];
			c = create(&config);
			memset(data, 'r', sizeof(data));
			do
				data[snprintf(data, 16, "%zx", i)] = 'r';
			while (cistern_intern(c, data, lengths[length] + i++ % 13));
			ck_assert_int_eq(errno, ENOSPC);
			stats = figures(c);
			ck_assert_msg(
			    (stats.payload_bytes + stats.overhead_bytes) * 5 >=
				stats.capacity_bytes * 3,
			    "%llu of %llu bytes, strings of %zu bytes and more",
			    (unsigned long long)(stats.payload_bytes + stats.overhead_bytes),
			    (unsigned long long)stats.capacity_bytes, lengths[length]);
			figures_check(c);
			cistern_destroy(c);
		}
}
END_TEST

/* ---------------------------------------------------------------- races */

enum { THREADS = 4, KEYS = 40000, WIDE = 40 };

struct race {
	cistern *c;
	size_t keys;
	bool same; /* all threads intern all keys; else each has its part */
};

/* All of one length, so that it does not matter who comes first. */
static void intern_part(support_worker *worker)
{
	const struct race *race = worker->arg;
	size_t i;

	for (i = 0; i < race->keys; i++) {
		char data[WIDE + 1];
		size_t at = race->same ? i : i * worker->count + worker->index;

		snprintf(data, sizeof(data), "%*zu", WIDE, at);
		if (!support_expect(worker, cistern_intern(race->c, data, WIDE)))
			return;
	}
}

static cistern_stats filled(const cistern_config *config, unsigned threads, bool same)
{
	size_t keys = support_scaled(KEYS);
	struct race race = {create(config), same ? keys : keys / threads, same};
	cistern_stats stats;

	support_run(threads, intern_part, &race);
	figures_check(race.c);
	stats = figures(race.c);
	cistern_destroy(race.c);
	return stats;
}

/*
 * Nobody grows what another has grown meanwhile. Slabs and tables double each time, where a second
 * doubling would show most.
 */
START_TEST(threads_that_race_take_what_one_thread_takes)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	size_t round, rounds = support_scaled(5);
	cistern_stats one, many;

	config.shards = _i % 2 ? 4 : 1;
	config.lock = _i / 2 % 2 ? CISTERN_LOCK_SPIN : CISTERN_LOCK_MUTEX;
	config.seed = 7; /* the same strings in each shard */
	config.slab_size = 256;
	config.growth_interval = 1;
	config.slab_max = 1 << 20;
	one = filled(&config, 1, true);
	for (round = 0; round < rounds; round++) {
		many = filled(&config, THREADS, round % 2);
		ck_assert_uint_eq(many.strings, one.strings);
		ck_assert_uint_eq(many.payload_bytes, one.payload_bytes);
		ck_assert_uint_eq(many.overhead_bytes, one.overhead_bytes);
		ck_assert_uint_eq(many.slack_bytes, one.slack_bytes);
		ck_assert_uint_eq(many.slabs, one.slabs);
		ck_assert_uint_eq(many.table_bytes, one.table_bytes);
		ck_assert_uint_eq(many.retired_bytes, one.retired_bytes);
		ck_assert_uint_eq(many.growths, one.growths);
		/* chunks depend on who commits when; two ranges, one chunk each */
		ck_assert_uint_le(many.committed_bytes,
				  one.committed_bytes + one.committed_bytes / 32 + 64 * KIB);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("thrift");

	cases_add_loop(s, a_start_stays_within_its_budget, sizeof(starts) / sizeof(starts[0]));
	cases_add_loop(s, a_start_allocates_nothing_but_its_two_ranges, VARIANTS);
	support_add(s, a_small_range_is_mostly_usable_whatever_the_shards);
	cases_add_loop(s, threads_that_race_take_what_one_thread_takes, 4);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "thrift", make);
}
