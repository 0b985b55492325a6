/* SPDX-License-Identifier: MIT */
/*
 * plot_xy.c - lines and points over x. See plot.h.
 *
 * The ranges are computed here rather than by gnuplot, so that labels can be placed where nothing
 * else is drawn (plot_labels.h).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "plot_labels.h"
#include "plot_script.h"

enum {
	LEFT = 68,
	RIGHT = 14,
	BOTTOM = 56,
	TITLE = 26,
	KEY_LINE = 18,
	LETTER = 8,
	KEY_LETTER = 9,
	TEXT = 15
};

static enum plot_color color_of(const struct plot_series *s)
{
	return PLOT_SERIES + s->color % (PLOT_COLORS - PLOT_SERIES);
}

static void take(struct plot_range *range, double v)
{
	range->least = v < range->least ? v : range->least;
	range->most = v > range->most ? v : range->most;
}

/* What the values and their bars span, with room around them. */
static void find_ranges(const struct plot_xy *plot, struct plot_range *x, struct plot_range *y)
{
	*x = *y = (struct plot_range){INFINITY, -INFINITY};
	for (size_t s = 0; s < plot->nseries; s++)
		for (size_t i = 0; i < plot->series[s].n; i++) {
			const struct plot_series *one = &plot->series[s];
			take(x, one->x[i]);
			take(y, one->low ? one->low[i] : one->y[i]);
			take(y, one->high ? one->high[i] : one->y[i]);
		}
	double wide = x->most - x->least, high = y->most - y->least;
	if (plot->ticks_at_values) {
		x->least /= 1.2;
		x->most *= 1.2;
	} else {
		x->least -= 0.05 * wide + 1e-6;
		x->most += 0.05 * wide + 1e-6;
	}
	y->most += 0.05 * (plot->from_zero ? y->most : high) + 1e-6;
	y->least = plot->from_zero ? 0 : y->least - 0.05 * high - 1e-6;
	if (plot->xrange.most > plot->xrange.least)
		*x = plot->xrange;
	if (plot->yrange.most > plot->yrange.least)
		*y = plot->yrange;
}

/* Each number of threads once, evenly spaced by doublings. */
static void ticks_at_values(FILE *f, const struct plot_xy *plot)
{
	const char *comma = "";
	fputs("set logscale x 2\nset xtics (", f);
	for (size_t s = 0; s < plot->nseries; s++)
		for (size_t i = 0; i < plot->series[s].n; i++, comma = ", ")
			fprintf(f, "%s'%g' %g", comma, plot->series[s].x[i], plot->series[s].x[i]);
	fputs(")\n", f);
}

/* One part of the plot command. */
static void series(FILE *f, const struct plot_series *s, size_t index)
{
	static const unsigned points[] = {7, 5, 9, 11, 13, 6, 4, 8};
	/* Where colours begin again, points do not. */
	unsigned again = s->color / (PLOT_COLORS - PLOT_SERIES);
	unsigned point = points[(s->color + again) % (sizeof points / sizeof *points)];
	fprintf(f, "%s$data index %zu using %s with ", index ? ", " : "", index,
		s->low ? "1:2:3:4" : "1:2");
	switch (s->style) {
	case PLOT_LINES:
		fputs(s->low ? "yerrorlines linewidth 2" : "linespoints linewidth 2", f);
		fprintf(f, " pointtype %u pointsize 0.7", point);
		break;
	case PLOT_POINTS:
		fprintf(f, "points pointtype %u pointsize 0.75", point);
		break;
	case PLOT_STEPS:
		fputs("steps linewidth 2", f);
		break;
	case PLOT_BARS:
		fputs("yerrorbars linewidth 1 pointtype 7 pointsize 0.9", f);
		break;
	case PLOT_MARK:
		fputs(s->low ? "yerrorbars" : "points", f);
		fputs(" linewidth 2 pointtype 6 pointsize 1.8", f);
		break;
	}
	script_color(f, " linecolor", color_of(s));
	if (!s->name) {
		fputs(" notitle", f);
		return;
	}
	/* Inside the variable's quotes a quote that is doubled stays doubled. */
	fputs(" title ", f);
	script_quoted(f, s->name);
}

/* The key: as many names in a line as there is room for; returns the lines. */
static unsigned key_lines(const struct plot_xy *plot, unsigned *columns)
{
	size_t named = 0, longest = 1;
	for (size_t s = 0; s < plot->nseries; s++) {
		size_t length = plot->series[s].name ? strlen(plot->series[s].name) : 0;
		named += length > 0;
		longest = length > longest ? length : longest;
	}
	size_t room = (plot->width - LEFT - RIGHT) / (longest * KEY_LETTER + 44);
	*columns = room < 1 ? 1 : (unsigned)room;
	return named ? (unsigned)((named - 1) / *columns + 1) : 0;
}

/* What labels must not cover. */
struct taken {
	struct label_box *of;
	size_t n;
	double x, y, xscale, yscale;
};

/* In values; with room around. */
static void take_box(struct taken *t, double left, double right, double bottom, double top)
{
	t->of[t->n++] =
	    (struct label_box){(left - t->x) * t->xscale - 5, (right - t->x) * t->xscale + 5,
			       (bottom - t->y) * t->yscale - 5, (top - t->y) * t->yscale + 5};
}

