/* SPDX-License-Identifier: MIT */
/*
 * latency.c - cistern-latency: how long single calls take, down to the rarest.
 *
 * In each round every case is run by every contender in turn, in reverse order every other round,
 * each time in a process of its own (calls.h says what the cases are). The quantiles are taken for
 * each process; reported are their medians and quartiles over the rounds, and ratios over the
 * baseline, taken within a round.
 *
 * It grows by a case in calls.[ch], or by a figure in latency_figures.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "cli.h"
#include "contender.h"
#include "engine.h"
#include "harness.h"
#include "latency_figures.h"
#include "ticks.h"

/* case, engine, calls, then value, quartiles and three ratios of each measure, rounds and hash. */
enum { COLUMNS_MAX = 5 + 6 * LATENCY_FIGURES };

struct latency {
	struct cli_common common;
	struct corpus corpus;
	struct contender_list contenders;
	size_t baseline; /* contenders.n: there is none */
	struct cli_list cases;
	bool chosen[CALLS_CASES]; /* first ones of a process only */
	unsigned rounds;
	const char *histogram_path;
	FILE *histogram;
	double *values;    /* see value_at */
	struct sum *sums;  /* over the rounds; a contender's cases side by side */
	double *overheads; /* of all processes, in nanoseconds */
	size_t processes;
};

/* All rounds of one contender in one case. */
struct sum {
	struct histogram calls, idle;
};

static double *value_at(const struct latency *l, size_t contender, size_t which, size_t measure)
{
	return l->values +
	       ((contender * CALLS_CASES + which) * LATENCY_FIGURES + measure) * l->rounds;
}

/* ---- command line */

static void help(FILE *f)
{
	fprintf(
	    f,
	    "usage: %s [option]...\n"
	    "Measures how long single calls take: the usual ones and the slowest ones.\n"
	    "\nWhat is measured:\n"
	    "  --variant KEY=VALUE[,KEY=VALUE]...\n"
	    "                       cistern with these knobs; several take part side by side\n"
	    "                       (lock=mutex and lock=spin)\n"
	    "  --engines LIST       engines beside cistern, or none (all of this build)\n"
	    "  --baseline ENGINE    what ratios are taken over (conststring, or else stringmap)\n"
	    "  --cases LIST         insert, insert-shared, hit, hot (all); hit and hot each also "
	    "while\n"
	    "                       another thread inserts\n"
	    "  --rounds N           rounds, at best an odd number (5)\n"
	    "  --histogram FILE     the histograms over all rounds, as CSV\n"
	    "  --quick              one round over few strings: a check that all works\n"
	    "  --full               15 rounds\n",
	    cli_program);
	cli_help_engines(f);
	cli_help_common(f);
	cli_help_knobs(f);
}

static void choose_cases(struct latency *l, const char *list)
{
	struct cli_list names = cli_list_parse("--cases", list);
	for (size_t i = 0; i < names.n; i++) {
		size_t k = 0;
		while (k < CALLS_CASES && (strcmp(names.items[i], calls_names[k]) != 0 ||
					   k == CALLS_HIT_INSERTING || k == CALLS_HOT_INSERTING))
			k++;
		if (k == CALLS_CASES)
			cli_usage("--cases: '%.80s' is none of insert, insert-shared, hit, hot",
				  names.items[i]);
		l->chosen[k] = true;
	}
	cli_list_free(&names);
}

static void parse(struct latency *l, int argc, char **argv)
{
	enum { CASES = CONTENDER_OWN, ROUNDS, HISTOGRAM, QUICK, FULL };
	static const struct option options[] = {
	    CLI_COMMON_OPTIONS,
	    CONTENDER_OPTIONS,
	    {"cases", required_argument, NULL, CASES},
	    {"rounds", required_argument, NULL, ROUNDS},
	    {"histogram", required_argument, NULL, HISTOGRAM},
	    {"quick", no_argument, NULL, QUICK},
	    {"full", no_argument, NULL, FULL},
	    {NULL, 0, NULL, 0},
	};
	struct contender_request request = {0};
	const char *cases = "insert,insert-shared,hit,hot";
	bool quick = false, full = false;
	int option;

	cli_start(&l->common, argv[0]);
	opterr = 0;
	while ((option = getopt_long(argc, argv, CLI_SHORT, options, NULL)) != -1) {
		if (cli_common_option(&l->common, option, argv, help) ||
		    contender_option(&request, option))
			continue;
		if (option == CASES)
			cases = optarg;
		else if (option == ROUNDS)
			l->rounds = (unsigned)cli_number_option("--rounds", optarg, 1, 1000);
		else if (option == HISTOGRAM)
			l->histogram_path = optarg;
		else if (option == QUICK)
			quick = true;
		else if (option == FULL)
			full = true;
	}
	cli_common_rest(&l->common, argc, argv);
	if (quick && full)
		cli_usage("--quick and --full exclude each other");
	l->rounds = l->rounds ? l->rounds : quick ? 1 : full ? 15 : 5;
	/* Of generated strings about a third are distinct: close to a million. Files are taken
	 * whole. */
	if (!l->common.corpus.count && (quick || l->common.corpus.nsources == 0))
		l->common.corpus.count = quick ? 60000 : 3000000;
	/* Tables that grow want strings that are new, and reading them should not be what is
	 * timed: each once, with the bytes in that order. */
	l->common.corpus.distinct_random = true;

	choose_cases(l, cases);
	if (request.nvariants == 0) {
		contender_add_variant(&l->contenders, &l->common, "lock=mutex");
		contender_add_variant(&l->contenders, &l->common, "lock=spin");
	}
	for (size_t i = 0; i < request.nvariants; i++)
		contender_add_variant(&l->contenders, &l->common, request.variants[i]);
	free(request.variants);
	contender_add_engines(&l->contenders, &l->common, request.engines);
	l->baseline = contender_baseline(&l->contenders, request.baseline, "conststring");
}

