/* SPDX-License-Identifier: MIT */
/*
 * shard.c - tests of lib/shard.c through interners whose hash secret is known: floods of colliding strings, re-keying
 * and what may fail in it, strings that are copied before the lock is taken, groups.
 */
#include "forge.h"
#include "unit.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Interns forged strings from .. to - 1. */
static void flood(cistern *c, const struct secret *secret, uint64_t from, uint64_t to)
{
	char s[FORGED];

	for (uint64_t i = from; i < to; i++) {
		forge(secret, i, s);
		if (!cistern_intern(c, s, FORGED))
			ck_abort_msg("string %llu: errno %d", (unsigned long long)i, errno);
	}
}

static void check_found(const cistern *c, const struct secret *secret, uint64_t from, uint64_t to)
{
	char s[FORGED];

	for (uint64_t i = from; i < to; i++) {
		const char *str;

		forge(secret, i, s);
		str = cistern_find(c, s, FORGED);
		if (!str || cistern_len(str) != FORGED || memcmp(str, s, FORGED) != 0)
			ck_abort_msg("string %llu is lost", (unsigned long long)i);
	}
	forge(secret, UINT64_MAX, s);
	ck_assert_ptr_null(cistern_find(c, s, FORGED));
}

static unsigned flooded_shard(const cistern *c)
{
	char s[FORGED];

	forge(&c->common.secret, 0, s);
	return hash_shard(hash_bytes(&c->common.secret, s, FORGED)) & c->common.shard_mask;
}

/* The secret that the flooded shard uses now; false when it is the interner's. */
static bool own_secret(const cistern *c, struct secret *secret)
{
	uintptr_t word;
	struct table table = unit_table(c, flooded_shard(c), &word);

	if (!(word & DIRECTORY_OWN_SECRET))
		return false;
	*secret = *shard_own_secret(&table);
	return true;
}

START_TEST(strings_forged_with_the_secret_collide)
{
	struct secret secret, other;
	char s[FORGED];
	uint64_t hash;
	size_t same = 0;

	secret_from_seed(&secret, support_seed());
	secret_from_seed(&other, support_seed() + 1);
	forge(&secret, 0, s);
	hash = hash_bytes(&secret, s, FORGED);
	for (uint64_t i = 1; i < 1000; i++) {
		uint64_t elsewhere = hash_bytes(&other, s, FORGED);

		forge(&secret, i, s);
		ck_assert_uint_eq(hash_bytes(&secret, s, FORGED), hash);
		same += hash_bytes(&other, s, FORGED) == elsewhere;
	}
	ck_assert_uint_eq(same, 0);
}
END_TEST

START_TEST(a_flood_is_answered_by_a_new_secret)
{
	uint64_t n = support_scaled(100000);
	uint32_t shards = _i ? 16 : 1;
	cistern *c = unit_interner(shards, 0);
	const struct secret secret = c->common.secret;
	struct secret own;
	cistern_stats s;

	flood(c, &secret, 0, n);
	s = figures(c);
	ck_assert_uint_eq(s.strings, n);
	ck_assert_uint_ge(s.rekeys, 1);
	ck_assert_uint_le(s.rekeys, s.growths + 1); /* once a size at most */
	ck_assert_uint_le(s.max_probe, 64);
	ck_assert(own_secret(c, &own));
	ck_assert_int_ne(memcmp(&own, &secret, sizeof own), 0);
	check_found(c, &secret, 0, n);
	flood(c, &secret, 0, n); /* hits */
	ck_assert_uint_eq(figures(c).strings, n);
	unit_check_accounts(c);
	cistern_destroy(c);
}
END_TEST

