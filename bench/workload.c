/* SPDX-License-Identifier: MIT */
/*
 * workload.c - the measurement that sweep and compare share. See workload.h.
 *
 * All of it runs in the child that harness_child makes, so that a wrong answer ends the child with
 * one line, and what it allocates is gone afterwards. Arrays for answers are made resident before
 * memory is first read.
 *
 * What is verified: every string came back with its own bytes and a NUL; equal strings gave equal
 * pointers, whichever thread asked; the engine counts as many strings as the corpus has, and after
 * the mix as many more as were new; each later pass of each thread adds up to the same pointers; no
 * absent string was found.
 */
#include "workload.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli.h"
#include "engine_check.h"

/* Room for the medians of passes; how many of the hot set a pass takes in a row,
 * and how often, and the bytes at most, since strings can be long; known strings for a new one in
 * the mix, and new ones a thread at most; steps while the number of strings doubles, and look-ups
 * at each. */
enum {
	PASSES_MIN = 3,
	PASSES_MAX = 64,
	HOT_RUN = 4096,
	HOT_REPEAT = 64,
	HOT_BYTES = 1 << 28,
	MIX = 20,
	MIX_NEW_MAX = 50000,
	STEPS = 12,
	STEP_MISSES = 65536
};

struct run {
	const struct workload *w;
	void *engine;
	const cistern_span *in; /* the strings of this phase */
	size_t n;
	unsigned repeat;  /* times each thread goes over them */
	const char **out; /* BUILD: an answer for each string */
	bool batch;
	enum {
		BUILD,     /* each thread a part of the strings */
		INTERN,    /* each thread all of them, from a place of its own on and round */
		FIND,      /* the same */
		INTERN_OWN /* each thread n strings of its own, one thread's after another's */
	} phase;
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
	struct engine_sum sum = {0, 0};
	if (r->phase == BUILD) {
		sum = run_part(r, from, (size_t)((uint64_t)r->n * (thread + 1) / threads));
	} else if (r->phase == INTERN_OWN) {
		sum = run_part(r, thread * r->n, (thread + 1) * r->n);
	} else {
		for (unsigned k = 0; k < r->repeat; k++) {
			struct engine_sum a = run_part(r, from, r->n), b = run_part(r, 0, from);
			sum.pointers += a.pointers + b.pointers;
			sum.found += a.found + b.found;
		}
	}
	r->sums[thread] = sum;
}

/* Millions a second in so many nanoseconds. */
static double speed(const struct run *r, uint64_t ns)
{
	return (double)r->n * r->repeat * r->w->threads / (double)ns * 1e3;
}

static void expect_sum(const struct run *r, const char *what, unsigned thread,
		       struct engine_sum right)
{
	const struct engine_sum *got = &r->sums[thread];
	if (got->pointers == right.pointers && got->found == right.found)
		return;
	cli_fail("%s: wrong answers: %s on thread %u found %" PRIu64 " strings where %" PRIu64
		 " are right%s",
		 r->w->engine->name, what, thread, got->found, right.found,
		 got->found == right.found ? ", but others" : "");
}

/* Passes over the strings; their median speed. */
static double passes(struct run *r, const char *what, struct engine_sum expected)
{
	double speeds[PASSES_MAX];
	size_t n = 0;
	uint64_t least = (uint64_t)r->w->pass_ms * 1000000, spent = 0;
	if (r->n == 0)
		return NAN;
	do {
		uint64_t ns = harness_threads(r->w->threads, run_thread, r);
		speeds[n++] = speed(r, ns);
		spent += ns;
		for (unsigned t = 0; t < r->w->threads; t++)
			expect_sum(r, what, t, expected);
	} while (n < PASSES_MAX && r->w->pass_ms && (n < PASSES_MIN || spent < least));
	return harness_spread_of(speeds, n).median;
}

/* Checks every answer of the build, fills in the pointer of each distinct string, and returns what
 * interning the whole corpus has to add up to. */
