/* SPDX-License-Identifier: MIT */
/*
 * latency_figures.h - what cistern-latency reports of a case that was run.
 */
#ifndef BENCH_LATENCY_FIGURES_H
#define BENCH_LATENCY_FIGURES_H

#include "calls.h"

/* How a figure stands in the report. */
enum {
	FIGURE_SHOWN = 1,       /* in tables, too */
	FIGURE_RATIO = 2,       /* with its ratio over the baseline */
	FIGURE_RATIO_SHOWN = 4, /* ... in tables, too */
	FIGURE_OPTIONAL = 8     /* 0 means that there is none */
};

enum { LATENCY_FIGURES = 17 };

extern const struct latency_figure {
	const char *name;
	double (*of)(const struct calls_figures *);
	unsigned how;
} latency_figures[LATENCY_FIGURES];

#endif /* BENCH_LATENCY_FIGURES_H */
