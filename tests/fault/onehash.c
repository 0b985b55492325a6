/* SPDX-License-Identifier: MIT */
/*
 * onehash.c - an interner whose hash is no help: constant, or equal in the bits that pick shard,
 * bucket, tag, header byte or filter, whatever the secret. No re-key can mend that, so probes are
 * long, but all is right, every call ends, and strings are hashed no oftener than others are.
 *
 * The library is compiled once more with a header of its own in xxHash's place: onehash/xxhash.h.
 */
#include "../unit/unit.h"
#include "cases.h"
#include "ways.h"
#include "words.h"

#include <stdlib.h>

/* ---------------------------------------------------------------- the hash */

static struct {
	uint64_t keep,
	    set; /* what is kept of an honest hash, and what is put in place of the rest */
	_Atomic uint64_t hashed; /* strings so far */
} seam;

/* FNV-1a, begun with the secret. */
void XXH3_64bits_reset_withSecret(XXH3_state_t *state, const void *secret, size_t secret_size)
{
	(void)secret_size;
	memcpy(&state->hash, secret, sizeof(state->hash));
}

void XXH3_64bits_update(XXH3_state_t *state, const void *data, size_t len)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < len; i++)
		state->hash = (state->hash ^ bytes[i]) * UINT64_C(0x100000001b3);
}

uint64_t XXH3_64bits_digest(const XXH3_state_t *state)
{
	support_rng rng = {state->hash};

	atomic_fetch_add_explicit(&seam.hashed, 1, memory_order_relaxed);
	return (support_rng_next(&rng) & seam.keep) | (seam.set & ~seam.keep);
}

uint64_t XXH3_64bits_withSecret(const void *data, size_t len, const void *secret,
				size_t secret_size)
{
	XXH3_state_t state;

	XXH3_64bits_reset_withSecret(&state, secret, secret_size);
	XXH3_64bits_update(&state, data, len);
	return XXH3_64bits_digest(&state);
}

/* What is left of the hash in each case. */
static const struct {
	uint64_t keep;
	uint32_t shards;
	bool
	    chained; /* all strings of a shard begin in few buckets, so that some probes are long */
} masks[] = {
    {0, 16, true},                             /* constant */
    {UINT64_C(0x0000000000000003), 16, true},  /* four hashes */
    {UINT64_C(0xFFFFFFFF00000000), 1, true},   /* equal bucket bits */
    {UINT64_C(0xFFFFFFFFFFF00000), 1, true},   /* as many of them as tables here have */
    {UINT64_C(0xFFFF00FF00000000), 1, true},   /* equal bucket bits and tags */
    {UINT64_C(0x0000FFFFFFFFFFFF), 16, false}, /* equal shard bits */
    {UINT64_C(0xFFFF00FFFFFFFFFF), 1, false},  /* equal tags */
    {UINT64_C(0xFFFFFF00FFFFFFFF), 1, false},  /* equal header bytes and filter bits */
    {UINT64_C(0xFFFF0000FFFFFFFF), 16, false}, /* both */
    {UINT64_MAX, 16, false},
};
enum { MASKS = sizeof(masks) / sizeof(masks[0]) };

static const uint64_t settings[] = {UINT64_C(0x123456789abcdef0), 0, UINT64_MAX};

/* ---------------------------------------------------------------- an interner beside a set */

static cistern *open_interner(uint32_t shards)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	cistern *c;

	config.shards = shards;
	config.max_bytes = UINT64_C(1) << 28;
	config.hugepages = CISTERN_HUGEPAGES_NEVER;
	config.value_size = 8;
	c = cistern_create(&config);
	ck_assert_ptr_nonnull(c);
	return c;
}

/* The i-th string: of several lengths, so that not all headers are equal. */
static size_t make_string(char data[256], uint64_t i)
{
	size_t len = 8 + i % 5 * 40;

	memset(data, 'n', len);
	memcpy(data, &i, sizeof(i));
	return len;
}

