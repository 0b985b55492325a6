/* SPDX-License-Identifier: MIT */
/*
 * builder.c - cistern-builder: what putting a name together costs, and interning it.
 *
 * For each number of pieces and each length of them, every way (ways.h) builds the same names. In
 * each round a fresh process runs the ways in turn, in reverse order every other round; ratios are
 * taken within a round over the first way of its part. Each process compares every result byte by
 * byte before it measures, and counts heap allocations on the way.
 *
 * --only runs one case without looking at the clock, for tools that count instructions; --sizes
 * prints what a string costs beside its bytes (sizes.h) instead.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "engine.h"
#include "harness.h"
#include "sizes.h"
#include "trial.h"
#include "ways.h"

struct builder {
	struct cli_common common;
	struct corpus corpus;
	struct cli_list pieces, lengths;
	unsigned rounds, pass_us;
	uint64_t passes;        /* so many exactly, whatever the time; 0: as pass_us says */
	const struct way *only; /* NULL: all */
	bool sizes;
};

/* ---- command line */

static void help(FILE *f)
{
	fprintf(
	    f,
	    "usage: %s [option]...\n"
	    "Measures ways to put a name together out of pieces, and to intern it.\n"
	    "\nWhat is measured:\n"
	    "  --pieces LIST        pieces of a name (5,20,500)\n"
	    "  --lengths LIST       of the pieces: short (1 to 8 bytes), long (32 to 96) (both)\n"
	    "  --rounds N           rounds, at best an odd number (15)\n"
	    "  --pass-us N          how long each way is repeated in each round (2000); the median "
	    "pass "
	    "counts\n"
	    "  --only WAY,PIECES,LENGTH\n"
	    "                       one case in one round, in this process, for tools that count\n"
	    "                       instructions: tell them to look at the function builder_pass\n"
	    "  --passes N           repeat each way so often instead, over all names (with --only "
	    "1000)\n"
	    "  --sizes              print the sizes of a string's parts and their limits instead\n"
	    "  --quick              one short round: a check that all works\n"
	    "\nWays (ratios are over the first of each part):\n",
	    cli_program);
	for (size_t i = 0; way_at(i); i++)
		fprintf(f, "  %-20s %s\n", way_at(i)->name, way_at(i)->about);
	cli_help_common(f);
	cli_help_knobs(f);
}

static const struct ways_length *length_named(const char *option, const char *name)
{
	for (size_t i = 0; ways_length_at(i); i++)
		if (strcmp(ways_length_at(i)->name, name) == 0)
			return ways_length_at(i);
	cli_usage("%s: '%.80s' is neither short nor long", option, name);
}

static const struct way *way_named(const char *name)
{
	for (size_t i = 0; way_at(i); i++)
		if (strcmp(way_at(i)->name, name) == 0)
			return way_at(i);
	cli_usage("--only: there is no way called '%.80s' (--help lists them)", name);
}

/* The one case. Its two lists have one part each. */
static void parse_only(struct builder *b, const char *text)
{
	struct cli_list parts = cli_list_parse("--only", text);
	if (parts.n != 3)
		cli_usage("--only: '%.80s' is not of the form way,pieces,length", text);
	b->only = way_named(parts.items[0]);
	b->pieces = cli_list_parse("--only", parts.items[1]);
	b->lengths = cli_list_parse("--only", parts.items[2]);
	cli_list_free(&parts);
}

static size_t pieces_at(const struct builder *b, size_t i)
{
	return (size_t)cli_number_option(b->only ? "--only" : "--pieces", b->pieces.items[i], 2,
					 WAYS_PIECES_MAX);
}

static const struct ways_length *length_at(const struct builder *b, size_t i)
{
	return length_named(b->only ? "--only" : "--lengths", b->lengths.items[i]);
}

