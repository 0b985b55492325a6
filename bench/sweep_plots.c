/* SPDX-License-Identifier: MIT */
/*
 * sweep_plots.c - the pictures of a sweep. See sweep_plots.h.
 *
 * It finds in the results what can be drawn: a heat map needs two values of shards and of slab size
 * at least, a line two numbers of threads. Which measures have maps and lines is in the list of
 * measures. It grows by a function for a kind of picture.
 */
#include "sweep_plots.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "plot.h"

struct drawing {
	struct plotter *plotter;
	struct pictures *pictures;
	const struct results *r;
	const struct choice *choice;
	size_t shards, slab_size; /* the axes */
};

static void *room(size_t n, size_t size)
{
	void *p = calloc(n + 1, size);
	if (!p)
		cli_fail("out of memory");
	return p;
}

static struct picture *add_picture(struct pictures *p, enum picture_kind kind)
{
	p->of = realloc(p->of, (p->n + 1) * sizeof *p->of);
	if (!p->of)
		cli_fail("out of memory");
	struct picture *picture = &p->of[p->n++];
	memset(picture, 0, sizeof *picture);
	picture->kind = kind;
	return picture;
}

void pictures_free(struct pictures *p)
{
	free(p->of);
	*p = (struct pictures){0};
}

/* Adds to a text that may become too long and is cut then. */
static void add_text(char *text, size_t size, const char *format, ...) CISTERN_PRINTF(3, 4);
static void add_text(char *text, size_t size, const char *format, ...)
{
	size_t used = strlen(text);
	va_list args;
	va_start(args, format);
	vsnprintf(text + used, size - used, format, args);
	va_end(args);
}

/* A measure in the unit of its pictures. */
static double scaled(unsigned measure, double value)
{
	return measures[measure].type == REPORT_BYTES ? value / 1048576 : value;
}

static const char *unit_of(unsigned measure)
{
	return measures[measure].type == REPORT_BYTES ? "MiB" : "million a second";
}

/* "Resident memory added" of "resident memory added", without the unit behind the comma. */
static void title_of(unsigned measure, char *out, size_t size)
{
	const char *about = measures[measure].about, *comma = strstr(about, ", million");
	int length = comma ? (int)(comma - about) : (int)strlen(about);
	snprintf(out, size, "%.*s", length, about);
	if (*out >= 'a' && *out <= 'z')
		*out = (char)(*out - 'a' + 'A');
}

/* ---- heat maps */

/* Two points of one slice differ in shards and slab size only. */
static bool same_slice(const struct drawing *d, const struct plan_point *a,
		       const struct plan_point *b)
{
	if (a->engine != b->engine || a->threads != b->threads)
		return false;
	for (size_t k = AXIS_KNOBS; k < axes_n; k++)
		if (k != d->shards && k != d->slab_size && strcmp(a->at[k], b->at[k]) != 0)
			return false;
	return true;
}

static bool first_of_slice(const struct drawing *d, size_t point)
{
	const struct plan *plan = d->r->plan;
	for (size_t k = 0; k < point; k++)
		if (same_slice(d, &plan->points[k], &plan->points[point]))
			return false;
	return true;
}

/* The values of an axis that occur with more than one of the other axis in some slice. */
static size_t grid_values(const struct drawing *d, const struct plan_point *like, size_t axis,
			  const char ***values)
{
	const struct plan *plan = d->r->plan;
	size_t n = plan_values(plan, axis, values), kept = 0;
	for (size_t v = 0; v < n; v++) {
		size_t cells = 0;
		for (size_t i = 0; i < plan->n; i++)
			cells += same_slice(d, &plan->points[i], like) &&
				 strcmp(plan->points[i].at[axis], (*values)[v]) == 0;
		if (cells > 1)
			(*values)[kept++] = (*values)[v];
	}
	return kept;
}

struct grid {
	const char **xnames, **ynames;
	size_t nx, ny;
};