START_TEST(other_shards_keep_the_common_secret)
{
	cistern *c = unit_interner(16, 0);
	const struct secret secret = c->common.secret;
	unsigned flooded = flooded_shard(c);

	for (uint32_t i = 0; i < 2000; i++)
		ck_assert(cistern_intern(c, (const char *)&i, sizeof i));
	flood(c, &secret, 0, 3000);
	for (uint32_t i = 0; i < 16; i++) {
		uintptr_t word;

		unit_table(c, i, &word);
		ck_assert_int_eq((word & DIRECTORY_OWN_SECRET) != 0, i == flooded);
	}
	for (uint32_t i = 0; i < 2000; i++)
		ck_assert(cistern_find(c, (const char *)&i, sizeof i));
	cistern_destroy(c);
}
END_TEST

/* An interner of one shard that has been re-keyed: 2,000 forged strings. */
static cistern *open_rekeyed(struct secret *secret)
{
	cistern *c = unit_interner(1, 0);
	struct secret own;

	*secret = c->common.secret;
	flood(c, secret, 0, 2000);
	ck_assert(own_secret(c, &own));
	return c;
}

START_TEST(hashed_calls_go_on_working_after_a_rekey)
{
	struct secret secret;
	cistern *c = open_rekeyed(&secret);
	char s[FORGED];

	for (uint64_t i = 0; i < 4000; i++) {
		uint64_t hash;
		const char *str;

		forge(&secret, i, s);
		hash = cistern_hash(c, s, FORGED);
		ck_assert_uint_eq(hash, hash_bytes(&secret, s, FORGED));
		str = cistern_find_hashed(c, s, FORGED, hash);
		ck_assert_int_eq(str != NULL, i < 2000);
		ck_assert(!str || str == cistern_find(c, s, FORGED));
		str = cistern_intern_hashed(c, s, FORGED, hash);
		ck_assert_ptr_nonnull(str);
		ck_assert_ptr_eq(str, cistern_intern(c, s, FORGED));
	}
	ck_assert_uint_eq(figures(c).strings, 4000);
	cistern_destroy(c);
}
END_TEST

START_TEST(batches_meet_a_flood_and_go_on_working_after_it)
{
	enum { N = 5000 };
	static char bytes[N][FORGED];
	static cistern_span in[N];
	static const char *out[N], *again[N];
	cistern *c = unit_interner(4, 0);

	for (uint64_t i = 0; i < N; i++) {
		forge(&c->common.secret, i, bytes[i]);
		in[i] = (cistern_span){bytes[i], FORGED};
	}
	ck_assert_uint_eq(cistern_find_batch(c, in, out, N), 0);
	ck_assert_uint_eq(cistern_intern_batch(c, in, out, N), N);
	ck_assert_uint_ge(figures(c).rekeys, 1);
	ck_assert_uint_eq(figures(c).strings, N);
	ck_assert_uint_eq(cistern_find_batch(c, in, again, N), N);
	ck_assert_int_eq(memcmp(out, again, sizeof out), 0);
	ck_assert_uint_eq(cistern_intern_batch(c, in, again, N), N);
	ck_assert_int_eq(memcmp(out, again, sizeof out), 0);
	for (size_t i = 0; i < N; i++)
		ck_assert(memcmp(out[i], bytes[i], FORGED) == 0 && out[i] == cistern_find(c, bytes[i], FORGED));
	cistern_destroy(c);
}
END_TEST

START_TEST(ids_and_ownership_are_right_after_a_rekey)
{
	struct secret secret;
	cistern *c = open_rekeyed(&secret);
	char s[FORGED];

	for (uint64_t i = 0; i < 2000; i++) {
		const char *str;
		cistern_id id;

		forge(&secret, i, s);
		str = cistern_find(c, s, FORGED);
		id = cistern_id_of(c, str);
		ck_assert_ptr_eq(cistern_str(c, id), str);
		ck_assert(cistern_id_valid(c, id));
		ck_assert(!cistern_id_valid(c, id + 1)); /* within its bytes */
		ck_assert(cistern_owns(c, str));
		ck_assert(!cistern_owns(c, str + 1));
		ck_assert(!cistern_owns(c, str + 4));
		ck_assert(!cistern_owns(c, s));
	}
	cistern_destroy(c);
}
END_TEST

