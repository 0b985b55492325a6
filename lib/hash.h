/* SPDX-License-Identifier: MIT */
/*
 * hash.h - the keyed hash, and which of its bits serve what.
 *
 *   63          48 47    40 39    32 31                            0
 *  +--------------+--------+--------+-------------------------------+
 *  |    shard     |  tag   |  byte  |            bucket             |
 *  +--------------+--------+--------+-------------------------------+
 *                              the byte in the entry header; its low five bits pick the filter bit
 *
 * No two uses share a bit where that would hurt: strings of one shard still spread over all buckets, and
 * strings of one bucket over all tags. XXH3 is keyed with 192 secret bytes rather than with a 64-bit seed,
 * because two fixed strings collide under about one seed in 1,400, whoever picks it.
 */
#ifndef CISTERN_LIB_HASH_H
#define CISTERN_LIB_HASH_H

#include "cistern.h"
#include "compiler.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define HASH_SECRET_SIZE 192

struct secret {
	unsigned char bytes[HASH_SECRET_SIZE];
};

_Static_assert(HASH_SECRET_SIZE >= XXH3_SECRET_SIZE_MIN, "xxHash wants that much");

/* A fresh secret from the system. False with EIO. */
bool secret_draw(struct secret *secret);

/* The secret that goes with a fixed seed: the same on every machine, no protection from floods. */
void secret_from_seed(struct secret *secret, uint64_t seed);

uint64_t hash_bytes(const struct secret *secret, const char *s, size_t len);

/* The same, inline, for len up to HASH_SHORT: for the way of a hit. */
#define HASH_SHORT 128 /* XXH3 has straight-line code up to there */

ALWAYS_INLINE uint64_t hash_short_bytes(const struct secret *secret, const char *s, size_t len)
{
	if (len > HASH_SHORT)
		__builtin_unreachable();
	return XXH3_64bits_withSecret(s, len, secret->bytes, sizeof secret->bytes);
}

/* The hash of the concatenation; the same number as hash_bytes of the whole. */
uint64_t hash_parts(const struct secret *secret, const cistern_span *parts, size_t nparts);

/*
 * For the calls that are right for any pointer: copies bytes that another thread may be writing, and hashes
 * such bytes. What comes out is then arbitrary and harmless.
 */
void hash_copy_racing(void *to, const void *from, size_t len);
uint64_t hash_racing_bytes(const struct secret *secret, const char *s, size_t len);

static inline uint32_t hash_shard(uint64_t hash)
{
	return (uint32_t)(hash >> 48);
}

/* 1 to 255: 0 marks an empty slot. */
static inline uint8_t hash_tag(uint64_t hash)
{
	uint8_t tag = (uint8_t)(hash >> 40);

	return tag ? tag : 1;
}

static inline uint8_t hash_byte(uint64_t hash)
{
	return (uint8_t)(hash >> 32);
}

/* 0 to 31. */
static inline unsigned hash_filter_bit(uint64_t hash)
{
	return hash >> 32 & 31;
}

static inline uint32_t hash_bucket(uint64_t hash)
{
	return (uint32_t)hash;
}

#endif
