/* SPDX-License-Identifier: MIT */
/*
 * table.h - the open-addressed table of one shard: buckets, probing, placing. See table.c.
 *
 * Inline, because finding is the whole of a hit. Knows no lock and no policy of growth.
 */
#ifndef CISTERN_LIB_TABLE_H
#define CISTERN_LIB_TABLE_H

#include "entry.h"
#include "hash.h"
#include "order.h"

#include <stdatomic.h>

#if defined(CISTERN_FORCE_SWAR)
#define TABLE_SWAR 1
#elif defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>
#else
#define TABLE_SWAR 1
#endif

#define BUCKET_SLOTS 12u
#define BUCKET_BYTES 64u

/*
 *  byte 0                8               16                                            64
 *  +--------------------+-------+-------+-----+-----+-----+-----+---------------------+
 *  | tags 0..7          | 8..11 |filter | ref0| ref1| ref2| ref3|  ...          ref11 |
 *  +--------------------+-------+-------+-----+-----+-----+-----+---------------------+
 *    word 0               word 1: tags in its low half, filter in its high half
 *
 * Tag i is bits 8i..8i+7 of its word, whatever the byte order of the machine. Tag 0 means that the slot is
 * empty; slots fill from 0 up and are never emptied. Words are written under the shard's lock with
 * release (A1) and read without it with acquire; references are written before the tag that announces them.
 */
struct bucket {
	_Atomic uint64_t words[2];
	_Atomic uint32_t refs[BUCKET_SLOTS];
};
_Static_assert(sizeof(struct bucket) == BUCKET_BYTES, "a bucket is one cache line");

#define BUCKET_FILTER_SHIFT 32

struct table {
	struct bucket *buckets;
	uint32_t mask; /* number of buckets, a power of two, less one */
};

/* Slots of a table with that many buckets, and how many strings they should and can at most hold. */
static inline uint64_t table_slots(uint64_t buckets)
{
	return buckets * BUCKET_SLOTS;
}

static inline uint64_t table_load_limit(uint64_t buckets)
{
	return buckets * 21 / 2; /* 7/8 */
}

static inline uint64_t table_hard_limit(uint64_t buckets)
{
	return buckets * 45 / 4; /* 15/16 */
}

/* Which of the twelve tags equal tag, as bits 0 to 11. The portable version, tested on every machine. */
ALWAYS_INLINE unsigned table_match_swar(uint64_t word0, uint64_t word1, uint8_t tag)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), low7 = UINT64_C(0x7f7f7f7f7f7f7f7f);
	uint64_t x0 = word0 ^ ones * tag, x1 = word1 ^ ones * tag;
	unsigned m0, m1;

	/* The top bit of each byte: set where the byte is zero. Exact, no carry runs between bytes. */
	x0 = ~(((x0 & low7) + low7) | x0 | low7);
	x1 = ~(((x1 & low7) + low7) | x1 | low7);
	/* Gather the eight top bits into one byte. */
	m0 = (unsigned)((x0 >> 7) * UINT64_C(0x0102040810204080) >> 56);
	m1 = (unsigned)((x1 >> 7) * UINT64_C(0x0102040810204080) >> 56);
	return (m0 | m1 << 8) & 0xFFF;
}

ALWAYS_INLINE unsigned table_match(uint64_t word0, uint64_t word1, uint8_t tag)
{
#if defined(TABLE_SWAR)
	return table_match_swar(word0, word1, tag);
#elif defined(__SSE2__)
	__m128i tags = _mm_set_epi64x((long long)word1, (long long)word0);

	return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(tags, _mm_set1_epi8((char)tag))) & 0xFFF;
#else
	const uint8x8_t bits = vcreate_u8(UINT64_C(0x8040201008040201));
	uint8x8_t want = vdup_n_u8(tag);
	unsigned m0 = vaddv_u8(vand_u8(vceq_u8(vcreate_u8(word0), want), bits));
	unsigned m1 = vaddv_u8(vand_u8(vceq_u8(vcreate_u8(word1), want), bits));

	return (m0 | m1 << 8) & 0xFFF;
#endif
}

/*
 * Triangular probing: bucket, bucket + 1, + 3, + 6 ... visits every bucket of a power of two exactly once,
 * so every probe ends. A search goes on past a bucket only if the filter bit of its own key is set there.
 */
struct probe {
	uint32_t bucket;
	uint32_t step;
};

ALWAYS_INLINE struct probe probe_start(const struct table *table, uint64_t hash)
{
	return (struct probe){hash_bucket(hash) & table->mask, 0};
}

