/* SPDX-License-Identifier: MIT */
/*
 * sweep_plan.c - makes the list of points. See sweep_plan.h.
 *
 * It grows by lines in blocks[], one for each product of lists that a mode measures.
 */
#include "sweep_plan.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

/* N stands for the number of processors. Engines that a build does not have are left out. */
static const struct block {
	enum plan_mode mode;
	const char *lists;
} blocks[] = {
    {PLAN_QUICK, "shards=4,64 slab_size=1K,16K"},
    {PLAN_QUICK, "engine=conststring shards=4,64 slab_size=1K,16K"},

    {PLAN_STANDARD, "shards=1,4,16,64,256 slab_size=256,1K,4K,16K,64K"},
    {PLAN_STANDARD, "engine=conststring shards=1,4,16,64,256 slab_size=256,1K,4K,16K,64K"},
    {PLAN_STANDARD, "lock=mutex,spin threads=1,N,2N"},
    {PLAN_STANDARD, "engine=conststring threads=1,N,2N"},

    {PLAN_FULL, "shards=1,4,16,64,256,1024 slab_size=256,1K,4K,16K,64K,1M,4M"},
    {PLAN_FULL, "engine=conststring shards=1,4,16,64,256,1024 slab_size=256,1K,4K,16K,64K,1M,4M"},
    {PLAN_FULL, "growth_interval=0,1,2,8,32,128,1024"},
    {PLAN_FULL, "capacity=0,1000,10000,100000,1000000"},
    {PLAN_FULL, "hugepages=never,auto,always"},
    {PLAN_FULL, "growth_interval=1 slab_max=16K,64K,256K,1M,4M"},
    {PLAN_FULL, "commit_chunk=0,4K,64K,256K,1M,4M"},
    {PLAN_FULL, "prefault=on,off"},
    {PLAN_FULL, "lock=mutex,spin"},
    {PLAN_FULL, "lock=mutex,spin threads=1,2,4,8,16"},
    {PLAN_FULL, "engine=conststring growth_interval=1,8,32,128"},
    {PLAN_FULL, "engine=conststring capacity=0,1000,10000,100000,1000000"},
    {PLAN_FULL, "engine=all threads=1,2,4,8,16"},
};

const char *plan_block(enum plan_mode mode, size_t i)
{
	for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++)
		if (blocks[k].mode == mode && i-- == 0)
			return blocks[k].lists;
	return NULL;
}

/* The values of each axis in one block; items are NULL where it has none. */
struct lists {
	struct cli_list of[AXES_MAX];
};

static void set_list(struct lists *lists, size_t axis, const char *text)
{
	char option[40];
	snprintf(option, sizeof option, "--%s", axes[axis].option);
	cli_list_free(&lists->of[axis]);
	lists->of[axis] = cli_list_parse(option, text);
}

/* Reads "key=a,b key=c,d". */
static void read_block(struct lists *lists, const char *text)
{
	char copy[256];
	snprintf(copy, sizeof copy, "%s", text);
	for (char *at = copy, *word; (word = strtok_r(at, " ", &at)) != NULL;) {
		char *values = strchr(word, '=');
		*values++ = '\0';
		set_list(lists, axis_named(word), values);
	}
}

static unsigned threads_of(const char *text)
{
	if (strcmp(text, "N") == 0)
		return harness_cpus();
	if (strcmp(text, "2N") == 0)
		return 2 * harness_cpus();
	return (unsigned)cli_number_option("--threads", text, 1, 1024);
}

static bool same(const struct plan_point *a, const struct plan_point *b)
{
	if (a->engine != b->engine || a->threads != b->threads)
		return false;
	for (size_t k = AXIS_KNOBS; k < axes_n; k++)
		if (strcmp(a->at[k], b->at[k]) != 0)
			return false;
	return true;
}

static struct plan_point *add_point(struct plan *plan)
{
	if (plan->n % 64 == 0) {
		plan->points = realloc(plan->points, (plan->n + 64) * sizeof *plan->points);
		if (!plan->points)
			cli_fail("out of memory");
	}
	struct plan_point *point = &plan->points[plan->n++];
	memset(point, 0, sizeof *point);
	return point;
}

/* The product of one block's lists for one engine, the last axis and then the threads running
 * fastest. */
static void multiply(struct plan *plan, const struct cli_common *common,
		     const struct engine *engine, const struct lists *lists)
{
	size_t settings = 1;
	const struct cli_list *threads = &lists->of[AXIS_THREADS];
	for (size_t a = AXIS_KNOBS; a < axes_n; a++)
		if (lists->of[a].n && engine_heeds(engine, axes[a].key))
			settings *= lists->of[a].n;
	for (size_t i = 0; i < settings * threads->n; i++) {
		struct plan_point *point = add_point(plan);
		size_t rest = i / threads->n;
		point->engine = engine;
		point->threads = threads_of(threads->items[i % threads->n]);
		cli_engine_config(common, engine, &point->config);
		for (size_t a = axes_n; a-- > AXIS_KNOBS;) {
			const struct cli_list *list = &lists->of[a];
			char option[40];
			if (!list->n || !engine_heeds(engine, axes[a].key))
				continue;
			snprintf(option, sizeof option, "--%s", axes[a].option);
			cli_knob(&point->config, option, axes[a].key, list->items[rest % list->n]);
			rest /= list->n;
		}
	}
}

