/* SPDX-License-Identifier: MIT */
/*
 * plot.h - pictures through gnuplot, each as PNG and SVG: heat maps, lines and points.
 *
 * A plotter writes one gnuplot script with the data in it into a folder and runs gnuplot there at
 * the end. Without gnuplot the script is still there, to draw later.
 *
 * Every colour that is not of a heat map's cells is one of plot_colors, and no other one, so that
 * svg.c can give a picture inside a page the colours of the page, dark ones included.
 */
#ifndef BENCH_PLOT_H
#define BENCH_PLOT_H

#include <stdbool.h>
#include <stddef.h>

/* Series take their colours from PLOT_SERIES on; told apart by eyes of all kinds. */
enum plot_color { PLOT_INK, PLOT_SOFT, PLOT_GRID, PLOT_PAPER, PLOT_SERIES, PLOT_COLORS = 12 };

extern const struct plot_color_pair {
	const char *name; /* of the custom property in the style sheet of a page */
	unsigned light, dark;
} plot_colors[PLOT_COLORS];

struct plotter;

/* Makes the folder where it is missing, or ends the program. */
struct plotter *plot_open(const char *folder);

/* Heat maps side by side on one scale of colours: dark is much. */
enum { PLOT_PANELS = 4 };

struct plot_map {
	const char *file; /* without folder and ending */
	const char *title;
	const char *xlabel, *ylabel, *unit;
	const char *const *xnames, *const *ynames;
	size_t nx, ny;
	struct plot_panel {
		const char *title;
		const double *values; /* values[y * nx + x]; NAN where there is none */
	} panels[PLOT_PANELS];
	size_t npanels;
	bool cost; /* little is good: orange rather than blue */
};
void plot_heat_map(struct plotter *p, const struct plot_map *map);

/* Values of y over x. */
enum plot_style {
	PLOT_LINES, /* a line through the points, with bars from low to high where they are given */
	PLOT_POINTS,
	PLOT_STEPS, /* level up to the next point; labels stand above and to the left of points */
	PLOT_MARK   /* a ring, larger than a point, with bars */
};

struct plot_series {
	const char *name;
	enum plot_style style;
	unsigned color; /* a series' number from 0 on: its colour and its kind of point */
	size_t n;
	const double *x, *y;
	const double *low, *high;  /* NULL: no bars */
	const char *const *labels; /* NULL: none */
};

struct plot_xy {
	const char *file;
	const char *title;
	const char *xlabel, *ylabel;
	bool log_x;           /* where values are far apart; ticks at 1, 2, 5, 10 ... */
	bool ticks_at_values; /* of x, such as numbers of threads */
	bool from_zero;       /* y begins at 0 */
	bool small;           /* to stand beside another one */
	const struct plot_series *series;
	size_t nseries;
};
void plot_xy(struct plotter *p, const struct plot_xy *plot);

/* Draws. False where gnuplot is missing or refuses, after one line that says so. */
bool plot_close(struct plotter *p);

#endif /* BENCH_PLOT_H */
