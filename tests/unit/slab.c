/* SPDX-License-Identifier: MIT */
/* slab.c - tests of lib/slab.c: sizes of slabs, strings that get one of their own, walking, running out of memory. */
#include "unit.h"

#include "os.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#define MIB ((size_t)1 << 20)

static struct unit_space space;
static struct slabs slabs;
static struct entry_layout layout;

static void open_all(size_t size, unsigned shift, unsigned value_size, bool links)
{
	static const struct range_config config = {.hugepages = CISTERN_HUGEPAGES_NEVER,
	                                           .prefault = true};

	unit_space_open(&space, size, UINT64_MAX, &config);
	entry_layout_init(&layout, space.base, shift, value_size, links);
	memset(&slabs, 0, sizeof slabs);
	space.range.used = layout.align > 16 ? layout.align : 16;
}

static void close_all(void)
{
	unit_space_close(&space);
}

/* The byte at `at` of string number `number`. */
static char byte_of(uint32_t number, size_t at)
{
	return (char)(number * 31 + at * 7 + 1);
}

static void write_string(char *str, uint32_t number, size_t len)
{
	entry_frame(&layout, str, len, (uint8_t)number);
	for (size_t i = 0; i < len; i++)
		str[i] = byte_of(number, i);
}

/* Whether str is string `number` as write_string leaves it, as far as its first 4 KiB tell. */
static bool is_string(const char *str, uint32_t number, size_t len)
{
	if (entry_load_header(str) >> 24 != (uint8_t)number || entry_len(str) != len || str[len])
		return false;
	for (size_t i = 0; i < len && i < 4096; i++)
		if (str[i] != byte_of(number, i))
			return false;
	return true;
}

static char *add_by(const struct slab_policy *policy, uint32_t number, size_t len,
                    void (*write)(char *str, uint32_t number, size_t len))
{
	struct slab *own;
	char *str = slab_alloc(&slabs, policy, &layout, &space.range, len, &own);

	if (str)
		write(str, number, len);
	if (own)
		slab_link(&slabs, &layout, own, len);
	return str;
}

static char *add(const struct slab_policy *policy, uint32_t number, size_t len)
{
	return add_by(policy, number, len, write_string);
}

/* Size of the current slab. */
static size_t current_size(void)
{
	return (size_t)(slabs.cursor - (char *)slabs.head) + slabs.room;
}

/* Adds strings of 20 bytes until the shard has a new slab; gives its size. */
static size_t next_slab_size(const struct slab_policy *policy)
{
	uint64_t count = slabs.count;

	while (slabs.count == count)
		ck_assert(add(policy, 1, 20));
	ck_assert(!slabs.head->single);
	return current_size();
}

START_TEST(first_slabs_double_from_256_bytes)
{
	static const struct slab_policy policy = {4096, MIB, 32};

	open_all(MIB, 2, 0, false);
	for (size_t size = 256; size < 4096; size *= 2)
		ck_assert_uint_eq(next_slab_size(&policy), size);
	for (int i = 0; i < 32; i++)
		ck_assert_uint_eq(next_slab_size(&policy), 4096);
	ck_assert_uint_eq(next_slab_size(&policy), 8192);
	close_all();
}
END_TEST

START_TEST(the_smallest_slab_size_has_no_small_slabs)
{
	static const struct slab_policy policy = {256, 1024, 1};

	open_all(MIB, 2, 0, false);
	ck_assert_uint_eq(next_slab_size(&policy), 256);
	ck_assert_uint_eq(next_slab_size(&policy), 512);
	ck_assert_uint_eq(next_slab_size(&policy), 1024);
	ck_assert_uint_eq(next_slab_size(&policy), 1024);
	close_all();
}
END_TEST

