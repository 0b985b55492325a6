/* SPDX-License-Identifier: MIT */
/*
 * table.c - tests of lib/table.[ch]: comparing tags, probing, placing, the filter. Built twice: as it is on this
 * machine, and with CISTERN_FORCE_SWAR as it is on others.
 */
#include "unit.h"

#include <stdlib.h>

#if defined(CISTERN_FORCE_SWAR) && !defined(TABLE_SWAR)
#error "this build is to test the portable comparison"
#endif

static unsigned naive_match(uint64_t word0, uint64_t word1, uint8_t tag)
{
	unsigned matches = 0;

	for (unsigned i = 0; i < BUCKET_SLOTS; i++) {
		uint64_t word = i < 8 ? word0 : word1;

		if ((uint8_t)(word >> i % 8 * 8) == tag)
			matches |= 1u << i;
	}
	return matches;
}

static void check_match(uint64_t word0, uint64_t word1, uint8_t tag)
{
	unsigned want = naive_match(word0, word1, tag);

	/* one assertion would do, but there are millions of these */
	if (table_match(word0, word1, tag) != want || table_match_swar(word0, word1, tag) != want)
		ck_abort_msg("words %016llx %016llx tag %02x: %03x and %03x for %03x",
		             (unsigned long long)word0, (unsigned long long)word1, tag,
		             table_match(word0, word1, tag), table_match_swar(word0, word1, tag), want);
}

START_TEST(match_agrees_with_a_loop_on_random_words)
{
	support_rng rng = support_rng_start(1);

	for (size_t i = 0; i < support_scaled(300000); i++) {
		uint64_t word0 = support_rng_next(&rng), word1 = support_rng_next(&rng);

		check_match(word0, word1, (uint8_t)support_rng_next(&rng));
		check_match(word0, word1, (uint8_t)(word0 >> 8 * support_rng_below(&rng, 8)));
		check_match(word0, word1, (uint8_t)(word1 >> 8 * support_rng_below(&rng, 8)));
		check_match(word0, word1, 0);
	}
}
END_TEST

START_TEST(match_agrees_with_a_loop_on_bytes_that_carry)
{
	static const uint8_t nasty[] = {0x00, 0x01, 0x02, 0x7F, 0x80, 0x81, 0xFE, 0xFF};
	support_rng rng = support_rng_start(2);

	for (size_t i = 0; i < support_scaled(300000); i++) {
		uint64_t words[2] = {0, 0};

		for (int k = 0; k < 16; k++)
			words[k / 8] |= (uint64_t)nasty[support_rng_below(&rng, 8)] << k % 8 * 8;
		for (int k = 0; k < 8; k++)
			check_match(words[0], words[1], nasty[k]);
	}
}
END_TEST

START_TEST(match_agrees_with_a_loop_on_all_neighbours)
{
	for (unsigned at = 0; at < 15; at++)
		for (unsigned low = 0; low < 256; low++)
			for (unsigned high = 0; high < 256; high++) {
				uint64_t words[2] = {0, 0};

				words[at / 8] |= (uint64_t)low << at % 8 * 8;
				words[(at + 1) / 8] |= (uint64_t)high << (at + 1) % 8 * 8;
				check_match(words[0], words[1], (uint8_t)low);
				check_match(words[0], words[1], (uint8_t)high);
				check_match(words[0], words[1], 0);
				check_match(~words[0], ~words[1], (uint8_t)~high);
			}
}
END_TEST

START_TEST(match_does_not_see_the_filter)
{
	for (unsigned tag = 0; tag < 256; tag++) {
		uint64_t filter = UINT64_C(0x01010101) * tag << BUCKET_FILTER_SHIFT;
		unsigned other = tag ^ 0xFF;

		check_match(UINT64_C(0x0101010101010101) * other, filter | UINT64_C(0x01010101) * other,
		            (uint8_t)tag);
		ck_assert_uint_eq(table_match(UINT64_C(0x0101010101010101) * other,
		                              filter | UINT64_C(0x01010101) * other, (uint8_t)tag), 0);
	}
}
END_TEST

