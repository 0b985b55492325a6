/* SPDX-License-Identifier: MIT */
/*
 * sweep_page.c - what the page of a sweep says. See sweep_page.h.
 *
 * A function for each section, in the order of the page. Every figure in the text comes from the
 * results; what is said of pictures is where they are made (sweep_drawing.h).
 */
#include "sweep_page.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "page.h"
#include "sweep_tables.h"
#include "trust.h"

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

static void figures_of(struct page *p, const char *folder, const struct sweep_page *s,
		       enum picture_kind kind)
{
	page_figures_begin(p);
	for (size_t i = 0; i < s->pictures->n; i++) {
		const struct picture *one = &s->pictures->of[i];
		if (one->kind == kind)
			page_figure(p, folder, one->parts, one->nparts, one->title, one->caption,
				    one->layout);
	}
	page_figures_end(p);
}

/* ---- what to choose */

static void setting_row(struct page *p, const struct sweep_page *s, size_t setting)
{
	const struct choice *c = s->choice;
	const struct choice_figures *f = &c->of[setting];
	char name[256];
	choice_name(s->results, setting, name, sizeof name);
	char code[260], beneath[96] = "";
	const char *const notes[] = {setting == c->chosen ? "recommended" : NULL,
				     setting == c->base ? "the defaults" : NULL,
				     f->confirmed ? "in the confirmation rounds" : NULL};
	for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
		size_t used = strlen(beneath);
		if (notes[i])
			snprintf(beneath + used, sizeof beneath - used, "%s%s", used ? ", " : "",
				 notes[i]);
	}
	snprintf(code, sizeof code, "`%s`", name);
	page_row_begin(p, setting == c->chosen ? PAGE_MARKED : PAGE_PLAIN);
	page_cell_named(p, code, beneath);
	tables_cell_bytes(p, f->added);
	tables_cell(p, f->memory.median, 2);
	tables_cell(p, f->speed.median, 2);
	tables_cell_quartiles(p, &f->speed,
			      setting == c->base ? 0 : results_rounds(s->results, setting));
	page_row_end(p);
}

