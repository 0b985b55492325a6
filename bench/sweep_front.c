/* SPDX-License-Identifier: MIT */
/*
 * sweep_front.c - speed against memory: a picture around the Pareto front, with names, and a small
 * one of all settings. See sweep_drawing.h.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sweep_drawing.h"

/* The settings that have a name in the picture: the front, the recommended one, the defaults. */
struct named {
	size_t *of, n;
	size_t nfront;
	double *x, *y, *low, *high;
	char (*text)[96];
	struct plot_label *labels;
};

static double memory_of(const struct choice_figures *f)
{
	return f->added / 1048576;
}

/* "1 shard, 64K", and what else is not as by default. */
static void words(const struct drawing *d, size_t setting, char *out, size_t size)
{
	const struct plan *plan = d->r->plan;
	const struct plan_point *like = plan->settings[setting].like;
	const struct plan_point *base = plan->settings[d->choice->base].like;
	const char *shards = like->at[d->shards];
	snprintf(out, size, "%s shard%s, %s", shards, strcmp(shards, "1") == 0 ? "" : "s",
		 like->at[d->slab_size]);
	for (size_t a = AXIS_KNOBS; a < axes_n; a++)
		if (a != d->shards && a != d->slab_size && strcmp(like->at[a], base->at[a]) != 0)
			drawing_text(out, size, ", %s %s", axes[a].key, like->at[a]);
}

static void add_named(const struct drawing *d, struct named *named, size_t setting)
{
	const struct choice_figures *f = &d->choice->of[setting];
	size_t k = named->n;
	for (size_t i = 0; i < k; i++)
		if (named->of[i] == setting)
			return;
	if (!f->known)
		return;
	/* The defaults are what all else is held against: their speed is 1, in every round. */
	bool bars = setting != d->choice->base && results_rounds(d->r, setting) > 1;
	named->of[k] = setting;
	named->x[k] = memory_of(f);
	named->y[k] = f->speed.median;
	named->low[k] = bars ? f->speed.q1 : f->speed.median;
	named->high[k] = bars ? f->speed.q3 : f->speed.median;
	words(d, setting, named->text[k], sizeof *named->text);
	named->labels[k] = (struct plot_label){named->x[k], named->y[k], named->text[k]};
	named->n++;
}

static struct named named_of(const struct drawing *d)
{
	size_t *front, n = choice_front(d->r, d->choice, &front);
	struct named named = {.of = drawing_room(n + 2, sizeof *named.of),
			      .x = drawing_room(n + 2, sizeof *named.x),
			      .y = drawing_room(n + 2, sizeof *named.y),
			      .low = drawing_room(n + 2, sizeof *named.low),
			      .high = drawing_room(n + 2, sizeof *named.high),
			      .text = drawing_room(n + 2, sizeof *named.text),
			      .labels = drawing_room(n + 2, sizeof *named.labels)};
	for (size_t i = 0; i < n; i++)
		add_named(d, &named, front[i]);
	named.nfront = named.n;
	add_named(d, &named, d->choice->chosen);
	add_named(d, &named, d->choice->base);
	free(front);
	return named;
}

static void named_free(struct named *named)
{
	free(named->of);
	free(named->x);
	free(named->y);
	free(named->low);
	free(named->high);
	free(named->text);
	free(named->labels);
}

/* All settings of the engines, a series each. */
struct clouds {
	struct plot_series *series;
	size_t n;
	double *x, *y;
};

static struct clouds clouds_of(const struct drawing *d)
{
	const struct plan *plan = d->r->plan;
	size_t engines = 0, used = 0;
	while (engine_at(engines))
		engines++;
	/* Room for the front, its bars and two marks. */
	struct clouds c = {.series = drawing_room(engines + 4, sizeof *c.series),
			   .x = drawing_room(plan->nsettings, sizeof *c.x),
			   .y = drawing_room(plan->nsettings, sizeof *c.y)};
	for (size_t e = 0; e < engines; e++) {
		struct plot_series *one = &c.series[c.n];
		*one = (struct plot_series){.name = engine_at(e)->name,
					    .style = PLOT_POINTS,
					    .color = (unsigned)c.n,
					    .x = c.x + used,
					    .y = c.y + used};
		for (size_t s = 0; s < plan->nsettings; s++) {
			const struct choice_figures *f = &d->choice->of[s];
			if (plan->settings[s].like->engine != engine_at(e) || !f->known)
				continue;
			c.x[used] = memory_of(f);
			c.y[used++] = f->speed.median;
			one->n++;
		}
		c.n += one->n > 0;
	}
	return c;
}

/* What the named settings span, with room for the names on the right. */
static void window_of(const struct named *named, struct plot_range window[2])
{
	window[0] = window[1] = (struct plot_range){INFINITY, -INFINITY};
	for (size_t i = 0; i < named->n; i++) {
		window[0].least = fmin(window[0].least, named->x[i]);
		window[0].most = fmax(window[0].most, named->x[i]);
		window[1].least = fmin(window[1].least, named->low[i]);
		window[1].most = fmax(window[1].most, named->high[i]);
	}
	/* Differences of less than some percent are not worth a picture of their own. */
	double wide = fmax(window[0].most - window[0].least, 0.02 * window[0].most);
	double high = fmax(window[1].most - window[1].least, 0.1);
	window[0].least -= 0.1 * wide;
	window[0].most += 0.35 * wide;
	window[1].least -= 0.1 * high;
	window[1].most += 0.1 * high;
}