START_TEST(probing_visits_every_bucket_once)
{
	for (unsigned log2 = 0; log2 <= 16; log2++) {
		struct table table = {NULL, (uint32_t)((UINT64_C(1) << log2) - 1)};
		unsigned char *seen = calloc(1, (size_t)table.mask + 1);
		uint64_t hash = support_seed() * 2654435761u + log2;
		struct probe probe = probe_start(&table, hash);
		size_t count = 0;

		ck_assert_uint_eq(probe.bucket, (uint32_t)hash & table.mask);
		do {
			ck_assert_uint_le(probe.bucket, table.mask);
			ck_assert(!seen[probe.bucket]);
			seen[probe.bucket] = 1;
			count++;
		} while (probe_next(&table, &probe));
		ck_assert_uint_eq(count, (size_t)table.mask + 1);
		free(seen);
	}
}
END_TEST

START_TEST(limits_are_seven_eighths_and_fifteen_sixteenths)
{
	ck_assert_uint_eq(table_slots(1), 12);
	ck_assert_uint_eq(table_load_limit(1), 10);
	ck_assert_uint_eq(table_hard_limit(1), 11);
	for (uint64_t buckets = 16; buckets <= UINT64_C(1) << 31; buckets *= 2) {
		ck_assert_uint_eq(table_load_limit(buckets) * 8, table_slots(buckets) * 7);
		ck_assert_uint_eq(table_hard_limit(buckets) * 16, table_slots(buckets) * 15);
	}
}
END_TEST

/* ---------------------------------------------------------------- a table with strings */

/* String i holds the number i in eight bytes; its hash is whatever the test says. */
struct shelf {
	struct entry_layout layout;
	char *memory;
	struct table table;
	uint64_t *hashes;
	size_t n;
};

#define STRING_BYTES 16u /* header, eight bytes, NUL, padding */

static void shelf_open(struct shelf *shelf, unsigned log2)
{
	size_t buckets = (size_t)1 << log2, most = table_slots(buckets) + 2;

	shelf->n = 0;
	shelf->table.mask = (uint32_t)(buckets - 1);
	shelf->table.buckets = aligned_alloc(BUCKET_BYTES, buckets * BUCKET_BYTES);
	memset((void *)shelf->table.buckets, 0, buckets * BUCKET_BYTES);
	shelf->memory = calloc(most, STRING_BYTES);
	shelf->hashes = calloc(most, sizeof *shelf->hashes);
	entry_layout_init(&shelf->layout, shelf->memory, 4, 0, false);
}

static void shelf_close(struct shelf *shelf)
{
	free(shelf->table.buckets);
	free(shelf->memory);
	free(shelf->hashes);
}

static const char *shelf_find(const struct shelf *shelf, uint64_t number, uint64_t hash)
{
	const struct wanted wanted = {.s = (const char *)&number, .len = 8,
	                              .header = entry_header(8, hash_byte(hash))};

	return table_find(&shelf->table, &shelf->layout, &wanted, hash);
}

/* Numbers start at 1, as references do; gives the buckets looked at. */
static uint32_t shelf_add(struct shelf *shelf, uint64_t hash)
{
	uint64_t number = shelf->n + 1;
	char *str = (char *)entry_str(&shelf->layout, (uint32_t)number);
	struct place place = table_seek(&shelf->table, hash);

	if (place.slot >= BUCKET_SLOTS)
		ck_abort_msg("no room for string %llu", (unsigned long long)number);
	entry_frame(&shelf->layout, str, 8, hash_byte(hash));
	memcpy(str, &number, 8);
	shelf->hashes[number] = hash;
	table_put(&shelf->table, &place, hash, (uint32_t)number);
	shelf->n++;
	return place.probed;
}

