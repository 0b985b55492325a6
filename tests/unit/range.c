/* SPDX-License-Identifier: MIT */
/* range.c - tests of lib/range.c: taking and giving back, chunks, limits, populating, threads. */
#include "unit.h"

#include "os.h"

#include <errno.h>
#include <stdlib.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)

static struct unit_space s;

static void open_plain(size_t size)
{
	unit_space_open(&s, size, UINT64_MAX, NULL);
}

static size_t offset(const void *p)
{
	return (size_t)((const char *)p - s.range.base);
}

START_TEST(blocks_are_aligned_zero_and_apart)
{
	support_rng rng = support_rng_start(1);
	struct {
		unsigned char *p;
		size_t size;
	} blocks[400];

	open_plain(64 * MIB);
	for (unsigned i = 0; i < 400; i++) {
		size_t size = 16 * (1 + (size_t)support_rng_below(&rng, 1000));
		size_t align = (size_t)16 << support_rng_below(&rng, 9);

		blocks[i].p = range_take(&s.range, size, align);
		blocks[i].size = size;
		ck_assert_ptr_nonnull(blocks[i].p);
		ck_assert_uint_eq((uintptr_t)blocks[i].p % align, 0);
		for (size_t k = 0; k < size; k++)
			ck_assert(blocks[i].p[k] == 0);
		memset(blocks[i].p, (int)(i % 255) + 1, size);
	}
	for (unsigned i = 0; i < 400; i++)
		for (size_t k = 0; k < blocks[i].size; k++)
			ck_assert(blocks[i].p[k] == i % 255 + 1);
	unit_space_close(&s);
}
END_TEST

START_TEST(blocks_lie_one_behind_another)
{
	open_plain(MIB);
	ck_assert_uint_eq(offset(range_take(&s.range, 16, 16)), 0);
	ck_assert_uint_eq(offset(range_take(&s.range, 48, 16)), 16);
	ck_assert_uint_eq(offset(range_take(&s.range, 64, 64)), 64);
	ck_assert_uint_eq(offset(range_take(&s.range, 16, 64)), 128);
	ck_assert_uint_eq(offset(range_take(&s.range, 4096, 4096)), 4096);
	ck_assert_uint_eq(offset(range_take(&s.range, 16, 16)), 8192);
	unit_space_close(&s);
}
END_TEST

START_TEST(a_range_starts_behind_its_head)
{
	static const struct range_config config = {.hugepages = CISTERN_HUGEPAGES_NEVER};
	struct budget budget = {.limit = UINT64_MAX};
	struct range range;
	char *base = os_reserve(MIB);

	ck_assert(os_commit(base, 8192));
	range_open(&range, base, MIB, 5008, &budget, &config, LOCK_RANK_RANGE);
	ck_assert(range_contains(&range, (uintptr_t)base, (5008 + os_page_size() - 1) / os_page_size() *
	                                                       os_page_size()));
	ck_assert_ptr_eq(range_take(&range, 16, 16), base + 5008);
	ck_assert_uint_eq(atomic_load(&budget.committed), 0);
	range_close(&range);
	os_release(base, MIB);
}
END_TEST

START_TEST(first_chunks_are_32_kib)
{
	open_plain(64 * MIB);
	ck_assert_uint_eq(unit_committed(&s), 0);
	range_take(&s.range, 16, 16);
	ck_assert_uint_eq(unit_committed(&s), 32 * KIB);
	range_take(&s.range, 32 * KIB - 16, 16);
	ck_assert_uint_eq(unit_committed(&s), 32 * KIB);
	range_take(&s.range, 16, 16);
	ck_assert_uint_eq(unit_committed(&s), 64 * KIB);
	unit_space_close(&s);
}
END_TEST

