/* SPDX-License-Identifier: MIT */
/*
 * tables.c - tables that cannot grow: FAULTS 3, 4 and 16. Inserting goes on to 15/16 and not one
 * string further, whoever inserts and however; every probe ends; what was copied and could not be
 * placed is nowhere, and its memory is used again; a limit that ends growth at whatever point is
 * never passed.
 */
#include "script.h"

#include "../unit/unit.h"
#include "cases.h"
#include "forge.h"
#include "ways.h"

#include <errno.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static cistern *make_one(uint64_t memory_limit)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	cistern *c;

	config.shards = 1;
	config.max_bytes = UINT64_C(1) << 30;
	config.memory_limit = memory_limit;
	config.commit_chunk = memory_limit ? 4096 : 0;
	c = cistern_create(&config);
	ck_assert_ptr_nonnull(c);
	return c;
}

/* From now on tables get no memory; strings do. */
static void tables_cannot_grow(cistern *c)
{
	unit_use_up(&c->common.tables); /* nor from what is committed already */
	unit_commits_fail(&c->common.tables);
}

static uint64_t buckets(const cistern *c)
{
	return (uint64_t)shard_table(&c->common, atomic_load(&c->common.directory[0])).mask + 1;
}

/* ---------------------------------------------------------------- the hard limit */

/* One string at a time, but WAY_BATCH; and one way more, with large ones. */
enum { LARGE = WAYS, KINDS };

static size_t length_of(int kind)
{
	return kind == LARGE ? 4200 : 12;
}

static size_t insert_batch(cistern *c, uint64_t n)
{
	enum { N = 50 };
	static char data[N][12];
	cistern_span in[N];
	const char *out[N];

	for (size_t i = 0; i < N; i++) {
		uint64_t number = n + i;

		memcpy(data[i], &number, sizeof number);
		in[i] = (cistern_span){data[i], length_of(WAY_BATCH)};
	}
	return cistern_intern_batch(c, in, out, N);
}

/* Interns number n and maybe some that follow. Returns how many. */
static size_t insert(cistern *c, int kind, uint64_t n)
{
	static char data[4200];

	if (kind == WAY_BATCH)
		return insert_batch(c, n);
	memcpy(data, &n, sizeof n);
	return way_intern(c, kind == LARGE ? WAY_PLAIN : (enum way)kind, data, length_of(kind), NULL) !=
	       NULL;
}

static const char *find(const cistern *c, int kind, uint64_t n)
{
	static char data[4200];

	memcpy(data, &n, sizeof n);
	return cistern_find(c, data, length_of(kind));
}

static void check_numbers(const cistern *c, int kind, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		if (!find(c, kind, i))
			ck_abort_msg("number %u of %u is lost", (unsigned)i, (unsigned)n);
	for (uint64_t i = n; i < n + 2000; i++)
		ck_assert_ptr_null(find(c, kind, i));
	ck_assert_uint_eq(figures(c).strings, n);
	script_check_accounts(c);
}

START_TEST(without_growth_tables_are_filled_to_the_hard_limit)
{
	static const uint64_t sizes[] = {1, 4, 16, 64, 128, 256};

	for (size_t i = 0; i < COUNT(sizes); i++) {
		uint64_t n = 0, hard = table_hard_limit(sizes[i]);
		cistern *c = make_one(0);
		size_t count;

		ck_assert_int_eq(cistern_reserve(c, table_load_limit(sizes[i]) - 1), 0);
		ck_assert_uint_eq(buckets(c), sizes[i]);
		tables_cannot_grow(c);
		while ((count = insert(c, _i, n)) > 0)
			n += count;
		ck_assert_int_eq(errno, ENOMEM);
		ck_assert_uint_eq(n, hard);
		for (int k = 0; k < 20; k++) {
			errno = 0;
			ck_assert_uint_eq(insert(c, k % KINDS, n + 100), 0);
			ck_assert_int_eq(errno, ENOMEM);
		}
		ck_assert_uint_le(figures(c).max_probe, sizes[i]);
		check_numbers(c, _i, n);
		for (uint64_t k = 0; k < n; k++) /* hits need no room */
			ck_assert_uint_ge(insert(c, _i == WAY_BATCH ? WAY_PLAIN : _i, k), 1);

		faults_plan(NULL);
		while (n < 4 * hard)
			n += insert(c, _i, n);
		check_numbers(c, _i, n);
		ck_assert_uint_gt(buckets(c), sizes[i]);
		cistern_destroy(c);
	}
}
END_TEST

