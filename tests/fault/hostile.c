/* SPDX-License-Identifier: MIT */
/*
 * hostile.c - G8 from inside: strings that are forged under an interner's secret, by all calls
 * there are, at all table sizes, with readers at work; and honest ones, which must not be taken for
 * them. Nothing is timed: what is counted is buckets looked at, strings hashed again, and re-keys.
 *
 * The simple floods, what may fail in a re-key, and ids and pieces after one are in
 * tests/unit/shard.c.
 */
#include "../unit/unit.h"
#include "cases.h"
#include "forge.h"

#include <errno.h>
#include <stdlib.h>

/* A table is re-keyed by the first string that would go beyond so many buckets. */
enum { LIMIT = 64 };

/* ---------------------------------------------------------------- forging */

/* What the strings of a flood have in common. */
enum kind {
	SAME_HASH,
	SAME_BUCKET_AND_TAG, /* but not the header's hash byte, nor its filter bit */
	SAME_BUCKET,         /* and nothing else */
	SAME_SHARD,          /* that alone: an honest set in one shard */
	KINDS
};

struct string {
	char data[FORGED];
	size_t len;
};

static uint64_t mixed(uint64_t number)
{
	support_rng rng = {number};

	return support_rng_next(&rng);
}

/* The number-th string of a kind. Buckets are told apart by up to 24 low bits. */
static struct string forged(const struct secret *secret, enum kind kind, uint64_t number)
{
	const uint64_t shard = UINT64_C(0x1234) << 48, tag = UINT64_C(0x56) << 40;
	struct string s = {.len = FORGED_CHOSEN};

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

static uint64_t hash_of(const struct secret *secret, const struct string *s)
{
	return hash_bytes(secret, s->data, s->len);
}

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
	static const uint64_t equal[KINDS] = {UINT64_MAX, UINT64_C(0xFFFFFF0000FFFFFF),
					      UINT64_C(0xFFFF000000FFFFFF),
					      UINT64_C(0xFFFF000000000000)};
	struct secret secret;
	struct string first;
	uint64_t differ = 0, different = 0;

	secret_from_seed(&secret, support_seed());
	first = forged(&secret, (enum kind)_i, 0);
	for (uint64_t i = 1; i < 60000; i++) {
		struct string s = forged(&secret, (enum kind)_i, i);

		differ |= hash_of(&secret, &s) ^ hash_of(&secret, &first);
		different += memcmp(s.data, first.data, s.len) != 0;
	}
	ck_assert_uint_eq(differ & equal[_i], 0);
	ck_assert(_i == SAME_HASH || differ >> 24 != 0);
	ck_assert_uint_eq(different, 59999);
}
END_TEST

/* ---------------------------------------------------------------- counting */

/* Buckets that finding each string of a shard looks at; pairs within a bucket, and those with one
 * tag. */
struct reach {
	uint64_t strings, buckets, longest;
	uint64_t pairs, alike;
};

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

static struct reach reach_of(const cistern *c, uint32_t shard)
{
	uintptr_t word;
	struct table table = unit_table(c, shard, &word);
	const struct secret *secret =
	    word & DIRECTORY_OWN_SECRET ? shard_own_secret(&table) : &c->common.secret;
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

/*
 * As honest strings lie: 1.5 buckets at most on average, and none over 30; of two strings in one
 * bucket about one in 255 has the tag of the other.
 */
static void check_normal(const cistern *c, uint32_t shard)
{
	struct reach reach = reach_of(c, shard);

	ck_assert_uint_le(reach.buckets * 2, reach.strings * 3);
	ck_assert_uint_le(reach.longest, 30);
	ck_assert_uint_le(reach.alike, reach.pairs / 128 + 50);
}

/* Buckets that inserting the string will look at, in the table of now. */
static uint32_t buckets_ahead(const cistern *c, uint32_t shard, const struct string *s)
{
	uintptr_t word;
	struct table table = unit_table(c, shard, &word);
	const struct secret *secret =
	    word & DIRECTORY_OWN_SECRET ? shard_own_secret(&table) : &c->common.secret;

	return table_seek(&table, hash_of(secret, s)).probed;
}

static uint32_t shard_of(const cistern *c, const struct string *s)
{
	return hash_shard(hash_of(&c->common.secret, s)) & c->common.shard_mask;
}

static void must_find_all(const cistern *c, const struct secret *secret, enum kind kind, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		struct string s = forged(secret, kind, i);
		const char *str = cistern_find(c, s.data, s.len);

		if (!str || cistern_len(str) != s.len || memcmp(str, s.data, s.len) != 0)
			ck_abort_msg("string %llu is lost", (unsigned long long)i);
	}
}

