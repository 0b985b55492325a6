/* SPDX-License-Identifier: MIT */
/*
 * sweep_page.c - what the page of a sweep says. See sweep_page.h.
 *
 * A function for each section, in the order of the page. Every figure in the text comes from the
 * results; what is said of pictures is in sweep_plots.c.
 */
#include "sweep_page.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "page.h"

static const struct page_section sections[] = {
    {"choose", "What to choose"},
    {"maps", "Shards against slab size"},
    {"threads", "Threads"},
    {"knobs", "One knob at a time"},
    {"memory", "Where the memory is"},
    {"engines", "Engines side by side"},
    {"reading", "How to read it"},
    {"repeat", "Machine, strings, and how to repeat it"},
    {"all", "All results"},
};
enum { CHOOSE, MAPS, THREADS, KNOBS, MEMORY, ENGINES, READING, REPEAT, ALL };
enum { SECTIONS = sizeof sections / sizeof *sections };

static unsigned most_threads(const struct plan *plan)
{
	unsigned most = 0;
	for (size_t t = 0; t < plan->nthreads; t++)
		most = plan->threads[t] > most ? plan->threads[t] : most;
	return most;
}

static double median(const struct results *r, size_t point, unsigned measure)
{
	return point == SIZE_MAX ? NAN : results_spread(r, point, measure).median;
}

static void figures_of(struct page *p, const char *folder, const struct sweep_page *s,
		       enum picture_kind kind)
{
	page_figures_begin(p);
	for (size_t i = 0; i < s->pictures->n; i++) {
		const struct picture *one = &s->pictures->of[i];
		if (one->kind == kind)
			page_figure(p, folder, one->file, one->title, one->caption, one->wide);
	}
	page_figures_end(p);
}

/* A figure, or a dash where there is none. */
static void cell(struct page *p, double value, int digits)
{
	if (isnan(value))
		page_cell(p, "\xE2\x80\x93");
	else
		page_cell(p, "%.*f", digits, value);
}

/* The two quartiles, or a dash where a single round has none. */
static void cell_quartiles(struct page *p, const struct harness_spread *s, unsigned rounds)
{
	if (rounds < 2 || isnan(s->median))
		page_cell(p, "\xE2\x80\x93");
	else
		page_cell(p, "%.2f to %.2f", s->q1, s->q3);
}

/* ---- what to choose */

static void setting_row(struct page *p, const struct sweep_page *s, size_t setting)
{
	const struct choice *c = s->choice;
	const struct choice_figures *f = &c->of[setting];
	char name[256];
	choice_name(s->results, setting, name, sizeof name);
	page_row_begin(p, setting == c->chosen);
	page_cell(p, "`%s`", name);
	page_cell(p, "%s%s%s", setting == c->chosen ? "recommended" : "",
		  setting == c->chosen && setting == c->base ? ", " : "",
		  setting == c->base ? "the defaults" : "");
	cell(p, f->added / 1048576, 2);
	cell(p, f->memory.median, 2);
	cell(p, f->speed.median, 2);
	cell_quartiles(p, &f->speed, setting == c->base ? 0 : results_rounds(s->results, setting));
	page_row_end(p);
}

static void front_table(struct page *p, const struct sweep_page *s)
{
	static const struct page_column columns[] = {
	    {"Setting", NULL, false, 0},
	    {"", NULL, false, 0},
	    {"Memory added", "MiB", true, 0},
	    {"Memory", "\xC3\x97 defaults", true, 0},
	    {"Speed", "\xC3\x97 defaults", true, 0},
	    {"Quartiles of speed", NULL, true, 0},
	};
	const struct choice *c = s->choice;
	size_t *front, n = choice_front(s->results, c, &front);
	bool base = false, chosen = false;
	page_table_begin(
	    p,
	    "The front: no setting that was measured is both smaller and faster than one "
	    "of these. The defaults and the recommendation are listed in any case.",
	    columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < n; i++) {
		setting_row(p, s, front[i]);
		base |= front[i] == c->base;
		chosen |= front[i] == c->chosen;
	}
	if (!chosen)
		setting_row(p, s, c->chosen);
	if (!base && c->base != c->chosen)
		setting_row(p, s, c->base);
	page_table_end(p);
	free(front);
}

