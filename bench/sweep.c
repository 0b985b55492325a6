/* SPDX-License-Identifier: MIT */
/*
 * sweep.c - cistern-sweep: what each setting of the knobs costs in memory and gives in speed.
 *
 * Every point of the plan (sweep_plan.h) runs in a process of its own. All points run once in each
 * round, so that a machine that gets slower meanwhile does not favour the first ones, and the
 * medians of the rounds are reported. Then the best settings are measured again beside the
 * defaults, for the recommendation (sweep_choice.h).
 *
 * Here are the command line, the running and the rows; it grows elsewhere: a knob in sweep_axes.c,
 * a measure in sweep_result.h, a block of a mode in sweep_plan.c, a picture beside sweep_plots.c.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "harness.h"
#include "resume.h"
#include "sweep_choice.h"
#include "sweep_page.h"
#include "sweep_plots.h"
#include "trust.h"
#include "workload.h"

struct sweep {
	struct cli_common common;
	struct corpus corpus;
	struct plan plan;
	struct results results;
	struct resume *resume; /* NULL: none */
	const char *resume_path, *plot, *page;
	enum plan_mode mode;
	unsigned rounds, again, pass_ms; /* again: confirmation rounds */
	bool listed[AXES_MAX];           /* on the command line */
	struct trust trust;
	bool recommend;
	size_t measured, total;
	struct harness_progress progress;
};

/* How each mode measures unless told otherwise. */
static const struct {
	unsigned rounds, again, pass_ms, count;
} modes[] = {
    [PLAN_QUICK] = {1, 1, 1, 20000},
    [PLAN_STANDARD] = {3, 5, 10, 150000},
    [PLAN_FULL] = {9, 15, 40, 400000},
};

/* ---- the command line */

static void help(FILE *f)
{
	const char *block;
	fprintf(f,
		"usage: %s [option]...\n"
		"Measures shard counts against slab sizes, and other knobs, on a set of strings.\n"
		"\nWhat to sweep (lists, as in --shards 1,16,256):\n",
		cli_program);
	for (size_t a = 0; a < axes_n; a++)
		fprintf(f, "  --%s LIST%*s%s\n", axes[a].option, 17 - (int)strlen(axes[a].option),
			"", axes[a].help);
	fputs("\nLists are multiplied with each other and with the first of these lines; a list of "
	      "threads (N:\nprocessors) alone replaces those of all lines. Without lists:\n",
	      f);
	for (size_t i = 0; (block = plan_block(PLAN_STANDARD, i)) != NULL; i++)
		fprintf(f, "  %s\n", block);
	fputs("With --full:\n", f);
	for (size_t i = 0; (block = plan_block(PLAN_FULL, i)) != NULL; i++)
		fprintf(f, "  %s\n", block);
	fprintf(
	    f,
	    "\nHow:\n"
	    "  --rounds N              processes for each point (%u; %u with --full)\n"
	    "  --pass-ms N             how long each kind of look-up is repeated in each (%u; "
	    "%u)\n"
	    "  --quick                 few points and strings, one round: a check that all "
	    "works\n"
	    "  --full                  many points and rounds; see --resume\n"
	    "  --resume FILE           keep what each process measured in FILE, and go on from "
	    "there\n"
	    "\nWhat to make of it:\n"
	    "  --recommend             instead of the table: the front of memory against speed "
	    "and one\n"
	    "                          setting with the reasons, as environment variables\n"
	    "  --plot DIR              pictures as PNG and SVG, through gnuplot\n"
	    "  --report DIR            pictures, results and DIR/index.html, a page with all of "
	    "it\n",
	    modes[PLAN_STANDARD].rounds, modes[PLAN_FULL].rounds, modes[PLAN_STANDARD].pass_ms,
	    modes[PLAN_FULL].pass_ms);
	cli_help_engines(f);
	cli_help_common(f);
	cli_help_knobs(f);
}

enum {
	OWN_ROUNDS = CLI_OWN,
	OWN_PASS,
	OWN_QUICK,
	OWN_FULL,
	OWN_RESUME,
	OWN_RECOMMEND,
	OWN_PLOT,
	OWN_REPORT,
	OWN_AXIS
};

