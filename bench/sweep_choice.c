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

/* The rule of the recommendation, over all rounds and in both directions. */
static bool apart(const struct series *a, const struct series *base, double noise)
{
	struct recommend_option x = {a->speed, a->memory, a->rounds, 1};
	struct recommend_option y = {base->speed, base->memory, base->rounds, 0};
	return recommend_clearly_better(&x, &y, noise) || recommend_clearly_better(&y, &x, noise);
}

static void fill_figures(struct choice *choice, const struct results *r, unsigned first)
{
	size_t n = r->plan->nsettings;
	double *memory = room(n, sizeof *memory), *speed = room(n, sizeof *speed);
	bool *front = room(n, sizeof *front);
	struct series base = series_of(r, choice->base, choice->base, 0);
	double noise = noise_of(r, choice->base, 0);
	for (size_t s = 0; s < n; s++) {
		struct choice_figures *f = &choice->of[s];
		struct series series = series_of(r, s, choice->base, 0);
		memory[s] = speed[s] = NAN;
		f->known = series.rounds > 0;
		if (f->known) {
			f->added = added(r, s);
			f->apart = apart(&series, &base, noise);
			f->confirmed = first > 0 && results_rounds(r, s) > first;
			/* Sorts them. */
			f->speed = harness_spread_of(series.speed, series.rounds);
			f->memory = harness_spread_of(series.memory, series.rounds);
			if (r->plan->settings[s].like->engine == &engine_cistern) {
				memory[s] = f->added;
				speed[s] = f->speed.median;
			}
		}
		series_free(&series);
	}
	series_free(&base);
	recommend_front(memory, speed, n, front);
	for (size_t s = 0; s < n; s++)
		choice->of[s].front = front[s];
	free(memory);
	free(speed);
	free(front);
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
	fill_figures(choice, r, first);
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

/* "CISTERN_SLAB_SIZE=4K" */
static void variable(char *out, size_t size, const char *key, const char *value)
{
	char name[CONFIG_VARIABLE_MAX];
	config_variable(name, key);
	snprintf(out, size, "%s=%s", name, value);
}

static bool nothing_to_set(const struct results *r, const struct choice *choice, char *out,
			   size_t size)
{
	char name[256], here[512] = "";
	size_t used = 0;
	choice_name(r, choice->base, name, sizeof name);
	for (const char *at = name; *at && used + 3 < sizeof here; at++)
		used += (size_t)snprintf(here + used, 3, *at == ' ' ? ", " : "%c", *at);
	snprintf(out, size, "# Nothing %sto set: the library's defaults suit (here %s).",
		 r->plan->common->nsets ? "else " : "", here);
	return true;
}

bool choice_environment(const struct results *r, const struct choice *choice, size_t i, char *out,
			size_t size)
{
	const struct plan *plan = r->plan;
	for (size_t k = 0; k < plan->common->nsets; k++) {
		const char *key = plan->common->sets[k], *value = strchr(key, '=') + 1;
		char name[64];
		snprintf(name, sizeof name, "%.*s", (int)(value - key - 1), key);
		/* Set twice: the last one counts. */
		if (cli_set_value(plan->common, name) != value || i-- > 0)
			continue;
		variable(out, size, name, value);
		return true;
	}
	if (choice->chosen == choice->base)
		return i == 0 && nothing_to_set(r, choice, out, size);
	const struct plan_point *base = plan->settings[choice->base].like;
	const struct plan_point *chosen = plan->settings[choice->chosen].like;
	for (size_t a = AXIS_KNOBS; a < axes_n; a++) {
		if (strcmp(base->at[a], chosen->at[a]) == 0 || i-- > 0)
			continue;
		variable(out, size, axes[a].key, chosen->at[a]);
		return true;
	}
	return false;
}

const char *choice_base_words(const struct results *r)
{
	return r->plan->common->nsets ? "the settings given with --set"
				      : "the defaults of the library";
}

void choice_effect(const struct results *r, const struct choice *choice, char *out, size_t size)
{
	const struct choice_figures *f = &choice->of[choice->chosen];
	const char *base = choice_base_words(r);
	char own[REPORT_BYTES_TEXT], other[REPORT_BYTES_TEXT];
	report_bytes(own, f->added);
	if (choice->chosen == choice->base)
		snprintf(out, size, "T%s: they add %s.", base + 1, own);
	else
		snprintf(out, size,
			 "Against %s: %.2f times the speed (quartiles %.2f to %.2f) and %.2f times "
			 "the memory (%.2f to %.2f), %s for %s.",
			 base, choice->speed.median, choice->speed.q1, choice->speed.q3,
			 choice->memory.median, choice->memory.q1, choice->memory.q3, own,
			 report_bytes(other, choice->of[choice->base].added));
}

void choice_reason(const struct results *r, const struct choice *choice, char *out, size_t size)
{
	const char *base = r->plan->common->nsets ? "the given settings" : "the defaults";
	char best[256], why[128];
	double gain = choice->gain.median - 1;
	choice_name(r, choice->best, best, sizeof best);
	if (choice->noise >= gain)
		snprintf(why, sizeof why,
			 "T%s alone varied by %.0f%%, so that this is within noise", base + 1,
			 100 * choice->noise);
	else
		snprintf(why, sizeof why, "That is not %s",
			 gain > RECOMMEND_MARGIN ? "better beyond the spread of the rounds"
						 : "enough to remember a setting for");
	if (choice->rounds < RECOMMEND_ROUNDS)
		snprintf(out, size,
			 "It takes %d rounds and more to tell a setting from %s; these are %u.",
			 RECOMMEND_ROUNDS, base, choice->rounds);
	else if (choice->best == choice->chosen && choice->chosen == choice->base)
		snprintf(out, size, "No other setting has a higher score in %u rounds.",
			 choice->rounds);
	else if (choice->best == choice->chosen)
		snprintf(out, size,
			 "It has the highest score: it is clearly better than %s, and than each "
			 "nearer setting that is, beyond the spread of %u rounds.",
			 base, choice->rounds);
	else
		snprintf(out, size,
			 "Runner-up: %s scored %.2f x the recommended setting (quartiles %.2f to "
			 "%.2f over %u rounds). %s, and %s.",
			 best, choice->gain.median, choice->gain.q1, choice->gain.q3,
			 choice->rounds, why,
			 choice->chosen != choice->base ? "the setting nearer to the defaults stays"
			 : r->plan->common->nsets       ? "the given settings stay"
							: "the defaults stay");
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