static void tiles(struct page *p, const struct sweep_page *s)
{
	const struct choice *c = s->choice;
	const struct choice_figures *f = &c->of[c->chosen];
	size_t point = plan_point_of(s->results->plan, c->chosen, most_threads(s->results->plan));
	char value[64], beside[96];
	page_tiles_begin(p);
	snprintf(value, sizeof value, "%.2f MiB", f->added / 1048576);
	snprintf(beside, sizeof beside, "%.2f \xC3\x97 the defaults", f->memory.median);
	page_tile(p, "Memory added", value, beside);
	snprintf(value, sizeof value, "%.0f bytes", f->added / (double)s->corpus->ndistinct);
	snprintf(beside, sizeof beside, "of them %.0f are its text",
		 (double)s->corpus->distinct_payload / (double)s->corpus->ndistinct);
	page_tile(p, "A string", value, beside);
	for (unsigned m = MEASURE_insert_m_s; m <= MEASURE_hit_m_s; m++) {
		snprintf(value, sizeof value, "%.1f M/s", median(s->results, point, m));
		snprintf(beside, sizeof beside, "with %u thread%s", most_threads(s->results->plan),
			 most_threads(s->results->plan) == 1 ? "" : "s");
		page_tile(p, m == MEASURE_insert_m_s ? "Inserts" : "Hits", value, beside);
	}
	page_tiles_end(p);
}

static void choose(struct page *p, const char *folder, const struct sweep_page *s)
{
	const struct choice *c = s->choice;
	char text[512], lines[1024] = "";
	page_section(p, &sections[CHOOSE]);
	if (!c->made) {
		page_paragraph(p,
			       "cistern took no part in this sweep, so there is no setting of it "
			       "to recommend.");
		return;
	}
	for (size_t i = 0; choice_environment(s->results, c->chosen, i, text, sizeof text); i++) {
		size_t used = strlen(lines);
		snprintf(lines + used, sizeof lines - used, "%s\n", text);
	}
	page_code(p, lines);
	choice_effect(c, text, sizeof text);
	page_paragraph(p, "%s", text);
	choice_reason(s->results, c, text, sizeof text);
	page_paragraph(p, "%s", text);
	tiles(p, s);
	figures_of(p, folder, s, PICTURE_FRONT);
	front_table(p, s);
}

/* ---- one knob at a time */

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

static void knobs(struct page *p, const struct sweep_page *s)
{
	static const struct page_column columns[] = {
	    {"Knob", NULL, false, 0},
	    {"Value", NULL, true, 0},
	    {"Speed", "\xC3\x97 defaults", true, 0},
	    {"Quartiles of speed", NULL, true, 0},
	    {"Memory", "\xC3\x97 defaults", true, 0},
	    {"Memory added", "MiB", true, 0},
	};
	const struct plan *plan = s->results->plan;
	const struct choice *c = s->choice;
	page_section(p, &sections[KNOBS]);
	page_paragraph(p, "Each knob by itself, all others as the library has them. A speed whose "
			  "quartiles lie on both sides of 1 is not told from the defaults'.");
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
				page_row_begin(p, k == c->base);
				page_cell(p, "`%s`", axes[a].key);
				page_cell(p, "%s", values[v]);
				cell(p, f->speed.median, 2);
				cell_quartiles(p, &f->speed,
					       k == c->base ? 0 : results_rounds(s->results, k));
				cell(p, f->memory.median, 2);
				cell(p, f->added / 1048576, 2);
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
	size_t point = plan_point_of(r->plan, setting, most_threads(r->plan));
	double parts[MEASURES];
	char name[256];
	size_t n = 0;
	choice_name(r, setting, name, sizeof name);
	page_row_begin(p, r->plan->settings[setting].is_default && like->engine == &engine_cistern);
	page_cell(p, "%s `%s`", like->engine->name, name);
	cell(p, median(r, point, MEASURE_added_rss) / 1048576, 2);
	for (unsigned m = 0; m < MEASURES; m++)
		if (measures[m].flags & MEASURE_SPLIT) {
			double v = median(r, point, m);
			parts[n++] = isnan(v) ? 0 : v / most;
		}
	page_cell_bar(p, parts, n);
	for (unsigned m = 0; m < MEASURES; m++)
		if (measures[m].flags & MEASURE_SPLIT)
			cell(p, median(r, point, m) / 1048576, 2);
	cell(p, median(r, point, MEASURE_untouched) / 1048576, 2);
	page_row_end(p);
}