/* What a writer's search says: the same string as a reader's, or the same place as table_seek. */
static void shelf_check_place(const struct shelf *shelf, uint64_t number, uint64_t hash)
{
	const struct wanted wanted = {.s = (const char *)&number, .len = 8,
	                              .header = entry_header(8, hash_byte(hash))};
	struct place place = {0, 0, 0}, want = table_seek(&shelf->table, hash);
	const char *str = table_find_place(&shelf->table, &shelf->layout, &wanted, hash, &place);

	if (str != shelf_find(shelf, number, hash))
		ck_abort_msg("number %llu: another string than a reader finds", (unsigned long long)number);
	if (!str && (place.bucket != want.bucket || place.slot != want.slot || place.probed != want.probed))
		ck_abort_msg("number %llu: another place than table_seek's", (unsigned long long)number);
}

/* Every string is found, by bytes and by reference; absent ones are not. */
static void shelf_check(const struct shelf *shelf)
{
	for (uint64_t i = 1; i <= shelf->n; i++) {
		uint64_t hash = shelf->hashes[i];

		if (shelf_find(shelf, i, hash) != entry_str(&shelf->layout, (uint32_t)i))
			ck_abort_msg("string %llu of %zu is lost", (unsigned long long)i, shelf->n);
		if (!table_holds(&shelf->table, (uint32_t)i, hash))
			ck_abort_msg("reference %llu of %zu is lost", (unsigned long long)i, shelf->n);
		shelf_check_place(shelf, i, hash);
		shelf_check_place(shelf, shelf->n + i, hash);
		shelf_check_place(shelf, shelf->n + i, hash + 1);
		/* the same hash and other bytes */
		if (shelf_find(shelf, i + (UINT64_C(1) << 40), hash))
			ck_abort_msg("string %llu was found for others", (unsigned long long)i);
		if (table_holds(&shelf->table, (uint32_t)shelf->n + 1, hash))
			ck_abort_msg("a reference was found that nobody put");
	}
	ck_assert(table_check(&shelf->table, shelf->n));
}

/* The rule of placing: whatever a key passed on its way is full and has the key's bit. */
static void shelf_check_filters(const struct shelf *shelf)
{
	for (uint64_t i = 1; i <= shelf->n; i++) {
		struct probe probe = probe_start(&shelf->table, shelf->hashes[i]);

		for (;;) {
			struct bucket *bucket = &shelf->table.buckets[probe.bucket];
			uint64_t word1 = atomic_load(&bucket->words[1]);
			bool here = false;

			for (unsigned slot = 0; slot < BUCKET_SLOTS; slot++)
				here = here || atomic_load(&bucket->refs[slot]) == i;
			if (here)
				break;
			ck_assert(bucket_passed(word1, shelf->hashes[i]));
			ck_assert_uint_eq(table_match(atomic_load(&bucket->words[0]), word1, 0), 0);
			ck_assert(probe_next(&shelf->table, &probe));
		}
	}
}

/* Hashes of several characters: random, few tags, few start buckets, few filter bits, all at once. */
static uint64_t hash_like(support_rng *rng, int kind)
{
	static const uint64_t masks[] = {UINT64_MAX, ~(UINT64_C(0xFC) << 40), ~UINT64_C(0xFFFFFFF8),
	                                 ~(UINT64_C(0x1F) << 32), UINT64_C(0x0003000100000003)};

	return support_rng_next(rng) & masks[kind];
}

START_TEST(every_string_put_is_found_up_to_the_hard_limit)
{
	support_rng rng = support_rng_start(3 + (uint64_t)_i);

	for (unsigned log2 = 0; log2 <= 12; log2++) {
		uint64_t most = table_hard_limit(UINT64_C(1) << log2);
		struct shelf shelf;

		/* a few starts for thousands of strings take the square of their number */
		if (_i >= 2 && log2 > 8)
			break;
		shelf_open(&shelf, log2);
		shelf_check(&shelf);
		while (shelf.n < most) {
			shelf_add(&shelf, hash_like(&rng, _i));
			if (shelf.n <= 100 || shelf.n == most / 2 || shelf.n == most * 14 / 15)
				shelf_check(&shelf);
		}
		shelf_check(&shelf);
		shelf_check_filters(&shelf);
		shelf_close(&shelf);
	}
}
END_TEST

