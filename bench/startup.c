/* SPDX-License-Identifier: MIT */
/*
 * startup.c - cistern-startup: what an interner costs that holds next to nothing.
 *
 * In each round every contender makes one interner and interns the first strings of the corpus, in
 * three processes of its own (startup.h): the bench executed anew, the same under a tracer that
 * counts system calls, and a forked child. Contenders take turns within a round, in reverse order
 * every other round, and ratios are taken within a round. "none" is a process without an interner.
 *
 * --check compares cistern with the limits that it promises and fails where one is passed.
 *
 * A figure more is a line in measures[] and in enum startup_measure.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "config.h"
#include "contender.h"
#include "harness.h"
#include "startup.h"

static const struct {
	const char *name, *unit;
} measures[] = {
    [STARTUP_PROCESS_WALL] = {"process_wall", "us"},
    [STARTUP_PROCESS_CPU] = {"process_cpu", "ms"},
    [STARTUP_PROCESS_RSS] = {"process_rss", "KiB"},
    [STARTUP_PROCESS_ALLOCATIONS] = {"process_allocations", "calls"},
    [STARTUP_PROCESS_ALLOCATED] = {"process_allocated", "KiB"},
    [STARTUP_PROCESS_SYSCALLS] = {"process_syscalls", "calls"},
    [STARTUP_CREATE] = {"create", "us"},
    [STARTUP_WARM_CREATE] = {"warm_create", "us"},
    [STARTUP_INTERN] = {"strings", "us"},
    [STARTUP_CREATE_RSS] = {"create_rss", "KiB"},
    [STARTUP_ADDED_RSS] = {"added_rss", "KiB"},
    [STARTUP_ALLOCATIONS] = {"allocations", "calls"},
    [STARTUP_ALLOCATED] = {"allocated", "KiB"},
};
_Static_assert(sizeof measures / sizeof *measures == STARTUP_MEASURES, "a name for each");

struct startup {
	struct cli_common common;
	struct corpus corpus;
	struct contender_list who; /* and after the last one, nobody */
	size_t baseline;           /* who.n: there is none */
	struct startup_subject *subjects;
	struct startup_figures *figures; /* see figures_at */
	unsigned processes;
	bool check;
};

static struct startup_figures *figures_at(const struct startup *s, unsigned round, size_t subject)
{
	return &s->figures[round * (s->who.n + 1) + subject];
}

static const char *label_of(const struct startup *s, size_t subject)
{
	return subject < s->who.n ? s->who.items[subject].label : STARTUP_NOBODY;
}

/* ---- command line */

static void help(FILE *f)
{
	fprintf(
	    f,
	    "usage: %s [option]...\n"
	    "Measures starting a process, making an interner and interning its first %d "
	    "strings.\n"
	    "\nWho takes part:\n"
	    "  --variant KEY=VALUE[,KEY=VALUE]...\n"
	    "                       cistern with these knobs; several take part side by side\n"
	    "  --shards LIST        each variant with these shard counts (16,256 where no "
	    "variant is named)\n"
	    "  --engines LIST       engines beside cistern, or none (all of this build)\n"
	    "  --baseline ENGINE    what ratios are taken over (stringmap, or else conststring)\n"
	    "\nHow:\n"
	    "  --processes N        rounds, with a process of each kind for each contender (31)\n"
	    "  --check              fail where cistern passes its limits: 128 KiB at 16 "
	    "shards, 256 KiB at\n"
	    "                       256, 100 microseconds\n"
	    "  --child ENGINE       internal: be the process that is measured\n",
	    cli_program, STARTUP_STRINGS);
	cli_help_engines(f);
	cli_help_common(f);
	cli_help_knobs(f);
}

static bool has_knob(const char *key)
{
	return config_knob_at(config_knob_named(key)) != NULL;
}

/* A variant, once for each shard count. text: NULL for cistern as it is; shards: NULL for its own.
 */
static void add_variant(struct startup *s, const char *text, const char *shards)
{
	char whole[160];
	if (!shards && !text) {
		contender_add(&s->who, &s->common, &engine_cistern, "cistern");
		return;
	}
	if (!shards) {
		contender_add_variant(&s->who, &s->common, text);
		return;
	}
	struct cli_list counts = cli_list_parse("--shards", shards);
	for (size_t i = 0; i < counts.n; i++) {
		cistern_config scratch = s->common.config;
		cli_knob(&scratch, "--shards", "shards", counts.items[i]);
		snprintf(whole, sizeof whole, "shards=%s%s%s", counts.items[i], text ? "," : "",
			 text ? text : "");
		contender_add_variant(&s->who, &s->common, whole);
	}
	cli_list_free(&counts);
}

/* What takes part where no variant is named: cistern as it is, and with help in the background
 * where the library has that. */
static void add_usual(struct startup *s, const char *shards)
{
	shards = shards ? shards : "16,256";
	add_variant(s, NULL, shards);
	if (has_knob("background"))
		add_variant(s, "background=on", shards);
}

