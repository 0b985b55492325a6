/* SPDX-License-Identifier: MIT */
/*
 * sweep.c - cistern-sweep: what each setting of the knobs costs in memory and gives in speed.
 *
 * Every combination of the values of some knobs and of a number of threads runs in a process of its
 * own. All combinations run once in each round, so that a machine that gets slower meanwhile does
 * not favour the first ones, and the medians of the rounds are reported. The end names the best
 * three settings.
 *
 * It grows by lines in axes[], one for each knob that can be swept.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "engine.h"
#include "harness.h"
#include "plot.h"
#include "workload.h"

/* ---- what is varied */

enum { SHARDS, SLAB_SIZE, GROWTH_INTERVAL, LOCK, HUGEPAGES, AXES };

/* without: no value of its own, so that --set or the library's default decides. */
static struct axis {
	const char *option, *key, *standard, *quick;
	struct cli_list values;
} axes[AXES] = {
    [SHARDS] = {"--shards", "shards", "1,4,16,64,256", "4,64", {0}},
    [SLAB_SIZE] = {"--slab-size", "slab_size", "256,1K,4K,16K,64K", "1K,16K", {0}},
    [GROWTH_INTERVAL] = {"--growth-interval", "growth_interval", NULL, NULL, {0}},
    [LOCK] = {"--lock", "lock", NULL, NULL, {0}},
    [HUGEPAGES] = {"--hugepages", "hugepages", NULL, NULL, {0}},
};

/* One combination. */
struct combination {
	cistern_config config;
	size_t at[AXES]; /* which value of each axis */
	unsigned threads;
	double *insert, *hit, *batch, *miss, *rss, *pss, *huge, *peak; /* a value a round */
	struct workload_result last;
};

struct sweep {
	struct cli_common common;
	struct corpus corpus;
	struct cli_list threads;
	bool quick;
	unsigned rounds;
	unsigned pass_ms;
	const char *plot;
	struct combination *all;
	size_t n;
};

static bool axis_swept(const struct axis *a)
{
	return a->values.n > 0;
}

static void help(FILE *f)
{
	fprintf(f,
		"usage: %s [option]...\n"
		"Measures shard counts against slab sizes, and other knobs, on a set of strings.\n"
		"\nKnobs to sweep (lists, as in --shards 1,16,256):\n"
		"  --shards LIST           (%s)\n"
		"  --slab-size LIST        (%s)\n"
		"  --growth-interval LIST  (the default of the library)\n"
		"  --lock LIST             (the default)\n"
		"  --hugepages LIST        (the default)\n"
		"  --threads LIST          (1 and the number of processors)\n"
		"\nHow:\n"
		"  --rounds N              processes for each combination (3)\n"
		"  --pass-ms N             how long each kind of look-up is repeated in each (20)\n"
		"  --quick                 few combinations, strings and rounds: a check that all "
		"works\n"
		"  --plot DIR              heat maps as PNG and SVG, through gnuplot\n",
		cli_program, axes[SHARDS].standard, axes[SLAB_SIZE].standard);
	cli_help_common(f);
	cli_help_knobs(f);
}

