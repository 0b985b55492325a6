/* SPDX-License-Identifier: MIT */
/*
 * compare.c - cistern-compare: cistern beside other interners, on one set of strings.
 *
 * In each round every contender runs once, one after the other, each in a process of its own; the
 * order turns round from round to round. Ratios are taken within a round and their median is
 * reported with the quartiles: that way a machine that other people use too still gives figures
 * that can be relied on, while absolute ones cannot. See workload.h for what is measured and
 * verified.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "contender.h"
#include "harness.h"
#include "workload.h"

/* ---- what is compared */

struct measure {
	const char *name, *unit;
	bool more_is_better;
	double (*of)(const struct workload_result *);
};

#define SPEED(name)                                                                                \
	static double name(const struct workload_result *r)                                        \
	{                                                                                          \
		return r->speed.name;                                                              \
	}
SPEED(build)
SPEED(hit)
SPEED(batch)
SPEED(hot)
SPEED(miss)
SPEED(mixed)
SPEED(miss_slowest)
SPEED(miss_fastest)

static double added(const struct workload_result *r)
{
	return (double)workload_added(r) / 1048576;
}

/* What a string costs beyond its own bytes. */
static double extra(const struct workload_result *r)
{
	return ((double)workload_added(r) - (double)r->payload) / (double)r->stats.strings;
}

static double rss(const struct workload_result *r)
{
	return (double)r->after.rss / 1048576;
}

static double peak(const struct workload_result *r)
{
	return (double)r->after.peak / 1048576;
}

static double huge(const struct workload_result *r)
{
	/* Signed: the kernel may split huge pages meanwhile. */
	return ((double)r->after.huge - (double)r->before.huge) / 1048576;
}

static const struct measure measures[] = {
    {"build", "M/s", true, build},
    {"hit", "M/s", true, hit},
    {"batch_hit", "M/s", true, batch},
    {"hot_set", "M/s", true, hot},
    {"find_miss", "M/s", true, miss},
    {"miss_slowest", "M/s", true, miss_slowest},
    {"miss_fastest", "M/s", true, miss_fastest},
    {"mixed", "M/s", true, mixed},
    {"added_rss", "MiB", false, added},
    {"extra_per_string", "bytes", false, extra},
    {"rss", "MiB", false, rss},
    {"peak", "MiB", false, peak},
    {"huge_pages", "MiB", false, huge},
};
enum { MEASURES = sizeof measures / sizeof *measures };

struct compare {
	struct cli_common common;
	struct corpus corpus;
	struct cli_list threads;
	struct contender_list who;
	size_t baseline; /* who.n: there is none */
	unsigned rounds, pass_ms;
	bool build_batch;
	double *values; /* see value_at */
};

/* The values of one contender in one measure, a round each. */
static double *value_at(const struct compare *c, size_t threads, size_t contender, size_t measure)
{
	return c->values + ((threads * c->who.n + contender) * MEASURES + measure) * c->rounds;
}

static unsigned threads_at(const struct compare *c, size_t i)
{
	return (unsigned)cli_number_option("--threads", c->threads.items[i], 1, 1024);
}

/* ---- command line */

static void help(FILE *f)
{
	fprintf(f,
		"usage: %s [option]...\n"
		"Compares cistern with other interners on a set of strings, by paired ratios.\n"
		"\nWhat is compared:\n"
		"  --variant KEY=VALUE[,KEY=VALUE]...\n"
		"                       cistern with these knobs; several take part side by side\n"
		"  --engines LIST       engines beside cistern, or none (all of this build)\n"
		"  --baseline ENGINE    what ratios are taken over (stringmap)\n"
		"  --threads LIST       (1, 2 and the number of processors)\n"
		"  --rounds N           rounds, at best an odd number (7)\n"
		"  --pass-ms N          how long each kind of look-up is repeated in each process "
		"(50)\n"
		"  --build-batch        build through the batch call, where an engine has one\n"
		"  --quick              one round over few strings: a check that all works\n",
		cli_program);
	cli_help_engines(f);
	cli_help_common(f);
	cli_help_knobs(f);
}