/* What has a row: the defaults, and what differs from them in shards or slab size only. */
static bool has_memory_row(const struct plan *plan, size_t setting)
{
	const struct plan_point *like = plan->settings[setting].like;
	size_t base = plan_default_of(plan, like->engine);
	if (base == SIZE_MAX || plan_point_of(plan, setting, most_threads(plan)) == SIZE_MAX)
		return false;
	size_t only = only_difference(plan, setting, base);
	return setting == base || only == axis_named("shards") || only == axis_named("slab_size");
}

static void memory(struct page *p, const struct sweep_page *s)
{
	const struct plan *plan = s->results->plan;
	struct page_column columns[MEASURES + 4];
	unsigned part = 0;
	size_t n = 0;
	double most = 1;
	page_section(p, &sections[MEMORY]);
	page_paragraph(
	    p, "Resident memory that was added, split by the engine's own account of it. "
	       "Untouched memory is committed but not resident: it is in no sum. The bars have "
	       "one scale; their parts are in the order of the columns.");
	columns[n++] = (struct page_column){"Engine and setting", NULL, false, 0};
	columns[n++] = (struct page_column){"Added", "MiB", true, 0};
	columns[n++] = (struct page_column){"", NULL, false, 0};
	for (unsigned m = 0; m < MEASURES; m++)
		if (measures[m].flags & MEASURE_SPLIT)
			columns[n++] = (struct page_column){strchr(measures[m].name, '_') + 1,
							    "MiB", true, ++part};
	columns[n++] = (struct page_column){"untouched", "MiB", true, 0};
	for (size_t k = 0; k < plan->nsettings; k++) {
		double v = has_memory_row(plan, k)
			       ? median(s->results, plan_point_of(plan, k, most_threads(plan)),
					MEASURE_added_rss)
			       : NAN;
		most = v > most ? v : most;
	}
	char caption[128];
	snprintf(caption, sizeof caption,
		 "The defaults, and one of the two knobs changed; %u threads", most_threads(plan));
	page_table_begin(p, caption, columns, n);
	for (size_t k = 0; k < plan->nsettings; k++)
		if (has_memory_row(plan, k))
			memory_row(p, s, k, most);
	page_table_end(p);
}

/* ---- engines */

static void engines(struct page *p, const struct sweep_page *s)
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
		columns[n++] = (struct page_column){names[m], "M/s", true, 0};
	}
	columns[n++] = (struct page_column){"Memory added", "MiB", true, 0};
	columns[n++] = (struct page_column){"A string", "bytes over its text", true, 0};
	page_section(p, &sections[ENGINES]);
	page_table_begin(p,
			 "Each engine with its own defaults, all threads together. "
			 "`cistern-compare` compares engines with more care.",
			 columns, n);
	for (size_t k = 0; k < plan->nsettings; k++)
		for (unsigned threads = 1; threads <= 1024; threads++) {
			size_t point = plan_point_of(plan, k, threads);
			if (!plan->settings[k].is_default || point == SIZE_MAX)
				continue;
			double added = median(r, point, MEASURE_added_rss);
			page_row_begin(p, plan->settings[k].like->engine == &engine_cistern);
			page_cell(p, "%s", plan->settings[k].like->engine->name);
			page_cell(p, "%u", threads);
			for (unsigned m = 0; m <= MEASURE_hot_m_s; m++)
				cell(p, median(r, point, m), 2);
			cell(p, added / 1048576, 2);
			cell(p,
			     (added - (double)s->corpus->distinct_payload) /
				 (double)s->corpus->ndistinct,
			     1);
			page_row_end(p);
		}
	page_table_end(p);
}

