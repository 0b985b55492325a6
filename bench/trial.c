/* SPDX-License-Identifier: MIT */
/*
 * trial.c - verifying and measuring the ways. See trial.h.
 *
 * What is not measured: making an interner, renumbering the names between passes that need new
 * ones, and the first pass of each way, which is the one that is verified.
 */
#include "trial.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "allocations.h"
#include "cli.h"
#include "harness.h"

struct check {
	const struct way *way;
	const struct ways_set *set;
	char *expected;
	size_t seen;
};

static void check_one(void *arg, size_t k, const char *str)
{
	struct check *check = arg;
	size_t len = ways_join(check->set, k, check->expected);
	if (!str)
		cli_fail("%s: name %zu failed: %s", check->way->name, k, strerror(errno));
	if (memcmp(str, check->expected, len + 1) != 0 ||
	    (check->way->part != WAYS_BUILD && cistern_len(str) != len))
		cli_fail("%s: wrong answer: name %zu came out with other bytes", check->way->name,
			 k);
	check->seen++;
}

static void count_one(void *arg, size_t k, const char *str)
{
	uint64_t *good = arg;
	(void)k;
	*good += str != NULL;
}

/* An interner for a way that needs one. */
static cistern *interner_for(const struct way *way, const cistern_config *config)
{
	if (way->part == WAYS_BUILD)
		return NULL;
	cistern *c = cistern_create(config);
	if (!c)
		cli_fail("%s: no interner: %s", way->name, strerror(errno));
	return c;
}

/* Whether the interner, if there is one, holds as many strings as it should. */
static void check_strings(const struct way *way, cistern *c, uint64_t right)
{
	cistern_stats stats = {.size = sizeof stats};
	if (!c)
		return;
	cistern_stats_get(c, &stats);
	if (stats.strings != right)
		cli_fail("%s: wrong answer: %" PRIu64 " strings where %" PRIu64 " are right",
			 way->name, stats.strings, right);
}

bool trial_verify(const struct way *way, struct ways_set *set, const cistern_config *config,
		  struct trial_figures *out)
{
	struct check check = {way, set, harness_pages(set->longest + 1), 0};
	struct allocations first, last;
	ways_renumber(set, 0);
	cistern *c = interner_for(way, config);
	bool counted = allocations_so_far(&first);
	way->run(set, c, check_one, &check);
	allocations_so_far(&last);
	if (check.seen != set->names)
		cli_fail("%s: wrong answer: %zu names where %zu are right", way->name, check.seen,
			 set->names);
	check_strings(way, c, set->names);
	out->allocations = (double)(last.calls - first.calls) / (double)set->names;
	out->allocated = (double)(last.bytes - first.bytes) / (double)set->names;
	cistern_destroy(c);
	harness_pages_free(check.expected, set->longest + 1);
	return counted;
}

void builder_pass(const struct way *way, const struct ways_set *set, cistern *c, uint64_t *good)
{
	uint64_t before = *good;
	way->run(set, c, count_one, good);
	/* What follows the call keeps it from becoming a jump, which would hide this function. */
	if (*good < before)
		cli_fail("%s: wrong answer: names were lost", way->name);
}

/*
 * Nanoseconds a name, in the median of the passes: one that another process interrupted does not
 * count, nor one of the few in which a table grew.
 */
static double measure(const struct way *way, struct ways_set *set, const struct trial *t)
{
	static double times[512];
	cistern *c = interner_for(way, t->config);
	uint64_t least = (uint64_t)t->pass_us * 1000, spent = 0, passes = 0, good = 0;
	size_t kept = 0;
	ways_renumber(set, 0);
	if (way->part == WAYS_HIT)
		way->run(set, c, count_one, &good);
	good = 0;
	do {
		if (way->part == WAYS_NEW)
			ways_renumber(set, passes * set->names);
		uint64_t began = harness_clock_now();
		builder_pass(way, set, c, &good);
		uint64_t took = harness_clock_now() - began;
		spent += took;
		passes++;
		if (kept < sizeof times / sizeof *times)
			times[kept++] = (double)took;
	} while (t->passes ? passes < t->passes : spent < least);
	if (good != passes * set->names)
		cli_fail("%s: wrong answer: %" PRIu64 " names where %" PRIu64 " are right",
			 way->name, good, passes * set->names);
	check_strings(way, c, (way->part == WAYS_NEW ? passes : 1) * set->names);
	cistern_destroy(c);
	return harness_spread_of(times, kept).median / (double)set->names;
}

void trial_run(void *trial, void *outcome)
{
	const struct trial *t = trial;
	struct trial_outcome *out = outcome;
	struct ways_set set;
	size_t n = 0;
	while (n < TRIAL_WAYS_MAX && way_at(n))
		n++;
	ways_set_make(&set, t->corpus, t->pieces, t->length, t->seed);
	out->bytes = (double)set.bytes / (double)set.names;
	out->names = set.names;
	for (size_t i = 0; i < n; i++)
		if (!t->only || t->only == way_at(i))
			out->counted = trial_verify(way_at(i), &set, t->config, &out->of[i]);
	allocations_stop();
	for (size_t i = 0; i < n; i++) {
		size_t turn = t->reversed ? n - 1 - i : i;
		if (!t->only || t->only == way_at(turn))
			out->of[turn].ns = measure(way_at(turn), &set, t);
	}
	ways_set_free(&set);
}