static void parse(struct startup *s, int argc, char **argv)
{
	enum { SHARDS = CONTENDER_OWN, PROCESSES, CHECK, CHILD };
	static const struct option options[] = {
	    CLI_COMMON_OPTIONS,
	    CONTENDER_OPTIONS,
	    {"shards", required_argument, NULL, SHARDS},
	    {"processes", required_argument, NULL, PROCESSES},
	    {"check", no_argument, NULL, CHECK},
	    {"child", required_argument, NULL, CHILD},
	    {NULL, 0, NULL, 0},
	};
	struct contender_request request = {0};
	const char *shards = NULL;
	int option;
	cli_start(&s->common, argv[0]);
	s->processes = 31;
	s->common.corpus.count = 10 * STARTUP_STRINGS;
	opterr = 0;
	while ((option = getopt_long(argc, argv, CLI_SHORT, options, NULL)) != -1) {
		if (cli_common_option(&s->common, option, argv, help) ||
		    contender_option(&request, option))
			continue;
		if (option == SHARDS)
			shards = optarg;
		else if (option == PROCESSES)
			s->processes = (unsigned)cli_number_option("--processes", optarg, 1, 10000);
		else if (option == CHECK)
			s->check = true;
		else if (option == CHILD)
			cli_usage("--child is for the bench itself, and the only option then");
	}
	cli_common_rest(&s->common, argc, argv);
	if (request.nvariants == 0)
		add_usual(s, shards);
	for (size_t i = 0; i < request.nvariants; i++)
		add_variant(s, request.variants[i], shards);
	free(request.variants);
	contender_add_engines(&s->who, &s->common, request.engines);
	s->baseline = contender_baseline(&s->who, request.baseline, "stringmap");
}

/* ---- running */

static void make_subjects(struct startup *s)
{
	size_t n = s->corpus.ndistinct < STARTUP_STRINGS ? s->corpus.ndistinct : STARTUP_STRINGS;
	s->subjects = calloc(s->who.n + 1, sizeof *s->subjects);
	s->figures = calloc(s->processes * (s->who.n + 1), sizeof *s->figures);
	if (!s->subjects || !s->figures)
		cli_fail("out of memory");
	for (size_t i = 0; i <= s->who.n; i++) {
		struct startup_subject *subject = &s->subjects[i];
		subject->strings = s->corpus.distinct;
		subject->n = n;
		subject->config = s->common.config;
		if (i < s->who.n) {
			subject->engine = s->who.items[i].engine;
			subject->config = s->who.items[i].config;
		}
		subject->order = startup_order(subject);
	}
}

static bool run_one(struct startup *s, unsigned round, size_t who)
{
	struct startup_subject *subject = &s->subjects[who];
	struct startup_figures forked = {{0}, {0}}, *figures = figures_at(s, round, who);
	if (subject->engine && !harness_child(startup_forked, subject, &forked, sizeof forked))
		return false;
	*figures = forked;
	return startup_executed(subject, figures) && startup_traced(subject, figures);
}

static bool run(struct startup *s)
{
	struct harness_progress progress;
	bool good = true;
	harness_progress_start(&progress, "contender", (size_t)s->processes * (s->who.n + 1));
	for (unsigned round = 0; round < s->processes && good; round++)
		for (size_t i = 0; i <= s->who.n && good; i++) {
			good = run_one(s, round, harness_in_turn(i, s->who.n + 1, round));
			harness_progress_step(&progress);
		}
	harness_progress_end(&progress);
	return good;
}

/* ---- reporting */

/* What one contender took in one measure, beside another in the same rounds. */
struct series {
	double *own, *ratio, *more; /* over the baseline; than nobody */
	bool known, paired, over_known;
};

static struct series series_of(const struct startup *s, enum startup_measure m, size_t who)
{
	unsigned n = s->processes;
	struct series series = {
	    .known = true, .paired = s->baseline < s->who.n, .over_known = true};
	series.own = calloc(3 * n, sizeof *series.own);
	if (!series.own)
		cli_fail("out of memory");
	series.ratio = series.own + n;
	series.more = series.ratio + n;
	for (unsigned i = 0; i < n; i++) {
		const struct startup_figures *own = figures_at(s, i, who);
		const struct startup_figures *nobody = figures_at(s, i, s->who.n);
		const struct startup_figures *base =
		    series.paired ? figures_at(s, i, s->baseline) : own;
		series.own[i] = own->value[m];
		series.known = series.known && own->known[m];
		series.over_known = series.over_known && nobody->known[m] && who < s->who.n;
		series.more[i] = own->value[m] - nobody->value[m];
		/* nothing can be said over nothing */
		series.paired = series.paired && base->known[m] && base->value[m] > 0;
		series.ratio[i] = series.paired ? own->value[m] / base->value[m] : 0;
	}
	return series;
}

