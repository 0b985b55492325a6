/* SPDX-License-Identifier: MIT */
/*
 * startup.c - cistern-startup: what an interner costs that holds next to nothing.
 *
 * Each measurement is a process of its own that makes one interner and interns the first 100
 * strings of the corpus. Reported are the medians over the processes: microseconds of the first
 * create and of the strings, resident memory added by each, heap allocations; and the microseconds
 * of create in a process that has made and destroyed interners before, whose code and page tables
 * are warm.
 *
 * --check compares cistern with the limits that it promises and fails where one is passed.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocations.h"
#include "cli.h"
#include "engine.h"
#include "harness.h"

enum { STRINGS = 100, WARM = 64 };

struct startup {
	struct cli_common common;
	struct corpus corpus;
	struct cli_list shards;
	unsigned processes;
	bool check;
};

/* One kind of interner. */
struct subject {
	const struct engine *engine;
	cistern_config config;
	const struct corpus *corpus;
};

struct measured {
	double create_us, warm_us, strings_us;
	uint64_t create_rss, strings_rss; /* bytes added, the second after the strings */
	struct allocations allocations;
	bool counted;
};

static void *make(const struct subject *s)
{
	void *e = s->engine->create(&s->config);
	if (!e)
		cli_fail("%s: cannot be made: %s", s->engine->name, strerror(errno));
	return e;
}

static void measure(void *arg, void *out)
{
	const struct subject *s = arg;
	struct measured *m = out;
	struct harness_memory before, made, filled;
	struct allocations first, last;
	size_t n = s->corpus->ndistinct < STRINGS ? s->corpus->ndistinct : STRINGS;

	/* Twice, so that what reading memory touches itself is there already. */
	harness_memory_read(&before);
	harness_memory_read(&before);
	m->counted = allocations_so_far(&first);
	uint64_t t0 = harness_now();
	void *e = make(s);
	uint64_t t1 = harness_now();
	harness_memory_read(&made);
	uint64_t t2 = harness_now();
	struct engine_sum sum = s->engine->intern(e, s->corpus->distinct, n, NULL);
	uint64_t t3 = harness_now();
	harness_memory_read(&filled);
	allocations_so_far(&last);

	cistern_stats stats;
	s->engine->stats(e, &stats);
	if (sum.found != n || stats.strings != n)
		cli_fail("%s: wrong answer: %" PRIu64 " strings where %zu are right",
			 s->engine->name, stats.strings, n);
	s->engine->destroy(e);

	double warm[WARM];
	for (int i = 0; i < WARM; i++) {
		uint64_t began = harness_now();
		e = make(s);
		warm[i] = (double)(harness_now() - began) / 1e3;
		s->engine->destroy(e);
	}
	m->create_us = (double)(t1 - t0) / 1e3;
	m->strings_us = (double)(t3 - t2) / 1e3;
	m->warm_us = harness_spread_of(warm, WARM).median;
	m->create_rss = made.rss > before.rss ? made.rss - before.rss : 0;
	m->strings_rss = filled.rss > before.rss ? filled.rss - before.rss : 0;
	m->allocations.calls = last.calls - first.calls;
	m->allocations.bytes = last.bytes - first.bytes;
}

static const struct report_column columns[] = {
    {"engine", REPORT_TEXT, false},        {"shards", REPORT_COUNT, false},
    {"create_us", REPORT_NUMBER, false},   {"create_us_q1", REPORT_NUMBER, true},
    {"create_us_q3", REPORT_NUMBER, true}, {"warm_create_us", REPORT_NUMBER, false},
    {"strings_us", REPORT_NUMBER, false},  {"create_rss", REPORT_BYTES, false},
    {"added_rss", REPORT_BYTES, false},    {"allocations", REPORT_COUNT, false},
    {"allocated", REPORT_BYTES, false},    {"processes", REPORT_COUNT, true},
};

/* What issue and README promise for an interner with 100 strings. */
static uint64_t rss_limit(uint64_t shards)
{
	return shards <= 16    ? UINT64_C(128) << 10
	       : shards <= 256 ? UINT64_C(256) << 10
			       : UINT64_MAX;
}

static bool within(const struct measured *m, uint64_t shards)
{
	bool good = true;
	if (m->strings_rss > rss_limit(shards)) {
		cli_warn("%" PRIu64 " shards add %" PRIu64 " bytes, over the limit of %" PRIu64,
			 shards, m->strings_rss, rss_limit(shards));
		good = false;
	}
	if (m->create_us > 100) {
		cli_warn("%" PRIu64 " shards take %.1f microseconds to make, over the limit of 100",
			 shards, m->create_us);
		good = false;
	}
	return good;
}