START_TEST(pieces_and_large_strings_meet_a_rekeyed_table)
{
	struct secret secret;
	cistern *c = open_rekeyed(&secret);
	char *large = malloc(20000);
	const char *first[100];

	memset(large, 'l', 20000);
	for (size_t i = 0; i < 100; i++) {
		size_t len = 4090 + i * 100;
		cistern_span parts[] = {{large, 2000}, {NULL, 0}, {large + 2000, len - 2000}};

		first[i] = cistern_internv(c, parts, 3);
		ck_assert_ptr_nonnull(first[i]);
		ck_assert_ptr_eq(cistern_intern(c, large, len), first[i]);
		ck_assert_ptr_eq(cistern_internv(c, parts, 3), first[i]);
		ck_assert_ptr_eq(cistern_find(c, large, len), first[i]);
		ck_assert(cistern_owns(c, first[i]));
		ck_assert_int_eq(memcmp(first[i], large, len), 0);
	}
	ck_assert_uint_eq(figures(c).strings, 2100);
	unit_check_accounts(c);
	free(large);
	cistern_destroy(c);
}
END_TEST

START_TEST(growth_keeps_the_own_secret)
{
	struct secret secret, own, later;
	cistern *c = open_rekeyed(&secret);
	uint64_t growths = figures(c).growths;
	uintptr_t word;
	struct table first = unit_table(c, flooded_shard(c), &word);

	ck_assert(own_secret(c, &own));
	flood(c, &secret, 2000, 30000);
	ck_assert_uint_ge(figures(c).growths, growths + 3);
	ck_assert_uint_eq(figures(c).rekeys, 1);
	ck_assert(own_secret(c, &later));
	ck_assert_int_eq(memcmp(&own, &later, sizeof own), 0);
	ck_assert_int_eq(cistern_reserve(c, 100000), 0);
	ck_assert(own_secret(c, &later));
	ck_assert_int_eq(memcmp(&own, &later, sizeof own), 0);
	check_found(c, &secret, 0, 30000);
	/* the secret in front of each retired table is retired with it, and only whole pages are emptied */
	unit_check_accounts(c);
	ck_assert_uint_eq(figures(c).emptied_bytes % c->common.tables.page, 0);
	/* a reader may still be hashing with it, and what it reads there is no atomic */
	ck_assert_int_eq(memcmp(shard_own_secret(&first), &own, sizeof own), 0);
	cistern_destroy(c);
}
END_TEST

START_TEST(a_second_flood_waits_for_the_next_doubling)
{
	cistern *c = unit_interner(1, 0);
	struct secret own, third;
	uint64_t n, growths;

	ck_assert_int_eq(cistern_reserve(c, 20000), 0);
	flood(c, &c->common.secret, 0, 1000);
	ck_assert_uint_eq(figures(c).rekeys, 1);
	ck_assert(own_secret(c, &own));

	/* whoever reads the fresh secret too gets long probes, counted and bounded, until the table doubles */
	flood(c, &own, 0, 2000);
	ck_assert_uint_eq(figures(c).rekeys, 1);
	ck_assert_uint_gt(figures(c).max_probe, 64);
	ck_assert_uint_le(figures(c).max_probe, 3000 / 12 + 2);
	growths = figures(c).growths;
	for (n = 0; figures(c).growths == growths; n++)
		ck_assert(cistern_intern(c, (const char *)&n, sizeof n));
	ck_assert_uint_eq(figures(c).rekeys, 1);
	flood(c, &own, 2000, 2001);
	ck_assert_uint_eq(figures(c).rekeys, 2);
	ck_assert(own_secret(c, &third));
	ck_assert_int_ne(memcmp(&own, &third, sizeof own), 0);

	check_found(c, &own, 0, 2001);
	check_found(c, &c->common.secret, 0, 1000);
	while (n-- > 0)
		ck_assert(cistern_find(c, (const char *)&n, sizeof n));
	unit_check_accounts(c);
	cistern_destroy(c);
}
END_TEST

