/* SPDX-License-Identifier: MIT */
/*
 * honest.c - strings that are no flood, however they look: of one shard, with hashes at the edges,
 * in tables as full as can be. They lie as they should, and no table is keyed anew for them.
 */
#include "flood.h"

#include "cases.h"

/* PEERS 9. What picks the shard picks neither bucket nor tag. */
START_TEST(strings_of_one_shard_are_spread_over_its_buckets)
{
	cistern *c = unit_interner(UINT32_C(1) << 2 * _i, 0);
	const struct secret secret = c->common.secret;
	uint64_t n = support_scaled(50000);
	struct flood_string first = flood_make(&secret, SAME_SHARD, 0);

	for (uint64_t i = 0; i < n; i++) {
		struct flood_string s = flood_make(&secret, SAME_SHARD, i);

		ck_assert(cistern_intern(c, s.data, s.len));
	}
	ck_assert_uint_eq(c->shards[flood_shard(c, &first)].strings, n);
	ck_assert_uint_eq(figures(c).rekeys, 0);
	reach_check_normal(c, flood_shard(c, &first));
	cistern_destroy(c);
}
END_TEST

/* The hashes at the edges: tag 0 counts as 1, and a hash of 0 is what cistern_hash gives for
 * nothing. */
START_TEST(strings_with_extreme_hashes_are_strings_like_others)
{
	static const uint64_t hashes[] = {0,
					  UINT64_MAX,
					  UINT64_C(1) << 40,
					  UINT64_C(0x0000010000000000),
					  UINT64_C(0xFFFF00FFFFFFFFFF),
					  UINT64_C(0x000000FF00000000),
					  UINT64_C(0xFFFFFFFF00000000),
					  UINT64_C(0x00000000FFFFFFFF)};
	cistern *c = unit_interner(256, 0);
	const char *strings[8];

	for (int i = 0; i < 8; i++) {
		char s[FORGED_CHOSEN];

		forge_chosen(&c->common.secret, hashes[i], s);
		ck_assert_uint_eq(cistern_hash(c, s, sizeof(s)), hashes[i]);
		if (i == 3) { /* the same as the one before it */
			ck_assert_ptr_eq(cistern_find_hashed(c, s, sizeof(s), hashes[i]),
					 strings[2]);
			continue;
		}
		ck_assert_ptr_null(cistern_find_hashed(c, s, sizeof(s), hashes[i]));
		strings[i] = cistern_intern_hashed(c, s, sizeof(s), hashes[i]);
		ck_assert_ptr_nonnull(strings[i]);
		ck_assert_ptr_eq(cistern_find(c, s, sizeof(s)), strings[i]);
		ck_assert(cistern_owns(c, strings[i]));
	}
	ck_assert_uint_eq(figures(c).strings, 7);
	cistern_destroy(c);
}
END_TEST

/* FAULTS 20a, through an interner: 2^log2 buckets in one shard, filled to the last string before it
 * grows. */
START_TEST(honest_strings_at_full_load_are_no_flood)
{
	size_t scale = support_scaled(100);
	unsigned most = scale >= 1000 ? 20 : scale >= 100 ? 16 : 12;

	for (unsigned log2 = 8; log2 <= most; log2++) {
		uint64_t n = table_load_limit(UINT64_C(1) << log2), i;
		cistern *c = unit_interner(1, 0);
		struct reach reach;

		ck_assert_int_eq(cistern_reserve(c, (size_t)n - 1), 0);
		for (i = 0; i < n; i++) {
			char text[24];

			ck_assert(cistern_intern(
			    c, text, (size_t)sprintf(text, "%llu", (unsigned long long)i)));
		}
		ck_assert_uint_eq(c->shards[0].slots, table_slots(UINT64_C(1) << log2));
		ck_assert_uint_eq(c->shards[0].limit, n);
		ck_assert_uint_eq(figures(c).rekeys, 0);
		reach = reach_of(c, 0);
		ck_assert_uint_eq(reach.strings, n);
		ck_assert_uint_eq(reach.longest, figures(c).max_probe);
		reach_check_normal(c, 0);
		cistern_destroy(c);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("honest");

	cases_add_loop(s, strings_of_one_shard_are_spread_over_its_buckets, 5);
	support_add(s, strings_with_extreme_hashes_are_strings_like_others);
	support_add_slow(s, honest_strings_at_full_load_are_no_flood, 120);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "honest", make);
}
