/* SPDX-License-Identifier: MIT */
/*
 * sweep_result.h - what is taken from each process of a sweep, and the medians over its rounds.
 *
 * The one list of measures is here: columns, medians, quartiles, heat maps, lines over threads, the
 * file of --resume and the table of a page all follow it. A measure is a line.
 */
#ifndef BENCH_SWEEP_RESULT_H
#define BENCH_SWEEP_RESULT_H

#include "harness.h"
#include "report.h"
#include "sweep_plan.h"
#include "workload.h"

enum {
	MEASURE_WIDE = 1,   /* not in tables of a terminal */
	MEASURE_SPREAD = 2, /* quartiles have columns of their own */
	MEASURE_MAP = 4,    /* has heat maps and, over threads, lines */
	MEASURE_COST = 8,   /* little is good */
	MEASURE_SPEED = 16, /* part of the speed that settings are compared by */
	MEASURE_SPLIT = 32  /* part of resident memory */
};

/*
 * name, type, flags, the value (r is a struct workload_result; NaN where there is none), and what
 * it is.
 */
#define SWEEP_MEASURES(X)                                                                          \
	X(insert_m_s, NUMBER, SPREAD | MAP | SPEED, r->speed.build,                                \
	  "inserts, million strings a second")                                                     \
	X(hit_m_s, NUMBER, SPREAD | MAP | SPEED, r->speed.hit, "hits, million strings a second")   \
	X(batch_hit_m_s, NUMBER, WIDE, r->speed.batch,                                             \
	  "hits in batches, million strings a second")                                             \
	X(miss_m_s, NUMBER, SPEED, r->speed.miss, "misses, million strings a second")              \
	X(mixed_m_s, NUMBER, SPREAD | MAP | SPEED, r->speed.mixed,                                 \
	  "mixed (95% hits, 5% inserts), million strings a second")                                \
	X(hot_m_s, NUMBER, SPREAD, r->speed.hot,                                                   \
	  "hits of the same 64 strings, million strings a second")                                 \
	X(added_rss, BYTES, SPREAD | MAP | COST, (double)workload_added(r),                        \
	  "resident memory added")                                                                 \
	X(added_pss, BYTES, WIDE | COST, difference(r->after.pss, r->before.pss),                  \
	  "proportional memory added")                                                             \
	X(rss, BYTES, WIDE | COST, (double)r->after.rss, "resident memory of the process")         \
	X(peak, BYTES, WIDE | COST, (double)r->after.peak, "its peak")                             \
	X(anon_huge_pages, BYTES, WIDE, (double)r->after.huge, "the part in huge pages")           \
	X(in_strings, BYTES, WIDE | SPLIT, part(r, PART_STRINGS), "strings and their headers")     \
	X(in_tables, BYTES, WIDE | SPLIT, part(r, PART_TABLES), "tables")                          \
	X(in_slack, BYTES, WIDE | SPLIT, part(r, PART_SLACK), "unused ends of slabs")              \
	X(in_other, BYTES, WIDE | SPLIT, part(r, PART_OTHER),                                      \
	  "other resident memory that was added")                                                  \
	X(untouched, BYTES, WIDE, untouched(r), "committed, but not resident")                     \
	X(strings, COUNT, WIDE, (double)t->strings, "distinct strings")                            \
	X(committed, BYTES, WIDE, known(r, t->committed_bytes), "committed memory")                \
	X(payload, BYTES, WIDE, known(r, t->payload_bytes), "lengths of the strings")              \
	X(overhead, BYTES, WIDE, known(r, t->overhead_bytes), "headers, NULs, padding")            \
	X(retired, BYTES, WIDE, known(r, t->retired_bytes), "tables that growth replaced")         \
	X(emptied, BYTES, WIDE, known(r, t->emptied_bytes),                                        \
	  "the part of them that was given back")                                                  \
	X(free, BYTES, WIDE, known(r, t->free_bytes), "committed, but not handed out")             \
	X(control, BYTES, WIDE, known(r, t->control_bytes), "structures of the interner")          \
	X(slots, COUNT, WIDE, known(r, t->slots), "places in the tables")                          \
	X(slabs, COUNT, WIDE, known(r, t->slabs), "slabs")                                         \
	X(growths, COUNT, WIDE, known(r, t->growths), "tables that were replaced by larger ones")  \
	X(rekeys, COUNT, WIDE, known(r, t->rekeys), "tables with a hash secret of their own")      \
	X(lock_waits, COUNT, WIDE | COST, known(r, t->lock_waits), "times a lock was busy")        \
	X(max_probe, COUNT, WIDE | COST, known(r, t->max_probe), "buckets of the longest insert")

enum {
#define SWEEP_MEASURE_NUMBER(name, type, flags, value, about) MEASURE_##name,
	SWEEP_MEASURES(SWEEP_MEASURE_NUMBER)
#undef SWEEP_MEASURE_NUMBER
	    MEASURES
};

extern const struct measure {
	const char *name;
	enum report_type type;
	unsigned flags;
	const char *about;
} measures[MEASURES];

/* All that was measured, by point and round. */
struct results {
	const struct plan *plan;
	unsigned rounds;            /* room for so many; how many a point has differs */
	double (*values)[MEASURES]; /* values[point * rounds + round] */
	unsigned *n;
};

void results_open(struct results *r, const struct plan *plan, unsigned rounds);
void results_close(struct results *r);

/* The next round of a point. */
void results_add(struct results *r, size_t point, const double values[MEASURES]);

/* What a process measured, in the order of the measures. */
void measures_take(const struct workload_result *result, double values[MEASURES]);

/* A measure of a point in one round. */
double results_at(const struct results *r, size_t point, unsigned round, unsigned measure);

/* Over the rounds, those without the measure left out; NaN where all are. */
struct harness_spread results_spread(const struct results *r, size_t point, unsigned measure);

/* A figure as a column has it, missing where it is NaN. */
struct report_value measure_value(unsigned measure, double value);

/*
 * Speed or memory of a setting in one round against those of the other setting in the same round:
 * the geometric mean over the numbers of threads of the plan and, for speed, over the measures that
 * count as speed. What a machine does to a whole round cancels out. NaN where either was not
 * measured with all numbers of threads. other SIZE_MAX: the mean itself.
 */
double results_speed(const struct results *r, size_t setting, size_t other, unsigned round);
double results_memory(const struct results *r, size_t setting, size_t other, unsigned round);

/* How far the quartiles of the speeds of a point are apart, as a part of the median: the median
 * over points and speeds. NaN where nothing was measured twice. */
double results_typical_spread(const struct results *r);

/* Rounds that a setting has with all numbers of threads of the plan. */
unsigned results_rounds(const struct results *r, size_t setting);

#endif /* BENCH_SWEEP_RESULT_H */