START_TEST(slab_sizes_follow_growth_delay)
{
	static const struct slab_policy policies[] = {
	    {1024, 16384, 1},  {1024, 16384, 2}, {1024, 16384, 3},    {1024, 1024, 1},
	    {1024, 16384, 0},  {1024, 10240, 1}, {1024, 16384, 32},   {1024, MIB, 4},
	    {448, 448 * 8, 2}, {64 * 1024, 1024 * 1024, 2}, {1024, 16384, 1 << 20},
	    {1024, (1024 << 7) + 64, 1},
	};

	for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
		const struct slab_policy *policy = &policies[p];

		open_all(256 * MIB, 2, 0, false);
		for (size_t small = 256; small < policy->slab_size; small *= 2)
			ck_assert_uint_eq(next_slab_size(policy), small);
		for (unsigned i = 0; i < 40; i++) {
			/* BumpPtrAllocatorImpl::computeSlabSize(SlabIdx), with a bound */
			unsigned shift = policy->growth_interval ? i / policy->growth_interval : 0;
			uint64_t want = (uint64_t)policy->slab_size << (shift < 30 ? shift : 30);

			if (want > policy->slab_max)
				want = policy->slab_max;
			ck_assert_msg(next_slab_size(policy) == want, "policy %zu, slab %u", p, i);
		}
		close_all();
	}
}
END_TEST

START_TEST(slabs_of_one_string_do_not_count_for_growth)
{
	static const struct slab_policy policy = {1024, 16384, 4};

	open_all(64 * MIB, 2, 0, false);
	ck_assert_uint_eq(next_slab_size(&policy), 256);
	ck_assert_uint_eq(next_slab_size(&policy), 512);
	for (unsigned i = 0; i < 16; i++) {
		for (int k = 0; k < 5; k++)
			ck_assert(add(&policy, 2, 9000));
		ck_assert_uint_eq(next_slab_size(&policy), (size_t)1024 << i / 4);
	}
	close_all();
}
END_TEST

START_TEST(a_large_first_string_skips_slabs_that_are_too_small)
{
	static const struct slab_policy policy = {4096, 4096, 0};

	open_all(MIB, 2, 0, false);
	ck_assert(add(&policy, 1, 700));
	ck_assert_uint_eq(current_size(), 1024);
	ck_assert(add(&policy, 1, 300));
	ck_assert_uint_eq(current_size(), 2048);
	close_all();
}
END_TEST

START_TEST(a_quarter_of_the_slab_is_the_most_that_shares_it)
{
	static const struct slab_policy policy = {1024, 1024, 0};
	size_t quarter = 256 - 4 - 1;
	struct slab *current;
	char *cursor;
	size_t room;

	open_all(MIB, 2, 0, false);
	do
		next_slab_size(&policy);
	while (current_size() < 1024);
	while (slabs.room >= 256)
		add(&policy, 1, 20);
	current = slabs.head;
	cursor = slabs.cursor;
	room = slabs.room;

	ck_assert(add(&policy, 2, quarter + 1));
	ck_assert_ptr_eq(slabs.head, current); /* stays the current one */
	ck_assert_ptr_eq(slabs.cursor, cursor);
	ck_assert_uint_eq(slabs.room, room);
	ck_assert(atomic_load(&current->next)->single);
	ck_assert(add(&policy, 3, quarter));
	ck_assert_ptr_ne(slabs.head, current);
	ck_assert(!slabs.head->single);
	close_all();
}
END_TEST

START_TEST(no_more_is_left_unused_than_a_quarter_of_the_next_slab)
{
	static const struct slab_policy policy = {1024, 8192, 8};
	support_rng rng = support_rng_start(1);

	open_all(64 * MIB, 2, 0, false);
	for (uint32_t i = 0; i < 5000; i++) {
		struct slab *head = slabs.head;
		size_t room = slabs.room;

		ck_assert(add(&policy, i, (size_t)support_rng_below(&rng, 3000)));
		if (slabs.head != head)
			ck_assert_uint_lt(room, (current_size() > 1024 ? current_size() : 1024) / 4);
	}
	close_all();
}
END_TEST

