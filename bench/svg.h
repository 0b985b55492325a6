/* SPDX-License-Identifier: MIT */
/*
 * svg.h - takes a picture that gnuplot drew (plot.h) into an HTML page.
 */
#ifndef BENCH_SVG_H
#define BENCH_SVG_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Writes the picture as an svg element: without what only a file needs, its ids and references to
 * them behind prefix, so that several pictures do not share any, and the colours of plot_colors as
 * custom properties of the page, var(--ink) and so on. label says what it is to those who do not
 * see it; it is escaped here. False where there is no such file, or it is no SVG; nothing is
 * written then.
 */
bool svg_inline(FILE *out, const char *path, const char *prefix, const char *label);

#endif /* BENCH_SVG_H */