/* What may fail in a re-key: no random bytes, no memory, no budget. */
static void fail_rekey(cistern *c, int how, bool fail)
{
	switch (how) {
	case 0:
		if (fail)
			unit_random_fails();
		else
			unit_random_works();
		break;
	case 1:
		if (fail)
			unit_commits_fail(&c->common.tables);
		else
			unit_commits_work();
		break;
	default:
		c->budget.limit = fail ? atomic_load(&c->budget.committed) : UINT64_MAX;
		break;
	}
}

START_TEST(a_rekey_that_fails_keeps_the_old_table)
{
	cistern *c = unit_interner(1, 0);
	const struct secret secret = c->common.secret;
	uintptr_t before, after;
	struct secret own;

	ck_assert_int_eq(cistern_reserve(c, 1300), 0);
	flood(c, &secret, 0, 760);
	unit_table(c, 0, &before);
	unit_use_up(&c->common.tables);
	unit_provide(&c->common.strings, 1 << 20); /* so that only the re-key fails */
	fail_rekey(c, _i, true);
	flood(c, &secret, 760, 1200);
	fail_rekey(c, _i, false);
	unit_table(c, 0, &after);
	ck_assert_uint_eq(after, before);
	ck_assert_uint_eq(figures(c).rekeys, 0);
	ck_assert_uint_gt(figures(c).max_probe, 64);
	check_found(c, &secret, 0, 1200);

	/* it is tried again once the table has doubled */
	flood(c, &secret, 1200, 3000);
	ck_assert_uint_eq(figures(c).rekeys, 1);
	ck_assert(own_secret(c, &own));
	check_found(c, &secret, 0, 3000);
	cistern_destroy(c);
}
END_TEST

struct flood_race {
	cistern *c;
	struct secret secret;
	const char *sentinel[512];
	_Atomic uint64_t interned;
	uint64_t most;
};

static uint64_t sentinel_bytes(uint64_t i)
{
	return i * UINT64_C(0x9e3779b97f4a7c15) + 1;
}

/* Worker 0 floods, with single calls and batches; the others look for what is there, in all ways there are. */
static void flood_and_find(support_worker *worker)
{
	struct flood_race *race = worker->arg;

	while (worker->index == 0 && race->interned < race->most) {
		char bytes[16][FORGED];
		cistern_span in[16];
		const char *out[16];

		for (uint64_t i = 0; i < 16; i++) {
			forge(&race->secret, race->interned + i, bytes[i]);
			in[i] = (cistern_span){bytes[i], FORGED};
		}
		if (race->interned / 16 % 2) {
			if (!support_expect(worker, cistern_intern_batch(race->c, in, out, 16) == 16))
				return;
		} else {
			for (int i = 0; i < 16; i++)
				if (!support_expect(worker, cistern_intern(race->c, bytes[i], FORGED)))
					return;
		}
		race->interned += 16;
	}
	while (worker->index != 0 && !worker->failed) {
		uint64_t interned = race->interned;
		char s[FORGED];

		for (int i = 0; i < 64; i++) {
			uint64_t k = support_rng_below(&worker->rng, 512), bytes = sentinel_bytes(k);
			cistern_span in = {(const char *)&bytes, 8};
			const char *out;

			support_expect(worker, cistern_find(race->c, in.data, 8) == race->sentinel[k]);
			support_expect(worker, cistern_find_batch(race->c, &in, &out, 1) == 1 &&
			                           out == race->sentinel[k]);
			if (i % 8 == 0)
				support_expect(worker, cistern_owns(race->c, race->sentinel[k]));
			if (interned) {
				forge(&race->secret, i < 8 ? interned - 1 : support_rng_below(&worker->rng, interned), s);
				support_expect(worker, cistern_find(race->c, s, FORGED) != NULL);
				support_expect(worker, cistern_intern(race->c, s, FORGED) != NULL);
			}
		}
		if (interned >= race->most)
			return;
	}
}

