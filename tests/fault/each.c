/* SPDX-License-Identifier: MIT */
/*
 * each.c - the n-th call to the system fails, for n = 1, 2, ... until a pass in which nothing is
 * left to fail: once, a few times in a row, and for good. Over the script of operations (script.c)
 * and its configurations; after each failure everything of G6 is checked (check.c). FAULTS 1 to 5,
 * 7, 22.
 *
 * Compiled with EACH_LONG it is the part of it for make check-long: more failures in a row, and more
 * patterns of failures.
 *
 * Under sanitizers, or with a smaller TEST_SCALE, only every so many-th n is tried, from a random
 * one on.
 */
#include "script.h"

#include "cases.h"
#include "faults.h"
#include "support.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* So many calls fail in a row: what is refused once is mostly asked for again in another way. */
#ifdef EACH_LONG
static const uint64_t rows[] = {1, 2, 3, 4, 5, 6, 8, 12, 20};
enum { PATTERNS = 1500 };
#else
static const uint64_t rows[] = {1, 5};
enum { PATTERNS = 10 };
#endif

/* Acts that failed so far in this test, by step: whether the driver reaches anything. */
static unsigned refusals[32];

/* The first of the calls that are made to fail; the others follow by strides. */
static uint64_t first_call(void)
{
	support_rng rng = support_rng_start(0);

	return support_rng_below(&rng, support_stride());
}

/*
 * Asserts that the driver has met a refusal in each of these steps. Only where every call was
 * tried, and under the configuration that asks for the most.
 */
static void refused_in(int config, const char *steps)
{
	for (size_t step = 0; step < script_nsteps; step++)
		if (config == 1 && support_stride() == 1 && strstr(steps, script_steps[step].name))
			ck_assert_msg(refusals[step] > 0, "no refusal in step %s",
				      script_steps[step].name);
}

static void begin(void)
{
	memset(refusals, 0, sizeof refusals);
	bystander_begin();
}

/* Whether the interner's limits may be the reason, or those of the smaller range that came out. */
static bool by_limits(const struct script *s, int error, uint64_t refused_memory)
{
	if (!s->c) /* capacity was too much for what came out */
		return error == ENOSPC && s->config.capacity && refused_memory > 0;
	return (error == ENOSPC || error == E2BIG) && script_limited(s);
}

/*
 * Acts once. 0, or the errno of the call of the library that failed, which is then for a reason
 * that we know of.
 */
static int act(struct script *s, size_t step)
{
	uint64_t memory = faults_failed(FAULTS_MEMORY), random = faults_failed(FAULTS_RANDOM);
	int error;

	errno = 0;
	if (script_steps[step].act(s)) {
		s->refused = NULL;
		return 0;
	}
	error = errno;
	memory = faults_failed(FAULTS_MEMORY) - memory;
	random = faults_failed(FAULTS_RANDOM) - random;
	if (!(error == ENOMEM && memory > 0) && !(error == EIO && random > 0) &&
	    !by_limits(s, error, memory))
		ck_abort_msg("step %s: errno %d (%s)", script_steps[step].name, error,
			     strerror(error));
	refusals[step] += error == ENOMEM || error == EIO;
	bystander_visit(s); /* first, since checking takes locks, too */
	script_check(s);
	return error;
}

/* Acts until the step is done, or no more is possible under the interner's own limits. */
static void act_through(struct script *s, size_t step, uint64_t failures)
{
	uint64_t tries = 0;
	int error;

	while ((error = act(s, step)) != 0 && (error == ENOMEM || error == EIO || !s->c))
		ck_assert_uint_le(++tries, failures);
	s->at = 0;
	s->refused = NULL;
}

/* ---------------------------------------------------------------- for a while */

/* A pass in which some calls fail and then no more. Returns how many failed. */
static uint64_t pass_and_recover(int config, const struct fault_plan *plan)
{
	uint64_t failed = faults_failed(FAULTS_ALL);
	struct script s;

	script_open(&s, config);
	faults_plan(plan);
	for (size_t step = 0; step < script_nsteps; step++) {
		act_through(&s, step, plan->times);
		script_check_accounts(s.c);
	}
	script_check(&s);
	bystander_visit(&s);
	script_close(&s);
	return faults_failed(FAULTS_ALL) - failed;
}

START_TEST(what_failed_can_be_repeated)
{
	begin();
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fault_plan plan = {
		    .kinds = FAULTS_ALL, .after = first_call(), .times = rows[i]};

		while (pass_and_recover(_i, &plan) > 0)
			plan.after += support_stride();
		ck_assert_uint_ge(plan.after, 10);
	}
	bystander_end();
	refused_in(_i, "create names long pieces batch reserve");
}
END_TEST

/* Not in a row, but anywhere: failures in the midst of getting over other ones. */
START_TEST(failures_at_random_can_be_repeated)
{
	begin();
	for (size_t i = 0; i < support_scaled(PATTERNS); i++) {
		support_rng rng = support_rng_start(i);
		const struct fault_plan plan = {.kinds = FAULTS_ALL,
						.times = FAULTS_FOR_GOOD,
						.chance = 1u << (1 + support_rng_below(&rng, 7)),
						.seed = support_rng_next(&rng)};

		pass_and_recover(_i, &plan);
	}
	bystander_end();
}
END_TEST

