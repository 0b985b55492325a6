/* SPDX-License-Identifier: MIT */
/*
 * random.c - FAULTS 37: whatever the system does when it is asked for random bytes, a secret is
 * random through and through, or no interner is made.
 */
#include "faults.h"
#include "forge.h"
#include "interner.h"
#include "support.h"

#include <errno.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define WORDS (sizeof(struct secret) / sizeof(uint64_t))

enum { SECRETS = 12 };

/* Secrets that were drawn under various plans, and where each came from. */
static struct secret secrets[SECRETS * 32];
static size_t nsecrets;

static cistern *make_one(void)
{
	cistern_config config = CISTERN_CONFIG_INIT;

	config.shards = 1;
	config.max_bytes = UINT64_C(1) << 28;
	return cistern_create(&config);
}

static int compare_words(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(uint64_t));
}

/*
 * No eight bytes of any secret are those of another place or another secret, nor zeros: for n words
 * the odds that an honest draw does that are n^2 / 2^65, here less than one in 10^12.
 */
static void secrets_are_random(void)
{
	static uint64_t words[COUNT(secrets) * WORDS];
	static const uint64_t zeros;
	size_t n = nsecrets * WORDS;

	memcpy(words, secrets, n * sizeof *words);
	qsort(words, n, sizeof *words, compare_words);
	for (size_t i = 0; i < n; i++) {
		ck_assert_uint_ne(words[i], zeros);
		if (i > 0)
			ck_assert_uint_ne(words[i], words[i - 1]);
	}
}

static void note_secret(const struct secret *secret)
{
	ck_assert_uint_lt(nsecrets, COUNT(secrets));
	secrets[nsecrets++] = *secret;
}

/*
 * Makes interners under a plan that leaves a source; short_answers: of so many calls every other
 * one is interrupted.
 */
static void make_some(const struct fault_plan *plan, unsigned short_answers)
{
	for (size_t i = 0; i < SECRETS; i++) {
		cistern *c;

		faults_plan(plan);
		faults.random_short = short_answers;
		c = make_one();
		faults_plan(NULL);
		faults.random_short = 0;
		ck_assert_ptr_nonnull(c);
		note_secret(&c->common.secret);
		cistern_destroy(c);
	}
}

/* Under this plan there is no source. */
static void make_none(const struct fault_plan *plan, unsigned short_answers)
{
	uint64_t mappings = faults.mappings;
	cistern *c;

	faults_plan(plan);
	faults.random_short = short_answers;
	errno = 0;
	c = make_one();
	faults_plan(NULL);
	faults.random_short = 0;
	ck_assert_ptr_null(c);
	ck_assert_int_eq(errno, EIO);
	ck_assert_uint_eq(faults.mappings, mappings);
}

START_TEST(a_call_that_answers_in_pieces_gives_a_whole_secret)
{
	static const unsigned pieces[] = {1, 2, 3, 20, 100, 192, 383, 384};

	for (size_t i = 0; i < COUNT(pieces); i++)
		make_some(NULL, pieces[i]);
	secrets_are_random();
}
END_TEST

#ifdef HAVE_GETRANDOM
/* However much the call gave before it failed, the device gives the rest. */
START_TEST(the_device_takes_over_where_the_call_fails)
{
	static const int errors[] = {ENOSYS, EPERM, EAGAIN, EIO, FAULTS_NO_BYTES};
	static const uint64_t pieces[] = {1, 50, 191};
	struct fault_plan plan = {.kinds = FAULT_BIT(RANDOM), .times = FAULTS_FOR_GOOD};

	for (size_t i = 0; i < COUNT(errors); i++) {
		plan.error = errors[i];
		make_some(&plan, 0);
		make_some(&plan, 384); /* the device in pieces, too */
	}
	for (size_t i = 0; i < COUNT(pieces); i++) {
		plan.after = pieces[i] * 2;
		make_some(&plan, (unsigned)pieces[i] * 2);
	}
	secrets_are_random();
}
END_TEST

START_TEST(without_any_source_none_is_made)
{
	static const int of_device[] = {ENOENT, EMFILE, ENFILE, EACCES};
	static const int of_reading[] = {EIO, EAGAIN, FAULTS_NO_BYTES};
	struct fault_plan plan = {.times = FAULTS_FOR_GOOD};

	for (size_t i = 0; i < COUNT(of_device); i++) {
		plan.kinds = FAULT_BIT(RANDOM) | FAULT_BIT(DEVICE);
		plan.error = of_device[i];
		make_none(&plan, 0);
		plan.after = 40; /* after 20 bytes */
		make_none(&plan, 40);
		plan.after = 0;
	}
	for (size_t i = 0; i < COUNT(of_reading); i++) {
		plan.kinds = FAULT_BIT(RANDOM) | FAULT_BIT(READ);
		plan.error = of_reading[i];
		make_none(&plan, 0);
		plan.after = 40;
		make_none(&plan, 40);
		plan.after = 0;
	}
	make_some(NULL, 0);
}
END_TEST

/* As many strings of one hash as make the table draw a secret of its own. */
static void flood(cistern *c)
{
	const struct secret secret = c->common.secret;
	char s[FORGED];

	ck_assert_int_eq(cistern_reserve(c, 2000), 0);
	for (uint64_t i = 0; i < 850; i++) {
		forge(&secret, i, s);
		ck_assert_ptr_nonnull(cistern_intern(c, s, FORGED));
	}
}

START_TEST(the_secret_of_a_table_comes_from_the_same_sources)
{
	struct fault_plan plan = {.kinds = FAULT_BIT(RANDOM), .times = FAULTS_FOR_GOOD};

	for (size_t i = 0; i < 4 * SECRETS; i++) {
		cistern *c = make_one();
		uintptr_t word;
		struct table table;

		faults_plan(i % 2 ? &plan : NULL);
		faults.random_short = i % 4 / 2 ? 384 : 0;
		flood(c);
		faults_plan(NULL);
		faults.random_short = 0;
		word = atomic_load(&c->common.directory[0]);
		ck_assert(word & DIRECTORY_OWN_SECRET);
		table = shard_table(&c->common, word);
		note_secret(&c->common.secret);
		note_secret(shard_own_secret(&table));
		cistern_destroy(c);
	}
	secrets_are_random();
}
END_TEST

START_TEST(without_any_source_a_table_keeps_the_secret_that_it_has)
{
	const struct fault_plan plan = {.kinds = FAULTS_RANDOM, .times = FAULTS_FOR_GOOD};
	cistern *c = make_one();
	uint64_t failed = faults_failed(FAULTS_RANDOM);

	faults_plan(&plan);
	flood(c);
	faults_plan(NULL);
	ck_assert_uint_gt(faults_failed(FAULTS_RANDOM), failed);
	ck_assert_uint_eq(atomic_load(&c->common.directory[0]) & DIRECTORY_OWN_SECRET, 0);
	cistern_destroy(c);
}
END_TEST
#endif

static Suite *make(void)
{
	Suite *s = suite_create("random");

	support_add(s, a_call_that_answers_in_pieces_gives_a_whole_secret);
#ifdef HAVE_GETRANDOM
	support_add(s, the_device_takes_over_where_the_call_fails);
	support_add(s, without_any_source_none_is_made);
	support_add(s, the_secret_of_a_table_comes_from_the_same_sources);
	support_add(s, without_any_source_a_table_keeps_the_secret_that_it_has);
#endif
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "random", make);
}