START_TEST(accounts_add_up)
{
	static const struct slab_policy policy = {1024, 4096, 2};
	support_rng rng = support_rng_start(2);
	size_t head;

	open_all(64 * MIB, 3, 8, true);
	/* entries begin aligned behind it */
	head = (SLAB_HEADER + layout.align - 1) / layout.align * layout.align;
	for (uint32_t i = 0; i < 3000; i++) {
		uint64_t entries = slab_entry_bytes(&slabs);
		size_t len = (size_t)support_rng_below(&rng, 1500), most;

		ck_assert(add(&policy, i, len));
		most = entry_size(&layout, len) + 16;
		ck_assert_uint_ge(slab_entry_bytes(&slabs) - entries, layout.prefix + len + 1);
		ck_assert_uint_le(slab_entry_bytes(&slabs) - entries, most);
		ck_assert_uint_eq(slabs.heads, slabs.count * head);
		ck_assert_uint_le(slabs.heads + slab_entry_bytes(&slabs), slabs.bytes);
	}
	ck_assert_uint_eq(slabs.bytes + 16, space.range.used);
	close_all();
}
END_TEST

static void check_entry_place(const char *str, size_t len)
{
	const char *start = str - layout.prefix;
	uintptr_t align = layout.align;

	/* an escaped entry starts earlier, but its reference is where it always is */
	ck_assert_uint_eq((uintptr_t)start % align, 0);
	ck_assert_ptr_eq(entry_str(&layout, entry_ref(&layout, str)), str);
	ck_assert_uint_ne(entry_ref(&layout, str), 0);
	ck_assert(range_contains(&space.range, (uintptr_t)start, layout.prefix + len + 1));
	if (layout.value_size)
		ck_assert_uint_eq((uintptr_t)entry_value(&layout, str) % layout.value_size, 0);
	if (layout.link_size)
		ck_assert_uint_eq((uintptr_t)entry_link(str) % 4, 0);
}

struct string {
	const char *str;
	size_t len;
	bool seen;
};

/* Walks everything there is; every string must come exactly once. */
static void check_walk(struct string *strings, size_t n)
{
	struct slab_walk walk;
	const char *str;
	size_t len, count = 0;

	slab_walk_begin(&walk, &slabs, &layout);
	while ((str = slab_walk_next(&walk, &layout, &len)) != NULL) {
		uint32_t number;

		ck_assert_uint_ge(len, 4);
		memcpy(&number, str, 4);
		ck_assert_uint_lt(number, n);
		ck_assert_ptr_eq(strings[number].str, str);
		ck_assert_uint_eq(strings[number].len, len);
		ck_assert(!strings[number].seen);
		strings[number].seen = true;
		count++;
	}
	ck_assert_uint_eq(count, n);
	ck_assert_ptr_null(slab_walk_next(&walk, &layout, &len));
	for (size_t i = 0; i < n; i++)
		strings[i].seen = false;
}

/* Strings of all kinds, in random order, in one layout; the walk is checked now and then. */
static void walk_everything(unsigned shift, unsigned value_size, bool links)
{
	static const struct slab_policy policy = {512, 4096, 3};
	enum { N = 700 };
	static struct string strings[N];
	support_rng rng = support_rng_start(shift * 8 + value_size + links);

	open_all(512 * MIB, shift, value_size, links);
	for (uint32_t i = 0; i < N; i++) {
		size_t len = 4 + (size_t)support_rng_below(&rng, support_rng_below(&rng, 4) ? 60 : 2000);
		char *str;

		if (i == 0 && shift % 2)
			len = 5000; /* the first of the shard is one of its own */
		if (i == 100 || i == 101)
			len = ENTRY_ESCAPE - 101 + i; /* 2^24 - 2 and 2^24 - 1 */
		if (i == 102)
			len = ENTRY_ESCAPE + 1;
		if (support_rng_below(&rng, 10) == 0) {
			struct slab *slab = slab_alloc_single(&layout, &space.range, len);

			ck_assert_ptr_nonnull(slab);
			str = slab_single_str(slab);
			entry_frame(&layout, str, len, 0);
			memcpy(str, &i, 4);
			slab_link(&slabs, &layout, slab, len);
		} else {
			struct slab *own;

			str = slab_alloc(&slabs, &policy, &layout, &space.range, len, &own);
			ck_assert_ptr_nonnull(str);
			entry_frame(&layout, str, len, 0);
			memcpy(str, &i, 4);
			if (own)
				slab_link(&slabs, &layout, own, len);
		}
		check_entry_place(str, len);
		strings[i] = (struct string){str, len, false};
		if (i % 100 == 3 || i < 4)
			check_walk(strings, i + 1);
	}
	check_walk(strings, N);
	close_all();
}