START_TEST(chunks_are_a_64th_of_what_the_interner_has_committed)
{
	static const struct {
		uint64_t total;
		size_t chunk;
	} cases[] = {
	    {0, 32 * KIB},           {64 * 32 * KIB, 32 * KIB},   {64 * 36 * KIB, 36 * KIB},
	    {64 * 512 * KIB, 512 * KIB}, {64 * MIB, MIB},         {64 * MIB + 64 * 4096, MIB},
	    {100 * (uint64_t)GIB, MIB},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		open_plain(64 * MIB);
		/* the other range of the interner counts too */
		ck_assert(budget_charge(&s.budget, cases[i].total));
		range_take(&s.range, 16, 16);
		ck_assert_uint_eq(unit_committed(&s), cases[i].chunk);
		ck_assert_uint_eq(atomic_load(&s.budget.committed), cases[i].total + cases[i].chunk);
		unit_space_close(&s);
	}
}
END_TEST

START_TEST(overshoot_stays_below_a_64th)
{
	open_plain(256 * MIB);
	while (s.range.used < 200 * MIB) {
		size_t spare;

		ck_assert(range_take(&s.range, 4096, 16));
		spare = unit_committed(&s) - s.range.used;
		ck_assert(spare <= s.range.used / 60 + 32 * KIB && spare <= MIB);
	}
	unit_space_close(&s);
}
END_TEST

START_TEST(a_fixed_chunk_is_kept)
{
	static const struct range_config config = {.commit_chunk = 100000,
	                                           .hugepages = CISTERN_HUGEPAGES_NEVER};
	size_t chunk = (100000 + os_page_size() - 1) / os_page_size() * os_page_size();

	unit_space_open(&s, 64 * MIB, UINT64_MAX, &config);
	for (size_t i = 1; i < 100; i++) {
		range_take(&s.range, chunk, 16);
		ck_assert_uint_eq(unit_committed(&s), i * chunk);
	}
	unit_space_close(&s);
}
END_TEST

START_TEST(a_block_larger_than_a_chunk_is_committed_whole)
{
	open_plain(64 * MIB);
	ck_assert_ptr_nonnull(range_take(&s.range, 10 * MIB + 16, 16));
	ck_assert_uint_eq(unit_committed(&s), 10 * MIB + os_page_size());
	unit_space_close(&s);
}
END_TEST

START_TEST(huge_pages_always_commits_whole_huge_pages)
{
	static const struct range_config config = {.hugepages = CISTERN_HUGEPAGES_ALWAYS};

	unit_space_open(&s, 4 * OS_HUGE_PAGE, UINT64_MAX, &config);
	range_take(&s.range, 16, 16);
	ck_assert_uint_eq(unit_committed(&s), OS_HUGE_PAGE);
	range_take(&s.range, OS_HUGE_PAGE, 16);
	ck_assert_uint_eq(unit_committed(&s), 2 * OS_HUGE_PAGE);
	unit_space_close(&s);

	/* a range that is no multiple of them ends where it ends */
	unit_space_open(&s, OS_HUGE_PAGE + 64 * KIB, UINT64_MAX, &config);
	ck_assert_ptr_nonnull(range_take(&s.range, OS_HUGE_PAGE + 16, 16));
	ck_assert_uint_eq(unit_committed(&s), OS_HUGE_PAGE + 64 * KIB);
	unit_space_close(&s);
}
END_TEST

START_TEST(the_budget_ends_taking_with_enospc)
{
	void *last = NULL, *p;
	size_t used;

	unit_space_open(&s, 64 * MIB, 100 * KIB, NULL);
	for (errno = 0; (p = range_take(&s.range, 4096, 16)) != NULL;)
		last = p;
	ck_assert_int_eq(errno, ENOSPC);
	ck_assert_uint_eq(atomic_load(&s.budget.committed), 100 * KIB);
	ck_assert_uint_eq(offset(last), 96 * KIB);
	used = s.range.used;
	ck_assert_ptr_null(range_take(&s.range, 16, 16));
	ck_assert_uint_eq(s.range.used, used);
	ck_assert_uint_eq(unit_committed(&s), 100 * KIB);
	unit_space_close(&s);
}
END_TEST

