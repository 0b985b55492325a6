/* SPDX-License-Identifier: MIT */
/*
 * sweep_result.c - what each process measured. See sweep_result.h, where the measures are; what is
 * said of each is in sweep_measures.c.
 */
#include "sweep_result.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- values of one process */

static double difference(uint64_t after, uint64_t before)
{
	return after > before ? (double)(after - before) : 0;
}

/* A figure of the engine's own; engines that tell nothing have none. */
static double known(const struct workload_result *r, uint64_t value)
{
	return r->stats.committed_bytes ? (double)value : NAN;
}

enum part { PART_STRINGS, PART_TABLES, PART_SLACK, PART_OTHER };

/*
 * The split of what was added. Engines tell what they committed, which may be more than is
 * resident: ends of slabs above all, that nobody touched. So each part is cut to what the parts
 * before it leave, slack behind the others, and together they are what was added.
 */
static double part(const struct workload_result *r, enum part wanted)
{
	const cistern_stats *t = &r->stats;
	const uint64_t told[] = {[PART_STRINGS] = t->payload_bytes + t->overhead_bytes,
				 [PART_TABLES] = t->table_bytes,
				 [PART_SLACK] = t->slack_bytes,
				 [PART_OTHER] = UINT64_MAX};
	uint64_t left = workload_added(r), size = 0;
	for (unsigned k = 0; k <= wanted; k++) {
		size = told[k] < left ? told[k] : left;
		left -= size;
	}
	return known(r, size);
}

static double untouched(const struct workload_result *r)
{
	return known(r, (uint64_t)difference(r->stats.committed_bytes, workload_added(r)));
}

void measures_take(const struct workload_result *r, double values[MEASURES])
{
	const cistern_stats *t = &r->stats;
#define TAKE(name, type, flags, value, about) values[MEASURE_##name] = (value);
	SWEEP_MEASURES(TAKE)
#undef TAKE
}

struct report_value measure_value(unsigned measure, double value)
{
	struct report_value v = {.number = value, .missing = isnan(value)};
	if (!v.missing && measures[measure].type != REPORT_NUMBER)
		v.count = value > 0 ? (uint64_t)(value + 0.5) : 0;
	return v;
}

/* ---- rounds */

void results_open(struct results *r, const struct plan *plan, unsigned rounds)
{
	*r = (struct results){.plan = plan, .rounds = rounds};
	r->values = calloc(plan->n * rounds, sizeof *r->values);
	r->n = calloc(plan->n, sizeof *r->n);
	if (!r->values || !r->n)
		cli_fail("out of memory");
}

void results_close(struct results *r)
{
	free(r->values);
	free(r->n);
	*r = (struct results){0};
}

void results_add(struct results *r, size_t point, const double values[MEASURES])
{
	memcpy(r->values[point * r->rounds + r->n[point]++], values, sizeof *r->values);
}

double results_at(const struct results *r, size_t point, unsigned round, unsigned measure)
{
	return r->values[point * r->rounds + round][measure];
}

struct harness_spread results_spread(const struct results *r, size_t point, unsigned measure)
{
	double values[1024];
	size_t n = 0;
	for (unsigned round = 0; round < r->n[point]; round++) {
		double value = results_at(r, point, round, measure);
		if (!isnan(value) && n < sizeof values / sizeof *values)
			values[n++] = value;
	}
	return n ? harness_spread_of(values, n) : (struct harness_spread){NAN, NAN, NAN};
}

double results_typical_spread(const struct results *r)
{
	double *parts = malloc((r->plan->n * MEASURES + 1) * sizeof *parts);
	size_t n = 0;
	if (!parts)
		cli_fail("out of memory");
	for (size_t i = 0; i < r->plan->n; i++)
		for (unsigned m = 0; m < MEASURES; m++) {
			struct harness_spread s = results_spread(r, i, m);
			if ((measures[m].flags & MEASURE_SPEED) && r->n[i] > 1 && s.median > 0)
				parts[n++] = (s.q3 - s.q1) / s.median;
		}
	double spread = n ? harness_spread_of(parts, n).median : NAN;
	free(parts);
	return spread;
}

/* ---- settings against each other */

unsigned results_rounds(const struct results *r, size_t setting)
{
	unsigned rounds = UINT32_MAX;
	for (size_t t = 0; t < r->plan->nthreads; t++) {
		size_t point = plan_point_of(r->plan, setting, r->plan->threads[t]);
		unsigned n = point == SIZE_MAX ? 0 : r->n[point];
		rounds = n < rounds ? n : rounds;
	}
	return rounds;
}

/* The geometric mean of ratios over all measures with a flag. */
static double against(const struct results *r, size_t setting, size_t other, unsigned round,
		      bool memory)
{
	double sum = 0;
	unsigned n = 0;
	for (size_t t = 0; t < r->plan->nthreads; t++) {
		size_t a = plan_point_of(r->plan, setting, r->plan->threads[t]);
		size_t b =
		    other == SIZE_MAX ? a : plan_point_of(r->plan, other, r->plan->threads[t]);
		if (a == SIZE_MAX || b == SIZE_MAX || round >= r->n[a] || round >= r->n[b])
			return NAN;
		for (unsigned m = 0; m < MEASURES; m++) {
			if (memory ? m != MEASURE_added_rss : !(measures[m].flags & MEASURE_SPEED))
				continue;
			double x = results_at(r, a, round, m);
			double y = other == SIZE_MAX ? 1 : results_at(r, b, round, m);
			/* An engine without the call; memory of a few pages that is not measurable.
			 */
			if (isnan(x) || isnan(y))
				continue;
			sum += memory ? log((x + 4096) / (y + 4096)) : log(x / y);
			n++;
		}
	}
	return n ? exp(sum / n) : NAN;
}

double results_speed(const struct results *r, size_t setting, size_t other, unsigned round)
{
	return against(r, setting, other, round, false);
}

double results_memory(const struct results *r, size_t setting, size_t other, unsigned round)
{
	return against(r, setting, other, round, true);
}