START_TEST(a_walk_meets_every_string_exactly_once)
{
	for (unsigned value_size = 0; value_size <= 8; value_size += 4)
		for (int links = 0; links <= 1; links++)
			walk_everything((unsigned)_i, value_size, links);
}
END_TEST

START_TEST(a_walk_of_nothing_ends)
{
	struct slab_walk walk;
	size_t len;

	open_all(MIB, 2, 0, false);
	slab_walk_begin(&walk, &slabs, &layout);
	ck_assert_ptr_null(slab_walk_next(&walk, &layout, &len));
	close_all();
}
END_TEST

START_TEST(a_walk_does_not_enter_what_was_not_finished_when_it_began)
{
	static const struct slab_policy policy = {512, 4096, 3};
	struct slab_walk walk;
	struct slab *own;
	const char *str;
	size_t len, count = 0;

	open_all(MIB, 2, 0, false);
	for (uint32_t i = 0; i < 3; i++)
		add(&policy, i, 20);
	slab_walk_begin(&walk, &slabs, &layout);
	/* room taken in the current slab and in one of its own, and nothing written there yet */
	ck_assert_ptr_nonnull(slab_alloc(&slabs, &policy, &layout, &space.range, 20, &own));
	ck_assert_ptr_null(own);
	ck_assert_ptr_nonnull(slab_alloc(&slabs, &policy, &layout, &space.range, 300, &own));
	ck_assert_ptr_nonnull(own);
	ck_assert_uint_eq(slabs.count, 1);
	while ((str = slab_walk_next(&walk, &layout, &len)) != NULL)
		ck_assert(is_string(str, (uint32_t)count++, 20));
	ck_assert_uint_eq(count, 3);
	close_all();
}
END_TEST

static pthread_mutex_t shard_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t added;

#define CONCURRENT 6000u

static size_t length_of(uint32_t number)
{
	return number % 97 == 0 ? 6000 : number % 13 == 0 ? 300 : 4 + number % 40;
}

/* A string that says which it is. */
static void write_number(char *str, uint32_t number, size_t len)
{
	write_string(str, number, len);
	memcpy(str, &number, 4);
}

