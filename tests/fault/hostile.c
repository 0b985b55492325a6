/* SPDX-License-Identifier: MIT */
/*
 * hostile.c - floods, G8 from inside: strings that are forged under an interner's secret, by all
 * calls there are and at all table sizes, are answered by one re-key, and cost what honest ones
 * cost and a little.
 *
 * The simple floods, what may fail in a re-key, and ids and pieces after one are in
 * tests/unit/shard.c; readers meanwhile are in rekey.c.
 */
#include "flood.h"

#include "cases.h"
#include "ways.h"

/* ---------------------------------------------------------------- forging */

START_TEST(any_hash_can_be_had_for_who_knows_the_secret)
{
	support_rng rng = support_rng_start(1);
	struct secret secret, other;

	for (int i = 0; i < 10000; i++) {
		uint64_t hash = i == 0 ? 0 : i == 1 ? UINT64_MAX : support_rng_next(&rng);
		char s[FORGED_CHOSEN];

		if (i % 100 == 0) {
			secret_from_seed(&secret, support_rng_next(&rng));
			secret_from_seed(&other, support_rng_next(&rng));
		}
		forge_chosen(&secret, hash, s);
		ck_assert_uint_eq(hash_bytes(&secret, s, sizeof(s)), hash);
		ck_assert_uint_ne(hash_bytes(&other, s, sizeof(s)), hash);
	}
}
END_TEST

START_TEST(forged_strings_have_in_common_what_they_should)
{
	static const uint64_t equal[FLOODS] = {UINT64_MAX, UINT64_C(0xFFFFFF0000FFFFFF),
					       UINT64_C(0xFFFF000000FFFFFF),
					       UINT64_C(0xFFFF000000000000)};
	struct secret secret;
	struct flood_string first;
	uint64_t differ = 0, different = 0;

	secret_from_seed(&secret, support_seed());
	first = flood_make(&secret, (enum flood)_i, 0);
	for (uint64_t i = 1; i < 60000; i++) {
		struct flood_string s = flood_make(&secret, (enum flood)_i, i);

		differ |= flood_hash(&secret, &s) ^ flood_hash(&secret, &first);
		different += memcmp(s.data, first.data, s.len) != 0;
	}
	ck_assert_uint_eq(differ & equal[_i], 0);
	ck_assert(_i == SAME_HASH || differ >> 24 != 0);
	ck_assert_uint_eq(different, 59999);
}
END_TEST

/* ---------------------------------------------------------------- floods */

/*
 * FAULTS 17. Each of the 12 x 64 strings before the re-key looks at 32 buckets on average, each one
 * after it at one or two; and each table is filled once.
 */
START_TEST(work_for_a_flood_is_that_for_honest_strings_and_a_little)
{
	cistern *c = unit_interner(16, 0);
	const struct secret secret = c->common.secret;
	uint64_t n = support_scaled(100000), most = 2 * n + 12 * REKEY_LIMIT * REKEY_LIMIT;
	uint64_t work = 0, filled = 0, tables = 0;
	struct flood_string first = flood_make(&secret, (enum flood)_i, 0);
	uint32_t shard = flood_shard(c, &first);
	uintptr_t word, before;

	unit_table(c, shard, &before);
	for (uint64_t i = 0; i < n; i++) {
		struct flood_string s = flood_make(&secret, (enum flood)_i, i);

		work += reach_ahead(c, shard, &s);
		ck_assert(work <=
			  most); /* here: without the re-key it would take minutes to get on */
		ck_assert(cistern_intern(c, s.data, s.len));
		unit_table(c, shard, &word);
		tables += word != before;
		filled += word != before ? i : 0;
		before = word;
	}
	ck_assert_uint_eq(figures(c).strings, n);
	ck_assert_uint_eq(c->shards[shard].strings, n);
	ck_assert_uint_eq(figures(c).rekeys, _i != SAME_SHARD);
	ck_assert_uint_le(figures(c).max_probe, REKEY_LIMIT);
	ck_assert_uint_le(tables, 32);
	ck_assert_uint_le(filled, 3 * n);
	reach_check_normal(c, shard);
	flood_check_found(c, &secret, (enum flood)_i, n);
	unit_check_accounts(c);
	cistern_destroy(c);
}
END_TEST