static struct engine_sum verify(const struct run *r, const char **kinds)
{
	const struct corpus *c = r->w->corpus;
	struct engine_sum sum = {0, 0};

	for (size_t i = 0; i < r->n; i++) {
		const char *p = r->out[i];
		engine_expect_string(r->w->engine, i, &r->in[i], p);
		const char **kind = &kinds[r->in == c->distinct ? i : c->kind[i]];
		if (*kind && *kind != p)
			cli_fail("%s: wrong answer: string %zu has two pointers",
				 r->w->engine->name, i);
		*kind = p;
	}
	for (size_t i = 0; i < c->n; i++) {
		sum.pointers += (uintptr_t)kinds[c->kind[i]];
		sum.found++;
	}
	return sum;
}

/* All threads on the same few strings. */
static double hot(struct run *r, const char *const *kinds)
{
	const struct corpus *c = r->w->corpus;
	cistern_span *in = harness_pages(HOT_RUN * sizeof *in);
	size_t n = 0;
	uint64_t state = 1, pointers = 0, bytes = 0;
	for (; n < HOT_RUN && bytes < HOT_BYTES; n++) {
		size_t which = corpus_hot(&state, c->ndistinct);
		in[n] = c->distinct[which];
		bytes += in[n].len;
		pointers += (uintptr_t)kinds[which];
	}
	r->phase = INTERN;
	r->in = in;
	r->n = n;
	r->repeat = HOT_REPEAT;
	while (r->repeat > 1 && bytes * r->repeat > HOT_BYTES)
		r->repeat /= 2;
	struct engine_sum sum = {pointers * r->repeat, (uint64_t)n * r->repeat};
	double result = passes(r, "hitting the hot set", sum);
	r->repeat = 1;
	harness_pages_free(in, HOT_RUN * sizeof *in);
	return result;
}

/* Each thread interns new strings, which no other thread has, among known ones. */
static double mixed(struct run *r)
{
	const struct corpus *c = r->w->corpus;
	unsigned threads = r->w->threads;
	size_t new = c->nabsent / threads;
	new = new < c->n / (MIX - 1) ? new : c->n / (MIX - 1);
	new = new < MIX_NEW_MAX ? new : MIX_NEW_MAX;
	if (new == 0)
		return NAN;
	r->n = new *MIX;
	size_t size = threads * r->n * sizeof(cistern_span), known = 0;
	cistern_span *in = harness_pages(size);
	for (size_t i = 0; i < threads * r->n; i++)
		in[i] = i % MIX == MIX - 1 ? c->absent[i / MIX] : c->all[known++ % c->n];
	r->in = in;
	r->phase = INTERN_OWN;
	double result = speed(r, harness_threads(threads, run_thread, r));

	/* All are known now, so that a second time has to give the same pointers. */
	struct engine_sum *first = harness_pages(threads * sizeof *first);
	memcpy(first, r->sums, threads * sizeof *first);
	for (unsigned t = 0; t < threads; t++)
		if (first[t].found != r->n)
			cli_fail("%s: strings of the mix could not be interned",
				 r->w->engine->name);
	harness_threads(threads, run_thread, r);
	for (unsigned t = 0; t < threads; t++)
		expect_sum(r, "after the mix, interning again", t, first[t]);
	engine_expect_count(r->w->engine, r->engine, c->ndistinct + threads * new, NULL);
	harness_pages_free(first, threads * sizeof *first);
	harness_pages_free(in, size);
	return result;
}

static void make(struct run *r)
{
	const struct workload *w = r->w;
	r->sums = harness_pages(w->threads * sizeof *r->sums);
	r->repeat = 1;
	r->engine = engine_make(w->engine, &w->config);
}

/* Looks up absent strings, most of them at most. */
static double misses(struct run *r, size_t most)
{
	if (!r->w->engine->find)
		return NAN;
	r->phase = FIND;
	r->in = r->w->corpus->absent;
	r->n = r->w->corpus->nabsent < most ? r->w->corpus->nabsent : most;
	return passes(r, "missing", (struct engine_sum){0, 0});
}