static void parse(struct compare *c, int argc, char **argv)
{
	enum { THREADS = CONTENDER_OWN, ROUNDS, PASS, BATCH, QUICK };
	static const struct option options[] = {
	    CLI_COMMON_OPTIONS,
	    CONTENDER_OPTIONS,
	    {"threads", required_argument, NULL, THREADS},
	    {"rounds", required_argument, NULL, ROUNDS},
	    {"pass-ms", required_argument, NULL, PASS},
	    {"build-batch", no_argument, NULL, BATCH},
	    {"quick", no_argument, NULL, QUICK},
	    {NULL, 0, NULL, 0},
	};
	struct contender_request request = {0};
	const char *threads = cli_usual_threads();
	bool quick = false;
	int option;

	cli_start(&c->common, argv[0]);
	opterr = 0;
	while ((option = getopt_long(argc, argv, CLI_SHORT, options, NULL)) != -1) {
		if (cli_common_option(&c->common, option, argv, help) ||
		    contender_option(&request, option))
			continue;
		if (option == THREADS)
			threads = optarg;
		else if (option == ROUNDS)
			c->rounds = (unsigned)cli_number_option("--rounds", optarg, 1, 1000);
		else if (option == PASS)
			c->pass_ms = (unsigned)cli_number_option("--pass-ms", optarg, 1, 60000);
		else if (option == BATCH)
			c->build_batch = true;
		else if (option == QUICK)
			quick = true;
	}
	cli_common_rest(&c->common, argc, argv);
	c->rounds = c->rounds ? c->rounds : quick ? 1 : 7;
	c->pass_ms = c->pass_ms ? c->pass_ms : quick ? 1 : 50;
	if (quick && !c->common.corpus.count)
		c->common.corpus.count = 20000;

	if (request.nvariants == 0)
		contender_add(&c->who, &c->common, &engine_cistern, "cistern");
	for (size_t i = 0; i < request.nvariants; i++)
		contender_add_variant(&c->who, &c->common, request.variants[i]);
	free(request.variants);
	contender_add_engines(&c->who, &c->common, request.engines);
	c->baseline = contender_baseline(&c->who, request.baseline, "stringmap");
	c->threads = cli_list_parse("--threads", threads);
	for (size_t i = 0; i < c->threads.n; i++)
		threads_at(c, i);
}

/* ---- running and reporting */

static bool run_one(struct compare *c, size_t threads, size_t contender, unsigned round)
{
	const struct contender *who = &c->who.items[contender];
	struct workload w = {.engine = who->engine,
			     .corpus = &c->corpus,
			     .config = who->config,
			     .threads = threads_at(c, threads),
			     .build_batch = c->build_batch,
			     .steps = true,
			     .pass_ms = c->pass_ms};
	struct workload_result result;
	if (!workload_run(&w, &result))
		return false;
	for (size_t m = 0; m < MEASURES; m++)
		value_at(c, threads, contender, m)[round] = measures[m].of(&result);
	return true;
}