/*
 * All strings in the way of each other, in a table as full as can be: a probe sees every bucket,
 * and ends.
 */
START_TEST(every_probe_ends_in_a_full_table_of_one_hash)
{
	cistern *c = make_one(0);
	char s[FORGED];
	uint64_t n = 0;

	ck_assert_int_eq(cistern_reserve(c, table_load_limit(128) - 1), 0);
	tables_cannot_grow(c); /* nor be keyed anew */
	for (;; n++) {
		forge(&c->common.secret, n, s);
		if (!cistern_intern(c, s, FORGED))
			break;
	}
	ck_assert_int_eq(errno, ENOMEM);
	ck_assert_uint_eq(n, table_hard_limit(128));
	ck_assert_uint_ge(figures(c).max_probe, 120);
	for (uint64_t i = 0; i < 2 * n; i++) {
		cistern_span in = {s, FORGED};
		const char *out;

		forge(&c->common.secret, i, s);
		ck_assert_int_eq(cistern_find(c, s, FORGED) != NULL, i < n);
		ck_assert_uint_eq(cistern_find_batch(c, &in, &out, 1), i < n);
	}
	faults_plan(NULL);
	for (uint64_t i = n; i < 2 * n; i++) {
		forge(&c->common.secret, i, s);
		ck_assert_ptr_nonnull(cistern_intern(c, s, FORGED));
	}
	ck_assert_uint_eq(figures(c).strings, 2 * n);
	script_check_accounts(c);
	cistern_destroy(c);
}
END_TEST

struct race {
	cistern *c;
	uint64_t hard;
	_Atomic uint64_t fresh;
	_Atomic bool over;
};

/*
 * Two threads insert what the other one inserts as well, one looks for it; nobody gets further than
 * the table allows.
 */
static void race_to_the_limit(support_worker *worker)
{
	struct race *race = worker->arg;

	for (uint64_t i = 0; worker->index < 2 && i < 2 * race->hard; i++) {
		uint64_t number = worker->index ? i : i ^ 7;
		bool is_new = false;
		const char *str =
		    cistern_intern_new(race->c, (const char *)&number, sizeof number, &is_new);

		if (!str)
			support_expect(worker, errno == ENOMEM);
		else
			support_expect(worker, cistern_find(race->c, (const char *)&number,
							    sizeof number) == str);
		race->fresh += is_new;
	}
	if (worker->index < 2)
		race->over = true;
	while (worker->index == 2 && !race->over) {
		uint64_t number = support_rng_below(&worker->rng, 2 * race->hard);
		const char *str = cistern_find(race->c, (const char *)&number, sizeof number);

		support_expect(worker, !str || memcmp(str, &number, sizeof number) == 0);
	}
}

START_TEST(threads_stop_at_the_hard_limit_together)
{
	for (size_t i = 0; i < support_scaled(40); i++) {
		struct race race = {.c = make_one(0), .hard = table_hard_limit(64)};
		uint64_t found = 0;

		ck_assert_int_eq(cistern_reserve(race.c, table_load_limit(64) - 1), 0);
		tables_cannot_grow(race.c);
		support_run(3, race_to_the_limit, &race);
		faults_plan(NULL);
		ck_assert_uint_eq(race.fresh, race.hard);
		ck_assert_uint_eq(figures(race.c).strings, race.hard);
		for (uint64_t number = 0; number < 2 * race.hard; number++)
			found += cistern_find(race.c, (const char *)&number, sizeof number) != NULL;
		ck_assert_uint_eq(found, race.hard);
		script_check_accounts(race.c);
		cistern_destroy(race.c);
	}
}
END_TEST

/* ---------------------------------------------------------------- between copying and publishing
 */

static int count_visits(const char *str, size_t len, void *arg)
{
	(void)str;
	(void)len;
	++*(size_t *)arg;
	return 0;
}

static size_t visits(const cistern *c)
{
	size_t n = 0;

	ck_assert_int_eq(cistern_foreach(c, count_visits, &n), 0);
	return n;
}