/* ---- running */

static bool run_one(struct latency *l, size_t contender, enum calls_case first, unsigned round)
{
	static struct calls_figures figures[2];
	const struct contender *who = &l->contenders.items[contender];
	struct calls c = {
	    .engine = who->engine, .corpus = &l->corpus, .config = who->config, .first = first};
	if (!calls_run(&c, figures))
		return false;
	for (size_t i = 0; i <= calls_has_second(first); i++) {
		struct sum *sum = &l->sums[contender * CALLS_CASES + first + i];
		histogram_merge(&sum->calls, &figures[i].calls.times);
		histogram_merge(&sum->idle, &figures[i].idle.times);
		for (size_t m = 0; m < LATENCY_FIGURES; m++)
			value_at(l, contender, first + i, m)[round] =
			    latency_figures[m].of(&figures[i]);
	}
	l->overheads[l->processes++] = ticks_ns(figures[0].overhead);
	return true;
}

static bool run(struct latency *l)
{
	struct harness_progress progress;
	size_t n = l->contenders.n, ncases = 0;
	for (size_t k = 0; k < CALLS_CASES; k++)
		ncases += l->chosen[k];
	l->values = calloc(n * CALLS_CASES * LATENCY_FIGURES * l->rounds, sizeof *l->values);
	l->sums = calloc(n * CALLS_CASES, sizeof *l->sums);
	l->overheads = calloc(n * ncases * l->rounds, sizeof *l->overheads);
	if (!l->values || !l->sums || !l->overheads)
		cli_fail("out of memory");

	harness_progress_start(&progress, "measurement", n * ncases * l->rounds);
	for (unsigned round = 0; round < l->rounds; round++) {
		for (size_t k = 0; k < CALLS_CASES; k++) {
			for (size_t i = 0; i < n && l->chosen[k]; i++) {
				size_t contender = harness_in_turn(i, n, round);
				if (!run_one(l, contender, (enum calls_case)k, round)) {
					harness_progress_end(&progress);
					return false;
				}
				harness_progress_step(&progress);
			}
		}
	}
	harness_progress_end(&progress);
	return true;
}

/* ---- reporting */

static struct report_column columns[COLUMNS_MAX];
static size_t ncolumns;

static void add_column(enum report_type type, bool shown, const char *name, const char *suffix)
{
	static char names[COLUMNS_MAX][32];
	snprintf(names[ncolumns], sizeof names[ncolumns], "%s%s", name, suffix);
	columns[ncolumns] = (struct report_column){names[ncolumns], type, !shown};
	ncolumns++;
}

static void make_columns(void)
{
	add_column(REPORT_TEXT, true, "case", "");
	add_column(REPORT_TEXT, true, "engine", "");
	add_column(REPORT_COUNT, false, "calls", "");
	for (size_t m = 0; m < LATENCY_FIGURES; m++) {
		unsigned how = latency_figures[m].how;
		add_column(REPORT_NUMBER, how & FIGURE_SHOWN, latency_figures[m].name, "");
		add_column(REPORT_NUMBER, false, latency_figures[m].name, "_q1");
		add_column(REPORT_NUMBER, false, latency_figures[m].name, "_q3");
		if (!(how & FIGURE_RATIO))
			continue;
		add_column(REPORT_RATIO, how & FIGURE_RATIO_SHOWN, latency_figures[m].name,
			   "_ratio");
		add_column(REPORT_RATIO, false, latency_figures[m].name, "_ratio_q1");
		add_column(REPORT_RATIO, false, latency_figures[m].name, "_ratio_q3");
	}
	add_column(REPORT_COUNT, false, "rounds", "");
	add_column(REPORT_TEXT, false, "corpus_hash", "");
}

/* Three cells: median and quartiles. */
static void add_spread(struct report_value *row, size_t *at, struct harness_spread s, bool missing)
{
	row[(*at)++] = (struct report_value){.number = s.median, .missing = missing};
	row[(*at)++] = (struct report_value){.number = s.q1, .missing = missing};
	row[(*at)++] = (struct report_value){.number = s.q3, .missing = missing};
}