static double cell_of(const struct drawing *d, const struct plan_point *like, const char *shards,
		      const char *slab_size, unsigned measure)
{
	const struct plan *plan = d->r->plan;
	for (size_t i = 0; i < plan->n; i++) {
		const struct plan_point *p = &plan->points[i];
		if (same_slice(d, p, like) && strcmp(p->at[d->shards], shards) == 0 &&
		    strcmp(p->at[d->slab_size], slab_size) == 0)
			return scaled(measure, results_spread(d->r, i, measure).median);
	}
	return NAN;
}

/* Adds the panel of one engine; false where it has nothing to show. */
static bool add_panel(const struct drawing *d, struct plot_map *map, const struct grid *grid,
		      const struct plan_point *like, unsigned measure, struct picture *picture)
{
	double *values = room(grid->nx * grid->ny, sizeof *values), least = INFINITY, most = -1;
	size_t cells = 0;
	for (size_t y = 0; y < grid->ny; y++)
		for (size_t x = 0; x < grid->nx; x++) {
			double v = cell_of(d, like, grid->ynames[y], grid->xnames[x], measure);
			values[y * grid->nx + x] = v;
			if (isnan(v))
				continue;
			cells++;
			least = v < least ? v : least;
			most = v > most ? v : most;
		}
	if (cells < 4 || map->npanels == PLOT_PANELS) {
		free(values);
		return false;
	}
	map->panels[map->npanels++] = (struct plot_panel){like->engine->name, values};
	add_text(picture->caption, sizeof picture->caption, " %s: from %.3g to %.3g.",
		 like->engine->name, least, most);
	return true;
}

/* How far to trust the cells of a slice. */
static void add_spread(const struct drawing *d, const struct plan_point *like, unsigned measure,
		       struct picture *picture)
{
	const struct plan *plan = d->r->plan;
	double *parts = room(plan->n, sizeof *parts);
	size_t n = 0;
	for (size_t i = 0; i < plan->n; i++) {
		struct harness_spread s = results_spread(d->r, i, measure);
		if (same_slice(d, &plan->points[i], like) && d->r->n[i] > 1 && s.median > 0)
			parts[n++] = (s.q3 - s.q1) / s.median;
	}
	if (n > 0)
		add_text(picture->caption, sizeof picture->caption,
			 " The quartiles of a cell of %s are %.1f%% apart, as a rule.",
			 like->engine->name, 100 * harness_spread_of(parts, n).median);
	free(parts);
}

static void draw_map(struct drawing *d, const struct plan_point *like, const struct grid *grid,
		     unsigned measure)
{
	const struct plan *plan = d->r->plan;
	struct picture *picture = add_picture(d->pictures, PICTURE_MAP);
	bool cost = (measures[measure].flags & MEASURE_COST) != 0;
	size_t base = plan_default_of(plan, like->engine);
	title_of(measure, picture->title, sizeof picture->title);
	snprintf(picture->file, sizeof picture->file, "%s-threads%u", measures[measure].name,
		 like->threads);
	add_text(picture->title, sizeof picture->title, ", %u thread%s", like->threads,
		 like->threads == 1 ? "" : "s");
	for (size_t a = AXIS_KNOBS; a < axes_n; a++) {
		if (a == d->shards || a == d->slab_size || base == SIZE_MAX ||
		    strcmp(plan->settings[base].like->at[a], like->at[a]) == 0)
			continue;
		add_text(picture->file, sizeof picture->file, "-%s-%s", axes[a].key, like->at[a]);
		add_text(picture->title, sizeof picture->title, ", %s %s", axes[a].key,
			 like->at[a]);
	}
	snprintf(picture->caption, sizeof picture->caption, "%s In %s:",
		 cost ? "Dark is much memory, light is good." : "Dark is fast, and good.",
		 unit_of(measure));

	char unit[64];
	snprintf(unit, sizeof unit, "%s", unit_of(measure));
	struct plot_map map = {.file = picture->file,
			       .title = picture->title,
			       .xlabel = "slab size",
			       .ylabel = "shards",
			       .unit = unit,
			       .xnames = grid->xnames,
			       .ynames = grid->ynames,
			       .nx = grid->nx,
			       .ny = grid->ny,
			       .cost = cost};
	add_panel(d, &map, grid, like, measure, picture);
	/* Beside it the other engines with their own defaults. */
	for (size_t s = 0; s < plan->nsettings; s++) {
		const struct plan_point *other = plan->settings[s].like;
		size_t point = plan_point_of(plan, s, like->threads);
		if (plan->settings[s].is_default && other->engine != like->engine &&
		    point != SIZE_MAX)
			add_panel(d, &map, grid, &plan->points[point], measure, picture);
	}
	picture->wide = map.npanels > 1;
	if (map.npanels > 1)
		add_text(picture->caption, sizeof picture->caption,
			 " All panels have one scale of colours.");
	add_spread(d, like, measure, picture);
	plot_heat_map(d->plotter, &map);
	for (size_t k = 0; k < map.npanels; k++)
		free((void *)(uintptr_t)map.panels[k].values);
}