/* ---------------------------------------------------------------- floods */

/*
 * FAULTS 17. Each of the 12 x 64 strings before the re-key looks at 32 buckets on average, each one
 * after it at one or two; and each table is filled once.
 */
START_TEST(work_for_a_flood_is_that_for_honest_strings_and_a_little)
{
	cistern *c = unit_interner(16, 0);
	const struct secret secret = c->common.secret;
	uint64_t n = support_scaled(100000), most = 2 * n + 12 * LIMIT * LIMIT;
	uint64_t work = 0, filled = 0, tables = 0;
	struct string first = forged(&secret, (enum kind)_i, 0);
	uint32_t shard = shard_of(c, &first);
	uintptr_t word, before;

	unit_table(c, shard, &before);
	for (uint64_t i = 0; i < n; i++) {
		struct string s = forged(&secret, (enum kind)_i, i);

		work += buckets_ahead(c, shard, &s);
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
	ck_assert_uint_le(figures(c).max_probe, LIMIT);
	ck_assert_uint_le(tables, 32);
	ck_assert_uint_le(filled, 3 * n);
	check_normal(c, shard);
	must_find_all(c, &secret, (enum kind)_i, n);
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
		for (uint64_t i = 0; i <= BUCKET_SLOTS * LIMIT; i++) {
			struct string s = forged(&secret, (enum kind)kind, i);

			ck_assert_uint_eq(figures(c).rekeys, 0);
			ck_assert_uint_eq(buckets_ahead(c, 0, &s), i / BUCKET_SLOTS + 1);
			ck_assert(cistern_intern(c, s.data, s.len));
			ck_assert_uint_le(figures(c).max_probe, LIMIT);
		}
		ck_assert_uint_eq(figures(c).rekeys, 1);
		ck_assert_uint_eq(figures(c).max_probe, LIMIT);
		check_normal(c, 0);
		must_find_all(c, &secret, (enum kind)kind, BUCKET_SLOTS * LIMIT + 1);
		cistern_destroy(c);
	}
}
END_TEST

static const char *intern_by(cistern *c, int how, const struct string *s)
{
	cistern_span whole = {s->data, s->len},
		     halves[2] = {{s->data, 3}, {s->data + 3, s->len - 3}};
	const char *out = NULL;
	cistern_buf buf;

	switch (how) {
	case 0:
		return cistern_intern_new(c, s->data, s->len, NULL);
	case 1:
		return cistern_internv(c, halves, 2);
	case 2:
		return cistern_intern_hashed(c, s->data, s->len, hash_of(&c->common.secret, s));
	case 3:
		cistern_intern_batch(c, &whole, &out, 1);
		return out;
	default:
		cistern_buf_init(&buf);
		cistern_buf_add(&buf, s->data, s->len);
		out = cistern_buf_intern(c, &buf);
		cistern_buf_release(&buf);
		return out;
	}
}