static void print_row(struct report *r, const struct latency *l, size_t which, size_t contender)
{
	struct report_value row[COLUMNS_MAX];
	size_t at = 0;
	char hash[20];
	snprintf(hash, sizeof hash, "%016" PRIx64, l->corpus.hash);
	const struct sum *sum = &l->sums[contender * CALLS_CASES + which];
	row[at++] = (struct report_value){.text = calls_names[which]};
	row[at++] = (struct report_value){.text = l->contenders.items[contender].label};
	row[at++] = (struct report_value){.count = sum->calls.total / l->rounds};
	for (size_t m = 0; m < LATENCY_FIGURES; m++) {
		const double *own = value_at(l, contender, which, m), *base = NULL;
		if (l->baseline < l->contenders.n)
			base = value_at(l, l->baseline, which, m);
		struct harness_pair pair = harness_pair_of(own, base, l->rounds);
		bool missing = latency_figures[m].how & FIGURE_OPTIONAL && own[0] <= 0;
		add_spread(row, &at, pair.own, missing);
		if (latency_figures[m].how & FIGURE_RATIO)
			add_spread(row, &at, pair.ratio, missing || !pair.paired);
	}
	row[at++] = (struct report_value){.count = l->rounds};
	row[at++] = (struct report_value){.text = hash};
	report_row(r, row);
}

static bool measured(const struct latency *l, size_t which)
{
	return l->chosen[which] ||
	       (which && calls_has_second((enum calls_case)(which - 1)) && l->chosen[which - 1]);
}

static void report(struct latency *l)
{
	make_columns();
	struct report *r = report_open(&l->common.output, "latency", columns, ncolumns);
	report_machine(r);
	report_corpus(r, &l->corpus);
	contender_facts(r, &l->contenders);
	report_fact(r, "timer", "%s", ticks.about);
	struct harness_spread overhead = harness_spread_of(l->overheads, l->processes);
	report_fact(r, "timer_overhead",
		    "%.1f ns (%.1f to %.1f over the processes): a timed call that does nothing, "
		    "subtracted from each",
		    overhead.median, overhead.q1, overhead.q3);
	for (size_t k = 0; k < CALLS_CASES; k++)
		for (size_t i = 0; i < l->contenders.n && measured(l, k); i++)
			print_row(r, l, k, i);
	if (l->baseline < l->contenders.n)
		report_note(r,
			    "# ratio: over %s within each round, median of %u; below 1 is faster, "
			    "but for m_s",
			    l->contenders.items[l->baseline].label, l->rounds);
	report_note(
	    r, "# over50_us: time in calls of more than 50 microseconds; idle: a loop that only "
	       "reads the clock, as long and with as many turns");
	if (harness_cpus() < 2)
		report_note(r, "# one processor: threads took turns, which is what the cases with "
			       "two of them show");
	report_close(r);
}

static void write_histogram(struct latency *l)
{
	FILE *f = l->histogram;
	if (!f)
		return;
	fprintf(f, "case,engine,from_ns,to_ns,calls,idle\n");
	for (size_t k = 0; k < CALLS_CASES; k++) {
		for (size_t i = 0; i < l->contenders.n && measured(l, k); i++) {
			const struct sum *sum = &l->sums[i * CALLS_CASES + k];
			for (size_t b = 0; b < HISTOGRAM_BUCKETS; b++) {
				if (sum->calls.counts[b] || sum->idle.counts[b])
					fprintf(f, "%s,%s,%.1f,%.1f,%" PRIu64 ",%" PRIu64 "\n",
						calls_names[k], l->contenders.items[i].label,
						ticks_ns(histogram_low(b)),
						ticks_ns(histogram_high(b)), sum->calls.counts[b],
						sum->idle.counts[b]);
			}
		}
	}
	bool failed = ferror(f);
	if (fclose(f) != 0 || failed)
		cli_fail("%s: cannot be written: %s", l->histogram_path, strerror(errno));
}

int main(int argc, char **argv)
{
	static struct latency l;
	parse(&l, argc, argv);
	corpus_load(&l.corpus, &l.common.corpus);
	if (l.corpus.ndistinct < CALLS_LEAST)
		cli_fail("%s: %zu distinct strings are too few, %d are needed", l.corpus.name,
			 l.corpus.ndistinct, CALLS_LEAST);
	if (l.histogram_path && !(l.histogram = fopen(l.histogram_path, "w")))
		cli_fail("%s: %s", l.histogram_path, strerror(errno));
	if (l.baseline == l.contenders.n)
		cli_warn("no ratios: neither conststring nor stringmap takes part");
	ticks_start(true);
	if (!run(&l))
		return CLI_FAILURE;
	write_histogram(&l);
	report(&l);
	corpus_unload(&l.corpus);
	cli_end(&l.common);
	return cli_finish();
}