/* The options of all benches and of this one, and one for each axis. */
static const struct option *all_options(void)
{
	static const struct option fixed[] = {
	    CLI_COMMON_OPTIONS,
	    {"rounds", required_argument, NULL, OWN_ROUNDS},
	    {"pass-ms", required_argument, NULL, OWN_PASS},
	    {"quick", no_argument, NULL, OWN_QUICK},
	    {"full", no_argument, NULL, OWN_FULL},
	    {"resume", required_argument, NULL, OWN_RESUME},
	    {"recommend", no_argument, NULL, OWN_RECOMMEND},
	    {"plot", required_argument, NULL, OWN_PLOT},
	    {"report", required_argument, NULL, OWN_REPORT},
	};
	enum { FIXED = sizeof fixed / sizeof *fixed };
	static struct option options[FIXED + AXES_MAX + 1];
	memcpy(options, fixed, sizeof fixed);
	for (size_t a = 0; a < axes_n; a++)
		options[FIXED + a] =
		    (struct option){axes[a].option, required_argument, NULL, OWN_AXIS + (int)a};
	return options;
}

static void parse(struct sweep *s, int argc, char **argv)
{
	const char *lists[AXES_MAX] = {NULL};
	const struct option *options = all_options();
	unsigned rounds = 0, pass_ms = 0;
	int option;

	cli_start(&s->common, argv[0]);
	s->mode = PLAN_STANDARD;
	opterr = 0;
	while ((option = getopt_long(argc, argv, CLI_SHORT, options, NULL)) != -1) {
		if (cli_common_option(&s->common, option, argv, help))
			continue;
		if (option >= OWN_AXIS)
			lists[option - OWN_AXIS] = optarg;
		else if (option == OWN_ROUNDS)
			rounds = (unsigned)cli_number_option("--rounds", optarg, 1, 500);
		else if (option == OWN_PASS)
			pass_ms = (unsigned)cli_number_option("--pass-ms", optarg, 1, 60000);
		else if (option == OWN_QUICK)
			s->mode = PLAN_QUICK;
		else if (option == OWN_FULL)
			s->mode = PLAN_FULL;
		else if (option == OWN_RESUME)
			s->resume_path = optarg;
		else if (option == OWN_RECOMMEND)
			s->recommend = true;
		else if (option == OWN_PLOT)
			s->plot = optarg;
		else if (option == OWN_REPORT)
			s->page = optarg;
	}
	cli_common_rest(&s->common, argc, argv);
	if (s->page && s->plot)
		cli_usage("--plot: --report draws into its own folder");

	s->rounds = rounds ? rounds : modes[s->mode].rounds;
	s->again = rounds ? rounds : modes[s->mode].again;
	s->pass_ms = pass_ms ? pass_ms : modes[s->mode].pass_ms;
	/* Only a quick sweep leaves out some of what files hold. */
	if (!s->common.corpus.count && (s->mode == PLAN_QUICK || !s->common.corpus.nsources))
		s->common.corpus.count = modes[s->mode].count;
	if (s->page) {
		s->plot = s->page;
		s->common.output.page = s->page;
	}
	s->common.output.notes_only = s->recommend;
	for (size_t a = 0; a < axes_n; a++)
		s->listed[a] = lists[a] != NULL;
	plan_make(&s->plan, &s->common, s->mode, lists);
}

/* ---- running */

static void open_resume(struct sweep *s)
{
	static struct resume_facts facts;
	char text[1024];
	size_t used = 0;
	snprintf(text, sizeof text, "%016" PRIx64 " (%.900s)", s->corpus.hash, s->corpus.name);
	resume_fact(&facts, "corpus", text);
	resume_fact(&facts, "clock", harness_clock_used() == HARNESS_CPU ? "cpu" : "wall");
	snprintf(text, sizeof text, "%u", s->pass_ms);
	resume_fact(&facts, "pass_ms", text);
	*text = '\0';
	for (size_t i = 0; i < s->common.nsets && used < sizeof text; i++)
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? " " : "",
					 s->common.sets[i]);
	resume_fact(&facts, "set", text);
	report_machine_facts(resume_fact, &facts);
	s->resume = resume_open(s->resume_path, &facts);
	if (resume_rows(s->resume))
		fprintf(stderr, "%s: going on from %zu rows of %s\n", cli_program,
			resume_rows(s->resume), s->resume_path);
}

/* One process, or what --resume has of it. */
static bool measure(struct sweep *s, size_t i, unsigned round)
{
	const struct plan_point *point = &s->plan.points[i];
	struct workload w = {.engine = point->engine,
			     .corpus = &s->corpus,
			     .config = point->config,
			     .threads = point->threads,
			     .build_distinct = true,
			     .pass_ms = s->pass_ms};
	static struct workload_result result;
	double values[MEASURES];
	if (!s->resume || !resume_find(s->resume, point, round, values)) {
		if (!workload_run(&w, &result))
			return false;
		measures_take(&result, values);
		if (s->resume)
			resume_add(s->resume, point, round, values);
	}
	results_add(&s->results, i, values);
	harness_progress_step(&s->progress);
	return true;
}

