/* SPDX-License-Identifier: MIT */
/*
 * sweep_tables.c - the tables on the page of a sweep. See sweep_tables.h.
 *
 * Columns follow the list of measures where they can. A table has one row a setting or a point, and
 * a dash where there is no figure.
 */
#include "sweep_tables.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

unsigned tables_threads(const struct plan *plan)
{
	unsigned most = 0;
	for (size_t t = 0; t < plan->nthreads; t++)
		most = plan->threads[t] > most ? plan->threads[t] : most;
	return most;
}

double tables_median(const struct results *r, size_t point, unsigned measure)
{
	return point == SIZE_MAX ? NAN : results_spread(r, point, measure).median;
}

/* A figure, or a dash where there is none. */
void tables_cell(struct page *p, double value, int digits)
{
	if (isnan(value))
		page_cell(p, "\xE2\x80\x93");
	else
		page_cell(p, "%.*f", digits, value);
}

void tables_cell_bytes(struct page *p, double bytes)
{
	char text[REPORT_BYTES_TEXT];
	page_cell(p, "%s", isnan(bytes) ? "\xE2\x80\x93" : report_bytes(text, bytes));
}

/* The two quartiles, or a dash where a single round has none. */
void tables_cell_quartiles(struct page *p, const struct harness_spread *s, unsigned rounds)
{
	if (rounds < 2 || isnan(s->median))
		page_cell(p, "\xE2\x80\x93");
	else
		page_cell(p, "%.2f to %.2f", s->q1, s->q3);
}

/* ---- one knob at a time */

/* Fewer rounds than these tell little of so many settings. */
enum { KNOB_ROUNDS = 9 };

/* The axis in which a setting differs from the defaults, if it is one only; axes_n otherwise. */
static size_t only_difference(const struct plan *plan, size_t setting, size_t base)
{
	size_t only = axes_n;
	if (plan_differences(plan, setting, base) != 1)
		return axes_n;
	for (size_t a = AXIS_KNOBS; a < axes_n; a++)
		if (strcmp(plan->settings[setting].like->at[a], plan->settings[base].like->at[a]))
			only = a;
	return only;
}

void tables_knobs(struct page *p, const struct sweep_page *s)
{
	static const struct page_column columns[] = {
	    {"Knob", NULL, false, 0},
	    {"Value", NULL, true, 0},
	    {"Speed", "\xC3\x97 defaults", true, 0},
	    {"Quartiles of speed", NULL, true, 0},
	    {"Memory", "\xC3\x97 defaults", true, 0},
	    {"Memory added", NULL, true, 0},
	};
	const struct plan *plan = s->results->plan;
	const struct choice *c = s->choice;
	unsigned rounds = s->rounds;
	page_paragraph(p,
		       "Each knob by itself, all others as in %s. Grey rows are not "
		       "distinguishable from the defaults by the rule of the recommendation, over "
		       "%u round%s.%s",
		       choice_base_words(s->results), rounds, rounds == 1 ? "" : "s",
		       rounds < KNOB_ROUNDS ? " With so few rounds this table gives hints, not "
					      "findings: repeat it with `--rounds 9`, or compare "
					      "two values with `cistern-compare`."
					    : " Among many rows, some pass it by chance.");
	page_table_begin(p, "cistern, over all numbers of threads that settings are compared with",
			 columns, sizeof columns / sizeof *columns);
	for (size_t a = AXIS_KNOBS; a < axes_n; a++) {
		const char **values;
		size_t n = plan_values(plan, a, &values);
		for (size_t v = 0; v < n; v++)
			for (size_t k = 0; k < plan->nsettings; k++) {
				const struct plan_point *like = plan->settings[k].like;
				const struct choice_figures *f = &c->of[k];
				bool only = only_difference(plan, k, c->base) == a;
				if (like->engine != &engine_cistern || !f->known ||
				    strcmp(like->at[a], values[v]) != 0 ||
				    !(only ||
				      (k == c->base && plan_varies(plan, &engine_cistern, a))))
					continue;
				page_row_begin(p, k == c->base ? PAGE_MARKED
						  : f->apart   ? PAGE_PLAIN
							       : PAGE_GREY);
				page_cell(p, "`%s`", axes[a].key);
				page_cell(p, "%s", values[v]);
				tables_cell(p, f->speed.median, 2);
				tables_cell_quartiles(
				    p, &f->speed, k == c->base ? 0 : results_rounds(s->results, k));
				tables_cell(p, f->memory.median, 2);
				tables_cell_bytes(p, f->added);
				page_row_end(p);
			}
		free(values);
	}
	page_table_end(p);
}

