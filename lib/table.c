/* SPDX-License-Identifier: MIT */
/*
 * table.c - finding strings in buckets and placing them there; the first look of a hit is in table.h.
 *
 * A search for K ends at the first bucket whose filter lacks K's bit. Hence the one rule of placing: a key that
 * passes a full bucket sets its filter bit there before its own tag is stored anywhere. Both stores are releases
 * to words that readers load with acquire (A1), so who sees the tag can have got to it.
 *
 * Nothing is ever removed. A table is replaced as a whole, by its shard; here nobody knows of that.
 */
#include "table.h"

#include "order.h"

static bool wanted_equal(const struct wanted *wanted, const char *str)
{
	if (!wanted->parts)
		return entry_equal(str, wanted->header, wanted->s, wanted->len);
	if (entry_load_header(str) != wanted->header || entry_len(str) != wanted->len)
		return false;
	for (size_t i = 0; i < wanted->nparts; i++) {
		size_t len = wanted->parts[i].len;

		if (len > 0 && !entry_bytes_equal(str, wanted->parts[i].data, len))
			return false;
		str += len;
	}
	return true;
}

const char *table_find(const struct table *table, const struct entry_layout *layout,
                       const struct wanted *wanted, uint64_t hash)
{
	struct probe probe = probe_start(table, hash);

	for (;;) {
		struct bucket *bucket = &table->buckets[probe.bucket];
		/* acquire: pairs with A1, so the entry behind each tag seen is complete */
		uint64_t word0 = atomic_load_explicit(&bucket->words[0], ORDER_A1_FIND_WORD0);
		uint64_t word1 = atomic_load_explicit(&bucket->words[1], ORDER_A1_FIND_WORD1);
		unsigned matches = table_match(word0, word1, hash_tag(hash));

		for (; matches; matches &= matches - 1) {
			/* acquire: 0 says that the page was emptied in between, and then the caller's
			 * next load of the directory word must not be older than that (B1) */
			uint32_t ref = atomic_load_explicit(&bucket->refs[FIRST_BIT(matches)],
			                                    ORDER_B1_FIND_REF);
			const char *str = entry_str(layout, ref);

			if ((ref != 0 || !RECHECK_A1_FIND) && wanted_equal(wanted, str))
				return str;
		}
		if (!bucket_passed(word1, hash) || !probe_next(table, &probe))
			return NULL;
	}
}

bool table_holds(const struct table *table, uint32_t ref, uint64_t hash)
{
	struct probe probe = probe_start(table, hash);

	for (;;) {
		struct bucket *bucket = &table->buckets[probe.bucket];
		/* acquire: pairs with A1, as in table_find */
		uint64_t word0 = atomic_load_explicit(&bucket->words[0], ORDER_A1_HOLDS_WORD0);
		uint64_t word1 = atomic_load_explicit(&bucket->words[1], ORDER_A1_HOLDS_WORD1);
		unsigned matches = table_match(word0, word1, hash_tag(hash));

		for (; matches; matches &= matches - 1)
			/* acquire: as in table_find */
			if (atomic_load_explicit(&bucket->refs[FIRST_BIT(matches)],
			                         ORDER_B1_HOLDS_REF) == ref)
				return true;
		if (!bucket_passed(word1, hash) || !probe_next(table, &probe))
			return false;
	}
}

struct place table_seek(const struct table *table, uint64_t hash)
{
	struct probe probe = probe_start(table, hash);

	for (;;) {
		struct bucket *bucket = &table->buckets[probe.bucket];
		/* relaxed: written under the lock that we hold */
		uint64_t word0 = atomic_load_explicit(&bucket->words[0], memory_order_relaxed);
		uint64_t word1 = atomic_load_explicit(&bucket->words[1], memory_order_relaxed);
		unsigned empty = table_match(word0, word1, 0);

		if (empty || !probe_next(table, &probe))
			return (struct place){probe.bucket, empty ? FIRST_BIT(empty) : BUCKET_SLOTS,
			                      probe.step + 1};
	}
}

const char *table_find_place(const struct table *table, const struct entry_layout *layout,
                             const struct wanted *wanted, uint64_t hash, struct place *place)
{
	struct probe probe = probe_start(table, hash);
	bool missed = !RECHECK_A1_PLACE; /* it is in no bucket from here on */

	for (;;) {
		struct bucket *bucket = &table->buckets[probe.bucket];
		/* relaxed, all: written under the lock that we hold */
		uint64_t word0 = atomic_load_explicit(&bucket->words[0], memory_order_relaxed);
		uint64_t word1 = atomic_load_explicit(&bucket->words[1], memory_order_relaxed);
		unsigned matches = missed ? 0 : table_match(word0, word1, hash_tag(hash));
		unsigned empty = table_match(word0, word1, 0);

		for (; matches; matches &= matches - 1) {
			const char *str = entry_str(
			    layout, atomic_load_explicit(&bucket->refs[FIRST_BIT(matches)],
			                                 memory_order_relaxed));

			if (wanted_equal(wanted, str))
				return str;
		}
		missed |= !bucket_passed(word1, hash);
		if (empty || !probe_next(table, &probe)) {
			*place = (struct place){probe.bucket,
			                        empty ? FIRST_BIT(empty) : BUCKET_SLOTS,
			                        probe.step + 1};
			return NULL;
		}
	}
}

void table_put(const struct table *table, const struct place *place, uint64_t hash, uint32_t ref)
{
	const uint64_t filter = UINT64_C(1) << (BUCKET_FILTER_SHIFT + hash_filter_bit(hash));
	struct probe probe = probe_start(table, hash);
	struct bucket *bucket = &table->buckets[place->bucket];
	_Atomic uint64_t *word = &bucket->words[place->slot / 8];
	uint64_t tag = (uint64_t)hash_tag(hash) << place->slot % 8 * 8;

	while (probe.bucket != place->bucket) {
		_Atomic uint64_t *passed = &table->buckets[probe.bucket].words[1];
		uint64_t now = atomic_load_explicit(passed, memory_order_relaxed); /* ours to write */

		if (!(now & filter)) /* A1 */
			atomic_store_explicit(passed, now | filter, ORDER_A1_FILTER_STORE);
		probe_next(table, &probe);
	}
	/* relaxed: the tag announces it */
	atomic_store_explicit(&bucket->refs[place->slot], ref, memory_order_relaxed);
	/* A1: pairs with the acquire loads of table_find, table_holds and bucket_candidate */
	atomic_store_explicit(word, atomic_load_explicit(word, memory_order_relaxed) | tag,
	                      ORDER_A1_TAG_STORE);
}

bool table_check(const struct table *table, uint64_t strings)
{
	uint64_t count = 0;

	for (uint64_t i = 0; i <= table->mask; i++) {
		struct bucket *bucket = &table->buckets[i];
		/* relaxed: the lock is held */
		uint64_t word0 = atomic_load_explicit(&bucket->words[0], memory_order_relaxed);
		uint64_t word1 = atomic_load_explicit(&bucket->words[1], memory_order_relaxed);
		unsigned full = ~table_match(word0, word1, 0) & 0xFFF;

		if (full & (full + 1)) /* a gap */
			return false;
		for (; full; full &= full - 1, count++)
			if (atomic_load_explicit(&bucket->refs[FIRST_BIT(full)],
			                         memory_order_relaxed) == 0)
				return false;
	}
	return count == strings;
}
