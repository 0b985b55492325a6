/* SPDX-License-Identifier: MIT */
/* flood.c - see flood.h. A kind of flood is a member of the enumeration and a case here. */
#include "flood.h"

static uint64_t mixed(uint64_t number)
{
	support_rng rng = {number};

	return support_rng_next(&rng);
}

/* Buckets are told apart by up to 24 low bits. */
struct flood_string flood_make(const struct secret *secret, enum flood kind, uint64_t number)
{
	const uint64_t shard = UINT64_C(0x1234) << 48, tag = UINT64_C(0x56) << 40;
	struct flood_string s = {.len = FORGED_CHOSEN};

	switch (kind) {
	case SAME_HASH:
		forge(secret, number, s.data);
		s.len = FORGED;
		break;
	case SAME_BUCKET_AND_TAG: /* 65,536 of them, then others with the next tag */
		forge_chosen(secret,
			     shard | (tag + (number >> 16 << 40)) | (number & 0xFFFF) << 24 |
				 0x123456,
			     s.data);
		break;
	case SAME_BUCKET: /* the number is in what is left of the hash */
		forge_chosen(secret, shard | (number & 0xFFFFFF) << 24 | 0x123456, s.data);
		break;
	default:
		forge_chosen(secret, shard | mixed(number) >> 16, s.data);
		break;
	}
	return s;
}

uint64_t flood_hash(const struct secret *secret, const struct flood_string *s)
{
	return hash_bytes(secret, s->data, s->len);
}

uint32_t flood_shard(const cistern *c, const struct flood_string *s)
{
	return hash_shard(flood_hash(&c->common.secret, s)) & c->common.shard_mask;
}

void flood_check_found(const cistern *c, const struct secret *secret, enum flood kind, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		struct flood_string s = flood_make(secret, kind, i);
		const char *str = cistern_find(c, s.data, s.len);

		if (!str || cistern_len(str) != s.len || memcmp(str, s.data, s.len) != 0)
			ck_abort_msg("string %llu is lost", (unsigned long long)i);
	}
}

/* ---------------------------------------------------------------- how far probes go */

static void count_pairs(struct bucket *bucket, struct reach *reach)
{
	uint64_t words[2] = {atomic_load(&bucket->words[0]), atomic_load(&bucket->words[1])};

	for (unsigned a = 0; a < BUCKET_SLOTS; a++)
		for (unsigned b = 0; b < a; b++) {
			uint8_t x = (uint8_t)(words[a / 8] >> a % 8 * 8),
				y = (uint8_t)(words[b / 8] >> b % 8 * 8);

			reach->pairs += x && y;
			reach->alike += x && x == y;
		}
}

struct reach reach_of(const cistern *c, uint32_t shard)
{
	uintptr_t word;
	struct table table = unit_table(c, shard, &word);
	const struct secret *secret = unit_secret(c, shard);
	struct reach reach = {0, 0, 0, 0, 0};

	for (uint32_t b = 0; b <= table.mask; b++) {
		count_pairs(&table.buckets[b], &reach);
		for (unsigned slot = 0; slot < BUCKET_SLOTS; slot++) {
			uint32_t ref = atomic_load(&table.buckets[b].refs[slot]);
			const char *str = entry_str(&c->common.layout, ref);
			struct probe probe;

			if (!ref)
				continue;
			probe = probe_start(&table, hash_bytes(secret, str, entry_len(str)));
			while (probe.bucket != b)
				ck_assert(probe_next(&table, &probe));
			reach.strings++;
			reach.buckets += probe.step + 1;
			if (probe.step + 1 > reach.longest)
				reach.longest = probe.step + 1;
		}
	}
	return reach;
}

void reach_check_normal(const cistern *c, uint32_t shard)
{
	struct reach reach = reach_of(c, shard);

	ck_assert_uint_le(reach.buckets * 2, reach.strings * 3);
	ck_assert_uint_le(reach.longest, 30);
	ck_assert_uint_le(reach.alike, reach.pairs / 128 + 50);
}

uint32_t reach_ahead(const cistern *c, uint32_t shard, const struct flood_string *s)
{
	uintptr_t word;
	struct table table = unit_table(c, shard, &word);

	return table_seek(&table, flood_hash(unit_secret(c, shard), s)).probed;
}