static void front_table(struct page *p, const struct sweep_page *s)
{
	static const struct page_column columns[] = {
	    {"Setting", NULL, false, 0},
	    {"Memory added", NULL, true, 0},
	    {"Memory", "\xC3\x97 defaults", true, 0},
	    {"Speed", "\xC3\x97 defaults", true, 0},
	    {"Quartiles of speed", NULL, true, 0},
	};
	const struct choice *c = s->choice;
	size_t *front, n = choice_front(s->results, c, &front);
	bool base = false, chosen = false;
	page_table_begin(
	    p,
	    "The Pareto front: no setting that was measured is both smaller and faster than one "
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
	page_paragraph(p, "Settings that look better than the recommended row were not better "
			  "beyond noise.");
	free(front);
}

static void tiles(struct page *p, const struct sweep_page *s)
{
	const struct choice *c = s->choice;
	const struct choice_figures *f = &c->of[c->chosen];
	size_t point = plan_point_of(s->results->plan, c->chosen, tables_threads(s->results->plan));
	char value[64], beside[96];
	page_tiles_begin(p);
	report_bytes(value, f->added);
	snprintf(beside, sizeof beside, "%.2f \xC3\x97 the defaults", f->memory.median);
	page_tile(p, "Memory added", value, beside);
	double whole = f->added / (double)s->corpus->ndistinct;
	double text = (double)s->corpus->distinct_payload / (double)s->corpus->ndistinct;
	snprintf(value, sizeof value, "%.0f bytes", whole);
	snprintf(beside, sizeof beside, "%.0f text + %.0f overhead", text, whole - text);
	page_tile(p, "Memory a string", value, beside);
	for (unsigned m = MEASURE_insert_m_s; m <= MEASURE_hit_m_s; m++) {
		snprintf(value, sizeof value, "%.1f M strings/s",
			 tables_median(s->results, point, m));
		snprintf(beside, sizeof beside, "with %u thread%s",
			 tables_threads(s->results->plan),
			 tables_threads(s->results->plan) == 1 ? "" : "s");
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
	for (size_t i = 0; choice_environment(s->results, c, i, text, sizeof text); i++) {
		size_t used = strlen(lines);
		snprintf(lines + used, sizeof lines - used, "%s\n", text);
	}
	page_code(p, lines);
	choice_effect(s->results, c, text, sizeof text);
	page_paragraph(p, "%s", text);
	choice_reason(s->results, c, text, sizeof text);
	page_paragraph(p, "%s", text);
	tiles(p, s);
	figures_of(p, folder, s, PICTURE_FRONT);
	front_table(p, s);
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
	    "not. `mixed`: 95% hits, 5% inserts. `hot`: all threads on the same 64 strings.");
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
	page_item(
	    p, "If memory matters",
	    "Go left on the Pareto front. Fewer shards and smaller slabs leave fewer ends of slabs "
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
	       "memory: 1%% of speed weighs as much as 3%% of memory. The best by score "
	       "take part in confirmation rounds, in turn with the defaults, and a setting "
	       "replaces one nearer to "
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
	size_t used = 0;
	for (int i = 0; i < argc && used + 8 < size; i++) {
		bool plain = *argv[i] && strspn(argv[i], "abcdefghijklmnopqrstuvwxyz"
							 "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
							 "0123456789_-=,./:+@%") == strlen(argv[i]);
		used += (size_t)snprintf(out + used, size - used, plain ? "%s%s" : "%s'",
					 i ? " " : "", argv[i]);
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
	unsigned again = s->choice->made ? s->choice->rounds : 0;
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
	page_item(p, "string count", text);
	snprintf(text, sizeof text,
		 "%zu points, %u round%s, and %u confirmation round%s of the best settings",
		 s->results->plan->n, s->rounds, s->rounds == 1 ? "" : "s", again,
		 again == 1 ? "" : "s");
	page_item(p, "measured", text);
	if (!isnan(s->trust->before) && !isnan(s->trust->after)) {
		snprintf(text, sizeof text, "%.2f before, %.2f after", s->trust->before,
			 s->trust->after);
		page_item(p, "load average", text);
	}
	page_list_end(p);
	command(text, sizeof text, s->argc, s->argv);
	page_paragraph(p, "From the folder where it was run:");
	page_code(p, text);
	page_paragraph(
	    p,
	    "The same results are beside this page as `sweep.csv` and `sweep.json`, the "
	    "pictures as PNG and SVG with their script, `plots.gp`. For strings of your own: "
	    "`--elf PROGRAM` or `--corpus FILE`. `man -l doc/man/cistern-sweep.1`, in the sources, "
	    "explains every column.");
}

void sweep_page(const char *folder, const struct sweep_page *s)
{
	char path[4096], lead[1024], name[256], chosen[512] = "";
	const struct choice *c = s->choice;
	snprintf(path, sizeof path, "%s/index.html", folder);
	if (c->made && c->chosen == c->base) {
		snprintf(chosen, sizeof chosen,
			 "Nothing that was measured is clearly better than %s.",
			 choice_base_words(s->results));
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
	for (size_t i = 0; trust_remark(s->trust, i, chosen, sizeof chosen); i++)
		page_box(p, chosen);
	page_contents(p, sections, SECTIONS);
	choose(p, folder, s);
	page_section(p, &sections[MAPS]);
	page_paragraph(
	    p, "In the blue maps dark is fast, in the orange one dark is much memory. All "
	       "maps of a figure have one scale of colours; cells hold medians. The frame is "
	       "around the defaults of the engine.");
	figures_of(p, folder, s, PICTURE_MAP);
	page_section(p, &sections[THREADS]);
	page_paragraph(
	    p,
	    "Speed of all threads together, each engine with its own defaults; bars are quartiles. "
	    "With more threads "
	    "than processors (%u) a line should stay level; where it falls, threads wait "
	    "for each other.",
	    harness_cpus());
	figures_of(p, folder, s, PICTURE_THREADS);
	page_section(p, &sections[KNOBS]);
	if (s->choice->made)
		tables_knobs(p, s);
	else
		page_paragraph(p, "cistern took no part in this sweep.");
	page_section(p, &sections[MEMORY]);
	tables_memory(p, s);
	page_section(p, &sections[ENGINES]);
	tables_engines(p, s);
	reading(p);
	repeat(p, s);
	page_section(p, &sections[ALL]);
	tables_all(p, s);
	page_close(p);
}