/* ---- where the memory is */

static void memory_row(struct page *p, const struct sweep_page *s, size_t setting, double most)
{
	const struct results *r = s->results;
	const struct plan_point *like = r->plan->settings[setting].like;
	size_t point = plan_point_of(r->plan, setting, tables_threads(r->plan));
	double parts[MEASURES];
	char name[256];
	size_t n = 0;
	choice_name(r, setting, name, sizeof name);
	page_row_begin(p, r->plan->settings[setting].is_default ? PAGE_MARKED : PAGE_PLAIN);
	page_cell(p, "%s `%s`", like->engine->name, name);
	tables_cell_bytes(p, tables_median(r, point, MEASURE_added_rss));
	for (unsigned m = 0; m < MEASURES; m++)
		if (measures[m].flags & MEASURE_SPLIT) {
			double v = tables_median(r, point, m);
			parts[n++] = isnan(v) ? 0 : v / most;
		}
	page_cell_bar(p, parts, n);
	for (unsigned m = 0; m < MEASURES; m++)
		if (measures[m].flags & MEASURE_SPLIT)
			tables_cell_bytes(p, tables_median(r, point, m));
	tables_cell_bytes(p, tables_median(r, point, MEASURE_untouched));
	page_row_end(p);
}

/* What has a row: the defaults, and what differs from them in shards or slab size only. */
static bool has_memory_row(const struct plan *plan, size_t setting)
{
	const struct plan_point *like = plan->settings[setting].like;
	size_t base = plan_default_of(plan, like->engine);
	if (base == SIZE_MAX || plan_point_of(plan, setting, tables_threads(plan)) == SIZE_MAX)
		return false;
	size_t only = only_difference(plan, setting, base);
	return setting == base || only == axis_named("shards") || only == axis_named("slab_size");
}

void tables_memory(struct page *p, const struct sweep_page *s)
{
	const struct plan *plan = s->results->plan;
	struct page_column columns[MEASURES + 4];
	unsigned part = 0;
	size_t n = 0;
	double most = 1;
	page_paragraph(
	    p, "Resident memory that was added, split by the engine's own account of it: the parts "
	       "add up to it. What an engine committed and nobody touched yet is not resident, is "
	       "in no part, and stands in the last column. The bars have one scale; their parts "
	       "are in the order of the columns.");
	columns[n++] = (struct page_column){"Engine and setting", NULL, false, 0};
	columns[n++] = (struct page_column){"Added", NULL, true, 0};
	columns[n++] = (struct page_column){"", NULL, false, 0};
	for (unsigned m = 0; m < MEASURES; m++)
		if (measures[m].flags & MEASURE_SPLIT)
			columns[n++] = (struct page_column){strchr(measures[m].name, '_') + 1, NULL,
							    true, ++part};
	columns[n++] = (struct page_column){"not resident", "committed", true, 0};
	for (size_t k = 0; k < plan->nsettings; k++) {
		double sum = 0;
		for (unsigned m = 0; m < MEASURES && has_memory_row(plan, k); m++) {
			size_t point = plan_point_of(plan, k, tables_threads(plan));
			double v = tables_median(s->results, point, m);
			if ((measures[m].flags & MEASURE_SPLIT) && !isnan(v))
				sum += v;
		}
		most = sum > most ? sum : most;
	}
	char caption[128];
	snprintf(caption, sizeof caption,
		 "The defaults, and one of the two knobs changed; %u threads",
		 tables_threads(plan));
	page_table_begin(p, caption, columns, n);
	for (size_t k = 0; k < plan->nsettings; k++)
		if (has_memory_row(plan, k))
			memory_row(p, s, k, most);
	page_table_end(p);
}