static void parse(struct builder *b, int argc, char **argv)
{
	enum { PIECES = CLI_OWN, LENGTHS, ROUNDS, PASS, ONLY, PASSES, SIZES, QUICK };
	static const struct option options[] = {
	    CLI_COMMON_OPTIONS,
	    {"pieces", required_argument, NULL, PIECES},
	    {"lengths", required_argument, NULL, LENGTHS},
	    {"rounds", required_argument, NULL, ROUNDS},
	    {"pass-us", required_argument, NULL, PASS},
	    {"only", required_argument, NULL, ONLY},
	    {"passes", required_argument, NULL, PASSES},
	    {"sizes", no_argument, NULL, SIZES},
	    {"quick", no_argument, NULL, QUICK},
	    {NULL, 0, NULL, 0},
	};
	const char *pieces = "5,20,500", *lengths = "short,long", *only = NULL;
	bool quick = false;
	int option;
	cli_start(&b->common, argv[0]);
	b->common.corpus.count = 20000;
	opterr = 0;
	while ((option = getopt_long(argc, argv, CLI_SHORT, options, NULL)) != -1) {
		if (cli_common_option(&b->common, option, argv, help))
			continue;
		if (option == PIECES)
			pieces = optarg;
		else if (option == LENGTHS)
			lengths = optarg;
		else if (option == ROUNDS)
			b->rounds = (unsigned)cli_number_option("--rounds", optarg, 1, 1000);
		else if (option == PASS)
			b->pass_us = (unsigned)cli_number_option("--pass-us", optarg, 1, 1000000);
		else if (option == ONLY)
			only = optarg;
		else if (option == PASSES)
			b->passes = cli_number_option("--passes", optarg, 1, 20000);
		else if (option == SIZES)
			b->sizes = true;
		else if (option == QUICK)
			quick = true;
	}
	cli_common_rest(&b->common, argc, argv);
	b->rounds = only ? 1 : b->rounds ? b->rounds : quick ? 1 : 15;
	b->pass_us = b->pass_us ? b->pass_us : quick ? 1 : 2000;
	if (only) {
		parse_only(b, only);
		b->passes = b->passes ? b->passes : 1000;
	} else {
		b->pieces = cli_list_parse("--pieces", pieces);
		b->lengths = cli_list_parse("--lengths", lengths);
	}
	for (size_t i = 0; i < b->pieces.n; i++)
		pieces_at(b, i);
	for (size_t i = 0; i < b->lengths.n; i++)
		length_at(b, i);
}

/* ---- reporting */

static const struct report_column columns[] = {
    {"part", REPORT_TEXT, false},          {"pieces", REPORT_COUNT, false},
    {"length", REPORT_TEXT, false},        {"bytes", REPORT_NUMBER, false},
    {"way", REPORT_TEXT, false},           {"ns", REPORT_NUMBER, false},
    {"ns_q1", REPORT_NUMBER, true},        {"ns_q3", REPORT_NUMBER, true},
    {"allocations", REPORT_NUMBER, false}, {"allocated", REPORT_NUMBER, false},
    {"ratio", REPORT_RATIO, false},        {"ratio_q1", REPORT_RATIO, false},
    {"ratio_q3", REPORT_RATIO, false},     {"rounds", REPORT_COUNT, true},
};

/* The first way of the part that way w belongs to. */
static size_t first_of_part(size_t w)
{
	while (w > 0 && way_at(w - 1)->part == way_at(w)->part)
		w--;
	return w;
}

static void print_row(struct report *r, const struct trial *t, const struct trial_outcome *rounds,
		      unsigned n, size_t w)
{
	double *own = calloc(2 * n, sizeof *own), *first = own + n;
	if (!own)
		cli_fail("out of memory");
	for (unsigned i = 0; i < n; i++) {
		own[i] = rounds[i].of[w].ns;
		first[i] = rounds[i].of[first_of_part(w)].ns;
	}
	struct harness_pair ns = harness_pair_of(own, t->only ? NULL : first, n);
	free(own);
	const struct trial_figures *figures = &rounds[0].of[w];
	struct report_value row[] = {
	    {.text = ways_part_name(way_at(w)->part)},
	    {.count = t->pieces},
	    {.text = t->length->name},
	    {.number = rounds[0].bytes},
	    {.text = way_at(w)->name},
	    {.number = ns.own.median},
	    {.number = ns.own.q1},
	    {.number = ns.own.q3},
	    {.number = figures->allocations, .missing = !rounds[0].counted},
	    {.number = figures->allocated, .missing = !rounds[0].counted},
	    {.number = ns.ratio.median, .missing = !ns.paired},
	    {.number = ns.ratio.q1, .missing = !ns.paired},
	    {.number = ns.ratio.q3, .missing = !ns.paired},
	    {.count = n},
	};
	_Static_assert(sizeof row / sizeof *row == sizeof columns / sizeof *columns,
		       "a value for each column");
	report_row(r, row);
}

