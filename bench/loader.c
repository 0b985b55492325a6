/* SPDX-License-Identifier: MIT */
/*
 * loader.c - cistern-loader: how long a debugger takes to load symbols, with several interners and
 * slab sizes.
 *
 * It was the time that LLDB needs to load symbols which decided on the slab size of its pools
 * (https://reviews.llvm.org/D68549). Interning is a part of that work only; load.h says what the
 * rest is here. How large a part it is comes out of loading once more in each round without
 * interning: the string in the mapped file is taken instead.
 *
 * In each round every contender loads once with each number of threads, in turn, in reverse order
 * every other round, each time in a process of its own. The files are in the page cache: they were
 * read before, to count what there is.
 */
#include <errno.h>
#include <inttypes.h>
#ifdef __linux__
#include <link.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "contender.h"
#include "engine.h"
#include "harness.h"
#include "load.h"

/* Shared objects that are taken where no file is named. */
enum { OBJECTS_MAX = 8 };

enum measure { TIME, SHARE, INTERNING, MEMORY, OPEN, READ, FINISH, MEASURES };

struct loader {
	struct cli_common common;
	struct corpus corpus; /* what is in the files */
	uint64_t distinct, debug_strings;
	const char **paths;
	size_t npaths;
	struct cli_list threads;
	struct contender_list who; /* the first one does without interning */
	size_t baseline;           /* who.n: there is none */
	unsigned rounds;
	double *values; /* see value_at */
};

/* All rounds of one contender with one number of threads. */
static double *value_at(const struct loader *l, size_t threads, size_t contender,
			enum measure measure)
{
	return l->values + ((threads * l->who.n + contender) * MEASURES + measure) * l->rounds;
}

static unsigned threads_at(const struct loader *l, size_t i)
{
	return (unsigned)cli_number_option("--threads", l->threads.items[i], 1, 1024);
}

/* ---- files */

static void add_path(struct loader *l, const char *path)
{
	l->paths = realloc(l->paths, (l->npaths + 1) * sizeof *l->paths);
	if (!l->paths)
		cli_fail("out of memory");
	l->paths[l->npaths++] = path;
}

#ifdef __linux__

struct object {
	char *path;
	off_t size;
};

struct objects {
	struct object items[64];
	size_t n;
};

static int note_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct objects *all = arg;
	struct stat file;
	(void)size;
	/* The program has no name here, and the kernel's object no file. */
	const char *path = *info->dlpi_name ? info->dlpi_name : all->n ? "" : "/proc/self/exe";
	if (all->n == sizeof all->items / sizeof *all->items || stat(path, &file) != 0)
		return 0;
	all->items[all->n++] = (struct object){strdup(path), file.st_size};
	return 0;
}

static int larger_first(const void *a, const void *b)
{
	const struct object *x = a, *y = b;
	return (x->size < y->size) - (x->size > y->size);
}

/* This program and the largest of the shared objects that it runs with. */
static void add_own_objects(struct loader *l)
{
	static struct objects all;
	dl_iterate_phdr(note_object, &all);
	if (all.n > 1)
		qsort(all.items + 1, all.n - 1, sizeof *all.items, larger_first);
	for (size_t i = 0; i < all.n && i <= OBJECTS_MAX; i++) {
		if (!all.items[i].path)
			cli_fail("out of memory");
		add_path(l, all.items[i].path);
	}
}

#else

static void add_own_objects(struct loader *l)
{
	(void)l;
	cli_usage("name files with --elf: here the program's own cannot be found");
}

#endif

/* ---- command line */