START_TEST(no_string_is_lost_while_threads_look_during_a_rekey)
{
	for (size_t round = 0; round < support_scaled(10); round++) {
		struct flood_race race = {.c = unit_interner(1, 0), .most = 3200};

		race.secret = race.c->common.secret;
		for (uint64_t i = 0; i < 512; i++) {
			uint64_t bytes = sentinel_bytes(i);

			race.sentinel[i] = cistern_intern(race.c, (const char *)&bytes, 8);
		}
		support_run(3, flood_and_find, &race);
		ck_assert_uint_ge(figures(race.c).rekeys, 1);
		ck_assert_uint_eq(figures(race.c).strings, 512 + race.most);
		check_found(race.c, &race.secret, 0, race.most);
		cistern_destroy(race.c);
	}
}
END_TEST

START_TEST(strings_of_one_shard_fill_that_shard)
{
	cistern *c = unit_interner(64, 0);
	cistern_shard_stats s = {.size = sizeof s};
	uint64_t found = 0;

	for (uint64_t i = 0; found < 1000; i++) {
		if ((hash_shard(hash_bytes(&c->common.secret, (const char *)&i, 8)) & 63) != 17)
			continue;
		ck_assert(cistern_intern(c, (const char *)&i, 8));
		found++;
	}
	ck_assert_int_eq(cistern_shard_stats_get(c, 17, &s), 0);
	ck_assert_uint_eq(s.strings, 1000);
	ck_assert_uint_eq(figures(c).strings, 1000);
	ck_assert_uint_eq(figures(c).rekeys, 0);
	ck_assert_uint_le(s.max_probe, 30);
	cistern_destroy(c);
}
END_TEST

START_TEST(strings_with_equal_low_bits_are_all_found)
{
	cistern *c = unit_interner(1, 0);
	uint64_t n = support_scaled(3000), found = 0, last = 0;

	for (uint64_t i = 0; found < n; i++) {
		if (hash_bucket(hash_bytes(&c->common.secret, (const char *)&i, 8)) & 0x3FF)
			continue;
		ck_assert(cistern_intern(c, (const char *)&i, 8));
		found++;
		last = i;
	}
	for (uint64_t i = 0; i <= last; i++)
		if (!(hash_bucket(hash_bytes(&c->common.secret, (const char *)&i, 8)) & 0x3FF))
			found -= cistern_find(c, (const char *)&i, 8) != NULL;
	ck_assert_uint_eq(found, 0);
	ck_assert_uint_le(figures(c).max_probe, 64);
	cistern_destroy(c);
}
END_TEST

START_TEST(plain_numbers_probe_little)
{
	cistern *c = unit_interner(1, 0);
	size_t n = support_scaled(1000000);
	char text[24];

	for (size_t i = 0; i < n; i++)
		ck_assert(cistern_intern(c, text, (size_t)sprintf(text, "%zu", i)));
	ck_assert_uint_eq(figures(c).strings, n);
	ck_assert_uint_eq(figures(c).rekeys, 0);
	ck_assert_uint_le(figures(c).max_probe, 40);
	unit_check_accounts(c);
	cistern_destroy(c);
}
END_TEST

