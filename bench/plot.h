/* SPDX-License-Identifier: MIT */
/*
 * plot.h - pictures through gnuplot: heat maps as PNG and SVG.
 *
 * A plotter writes the data and one gnuplot script into a folder and runs gnuplot there at the end.
 * Without gnuplot the folder still holds all that is needed to draw later.
 */
#ifndef BENCH_PLOT_H
#define BENCH_PLOT_H

#include <stdbool.h>
#include <stddef.h>

struct plotter;

struct plot_map {
	const char *file; /* without folder and ending */
	const char *title;
	const char *xlabel, *ylabel, *unit;
	const char *const *xnames, *const *ynames;
	size_t nx, ny;
	const double *values; /* values[y * nx + x] */
	bool high_is_good;    /* which end of the colours is green */
};

/* Makes the folder where it is missing, or ends the program. */
struct plotter *plot_open(const char *folder);
void plot_heat_map(struct plotter *p, const struct plot_map *map);

/* Draws. False where gnuplot is missing or refuses, after one line that says so. */
bool plot_close(struct plotter *p);

#endif /* BENCH_PLOT_H */
