/* SPDX-License-Identifier: MIT */
/*
 * plot_script.h - the parts of a gnuplot script that all kinds of pictures share. For plot*.c
 * alone.
 */
#ifndef BENCH_PLOT_SCRIPT_H
#define BENCH_PLOT_SCRIPT_H

#include <stdio.h>

#include "plot.h"

struct plotter {
	char *folder;
	FILE *script;
};

/* The size of a picture and of the margins around what is plotted, in pixels of the SVG. Fixed, so
 * that it is known where a value comes to lie. */
struct script_area {
	double width, height, left, right, top, bottom;
};

/* Text between the quotes in which gnuplot takes everything as it is. */
void script_quoted(FILE *f, const char *text);

/* what, such as "textcolor", and a colour. */
void script_color(FILE *f, const char *what, enum plot_color color);

void script_begin(FILE *f, const char *xlabel, const char *ylabel, struct script_area area);

/* Draws what the script's variable "picture" holds, into both kinds of file. The PNG has the title;
 * the SVG, for pages that have the title beside it, the name of the panel or, if NULL, none. */
void script_draw(FILE *f, const char *file, const char *title, const char *panel,
		 struct script_area area);

#endif /* BENCH_PLOT_SCRIPT_H */