static void parse(struct sweep *s, int argc, char **argv)
{
	enum {
		OWN_AXIS = CLI_OWN,
		OWN_THREADS = CLI_OWN + AXES,
		OWN_ROUNDS,
		OWN_PASS,
		OWN_QUICK,
		OWN_PLOT
	};
	static const struct option options[] = {
	    CLI_COMMON_OPTIONS,
	    {"shards", required_argument, NULL, OWN_AXIS + SHARDS},
	    {"slab-size", required_argument, NULL, OWN_AXIS + SLAB_SIZE},
	    {"growth-interval", required_argument, NULL, OWN_AXIS + GROWTH_INTERVAL},
	    {"lock", required_argument, NULL, OWN_AXIS + LOCK},
	    {"hugepages", required_argument, NULL, OWN_AXIS + HUGEPAGES},
	    {"threads", required_argument, NULL, OWN_THREADS},
	    {"rounds", required_argument, NULL, OWN_ROUNDS},
	    {"pass-ms", required_argument, NULL, OWN_PASS},
	    {"quick", no_argument, NULL, OWN_QUICK},
	    {"plot", required_argument, NULL, OWN_PLOT},
	    {NULL, 0, NULL, 0},
	};
	const char *lists[AXES] = {NULL}, *threads = NULL;
	unsigned rounds = 0, pass_ms = 0;
	int option;

	cli_start(&s->common, argv[0]);
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		if (cli_common_option(&s->common, option, argv, help))
			continue;
		if (option >= OWN_AXIS && option < OWN_AXIS + AXES)
			lists[option - OWN_AXIS] = optarg;
		else if (option == OWN_THREADS)
			threads = optarg;
		else if (option == OWN_ROUNDS)
			rounds = (unsigned)cli_number_option("--rounds", optarg, 1, 1000);
		else if (option == OWN_PASS)
			pass_ms = (unsigned)cli_number_option("--pass-ms", optarg, 1, 60000);
		else if (option == OWN_QUICK)
			s->quick = true;
		else if (option == OWN_PLOT)
			s->plot = optarg;
	}
	cli_common_rest(&s->common, argc, argv);

	s->rounds = rounds ? rounds : s->quick ? 1 : 3;
	s->pass_ms = pass_ms ? pass_ms : s->quick ? 1 : 20;
	if (s->quick && !s->common.corpus.count)
		s->common.corpus.count = 20000;
	for (unsigned a = 0; a < AXES; a++) {
		const char *list = lists[a]   ? lists[a]
				   : s->quick ? axes[a].quick
					      : axes[a].standard;
		if (list)
			axes[a].values = cli_list_parse(axes[a].option, list);
	}
	char standard[32];
	unsigned cpus = harness_cpus();
	snprintf(standard, sizeof standard, cpus > 1 ? "1,%u" : "%u", cpus);
	s->threads = cli_list_parse("--threads", threads ? threads : standard);
}

/* ---- running */

static double *room(unsigned rounds)
{
	double *values = calloc(rounds, sizeof *values);
	if (!values)
		cli_fail("out of memory");
	return values;
}

/* All combinations, the last axis and then the threads running fastest. Every value is checked
 * here. */
static void combine(struct sweep *s)
{
	size_t settings = 1;
	for (unsigned a = 0; a < AXES; a++)
		settings *= axis_swept(&axes[a]) ? axes[a].values.n : 1;
	s->n = settings * s->threads.n;
	s->all = calloc(s->n, sizeof *s->all);
	if (!s->all)
		cli_fail("out of memory");
	for (size_t i = 0; i < s->n; i++) {
		struct combination *c = &s->all[i];
		size_t rest = i / s->threads.n;
		c->config = s->common.config;
		c->threads = (unsigned)cli_number_option(
		    "--threads", s->threads.items[i % s->threads.n], 1, 1024);
		for (unsigned a = AXES; a-- > 0;) {
			if (!axis_swept(&axes[a]))
				continue;
			c->at[a] = rest % axes[a].values.n;
			rest /= axes[a].values.n;
			cli_knob(&c->config, axes[a].option, axes[a].key,
				 axes[a].values.items[c->at[a]]);
		}
		double **series[] = {&c->insert, &c->hit, &c->batch, &c->miss,
				     &c->rss,    &c->pss, &c->huge,  &c->peak};
		for (size_t k = 0; k < sizeof series / sizeof *series; k++)
			*series[k] = room(s->rounds);
	}
}