/* It is complete in memory when it turns out that there is no place for it. */
START_TEST(a_copy_that_cannot_be_placed_is_nowhere)
{
	static const size_t lengths[] = {4096, 5000, 100000, ENTRY_ESCAPE};
	char *data = need(calloc(1, ENTRY_ESCAPE));

	for (size_t i = 0; i < COUNT(lengths); i++) {
		cistern *c = make_one(0);
		size_t len = lengths[i], copy = slab_single_size(&c->common.layout, len), strings;
		cistern_stats before, after;
		const char *block; /* where the copy was */

		strings = i % 2 ? table_hard_limit(1) : 0; /* a full table, or an empty shard */
		for (uint64_t n = 0; n < strings; n++) {
			if (n == table_load_limit(1))
				tables_cannot_grow(c);
			ck_assert_ptr_nonnull(cistern_intern(c, (const char *)&n, sizeof n));
		}
		if (strings == 0)
			tables_cannot_grow(c);
		ck_assert_ptr_null(way_intern(c, (enum way)_i, data, len, NULL));
		ck_assert_int_eq(errno, ENOMEM);
		before = figures(c);
		for (int k = 0; k < 5; k++)
			ck_assert_ptr_null(way_intern(c, (enum way)_i, data, len, NULL));
		after = figures(c);
		ck_assert_int_eq(memcmp(&before, &after, sizeof before),
				 0); /* it takes the same place each time */
		ck_assert_uint_eq(after.strings, strings);
		ck_assert_uint_eq(after.payload_bytes, strings * sizeof(uint64_t));
		ck_assert_uint_eq(c->common.strings.returned_bytes, copy);
		ck_assert_uint_eq(visits(c), strings);
		ck_assert_ptr_null(cistern_find(c, data, len));
		block = (char *)c->common.strings.returned + SLAB_HEADER +
			(entry_escaped(len) ? ENTRY_LONG_LEN : 0) + c->common.layout.prefix;
		ck_assert(!cistern_owns(c, block));
		ck_assert(!cistern_id_valid(c, cistern_id_of(c, block)));
		script_check_accounts(c);

		faults_plan(NULL);
		ck_assert_ptr_eq(way_intern(c, (enum way)_i, data, len, NULL), block);
		ck_assert_uint_eq(c->common.strings.returned_bytes, 0);
		ck_assert_uint_eq(visits(c), strings + 1);
		ck_assert(cistern_owns(c, block));
		script_check_accounts(c);
		cistern_destroy(c);
	}
	free(data);
}
END_TEST

/* ---------------------------------------------------------------- limits */

/*
 * Page by page more: so the limit comes before, within and after each of the steps by which tables
 * and strings grow.
 */
START_TEST(a_limit_reached_anywhere_in_growth_is_kept)
{
	uint64_t least = 65536, last = 0;

	for (uint64_t limit = least; limit < least + 400000; limit += 4096 * support_stride()) {
		cistern *c = make_one(limit);
		uint64_t n = 0;
		size_t count;

		while ((count = insert(c, _i, n)) > 0) {
			n += count;
			if (atomic_load(&c->budget.committed) > limit)
				ck_abort_msg("%u strings: more than %u bytes", (unsigned)n,
					     (unsigned)limit);
		}
		ck_assert_int_eq(errno, ENOSPC);
		for (int k = 0; k < 20; k++) {
			errno = 0;
			ck_assert_uint_eq(insert(c, _i, n + 100), 0);
			ck_assert_int_eq(errno, ENOSPC);
		}
		check_numbers(c, _i, n);
		for (uint64_t k = 0; k < n; k++)
			ck_assert_uint_ge(insert(c, _i == WAY_BATCH ? WAY_PLAIN : _i, k), 1);
		ck_assert_uint_ge(n, last / 2); /* what fits hangs on where growth is cut off */
		last = n;
		cistern_destroy(c);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("tables");

	cases_add_loop(s, without_growth_tables_are_filled_to_the_hard_limit, KINDS);
	support_add(s, every_probe_ends_in_a_full_table_of_one_hash);
	support_add(s, threads_stop_at_the_hard_limit_together);
	cases_add_loop(s, a_copy_that_cannot_be_placed_is_nowhere, WAYS);
	cases_add_loop(s, a_limit_reached_anywhere_in_growth_is_kept, KINDS);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "tables", make);
}