START_TEST(a_table_filled_at_once_is_the_same_as_one_filled_step_by_step)
{
	support_rng rng = support_rng_start(30 + (uint64_t)_i);

	for (unsigned log2 = 0; log2 <= 8; log2++) {
		struct shelf steps, once;

		shelf_open(&steps, log2);
		shelf_open(&once, log2);
		while (steps.n < table_hard_limit(UINT64_C(1) << log2)) {
			uint64_t hash = hash_like(&rng, _i);

			shelf_add(&steps, hash);
			table_add(&once.table, hash, (uint32_t)steps.n);
		}
		ck_assert_mem_eq((void *)steps.table.buckets, (void *)once.table.buckets,
		                 (size_t)BUCKET_BYTES << log2);
		shelf_close(&steps);
		shelf_close(&once);
	}
}
END_TEST

START_TEST(a_miss_ends_in_every_table)
{
	support_rng rng = support_rng_start(20);

	for (unsigned log2 = 0; log2 <= 10; log2++) {
		struct shelf shelf;

		shelf_open(&shelf, log2);
		while (shelf.n < table_slots(UINT64_C(1) << log2)) /* not one slot free */
			shelf_add(&shelf, hash_like(&rng, 0));
		for (int i = 0; i < 1000; i++)
			ck_assert_ptr_null(shelf_find(&shelf, UINT64_MAX, support_rng_next(&rng)));
		shelf_close(&shelf);
	}
}
END_TEST

START_TEST(a_constant_hash_fills_a_table)
{
	struct shelf shelf;

	shelf_open(&shelf, 9);
	for (uint64_t i = 0; i < table_slots(512); i++)
		ck_assert_uint_eq(shelf_add(&shelf, UINT64_C(0x123456789abcdef0)), i / 12 + 1);
	ck_assert(table_check(&shelf.table, table_slots(512)));
	for (uint64_t i = 1; i <= shelf.n; i++)
		ck_assert_ptr_eq(shelf_find(&shelf, i, shelf.hashes[i]),
		                 entry_str(&shelf.layout, (uint32_t)i));
	ck_assert_ptr_null(shelf_find(&shelf, shelf.n + 1, shelf.hashes[1]));
	shelf_close(&shelf);
}
END_TEST

START_TEST(a_full_table_offers_no_slot)
{
	struct shelf shelf;

	shelf_open(&shelf, 2);
	while (shelf.n < 48)
		shelf_add(&shelf, shelf.n * 7);
	ck_assert_uint_eq(table_seek(&shelf.table, 1).slot, BUCKET_SLOTS);
	ck_assert_uint_eq(table_seek(&shelf.table, 1).probed, 4);
	shelf_close(&shelf);
}
END_TEST

START_TEST(slots_fill_from_the_first_and_probing_starts_at_the_hash)
{
	struct shelf shelf;

	shelf_open(&shelf, 4);
	for (uint32_t i = 0; i < 16 * 12; i++) {
		uint64_t hash = i / 12 | (uint64_t)i << 40;
		struct place place = table_seek(&shelf.table, hash);

		ck_assert_uint_eq(place.bucket, i / 12);
		ck_assert_uint_eq(place.slot, i % 12);
		ck_assert_uint_eq(place.probed, 1);
		shelf_add(&shelf, hash);
		ck_assert_uint_eq(atomic_load(&shelf.table.buckets[i / 12].words[1]) >> 32, 0);
	}
	shelf_close(&shelf);
}
END_TEST