static int count_visit(const char *str, size_t len, void *arg)
{
	uint64_t number, *sum = arg;

	ck_assert(cistern_len(str) == len);
	memcpy(&number, str, sizeof(number));
	*sum += number + 1;
	return 0;
}

static void check_all(const cistern *c, const char *const *strings, uint64_t n)
{
	static cistern_span in[128];
	static const char *out[128];
	static char data[128][256];
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++) {
		size_t len = make_string(data[i % 128], i);
		cistern_id id = cistern_id_of(c, strings[i]);

		in[i % 128] = (cistern_span){data[i % 128], len};
		ck_assert(memcmp(strings[i], data[i % 128], len) == 0 &&
			  cistern_len(strings[i]) == len);
		ck_assert(cistern_find(c, data[i % 128], len) == strings[i]);
		ck_assert(cistern_value(c, strings[i]) == i);
		ck_assert(cistern_id_valid(c, id) && !cistern_id_valid(c, id + 1));
		ck_assert(cistern_owns(c, strings[i]) && !cistern_owns(c, strings[i] + 1));
		if (i % 128 == 127) {
			ck_assert(cistern_find_batch(c, in, out, 128) == 128);
			ck_assert(memcmp(out, strings + i - 127, sizeof(out)) == 0);
		}
	}
	for (uint64_t i = n; i < n + 100; i++) { /* and these are not there */
		size_t len = make_string(data[0], i);

		ck_assert(!cistern_find(c, data[0], len));
	}
	ck_assert_int_eq(cistern_foreach(c, count_visit, &sum), 0);
	ck_assert_uint_eq(sum, n * (n + 1) / 2);
}

/* FAULTS 18 and 19, PEERS 22. */
START_TEST(strings_are_told_apart_whatever_of_the_hash_is_equal)
{
	const uint64_t n = support_scaled(100) >= 100 ? 4096 : 2048;
	const char **strings = calloc(n, sizeof(*strings));

	seam.keep = masks[_i].keep;
	for (size_t k = 0; k < sizeof(settings) / sizeof(settings[0]); k++) {
		cistern *c;
		cistern_stats s;

		seam.set = settings[k];
		c = open_interner(masks[_i].shards);
		seam.hashed = 0;
		for (uint64_t i = 0; i < n; i++) {
			char data[256];
			size_t len = make_string(data, i);

			ck_assert(!cistern_find(c, data, len));
			strings[i] = way_intern(c, i % WAYS, data, len, NULL);
			ck_assert(strings[i] &&
				  strings[i] == way_intern(c, (i + 1) % WAYS, data, len, NULL));
			cistern_set_value(c, strings[i], i);
		}
		s = figures(c);
		ck_assert_uint_eq(s.strings, n);
		/* a hash or two for each of the three calls, one for the new secret; each table is
		 * filled once */
		ck_assert_uint_le(seam.hashed, 14 * n);
		ck_assert_uint_le(s.rekeys, s.growths + s.shards);
		ck_assert_int_eq(s.rekeys > 0, masks[_i].chained);
		ck_assert_int_eq(s.max_probe > 64, masks[_i].chained);
		ck_assert_uint_le(s.max_probe, n / BUCKET_SLOTS + 2);
		check_all(c, strings, n);
		unit_check_accounts(c);
		cistern_destroy(c);
	}
	free(strings);
}
END_TEST

/* ---------------------------------------------------------------- threads */

struct race {
	cistern *c;
	uint64_t n;
	const char **strings[3];
};

static void intern_all(support_worker *worker)
{
	struct race *race = worker->arg;

	for (uint64_t i = 0; i < race->n; i++) {
		uint64_t number = worker->index == 1 ? race->n - 1 - i : i;
		char data[256];
		size_t len = make_string(data, number);

		race->strings[worker->index][number] =
		    way_intern(race->c, (i + worker->index) % WAYS, data, len, NULL);
		if (!support_expect(worker, cistern_find(race->c, data, len) ==
						race->strings[worker->index][number]))
			return;
	}
}