/* Keeps the series with a point inside; returns how many points are outside. */
static size_t clip(struct clouds *c, const struct plot_range window[2])
{
	size_t outside = 0, kept = 0;
	for (size_t s = 0; s < c->n; s++) {
		size_t inside = 0;
		for (size_t i = 0; i < c->series[s].n; i++)
			inside += c->series[s].x[i] >= window[0].least &&
				  c->series[s].x[i] <= window[0].most &&
				  c->series[s].y[i] >= window[1].least &&
				  c->series[s].y[i] <= window[1].most;
		outside += c->series[s].n - inside;
		if (inside)
			c->series[kept++] = c->series[s];
	}
	c->n = kept;
	return outside;
}

static void draw_all(struct drawing *d, struct picture *picture, const struct plot_range window[2])
{
	struct clouds c = clouds_of(d);
	struct page_picture *part = drawing_part(picture);
	snprintf(part->file, sizeof part->file, "front-all");
	snprintf(part->panel, sizeof part->panel, "All settings");
	plot_xy(d->plotter, &(struct plot_xy){.file = part->file,
					      .title = "Speed against memory: all settings",
					      .panel = part->panel,
					      .xlabel = "resident memory added, MiB",
					      .ylabel = "speed, \xC3\x97 defaults",
					      .width = 400,
					      .height = 420,
					      .frame = window,
					      .series = c.series,
					      .nseries = c.n});
	free(c.series);
	free(c.x);
	free(c.y);
}

static void tell(const struct drawing *d, bool both, struct picture *picture)
{
	snprintf(picture->title, sizeof picture->title, "Speed against memory");
	snprintf(picture->caption, sizeof picture->caption,
		 "Each point is a setting; up and to the left is better. The line is the Pareto "
		 "front: no setting of cistern that was measured is both smaller and faster. Names "
		 "are shard count and slab size. Speed is the geometric mean of inserts, hits, "
		 "misses and the mix over all numbers of threads; 1 is the defaults. Bars are "
		 "quartiles.%s%s",
		 both ? " The rectangle among all settings is what the larger picture shows." : "",
		 d->choice->base == d->choice->chosen ? " The defaults are recommended." : "");
}

void draw_front(struct drawing *d)
{
	const struct choice *c = d->choice;
	struct named named = named_of(d);
	struct clouds clouds = clouds_of(d);
	struct picture *picture = drawing_picture(d->pictures, PICTURE_FRONT);
	struct page_picture *part = drawing_part(picture);
	struct plot_range window[2];
	window_of(&named, window);
	bool both = clip(&clouds, window) > 0;
	picture->layout = both ? PAGE_THREE_TO_TWO : PAGE_WIDE;
	tell(d, both, picture);

	clouds.series[clouds.n++] = (struct plot_series){.name = "Pareto front",
							 .style = PLOT_STEPS,
							 .n = named.nfront,
							 .x = named.x,
							 .y = named.y};
	clouds.series[clouds.n++] = (struct plot_series){.style = PLOT_BARS,
							 .n = named.n,
							 .x = named.x,
							 .y = named.y,
							 .low = named.low,
							 .high = named.high};
	/* Colours far from those of the engines that come first. */
	bool same = c->base == c->chosen;
	const struct {
		const char *name;
		size_t setting;
		unsigned color;
	} marks[] = {{"recommended", c->chosen, 6}, {"the defaults", c->base, 3}};
	for (size_t k = 0; k < (same ? 1 : 2); k++)
		for (size_t i = 0; i < named.n; i++)
			if (named.of[i] == marks[k].setting)
				clouds.series[clouds.n++] =
				    (struct plot_series){.name = marks[k].name,
							 .style = PLOT_MARK,
							 .color = marks[k].color,
							 .n = 1,
							 .x = &named.x[i],
							 .y = &named.y[i]};
	snprintf(part->file, sizeof part->file, "front");
	if (both)
		snprintf(part->panel, sizeof part->panel, "Around the front");
	plot_xy(d->plotter,
		&(struct plot_xy){.file = part->file,
				  .title = "Speed against memory: around the Pareto front",
				  .panel = part->panel,
				  .xlabel = "resident memory added, MiB",
				  .ylabel = "speed, \xC3\x97 defaults",
				  .width = both ? 600 : 1012,
				  .height = 420,
				  .xrange = window[0],
				  .yrange = window[1],
				  .series = clouds.series,
				  .nseries = clouds.n,
				  .labels = named.labels,
				  .nlabels = named.n});
	if (both)
		draw_all(d, picture, window);
	named_free(&named);
	free(clouds.series);
	free(clouds.x);
	free(clouds.y);
}