static void measure(void *arg, void *out)
{
	const struct workload *w = arg;
	struct workload_result *result = out;
	const struct corpus *c = w->corpus;
	struct run r = {.w = w};
	const cistern_span *in = w->build_distinct ? c->distinct : c->all;
	size_t n = w->build_distinct ? c->ndistinct : c->n;

	r.out = harness_pages(n * sizeof *r.out);
	const char **kinds = harness_pages(c->ndistinct * sizeof *kinds);
	harness_threads_leave(w->threads);
	for (size_t i = 0; i < c->n && w->engine->c_strings; i++)
		if (strlen(c->all[i].data) != c->all[i].len)
			cli_fail("%s: takes C strings, and string %zu has a NUL inside",
				 w->engine->name, i);
	corpus_touch(c->all, c->n);
	harness_memory_read(&result->before);

	make(&r);
	r.phase = BUILD;
	r.in = in;
	r.n = n;
	r.batch = w->build_batch;
	uint64_t ns = harness_threads(w->threads, run_thread, &r);
	result->speed.build = (double)r.n / (double)ns * 1e3;
	harness_memory_read(&result->after);
	struct engine_sum all = verify(&r, kinds);
	engine_expect_count(w->engine, r.engine, c->ndistinct, &result->stats);
	result->payload = c->distinct_payload;

	r.phase = INTERN;
	r.in = c->all;
	r.n = c->n;
	r.batch = false;
	result->speed.hit = passes(&r, "hitting", all);
	r.batch = true;
	result->speed.batch =
	    w->engine->intern_batch ? passes(&r, "hitting in batches", all) : result->speed.hit;
	r.batch = false;
	result->speed.hot = hot(&r, kinds);
	result->speed.miss = misses(&r, SIZE_MAX);
	result->speed.mixed = mixed(&r);

	if (w->engine == &engine_cistern) {
		result->effective.size = sizeof result->effective;
		cistern_config_of(r.engine, &result->effective);
	}
	w->engine->destroy(r.engine);
}

/* Looks absent strings up in tables of all degrees of filling. */
static void measure_steps(void *arg, void *out)
{
	const struct workload *w = arg;
	struct workload_result *result = out;
	const struct corpus *c = w->corpus;
	struct run r = {.w = w};
	size_t done = 0;

	make(&r);
	result->speed.miss_slowest = result->speed.miss_fastest = NAN;
	for (unsigned step = 0; step <= STEPS; step++) {
		size_t to = c->ndistinct / 2 + c->ndistinct * step / (2 * STEPS);
		to = step == STEPS ? c->ndistinct : to;
		if (w->engine->intern(r.engine, c->distinct + done, to - done, NULL).found !=
		    to - done)
			cli_fail("%s: strings could not be interned", w->engine->name);
		done = to;
		double now = misses(&r, STEP_MISSES);
		/* Written so that the first one counts, too: nothing is less than NaN. */
		if (!(result->speed.miss_slowest <= now))
			result->speed.miss_slowest = now;
		if (!(result->speed.miss_fastest >= now))
			result->speed.miss_fastest = now;
	}
	w->engine->destroy(r.engine);
}

bool workload_run(const struct workload *w, struct workload_result *result)
{
	void *arg = (void *)(uintptr_t)w;
	memset(result, 0, sizeof *result);
	harness_warm(4 * (size_t)w->corpus->distinct_payload);
	if (!harness_child(measure, arg, result, sizeof *result))
		return false;
	if (w->steps)
		return harness_child(measure_steps, arg, result, sizeof *result);
	result->speed.miss_slowest = result->speed.miss_fastest = NAN;
	return true;
}

uint64_t workload_added(const struct workload_result *r)
{
	return r->after.rss > r->before.rss ? r->after.rss - r->before.rss : 0;
}
