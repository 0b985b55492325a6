/* SPDX-License-Identifier: MIT */
/*
 * table.c - placing strings in buckets; finding them is in table.h.
 *
 * A search for K ends at the first bucket whose filter lacks K's bit. Hence the one rule of placing: a key that
 * passes a full bucket sets its filter bit there before its own tag is stored anywhere. Both stores are releases
 * to words that readers load with acquire (A1), so who sees the tag can have got to it.
 *
 * Nothing is ever removed. A table is replaced as a whole, by its shard; here nobody knows of that.
 */
#include "table.h"

bool table_holds(const struct table *table, uint32_t ref, uint64_t hash)
{
	const uint64_t filter = (uint64_t)hash_filter_bit(hash) << BUCKET_FILTER_SHIFT;
	struct probe probe = probe_start(table, hash);

	for (;;) {
		struct bucket *bucket = &table->buckets[probe.bucket];
		/* acquire: pairs with A1, as in table_find */
		uint64_t word0 = atomic_load_explicit(&bucket->words[0], memory_order_acquire);
		uint64_t word1 = atomic_load_explicit(&bucket->words[1], memory_order_acquire);
		unsigned matches = table_match(word0, word1, hash_tag(hash));

		for (; matches; matches &= matches - 1)
			/* relaxed: only compared */
			if (atomic_load_explicit(&bucket->refs[TABLE_FIRST_BIT(matches)],
			                         memory_order_relaxed) == ref)
				return true;
		if (!(word1 & filter) || !probe_next(table, &probe))
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
			return (struct place){probe.bucket, empty ? TABLE_FIRST_BIT(empty) : BUCKET_SLOTS,
			                      probe.step + 1};
	}
}

void table_put(const struct table *table, const struct place *place, uint64_t hash, uint32_t ref)
{
	const uint64_t filter = (uint64_t)hash_filter_bit(hash) << BUCKET_FILTER_SHIFT;
	struct probe probe = probe_start(table, hash);
	struct bucket *bucket = &table->buckets[place->bucket];
	_Atomic uint64_t *word = &bucket->words[place->slot / 8];
	uint64_t tag = (uint64_t)hash_tag(hash) << place->slot % 8 * 8;

	while (probe.bucket != place->bucket) {
		_Atomic uint64_t *passed = &table->buckets[probe.bucket].words[1];
		uint64_t now = atomic_load_explicit(passed, memory_order_relaxed); /* ours to write */

		if (!(now & filter)) /* A1 */
			atomic_store_explicit(passed, now | filter, memory_order_release);
		probe_next(table, &probe);
	}
	/* relaxed: the tag announces it */
	atomic_store_explicit(&bucket->refs[place->slot], ref, memory_order_relaxed);
	/* A1: pairs with the acquire loads of table_find, table_holds and table_candidate */
	atomic_store_explicit(word, atomic_load_explicit(word, memory_order_relaxed) | tag,
	                      memory_order_release);
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
			if (atomic_load_explicit(&bucket->refs[TABLE_FIRST_BIT(full)],
			                         memory_order_relaxed) == 0)
				return false;
	}
	return count == strings;
}