/* Runs the rounds of one case; outcomes has room for one each. */
static bool run(const struct builder *b, struct trial *t, struct trial_outcome *outcomes,
		struct harness_progress *progress)
{
	for (unsigned i = 0; i < b->rounds; i++) {
		/* Who comes first may find a colder or a quieter machine. */
		t->reversed = i % 2 == 1;
		harness_warm((size_t)64 << 20);
		if (b->only)
			trial_run(t, &outcomes[0]);
		else if (!harness_child(trial_run, t, &outcomes[i], sizeof *outcomes))
			return false;
		harness_progress_step(progress);
	}
	return true;
}

static bool run_all(struct builder *b, struct report *r)
{
	struct harness_progress progress;
	struct trial_outcome *outcomes = calloc(b->rounds, sizeof *outcomes);
	bool good = true;
	if (!outcomes)
		cli_fail("out of memory");
	harness_progress_start(&progress, "round", b->pieces.n * b->lengths.n * b->rounds);
	for (size_t p = 0; p < b->pieces.n && good; p++) {
		for (size_t l = 0; l < b->lengths.n && good; l++) {
			struct trial t = {.corpus = &b->corpus,
					  .config = &b->common.config,
					  .seed = b->common.corpus.seed,
					  .pieces = pieces_at(b, p),
					  .length = length_at(b, l),
					  .only = b->only,
					  .pass_us = b->pass_us,
					  .passes = b->passes};
			good = run(b, &t, outcomes, &progress);
			if (b->only)
				report_fact(r, "names", "%" PRIu64 " a pass, %" PRIu64 " passes",
					    outcomes[0].names, b->passes);
			for (size_t w = 0; way_at(w) && good; w++)
				if (!b->only || b->only == way_at(w))
					print_row(r, &t, outcomes, b->rounds, w);
		}
	}
	harness_progress_end(&progress);
	free(outcomes);
	return good;
}

static const struct report_column size_columns[] = {
    {"size", REPORT_TEXT, false},      {"bytes", REPORT_NUMBER, false},
    {"formula", REPORT_NUMBER, false}, {"limit", REPORT_COUNT, false},
    {"of", REPORT_TEXT, false},        {"how", REPORT_TEXT, false},
};

static void print_size(void *arg, const struct sizes_row *size)
{
	struct report_value row[] = {
	    {.text = size->what},
	    {.number = size->bytes},
	    {.number = size->formula, .missing = size->formula < 0},
	    {.count = size->limit, .missing = size->limit == 0},
	    {.text = size->of},
	    {.text = size->how},
	};
	_Static_assert(sizeof row / sizeof *row == sizeof size_columns / sizeof *size_columns,
		       "a value for each column");
	report_row(arg, row);
}

int main(int argc, char **argv)
{
	static struct builder b;
	parse(&b, argc, argv);
	corpus_load(&b.corpus, &b.common.corpus);
	if (b.corpus.distinct_payload == 0)
		cli_fail("no pieces can be cut out of empty strings");
	struct report *r = b.sizes ? report_open(&b.common.output, "sizes", size_columns,
						 sizeof size_columns / sizeof *size_columns)
				   : report_open(&b.common.output, "builder", columns,
						 sizeof columns / sizeof *columns);
	bool good = true;
	report_machine(r);
	report_corpus(r, &b.corpus);
	report_knobs(r, "cistern", &engine_cistern, &b.common.config);
	if (b.sizes)
		sizes_each(&b.corpus, &b.common.config, print_size, r);
	else
		good = run_all(&b, r);
	if (!b.sizes && !b.only)
		report_note(r,
			    "# ratio: over the first way of the part within each round, median and "
			    "quartiles of %u; below 1 is faster",
			    b.rounds);
	report_close(r);
	corpus_unload(&b.corpus);
	cli_list_free(&b.pieces);
	cli_list_free(&b.lengths);
	cli_end(&b.common);
	return cli_finish() || !good ? CLI_FAILURE : 0;
}