/* In a table with room it is the very string that would go beyond 64 buckets. */
START_TEST(rekey_comes_with_the_first_string_beyond_the_limit)
{
	for (int kind = SAME_HASH; kind <= SAME_BUCKET; kind++) {
		cistern *c = unit_interner(1, 0);
		const struct secret secret = c->common.secret;

		ck_assert_int_eq(cistern_reserve(c, (size_t)1000 << _i), 0);
		for (uint64_t i = 0; i <= BUCKET_SLOTS * REKEY_LIMIT; i++) {
			struct flood_string s = flood_make(&secret, (enum flood)kind, i);

			ck_assert_uint_eq(figures(c).rekeys, 0);
			ck_assert_uint_eq(reach_ahead(c, 0, &s), i / BUCKET_SLOTS + 1);
			ck_assert(cistern_intern(c, s.data, s.len));
			ck_assert_uint_le(figures(c).max_probe, REKEY_LIMIT);
		}
		ck_assert_uint_eq(figures(c).rekeys, 1);
		ck_assert_uint_eq(figures(c).max_probe, REKEY_LIMIT);
		reach_check_normal(c, 0);
		flood_check_found(c, &secret, (enum flood)kind, BUCKET_SLOTS * REKEY_LIMIT + 1);
		cistern_destroy(c);
	}
}
END_TEST

START_TEST(every_interning_call_meets_a_flood)
{
	for (int kind = SAME_HASH; kind <= SAME_BUCKET; kind++) {
		cistern *c = unit_interner(4, 0);
		const struct secret secret = c->common.secret;

		for (uint64_t i = 0; i < 2000; i++) {
			struct flood_string s = flood_make(&secret, (enum flood)kind, i);
			const char *str = way_intern(c, (enum way)_i, s.data, s.len, NULL);

			ck_assert(str && str == way_intern(c, (enum way)_i, s.data, s.len, NULL));
			ck_assert(str ==
				  cistern_find_hashed(c, s.data, s.len, flood_hash(&secret, &s)));
		}
		ck_assert_uint_eq(figures(c).rekeys, 1);
		ck_assert_uint_eq(figures(c).strings, 2000);
		ck_assert_uint_le(figures(c).max_probe, REKEY_LIMIT);
		flood_check_found(c, &secret, (enum flood)kind, 2000);
		unit_check_accounts(c);
		cistern_destroy(c);
	}
}
END_TEST

/* A whole batch that collides, and one in which every other string is of another shard. */
START_TEST(a_batch_may_be_a_flood)
{
	enum { N = 3000 };
	static struct flood_string strings[N];
	static cistern_span in[N];
	static const char *out[N], *again[N];

	for (int kind = SAME_HASH; kind <= SAME_BUCKET; kind++) {
		cistern *c = unit_interner(4, 0);
		const struct secret secret = c->common.secret;

		for (uint64_t i = 0; i < N; i++) {
			strings[i] =
			    flood_make(&secret, _i && i % 2 ? SAME_SHARD : (enum flood)kind, i);
			if (_i && i % 2) /* any shard */
				memcpy(strings[i].data, &i, sizeof(i));
			in[i] = (cistern_span){strings[i].data, strings[i].len};
		}
		ck_assert_uint_eq(cistern_intern_batch(c, in, out, N), N);
		ck_assert_uint_eq(figures(c).rekeys, 1);
		ck_assert_uint_eq(figures(c).strings, N);
		ck_assert_uint_eq(cistern_find_batch(c, in, again, N), N);
		ck_assert_mem_eq(out, again, sizeof(out));
		for (size_t i = 0; i < N; i++)
			ck_assert(memcmp(out[i], strings[i].data, strings[i].len) == 0);
		cistern_destroy(c);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("hostile");

	support_add(s, any_hash_can_be_had_for_who_knows_the_secret);
	cases_add_loop(s, forged_strings_have_in_common_what_they_should, FLOODS);
	cases_add_loop(s, work_for_a_flood_is_that_for_honest_strings_and_a_little, FLOODS);
	cases_add_loop(s, rekey_comes_with_the_first_string_beyond_the_limit, 6);
	cases_add_loop(s, every_interning_call_meets_a_flood, WAYS);
	cases_add_loop(s, a_batch_may_be_a_flood, 2);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "hostile", make);
}