START_TEST(near_the_budget_only_what_is_needed_is_committed)
{
	unit_space_open(&s, 64 * MIB, 44 * KIB, NULL);
	ck_assert_ptr_nonnull(range_take(&s.range, 32 * KIB, 16));
	ck_assert_uint_eq(unit_committed(&s), 32 * KIB);
	ck_assert_ptr_nonnull(range_take(&s.range, 16, 16)); /* a chunk does not fit */
	ck_assert_uint_eq(unit_committed(&s), 32 * KIB + os_page_size());
	ck_assert_uint_eq(atomic_load(&s.budget.committed), unit_committed(&s));
	unit_space_close(&s);
}
END_TEST

START_TEST(a_budget_is_charged_and_refunded_to_the_byte)
{
	struct budget budget = {.limit = 1000};

	ck_assert(budget_charge(&budget, 0));
	ck_assert(budget_charge(&budget, 999));
	errno = 0;
	ck_assert(!budget_charge(&budget, 2));
	ck_assert_int_eq(errno, ENOSPC);
	ck_assert(budget_charge(&budget, 1));
	ck_assert(!budget_charge(&budget, 1));
	ck_assert(!budget_charge(&budget, UINT64_MAX));
	ck_assert_uint_eq(atomic_load(&budget.committed), 1000);
	budget_refund(&budget, 1000);
	ck_assert(!budget_charge(&budget, 1001));
	ck_assert(budget_charge(&budget, 1000));
}
END_TEST

static void charge_and_refund(support_worker *worker)
{
	struct budget *budget = worker->arg;
	size_t held = 0;

	for (int i = 0; i < 20000; i++) {
		if (budget_charge(budget, 7))
			held++;
		support_expect(worker, atomic_load(&budget->committed) <= budget->limit);
		if (held > 3 || (held && support_rng_below(&worker->rng, 2))) {
			budget_refund(budget, 7);
			held--;
		}
	}
	budget_refund(budget, 7 * held);
}

START_TEST(threads_never_pass_the_budget)
{
	struct budget budget = {.limit = 50};

	support_run(4, charge_and_refund, &budget);
	ck_assert_uint_eq(atomic_load(&budget.committed), 0);
}
END_TEST

START_TEST(a_refused_commit_gives_enomem_and_changes_nothing)
{
	open_plain(64 * MIB);
	ck_assert_ptr_nonnull(range_take(&s.range, 32 * KIB, 16));
	unit_commits_fail(&s.range);
	errno = 0;
	ck_assert_ptr_null(range_take(&s.range, 16, 16));
	ck_assert_int_eq(errno, ENOMEM);
	ck_assert_uint_eq(unit_committed(&s), 32 * KIB);
	ck_assert_uint_eq(atomic_load(&s.budget.committed), 32 * KIB);
	ck_assert_uint_eq(s.range.used, 32 * KIB);
	unit_commits_work();
	ck_assert_uint_eq(offset(range_take(&s.range, 16, 16)), 32 * KIB);
	unit_space_close(&s);
}
END_TEST

START_TEST(the_end_of_the_range_gives_enospc)
{
	open_plain(64 * KIB);
	ck_assert_ptr_nonnull(range_take(&s.range, 64 * KIB - 32, 16));
	errno = 0;
	ck_assert_ptr_null(range_take(&s.range, 48, 16));
	ck_assert_int_eq(errno, ENOSPC);
	ck_assert_ptr_null(range_take(&s.range, 16, 4096));
	ck_assert_ptr_null(range_take(&s.range, SIZE_MAX - 15, 16));
	ck_assert_uint_eq(offset(range_take(&s.range, 32, 16)), 64 * KIB - 32);
	ck_assert_ptr_null(range_take(&s.range, 16, 16));
	ck_assert_uint_eq(unit_committed(&s), 64 * KIB);
	unit_space_close(&s);
}
END_TEST

