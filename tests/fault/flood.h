/* SPDX-License-Identifier: MIT */
/*
 * flood.h - strings that are forged under a secret to have something of their hashes in common, and
 * how far probes go in a table. Nothing is timed: what is counted is buckets looked at. See
 * flood.c.
 */
#ifndef TESTS_FAULT_FLOOD_H
#define TESTS_FAULT_FLOOD_H

#include "../unit/unit.h"
#include "forge.h"

/* A table is re-keyed by the first string that would go beyond so many buckets. */
enum { REKEY_LIMIT = 64 };

/* What the strings of a flood have in common. */
enum flood {
	SAME_HASH,
	SAME_BUCKET_AND_TAG, /* but not the header's hash byte, nor its filter bit */
	SAME_BUCKET,         /* and nothing else */
	SAME_SHARD,          /* that alone: an honest set in one shard */
	FLOODS
};

struct flood_string {
	char data[FORGED];
	size_t len;
};

/* The number-th string of a kind. */
struct flood_string flood_make(const struct secret *secret, enum flood kind, uint64_t number);

uint64_t flood_hash(const struct secret *secret, const struct flood_string *s);

/* The shard where c has it, whatever the shard's own secret is. */
uint32_t flood_shard(const cistern *c, const struct flood_string *s);

/* Asserts that the first n of a kind are in c. */
void flood_check_found(const cistern *c, const struct secret *secret, enum flood kind, uint64_t n);

/* Buckets that finding each string of a shard looks at; pairs within a bucket, and those with one
 * tag. */
struct reach {
	uint64_t strings, buckets, longest;
	uint64_t pairs, alike;
};

struct reach reach_of(const cistern *c, uint32_t shard);

/*
 * Asserts that the strings of a shard lie as honest ones do: 1.5 buckets at most on average, and
 * none over 30; of two strings in one bucket about one in 255 has the tag of the other.
 */
void reach_check_normal(const cistern *c, uint32_t shard);

/* Buckets that inserting the string will look at, in the table of now. */
uint32_t reach_ahead(const cistern *c, uint32_t shard, const struct flood_string *s);

#endif