static bool compared(const struct plan *plan, unsigned threads)
{
	for (size_t t = 0; t < plan->nthreads; t++)
		if (plan->threads[t] == threads)
			return true;
	return false;
}

/* The maps of each slice of cistern or, without it, of the engine that comes first. Memory comes
 * first, and of one number of threads only: it hardly depends on it. */
static void draw_maps(struct drawing *d)
{
	const struct plan *plan = d->r->plan;
	const struct engine *engine = d->choice->made ? &engine_cistern : plan->points[0].engine;
	unsigned most = plan->threads[plan->nthreads - 1];
	for (unsigned k = 0; k < 2 * MEASURES; k++) {
		unsigned m = k % MEASURES;
		bool cost = (measures[m].flags & MEASURE_COST) != 0;
		if (!(measures[m].flags & MEASURE_MAP) || cost != (k < MEASURES))
			continue;
		for (size_t i = 0; i < plan->n; i++) {
			const struct plan_point *like = &plan->points[i];
			struct grid grid;
			if (like->engine != engine || !compared(plan, like->threads) ||
			    (cost && like->threads != most) || !first_of_slice(d, i))
				continue;
			grid.nx = grid_values(d, like, d->slab_size, &grid.xnames);
			grid.ny = grid_values(d, like, d->shards, &grid.ynames);
			if (grid.nx > 1 && grid.ny > 1)
				draw_map(d, like, &grid, m);
			free(grid.xnames);
			free(grid.ynames);
		}
	}
}

/* ---- the front */

