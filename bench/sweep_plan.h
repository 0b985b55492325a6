/* SPDX-License-Identifier: MIT */
/*
 * sweep_plan.h - which points a sweep measures.
 *
 * A point is one engine with one configuration and one number of threads. A setting is a point
 * without its number of threads: what a user can choose. A plan is made of blocks, each the product
 * of some lists of values; what no list names is as the engine has it by itself, or as --set says.
 * Every engine's own defaults are always among the points, since all else is held against them.
 * Points that come out the same, as after rounding, are there once.
 */
#ifndef BENCH_SWEEP_PLAN_H
#define BENCH_SWEEP_PLAN_H

#include "cli.h"
#include "sweep_axes.h"

enum { PLAN_THREADS = 64 };
enum plan_mode { PLAN_QUICK, PLAN_STANDARD, PLAN_FULL };

struct plan_point {
	const struct engine *engine;
	unsigned threads;
	cistern_config config;
	char at[AXES_MAX][AXIS_TEXT]; /* in effect; "" where the engine does not support the knob */
	size_t setting;
};

struct plan_setting {
	const struct plan_point *like; /* any of its points */
	bool is_default;               /* of its engine */
};

struct plan {
	const struct cli_common *common; /* its --set options hold for all points */
	struct plan_point *points;
	size_t n;
	struct plan_setting *settings;
	size_t nsettings;
	unsigned threads[PLAN_THREADS]; /* of the first block: what settings are compared with */
	size_t nthreads;
};

/*
 * Makes the plan of a mode. lists[axis] is what the command line has for an axis, or NULL: a list
 * of threads replaces those of all blocks; any other list leaves the first block only and is
 * multiplied with it. A knob of --set is not swept by any block. Ends the program where a value is
 * impossible, or a knob both listed and set.
 */
void plan_make(struct plan *plan, const struct cli_common *common, enum plan_mode mode,
	       const char *const lists[AXES_MAX]);
void plan_free(struct plan *plan);

/* The blocks of a mode one after another, as text for --help; NULL behind the last. */
const char *plan_block(enum plan_mode mode, size_t i);

/* The point of a setting with so many threads, or SIZE_MAX. */
size_t plan_point_of(const struct plan *plan, size_t setting, unsigned threads);

/* An engine's default setting, or SIZE_MAX where the engine does not take part. */
size_t plan_default_of(const struct plan *plan, const struct engine *engine);

/* How many knobs two settings of one engine differ in. */
unsigned plan_differences(const struct plan *plan, size_t a, size_t b);

/* Whether an axis has more than one value among the settings of an engine. */
bool plan_varies(const struct plan *plan, const struct engine *engine, size_t axis);

/* The different values of an axis, ascending where they are numbers; free the array. */
size_t plan_values(const struct plan *plan, size_t axis, const char ***values);

#endif /* BENCH_SWEEP_PLAN_H */
