/* SPDX-License-Identifier: MIT */
/*
 * accounts.c - G9 by other means: each part of the accounts is counted once more from the
 * structures themselves, what is committed from the mappings, and what is resident from smaps.
 * After every step of the script, under each of its configurations; the fault driver (each.c)
 * checks the sum and the mappings after failures as well.
 */
#include "script.h"

#include "cases.h"
#include "figures.h"
#include "maps.h"
#include "support.h"
#include "tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---------------------------------------------------------------- parts */

/* Headers, NULs, padding, values and links of all entries, and what slabs keep for themselves. */
static uint64_t overhead_of(const struct shard *shard, const struct entry_layout *layout)
{
	uint64_t head = (SLAB_HEADER + layout->align - 1) / layout->align * layout->align, sum = 0;
	struct slab_walk walk;
	const char *str;
	size_t len;

	for (struct slab *slab = shard->slabs.head; slab; slab = atomic_load(&slab->next))
		sum += slab->single ? 0 : head;
	slab_walk_begin(&walk, &shard->slabs, layout);
	while ((str = slab_walk_next(&walk, layout, &len)) != NULL)
		sum +=
		    (walk.slab->single ? slab_single_size(layout, len) : entry_size(layout, len)) -
		    len;
	return sum;
}

/* The table that the directory names, with the secret in front of it where it has one. */
static uint64_t table_of(const cistern *c, uint32_t shard)
{
	uintptr_t word = atomic_load(&c->common.directory[shard]);
	struct table table = shard_table(&c->common, word);

	if (c->shards[shard].slots == 0) /* the bucket that all empty shards share is control */
		return 0;
	return ((uint64_t)table.mask + 1) * BUCKET_BYTES +
	       (word & DIRECTORY_OWN_SECRET ? HASH_SECRET_SIZE : 0);
}

static void check_parts(const struct script *s)
{
	const cistern *c = s->c;
	const struct range *strings = &c->common.strings, *tables = &c->common.tables;
	uint64_t overhead = 0, table = 0, payload = s->set.payload;
	cistern_stats stats = figures(c);

	for (uint32_t i = 0; i < interner_shards(c); i++) {
		overhead += overhead_of(&c->shards[i], &c->common.layout);
		table += table_of(c, i);
	}
	if (s->giant_str)
		payload += cistern_len(s->giant_str);
	ck_assert_uint_eq(stats.payload_bytes, payload);
	ck_assert_uint_eq(stats.overhead_bytes, overhead);
	ck_assert_uint_eq(stats.table_bytes, table);
	ck_assert_uint_eq(stats.control_bytes,
			  c->control_bytes + (stats.slabs ? c->strings_head : 0));
	/* what the ranges have handed out and nobody else claims */
	ck_assert_uint_eq(stats.slack_bytes, strings->used - strings->returned_bytes -
						 strings->skipped_bytes - c->strings_head -
						 payload - overhead);
	ck_assert_uint_eq(stats.retired_bytes,
			  tables->used - tables->skipped_bytes - c->control_bytes - table);
	ck_assert_uint_le(stats.emptied_bytes, stats.retired_bytes);
}

/* ---------------------------------------------------------------- resident memory */

static size_t populated(const struct range *range)
{
	return atomic_load(&((struct range *)range)->populated);
}

/* Pages of the strings range in which a string lies. */
static size_t touched_by_strings(const struct script *s)
{
	const struct range *range = &s->c->common.strings;
	size_t pages = atomic_load(&((struct range *)range)->committed) / range->page, sum = 0;
	unsigned char *touched = need(calloc(1, pages));

	for (size_t i = 0; i < s->set.count; i++) {
		size_t from = (size_t)(s->set.items[i]->kept - range->base);

		for (size_t page = from / range->page;
		     page <= (from + s->set.items[i]->len) / range->page; page++)
			touched[page] = 1;
	}
	for (size_t page = 0; page < pages; page++)
		sum += touched[page];
	free(touched);
	return sum * range->page;
}

/*
 * Whether memory has pages when that is asked for. Older systems refuse, which the library does not
 * mind; emulators say yes and do nothing.
 */
static bool populates(void)
{
	bool done = false;
#ifdef HAVE_MADV_POPULATE_WRITE
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char present = 0;
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert(p != MAP_FAILED);
	done = madvise(p, size, MADV_POPULATE_WRITE) == 0 && mincore(p, size, &present) == 0 &&
	       (present & 1);
	munmap(p, size);
#endif
	return done;
}

/* What smaps says of a range; false where it cannot tell. */
static bool resident(const struct range *range, size_t *bytes)
{
	uintptr_t from = (uintptr_t)range->base;

	return !UNDER_VALGRIND && maps_resident(from, from + range->capacity, bytes);
}

/*
 * Where memory is populated ahead, and by small pages, resident is what was populated less what was
 * emptied, exactly. Else it is between what must have been touched and what may have been.
 */
static void check_resident(const struct script *s)
{
	const struct range *strings = &s->c->common.strings, *tables = &s->c->common.tables;
	cistern_stats stats = figures(s->c);
	size_t in_strings, in_tables;

	if (!resident(strings, &in_strings) || !resident(tables, &in_tables))
		return;
	if (s->config.prefault && s->config.hugepages != CISTERN_HUGEPAGES_ALWAYS &&
	    !s->config.capacity && populates()) {
		ck_assert_uint_eq(in_strings, populated(strings));
		ck_assert_uint_eq(in_tables, populated(tables) - stats.emptied_bytes);
		return;
	}
	ck_assert_uint_le(in_strings + in_tables, stats.committed_bytes);
	ck_assert_uint_ge(in_strings, touched_by_strings(s));
	if (s->config.hugepages != CISTERN_HUGEPAGES_ALWAYS && !s->config.capacity)
		ck_assert_uint_le(in_strings + in_tables,
				  stats.committed_bytes - stats.emptied_bytes);
}

/* ---------------------------------------------------------------- the script */

static void follow(int number, void (*check)(const struct script *s))
{
	struct script s;

	script_open(&s, number);
	for (size_t step = 0; step < script_nsteps; step++) {
		s.at = 0;
		if (!script_steps[step].act(&s))
			ck_assert(s.limited);
		check(&s);
		script_check_accounts(s.c);
	}
	script_close(&s);
}

START_TEST(each_part_is_what_the_structures_say)
{
	follow(_i, check_parts);
}
END_TEST

START_TEST(resident_memory_is_what_was_touched_and_not_emptied)
{
	if (_i == 0 && !populates())
		puts("# nothing is populated ahead here: between bounds only, not exact");
	follow(_i, check_resident);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("accounts");

	cases_add_loop(s, each_part_is_what_the_structures_say, SCRIPT_CONFIGS);
	cases_add_loop(s, resident_memory_is_what_was_touched_and_not_emptied, SCRIPT_CONFIGS);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "accounts", make);
}