static bool run(struct compare *c)
{
	struct harness_progress progress;
	harness_progress_start(&progress, "measurement", c->threads.n * c->who.n * c->rounds);
	for (unsigned round = 0; round < c->rounds; round++) {
		for (size_t t = 0; t < c->threads.n; t++) {
			for (size_t i = 0; i < c->who.n; i++) {
				if (!run_one(c, t, harness_in_turn(i, c->who.n, round), round)) {
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

static const struct report_column columns[] = {
    {"threads", REPORT_COUNT, false},   {"measure", REPORT_TEXT, false},
    {"engine", REPORT_TEXT, false},     {"unit", REPORT_TEXT, false},
    {"median", REPORT_NUMBER, false},   {"q1", REPORT_NUMBER, true},
    {"q3", REPORT_NUMBER, true},        {"baseline", REPORT_NUMBER, false},
    {"ratio", REPORT_RATIO, false},     {"ratio_q1", REPORT_RATIO, false},
    {"ratio_q3", REPORT_RATIO, false},  {"rounds", REPORT_COUNT, true},
    {"corpus_hash", REPORT_TEXT, true},
};

/* What one contender reached in one measure, and over the baseline in the same rounds. */
static struct harness_pair cell_of(const struct compare *c, size_t t, size_t i, size_t m)
{
	const double *base = c->baseline < c->who.n ? value_at(c, t, c->baseline, m) : NULL;
	return harness_pair_of(value_at(c, t, i, m), base, c->rounds);
}

static void print_row(struct report *r, const struct compare *c, size_t t, size_t i, size_t m)
{
	struct harness_pair cell = cell_of(c, t, i, m), base = {.known = false};
	char hash[20];
	if (cell.paired)
		base = cell_of(c, t, c->baseline, m);
	snprintf(hash, sizeof hash, "%016" PRIx64, c->corpus.hash);
	struct report_value row[] = {
	    {.count = threads_at(c, t)},
	    {.text = measures[m].name},
	    {.text = c->who.items[i].label},
	    {.text = measures[m].unit},
	    {.number = cell.own.median, .missing = !cell.known},
	    {.number = cell.own.q1, .missing = !cell.known},
	    {.number = cell.own.q3, .missing = !cell.known},
	    {.number = base.own.median, .missing = !cell.paired},
	    {.number = cell.ratio.median, .missing = !cell.paired},
	    {.number = cell.ratio.q1, .missing = !cell.paired},
	    {.number = cell.ratio.q3, .missing = !cell.paired},
	    {.count = c->rounds},
	    {.text = hash},
	};
	_Static_assert(sizeof row / sizeof *row == sizeof columns / sizeof *columns,
		       "a value for each column");
	report_row(r, row);
}

static bool ahead(const struct harness_pair *a, const struct harness_pair *b, size_t m)
{
	return measures[m].more_is_better ? a->ratio.median > b->ratio.median
					  : a->ratio.median < b->ratio.median;
}

/* Says for each variant of cistern where another engine came out better, by medians: whether the
 * quartiles lie apart is for the reader to see. */
static void print_behind(struct report *r, const struct compare *c, size_t t, size_t m)
{
	const struct contender *best = NULL;
	struct harness_pair other = {.paired = false};
	for (size_t i = 0; i < c->who.n; i++) {
		struct harness_pair cell = cell_of(c, t, i, m);
		if (c->who.items[i].engine == &engine_cistern || !cell.paired ||
		    (best && !ahead(&cell, &other, m)))
			continue;
		best = &c->who.items[i];
		other = cell;
	}
	for (size_t i = 0; i < c->who.n && best; i++) {
		struct harness_pair cell = cell_of(c, t, i, m);
		if (c->who.items[i].engine != &engine_cistern || !cell.paired ||
		    !ahead(&other, &cell, m))
			continue;
		report_note(r,
			    "# behind: %s, %s, %u thread%s: %.3f (%.3f to %.3f) where %s has %.3f "
			    "(%.3f to %.3f)",
			    c->who.items[i].label, measures[m].name, threads_at(c, t),
			    threads_at(c, t) == 1 ? "" : "s", cell.ratio.median, cell.ratio.q1,
			    cell.ratio.q3, best->label, other.ratio.median, other.ratio.q1,
			    other.ratio.q3);
	}
}

int main(int argc, char **argv)
{
	static struct compare c;
	parse(&c, argc, argv);
	corpus_load(&c.corpus, &c.common.corpus);
	/* Not before: a corpus that cannot be read is one line about the corpus, and nothing else.
	 */
	if (c.baseline == c.who.n)
		cli_warn("no ratios: neither stringmap nor conststring takes part");
	c.values = calloc(c.threads.n * c.who.n * MEASURES * c.rounds, sizeof *c.values);
	if (!c.values)
		cli_fail("out of memory");
	if (!run(&c))
		return CLI_FAILURE;

	struct report *r =
	    report_open(&c.common.output, "compare", columns, sizeof columns / sizeof *columns);
	report_machine(r);
	report_corpus(r, &c.corpus);
	contender_facts(r, &c.who);
	report_fact(r, "work",
		    "build: %s, thread t of T takes the t-th part of the corpus; hit, batch_hit, "
		    "find_miss: every thread all of it; hot_set: every thread the same 64; mixed: "
		    "one new in 20",
		    c.build_batch ? "in batches" : "single calls");
	for (size_t t = 0; t < c.threads.n; t++)
		for (size_t m = 0; m < MEASURES; m++)
			for (size_t i = 0; i < c.who.n; i++)
				if (i != c.baseline || c.who.n == 1)
					print_row(r, &c, t, i, m);
	if (c.baseline == c.who.n)
		report_note(r, "# no ratios: no baseline took part; --baseline cistern compares "
			       "variants");
	else
		report_note(
		    r,
		    "# ratio: over %s within each round, median and quartiles of %u; above 1 is "
		    "faster for M/s, below 1 is smaller for MiB and bytes",
		    c.who.items[c.baseline].label, c.rounds);
	for (size_t t = 0; t < c.threads.n && c.baseline < c.who.n; t++)
		for (size_t m = 0; m < MEASURES; m++)
			print_behind(r, &c, t, m);
	report_close(r);
	cli_end(&c.common);
	return cli_finish();
}