/* The first look of a hit meets the longer string under its own tag, in its own bucket. */
START_TEST(a_prefix_with_the_same_tag_is_another_string)
{
	char longer[140];

	memset(longer, 'p', sizeof longer);
	for (size_t len = 1; len <= 130; len++) {
		cistern *c = unit_interner(1, 0);
		uint64_t hash = cistern_hash(c, longer, len);
		const char *str;
		uint64_t n = 0;

		do {
			memcpy(longer + len, &n, sizeof n);
			n++;
		} while (hash_tag(cistern_hash(c, longer, len + sizeof n)) != hash_tag(hash));
		str = cistern_intern(c, longer, len + sizeof n);
		ck_assert_ptr_nonnull(str);
		ck_assert_ptr_null(cistern_find(c, longer, len));
		ck_assert_ptr_ne(cistern_intern(c, longer, len), str);
		ck_assert_uint_eq(figures(c).strings, 2);
		memset(longer, 'p', sizeof longer);
		cistern_destroy(c);
	}
}
END_TEST

/* ---------------------------------------------------------------- copied before the lock is taken */

static struct shard_key key_of(const cistern *c, const char *s, size_t len)
{
	uint64_t hash = hash_bytes(&c->common.secret, s, len);

	return (struct shard_key){
	    .wanted = {.s = s, .len = len, .header = entry_header(len, hash_byte(hash))}, .hash = hash};
}

START_TEST(a_large_copy_that_was_not_needed_goes_back)
{
	cistern *c = unit_interner(1, 0);
	static char s[10000];
	struct shard_key key;
	size_t used;

	memset(s, 's', sizeof s);
	key = key_of(c, s, sizeof s);
	ck_assert(shard_intern(&c->shards[0], &c->common, &key));
	ck_assert(key.is_new);
	used = c->common.strings.used;
	for (int i = 0; i < 10; i++) {
		struct shard_key again = key_of(c, s, sizeof s);

		ck_assert(shard_intern(&c->shards[0], &c->common, &again));
		ck_assert(!again.is_new);
		ck_assert_ptr_eq(again.str, key.str);
		ck_assert_uint_eq(c->common.strings.returned_bytes,
		                  slab_single_size(&c->common.layout, sizeof s));
	}
	ck_assert_uint_eq(c->common.strings.used, used + slab_single_size(&c->common.layout, sizeof s));
	unit_check_accounts(c);
	s[0] = 't'; /* another string takes the copy's place */
	ck_assert(cistern_intern(c, s, sizeof s));
	ck_assert_uint_eq(c->common.strings.returned_bytes, 0);
	unit_check_accounts(c);
	cistern_destroy(c);
}
END_TEST

struct copying {
	cistern *c;
	char *s;
	_Atomic bool over;
};

enum { COPIED = 200000 };

/* Worker 0 forks; the others copy all the time, without any lock, what then turns out not to be needed. */
static void fork_while_others_copy(support_worker *worker)
{
	struct copying *copying = worker->arg;
	cistern *c = copying->c;

	while (worker->index != 0 && !copying->over) {
		struct shard_key key = key_of(c, copying->s, COPIED);

		support_expect(worker, shard_intern(&c->shards[0], &c->common, &key) && !key.is_new);
	}
	for (size_t i = 0; worker->index == 0 && i < support_scaled(200); i++) {
		pid_t child = fork();
		int status = 0;

		if (child == 0) {
			cistern_stats s = {.size = sizeof s};

			if (!cistern_intern_cstr(c, "the child's") || cistern_stats_get(c, &s) != 0)
				_exit(1);
			_exit(s.committed_bytes != s.payload_bytes + s.overhead_bytes + s.slack_bytes +
			                               s.table_bytes + s.retired_bytes + s.free_bytes +
			                               s.control_bytes);
		}
		if (!support_expect(worker, waitpid(child, &status, 0) == child && status == 0))
			break;
	}
	if (worker->index == 0)
		copying->over = true;
}

START_TEST(the_figures_of_a_child_add_up_whatever_its_parent_was_copying)
{
	struct copying copying = {.c = unit_interner(1, 0), .s = calloc(1, COPIED)};

	ck_assert(cistern_intern(copying.c, copying.s, COPIED));
	support_run(3, fork_while_others_copy, &copying);
	unit_check_accounts(copying.c);
	cistern_destroy(copying.c);
	free(copying.s);
}
END_TEST