static void draw_front(struct drawing *d)
{
	const struct plan *plan = d->r->plan;
	const struct choice *c = d->choice;
	size_t n = plan->nsettings, used = 0, nseries = 0;
	double *x = room(2 * n + 4, sizeof *x), *y = room(2 * n + 4, sizeof *y);
	char(*names)[64] = room(n, sizeof *names);
	const char **labels = room(n, sizeof *labels);
	struct plot_series *series = room(n + 4, sizeof *series);
	const struct engine *engine;

	for (size_t e = 0; (engine = engine_at(e)) != NULL; e++) {
		struct plot_series *one = &series[nseries];
		*one = (struct plot_series){.name = engine->name,
					    .style = PLOT_POINTS,
					    .color = (unsigned)nseries,
					    .x = x + used,
					    .y = y + used};
		for (size_t s = 0; s < n; s++)
			if (plan->settings[s].like->engine == engine && c->of[s].known) {
				x[used] = c->of[s].added / 1048576;
				y[used++] = c->of[s].speed.median;
				one->n++;
			}
		nseries += one->n > 0;
	}
	size_t *front, nfront = choice_front(d->r, c, &front);
	series[nseries] = (struct plot_series){.name = "the front",
					       .style = PLOT_STEPS,
					       .n = nfront,
					       .x = x + used,
					       .y = y + used,
					       .labels = labels};
	double last = -INFINITY, least = INFINITY, most = -INFINITY;
	for (size_t k = 0; k < used; k++) {
		least = y[k] < least ? y[k] : least;
		most = y[k] > most ? y[k] : most;
	}
	for (size_t i = 0; i < nfront; i++) {
		const struct plan_point *like = plan->settings[front[i]].like;
		x[used] = c->of[front[i]].added / 1048576;
		y[used] = c->of[front[i]].speed.median;
		/* The front rises: a label needs some height of its own. */
		snprintf(names[i], sizeof *names, "%.20s x %.20s", like->at[d->shards],
			 like->at[d->slab_size]);
		labels[i] = y[used] - last > 0.06 * (most - least) ? names[i] : NULL;
		last = labels[i] ? y[used] : last;
		used++;
	}
	nseries += nfront > 0;
	struct picture *picture = add_picture(d->pictures, PICTURE_FRONT);
	picture->wide = true;
	snprintf(picture->file, sizeof picture->file, "front");
	snprintf(picture->title, sizeof picture->title, "Speed against memory");
	snprintf(
	    picture->caption, sizeof picture->caption,
	    "Each point is a setting, up and to the left is better. The line is the front: no "
	    "setting of cistern that was measured is both smaller and faster. Labels are shards "
	    "x slab size. Speed is the geometric mean of inserts, hits, misses and the mix over "
	    "all numbers of threads, 1 for the defaults; bars are quartiles.");
	/* Colours far from those of the engines that come first. */
	bool same = c->base == c->chosen;
	const struct {
		const char *name;
		size_t setting;
		unsigned color;
	} marks[] = {{"recommended", c->chosen, 6}, {"the defaults", c->base, 3}};
	if (same)
		add_text(picture->caption, sizeof picture->caption,
			 " Recommended are the defaults.");
	for (size_t k = 0; k < (same ? 1 : 2); k++) {
		const struct choice_figures *f = &c->of[marks[k].setting];
		if (!f->known)
			continue;
		series[nseries++] = (struct plot_series){.name = marks[k].name,
							 .style = PLOT_MARK,
							 .color = marks[k].color,
							 .n = 1,
							 .x = x + used,
							 .y = y + used,
							 .low = &f->speed.q1,
							 .high = &f->speed.q3};
		x[used] = f->added / 1048576;
		y[used++] = f->speed.median;
	}
	plot_xy(d->plotter, &(struct plot_xy){.file = picture->file,
					      .title = picture->title,
					      .xlabel = "resident memory added, MiB",
					      .ylabel = "speed against the defaults",
					      .log_x = true,
					      .series = series,
					      .nseries = nseries});
	free(front);
	free(x);
	free(y);
	free(names);
	free(labels);
	free(series);
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

static void draw_threads(struct drawing *d, unsigned measure)
{
	const struct plan *plan = d->r->plan;
	size_t lock = axis_named("lock"), n = 0;
	struct line *lines = room(LINES, sizeof *lines);
	struct plot_series series[LINES];
	for (size_t s = 0; s < plan->nsettings && n < LINES; s++) {
		const struct plan_point *like = plan->settings[s].like;
		struct line *line = &lines[n];
		if (!default_but_lock(plan, s, lock))
			continue;
		memset(line, 0, sizeof *line);
		fill_line(d, s, measure, line);
		if (line->n < 2)
			continue;
		snprintf(line->name, sizeof line->name, "%.30s%s%.20s", like->engine->name,
			 *like->at[lock] ? ", " : "", like->at[lock]);
		series[n] =
		    (struct plot_series){line->name, PLOT_LINES, (unsigned)n, line->n, line->x,
					 line->y,    line->low,  line->high,  NULL};
		n++;
	}
	if (n > 0) {
		struct picture *picture = add_picture(d->pictures, PICTURE_THREADS);
		snprintf(picture->file, sizeof picture->file, "threads-%s", measures[measure].name);
		title_of(measure, picture->title, sizeof picture->title);
		add_text(picture->title, sizeof picture->title, " over threads");
		snprintf(
		    picture->caption, sizeof picture->caption,
		    "All threads together, in million a second, each engine with its defaults; "
		    "bars are quartiles. With more threads than processors (%u) a line should "
		    "stay level; where it falls, threads wait for each other.",
		    harness_cpus());
		plot_xy(d->plotter, &(struct plot_xy){.file = picture->file,
						      .title = picture->title,
						      .xlabel = "threads",
						      .ylabel = "million a second",
						      .ticks_at_values = true,
						      .from_zero = true,
						      .small = true,
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