START_TEST(a_search_ends_where_its_filter_bit_is_not_set)
{
	struct shelf shelf;
	uint64_t far_away;

	shelf_open(&shelf, 4);
	for (int i = 0; i < 12; i++)
		shelf_add(&shelf, 3);
	far_away = 3 | UINT64_C(9) << 32;
	shelf_add(&shelf, far_away); /* passes bucket 3, lands in 4 */
	ck_assert_uint_eq(atomic_load(&shelf.table.buckets[3].words[1]) >> 32, UINT32_C(1) << 9);
	ck_assert_uint_eq(atomic_load(&shelf.table.buckets[4].words[1]) >> 32, 0);
	ck_assert_ptr_nonnull(shelf_find(&shelf, 13, far_away));
	/* without the bit nobody looks any further: that is what makes misses cheap */
	atomic_fetch_and(&shelf.table.buckets[3].words[1], UINT32_MAX);
	ck_assert_ptr_null(shelf_find(&shelf, 13, far_away));
	ck_assert(!table_holds(&shelf.table, 13, far_away));
	shelf_close(&shelf);
}
END_TEST

START_TEST(the_candidate_is_in_the_first_bucket_and_has_the_tag)
{
	support_rng rng = support_rng_start(21);
	size_t hits = 0;
	struct shelf shelf;

	shelf_open(&shelf, 6);
	for (int i = 0; i < 1000; i++) {
		uint64_t hash = support_rng_next(&rng);

		ck_assert(bucket_candidate(table_bucket(&shelf.table, hash), hash) == 0);
	}
	while (shelf.n < table_load_limit(64))
		shelf_add(&shelf, support_rng_next(&rng));
	for (uint64_t i = 1; i <= shelf.n; i++) {
		uint32_t candidate = bucket_candidate(table_bucket(&shelf.table, shelf.hashes[i]), shelf.hashes[i]);
		struct bucket *bucket = &shelf.table.buckets[shelf.hashes[i] & 63];
		bool first = false;

		for (unsigned slot = 0; slot < BUCKET_SLOTS; slot++)
			first = first || atomic_load(&bucket->refs[slot]) == i;
		if (first)
			ck_assert_uint_ne(candidate, 0);
		if (candidate)
			ck_assert_uint_eq(hash_tag(shelf.hashes[candidate]), hash_tag(shelf.hashes[i]));
		hits += candidate == i;
	}
	ck_assert_uint_gt(hits, shelf.n * 3 / 4);
	shelf_close(&shelf);
}
END_TEST

START_TEST(a_tag_whose_reference_was_emptied_is_no_match)
{
	uint64_t number = 1;
	struct shelf shelf;
	char *none;

	shelf_open(&shelf, 0);
	shelf_add(&shelf, 0);
	/* not even if what lies where reference 0 leads looks just like it */
	none = (char *)entry_str(&shelf.layout, 0);
	entry_frame(&shelf.layout, none, 8, 0);
	memcpy(none, &number, 8);
	ck_assert_ptr_nonnull(shelf_find(&shelf, 1, 0));
	atomic_store(&shelf.table.buckets[0].refs[0], 0);
	ck_assert_ptr_null(shelf_find(&shelf, 1, 0));
	ck_assert_uint_eq(bucket_candidate(table_bucket(&shelf.table, 0), 0), 0);
	shelf_close(&shelf);
}
END_TEST

START_TEST(a_search_ends_whatever_the_filters_say)
{
	for (unsigned log2 = 0; log2 <= 10; log2++) {
		struct shelf shelf;

		shelf_open(&shelf, log2);
		for (uint32_t i = 0; i <= shelf.table.mask; i++)
			atomic_store(&shelf.table.buckets[i].words[1], UINT64_MAX << BUCKET_FILTER_SHIFT);
		ck_assert_ptr_null(shelf_find(&shelf, 1, support_seed()));
		ck_assert(!table_holds(&shelf.table, 1, support_seed()));
		shelf_close(&shelf);
	}
}
END_TEST