START_TEST(a_large_string_whose_table_cannot_be_made_goes_back)
{
	cistern *c = unit_interner(1, 0);
	static char s[10000];

	/* the first table needs memory that the control block does not leave */
	unit_use_up(&c->common.tables);
	unit_commits_fail(&c->common.tables);
	errno = 0;
	ck_assert_ptr_null(cistern_intern(c, s, sizeof s));
	ck_assert_int_eq(errno, ENOMEM);
	ck_assert_ptr_null(cistern_intern(c, "small", 5));
	ck_assert_int_eq(errno, ENOMEM);
	ck_assert_ptr_null(cistern_find(c, s, sizeof s));
	ck_assert_uint_eq(figures(c).strings, 0);
	ck_assert_uint_eq(figures(c).slabs, 0);
	ck_assert_uint_eq(c->common.strings.returned_bytes, slab_single_size(&c->common.layout, sizeof s));
	unit_commits_work();
	ck_assert(cistern_intern(c, s, sizeof s));
	ck_assert(cistern_intern(c, "small", 5));
	ck_assert_uint_eq(c->common.strings.returned_bytes, 0);
	cistern_destroy(c);
}
END_TEST

struct large_race {
	cistern *c;
	const char *str[4][64];
	_Atomic unsigned fresh;
};

static void intern_large(support_worker *worker)
{
	struct large_race *race = worker->arg;
	char *s = calloc(1, 10240);

	for (unsigned i = 0; i < 64; i++) {
		bool is_new;

		memcpy(s, &i, sizeof i);
		race->str[worker->index][i] = cistern_intern_new(race->c, s, 10240, &is_new);
		if (support_expect(worker, race->str[worker->index][i] != NULL))
			race->fresh += is_new;
		for (uint32_t k = 0; k < 16; k++) { /* so that tables grow meanwhile */
			uint32_t small[2] = {i * 16 + k, worker->index};

			support_expect(worker, cistern_intern(race->c, (const char *)small, 8) != NULL);
		}
	}
	free(s);
}

START_TEST(threads_racing_for_large_strings_get_one_pointer)
{
	struct large_race race = {.c = unit_interner(1, 0)};
	char *s = calloc(1, 10240);

	support_run(4, intern_large, &race);
	ck_assert_uint_eq(race.fresh, 64);
	ck_assert_uint_eq(figures(race.c).strings, 64 + 4 * 64 * 16);
	for (unsigned i = 0; i < 64; i++) {
		memcpy(s, &i, sizeof i);
		for (unsigned t = 0; t < 4; t++)
			ck_assert_ptr_eq(race.str[t][i], cistern_find(race.c, s, 10240));
		ck_assert_int_eq(memcmp(race.str[0][i], s, 10240), 0);
	}
	unit_check_accounts(race.c);
	free(s);
	cistern_destroy(race.c);
}
END_TEST

/* ---------------------------------------------------------------- groups */

START_TEST(a_group_takes_small_large_and_repeated_strings)
{
	enum { N = 40 };
	cistern *c = unit_interner(1, 0);
	static char text[N][5000];
	struct shard_key keys[N];
	struct shard_key *group[N];

	for (unsigned i = 0; i < N; i++) {
		unsigned which = i % 10 == 9 ? i - 5 : i; /* repeats one before it */

		memset(text[i], 'a' + (int)(which % 26), sizeof text[i]);
		keys[i] = key_of(c, text[i], which % 4 == 3 ? 5000 : 10 + which);
		group[i] = &keys[i];
	}
	ck_assert_uint_eq(shard_intern_group(&c->shards[0], &c->common, group, N), N);
	for (unsigned i = 0; i < N; i++) {
		ck_assert_int_eq(keys[i].is_new, i % 10 != 9);
		ck_assert_ptr_eq(keys[i].str, cistern_find(c, text[i], keys[i].wanted.len));
		if (i % 10 == 9)
			ck_assert_ptr_eq(keys[i].str, keys[i - 5].str);
	}
	unit_check_accounts(c);
	cistern_destroy(c);
}
END_TEST