START_TEST(threads_get_one_pointer_a_string_under_a_constant_hash)
{
	struct race race = {.n = support_scaled(1500)};

	seam.keep = 0;
	seam.set = settings[0];
	race.c = open_interner(4);
	for (int i = 0; i < 3; i++)
		ck_assert_ptr_nonnull(race.strings[i] = calloc(race.n, sizeof(char *)));
	support_run(3, intern_all, &race);
	ck_assert_uint_eq(figures(race.c).strings, race.n);
	for (uint64_t i = 0; i < race.n; i++)
		ck_assert(race.strings[0][i] == race.strings[1][i] &&
			  race.strings[1][i] == race.strings[2][i]);
	for (int i = 0; i < 3; i++)
		free(race.strings[i]);
	cistern_destroy(race.c);
}
END_TEST

/* How many strings were hashed since the last time. */
static uint64_t newly_hashed(void)
{
	return atomic_exchange(&seam.hashed, 0);
}

/* Short ones, those that are copied before the lock, and between. */
START_TEST(a_call_hashes_each_of_its_strings_once)
{
	static const size_t lengths[] = {0, 1, 40, 128, 129, 4095, 5000};
	static char data[2][5000];
	cistern *c;

	seam.keep = UINT64_MAX;
	c = open_interner(4);
	ck_assert_int_eq(cistern_reserve(c, 1000), 0); /* growing hashes anew what is there */
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		size_t len = lengths[i];
		cistern_span in[2] = {{data[0], len}, {data[1], len}};
		const char *out[2], *str;
		uint64_t hash;

		random_bytes(&(support_rng){i}, data[0], len);
		random_bytes(&(support_rng){~i}, data[1], len);
		newly_hashed();
		ck_assert_ptr_null(cistern_find(c, data[0], len));
		ck_assert_uint_eq(newly_hashed(), 1);
		str = cistern_intern(c, data[0], len);
		ck_assert_uint_eq(newly_hashed(), 1);
		ck_assert_ptr_eq(cistern_intern(c, data[0], len), str);
		ck_assert_uint_eq(newly_hashed(), 1);
		ck_assert_ptr_eq(cistern_find(c, data[0], len), str);
		ck_assert_uint_eq(newly_hashed(), 1);
		ck_assert_ptr_eq(cistern_internv(c, in, 1), str);
		ck_assert_uint_eq(newly_hashed(), 1);
		ck_assert_ptr_nonnull(cistern_internv(c, in, 2)); /* a new one */
		ck_assert_uint_eq(newly_hashed(), 1);
		ck_assert_uint_eq(cistern_intern_batch(c, in, out, 2), 2); /* one of each */
		ck_assert_uint_eq(newly_hashed(), 2);
		ck_assert_uint_eq(cistern_find_batch(c, in, out, 2), 2);
		ck_assert_uint_eq(newly_hashed(), 2);
		ck_assert(cistern_owns(c, str));
		ck_assert_uint_eq(newly_hashed(), 1);
		/* and not at all what comes with its hash */
		hash = cistern_hash(c, data[0], len);
		ck_assert_uint_eq(newly_hashed(), 1);
		ck_assert_ptr_eq(cistern_find_hashed(c, data[0], len, hash), str);
		ck_assert_ptr_eq(cistern_intern_hashed(c, data[0], len, hash), str);
		data[0][0] ^= 1;
		if (len > 0) {
			hash = cistern_hash(c, data[0], len);
			newly_hashed();
			ck_assert_ptr_nonnull(cistern_intern_hashed(c, data[0], len, hash));
		}
		ck_assert_uint_eq(newly_hashed(), 0);
	}
	ck_assert_uint_eq(figures(c).growths, 0);
	cistern_destroy(c);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("onehash");

	cases_add_loop(s, strings_are_told_apart_whatever_of_the_hash_is_equal, MASKS);
	support_add(s, a_call_hashes_each_of_its_strings_once);
	support_add_slow(s, threads_get_one_pointer_a_string_under_a_constant_hash, 120);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "onehash", make);
}
