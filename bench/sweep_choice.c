/* SPDX-License-Identifier: MIT */
/* sweep_choice.c - what a sweep recommends. See sweep_choice.h; the rule is in recommend.h. */
#include "sweep_choice.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"

static void *room(size_t n, size_t size)
{
	void *p = calloc(n + 1, size);
	if (!p)
		cli_fail("out of memory");
	return p;
}

/* How far from the defaults: knobs that differ, and by how many doublings as a fine grading. */
static double distance(const struct plan *plan, size_t setting, size_t base)
{
	double far = plan_differences(plan, setting, base), steps = 0;
	for (size_t a = AXIS_KNOBS; a < axes_n; a++) {
		struct report_value x = axis_value(a, plan->settings[setting].like->at[a]);
		struct report_value y = axis_value(a, plan->settings[base].like->at[a]);
		if (axes[a].type != REPORT_TEXT && x.count != y.count)
			steps += fabs(log2(((double)x.count + 1) / ((double)y.count + 1)));
	}
	return far + steps / 1000;
}

/* The rounds of one setting against the base, from one on. */
struct series {
	double *speed, *memory;
	size_t rounds;
};

static struct series series_of(const struct results *r, size_t setting, size_t base, unsigned first)
{
	unsigned n = results_rounds(r, setting), m = results_rounds(r, base);
	struct series s = {NULL, NULL, 0};
	n = n < m ? n : m;
	s.speed = room(n, sizeof *s.speed);
	s.memory = room(n, sizeof *s.memory);
	for (unsigned round = first; round < n; round++) {
		s.speed[s.rounds] = results_speed(r, setting, base, round);
		s.memory[s.rounds] = results_memory(r, setting, base, round);
		s.rounds += !isnan(s.speed[s.rounds]) && !isnan(s.memory[s.rounds]);
	}
	return s;
}

static void series_free(struct series *s)
{
	free(s->speed);
	free(s->memory);
}

/* The options of cistern, and the settings that they are. */
struct options {
	struct recommend_option *of;
	struct series *series;
	size_t *setting;
	size_t n;
};

static struct options options_of(const struct results *r, size_t base, unsigned first)
{
	const struct plan *plan = r->plan;
	struct options o = {room(plan->nsettings, sizeof *o.of),
			    room(plan->nsettings, sizeof *o.series),
			    room(plan->nsettings, sizeof *o.setting), 0};
	for (size_t s = 0; s < plan->nsettings; s++) {
		if (plan->settings[s].like->engine != &engine_cistern)
			continue;
		o.setting[o.n] = s;
		o.series[o.n] = series_of(r, s, base, first);
		o.of[o.n] =
		    (struct recommend_option){o.series[o.n].speed, o.series[o.n].memory,
					      o.series[o.n].rounds, distance(plan, s, base)};
		o.n++;
	}
	return o;
}

static void options_free(struct options *o)
{
	for (size_t i = 0; i < o->n; i++)
		series_free(&o->series[i]);
	free(o->of);
	free(o->series);
	free(o->setting);
}

size_t choice_contenders(const struct results *r, size_t out[CHOICE_CONTENDERS + 1])
{
	size_t base = plan_default_of(r->plan, &engine_cistern);
	if (base == SIZE_MAX)
		return 0;
	struct options o = options_of(r, base, 0);
	size_t n = recommend_contenders(o.of, o.n, out + 1, CHOICE_CONTENDERS), used = 1;
	out[0] = base;
	for (size_t i = 1; i <= n; i++)
		if (o.setting[out[i]] != base)
			out[used++] = o.setting[out[i]];
	options_free(&o);
	return used > 1 ? used : 0;
}

static double added(const struct results *r, size_t setting)
{
	double sum = 0;
	for (size_t t = 0; t < r->plan->nthreads; t++) {
		size_t point = plan_point_of(r->plan, setting, r->plan->threads[t]);
		sum += log(results_spread(r, point, MEASURE_added_rss).median + 1);
	}
	return exp(sum / (double)r->plan->nthreads);
}

