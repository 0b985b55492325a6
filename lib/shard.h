/* SPDX-License-Identifier: MIT */
/*
 * shard.h - one locked part of an interner: a lock, slabs and a table. See shard.c.
 */
#ifndef CISTERN_LIB_SHARD_H
#define CISTERN_LIB_SHARD_H

#include "hash.h"
#include "lock.h"
#include "order.h"
#include "range.h"
#include "slab.h"
#include "table.h"

/*
 * A directory word says where a shard's table is. Byte offsets of tables are multiples of 64, which leaves
 * six bits:
 *
 *   63 (31)                          6 5            1   0
 *  +----------------------------------+--------------+-----+
 *  | offset in the tables range, / 64 | log2 buckets | own |
 *  +----------------------------------+--------------+-----+
 *
 * own: the table is keyed with a secret of its own, which lies in the three buckets before it, so that
 * one load gives table and secret together. A word never recurs, since no table's place is used twice.
 */
typedef _Atomic uintptr_t directory_word;

#define DIRECTORY_OWN_SECRET ((uintptr_t)1)
#define DIRECTORY_LOG2_SHIFT 1
#define DIRECTORY_LOG2_MAX   31u
#define DIRECTORY_OFFSET     (~(uintptr_t)63)

#define SHARD_SECRET_BUCKETS (HASH_SECRET_SIZE / BUCKET_BYTES)
_Static_assert(HASH_SECRET_SIZE % BUCKET_BYTES == 0, "the own secret takes whole buckets");

/* What all shards of an interner share. All but the ranges is immutable, and what a hit reads comes first. */
struct shard_common {
	directory_word *directory; /* a word for each shard; B1 */
	char *tables_base;
	struct entry_layout layout;
	uint32_t shard_mask;
	size_t short_len; /* the longest that shard_peek serves: ENTRY_SHORT or max_len */
	size_t max_len;   /* the longest string that is accepted */
	_Alignas(64) struct secret secret;

	struct slab_policy slab_policy;
	bool huge_tables; /* ask for huge pages for tables that could use them */
	struct range strings;
	struct range tables;
};

/*
 * A shard. Threads that insert in turn pass its lines from one processor to the other, so what every insert touches
 * lies in two: the lock with the cursor, and the counts.
 */
struct shard {
	_Alignas(64) struct lock lock; /* no line is shared with another shard */

	/* guarded by lock */
	struct slabs slabs;
	uint64_t payload;
	uint32_t strings;
	uint32_t limit; /* strings beyond which the table should grow */
	uint32_t max_probe;
	uint32_t index; /* immutable */

	/* guarded by lock, seldom touched */
	uint64_t slots;
	uint64_t table_bytes;
	uint64_t retired_bytes;
	uint64_t emptied_bytes;
	uint64_t growths;
	uint64_t rekeys;
	uint64_t lock_waits;
	uint32_t rekeyed_log2; /* log2 of buckets for which re-keying was tried last, plus 1; 0: never */
};

/* The string to intern, its hash under the interner's secret, and what came out. */
struct shard_key {
	struct wanted wanted;
	uint64_t hash;
	const char *str;
	bool is_new;
};

/* empty is the directory word of the one bucket that all empty shards share. */
void shard_open(struct shard *shard, struct shard_common *common, uint32_t index,
                cistern_lock policy, uintptr_t empty);
void shard_close(struct shard *shard);

/* Interns one string. False with ENOSPC or ENOMEM: nothing changed. */
bool shard_intern(struct shard *shard, struct shard_common *common, struct shard_key *key);

/*
 * Interns several strings of this shard under one acquisition of its lock. Returns how many of the first
 * were interned; fewer than n with errno.
 */
size_t shard_intern_group(struct shard *shard, struct shard_common *common,
                          struct shard_key *const *keys, size_t n);

/* Bytes of a table for that many strings in one shard. */
uint64_t shard_table_bytes(uint64_t strings);

/* The longest string that the range could hold if it held nothing else. */
size_t shard_longest(const struct shard_common *common);

/* Makes the table large enough for that many strings in all. False with ENOSPC or ENOMEM. */
bool shard_reserve(struct shard *shard, struct shard_common *common, uint64_t strings);

/* Notes the entries of the shard for a walk. */
void shard_walk_begin(struct shard *shard, const struct shard_common *common,
                      struct slab_walk *walk);

/* Adds the shard's figures to out, whose sums are in its byte and count fields. */
void shard_stats_add(struct shard *shard, cistern_shard_stats *out);

/*
 * Debug builds: ends the process, with a line on stderr, where a string of the shard with that index is not as it was
 * interned. The hash tells: one change in 256 times shards goes unseen.
 */
#ifdef CISTERN_DEBUG
void shard_check_string(const struct shard_common *common, uint32_t index, const char *str,
                        size_t len);
#else
static inline void shard_check_string(const struct shard_common *common, uint32_t index,
                                      const char *str, size_t len)
{
	(void)common;
	(void)index;
	(void)str;
	(void)len;
}
#endif

/* The table that a directory word describes, and the hash of bytes in it. */
ALWAYS_INLINE struct table shard_table(const struct shard_common *common, uintptr_t word)
{
	struct table table;

	table.buckets = (struct bucket *)(void *)(common->tables_base + (word & DIRECTORY_OFFSET));
	table.mask = (uint32_t)((UINT64_C(1) << (word >> DIRECTORY_LOG2_SHIFT & 31)) - 1);
	return table;
}

static inline const struct secret *shard_own_secret(const struct table *table)
{
	return (const struct secret *)(const void *)(table->buckets - SHARD_SECRET_BUCKETS);
}

ALWAYS_INLINE directory_word *shard_word(const struct shard_common *common, uint64_t hash)
{
	return &common->directory[hash_shard(hash) & common->shard_mask];
}

/* The hash of the same bytes in a table with a secret of its own. */
uint64_t shard_own_hash(const struct table *table, const struct wanted *wanted);

static inline void shard_key_init(struct shard_key *key, const char *s, size_t len, uint64_t hash)
{
	key->wanted.s = s;
	key->wanted.len = len;
	key->wanted.header = entry_header(len, hash_byte(hash));
	key->wanted.parts = NULL;
	key->wanted.nparts = 0;
	key->hash = hash;
}

/*
 * The string in the table that a directory word describes, or NULL. hash is under the interner's secret.
 */
const char *shard_find(const struct shard_common *common, uintptr_t word,
                       const struct wanted *wanted, uint64_t hash);

/*
 * Where a search for a string of that hash begins. In a table with a secret of its own this is a bucket at
 * random, which does no harm: what is found there has been compared, and a miss is looked for again.
 */
ALWAYS_INLINE struct bucket *shard_first_bucket(const struct shard_common *common, uint64_t hash)
{
	/* acquire: pairs with B1 */
	uintptr_t word = atomic_load_explicit(shard_word(common, hash), ORDER_B1_PEEK_LOAD);
	struct table table = shard_table(common, word);

	return table_bucket(&table, hash);
}

/* A first look, inline, for strings of up to ENTRY_SHORT bytes. NULL says nothing. */
ALWAYS_INLINE const char *shard_peek(const struct shard_common *common, const char *s, size_t len,
                                    uint64_t hash)
{
	uint32_t ref = bucket_candidate(shard_first_bucket(common, hash), hash);
	const char *str = entry_str(&common->layout, ref);

	if (UNLIKELY(ref == 0 && RECHECK_A1_PEEK) ||
	    UNLIKELY(entry_load_header(str) != entry_header(len, hash_byte(hash))))
		return NULL;
	return entry_short_equal(str, s, len) ? str : NULL;
}

#endif