static void help(FILE *f)
{
	fprintf(f,
		"usage: %s [option]...\n"
		"Measures loading the symbols of ELF files with several interners and slab sizes.\n"
		"\nWhat is loaded:\n"
		"  --elf FILE...        ELF files and static archives (this program and the shared "
		"objects it\n"
		"                       runs with)\n"
		"\nHow:\n"
		"  --engines LIST       engines beside cistern, or none (conststring, or else "
		"stringmap)\n"
		"  --slab-size LIST     slab sizes of the engines that have the knob (4K,64K,1M)\n"
		"  --baseline ENGINE    what ratios are taken over, with its first slab size (the "
		"first\n"
		"                       engine beside cistern)\n"
		"  --threads LIST       (1, 2 and the number of processors)\n"
		"  --rounds N           rounds, at best an odd number (5)\n"
		"  --quick              one round, two slab sizes: a check that all works\n"
		"  --full               15 rounds\n",
		cli_program);
	cli_help_engines(f);
	cli_help_output(f);
	cli_help_knobs(f);
}

/* An engine with each slab size, or once where it has no slabs to size. */
static void add_engine(struct loader *l, const struct engine *engine, const struct cli_list *slabs)
{
	if (!engine_heeds(engine, "slab_size")) {
		contender_add(&l->who, &l->common, engine, engine->name);
		return;
	}
	for (size_t i = 0; i < slabs->n; i++) {
		char label[80];
		snprintf(label, sizeof label, "%.40s slab_size=%.20s", engine->name,
			 slabs->items[i]);
		struct contender *new = contender_add(&l->who, &l->common, engine, label);
		cli_knob(&new->config, "--slab-size", "slab_size", slabs->items[i]);
	}
}

static void add_engines(struct loader *l, const char *names, const char *slab_sizes)
{
	struct cli_list slabs = cli_list_parse("--slab-size", slab_sizes);
	contender_add(&l->who, &l->common, &engine_nothing, engine_nothing.name);
	add_engine(l, &engine_cistern, &slabs);
	if (!names)
		names = engine_named("conststring") ? "conststring"
			: engine_named("stringmap") ? "stringmap"
						    : "cistern";
	/* By way of a list of contenders, which knows what to say about unknown names. */
	struct contender_list others = {NULL, 0};
	contender_add_engines(&others, &l->common, names);
	for (size_t i = 0; i < others.n; i++)
		add_engine(l, others.items[i].engine, &slabs);
	free(others.items);
	cli_list_free(&slabs);
}

static void find_baseline(struct loader *l, const char *name)
{
	for (size_t i = 1; !name && i < l->who.n; i++)
		if (l->who.items[i].engine != &engine_cistern)
			name = l->who.items[i].engine->name;
	l->baseline = contender_baseline(&l->who, name, "conststring");
}

static void parse(struct loader *l, int argc, char **argv)
{
	enum { ENGINES = CLI_OWN, SLAB, BASELINE, THREADS, ROUNDS, QUICK, FULL };
	static const struct option options[] = {
	    {"elf", required_argument, NULL, CLI_ELF},
	    CLI_OUTPUT_OPTIONS,
	    {"engines", required_argument, NULL, ENGINES},
	    {"slab-size", required_argument, NULL, SLAB},
	    {"baseline", required_argument, NULL, BASELINE},
	    {"threads", required_argument, NULL, THREADS},
	    {"rounds", required_argument, NULL, ROUNDS},
	    {"quick", no_argument, NULL, QUICK},
	    {"full", no_argument, NULL, FULL},
	    {NULL, 0, NULL, 0},
	};
	const char *engines = NULL, *baseline = NULL, *slabs = NULL, *threads = NULL;
	bool quick = false, full = false;
	int option;

	cli_start(&l->common, argv[0]);
	opterr = 0;
	while ((option = getopt_long(argc, argv, CLI_SHORT, options, NULL)) != -1) {
		if (cli_common_option(&l->common, option, argv, help))
			continue;
		if (option == ENGINES)
			engines = optarg;
		else if (option == SLAB)
			slabs = optarg;
		else if (option == BASELINE)
			baseline = optarg;
		else if (option == THREADS)
			threads = optarg;
		else if (option == ROUNDS)
			l->rounds = (unsigned)cli_number_option("--rounds", optarg, 1, 1000);
		else if (option == QUICK)
			quick = true;
		else if (option == FULL)
			full = true;
	}
	cli_common_rest(&l->common, argc, argv);
	if (quick && full)
		cli_usage("--quick and --full exclude each other");
	l->rounds = l->rounds ? l->rounds : quick ? 1 : full ? 15 : 5;
	add_engines(l, engines, slabs ? slabs : quick ? "4K,1M" : "4K,64K,1M");
	find_baseline(l, baseline);
	l->threads = cli_list_parse("--threads", threads ? threads : cli_usual_threads());
	for (size_t i = 0; i < l->threads.n; i++)
		threads_at(l, i);
	for (size_t i = 0; i < l->common.corpus.nsources; i++)
		add_path(l, l->common.corpus.sources[i].path);
	if (l->npaths == 0)
		add_own_objects(l);
}