static void fill_figures(struct choice *choice, const struct results *r)
{
	size_t n = r->plan->nsettings;
	double *memory = room(n, sizeof *memory), *speed = room(n, sizeof *speed);
	bool *front = room(n, sizeof *front);
	for (size_t s = 0; s < n; s++) {
		struct choice_figures *f = &choice->of[s];
		struct series series = series_of(r, s, choice->base, 0);
		memory[s] = speed[s] = NAN;
		f->known = series.rounds > 0;
		if (f->known) {
			f->added = added(r, s);
			f->speed = harness_spread_of(series.speed, series.rounds);
			f->memory = harness_spread_of(series.memory, series.rounds);
			if (r->plan->settings[s].like->engine == &engine_cistern) {
				memory[s] = f->added;
				speed[s] = f->speed.median;
			}
		}
		series_free(&series);
	}
	recommend_front(memory, speed, n, front);
	for (size_t s = 0; s < n; s++)
		choice->of[s].front = front[s];
	free(memory);
	free(speed);
	free(front);
}

/* The distance of the quartiles of a setting's own speed, as a part of the median. */
static double noise_of(const struct results *r, size_t setting, unsigned first)
{
	unsigned n = results_rounds(r, setting);
	double *speeds = room(n, sizeof *speeds);
	for (unsigned round = first; round < n; round++)
		speeds[round - first] = results_speed(r, setting, SIZE_MAX, round);
	struct harness_spread spread = {1, 1, 1};
	if (n > first)
		spread = harness_spread_of(speeds, n - first);
	free(speeds);
	return (spread.q3 - spread.q1) / spread.median;
}

void choice_make(struct choice *choice, const struct results *r, unsigned first)
{
	*choice = (struct choice){.base = plan_default_of(r->plan, &engine_cistern)};
	choice->made = choice->base != SIZE_MAX;
	if (!choice->made)
		return;
	if (first >= results_rounds(r, choice->base))
		first = 0;
	choice->rounds = results_rounds(r, choice->base) - first;
	choice->of = room(r->plan->nsettings, sizeof *choice->of);
	struct options o = options_of(r, choice->base, first);
	choice->noise = noise_of(r, choice->base, first);
	struct recommend_choice c = recommend_choose(o.of, o.n, choice->noise);
	choice->chosen = o.setting[c.chosen];
	choice->best = o.setting[c.best];
	choice->gain = c.gain;
	struct series *chosen = &o.series[c.chosen];
	choice->speed = choice->memory = (struct harness_spread){NAN, NAN, NAN};
	if (chosen->rounds) {
		/* Sorts them: the options are not asked any more. */
		choice->speed = harness_spread_of(chosen->speed, chosen->rounds);
		choice->memory = harness_spread_of(chosen->memory, chosen->rounds);
	}
	options_free(&o);
	fill_figures(choice, r);
}

void choice_free(struct choice *choice)
{
	free(choice->of);
	*choice = (struct choice){0};
}

/* ---- in words */

static bool told(const struct results *r, size_t setting, size_t axis)
{
	const struct plan *plan = r->plan;
	const struct plan_point *like = plan->settings[setting].like;
	size_t base = plan_default_of(plan, like->engine);
	if (!*like->at[axis])
		return false;
	/* A full sweep varies nearly everything: only what makes the difference is told, and the
	 * two knobs that everything is about. */
	return axis == axis_named("shards") || axis == axis_named("slab_size") ||
	       (base != SIZE_MAX &&
		strcmp(plan->settings[base].like->at[axis], like->at[axis]) != 0);
}

void choice_name(const struct results *r, size_t setting, char *out, size_t size)
{
	size_t used = 0;
	*out = '\0';
	for (size_t a = AXIS_KNOBS; a < axes_n && used < size; a++)
		if (told(r, setting, a))
			used +=
			    (size_t)snprintf(out + used, size - used, "%s%s=%s", used ? " " : "",
					     axes[a].key, r->plan->settings[setting].like->at[a]);
}