START_TEST(every_interning_call_meets_a_flood)
{
	for (int kind = SAME_HASH; kind <= SAME_BUCKET; kind++) {
		cistern *c = unit_interner(4, 0);
		const struct secret secret = c->common.secret;

		for (uint64_t i = 0; i < 2000; i++) {
			struct string s = forged(&secret, (enum kind)kind, i);
			const char *str = intern_by(c, _i, &s);

			ck_assert(str && str == intern_by(c, _i, &s));
			ck_assert(str ==
				  cistern_find_hashed(c, s.data, s.len, hash_of(&secret, &s)));
		}
		ck_assert_uint_eq(figures(c).rekeys, 1);
		ck_assert_uint_eq(figures(c).strings, 2000);
		ck_assert_uint_le(figures(c).max_probe, LIMIT);
		must_find_all(c, &secret, (enum kind)kind, 2000);
		unit_check_accounts(c);
		cistern_destroy(c);
	}
}
END_TEST

/* A whole batch that collides, and one in which every other string is of another shard. */
START_TEST(a_batch_may_be_a_flood)
{
	enum { N = 3000 };
	static struct string strings[N];
	static cistern_span in[N];
	static const char *out[N], *again[N];

	for (int kind = SAME_HASH; kind <= SAME_BUCKET; kind++) {
		cistern *c = unit_interner(4, 0);
		const struct secret secret = c->common.secret;

		for (uint64_t i = 0; i < N; i++) {
			strings[i] = forged(&secret, _i && i % 2 ? SAME_SHARD : (enum kind)kind, i);
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

/* PEERS 9. What picks the shard picks neither bucket nor tag. */
START_TEST(strings_of_one_shard_are_spread_over_its_buckets)
{
	cistern *c = unit_interner(UINT32_C(1) << 2 * _i, 0);
	const struct secret secret = c->common.secret;
	uint64_t n = support_scaled(50000);
	struct string first = forged(&secret, SAME_SHARD, 0);

	for (uint64_t i = 0; i < n; i++) {
		struct string s = forged(&secret, SAME_SHARD, i);

		ck_assert(cistern_intern(c, s.data, s.len));
	}
	ck_assert_uint_eq(c->shards[shard_of(c, &first)].strings, n);
	ck_assert_uint_eq(figures(c).rekeys, 0);
	check_normal(c, shard_of(c, &first));
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

/* ---------------------------------------------------------------- readers meanwhile */

enum { SENTINELS = 512 };

struct race {
	cistern *c;
	struct string sentinels[SENTINELS];
	uint64_t hashes[SENTINELS];
	const char *strings[SENTINELS];
	_Atomic bool over;
	uint64_t most; /* strings to intern in all */
};

/* The secret that shard 0 uses now: an attacker to whom everything leaks at once. */
static struct secret leaked(const cistern *c)
{
	uintptr_t word;
	struct table table = unit_table(c, 0, &word);

	return word & DIRECTORY_OWN_SECRET ? *shard_own_secret(&table) : c->common.secret;
}

/* Worker 0 floods under each new secret until it is replaced, and then lets the table grow. */
static void flood_each_secret(support_worker *worker)
{
	struct race *race = worker->arg;
	uint64_t n = 0;

	while (n < race->most && !worker->failed) {
		struct secret secret = leaked(race->c);
		uint64_t rekeys = figures(race->c).rekeys, growths;

		for (uint64_t i = 0; figures(race->c).rekeys == rekeys; i++, n++) {
			struct string s =
			    forged(&secret, i % 2 ? SAME_BUCKET_AND_TAG : SAME_BUCKET, i);
			const char *str = cistern_intern(race->c, s.data, s.len);

			if (!support_expect(worker,
					    i <= 2 * BUCKET_SLOTS * LIMIT && str &&
						str == cistern_find(race->c, s.data, s.len)))
				break;
		}
		growths = figures(race->c).growths;
		for (; figures(race->c).growths == growths && !worker->failed; n++)
			support_expect(worker,
				       cistern_intern(race->c, (const char *)&n, sizeof(n)));
	}
	race->over = true;
}

static void look_meanwhile(support_worker *worker)
{
	struct race *race = worker->arg;

	while (!race->over && !worker->failed) {
		cistern_span in[16];
		const char *out[16];
		uint64_t at[16];

		for (int i = 0; i < 16; i++) {
			const struct string *s;

			at[i] = support_rng_below(&worker->rng, SENTINELS);
			s = &race->sentinels[at[i]];
			in[i] = (cistern_span){s->data, s->len};
			support_expect(worker, cistern_find(race->c, s->data, s->len) ==
						   race->strings[at[i]]);
			support_expect(worker, cistern_find_hashed(race->c, s->data, s->len,
								   race->hashes[at[i]]) ==
						   race->strings[at[i]]);
			support_expect(worker, cistern_intern_hashed(race->c, s->data, s->len,
								     race->hashes[at[i]]) ==
						   race->strings[at[i]]);
		}
		support_expect(worker, cistern_find_batch(race->c, in, out, 16) == 16);
		for (int i = 0; i < 16; i++)
			support_expect(worker, out[i] == race->strings[at[i]]);
		support_expect(worker, cistern_intern_batch(race->c, in, out, 16) == 16);
		for (int i = 0; i < 16; i++)
			support_expect(worker, out[i] == race->strings[at[i]]);
	}
}

static void flood_or_look(support_worker *worker)
{
	if (worker->index == 0)
		flood_each_secret(worker);
	else
		look_meanwhile(worker);
}

static void race_once(struct race *race)
{
	race->c = unit_interner(1, 0);
	race->most = support_scaled(100) >= 100 ? 100000 : 20000;
	race->over = false;
	for (uint64_t i = 0; i < SENTINELS; i++) {
		struct string *s = &race->sentinels[i];

		/* half of them collide, so that they lie far from their bucket until the first
		 * re-key */
		*s = forged(&race->c->common.secret, i % 2 ? SAME_BUCKET : SAME_SHARD, i);
		race->hashes[i] = hash_of(&race->c->common.secret, s);
		race->strings[i] = cistern_intern(race->c, s->data, s->len);
		ck_assert(race->strings[i]);
	}
	support_run(3, flood_or_look, race);
	ck_assert_uint_ge(figures(race->c).rekeys, support_scaled(100) >= 100 ? 7 : 4);
	ck_assert_uint_le(figures(race->c).rekeys, figures(race->c).growths + 1);
	for (uint64_t i = 0; i < SENTINELS; i++)
		ck_assert_ptr_eq(
		    cistern_find(race->c, race->sentinels[i].data, race->sentinels[i].len),
		    race->strings[i]);
	unit_check_accounts(race->c);
	cistern_destroy(race->c);
}

/* FAULTS 21. */
START_TEST(readers_lose_nothing_while_a_table_is_rekeyed_at_every_size)
{
	struct race *race = calloc(1, sizeof(*race));

	ck_assert_ptr_nonnull(race);
	for (size_t round = 0; round < support_scaled(8); round++)
		race_once(race);
	free(race);
}
END_TEST

/* ---------------------------------------------------------------- honest strings */

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
		check_normal(c, 0);
		cistern_destroy(c);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("hostile");

	support_add(s, any_hash_can_be_had_for_who_knows_the_secret);
	cases_add_loop(s, forged_strings_have_in_common_what_they_should, KINDS);
	cases_add_loop(s, work_for_a_flood_is_that_for_honest_strings_and_a_little, KINDS);
	cases_add_loop(s, rekey_comes_with_the_first_string_beyond_the_limit, 6);
	cases_add_loop(s, every_interning_call_meets_a_flood, 5);
	cases_add_loop(s, a_batch_may_be_a_flood, 2);
	cases_add_loop(s, strings_of_one_shard_are_spread_over_its_buckets, 5);
	support_add(s, strings_with_extreme_hashes_are_strings_like_others);
	support_add_slow(s, readers_lose_nothing_while_a_table_is_rekeyed_at_every_size, 120);
	support_add_slow(s, honest_strings_at_full_load_are_no_flood, 120);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "hostile", make);
}