START_TEST(check_finds_gaps_missing_references_and_wrong_counts)
{
	struct shelf shelf;

	shelf_open(&shelf, 3);
	while (shelf.n < 70)
		shelf_add(&shelf, shelf.n * UINT64_C(0x9e3779b97f4a7c15));
	ck_assert(table_check(&shelf.table, 70));
	ck_assert(!table_check(&shelf.table, 69));
	ck_assert(!table_check(&shelf.table, 71));
	for (unsigned bucket = 0; bucket < 8; bucket++) {
		_Atomic uint32_t *ref = &shelf.table.buckets[bucket].refs[0];
		_Atomic uint64_t *word = &shelf.table.buckets[bucket].words[0];
		uint32_t old_ref = atomic_load(ref);
		uint64_t old = atomic_load(word);

		if (!(old & 0xFF00))
			continue;
		atomic_store(ref, 0);
		ck_assert(!table_check(&shelf.table, 70));
		atomic_store(ref, old_ref);
		atomic_store(word, old & ~UINT64_C(0xFF));
		ck_assert(!table_check(&shelf.table, 69));
		atomic_store(word, old);
	}
	ck_assert(table_check(&shelf.table, 70));
	shelf_close(&shelf);
}
END_TEST

START_TEST(pieces_are_compared_with_the_whole)
{
	static const char text[] = "one\0two, three and a few more bytes so that pieces are of several sizes";
	const size_t len = sizeof text - 1;
	struct shelf shelf;
	uint64_t hash = 5 | UINT64_C(0x21) << 32 | UINT64_C(7) << 40;
	struct place place;
	struct wanted wanted;
	cistern_span parts[4];
	char *str;

	shelf_open(&shelf, 3);
	place = table_seek(&shelf.table, hash);
	str = (char *)entry_str(&shelf.layout, 2);
	memcpy(str, text, len);
	entry_frame(&shelf.layout, str, len, hash_byte(hash));
	table_put(&shelf.table, &place, hash, 2);
	wanted = (struct wanted){.len = len, .header = entry_header(len, 0x21), .parts = parts, .nparts = 4};
	for (size_t a = 0; a <= len; a++)
		for (size_t b = a; b <= len; b++) {
			char changed[sizeof text];

			parts[0] = (cistern_span){text, a};
			parts[1] = (cistern_span){NULL, 0};
			parts[2] = (cistern_span){text + a, b - a};
			parts[3] = (cistern_span){text + b, len - b};
			ck_assert_ptr_eq(table_find(&shelf.table, &shelf.layout, &wanted, hash), str);
			memcpy(changed, text, sizeof text);
			changed[(a * 7 + b) % len] ^= 1;
			for (int i = 0; i < 4; i++)
				if (parts[i].data)
					parts[i].data = changed + (parts[i].data - text);
			ck_assert_ptr_null(table_find(&shelf.table, &shelf.layout, &wanted, hash));
		}
	wanted.header++;
	wanted.len++;
	ck_assert_ptr_null(table_find(&shelf.table, &shelf.layout, &wanted, hash));
	shelf_close(&shelf);
}
END_TEST

/* FAULTS 20a. Only tables are filled here, so references stand for strings. */
START_TEST(honest_keys_at_full_load_probe_less_than_the_limit)
{
	unsigned most = support_scaled(100) >= 100 ? 20 : 14;
	support_rng rng = support_rng_start(22);
	struct secret secret;

	secret_from_seed(&secret, support_rng_next(&rng));
	for (unsigned log2 = 8; log2 <= most; log2 += log2 < 16 ? 1 : 2) {
		size_t buckets = (size_t)1 << log2;
		struct table table = {aligned_alloc(BUCKET_BYTES, buckets * BUCKET_BYTES),
		                      (uint32_t)(buckets - 1)};
		uint32_t longest = 0;

		ck_assert_ptr_nonnull(table.buckets);
		memset((void *)table.buckets, 0, buckets * BUCKET_BYTES);
		for (uint64_t i = 0; i < table_load_limit(buckets); i++) {
			uint64_t number = i | (uint64_t)log2 << 56;
			uint64_t hash = hash_bytes(&secret, (const char *)&number, 8);
			struct place place = table_seek(&table, hash);

			table_put(&table, &place, hash, (uint32_t)i + 1);
			if (place.probed > longest)
				longest = place.probed;
		}
		ck_assert_uint_le(longest, 64);
		ck_assert(table_check(&table, table_load_limit(buckets)));
		free(table.buckets);
	}
}
END_TEST