static const struct report_column columns[] = {
    {"measure", REPORT_TEXT, false},     {"unit", REPORT_TEXT, false},
    {"engine", REPORT_TEXT, false},      {"median", REPORT_NUMBER, false},
    {"q1", REPORT_NUMBER, true},         {"q3", REPORT_NUMBER, true},
    {"deviation", REPORT_NUMBER, false}, {"over_none", REPORT_NUMBER, false},
    {"ratio", REPORT_RATIO, false},      {"ratio_deviation", REPORT_RATIO, false},
    {"processes", REPORT_COUNT, true},
};

static void print_row(struct report *r, const struct startup *s, enum startup_measure m, size_t who)
{
	unsigned n = s->processes;
	struct series series = series_of(s, m, who);
	double deviation = harness_deviation(series.own, n);
	double ratio_deviation = harness_deviation(series.ratio, n);
	struct harness_spread own = harness_spread_of(series.own, n);
	struct report_value row[] = {
	    {.text = measures[m].name},
	    {.text = measures[m].unit},
	    {.text = label_of(s, who)},
	    {.number = own.median, .missing = !series.known},
	    {.number = own.q1, .missing = !series.known},
	    {.number = own.q3, .missing = !series.known},
	    {.number = deviation, .missing = !series.known},
	    {.number = harness_spread_of(series.more, n).median,
	     .missing = !series.known || !series.over_known},
	    {.number = harness_spread_of(series.ratio, n).median,
	     .missing = !series.known || !series.paired},
	    {.number = ratio_deviation, .missing = !series.known || !series.paired},
	    {.count = n},
	};
	_Static_assert(sizeof row / sizeof *row == sizeof columns / sizeof *columns,
		       "a value for each column");
	report_row(r, row);
	free(series.own);
}

static void print(const struct startup *s)
{
	struct report *r =
	    report_open(&s->common.output, "startup", columns, sizeof columns / sizeof *columns);
	report_machine(r);
	report_corpus(r, &s->corpus);
	if (!has_knob("background"))
		report_fact(r, "background help", "none in this library");
	contender_facts(r, &s->who);
	for (int m = 0; m < STARTUP_MEASURES; m++)
		for (size_t i = 0; i <= s->who.n; i++)
			if (i < s->who.n || m <= STARTUP_PROCESS_SYSCALLS)
				print_row(r, s, (enum startup_measure)m, i);
	report_note(r,
		    "# process_*: the bench executed anew, one program with all engines, so that "
		    "loading and linking it costs all the same; over_none: more than a process "
		    "without an interner");
	if (s->baseline < s->who.n)
		report_note(r,
			    "# ratio: over %s within each round, median and standard deviation of "
			    "%u; below 1 is less",
			    label_of(s, s->baseline), s->processes);
	report_note(r, "# on %u processors", harness_cpus());
	report_close(r);
}

/* What issue and README promise for an interner with 100 strings. */
static double rss_limit(uint32_t shards)
{
	return shards > 0 && shards <= 16 ? 128 : 256;
}

static double median_of(const struct startup *s, enum startup_measure m, size_t who)
{
	struct series series = series_of(s, m, who);
	double median = harness_spread_of(series.own, s->processes).median;
	free(series.own);
	return median;
}

/* Whether cistern keeps its limits. More than 256 shards are promised nothing. */
static bool within(const struct startup *s, size_t who)
{
	const struct contender *c = &s->who.items[who];
	double rss = median_of(s, STARTUP_ADDED_RSS, who);
	double create = median_of(s, STARTUP_CREATE, who);
	bool good = true;
	if (c->engine != &engine_cistern)
		return true;
	if (c->config.shards <= 256 && rss > rss_limit(c->config.shards)) {
		cli_warn("%s adds %.0f KiB, over the limit of %.0f", c->label, rss,
			 rss_limit(c->config.shards));
		good = false;
	}
	if (create > 100) {
		cli_warn("%s takes %.1f microseconds to make, over the limit of 100", c->label,
			 create);
		good = false;
	}
	return good;
}

int main(int argc, char **argv)
{
	static struct startup s;
	bool good = true;
	/* Before all else: what the parent would do is not for the child. */
	if (argc >= 3 && strcmp(argv[1], "--child") == 0)
		return startup_child(argv);
	parse(&s, argc, argv);
	corpus_load(&s.corpus, &s.common.corpus);
	if (s.baseline == s.who.n)
		cli_warn("no ratios: neither stringmap nor conststring takes part");
	make_subjects(&s);
	if (!run(&s))
		return CLI_FAILURE;
	print(&s);
	for (size_t i = 0; i < s.who.n && s.check; i++)
		good &= within(&s, i);
	for (size_t i = 0; i <= s.who.n; i++)
		close(s.subjects[i].order);
	free(s.subjects);
	free(s.figures);
	free(s.who.items);
	corpus_unload(&s.corpus);
	cli_end(&s.common);
	return cli_finish() || !good ? CLI_FAILURE : 0;
}
