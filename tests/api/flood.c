/* SPDX-License-Identifier: MIT */
/*
 * flood.c - G8 from outside: keys as programs have them stay close to their place in the table and
 * spread over the shards, and honest keys never force a re-key. Forged collisions need the secret:
 * tests/unit.
 */
#include "cases.h"
#include "figures.h"
#include "support.h"
#include "words.h"

#include <cistern.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The longest probe seen in simulation was 24 at 7/8 load and 2^20 buckets; a re-key comes
 * behind 64. */
enum { LONGEST = 40 };

static cistern *create(uint32_t shards, uint64_t seed)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	cistern *c;

	config.shards = shards;
	config.seed = seed;
	c = cistern_create(&config);
	if (!c)
		ck_abort_msg("cistern_create: %s", strerror(errno));
	return c;
}

/* The i-th key of a family; returns its length. */
static size_t make_key(int family, size_t i, char *data)
{
	uint64_t number = i;
	size_t len;

	switch (family) {
	case 0: /* decimal numbers */
		return (size_t)snprintf(data, 64, "%zu", i);
	case 1: /* identifiers that differ at the end */
		return (size_t)snprintf(data, 64, "some_common_prefix_of_names_%zu", i);
	case 2: /* and at the beginning */
		return (size_t)snprintf(data, 64, "%zu_some_common_suffix_of_names", i);
	case 3: /* small integers as bytes */
		memcpy(data, &number, 8);
		return 8;
	case 4: /* pointers: multiples of 64 */
		number = UINT64_C(0x7f0000000000) + i * 64;
		memcpy(data, &number, 8);
		return 8;
	case 5: /* high halves only */
		number = (uint64_t)i << 40;
		memcpy(data, &number, 8);
		return 8;
	case 6: /* long and nearly equal: one byte of 200 */
		memset(data, 'n', 200);
		len = (size_t)snprintf(data + 90, 20, "%zu", i);
		data[90 + len] = 'n';
		return 200;
	default: /* zeros and a counter in odd places */
		memset(data, 0, 40);
		memcpy(data + i % 29, &number, 8);
		data[39] = (char)(i % 29);
		return 40;
	}
}

enum { FAMILIES = 8 };

START_TEST(ordinary_keys_have_short_probes)
{
	static const uint64_t seeds[] = {CISTERN_SEED_RANDOM, 0, 1};
	size_t many = support_scaled(120000), i, s;

	for (s = 0; s < sizeof(seeds) / sizeof(seeds[0]); s++) {
		cistern *c = create(1, seeds[s]);
		cistern_stats stats;

		for (i = 0; i < many; i++) {
			char data[256];
			size_t len = make_key(_i, i, data);

			ck_assert_ptr_nonnull(cistern_intern(c, data, len));
		}
		stats = figures(c);
		ck_assert_uint_eq(stats.strings, many);
		ck_assert_msg(stats.max_probe <= LONGEST, "probe of %llu buckets",
			      (unsigned long long)stats.max_probe);
		ck_assert_uint_eq(stats.rekeys, 0);
		cistern_destroy(c);
	}
}
END_TEST

/* Each shard gets its part, within six standard deviations of what chance gives. */
START_TEST(ordinary_keys_spread_over_the_shards)
{
	enum { SHARDS = 16 };
	cistern *c = create(SHARDS, CISTERN_SEED_RANDOM);
	size_t many = support_scaled(100000), i;
	double mean, deviation;
	unsigned shard;

	for (i = 0; i < many; i++) {
		char data[256];
		size_t len = make_key(_i, i, data);

		ck_assert_ptr_nonnull(cistern_intern(c, data, len));
	}
	mean = (double)many / SHARDS;
	deviation = sqrt(mean * (1 - 1.0 / SHARDS));
	for (shard = 0; shard < SHARDS; shard++) {
		cistern_shard_stats stats = {.size = sizeof(stats)};

		ck_assert_int_eq(cistern_shard_stats_get(c, shard, &stats), 0);
		ck_assert_msg(fabs((double)stats.strings - mean) <= 6 * deviation,
			      "shard %u has %llu of %zu strings", shard,
			      (unsigned long long)stats.strings, many);
	}
	cistern_destroy(c);
}
END_TEST

START_TEST(the_first_million_numbers_have_short_probes)
{
	size_t many = support_scaled(1000000), i;
	cistern *c = create(0, CISTERN_SEED_RANDOM);
	cistern_stats stats;

	for (i = 0; i < many; i++) {
		char data[32];

		ck_assert_ptr_nonnull(
		    cistern_intern(c, data, (size_t)snprintf(data, sizeof(data), "%zu", i)));
	}
	stats = figures(c);
	ck_assert_uint_eq(stats.strings, many);
	ck_assert_uint_le(stats.max_probe, LONGEST);
	ck_assert_uint_eq(stats.rekeys, 0);
	cistern_destroy(c);
}
END_TEST

/*
 * A table is at its fullest just before it grows. Growing from nothing passes through full load at
 * every size, and reserve gives tables that are filled to just below their limit.
 */
START_TEST(honest_keys_at_full_load_need_no_rekey)
{
	support_rng rng = support_rng_start(0);
	size_t round;

	for (round = 0; round < support_scaled(30); round++) {
		cistern *c = create(1, CISTERN_SEED_RANDOM);
		cistern_stats stats;
		uint64_t growths, fullest = 0;

		ck_assert_int_eq(cistern_reserve(c, (size_t)1 << (4 + round % 12)), 0);
		growths = figures(c).growths;
		do {
			char data[24];

			random_bytes(&rng, data, sizeof(data));
			ck_assert_ptr_nonnull(cistern_intern(c, data, sizeof(data)));
			stats = figures(c);
			if (stats.growths == growths)
				fullest = stats.strings * 1000 / stats.slots;
		} while (stats.growths == growths);
		ck_assert_uint_ge(fullest, 800);
		ck_assert_uint_eq(stats.rekeys, 0);
		ck_assert_uint_le(stats.max_probe, LONGEST);
		cistern_destroy(c);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("flood");

	cases_add_loop(s, ordinary_keys_have_short_probes, FAMILIES);
	cases_add_loop(s, ordinary_keys_spread_over_the_shards, FAMILIES);
	support_add(s, the_first_million_numbers_have_short_probes);
	support_add(s, honest_keys_at_full_load_need_no_rekey);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "flood", make);
}