bool choice_environment(const struct results *r, size_t setting, size_t i, char *out, size_t size)
{
	/* All that a program needs to get what was measured: axes, and knobs that --set fixed. */
	const cistern_config *config = &r->plan->settings[setting].like->config;
	const struct config_knob *knob;
	cistern_config plain;
	cistern_config_init(&plain);
	for (size_t k = 0; (knob = config_knob_at(k)) != NULL; k++) {
		char value[32], usual[32];
		config_knob_text(config, k, value, sizeof value);
		config_knob_text(&plain, k, usual, sizeof usual);
		bool always =
		    strcmp(knob->key, "shards") == 0 || strcmp(knob->key, "slab_size") == 0;
		if ((!always && strcmp(value, usual) == 0) || i-- > 0)
			continue;
		size_t used = (size_t)snprintf(out, size, "CISTERN_");
		for (const char *c = knob->key; *c && used + 1 < size; c++)
			out[used++] = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
		/* Of an axis, what was in effect: a number rather than auto. */
		size_t axis = axis_named(knob->key);
		const char *at = axis < axes_n ? r->plan->settings[setting].like->at[axis] : value;
		snprintf(out + used, size - used, "=%s", at);
		return true;
	}
	return false;
}

void choice_effect(const struct choice *choice, char *out, size_t size)
{
	const struct choice_figures *f = &choice->of[choice->chosen];
	if (choice->chosen == choice->base)
		snprintf(out, size, "The defaults of the library: they add %.2f MiB.",
			 f->added / 1048576);
	else
		snprintf(
		    out, size,
		    "Against the defaults of the library: %.2f times the speed (quartiles %.2f "
		    "to %.2f) and %.2f times the memory (%.2f to %.2f), %.2f MiB for %.2f MiB.",
		    choice->speed.median, choice->speed.q1, choice->speed.q3, choice->memory.median,
		    choice->memory.q1, choice->memory.q3, f->added / 1048576,
		    choice->of[choice->base].added / 1048576);
}

void choice_reason(const struct results *r, const struct choice *choice, char *out, size_t size)
{
	char best[256], measured[64];
	choice_name(r, choice->best, best, sizeof best);
	snprintf(measured, sizeof measured, "%u round%s", choice->rounds,
		 choice->rounds == 1 ? "" : "s");
	if (choice->rounds < 2)
		snprintf(out, size, "Measured once only: that tells no setting from the defaults.");
	else if (choice->best == choice->chosen && choice->chosen == choice->base)
		snprintf(out, size, "No other setting has a higher score in %s.", measured);
	else if (choice->best == choice->chosen)
		snprintf(
		    out, size,
		    "It has the highest score: it is clearly better than the defaults, and than "
		    "each nearer setting that is, beyond the spread of %s.",
		    measured);
	else
		snprintf(
		    out, size,
		    "%s has %.2f times this one's score (quartiles %.2f to %.2f in %s, in which "
		    "the defaults themselves varied by %.0f%%): that is not clearly more, so the "
		    "setting nearer to the defaults stays.",
		    best, choice->gain.median, choice->gain.q1, choice->gain.q3, measured,
		    100 * choice->noise);
}

static const struct choice *sorted_choice; /* qsort hands nothing on */

static int by_memory(const void *a, const void *b)
{
	double x = sorted_choice->of[*(const size_t *)a].added;
	double y = sorted_choice->of[*(const size_t *)b].added;
	return (x > y) - (x < y);
}

size_t choice_front(const struct results *r, const struct choice *choice, size_t **settings)
{
	size_t n = 0;
	*settings = room(r->plan->nsettings, sizeof **settings);
	for (size_t s = 0; choice->made && s < r->plan->nsettings; s++)
		if (choice->of[s].front)
			(*settings)[n++] = s;
	sorted_choice = choice;
	qsort(*settings, n, sizeof **settings, by_memory);
	return n;
}
