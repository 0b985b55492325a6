/* SPDX-License-Identifier: MIT */
/*
 * sweep_axes.h - what a sweep varies: engines, numbers of threads, and knobs.
 */
#ifndef BENCH_SWEEP_AXES_H
#define BENCH_SWEEP_AXES_H

#include "engine.h"
#include "report.h"

enum { AXES_MAX = 16, AXIS_TEXT = 24 };

struct axis {
	const char *option; /* without its dashes */
	const char *key;    /* of the knob, and the name of the column */
	enum report_type type;
	const char *help;
};

/* The two that are no knobs come first. */
enum { AXIS_ENGINE, AXIS_THREADS, AXIS_KNOBS };

extern const struct axis axes[];
extern const size_t axes_n; /* at most AXES_MAX */

/* By key; axes_n where there is none. */
size_t axis_named(const char *key);

/* The value of a knob in a configuration, as cistern_config_set takes it. */
void axis_text(size_t axis, const cistern_config *config, char text[AXIS_TEXT]);

/* A value as a column has it; missing where the text is empty. The text has to stay. */
struct report_value axis_value(size_t axis, const char *text);

#endif /* BENCH_SWEEP_AXES_H */