/* Worker 0 adds under the lock; the others note where it is under the lock, and walk without it. */
static void add_and_walk(support_worker *worker)
{
	static const struct slab_policy policy = {512, 4096, 3};
	uint32_t number;

	if (worker->index == 0) {
		for (number = 0; number < CONCURRENT; number++) {
			size_t len = length_of(number);
			struct slab *single = len >= 4096 ? slab_alloc_single(&layout, &space.range, len) : NULL;

			if (single)
				write_number(slab_single_str(single), number, len);
			pthread_mutex_lock(&shard_lock);
			if (single)
				slab_link(&slabs, &layout, single, len);
			else
				support_expect(worker,
				               add_by(&policy, number, len, write_number) != NULL);
			added++;
			pthread_mutex_unlock(&shard_lock);
		}
		return;
	}
	do {
		static _Thread_local bool seen[CONCURRENT];
		struct slab_walk walk;
		uint32_t before;
		const char *str;
		size_t len;

		memset(seen, 0, sizeof seen);
		pthread_mutex_lock(&shard_lock);
		slab_walk_begin(&walk, &slabs, &layout);
		before = added;
		pthread_mutex_unlock(&shard_lock);
		while ((str = slab_walk_next(&walk, &layout, &len)) != NULL) {
			memcpy(&number, str, 4);
			if (!support_expect(worker, number < CONCURRENT && len == length_of(number)))
				return;
			support_expect(worker, !seen[number] && str[len] == '\0');
			support_expect(worker, len < 5 || str[len - 1] == byte_of(number, len - 1));
			seen[number] = true;
		}
		for (number = 0; number < before; number++)
			if (!support_expect(worker, seen[number]))
				return;
	} while (added < CONCURRENT && !worker->failed);
}

START_TEST(a_walk_beside_insertions_sees_what_was_there_and_nothing_torn)
{
	open_all(64 * MIB, 2, 4, true);
	added = 0;
	support_run(3, add_and_walk, NULL);
	close_all();
}
END_TEST

START_TEST(a_refused_slab_is_tried_at_the_size_of_the_string)
{
	static const struct slab_policy policy = {4096, 4096, 0};
	uint64_t count;
	size_t used;

	open_all(8192, 2, 0, false);
	while (slabs.count < 5) /* 256 .. 4096 would end at 7952 */
		if (!add(&policy, 1, 20))
			break;
	while (slabs.room >= 28)
		add(&policy, 1, 20);
	count = slabs.count;
	used = space.range.used;
	ck_assert_uint_lt(8192 - used, 4096);
	ck_assert(add(&policy, 2, 40));
	ck_assert_uint_eq(slabs.count, count + 1);
	ck_assert_uint_eq(current_size(), 64); /* 16 + 48, in units of 16 */
	ck_assert_uint_eq(space.range.used, used + 64);
	close_all();
}
END_TEST

START_TEST(a_full_range_changes_nothing)
{
	static const struct slab_policy policy = {512, 4096, 2};
	struct slabs before;
	size_t n = 0;

	open_all(16384, 2, 0, false);
	while (add(&policy, 3, 20))
		n++;
	before = slabs;
	for (size_t len = 20; len < 20000; len *= 3) {
		errno = 0;
		ck_assert_ptr_null(add(&policy, 3, len));
		ck_assert_int_eq(errno, ENOSPC);
		ck_assert_ptr_null(slab_alloc_single(&layout, &space.range, len));
		ck_assert_int_eq(memcmp(&before, &slabs, sizeof before), 0);
	}
	/* 24 bytes an entry; almost all of the range was of use */
	ck_assert_uint_gt(n * 28, 16384 * 3 / 4);
	close_all();
}
END_TEST

START_TEST(a_refused_commit_changes_nothing_and_is_tried_again)
{
	static const struct slab_policy policy = {4096, 4096, 0};
	struct slabs before;

	open_all(MIB, 2, 0, false);
	unit_commits_fail(&space.range);
	before = slabs;
	errno = 0;
	ck_assert_ptr_null(add(&policy, 1, 10));
	ck_assert_int_eq(errno, ENOMEM);
	ck_assert_ptr_null(add(&policy, 1, 5000));
	ck_assert_int_eq(memcmp(&before, &slabs, sizeof before), 0);
	unit_commits_work();
	ck_assert(add(&policy, 1, 10));
	close_all();
}
END_TEST