static bool all_engines(const struct cli_list *engines)
{
	return engines->n == 1 && strcmp(engines->items[0], "all") == 0;
}

/* A block that a mode has by itself skips engines that the build lacks. */
static void add_block(struct plan *plan, const struct cli_common *common, const struct lists *lists,
		      bool asked_for)
{
	const struct cli_list *engines = &lists->of[AXIS_ENGINE];
	const struct engine *engine;
	if (engines->n == 0)
		multiply(plan, common, &engine_cistern, lists);
	for (size_t i = 0; all_engines(engines) && (engine = engine_at(i)) != NULL; i++)
		multiply(plan, common, engine, lists);
	for (size_t i = 0; !all_engines(engines) && i < engines->n; i++) {
		engine = engine_named(engines->items[i]);
		if (engine)
			multiply(plan, common, engine, lists);
		else if (asked_for)
			cli_usage("--engines: this build has no '%.80s'", engines->items[i]);
	}
}

/* ---- what a configuration comes to */

struct resolving {
	const struct plan *plan;
	cistern_config *effective;
};

/* Makes each interner, in a process apart: that of the caller must never have had one. */
static void resolve_all(void *arg, void *out)
{
	const struct plan *plan = arg;
	cistern_config *effective = out;
	for (size_t i = 0; i < plan->n; i++) {
		const struct plan_point *point = &plan->points[i];
		effective[i] = point->config;
		if (point->engine != &engine_cistern)
			continue;
		cistern *c = cistern_create(&point->config);
		if (!c)
			cli_fail("cistern: cannot be made with slab_size %llu: %s",
				 (unsigned long long)point->config.slab_size, strerror(errno));
		effective[i].size = sizeof effective[i];
		cistern_config_of(c, &effective[i]);
		cistern_destroy(c);
	}
}

static void resolve(struct plan *plan)
{
	cistern_config *effective = calloc(plan->n, sizeof *effective);
	if (!effective)
		cli_fail("out of memory");
	if (!harness_child(resolve_all, plan, effective, plan->n * sizeof *effective))
		exit(CLI_FAILURE);
	for (size_t i = 0; i < plan->n; i++) {
		struct plan_point *point = &plan->points[i];
		snprintf(point->at[AXIS_ENGINE], AXIS_TEXT, "%s", point->engine->name);
		snprintf(point->at[AXIS_THREADS], AXIS_TEXT, "%u", point->threads);
		for (size_t a = AXIS_KNOBS; a < axes_n; a++)
			if (engine_heeds(point->engine, axes[a].key))
				axis_text(a, &effective[i], point->at[a]);
	}
	free(effective);
}

/* The first of equal points stays. */
static void drop_doubles(struct plan *plan)
{
	size_t kept = 0;
	for (size_t i = 0; i < plan->n; i++) {
		size_t k = 0;
		while (k < kept && !same(&plan->points[k], &plan->points[i]))
			k++;
		if (k == kept)
			plan->points[kept++] = plan->points[i];
	}
	plan->n = kept;
}

static bool same_setting(const struct plan_point *a, const struct plan_point *b)
{
	struct plan_point other = *b;
	other.threads = a->threads;
	return same(a, &other);
}

/* Numbers the settings of the points that are left. */
static void find_settings(struct plan *plan, const struct plan_point *defaults, size_t ndefaults)
{
	plan->settings = calloc(plan->n, sizeof *plan->settings);
	if (!plan->settings)
		cli_fail("out of memory");
	for (size_t i = 0; i < plan->n; i++) {
		struct plan_point *point = &plan->points[i];
		size_t s = 0;
		while (s < plan->nsettings && !same_setting(plan->settings[s].like, point))
			s++;
		point->setting = s;
		if (s < plan->nsettings)
			continue;
		plan->settings[plan->nsettings++].like = point;
		for (size_t d = 0; d < ndefaults; d++)
			if (same_setting(&defaults[d], point))
				plan->settings[s].is_default = true;
	}
}

/* ---- the whole */

static void compared_threads(struct plan *plan, const struct cli_list *list)
{
	if (list->n > PLAN_THREADS)
		cli_usage("--threads: more than %d numbers", PLAN_THREADS);
	for (size_t i = 0; i < list->n; i++)
		plan->threads[plan->nthreads++] = threads_of(list->items[i]);
}