/* ---------------------------------------------------------------- for good */

/*
 * A pass in which calls fail for good from some on. Each step is tried a few times, then left where
 * it is; hits go on. When the system gives again, all that was left is done. Returns how many calls
 * failed.
 */
static uint64_t pass_without(int config, const struct fault_plan *plan,
			     void (*narrow)(struct fault_plan *plan, const cistern *c))
{
	uint64_t failed = faults_failed(FAULTS_ALL);
	struct fault_plan narrowed = *plan;
	size_t left[32] = {0};
	bool undone[32] = {false};
	struct script s;

	script_open(&s, config);
	if (narrow) {
		act_through(&s, 0, 0);
		narrow(&narrowed, s.c);
	}
	faults_plan(&narrowed);
	for (size_t step = narrow ? 1 : 0; step < script_nsteps; step++) {
		undone[step] = true;
		for (int i = 0; i < 3 && undone[step]; i++)
			undone[step] = act(&s, step) != 0;
		left[step] = s.at;
		s.at = 0;
		s.refused = NULL;
		if (!s.c) { /* nothing can be done without it */
			for (step = 0; step < script_nsteps; step++)
				undone[step] = true;
			break;
		}
	}
	script_check(&s);
	faults_plan(NULL);
	for (size_t step = 0; step < script_nsteps; step++)
		if (undone[step]) {
			s.at = left[step];
			act_through(&s, step, 0);
		}
	script_check(&s);
	bystander_visit(&s);
	script_close(&s);
	return faults_failed(FAULTS_ALL) - failed;
}

START_TEST(hits_go_on_without_the_system)
{
	struct fault_plan plan = {
	    .kinds = FAULTS_ALL, .after = first_call(), .times = FAULTS_FOR_GOOD};

	begin();
	while (pass_without(_i, &plan, NULL) > 0)
		plan.after += support_stride();
	bystander_end();
	refused_in(_i, "create names long pieces batch reserve flood more");
}
END_TEST

static void narrow_to(struct fault_plan *plan, const struct range *range)
{
	plan->from = (uintptr_t)range->base;
	plan->to = (uintptr_t)range->base + range->capacity;
}

static void narrow_to_tables(struct fault_plan *plan, const cistern *c)
{
	narrow_to(plan, &c->common.tables);
}

static void narrow_to_strings(struct fault_plan *plan, const cistern *c)
{
	narrow_to(plan, &c->common.strings);
}

/* FAULTS 3. */
START_TEST(only_tables_get_no_memory)
{
	struct fault_plan plan = {
	    .kinds = FAULTS_ALL, .after = first_call(), .times = FAULTS_FOR_GOOD};

	begin();
	while (pass_without(_i, &plan, narrow_to_tables) > 0)
		plan.after += support_stride();
	bystander_end();
	refused_in(_i, "names reserve flood more");
}
END_TEST

START_TEST(only_strings_get_no_memory)
{
	struct fault_plan plan = {
	    .kinds = FAULTS_ALL, .after = first_call(), .times = FAULTS_FOR_GOOD};

	begin();
	while (pass_without(_i, &plan, narrow_to_strings) > 0)
		plan.after += support_stride();
	bystander_end();
	refused_in(_i, "names long pieces batch flood more");
}
END_TEST

/* FAULTS 7: what is only a hint may be refused in whatever way, and nobody sees it. */
START_TEST(hints_that_are_refused_change_nothing)
{
	static const int errors[] = {EINVAL, ENOSYS, ENOMEM, EAGAIN, EPERM};

	begin();
	for (size_t i = 0; i < COUNT(errors); i++) {
		struct fault_plan plan = {
		    .kinds = FAULTS_HINTS, .times = FAULTS_FOR_GOOD, .error = errors[i]};

		ck_assert_uint_gt(pass_without(_i, &plan, NULL), 0);
	}
	for (size_t step = 0; step < script_nsteps; step++)
		ck_assert_uint_eq(refusals[step], 0);
	bystander_end();
}
END_TEST

/*
 * FAULTS 22 and 37: without random bytes none is made, and what is made goes on with the secret
 * that it has.
 */
START_TEST(random_bytes_run_out)
{
	struct fault_plan plan = {.kinds = FAULTS_RANDOM, .times = FAULTS_FOR_GOOD};
	uint64_t failed;

	begin();
	do {
		failed = pass_without(_i, &plan, NULL);
		if (plan.after == 0)
			ck_assert_uint_eq(refusals[0], 3);
		plan.after++;
	} while (failed > 0);
	ck_assert_uint_eq(refusals[0], 3);
	bystander_end();
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("each");

	cases_add_loop(s, what_failed_can_be_repeated, SCRIPT_CONFIGS);
	cases_add_loop(s, failures_at_random_can_be_repeated, SCRIPT_CONFIGS);
	cases_add_loop(s, hits_go_on_without_the_system, SCRIPT_CONFIGS);
	cases_add_loop(s, only_tables_get_no_memory, SCRIPT_CONFIGS);
	cases_add_loop(s, only_strings_get_no_memory, SCRIPT_CONFIGS);
	cases_add_loop(s, hints_that_are_refused_change_nothing, SCRIPT_CONFIGS);
	cases_add_loop(s, random_bytes_run_out, SCRIPT_CONFIGS);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "each", make);
}