/* Points, their bars, and steps. */
static void take_series(struct taken *t, const struct plot_series *s)
{
	for (size_t i = 0; i < s->n; i++) {
		take_box(t, s->x[i], s->x[i], s->low ? s->low[i] : s->y[i],
			 s->high ? s->high[i] : s->y[i]);
		if (s->style != PLOT_STEPS || i == 0)
			continue;
		take_box(t, s->x[i - 1], s->x[i], s->y[i - 1], s->y[i - 1]);
		take_box(t, s->x[i], s->x[i], fmin(s->y[i - 1], s->y[i]),
			 fmax(s->y[i - 1], s->y[i]));
	}
}

static void labels(FILE *f, const struct plot_xy *plot, const struct script_area *area,
		   const struct plot_range *x, const struct plot_range *y)
{
	double wide = area->width - area->left - area->right;
	double high = area->height - area->top - area->bottom;
	double xscale = wide / (x->most - x->least), yscale = high / (y->most - y->least);
	size_t points = 0;
	for (size_t s = 0; s < plot->nseries; s++)
		points += plot->series[s].n;
	/* Three boxes at most for a point. */
	struct taken taken = {
	    calloc(3 * points + 1, sizeof *taken.of), 0, x->least, y->least, xscale, yscale};
	struct label *found = calloc(plot->nlabels + 1, sizeof *found);
	if (!taken.of || !found)
		cli_fail("out of memory");
	for (size_t s = 0; s < plot->nseries; s++)
		take_series(&taken, &plot->series[s]);
	for (size_t i = 0; i < plot->nlabels; i++)
		found[i] = (struct label){.x = (plot->labels[i].x - x->least) * xscale,
					  .y = (plot->labels[i].y - y->least) * yscale,
					  .width = (double)(LETTER * strlen(plot->labels[i].text)),
					  .height = TEXT};
	labels_place(found, plot->nlabels, taken.of, taken.n, (struct label_box){0, wide, 0, high});
	for (size_t i = 0; i < plot->nlabels; i++) {
		if (!found[i].placed)
			continue;
		double at_x = x->least + found[i].at_x / xscale;
		double at_y = y->least + found[i].at_y / yscale;
		bool left = found[i].at_x < found[i].x;
		if (found[i].far) {
			fprintf(f, "set arrow from %.8g,%.8g to %.8g,%.8g nohead linewidth 1",
				plot->labels[i].x, plot->labels[i].y,
				at_x + (left ? found[i].width + 2 : -2) / xscale, at_y);
			script_color(f, " linecolor", PLOT_SOFT);
			putc('\n', f);
		}
		fputs("set label ", f);
		script_quoted(f, plot->labels[i].text);
		/* Beside the end that is next to the point, whatever the font. */
		fprintf(f, " at %.8g,%.8g %s", left ? at_x + found[i].width / xscale : at_x, at_y,
			left ? "right" : "left");
		script_color(f, " textcolor", PLOT_INK);
		putc('\n', f);
	}
	free(taken.of);
	free(found);
}

static void data(FILE *f, const struct plot_xy *plot)
{
	double last = (double)plot->nseries - 1, step = fmin(0.06, last > 0 ? 0.24 / last : 0);
	fputs("$data << END\n", f);
	for (size_t s = 0; s < plot->nseries; s++) {
		const struct plot_series *one = &plot->series[s];
		/* Beside each other, so that no bar hides another one. */
		double aside = ((double)s - last / 2) * step;
		for (size_t i = 0; i < one->n; i++)
			fprintf(f, "%.8g %.6g %.6g %.6g\n",
				plot->ticks_at_values ? one->x[i] * exp2(aside) : one->x[i],
				one->y[i], one->low ? one->low[i] : one->y[i],
				one->high ? one->high[i] : one->y[i]);
		fputs("\n\n", f);
	}
	fputs("END\n", f);
}

void plot_xy(struct plotter *p, const struct plot_xy *plot)
{
	FILE *f = p->script;
	struct plot_range x, y;
	unsigned columns, lines = key_lines(plot, &columns);
	struct script_area area = {
	    plot->width, plot->height, LEFT, RIGHT, TITLE + 8 + KEY_LINE * lines, BOTTOM};
	find_ranges(plot, &x, &y);
	script_begin(f, plot->xlabel, plot->ylabel, area);
	script_color(f, "set grid linewidth 1 linetype 1 linecolor", PLOT_GRID);
	fprintf(f, "\nset key at screen %.5f, screen %.5f left top horizontal Left reverse ",
		(area.left - 8) / area.width, 1 - TITLE / area.height);
	fprintf(f, "samplen 1.5 width 1 maxcols %u", columns);
	script_color(f, " textcolor", PLOT_INK);
	putc('\n', f);
	if (plot->ticks_at_values)
		ticks_at_values(f, plot);
	fprintf(f, "set xrange [%.8g:%.8g]\nset yrange [%.8g:%.8g]\n", x.least, x.most, y.least,
		y.most);
	if (plot->frame) {
		fprintf(
		    f,
		    "set object rectangle from %.8g,%.8g to %.8g,%.8g back fillstyle empty border",
		    plot->frame[0].least, plot->frame[1].least, plot->frame[0].most,
		    plot->frame[1].most);
		script_color(f, "", PLOT_SOFT);
		fputs(" linewidth 1\n", f);
	}
	labels(f, plot, &area, &x, &y);
	data(f, plot);
	fputs("picture = \"plot ", f);
	for (size_t s = 0; s < plot->nseries; s++)
		series(f, &plot->series[s], s);
	fputs("\"\n", f);
	script_draw(f, plot->file, plot->title, plot->panel, area);
}