/* ---- running */

static bool run_one(struct loader *l, size_t threads, size_t contender, unsigned round)
{
	const struct contender *who = &l->who.items[contender];
	struct load load = {.engine = who->engine,
			    .config = who->config,
			    .threads = threads_at(l, threads),
			    .paths = l->paths,
			    .npaths = l->npaths,
			    .strings = l->corpus.n,
			    .distinct = l->distinct,
			    .bytes = (size_t)l->corpus.distinct_payload};
	struct load_result result;
	if (!load_run(&load, &result))
		return false;
	value_at(l, threads, contender, OPEN)[round] = result.open_ms;
	value_at(l, threads, contender, READ)[round] = result.read_ms;
	value_at(l, threads, contender, FINISH)[round] = result.finish_ms;
	value_at(l, threads, contender, TIME)[round] =
	    result.open_ms + result.read_ms + result.finish_ms;
	value_at(l, threads, contender, MEMORY)[round] =
	    ((double)result.after.rss - (double)result.before.rss) / 1048576;
	return true;
}

/* What takes a round of all contenders: interning is the difference to doing without. */
static void compare_with_nothing(struct loader *l, size_t threads, unsigned round)
{
	double without = value_at(l, threads, 0, TIME)[round];
	double memory = value_at(l, threads, 0, MEMORY)[round];
	for (size_t i = 1; i < l->who.n; i++) {
		double with = value_at(l, threads, i, TIME)[round];
		value_at(l, threads, i, INTERNING)[round] = with - without;
		value_at(l, threads, i, SHARE)[round] = 1 - without / with;
		value_at(l, threads, i, MEMORY)[round] -= memory;
	}
}

static bool run(struct loader *l)
{
	struct harness_progress progress;
	harness_progress_start(&progress, "measurement", l->threads.n * l->who.n * l->rounds);
	for (unsigned round = 0; round < l->rounds; round++) {
		for (size_t t = 0; t < l->threads.n; t++) {
			for (size_t i = 0; i < l->who.n; i++) {
				if (!run_one(l, t, harness_in_turn(i, l->who.n, round), round)) {
					harness_progress_end(&progress);
					return false;
				}
				harness_progress_step(&progress);
			}
			compare_with_nothing(l, t, round);
		}
	}
	harness_progress_end(&progress);
	return true;
}

/* ---- reporting */

static const struct report_column columns[] = {
    {"threads", REPORT_COUNT, false},       {"engine", REPORT_TEXT, false},
    {"time_ms", REPORT_NUMBER, false},      {"time_ms_q1", REPORT_NUMBER, false},
    {"time_ms_q3", REPORT_NUMBER, false},   {"ratio", REPORT_RATIO, false},
    {"ratio_q1", REPORT_RATIO, false},      {"ratio_q3", REPORT_RATIO, false},
    {"interning_ms", REPORT_NUMBER, true},  {"share", REPORT_RATIO, false},
    {"share_q1", REPORT_RATIO, false},      {"share_q3", REPORT_RATIO, false},
    {"memory_mib", REPORT_NUMBER, false},   {"memory_mib_q1", REPORT_NUMBER, true},
    {"memory_mib_q3", REPORT_NUMBER, true}, {"open_ms", REPORT_NUMBER, true},
    {"read_ms", REPORT_NUMBER, true},       {"finish_ms", REPORT_NUMBER, true},
    {"rounds", REPORT_COUNT, true},         {"corpus_hash", REPORT_TEXT, true},
};