START_TEST(an_abandoned_slab_is_used_again)
{
	struct slab *slab, *again;
	size_t used;

	open_all(64 * MIB, 2, 8, true);
	slab = slab_alloc_single(&layout, &space.range, 10000);
	used = space.range.used;
	memset(slab_single_str(slab) - layout.prefix, 'x', 10000);
	slab_abandon(slab, &layout, &space.range, 10000);
	ck_assert_uint_eq(space.range.returned_bytes, slab_single_size(&layout, 10000));
	again = slab_alloc_single(&layout, &space.range, 10000);
	ck_assert_ptr_eq(again, slab);
	ck_assert_uint_eq(space.range.used, used);
	/* what lay there does not show in the value and link of the next string */
	write_string(slab_single_str(again), 5, 10000);
	ck_assert_uint_eq(entry_load64(entry_value(&layout, slab_single_str(again))), 0);
	ck_assert_uint_eq(atomic_load(entry_link(slab_single_str(again))), 0);
	ck_assert(is_string(slab_single_str(again), 5, 10000));
	close_all();
}
END_TEST

START_TEST(a_slab_of_its_own_is_as_large_as_the_string_needs)
{
	for (unsigned shift = 0; shift <= 8; shift += 2) {
		open_all(256 * MIB, shift, 8, true);
		for (size_t len = 0; len < 40000; len = len * 5 / 4 + 1) {
			size_t size = slab_single_size(&layout, len);

			ck_assert_uint_ge(size, SLAB_HEADER + layout.prefix + len + 1);
			ck_assert_uint_lt(size, SLAB_HEADER + layout.align + layout.prefix + len + 1 + 16);
			ck_assert_uint_eq(size % 16, 0);
		}
		close_all();
	}
}
END_TEST

START_TEST(the_longest_string_fits_and_one_byte_more_does_not)
{
	static char somewhere[64]; /* only sizes are asked for */
	static const size_t sizes[] = {4096, 65536, 100000 / 16 * 16, 16 * MIB - 64, 16 * MIB,
	                               16 * MIB + 16, 16 * MIB + 32, 16 * MIB + 48, 16 * MIB + 64,
	                               16 * MIB + 80, 16 * MIB + 1024, 200 * MIB};

	for (unsigned shift = 0; shift <= 8; shift++)
		for (unsigned value = 0; value <= 8; value += 4)
			for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
				size_t len;

				entry_layout_init(&layout, somewhere, shift, value, value % 8 == 4);
				len = slab_longest(&layout, sizes[i]);
				ck_assert_uint_le(slab_single_size(&layout, len), sizes[i]);
				ck_assert_uint_gt(slab_single_size(&layout, len + 1), sizes[i]);
			}
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("slab");
	TCase *walk = tcase_create("a_walk_meets_every_string_exactly_once");

	support_add(s, first_slabs_double_from_256_bytes);
	support_add(s, the_smallest_slab_size_has_no_small_slabs);
	support_add(s, slab_sizes_follow_growth_delay);
	support_add(s, slabs_of_one_string_do_not_count_for_growth);
	support_add(s, a_large_first_string_skips_slabs_that_are_too_small);
	support_add(s, a_quarter_of_the_slab_is_the_most_that_shares_it);
	support_add(s, no_more_is_left_unused_than_a_quarter_of_the_next_slab);
	support_add(s, accounts_add_up);
	tcase_set_timeout(walk, 60);
	tcase_add_loop_test(walk, a_walk_meets_every_string_exactly_once, 0, 9); /* shifts */
	suite_add_tcase(s, walk);
	support_add(s, a_walk_of_nothing_ends);
	support_add(s, a_walk_does_not_enter_what_was_not_finished_when_it_began);
	support_add(s, a_walk_beside_insertions_sees_what_was_there_and_nothing_torn);
	support_add(s, a_refused_slab_is_tried_at_the_size_of_the_string);
	support_add(s, a_full_range_changes_nothing);
	support_add(s, a_refused_commit_changes_nothing_and_is_tried_again);
	support_add(s, an_abandoned_slab_is_used_again);
	support_add(s, a_slab_of_its_own_is_as_large_as_the_string_needs);
	support_add(s, the_longest_string_fits_and_one_byte_more_does_not);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "slab", make);
}