START_TEST(a_block_given_back_is_taken_again)
{
	void *a, *b;

	open_plain(MIB);
	a = range_take(&s.range, 256, 16);
	b = range_take(&s.range, 512, 16);
	range_give(&s.range, a, 256);
	ck_assert_uint_eq(s.range.returned_bytes, 256);
	ck_assert_uint_ne(offset(range_take(&s.range, 512, 16)), 0); /* too small for it */
	ck_assert_ptr_eq(range_take(&s.range, 256, 16), a);
	ck_assert_uint_eq(s.range.returned_bytes, 0);
	range_give(&s.range, b, 512);
	range_give(&s.range, a, 256);
	ck_assert_ptr_eq(range_take(&s.range, 272, 16), b); /* behind the first of the list */
	ck_assert_ptr_eq(range_take(&s.range, 256, 16), a);
	unit_space_close(&s);
}
END_TEST

START_TEST(a_block_given_back_is_split)
{
	char *p;

	open_plain(MIB);
	p = range_take(&s.range, 1024, 1024);
	range_give(&s.range, p, 1024);
	ck_assert_ptr_eq(range_take(&s.range, 16, 16), p);
	ck_assert_uint_eq(s.range.returned_bytes, 1008);
	ck_assert_ptr_eq(range_take(&s.range, 496, 16), p + 16);
	ck_assert_ptr_eq(range_take(&s.range, 512, 16), p + 512);
	ck_assert_uint_eq(s.range.returned_bytes, 0);
	ck_assert_ptr_null(s.range.returned);
	ck_assert_uint_eq(offset(range_take(&s.range, 16, 16)), 1024);
	unit_space_close(&s);
}
END_TEST

START_TEST(a_block_given_back_is_not_taken_where_it_is_not_aligned)
{
	void *p;

	open_plain(MIB);
	range_take(&s.range, 16, 16);
	p = range_take(&s.range, 4096, 16);
	range_give(&s.range, p, 4096);
	ck_assert_uint_eq(offset(range_take(&s.range, 64, 64)), 4160);
	ck_assert_ptr_eq(range_take(&s.range, 64, 16), p);
	unit_space_close(&s);
}
END_TEST

START_TEST(blocks_given_back_serve_when_the_range_is_full)
{
	void *p;

	open_plain(32 * KIB);
	p = range_take(&s.range, 16 * KIB, 16);
	range_take(&s.range, 16 * KIB, 16);
	ck_assert_ptr_null(range_take(&s.range, 16, 16));
	range_give(&s.range, p, 16 * KIB);
	for (size_t i = 0; i < 16; i++)
		ck_assert_uint_eq(offset(range_take(&s.range, KIB, 16)), i * KIB);
	ck_assert_ptr_null(range_take(&s.range, 16, 16));
	unit_space_close(&s);
}
END_TEST

#ifdef HAVE_MADV_POPULATE_WRITE
/* What has been populated: all that was handed out, and no more than a step ahead, each page once. */
static void populated_as_promised(size_t ahead)
{
	ck_assert_uint_ge(faults.populated, s.range.used);
	ck_assert_uint_le(faults.populated, s.range.used + ahead + os_page_size());
	ck_assert_uint_le(faults.populated, unit_committed(&s));
	ck_assert_uint_eq(faults.populated, atomic_load(&s.range.populated));
}
#endif

START_TEST(populating_follows_what_is_handed_out)
{
#ifdef HAVE_MADV_POPULATE_WRITE
	static const struct range_config config = {.hugepages = CISTERN_HUGEPAGES_NEVER,
	                                           .prefault = true};

	unit_space_open(&s, 64 * MIB, UINT64_MAX, &config);
	faults.populated = faults.calls[FAULT_POPULATE] = faults.populate_max = 0;
	range_populate(&s.range);
	ck_assert_uint_eq(faults.calls[FAULT_POPULATE], 0);
	range_take(&s.range, 16, 16);
	range_populate(&s.range);
	populated_as_promised(16 * KIB);
	range_take(&s.range, 5 * MIB, 16);
	range_populate(&s.range);
	range_populate(&s.range);
	populated_as_promised(16 * KIB);
	ck_assert_uint_eq(faults.populate_max, 256 * KIB);
	unit_space_close(&s);
#endif
}
END_TEST