/* ---- how to read it, how to repeat it */

static void reading(struct page *p)
{
	page_section(p, &sections[READING]);
	page_list_begin(p);
	page_item(
	    p, "Speeds",
	    "Million strings a second, all threads together. `insert`: distinct strings into an "
	    "empty interner. `hit`: strings that are there. `miss`: look-ups of strings that are "
	    "not. `mixed`: 19 hits to an insert. `hot`: all threads on the same 64 strings.");
	page_item(
	    p, "Memory",
	    "What the strings added to the resident memory of the process, read right after they "
	    "were inserted. The strings' own text is part of it and cannot be saved.");
	page_item(
	    p, "Spread",
	    "Each figure is the median of rounds, every process of a round fresh. Quartiles say "
	    "how far to trust it: a difference within them is none.");
	page_item(p, "Ratios",
		  "Taken within a round, against the defaults in the same round, so that a machine "
		  "that is slower for a while changes both.");
	page_item(p, "If memory matters",
		  "Go left on the front. Fewer shards and smaller slabs leave fewer ends of slabs "
		  "unused, down to where slab headers and growth cost more than they save.");
	page_item(
	    p, "If inserts from many threads matter",
	    "More shards, until the line over threads stays level. Hits take no lock and do not "
	    "gain.");
	page_item(
	    p, "If it says the defaults",
	    "Then no other setting was better by more than the spread. That is the usual answer, "
	    "and a good one.");
	page_list_end(p);
	page_paragraph(
	    p, "The score by which one setting is recommended is speed over the cube root of "
	       "memory: 1%% of speed weighs as much as 3%% of memory. The best by score are "
	       "measured again in turn with the defaults, and a setting replaces one nearer to "
	       "the defaults only if it is better in seven of eight of those rounds (in all of "
	       "less than eight), and by more than 3%%, than the distance between the "
	       "quartiles, and than the defaults' own speed varied.");
}

static void fact(void *arg, const char *key, const char *text)
{
	page_item(arg, key, text);
}

/* The command, quoted so that a shell takes it back. */
static void command(char *out, size_t size, int argc, char **argv)
{
	size_t used = (size_t)snprintf(out, size, "bench/%s", cli_program);
	for (int i = 1; i < argc && used + 8 < size; i++) {
		bool plain = *argv[i] && strspn(argv[i], "abcdefghijklmnopqrstuvwxyz"
							 "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
							 "0123456789_-=,./:+@%") == strlen(argv[i]);
		used += (size_t)snprintf(out + used, size - used, plain ? " %s" : " '", argv[i]);
		if (plain)
			continue;
		for (const char *at = argv[i]; *at && used + 8 < size; at++)
			used += (size_t)snprintf(out + used, size - used,
						 *at == '\'' ? "'\\''" : "%c", *at);
		used += (size_t)snprintf(out + used, size - used, "'");
	}
}