/* Runs the processes of one subject and prints its row. False where it failed or passed a limit. */
static bool run(struct report *r, const struct startup *s, struct subject *subject, uint64_t shards)
{
	enum { CREATE, WARM_CREATE, INTERN, RSS_MADE, RSS_FILLED, SERIES };
	double *series[SERIES];
	struct measured m = {0};
	for (int k = 0; k < SERIES; k++) {
		series[k] = calloc(s->processes, sizeof **series);
		if (!series[k])
			cli_fail("out of memory");
	}
	for (unsigned i = 0; i < s->processes; i++) {
		if (!harness_child(measure, subject, &m, sizeof m))
			return false;
		series[CREATE][i] = m.create_us;
		series[WARM_CREATE][i] = m.warm_us;
		series[INTERN][i] = m.strings_us;
		series[RSS_MADE][i] = (double)m.create_rss;
		series[RSS_FILLED][i] = (double)m.strings_rss;
	}
	struct harness_spread spread[SERIES];
	for (int k = 0; k < SERIES; k++) {
		spread[k] = harness_spread_of(series[k], s->processes);
		free(series[k]);
	}
	m.create_us = spread[CREATE].median;
	m.strings_rss = (uint64_t)spread[RSS_FILLED].median;
	struct report_value row[] = {
	    {.text = subject->engine->name},
	    {.count = shards},
	    {.number = m.create_us},
	    {.number = spread[CREATE].q1},
	    {.number = spread[CREATE].q3},
	    {.number = spread[WARM_CREATE].median},
	    {.number = spread[INTERN].median},
	    {.count = (uint64_t)spread[RSS_MADE].median},
	    {.count = m.strings_rss},
	    {.count = m.allocations.calls, .missing = !m.counted},
	    {.count = m.allocations.bytes, .missing = !m.counted},
	    {.count = s->processes},
	};
	_Static_assert(sizeof row / sizeof *row == sizeof columns / sizeof *columns,
		       "a value for each column");
	report_row(r, row);
	return !s->check || subject->engine != &engine_cistern || within(&m, shards);
}

static void help(FILE *f)
{
	fprintf(f,
		"usage: %s [option]...\n"
		"Measures making an interner and interning its first %d strings.\n"
		"\nHow:\n"
		"  --shards LIST        shard counts of cistern (16,256)\n"
		"  --processes N        processes for each (31)\n"
		"  --check              fail where cistern passes its limits: 128 KiB at 16 "
		"shards, 256 KiB at\n"
		"                       256, 100 microseconds\n",
		cli_program, STRINGS);
	cli_help_common(f);
	cli_help_knobs(f);
}

static void parse(struct startup *s, int argc, char **argv)
{
	enum { SHARDS = CLI_OWN, PROCESSES, CHECK };
	static const struct option options[] = {
	    CLI_COMMON_OPTIONS,
	    {"shards", required_argument, NULL, SHARDS},
	    {"processes", required_argument, NULL, PROCESSES},
	    {"check", no_argument, NULL, CHECK},
	    {NULL, 0, NULL, 0},
	};
	const char *shards = "16,256";
	int option;
	cli_start(&s->common, argv[0]);
	s->processes = 31;
	s->common.corpus.count = 10 * STRINGS;
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		if (cli_common_option(&s->common, option, argv, help))
			continue;
		if (option == SHARDS)
			shards = optarg;
		else if (option == PROCESSES)
			s->processes = (unsigned)cli_number_option("--processes", optarg, 1, 10000);
		else if (option == CHECK)
			s->check = true;
	}
	cli_common_rest(&s->common, argc, argv);
	s->shards = cli_list_parse("--shards", shards);
}

int main(int argc, char **argv)
{
	static struct startup s;
	bool good = true;
	parse(&s, argc, argv);
	for (size_t i = 0; i < s.shards.n; i++) {
		cistern_config scratch = s.common.config;
		cli_knob(&scratch, "--shards", "shards", s.shards.items[i]);
	}
	corpus_load(&s.corpus, &s.common.corpus);

	struct report *r =
	    report_open(&s.common.output, "startup", columns, sizeof columns / sizeof *columns);
	report_machine(r);
	report_corpus(r, &s.corpus);
	for (size_t i = 0; i < s.shards.n; i++) {
		struct subject subject = {&engine_cistern, s.common.config, &s.corpus};
		cli_knob(&subject.config, "--shards", "shards", s.shards.items[i]);
		good &= run(r, &s, &subject, subject.config.shards);
	}
	for (size_t i = 1; engine_at(i); i++) {
		struct subject subject = {engine_at(i), s.common.config, &s.corpus};
		good &= run(r, &s, &subject, 256);
	}
	report_close(r);
	corpus_unload(&s.corpus);
	cli_end(&s.common);
	return cli_finish() || !good ? CLI_FAILURE : 0;
}