/* ---- engines */

void tables_engines(struct page *p, const struct sweep_page *s)
{
	const struct results *r = s->results;
	const struct plan *plan = r->plan;
	struct page_column columns[MEASURES + 4];
	size_t n = 0;
	columns[n++] = (struct page_column){"Engine", NULL, false, 0};
	columns[n++] = (struct page_column){"Threads", NULL, true, 0};
	char names[MEASURES][32];
	for (unsigned m = 0; m <= MEASURE_hot_m_s; m++) {
		snprintf(names[m], sizeof names[m], "%.*s", (int)strcspn(measures[m].name, "_"),
			 measures[m].name);
		columns[n++] = (struct page_column){names[m], "M strings/s", true, 0};
	}
	columns[n++] = (struct page_column){"Memory added", NULL, true, 0};
	columns[n++] = (struct page_column){"Overhead a string", "bytes", true, 0};
	page_table_begin(p,
			 "Each engine with its own defaults, all threads together. "
			 "`cistern-compare` compares engines with more care.",
			 columns, n);
	for (size_t k = 0; k < plan->nsettings; k++)
		for (unsigned threads = 1; threads <= 1024; threads++) {
			size_t point = plan_point_of(plan, k, threads);
			if (!plan->settings[k].is_default || point == SIZE_MAX)
				continue;
			double added = tables_median(r, point, MEASURE_added_rss);
			page_row_begin(p, plan->settings[k].like->engine == &engine_cistern
					      ? PAGE_MARKED
					      : PAGE_PLAIN);
			page_cell(p, "%s", plan->settings[k].like->engine->name);
			page_cell(p, "%u", threads);
			for (unsigned m = 0; m <= MEASURE_hot_m_s; m++)
				tables_cell(p, tables_median(r, point, m), 2);
			tables_cell_bytes(p, added);
			tables_cell(p,
				    (added - (double)s->corpus->distinct_payload) /
					(double)s->corpus->ndistinct,
				    1);
			page_row_end(p);
		}
	page_table_end(p);
}

/* ---- all of it */

void tables_all(struct page *p, const struct sweep_page *s)
{
	const struct results *r = s->results;
	const struct plan *plan = r->plan;
	struct page_column columns[AXES_MAX + MEASURES];
	size_t n = 0;
	for (size_t a = 0; a < axes_n; a++)
		columns[n++] =
		    (struct page_column){axes[a].key, NULL, axes[a].type != REPORT_TEXT, 0};
	for (unsigned m = 0; m < MEASURES; m++)
		columns[n++] =
		    (struct page_column){measures[m].name,
					 measures[m].type == REPORT_BYTES    ? "KiB"
					 : measures[m].type == REPORT_NUMBER ? "M strings/s"
									     : NULL,
					 true, 0};
	char text[96];
	snprintf(text, sizeof text, "%zu points, medians of their rounds", plan->n);
	page_fold_begin(p, text);
	page_table_begin(p, "Sizes in KiB, speeds in million strings a second", columns, n);
	for (size_t i = 0; i < plan->n; i++) {
		page_row_begin(p, PAGE_PLAIN);
		for (size_t a = 0; a < axes_n; a++)
			page_cell(p, "%s",
				  *plan->points[i].at[a] ? plan->points[i].at[a] : "\xE2\x80\x93");
		for (unsigned m = 0; m < MEASURES; m++) {
			bool bytes = measures[m].type == REPORT_BYTES;
			tables_cell(p, tables_median(r, i, m) / (bytes ? 1024 : 1),
				    measures[m].type == REPORT_NUMBER ? 2 : 0);
		}
		page_row_end(p);
	}
	page_table_end(p);
	page_fold_end(p);
}