static bool run_rounds(struct sweep *s)
{
	for (unsigned round = 0; round < s->rounds; round++)
		for (size_t i = 0; i < s->plan.n; i++)
			if (!measure(s, harness_in_turn(i, s->plan.n, round), round))
				return false;
	return true;
}

/* The confirmation rounds: the best again, in turn with the defaults. */
static bool run_again(struct sweep *s)
{
	size_t settings[CHOICE_CONTENDERS + 1];
	size_t n = choice_contenders(&s->results, settings);
	for (unsigned round = s->rounds; round < s->rounds + s->again; round++)
		for (size_t k = 0; k < n; k++)
			for (size_t t = 0; t < s->plan.nthreads; t++) {
				size_t point =
				    plan_point_of(&s->plan, settings[harness_in_turn(k, n, round)],
						  s->plan.threads[t]);
				if (point != SIZE_MAX && !measure(s, point, round))
					return false;
			}
	return true;
}

static bool run(struct sweep *s)
{
	results_open(&s->results, &s->plan, s->rounds + s->again);
	harness_progress_start(&s->progress, "measurement",
			       s->plan.n * s->rounds +
				   (size_t)s->again * (CHOICE_CONTENDERS + 1) * s->plan.nthreads);
	bool good = run_rounds(s) && run_again(s);
	harness_progress_end(&s->progress);
	s->trust.after = harness_load();
	s->trust.spread = results_typical_spread(&s->results);
	return good;
}

/* What can be told before anything is measured; the rest is in run. */
static void begin_trust(struct sweep *s)
{
	struct trust *t = &s->trust;
	char text[512];
	*t = (struct trust){.before = harness_load_at_start(),
			    .after = NAN,
			    .spread = NAN,
			    .processors = harness_cpus(),
			    .strings = s->corpus.n};
	for (size_t i = 0; i < s->plan.n; i++)
		if (s->plan.points[i].threads > t->threads)
			t->threads = s->plan.points[i].threads;
	for (size_t i = 0; trust_remark(t, i, text, sizeof text); i++)
		cli_warn("%s", text);
}

/* ---- rows */

enum { COLUMNS_MAX = AXES_MAX + 3 * MEASURES + 2 };
static struct report_column columns[COLUMNS_MAX];
static char quartile_names[2 * MEASURES][40];

/* The axes, the rounds, a column for each measure, two for its quartiles, the corpus. A table has
 * the axes that vary within an engine or were asked for. */
static size_t make_columns(const struct sweep *s)
{
	const struct plan *plan = &s->plan;
	size_t n = 0, names = 0;
	for (size_t a = 0; a < axes_n; a++) {
		bool shown = s->listed[a];
		const struct engine *engine;
		for (size_t i = 0; i < plan->n && a == AXIS_ENGINE; i++)
			shown |= plan->points[i].engine != plan->points[0].engine;
		for (size_t e = 0; (engine = engine_at(e)) != NULL; e++)
			shown |= plan_varies(plan, engine, a);
		columns[n++] = (struct report_column){axes[a].key, axes[a].type, !shown};
	}
	columns[n++] = (struct report_column){"rounds", REPORT_COUNT, true};
	for (unsigned m = 0; m < MEASURES; m++)
		columns[n++] = (struct report_column){measures[m].name, measures[m].type,
						      (measures[m].flags & MEASURE_WIDE) != 0};
	for (unsigned m = 0; m < MEASURES; m++)
		for (int q = 1; q <= 3 && (measures[m].flags & MEASURE_SPREAD); q += 2, names++) {
			snprintf(quartile_names[names], sizeof *quartile_names, "%s_q%d",
				 measures[m].name, q);
			columns[n++] =
			    (struct report_column){quartile_names[names], measures[m].type, true};
		}
	columns[n++] = (struct report_column){"corpus_hash", REPORT_TEXT, true};
	return n;
}

