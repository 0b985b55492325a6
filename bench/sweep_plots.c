/* SPDX-License-Identifier: MIT */
/*
 * sweep_plots.c - the pictures of a sweep, those over threads among them. See sweep_plots.h.
 *
 * It grows by a file for a kind of picture (sweep_drawing.h). Which measures have maps and lines is
 * in the list of measures.
 */
#include "sweep_plots.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sweep_drawing.h"

void *drawing_room(size_t n, size_t size)
{
	void *p = calloc(n + 1, size);
	if (!p)
		cli_fail("out of memory");
	return p;
}

struct picture *drawing_picture(struct pictures *p, enum picture_kind kind)
{
	p->of = realloc(p->of, (p->n + 1) * sizeof *p->of);
	if (!p->of)
		cli_fail("out of memory");
	struct picture *picture = &p->of[p->n++];
	memset(picture, 0, sizeof *picture);
	picture->kind = kind;
	return picture;
}

struct page_picture *drawing_part(struct picture *picture)
{
	return picture->nparts < PICTURE_PARTS ? &picture->parts[picture->nparts++] : NULL;
}

void pictures_free(struct pictures *p)
{
	free(p->of);
	*p = (struct pictures){0};
}

void drawing_text(char *text, size_t size, const char *format, ...)
{
	size_t used = strlen(text);
	va_list args;
	va_start(args, format);
	vsnprintf(text + used, size - used, format, args);
	va_end(args);
}

void drawing_title(unsigned measure, char *out, size_t size)
{
	const char *about = measures[measure].about, *comma = strstr(about, ", million");
	int length = comma ? (int)(comma - about) : (int)strlen(about);
	snprintf(out, size, "%.*s", length, about);
	if (*out >= 'a' && *out <= 'z')
		*out = (char)(*out - 'a' + 'A');
}

/* ---- over threads */

enum { LINES = 16, THREADS = 64 };

/* One line: an engine's defaults, with one lock policy. */
struct line {
	char name[64];
	size_t n;
	double x[THREADS], y[THREADS], low[THREADS], high[THREADS];
};

static bool default_but_lock(const struct plan *plan, size_t setting, size_t lock)
{
	size_t base = plan_default_of(plan, plan->settings[setting].like->engine);
	if (base == SIZE_MAX)
		return false;
	const struct plan_point *a = plan->settings[setting].like, *b = plan->settings[base].like;
	for (size_t k = AXIS_KNOBS; k < axes_n; k++)
		if (k != lock && strcmp(a->at[k], b->at[k]) != 0)
			return false;
	return true;
}

static void fill_line(const struct drawing *d, size_t setting, unsigned measure, struct line *line)
{
	const struct plan *plan = d->r->plan;
	for (unsigned threads = 1; threads <= 1024 && line->n < THREADS; threads++) {
		size_t point = plan_point_of(plan, setting, threads);
		if (point == SIZE_MAX)
			continue;
		struct harness_spread s = results_spread(d->r, point, measure);
		if (isnan(s.median))
			continue;
		line->x[line->n] = threads;
		line->y[line->n] = s.median;
		line->low[line->n] = s.q1;
		line->high[line->n++] = s.q3;
	}
}

/* The defaults of each engine, in the order and so in the colours that the engines have at the
 * front, then their other locks. */
static size_t lines_of(const struct drawing *d, unsigned measure, struct line lines[LINES])
{
	const struct plan *plan = d->r->plan;
	size_t lock = axis_named("lock"), n = 0, engines = 0;
	while (engine_at(engines))
		engines++;
	for (size_t e = 0; e < 2 * engines; e++)
		for (size_t s = 0; s < plan->nsettings && n < LINES; s++) {
			const struct plan_point *like = plan->settings[s].like;
			struct line *line = &lines[n];
			if (like->engine != engine_at(e % engines) ||
			    plan->settings[s].is_default != (e < engines) ||
			    !default_but_lock(plan, s, lock))
				continue;
			memset(line, 0, sizeof *line);
			fill_line(d, s, measure, line);
			if (line->n < 2)
				continue;
			snprintf(line->name, sizeof line->name, "%.30s%s%.20s", like->engine->name,
				 *like->at[lock] ? ", " : "", like->at[lock]);
			n++;
		}
	return n;
}

static void draw_threads(struct drawing *d, unsigned measure)
{
	struct line *lines = drawing_room(LINES, sizeof *lines);
	struct plot_series series[LINES];
	size_t n = lines_of(d, measure, lines);
	for (size_t i = 0; i < n; i++)
		series[i] =
		    (struct plot_series){lines[i].name, PLOT_LINES, (unsigned)i,  lines[i].n,
					 lines[i].x,    lines[i].y, lines[i].low, lines[i].high};
	if (n > 0) {
		struct picture *picture = drawing_picture(d->pictures, PICTURE_THREADS);
		struct page_picture *part = drawing_part(picture);
		bool few = n <= 4;
		picture->layout = few ? PAGE_THIRD : PAGE_WIDE;
		snprintf(part->file, sizeof part->file, "threads-%s", measures[measure].name);
		drawing_title(measure, picture->title, sizeof picture->title);
		char title[256];
		snprintf(title, sizeof title, "%s over threads", picture->title);
		plot_xy(d->plotter, &(struct plot_xy){.file = part->file,
						      .title = title,
						      .xlabel = "threads",
						      .ylabel = "M strings/s",
						      .width = few ? 328 : 1012,
						      .height = few ? 320 : 480,
						      .ticks_at_values = true,
						      .from_zero = true,
						      .series = series,
						      .nseries = n});
	}
	free(lines);
}

bool sweep_plots(const char *folder, const struct results *r, const struct choice *choice,
		 struct pictures *pictures)
{
	*pictures = (struct pictures){0};
	struct drawing d = {plot_open(folder),      pictures, r, choice, axis_named("shards"),
			    axis_named("slab_size")};
	if (choice->made)
		draw_front(&d);
	draw_maps(&d);
	for (unsigned m = 0; m < MEASURES; m++)
		if ((measures[m].flags & (MEASURE_MAP | MEASURE_COST)) == MEASURE_MAP)
			draw_threads(&d, m);
	return plot_close(d.plotter);
}