static bool run(struct sweep *s)
{
	struct harness_progress progress;
	harness_progress_start(&progress, "measurement", s->n * s->rounds);
	for (unsigned round = 0; round < s->rounds; round++) {
		for (size_t i = 0; i < s->n; i++) {
			struct combination *c = &s->all[i];
			struct workload w = {.engine = &engine_cistern,
					     .corpus = &s->corpus,
					     .config = c->config,
					     .threads = c->threads,
					     .build_distinct = true,
					     .pass_ms = s->pass_ms};
			if (!workload_run(&w, &c->last)) {
				harness_progress_end(&progress);
				return false;
			}
			const struct workload_result *r = &c->last;
			c->insert[round] = r->speed.build;
			c->hit[round] = r->speed.hit;
			c->batch[round] = r->speed.batch;
			c->miss[round] = r->speed.miss;
			c->rss[round] = (double)workload_added(r);
			c->pss[round] = (double)r->after.pss - (double)r->before.pss;
			c->huge[round] = (double)r->after.huge;
			c->peak[round] = (double)r->after.peak;
			harness_progress_step(&progress);
		}
	}
	harness_progress_end(&progress);
	return true;
}

/* ---- reporting */

static const struct report_column columns[] = {
    {"shards", REPORT_COUNT, false},
    {"slab_size", REPORT_BYTES, false},
    {"growth_interval", REPORT_COUNT, false},
    {"lock", REPORT_TEXT, false},
    {"hugepages", REPORT_TEXT, false},
    {"threads", REPORT_COUNT, false},
    {"insert_m_s", REPORT_NUMBER, false},
    {"hit_m_s", REPORT_NUMBER, false},
    {"batch_hit_m_s", REPORT_NUMBER, false},
    {"miss_m_s", REPORT_NUMBER, false},
    {"added_rss", REPORT_BYTES, false},
    {"added_pss", REPORT_BYTES, true},
    {"rss", REPORT_BYTES, true},
    {"anon_huge_pages", REPORT_BYTES, true},
    {"peak", REPORT_BYTES, false},
    {"hit_q1", REPORT_NUMBER, true},
    {"hit_q3", REPORT_NUMBER, true},
    {"insert_q1", REPORT_NUMBER, true},
    {"insert_q3", REPORT_NUMBER, true},
    {"strings", REPORT_COUNT, true},
    {"committed", REPORT_BYTES, false},
    {"payload", REPORT_BYTES, true},
    {"overhead", REPORT_BYTES, true},
    {"slack", REPORT_BYTES, false},
    {"table", REPORT_BYTES, false},
    {"retired", REPORT_BYTES, true},
    {"emptied", REPORT_BYTES, true},
    {"free", REPORT_BYTES, true},
    {"control", REPORT_BYTES, true},
    {"slots", REPORT_COUNT, true},
    {"slabs", REPORT_COUNT, true},
    {"growths", REPORT_COUNT, true},
    {"rekeys", REPORT_COUNT, true},
    {"lock_waits", REPORT_COUNT, false},
    {"max_probe", REPORT_COUNT, true},
    {"corpus_hash", REPORT_TEXT, true},
};

static const char *lock_name(cistern_lock lock)
{
	return lock == CISTERN_LOCK_SPIN ? "spin" : "mutex";
}

static const char *hugepages_name(cistern_hugepages policy)
{
	return policy == CISTERN_HUGEPAGES_NEVER  ? "never"
	       : policy == CISTERN_HUGEPAGES_AUTO ? "auto"
						  : "always";
}

static uint64_t bytes(double value)
{
	return value > 0 ? (uint64_t)value : 0;
}

/* The median of a series. Sorts it: rounds are not told apart any more. */
static double median(double *values, unsigned rounds)
{
	return harness_spread_of(values, rounds).median;
}