/* The defaults of every engine that takes part, behind the other points. */
static void add_defaults(struct plan *plan, const struct cli_common *common)
{
	size_t before = plan->n;
	const struct engine *engine;
	struct lists none = {0};
	char text[16 * PLAN_THREADS];
	size_t used = 0;
	for (size_t i = 0; i < plan->nthreads; i++)
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%u", i ? "," : "",
					 plan->threads[i]);
	set_list(&none, AXIS_THREADS, text);
	for (size_t e = 0; (engine = engine_at(e)) != NULL; e++) {
		bool part = false;
		for (size_t i = 0; i < before; i++)
			part |= plan->points[i].engine == engine;
		if (part)
			multiply(plan, common, engine, &none);
	}
	cli_list_free(&none.of[AXIS_THREADS]);
}

void plan_make(struct plan *plan, const struct cli_common *common, enum plan_mode mode,
	       const char *const given[AXES_MAX])
{
	const char *text;
	bool product = false;
	memset(plan, 0, sizeof *plan);
	plan->common = common;
	for (size_t a = 0; a < axes_n; a++) {
		product |= a != AXIS_THREADS && given[a] != NULL;
		if (a >= AXIS_KNOBS && given[a] && cli_set_value(common, axes[a].key))
			cli_usage("--%s: %s is fixed by --set", axes[a].option, axes[a].key);
	}
	for (size_t i = 0; (text = plan_block(mode, i)) != NULL && !(product && i > 0); i++) {
		struct lists lists = {0};
		set_list(&lists, AXIS_THREADS, harness_cpus() > 1 ? "1,N" : "1");
		read_block(&lists, text);
		for (size_t a = 0; a < axes_n; a++)
			if (given[a])
				set_list(&lists, a, given[a]);
			else if (a >= AXIS_KNOBS && cli_set_value(common, axes[a].key))
				cli_list_free(&lists.of[a]);
		add_block(plan, common, &lists, product);
		if (i == 0)
			compared_threads(plan, &lists.of[AXIS_THREADS]);
		for (size_t a = 0; a < axes_n; a++)
			cli_list_free(&lists.of[a]);
	}

	size_t before = plan->n;
	add_defaults(plan, common);
	resolve(plan);
	size_t ndefaults = plan->n - before;
	struct plan_point *defaults = malloc((ndefaults + 1) * sizeof *defaults);
	if (!defaults)
		cli_fail("out of memory");
	memcpy(defaults, plan->points + before, ndefaults * sizeof *defaults);
	drop_doubles(plan);
	find_settings(plan, defaults, ndefaults);
	free(defaults);
}

void plan_free(struct plan *plan)
{
	free(plan->points);
	free(plan->settings);
	memset(plan, 0, sizeof *plan);
}

/* ---- questions */

size_t plan_point_of(const struct plan *plan, size_t setting, unsigned threads)
{
	for (size_t i = 0; i < plan->n; i++)
		if (plan->points[i].setting == setting && plan->points[i].threads == threads)
			return i;
	return SIZE_MAX;
}

size_t plan_default_of(const struct plan *plan, const struct engine *engine)
{
	for (size_t s = 0; s < plan->nsettings; s++)
		if (plan->settings[s].is_default && plan->settings[s].like->engine == engine)
			return s;
	return SIZE_MAX;
}

unsigned plan_differences(const struct plan *plan, size_t a, size_t b)
{
	unsigned n = 0;
	for (size_t k = AXIS_KNOBS; k < axes_n; k++)
		n += strcmp(plan->settings[a].like->at[k], plan->settings[b].like->at[k]) != 0;
	return n;
}

bool plan_varies(const struct plan *plan, const struct engine *engine, size_t axis)
{
	const char *first = NULL;
	for (size_t i = 0; i < plan->n; i++) {
		if (plan->points[i].engine != engine)
			continue;
		if (first && strcmp(first, plan->points[i].at[axis]) != 0)
			return true;
		first = plan->points[i].at[axis];
	}
	return false;
}

static size_t sorted_axis; /* qsort hands nothing on */

static int compare_values(const void *a, const void *b)
{
	const char *x = *(const char *const *)a, *y = *(const char *const *)b;
	if (axes[sorted_axis].type == REPORT_TEXT)
		return strcmp(x, y);
	uint64_t v = axis_value(sorted_axis, x).count, w = axis_value(sorted_axis, y).count;
	return (v > w) - (v < w);
}

size_t plan_values(const struct plan *plan, size_t axis, const char ***values)
{
	size_t n = 0;
	*values = calloc(plan->n + 1, sizeof **values);
	if (!*values)
		cli_fail("out of memory");
	for (size_t i = 0; i < plan->n; i++) {
		const char *text = plan->points[i].at[axis];
		size_t k = 0;
		while (k < n && strcmp((*values)[k], text) != 0)
			k++;
		if (k == n && *text)
			(*values)[n++] = text;
	}
	sorted_axis = axis;
	qsort(*values, n, sizeof **values, compare_values);
	return n;
}