static void print_row(struct report *r, const struct sweep *s, size_t i)
{
	const struct plan_point *point = &s->plan.points[i];
	struct report_value row[COLUMNS_MAX];
	char hash[20];
	size_t n = 0;
	for (size_t a = 0; a < axes_n; a++)
		row[n++] = axis_value(a, point->at[a]);
	row[n++] = (struct report_value){.count = s->results.n[i]};
	for (unsigned m = 0; m < MEASURES; m++)
		row[n++] = measure_value(m, results_spread(&s->results, i, m).median);
	for (unsigned m = 0; m < MEASURES; m++) {
		if (!(measures[m].flags & MEASURE_SPREAD))
			continue;
		struct harness_spread spread = results_spread(&s->results, i, m);
		row[n++] = measure_value(m, spread.q1);
		row[n++] = measure_value(m, spread.q3);
	}
	snprintf(hash, sizeof hash, "%016" PRIx64, s->corpus.hash);
	row[n++] = (struct report_value){.text = hash};
	report_row(r, row);
}

/* ---- the recommendation, as lines that a shell can read */

static void print_front(struct report *r, const struct sweep *s, const struct choice *choice)
{
	size_t *front, n = choice_front(&s->results, choice, &front);
	char name[256];
	report_note(r, "# The Pareto front of memory against speed (1.00: %s):",
		    choice_base_words(&s->results));
	for (size_t i = 0; i < n; i++) {
		const struct choice_figures *f = &choice->of[front[i]];
		choice_name(&s->results, front[i], name, sizeof name);
		char bytes[REPORT_BYTES_TEXT], quartiles[64] = "";
		if (results_rounds(&s->results, front[i]) > 1)
			snprintf(quartiles, sizeof quartiles, " (%.2f to %.2f)", f->speed.q1,
				 f->speed.q3);
		report_note(r, "#   %11s  speed %.2f%s  %s%s%s", report_bytes(bytes, f->added),
			    f->speed.median, quartiles, name,
			    front[i] == choice->base ? "  (the defaults)" : "",
			    f->confirmed ? "  (in the confirmation rounds)" : "");
	}
	report_note(r, "# Settings that look better than the recommended one were not better "
		       "beyond noise.");
	free(front);
}

static void print_choice(struct report *r, const struct sweep *s, const struct choice *choice)
{
	char text[1024];
	for (size_t i = 0; trust_remark(&s->trust, i, text, sizeof text); i++)
		report_note(r, "# %s", text);
	if (!choice->made)
		return;
	if (s->recommend)
		print_front(r, s, choice);
	choice_effect(&s->results, choice, text, sizeof text);
	report_note(r, "# Recommended. %s", text);
	if (s->recommend) {
		choice_reason(&s->results, choice, text, sizeof text);
		report_note(r, "# %s", text);
	}
	for (size_t i = 0; choice_environment(&s->results, choice, i, text, sizeof text); i++)
		report_note(r, "%s", text);
}

int main(int argc, char **argv)
{
	static struct sweep s;
	struct choice choice;
	parse(&s, argc, argv);
	corpus_load(&s.corpus, &s.common.corpus);
	if (s.resume_path)
		open_resume(&s);
	size_t ncolumns = make_columns(&s);
	/* Rather now than when all is measured. */
	if (s.plot)
		cli_folder(s.plot);

	begin_trust(&s);
	if (!run(&s))
		return CLI_FAILURE;
	choice_make(&choice, &s.results, s.rounds);

	struct report *r = report_open(&s.common.output, "sweep", columns, ncolumns);
	report_machine(r);
	report_corpus(r, &s.corpus);
	if (!isnan(s.trust.after))
		report_fact(r, "load_at_end", "%.2f", s.trust.after);
	report_fact(r, "rounds", "%u", s.rounds);
	report_knobs(r, "knobs", &engine_cistern, &s.common.config);
	for (size_t i = 0; i < s.plan.n; i++)
		print_row(r, &s, i);
	print_choice(r, &s, &choice);
	report_close(r);
	if (s.plot) {
		struct pictures pictures;
		bool drawn = sweep_plots(s.plot, &s.results, &choice, &pictures);
		if (s.page)
			sweep_page(s.page, &(struct sweep_page){.results = &s.results,
								.choice = &choice,
								.pictures = &pictures,
								.corpus = &s.corpus,
								.trust = &s.trust,
								.rounds = s.rounds,
								.argc = argc,
								.argv = argv});
		if (s.page)
			fprintf(stderr, "the page is %s/index.html\n", s.page);
		else if (drawn)
			fprintf(stderr, "plots are in %s\n", s.plot);
		pictures_free(&pictures);
	}

	if (s.resume)
		resume_close(s.resume);
	choice_free(&choice);
	results_close(&s.results);
	plan_free(&s.plan);
	corpus_unload(&s.corpus);
	cli_end(&s.common);
	return cli_finish();
}