/* Moves on; false after the last bucket. */
ALWAYS_INLINE bool probe_next(const struct table *table, struct probe *probe)
{
	if (probe->step == table->mask)
		return false;
	probe->bucket = (probe->bucket + ++probe->step) & table->mask;
	return true;
}

/* Whether a key of that hash once found the bucket with this word 1 full and went on. */
ALWAYS_INLINE bool bucket_passed(uint64_t word1, uint64_t hash)
{
	return word1 >> (BUCKET_FILTER_SHIFT + hash_filter_bit(hash)) & 1;
}

/* What a search compares: bytes in one piece, or in several, and what the header of an equal entry says. */
struct wanted {
	const char *s;
	size_t len; /* of all pieces */
	uint32_t header;
	const cistern_span *parts; /* NULL: the bytes are at s */
	size_t nparts;
};

/*
 * Looks at every bucket in which a string of that hash may be, and returns the one that is wanted, or NULL.
 * hash is the one that the table is keyed with. May run while a writer places strings, and in a table that
 * has been retired or emptied: what it finds is right in any case, what it misses may be there.
 */
const char *table_find(const struct table *table, const struct entry_layout *layout,
                       const struct wanted *wanted, uint64_t hash);

/* The same search for one very reference, without looking at any entry. */
bool table_holds(const struct table *table, uint32_t ref, uint64_t hash);

/*
 * The first reference in a bucket whose tag agrees, or 0. Of the bucket where a search begins: nine hits in ten are that one, so it is
 * looked at inline before anything else, and fetched ahead in batches.
 */
ALWAYS_INLINE uint32_t bucket_candidate(struct bucket *bucket, uint64_t hash)
{
	/* acquire: pairs with A1, as in table_find */
	uint64_t word0 = atomic_load_explicit(&bucket->words[0], ORDER_A1_PEEK_WORD0);
	uint64_t word1 = atomic_load_explicit(&bucket->words[1], ORDER_A1_PEEK_WORD1);
	unsigned matches = table_match(word0, word1, hash_tag(hash));

	if (UNLIKELY(!matches))
		return 0;
	/* relaxed: the tag, loaded with acquire, came after it; 0 where the page was emptied in between, which says
	 * nothing: who gets it loads the directory word anew and searches */
	return atomic_load_explicit(&bucket->refs[FIRST_BIT(matches)], memory_order_relaxed);
}

ALWAYS_INLINE struct bucket *table_bucket(const struct table *table, uint64_t hash)
{
	return &table->buckets[hash_bucket(hash) & table->mask];
}

/*
 * Where a string that is not in the table goes: the first free slot on its way. The table must have one.
 * `probed` counts the buckets looked at. Holds: shard lock.
 */
struct place {
	uint32_t bucket;
	uint32_t slot;
	uint32_t probed;
};

struct place table_seek(const struct table *table, uint64_t hash);

/*
 * table_find and table_seek in one: the string that is wanted, or NULL and the place where it goes. Holds: shard lock.
 */
const char *table_find_place(const struct table *table, const struct entry_layout *layout,
                             const struct wanted *wanted, uint64_t hash, struct place *place);

/* Puts a reference there; its entry is complete. Readers may find it from now on. Holds: shard lock. */
void table_put(const struct table *table, const struct place *place, uint64_t hash, uint32_t ref);

/*
 * table_seek and table_put in one, for a table that nobody else sees yet. Inline: to fill the next table is most of what
 * growing costs. Relaxed, all: the release store that publishes the table (B1) comes after it.
 */
ALWAYS_INLINE void table_add(const struct table *table, uint64_t hash, uint32_t ref)
{
	struct bucket *bucket = table_bucket(table, hash);
	uint64_t word0 = atomic_load_explicit(&bucket->words[0], memory_order_relaxed);
	uint64_t word1 = atomic_load_explicit(&bucket->words[1], memory_order_relaxed);
	unsigned empty = table_match(word0, word1, 0);
	struct place place;
	unsigned slot;

	if (UNLIKELY(!empty)) {
		place = table_seek(table, hash);
		table_put(table, &place, hash, ref);
		return;
	}
	slot = FIRST_BIT(empty);
	atomic_store_explicit(&bucket->refs[slot], ref, memory_order_relaxed);
	atomic_store_explicit(&bucket->words[slot / 8],
	                      (slot < 8 ? word0 : word1) | (uint64_t)hash_tag(hash) << slot % 8 * 8,
	                      memory_order_relaxed);
}

/* Whether every bucket is filled from slot 0 up; for debug builds. Holds: shard lock. */
bool table_check(const struct table *table, uint64_t strings);

#endif
