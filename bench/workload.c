/* SPDX-License-Identifier: MIT */
/*
 * workload.c - the measurement that sweep and compare share. See workload.h.
 *
 * All of it runs in the child that harness_child makes, so that a wrong answer ends the child with
 * one line, and what it allocates is gone afterwards. Arrays for answers are made resident before
 * memory is first read.
 *
 * What is verified: every string came back with its own bytes and a NUL; equal strings gave equal
 * pointers, whichever thread asked; the engine counts as many strings as the corpus has; each later
 * pass of each thread adds up to the same pointers; no absent string was found.
 */
#include "workload.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* Room for the medians of passes. */
enum { PASSES_MIN = 3, PASSES_MAX = 64 };

struct run {
	const struct workload *w;
	void *engine;
	const cistern_span *in; /* the strings of this phase */
	size_t n;
	const char **out; /* build: an answer for each string */
	bool batch;
	enum { BUILD, INTERN, FIND } phase;
	struct engine_sum *sums; /* one a thread */
};

static struct engine_sum run_part(const struct run *r, size_t from, size_t to)
{
	const struct engine *engine = r->w->engine;
	const cistern_span *in = r->in + from;
	if (r->phase == FIND)
		return engine->find(r->engine, in, to - from);
	const char **out = r->phase == BUILD ? r->out + from : NULL;
	if (r->batch && engine->intern_batch)
		return engine->intern_batch(r->engine, in, to - from, out);
	return engine->intern(r->engine, in, to - from, out);
}

/* What one thread does. */
static void run_thread(unsigned thread, void *arg)
{
	struct run *r = arg;
	unsigned threads = r->w->threads;
	size_t from = (size_t)((uint64_t)r->n * thread / threads);
	if (r->phase == BUILD) {
		size_t to = (size_t)((uint64_t)r->n * (thread + 1) / threads);
		r->sums[thread] = run_part(r, from, to);
		return;
	}
	/* The whole corpus, from a place of its own on and round. */
	struct engine_sum a = run_part(r, from, r->n);
	struct engine_sum b = run_part(r, 0, from);
	r->sums[thread] = (struct engine_sum){a.pointers + b.pointers, a.found + b.found};
}

/* Passes over the strings; the median in millions a second over all threads. */
static double passes(struct run *r, const char *what, struct engine_sum expected)
{
	double speeds[PASSES_MAX];
	size_t n = 0;
	uint64_t least = (uint64_t)r->w->pass_ms * 1000000, spent = 0;
	if (r->n == 0)
		return 0;
	do {
		uint64_t ns = harness_threads(r->w->threads, run_thread, r);
		speeds[n++] = (double)r->n * r->w->threads / (double)ns * 1e3;
		spent += ns;
		for (unsigned t = 0; t < r->w->threads; t++) {
			if (r->sums[t].pointers != expected.pointers ||
			    r->sums[t].found != expected.found)
				cli_fail("%s: wrong answers: %s on thread %u found %" PRIu64
					 " strings where %" PRIu64 " are right%s",
					 r->w->engine->name, what, t, r->sums[t].found,
					 expected.found,
					 r->sums[t].found == expected.found ? ", but others" : "");
		}
	} while (n < PASSES_MAX && r->w->pass_ms && (n < PASSES_MIN || spent < least));
	return harness_spread_of(speeds, n).median;
}

/* Checks every answer of the build, and returns what interning the whole corpus has to add up to.
 */
static struct engine_sum verify(const struct run *r)
{
	const struct corpus *c = r->w->corpus;
	const char *name = r->w->engine->name;
	size_t size = c->ndistinct * sizeof(char *);
	const char **kinds = harness_pages(size);
	struct engine_sum sum = {0, 0};

	for (size_t i = 0; i < r->n; i++) {
		const cistern_span *s = &r->in[i];
		const char *p = r->out[i];
		if (!p)
			cli_fail("%s: string %zu could not be interned", name, i);
		if (memcmp(p, s->data, s->len) != 0 || p[s->len] != '\0')
			cli_fail("%s: wrong answer: string %zu came back with other bytes", name,
				 i);
		const char **kind = &kinds[r->in == c->distinct ? i : c->kind[i]];
		if (*kind && *kind != p)
			cli_fail("%s: wrong answer: string %zu has two pointers", name, i);
		*kind = p;
	}
	for (size_t i = 0; i < c->n; i++) {
		sum.pointers += (uintptr_t)kinds[c->kind[i]];
		sum.found++;
	}
	harness_pages_free(kinds, size);
	return sum;
}

static void nothing(unsigned thread, void *arg)
{
	(void)thread;
	(void)arg;
}

static void measure(void *arg, void *out)
{
	const struct workload *w = arg;
	struct workload_result *result = out;
	const struct corpus *c = w->corpus;
	struct run r = {.w = w};

	r.in = w->build_distinct ? c->distinct : c->all;
	r.n = w->build_distinct ? c->ndistinct : c->n;
	r.out = harness_pages(r.n * sizeof *r.out);
	r.sums = harness_pages(w->threads * sizeof *r.sums);
	/* Stacks and what else threads leave behind must be there before memory is read. */
	harness_threads(w->threads, nothing, NULL);
	/* Fork left the page tables of the corpus to be filled on first use: touch it all. */
	uint64_t touched = 0;
	for (size_t i = 0; i < c->n; i++)
		touched += (unsigned char)c->all[i].data[c->all[i].len / 2] + c->all[i].len;
	*(volatile uint64_t *)&r.sums[0].pointers = touched;
	harness_memory_read(&result->before);

	r.engine = w->engine->create(&w->config);
	if (!r.engine)
		cli_fail("%s: cannot be made: %s", w->engine->name, strerror(errno));
	r.phase = BUILD;
	r.batch = w->build_batch;
	uint64_t ns = harness_threads(w->threads, run_thread, &r);
	result->speed.build = (double)r.n / (double)ns * 1e3;
	harness_memory_read(&result->after);

	struct engine_sum all = verify(&r);
	w->engine->stats(r.engine, &result->stats);
	if (result->stats.strings != c->ndistinct)
		cli_fail("%s: wrong answer: it counts %" PRIu64 " strings where %zu are right",
			 w->engine->name, result->stats.strings, c->ndistinct);

	r.phase = INTERN;
	r.in = c->all;
	r.n = c->n;
	r.batch = false;
	result->speed.hit = passes(&r, "hitting", all);
	r.batch = true;
	result->speed.batch =
	    w->engine->intern_batch ? passes(&r, "hitting in batches", all) : result->speed.hit;
	r.phase = FIND;
	r.in = c->absent;
	r.n = c->nabsent;
	result->speed.miss = passes(&r, "missing", (struct engine_sum){0, 0});

	if (w->engine == &engine_cistern) {
		result->effective.size = sizeof result->effective;
		cistern_config_of(r.engine, &result->effective);
	}
	w->engine->destroy(r.engine);
}

bool workload_run(const struct workload *w, struct workload_result *result)
{
	memset(result, 0, sizeof *result);
	return harness_child(measure, (void *)(uintptr_t)w, result, sizeof *result);
}

uint64_t workload_added(const struct workload_result *r)
{
	return r->after.rss > r->before.rss ? r->after.rss - r->before.rss : 0;
}
