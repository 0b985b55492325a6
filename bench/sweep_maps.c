/* SPDX-License-Identifier: MIT */
/*
 * sweep_maps.c - heat maps over shards and slab size: a picture for each measure, in it a map for
 * each engine and number of threads, all on one scale. See sweep_drawing.h.
 *
 * Which measures have maps is in the list of measures.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sweep_drawing.h"

/* A measure in the unit of its pictures. */
static double scaled(unsigned measure, double value)
{
	return measures[measure].type == REPORT_BYTES ? value / 1048576 : value;
}

static const char *unit_of(unsigned measure)
{
	return measures[measure].type == REPORT_BYTES ? "MiB" : "M strings/s";
}

/* Two points of one slice differ in shards, slab size and threads only. */
static bool same_slice(const struct drawing *d, const struct plan_point *a,
		       const struct plan_point *b)
{
	if (a->engine != b->engine)
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
				 plan->points[i].threads == like->threads &&
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

/* One map: an engine with a number of threads. */
struct map {
	const struct plan_point *like;
	double *values, least, most;
	size_t cells, framed;
};

static struct map map_of(const struct drawing *d, const struct plan_point *like, unsigned threads,
			 const struct grid *grid, unsigned measure)
{
	const struct plan *plan = d->r->plan;
	size_t n = grid->nx * grid->ny, base = plan_default_of(plan, like->engine);
	struct map map = {like,    drawing_room(n, sizeof *map.values), INFINITY, -INFINITY, 0,
			  SIZE_MAX};
	for (size_t k = 0; k < n; k++)
		map.values[k] = NAN;
	for (size_t i = 0; i < plan->n; i++) {
		const struct plan_point *p = &plan->points[i];
		size_t x = 0, y = 0;
		if (p->threads != threads || !same_slice(d, p, like))
			continue;
		while (x < grid->nx && strcmp(grid->xnames[x], p->at[d->slab_size]) != 0)
			x++;
		while (y < grid->ny && strcmp(grid->ynames[y], p->at[d->shards]) != 0)
			y++;
		double v = scaled(measure, results_spread(d->r, i, measure).median);
		if (x == grid->nx || y == grid->ny || isnan(v))
			continue;
		map.values[y * grid->nx + x] = v;
		map.least = v < map.least ? v : map.least;
		map.most = v > map.most ? v : map.most;
		map.cells++;
		if (p->setting == base)
			map.framed = y * grid->nx + x;
	}
	return map;
}

/* How far to trust the cells of a slice. */
static double typical_spread(const struct drawing *d, const struct plan_point *like,
			     unsigned measure)
{
	const struct plan *plan = d->r->plan;
	double *parts = drawing_room(plan->n, sizeof *parts), typical = NAN;
	size_t n = 0;
	for (size_t i = 0; i < plan->n; i++) {
		struct harness_spread s = results_spread(d->r, i, measure);
		if (same_slice(d, &plan->points[i], like) && d->r->n[i] > 1 && s.median > 0)
			parts[n++] = (s.q3 - s.q1) / s.median;
	}
	if (n > 0)
		typical = harness_spread_of(parts, n).median;
	free(parts);
	return typical;
}

static const struct plan_point *default_like(const struct plan *plan, const struct engine *engine)
{
	size_t base = plan_default_of(plan, engine);
	return base == SIZE_MAX ? NULL : plan->settings[base].like;
}

enum { MAPS = PICTURE_PARTS };

/* The maps of a slice and, beside it, of the other engines with their own defaults. */
static size_t collect(const struct drawing *d, const struct plan_point *like,
		      const struct grid *grid, unsigned measure, struct map maps[MAPS],
		      unsigned threads[MAPS])
{
	const struct plan *plan = d->r->plan;
	const struct engine *engine;
	bool cost = (measures[measure].flags & MEASURE_COST) != 0;
	size_t n = 0;
	for (size_t e = 0; e == 0 || (engine = engine_at(e - 1)) != NULL; e++) {
		const struct plan_point *one = e == 0 ? like : default_like(plan, engine);
		if (!one || (e > 0 && engine == like->engine))
			continue;
		/* Memory hardly depends on the number of threads: the last one only. */
		for (size_t t = cost ? plan->nthreads - 1 : 0; t < plan->nthreads && n < MAPS;
		     t++) {
			maps[n] = map_of(d, one, plan->threads[t], grid, measure);
			threads[n] = plan->threads[t];
			if (maps[n].cells < 4)
				free(maps[n].values);
			else
				n++;
		}
	}
	return n;
}

/* What is not as by default in a slice, for the name of the file and the title. */
static void tell_slice(const struct drawing *d, const struct plan_point *like, char *file,
		       struct picture *picture)
{
	const struct plan_point *base = default_like(d->r->plan, like->engine);
	for (size_t a = AXIS_KNOBS; a < axes_n; a++) {
		if (a == d->shards || a == d->slab_size || !base ||
		    strcmp(base->at[a], like->at[a]) == 0)
			continue;
		drawing_text(file, sizeof picture->parts->file, "-%s-%s", axes[a].key, like->at[a]);
		drawing_text(picture->title, sizeof picture->title, ", %s %s", axes[a].key,
			     like->at[a]);
	}
}

static void tell_values(const struct drawing *d, const struct map *maps, size_t n, unsigned measure,
			struct picture *picture)
{
	for (size_t k = 0; k < n; k++) {
		double least = maps[k].least, most = maps[k].most;
		const struct engine *engine = maps[k].like->engine;
		if (k > 0 && maps[k - 1].like->engine == engine)
			continue;
		for (size_t i = k + 1; i < n && maps[i].like->engine == engine; i++) {
			least = maps[i].least < least ? maps[i].least : least;
			most = maps[i].most > most ? maps[i].most : most;
		}
		drawing_text(picture->caption, sizeof picture->caption, "%s%s: %.3g to %.3g %s",
			     k ? " " : "", engine->name, least, most, unit_of(measure));
		double spread = typical_spread(d, maps[k].like, measure);
		if (isnan(spread))
			drawing_text(picture->caption, sizeof picture->caption, ".");
		else
			drawing_text(
			    picture->caption, sizeof picture->caption,
			    "; the quartiles of a cell are typically (median) %.1f%% apart.",
			    100 * spread);
	}
}

static void draw_map(struct drawing *d, const struct plan_point *like, const struct grid *grid,
		     unsigned measure)
{
	struct map maps[MAPS];
	unsigned threads[MAPS];
	size_t n = collect(d, like, grid, measure, maps, threads);
	char slice[sizeof((struct picture *)NULL)->parts->file] = "", title[512];
	if (n == 0)
		return;
	struct picture *picture = drawing_picture(d->pictures, PICTURE_MAP);
	picture->layout = n > 1 ? PAGE_PAIRS : PAGE_WIDE;
	drawing_title(measure, picture->title, sizeof picture->title);
	tell_slice(d, like, slice, picture);
	tell_values(d, maps, n, measure, picture);
	double least = INFINITY, most = -INFINITY;
	for (size_t k = 0; k < n; k++) {
		least = maps[k].least < least ? maps[k].least : least;
		most = maps[k].most > most ? maps[k].most : most;
	}
	for (size_t k = 0; k < n; k++) {
		const char *engine = maps[k].like->engine->name;
		bool other = maps[k].like->engine != like->engine;
		struct page_picture *part = drawing_part(picture);
		snprintf(part->file, sizeof part->file, "%s-threads%u%s%s%s",
			 measures[measure].name, threads[k], slice, other ? "-" : "",
			 other ? engine : "");
		snprintf(part->panel, sizeof part->panel, "%s, %u thread%s", engine, threads[k],
			 threads[k] == 1 ? "" : "s");
		snprintf(title, sizeof title, "%s, %s: %s", picture->title, unit_of(measure),
			 part->panel);
		plot_heat_map(d->plotter,
			      &(struct plot_map){.file = part->file,
						 .title = title,
						 .panel = part->panel,
						 .xlabel = "slab size",
						 .ylabel = "shards",
						 .xnames = grid->xnames,
						 .ynames = grid->ynames,
						 .nx = grid->nx,
						 .ny = grid->ny,
						 .values = maps[k].values,
						 .least = least,
						 .most = most,
						 .framed = maps[k].framed,
						 .cost = measures[measure].flags & MEASURE_COST});
		free(maps[k].values);
	}
}

static bool compared(const struct plan *plan, unsigned threads)
{
	for (size_t t = 0; t < plan->nthreads; t++)
		if (plan->threads[t] == threads)
			return true;
	return false;
}

/* The maps of each slice of cistern or, without it, of the engine that comes first; of memory
 * first. */
void draw_maps(struct drawing *d)
{
	const struct plan *plan = d->r->plan;
	const struct engine *engine = d->choice->made ? &engine_cistern : plan->points[0].engine;
	for (unsigned k = 0; k < 2 * MEASURES; k++) {
		unsigned m = k % MEASURES;
		bool cost = (measures[m].flags & MEASURE_COST) != 0;
		if (!(measures[m].flags & MEASURE_MAP) || cost != (k < MEASURES))
			continue;
		for (size_t i = 0; i < plan->n; i++) {
			const struct plan_point *like = &plan->points[i];
			struct grid grid;
			if (like->engine != engine || !compared(plan, like->threads) ||
			    !first_of_slice(d, i))
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