START_TEST(a_group_stops_at_the_first_failure)
{
	enum { N = 32 };
	static const size_t lens[] = {100, 5000};
	static char text[N][5000];

	for (size_t kind = 0; kind < 2; kind++) {
		cistern *c = unit_interner(1, 0);
		struct shard_key keys[N];
		struct shard_key *group[N];
		size_t done;

		for (unsigned i = 0; i < N; i++) {
			memset(text[i], 'A' + (int)i, sizeof text[i]);
			keys[i] = key_of(c, text[i], lens[kind]);
			group[i] = &keys[i];
		}
		ck_assert(cistern_intern(c, "", 0)); /* the table is there */
		unit_provide(&c->common.strings, kind ? 16384 : 1024);
		unit_use_up(&c->common.strings);
		c->budget.limit = atomic_load(&c->budget.committed);
		errno = 0;
		done = shard_intern_group(&c->shards[0], &c->common, group, N);
		ck_assert_uint_gt(done, 0);
		ck_assert_uint_lt(done, N);
		ck_assert_int_eq(errno, ENOSPC);
		for (unsigned i = 0; i < N; i++)
			ck_assert_int_eq(cistern_find(c, text[i], lens[kind]) != NULL, i < done);
		ck_assert_uint_eq(figures(c).strings, done + 1);
		unit_check_accounts(c);
		c->budget.limit = UINT64_MAX;
		ck_assert_uint_eq(shard_intern_group(&c->shards[0], &c->common, group, N), N);
		cistern_destroy(c);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("shard");
	TCase *floods = tcase_create("a_flood_is_answered_by_a_new_secret");
	TCase *failures = tcase_create("a_rekey_that_fails_keeps_the_old_table");

	support_add(s, strings_forged_with_the_secret_collide);
	tcase_set_timeout(floods, 60);
	tcase_add_loop_test(floods, a_flood_is_answered_by_a_new_secret, 0, 2); /* one shard, sixteen */
	suite_add_tcase(s, floods);
	support_add(s, other_shards_keep_the_common_secret);
	support_add(s, hashed_calls_go_on_working_after_a_rekey);
	support_add(s, batches_meet_a_flood_and_go_on_working_after_it);
	support_add(s, ids_and_ownership_are_right_after_a_rekey);
	support_add(s, pieces_and_large_strings_meet_a_rekeyed_table);
	support_add(s, growth_keeps_the_own_secret);
	support_add(s, a_second_flood_waits_for_the_next_doubling);
	tcase_set_timeout(failures, 60);
	tcase_add_loop_test(failures, a_rekey_that_fails_keeps_the_old_table, 0, 3); /* see fail_rekey */
	suite_add_tcase(s, failures);
	support_add(s, no_string_is_lost_while_threads_look_during_a_rekey);
	support_add(s, strings_of_one_shard_fill_that_shard);
	support_add(s, strings_with_equal_low_bits_are_all_found);
	support_add(s, plain_numbers_probe_little);
	support_add(s, a_prefix_with_the_same_tag_is_another_string);
	support_add(s, a_large_copy_that_was_not_needed_goes_back);
	support_add(s, the_figures_of_a_child_add_up_whatever_its_parent_was_copying);
	support_add(s, a_large_string_whose_table_cannot_be_made_goes_back);
	support_add(s, threads_racing_for_large_strings_get_one_pointer);
	support_add(s, a_group_takes_small_large_and_repeated_strings);
	support_add(s, a_group_stops_at_the_first_failure);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "shard", make);
}
