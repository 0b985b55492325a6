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

/* A heat map: dark is much. */
struct plot_map {
	const char *file;  /* without folder and ending */
	const char *title; /* of the PNG */
	const char *panel; /* of the SVG, which stands beside others under a title of the page */
	const char *xlabel, *ylabel;
	const char *const *xnames, *const *ynames;
	size_t nx, ny;
	const double *values; /* values[y * nx + x]; NAN where there is none */
	double least, most;   /* of the scale of colours, that maps side by side share */
	size_t framed;        /* the cell with a frame; SIZE_MAX: none */
	bool cost;            /* little is good: orange rather than blue */
};
void plot_heat_map(struct plotter *p, const struct plot_map *map);

/* Values of y over x. */
enum plot_style {
	PLOT_LINES, /* a line through the points, with bars from low to high where they are given */
	PLOT_POINTS,
	PLOT_STEPS, /* level up to the next point */
	PLOT_BARS,  /* points with bars */
	PLOT_MARK   /* a ring, larger than a point */
};

struct plot_series {
	const char *name; /* NULL: not in the key */
	enum plot_style style;
	unsigned color; /* a series' number from 0 on: its colour and its kind of point */
	size_t n;
	const double *x, *y;
	const double *low, *high; /* NULL: no bars */
};

struct plot_range {
	double least, most;
};

struct plot_xy {
	const char *file;
	const char *title, *panel; /* as of a heat map; panel may be NULL */
	const char *xlabel, *ylabel;
	unsigned width, height;
	struct plot_range xrange, yrange; /* empty: what the values span */
	const struct plot_range *frame;   /* NULL, or two: a rectangle to draw */
	bool ticks_at_values;             /* of x, numbers of threads: a step is a doubling */
	bool from_zero;                   /* y begins at 0 */
	const struct plot_series *series;
	size_t nseries;
	const struct plot_label { /* beside a point, with room kept free for it */
		double x, y;
		const char *text;
	} * labels;
	size_t nlabels;
};
void plot_xy(struct plotter *p, const struct plot_xy *plot);

/* Draws. False where gnuplot is missing or refuses, after one line that says so. */
bool plot_close(struct plotter *p);

#endif /* BENCH_PLOT_H */