static void repeat(struct page *p, const struct sweep_page *s)
{
	char text[2048];
	page_section(p, &sections[REPEAT]);
	page_list_begin(p);
	report_machine_facts(fact, p);
	snprintf(text, sizeof text, "%s", s->corpus->name);
	page_item(p, "strings", text);
	snprintf(
	    text, sizeof text,
	    "%zu, mean length %.1f; %zu distinct, mean length %.1f; hash %016" PRIx64, s->corpus->n,
	    (double)s->corpus->payload / (double)s->corpus->n, s->corpus->ndistinct,
	    (double)s->corpus->distinct_payload / (double)s->corpus->ndistinct, s->corpus->hash);
	page_item(p, "their number", text);
	snprintf(text, sizeof text, "%zu points, %u rounds, and %u more of the best settings",
		 s->results->plan->n, s->rounds, s->choice->made ? s->choice->rounds : 0);
	page_item(p, "measured", text);
	page_list_end(p);
	command(text, sizeof text, s->argc, s->argv);
	page_paragraph(p, "In the build directory:");
	page_code(p, text);
	page_paragraph(
	    p, "The same results are beside this page as `sweep.csv` and `sweep.json`, the "
	       "pictures as PNG and SVG with their script, `plots.gp`. For strings of your own: "
	       "`--elf PROGRAM` or `--corpus FILE`. `man cistern-sweep` explains every column.");
}

/* ---- all of it */

static void all(struct page *p, const struct sweep_page *s)
{
	const struct results *r = s->results;
	const struct plan *plan = r->plan;
	struct page_column columns[AXES_MAX + MEASURES];
	size_t n = 0;
	for (size_t a = 0; a < axes_n; a++)
		columns[n++] =
		    (struct page_column){axes[a].key, NULL, axes[a].type != REPORT_TEXT, 0};
	for (unsigned m = 0; m < MEASURES; m++)
		columns[n++] = (struct page_column){measures[m].name,
						    measures[m].type == REPORT_BYTES    ? "KiB"
						    : measures[m].type == REPORT_NUMBER ? "M/s"
											: NULL,
						    true, 0};
	page_section(p, &sections[ALL]);
	char text[96];
	snprintf(text, sizeof text, "%zu points, medians of their rounds", plan->n);
	page_fold_begin(p, text);
	page_table_begin(p, "Sizes in KiB, speeds in million a second", columns, n);
	for (size_t i = 0; i < plan->n; i++) {
		page_row_begin(p, false);
		for (size_t a = 0; a < axes_n; a++)
			page_cell(p, "%s",
				  *plan->points[i].at[a] ? plan->points[i].at[a] : "\xE2\x80\x93");
		for (unsigned m = 0; m < MEASURES; m++) {
			bool bytes = measures[m].type == REPORT_BYTES;
			cell(p, median(r, i, m) / (bytes ? 1024 : 1),
			     measures[m].type == REPORT_NUMBER ? 2 : 0);
		}
		page_row_end(p);
	}
	page_table_end(p);
	page_fold_end(p);
}

void sweep_page(const char *folder, const struct sweep_page *s)
{
	char path[4096], lead[1024], name[256], chosen[512] = "";
	const struct choice *c = s->choice;
	snprintf(path, sizeof path, "%s/index.html", folder);
	if (c->made && c->chosen == c->base) {
		snprintf(chosen, sizeof chosen, "The defaults of the library are right for them.");
	} else if (c->made) {
		choice_name(s->results, c->chosen, name, sizeof name);
		snprintf(
		    chosen, sizeof chosen,
		    "`%s` has %.2f times the speed of the defaults and %.2f times their memory.",
		    name, c->speed.median, c->memory.median);
	}
	snprintf(lead, sizeof lead,
		 "%zu distinct strings of mean length %.0f (%.120s), on %u processor%s. %s",
		 s->corpus->ndistinct,
		 (double)s->corpus->distinct_payload / (double)s->corpus->ndistinct,
		 s->corpus->name, harness_cpus(), harness_cpus() == 1 ? "" : "s", chosen);

	struct page *p = page_open(path, "The knobs of Cistern for these strings", lead);
	page_contents(p, sections, SECTIONS);
	choose(p, folder, s);
	page_section(p, &sections[MAPS]);
	figures_of(p, folder, s, PICTURE_MAP);
	page_section(p, &sections[THREADS]);
	figures_of(p, folder, s, PICTURE_THREADS);
	if (s->choice->made)
		knobs(p, s);
	memory(p, s);
	engines(p, s);
	reading(p);
	repeat(p, s);
	all(p, s);
	page_close(p);
}