START_TEST(populating_goes_in_batches_and_not_by_the_page)
{
#ifdef HAVE_MADV_POPULATE_WRITE
	static const struct range_config config = {.hugepages = CISTERN_HUGEPAGES_NEVER,
	                                           .prefault = true};

	unit_space_open(&s, 64 * MIB, UINT64_MAX, &config);
	faults.calls[FAULT_POPULATE] = 0;
	for (size_t i = 0; i < 1024; i++) { /* 1 MiB in pieces of 1 KiB */
		range_take(&s.range, KIB, 16);
		range_populate(&s.range);
	}
	ck_assert_uint_ge(faults.calls[FAULT_POPULATE], 4);
	ck_assert_uint_le(faults.calls[FAULT_POPULATE], MIB / (16 * KIB) + 1);
	unit_space_close(&s);
#endif
}
END_TEST

START_TEST(without_prefault_nothing_is_populated)
{
	open_plain(64 * MIB);
	faults.calls[FAULT_POPULATE] = 0;
	range_take(&s.range, 5 * MIB, 16);
	range_populate(&s.range);
	ck_assert_uint_eq(faults.calls[FAULT_POPULATE], 0);
	unit_space_close(&s);
}
END_TEST

static void take_and_populate(support_worker *worker)
{
	for (int i = 0; i < 300; i++) {
		char *p = range_take(&s.range, 4096, 16);

		if (!support_expect(worker, p != NULL))
			return;
		range_populate(&s.range);
		support_expect(worker, p[0] == 0 && p[4095] == 0);
		p[0] = p[4095] = 1;
	}
}

START_TEST(threads_share_the_work_of_populating)
{
#ifdef HAVE_MADV_POPULATE_WRITE
	static const struct range_config config = {.hugepages = CISTERN_HUGEPAGES_NEVER,
	                                           .prefault = true};

	unit_space_open(&s, 64 * MIB, UINT64_MAX, &config);
	faults.populated = 0;
	support_run(4, take_and_populate, NULL);
	range_populate(&s.range);
	populated_as_promised(16 * KIB); /* nothing twice, nothing left out */
	unit_space_close(&s);
#endif
}
END_TEST

START_TEST(contains_is_exact_at_the_borders)
{
	uintptr_t base;
	size_t end;

	open_plain(MIB);
	base = (uintptr_t)s.range.base;
	ck_assert(!range_contains(&s.range, base, 1));
	range_take(&s.range, 16, 16);
	end = unit_committed(&s);
	ck_assert(range_contains(&s.range, base, 1));
	ck_assert(range_contains(&s.range, base, end));
	ck_assert(!range_contains(&s.range, base, end + 1));
	ck_assert(range_contains(&s.range, base + end - 1, 1));
	ck_assert(!range_contains(&s.range, base + end - 1, 2));
	ck_assert(!range_contains(&s.range, base + end, 1));
	ck_assert(!range_contains(&s.range, base - 1, 1));
	ck_assert(!range_contains(&s.range, base - 1, 100));
	ck_assert(!range_contains(&s.range, 0, 1));
	ck_assert(!range_contains(&s.range, base + 8, SIZE_MAX));
	ck_assert(!range_contains(&s.range, base + 8, SIZE_MAX - 7));
	ck_assert(!range_contains(&s.range, UINTPTR_MAX, 1));
	unit_space_close(&s);
}
END_TEST

#define TAKES 600u