static void print_row(struct report *r, const struct loader *l, size_t t, size_t i)
{
	struct harness_pair of[MEASURES];
	char hash[20];
	snprintf(hash, sizeof hash, "%016" PRIx64, l->corpus.hash);
	for (int m = 0; m < MEASURES; m++) {
		bool paired = i && l->baseline < l->who.n;
		of[m] = harness_pair_of(
		    value_at(l, t, i, (enum measure)m),
		    paired ? value_at(l, t, l->baseline, (enum measure)m) : NULL, l->rounds);
	}
	const struct harness_pair *time = &of[TIME];
	struct report_value row[] = {
	    {.count = threads_at(l, t)},
	    {.text = l->who.items[i].label},
	    {.number = time->own.median},
	    {.number = time->own.q1},
	    {.number = time->own.q3},
	    {.number = time->ratio.median, .missing = !time->paired},
	    {.number = time->ratio.q1, .missing = !time->paired},
	    {.number = time->ratio.q3, .missing = !time->paired},
	    {.number = of[INTERNING].own.median, .missing = i == 0},
	    {.number = of[SHARE].own.median, .missing = i == 0},
	    {.number = of[SHARE].own.q1, .missing = i == 0},
	    {.number = of[SHARE].own.q3, .missing = i == 0},
	    {.number = of[MEMORY].own.median, .missing = i == 0},
	    {.number = of[MEMORY].own.q1, .missing = i == 0},
	    {.number = of[MEMORY].own.q3, .missing = i == 0},
	    {.number = of[OPEN].own.median},
	    {.number = of[READ].own.median},
	    {.number = of[FINISH].own.median},
	    {.count = l->rounds},
	    {.text = hash},
	};
	_Static_assert(sizeof row / sizeof *row == sizeof columns / sizeof *columns,
		       "a value for each column");
	report_row(r, row);
}

static void report(const struct loader *l)
{
	struct report *r =
	    report_open(&l->common.output, "loader", columns, sizeof columns / sizeof *columns);
	report_machine(r);
	report_corpus(r, &l->corpus);
	report_fact(r, "strings", "%" PRIu64 " of symbols and %" PRIu64 " of .debug_str",
		    (uint64_t)l->corpus.n - l->debug_strings, l->debug_strings);
	contender_facts(r, &l->who);
	for (size_t t = 0; t < l->threads.n; t++)
		for (size_t i = 0; i < l->who.n; i++)
			print_row(r, l, t, i);
	if (l->baseline < l->who.n)
		report_note(r,
			    "# ratio: time over %s within each round, median and quartiles of %u; "
			    "below 1 is faster",
			    l->who.items[l->baseline].label, l->rounds);
	report_note(r, "# share of interning: 1 - without/with, from loading without interning in "
		       "the same round; memory_mib: what is resident beyond that");
	report_close(r);
}

int main(int argc, char **argv)
{
	static struct loader l;
	parse(&l, argc, argv);
	l.distinct = load_survey(l.paths, l.npaths, &l.corpus, &l.debug_strings);
	const char *slash = strrchr(l.paths[0], '/');
	snprintf(l.corpus.name, sizeof l.corpus.name,
		 l.npaths > 1 ? "%.100s and %zu more" : "%.100s",
		 l.common.corpus.nsources == 0 ? cli_program
		 : slash                       ? slash + 1
					       : l.paths[0],
		 l.npaths - 1);
	if (l.baseline == l.who.n)
		cli_warn("no ratios: no engine beside cistern takes part");
	l.values = calloc(l.threads.n * l.who.n * MEASURES * l.rounds, sizeof *l.values);
	if (!l.values)
		cli_fail("out of memory");
	/* Its figures are kept; its strings would only be in the way. */
	struct corpus strings = l.corpus;
	corpus_unload(&strings);
	if (!run(&l))
		return CLI_FAILURE;
	report(&l);
	cli_end(&l.common);
	return cli_finish();
}