static void print_row(struct report *r, const struct sweep *s, struct combination *c)
{
	const cistern_config *e = &c->last.effective;
	const cistern_stats *t = &c->last.stats;
	struct harness_spread hit = harness_spread_of(c->hit, s->rounds);
	struct harness_spread insert = harness_spread_of(c->insert, s->rounds);
	char hash[20];
	snprintf(hash, sizeof hash, "%016" PRIx64, s->corpus.hash);
	struct report_value row[] = {
	    {.count = e->shards},
	    {.count = e->slab_size},
	    {.count = e->growth_interval},
	    {.text = lock_name(e->lock)},
	    {.text = hugepages_name(e->hugepages)},
	    {.count = c->threads},
	    {.number = insert.median},
	    {.number = hit.median},
	    {.number = median(c->batch, s->rounds)},
	    {.number = median(c->miss, s->rounds)},
	    {.count = bytes(median(c->rss, s->rounds))},
	    {.count = bytes(median(c->pss, s->rounds))},
	    {.count = c->last.after.rss},
	    {.count = bytes(median(c->huge, s->rounds))},
	    {.count = bytes(median(c->peak, s->rounds))},
	    {.number = hit.q1},
	    {.number = hit.q3},
	    {.number = insert.q1},
	    {.number = insert.q3},
	    {.count = t->strings},
	    {.count = t->committed_bytes},
	    {.count = t->payload_bytes},
	    {.count = t->overhead_bytes},
	    {.count = t->slack_bytes},
	    {.count = t->table_bytes},
	    {.count = t->retired_bytes},
	    {.count = t->emptied_bytes},
	    {.count = t->free_bytes},
	    {.count = t->control_bytes},
	    {.count = t->slots},
	    {.count = t->slabs},
	    {.count = t->growths},
	    {.count = t->rekeys},
	    {.count = t->lock_waits},
	    {.count = t->max_probe},
	    {.text = hash},
	};
	_Static_assert(sizeof row / sizeof *row == sizeof columns / sizeof *columns,
		       "a value for each column");
	report_row(r, row);
}

/* ---- the best settings */

struct setting {
	size_t first; /* its combination with the first number of threads */
	double score;
};

static int by_score(const void *a, const void *b)
{
	double x = ((const struct setting *)a)->score, y = ((const struct setting *)b)->score;
	return (x < y) - (x > y);
}

/* Newton's method: libm would be linked for this alone. Good to far more digits than are used. */
static double cube_root(double x)
{
	double root = x > 1 ? x : 1;
	for (int i = 0; x > 0 && i < 200; i++)
		root -= (root * root * root - x) / (3 * root * root);
	return x > 0 ? root : 0;
}

/*
 * The score of a setting: the geometric mean of insert, hit and miss speed, summed over the numbers
 * of threads, against the cube root of the memory added. So 1% of speed weighs as much as 3% of
 * memory: memory between settings differs by factors, speed by percents.
 */
static double score(const struct sweep *s, size_t first)
{
	double sum = 0;
	for (size_t t = 0; t < s->threads.n; t++) {
		struct combination *c = &s->all[first + t];
		double speed = cube_root(median(c->insert, s->rounds) * median(c->hit, s->rounds) *
					 median(c->miss, s->rounds));
		sum += speed / cube_root(median(c->rss, s->rounds) + 4096);
	}
	return sum;
}

static void print_best(struct report *r, const struct sweep *s)
{
	size_t n = s->n / s->threads.n;
	struct setting *settings = calloc(n, sizeof *settings);
	if (!settings)
		cli_fail("out of memory");
	for (size_t i = 0; i < n; i++) {
		settings[i].first = i * s->threads.n;
		settings[i].score = score(s, settings[i].first);
	}
	qsort(settings, n, sizeof *settings, by_score);
	report_note(
	    r, "# Best by speed (geometric mean of insert, hit and miss) over the cube root of the "
	       "memory added:");
	for (size_t i = 0; i < n && i < 3; i++) {
		const struct combination *c = &s->all[settings[i].first];
		char line[512];
		size_t used = 0;
		for (unsigned a = 0; a < AXES; a++) {
			if (!axis_swept(&axes[a]))
				continue;
			used += (size_t)snprintf(line + used, sizeof line - used, "%sCISTERN_",
						 used ? " " : "");
			for (const char *k = axes[a].key; *k && used + 1 < sizeof line; k++)
				line[used++] = *k >= 'a' && *k <= 'z' ? (char)(*k - 'a' + 'A') : *k;
			used += (size_t)snprintf(line + used, sizeof line - used, "=%.20s",
						 axes[a].values.items[c->at[a]]);
		}
		report_note(r, "%s", line);
	}
	free(settings);
}