struct taken {
	unsigned char *p;
	size_t size;
	unsigned char mark;
};

static struct taken taken[4][TAKES];

/* Keeps every block that it takes but some, which it gives back for others to take. */
static void take_and_give(support_worker *worker)
{
	struct taken *mine = taken[worker->index];

	for (unsigned i = 0; i < TAKES; i++) {
		size_t size = 16 * (1 + (size_t)support_rng_below(&worker->rng, 100));
		unsigned char *p = range_take(&s.range, size, (size_t)16 << support_rng_below(&worker->rng, 4));

		if (!support_expect(worker, p != NULL))
			return;
		support_expect(worker, range_contains(&s.range, (uintptr_t)p, size));
		mine[i] = (struct taken){p, size, (unsigned char)(worker->index * 60 + i % 60 + 1)};
		memset(p, mine[i].mark, size);
		if (support_rng_below(&worker->rng, 3) == 0) {
			unsigned victim = (unsigned)support_rng_below(&worker->rng, i + 1);

			if (mine[victim].p) {
				range_give(&s.range, mine[victim].p, mine[victim].size);
				mine[victim].p = NULL;
			}
		}
	}
}

START_TEST(threads_take_blocks_apart)
{
	size_t kept = 0, returned = 0;

	open_plain(64 * MIB);
	support_run(4, take_and_give, NULL);
	for (unsigned t = 0; t < 4; t++)
		for (unsigned i = 0; i < TAKES; i++)
			for (size_t k = 0; taken[t][i].p && k < taken[t][i].size; k++)
				ck_assert(taken[t][i].p[k] == taken[t][i].mark);
	for (unsigned t = 0; t < 4; t++)
		for (unsigned i = 0; i < TAKES; i++)
			kept += taken[t][i].p ? taken[t][i].size : 0;
	for (struct range_block *block = s.range.returned; block; block = block->next)
		returned += block->size;
	ck_assert_uint_eq(returned, s.range.returned_bytes);
	ck_assert_uint_le(kept + returned, s.range.used);
	ck_assert_uint_le(s.range.used, unit_committed(&s));
	ck_assert_uint_eq(unit_committed(&s), atomic_load(&s.budget.committed));
	unit_space_close(&s);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("range");

	support_add(suite, blocks_are_aligned_zero_and_apart);
	support_add(suite, blocks_lie_one_behind_another);
	support_add(suite, a_range_starts_behind_its_head);
	support_add(suite, first_chunks_are_32_kib);
	support_add(suite, chunks_are_a_64th_of_what_the_interner_has_committed);
	support_add(suite, overshoot_stays_below_a_64th);
	support_add(suite, a_fixed_chunk_is_kept);
	support_add(suite, a_block_larger_than_a_chunk_is_committed_whole);
	support_add(suite, huge_pages_always_commits_whole_huge_pages);
	support_add(suite, the_budget_ends_taking_with_enospc);
	support_add(suite, near_the_budget_only_what_is_needed_is_committed);
	support_add(suite, a_budget_is_charged_and_refunded_to_the_byte);
	support_add(suite, threads_never_pass_the_budget);
	support_add(suite, a_refused_commit_gives_enomem_and_changes_nothing);
	support_add(suite, the_end_of_the_range_gives_enospc);
	support_add(suite, a_block_given_back_is_taken_again);
	support_add(suite, a_block_given_back_is_split);
	support_add(suite, a_block_given_back_is_not_taken_where_it_is_not_aligned);
	support_add(suite, blocks_given_back_serve_when_the_range_is_full);
	support_add(suite, populating_follows_what_is_handed_out);
	support_add(suite, populating_goes_in_batches_and_not_by_the_page);
	support_add(suite, without_prefault_nothing_is_populated);
	support_add(suite, threads_share_the_work_of_populating);
	support_add(suite, contains_is_exact_at_the_borders);
	support_add(suite, threads_take_blocks_apart);
	return suite;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "range", make);
}