/* ---------------------------------------------------------------- readers beside the writer */

struct race {
	struct shelf shelf;
	_Atomic uint64_t placed;
	size_t most;
};

static void put_and_find(support_worker *worker)
{
	struct race *race = worker->arg;
	struct shelf *shelf = &race->shelf;

	if (worker->index == 0) {
		for (size_t i = 0; i < race->most; i++) {
			shelf_add(shelf, hash_like(&worker->rng, i % 3 ? 0 : 1));
			atomic_store_explicit(&race->placed, i + 1, memory_order_release);
		}
		return;
	}
	while (!worker->failed) {
		uint64_t placed = atomic_load_explicit(&race->placed, memory_order_acquire);

		for (int i = 0; placed && i < 64; i++) {
			uint64_t number = 1 + (i < 8 ? placed - 1 - (uint64_t)i % placed
			                             : support_rng_below(&worker->rng, placed));
			const char *str = shelf_find(shelf, number, shelf->hashes[number]);

			support_expect(worker, str == entry_str(&shelf->layout, (uint32_t)number));
			/* what is not there yet is a miss, whatever the writer is doing */
			str = shelf_find(shelf, UINT64_MAX, support_rng_next(&worker->rng));
			support_expect(worker, str == NULL);
		}
		if (placed == race->most)
			return;
	}
}

START_TEST(a_string_that_was_put_is_found_by_every_thread)
{
	for (size_t round = 0; round < support_scaled(20); round++) {
		struct race race = {.placed = 0};

		shelf_open(&race.shelf, 8);
		race.most = table_hard_limit(256);
		support_run(3, put_and_find, &race);
		shelf_check(&race.shelf);
		shelf_close(&race.shelf);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("table");
	TCase *model = tcase_create("every_string_put_is_found_up_to_the_hard_limit");

	support_add(s, match_agrees_with_a_loop_on_random_words);
	support_add(s, match_agrees_with_a_loop_on_bytes_that_carry);
	support_add(s, match_agrees_with_a_loop_on_all_neighbours);
	support_add(s, match_does_not_see_the_filter);
	support_add(s, probing_visits_every_bucket_once);
	support_add(s, limits_are_seven_eighths_and_fifteen_sixteenths);
	tcase_set_timeout(model, 60);
	tcase_add_loop_test(model, every_string_put_is_found_up_to_the_hard_limit, 0, 5); /* kinds of hashes */
	tcase_add_loop_test(model, a_table_filled_at_once_is_the_same_as_one_filled_step_by_step, 0, 5);
	suite_add_tcase(s, model);
	support_add(s, a_miss_ends_in_every_table);
	support_add(s, a_constant_hash_fills_a_table);
	support_add(s, a_full_table_offers_no_slot);
	support_add(s, slots_fill_from_the_first_and_probing_starts_at_the_hash);
	support_add(s, a_search_ends_where_its_filter_bit_is_not_set);
	support_add(s, the_candidate_is_in_the_first_bucket_and_has_the_tag);
	support_add(s, a_tag_whose_reference_was_emptied_is_no_match);
	support_add(s, a_search_ends_whatever_the_filters_say);
	support_add(s, check_finds_gaps_missing_references_and_wrong_counts);
	support_add(s, pieces_are_compared_with_the_whole);
	support_add_slow(s, honest_keys_at_full_load_probe_less_than_the_limit, 120);
	support_add(s, a_string_that_was_put_is_found_by_every_thread);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "table", make);
}