/* ---- plots */

/* One heat map of shards against slab size, for one number of threads and one value of each other
 * axis. */
static void plot_one(struct plotter *p, const struct sweep *s, const struct combination *like,
		     const char *what, const char *title, const char *unit, bool high_is_good)
{
	size_t nx = axes[SLAB_SIZE].values.n, ny = axes[SHARDS].values.n;
	double *values = calloc(nx * ny, sizeof *values);
	if (!values)
		cli_fail("out of memory");
	for (size_t i = 0; i < s->n; i++) {
		const struct combination *c = &s->all[i];
		bool other = c->threads != like->threads;
		for (unsigned a = GROWTH_INTERVAL; a < AXES; a++)
			other |= c->at[a] != like->at[a];
		if (other)
			continue;
		double *cell = &values[c->at[SHARDS] * nx + c->at[SLAB_SIZE]];
		if (strcmp(what, "rss") == 0)
			*cell = median(c->rss, s->rounds) / 1048576;
		else
			*cell = median(strcmp(what, "hit") == 0 ? c->hit : c->insert, s->rounds);
	}
	char file[256], heading[512];
	int used = snprintf(file, sizeof file, "%s-threads%u", what, like->threads);
	int said = snprintf(heading, sizeof heading, "%s, %u thread%s", title, like->threads,
			    like->threads == 1 ? "" : "s");
	for (unsigned a = GROWTH_INTERVAL; a < AXES; a++) {
		if (!axis_swept(&axes[a]))
			continue;
		const char *value = axes[a].values.items[like->at[a]];
		used += snprintf(file + used, sizeof file - (size_t)used, "-%.20s", value);
		said += snprintf(heading + said, sizeof heading - (size_t)said, ", %s %.20s",
				 axes[a].key, value);
	}
	plot_heat_map(
	    p, &(struct plot_map){.file = file,
				  .title = heading,
				  .xlabel = "slab size",
				  .ylabel = "shards",
				  .unit = unit,
				  .xnames = (const char *const *)axes[SLAB_SIZE].values.items,
				  .ynames = (const char *const *)axes[SHARDS].values.items,
				  .nx = nx,
				  .ny = ny,
				  .values = values,
				  .high_is_good = high_is_good});
	free(values);
}

static void plot(const struct sweep *s)
{
	struct plotter *p = plot_open(s->plot);
	for (size_t i = 0; i < s->n; i++) {
		const struct combination *c = &s->all[i];
		if (c->at[SHARDS] != 0 || c->at[SLAB_SIZE] != 0)
			continue; /* the first cell stands for its map */
		plot_one(p, s, c, "rss", "Resident memory added", "MiB", false);
		plot_one(p, s, c, "hit", "Hits", "million a second", true);
		plot_one(p, s, c, "insert", "Inserts", "million a second", true);
	}
	if (plot_close(p))
		fprintf(stderr, "plots are in %s\n", s->plot);
}

int main(int argc, char **argv)
{
	static struct sweep s;
	parse(&s, argc, argv);
	combine(&s);
	corpus_load(&s.corpus, &s.common.corpus);

	if (!run(&s))
		return CLI_FAILURE;

	struct report *r =
	    report_open(&s.common.output, "sweep", columns, sizeof columns / sizeof *columns);
	report_machine(r);
	report_corpus(r, &s.corpus);
	report_fact(r, "rounds", "%u", s.rounds);
	for (size_t i = 0; i < s.n; i++)
		print_row(r, &s, &s.all[i]);
	if (s.plot)
		plot(&s);
	print_best(r, &s);
	report_close(r);
	cli_end(&s.common);
	return cli_finish();
}
