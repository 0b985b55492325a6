/* SPDX-License-Identifier: MIT */
/*
 * calls.c - timing single calls. See calls.h.
 *
 * All of it runs in the child that harness_child makes. Threads write to records of their own, in
 * pages that are resident before anything is timed; a wrong answer is noted there, and the thread
 * that started them ends the process with one line about it.
 *
 * What is verified: every string came back with its own bytes and a NUL; each timed hit, and each
 * untimed run of hits, gave the pointers of the build; looking everything up gives them once more;
 * the engine counts as many strings as there are.
 */
#include "calls.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#include "cli.h"
#include "engine_check.h"
#include "ticks.h"

/* Hits between two looks at whether to go on, first timed and then untimed. */
enum { CHUNK = 1024, RUN = 4096 };

const char *const calls_names[CALLS_CASES] = {"insert",        "insert-shared", "hit",
					      "hit-inserting", "hot",           "hot-inserting"};

/* ---- timing */

static uint64_t long_ticks; /* CALLS_LONG_NS */
static uint64_t overhead;

static void record(struct calls_record *r, uint64_t ticks_taken)
{
	histogram_add(&r->times, ticks_taken);
	if (ticks_taken > long_ticks) {
		r->over++;
		r->over_ticks += ticks_taken;
	}
}

/* Times one call. */
static inline void timed_call(const struct engine *engine, void *e, const cistern_span *in,
			      const char **out, struct calls_record *r)
{
	uint64_t start = ticks_now();
	*out = (const char *)(uintptr_t)engine->intern(e, in, 1, NULL).pointers;
	uint64_t took = ticks_now() - start;
	/* Negative where a thread moved to a processor whose counter is behind. */
	record(r, (int64_t)took > (int64_t)overhead ? took - overhead : 0);
}

/* The median of calls that do nothing. */
static uint64_t measured_overhead(struct calls_record *scratch)
{
	cistern_span span = {"", 0};
	const char *out;
	overhead = 0;
	for (int i = 0; i < 20000; i++)
		timed_call(&engine_nothing, NULL, &span, &out, scratch);
	uint64_t median = histogram_quantile(&scratch->times, 500000);
	memset(scratch, 0, sizeof *scratch);
	return median;
}

/* ---- one process */

struct worker {
	struct calls_record records[2], idle[2];
	struct harness_events events[2], idle_events[2];
	uint64_t runs, run_ns; /* strings of the untimed runs since last looked at */
	const char *wrong;     /* what this thread saw, or NULL */
};

struct process {
	const struct calls *c;
	void *engine;
	const cistern_span *in;
	const char **out;
	size_t n, known; /* strings; of them interned before the hits */
	const cistern_span *hits;
	const char *const *answers; /* of the hits */
	size_t nhits;
	struct worker *workers;
	unsigned threads;
	unsigned part; /* which of the two figures is being filled */
	uint64_t quiet_ticks, inserting_ns;
	atomic_bool inserting, idle_over;
};

static void add_events(struct harness_events *to, const struct harness_events *before)
{
	struct harness_events now;
	harness_events_read(&now);
	to->switches += now.switches - before->switches;
	to->faults += now.faults - before->faults;
}

static void insert_thread(unsigned thread, void *arg)
{
	struct process *p = arg;
	struct worker *w = &p->workers[thread];
	size_t from = (size_t)((uint64_t)p->n * thread / p->threads);
	size_t to = (size_t)((uint64_t)p->n * (thread + 1) / p->threads);
	struct harness_events before;
	harness_events_read(&before);
	for (size_t i = from; i < to; i++)
		timed_call(p->c->engine, p->engine, &p->in[i], &p->out[i], &w->records[0]);
	add_events(&w->events[0], &before);
}

/* One chunk of hits, timed, and once more untimed. Gives the place to go on from. */
static size_t hit_chunk(struct process *p, struct worker *w, size_t at)
{
	size_t n = p->nhits - at < CHUNK ? p->nhits - at : CHUNK;
	uint64_t expected = 0;
	for (size_t i = at; i < at + n; i++) {
		const char *got;
		timed_call(p->c->engine, p->engine, &p->hits[i], &got, &w->records[p->part]);
		expected += (uintptr_t)p->answers[i];
		if (got != p->answers[i])
			w->wrong = "a hit gave another pointer than the insert";
	}
	uint64_t start = harness_clock_now();
	struct engine_sum sum = p->c->engine->intern(p->engine, p->hits + at, n, NULL);
	w->run_ns += harness_clock_now() - start;
	w->runs += n;
	if (sum.pointers != expected || sum.found != n)
		w->wrong = "a run of hits gave other pointers than the inserts";
	return at + n < p->nhits ? at + n : 0;
}

static void quiet_thread(unsigned thread, void *arg)
{
	struct process *p = arg;
	struct worker *w = &p->workers[thread];
	struct harness_events before;
	size_t at = 0;
	harness_events_read(&before);
	uint64_t start = ticks_now();
	do
		at = hit_chunk(p, w, at);
	while (ticks_now() - start < p->quiet_ticks);
	add_events(&w->events[0], &before);
}

static void insert_rest(struct process *p)
{
	uint64_t start = harness_now();
	for (size_t i = p->known; i < p->n; i += RUN) {
		size_t n = p->n - i < RUN ? p->n - i : RUN;
		p->c->engine->intern(p->engine, p->in + i, n, p->out + i);
	}
	p->inserting_ns = harness_now() - start;
	/* Relaxed: it only ends a loop, and the threads are joined before answers are read. */
	atomic_store_explicit(&p->inserting, false, memory_order_relaxed);
}

/* Thread 0 hits and thread 1 inserts. */
static void disturbed_thread(unsigned thread, void *arg)
{
	struct process *p = arg;
	struct worker *w = &p->workers[thread];
	struct harness_events before;
	size_t at = 0;
	if (thread == 1) {
		insert_rest(p);
		return;
	}
	harness_events_read(&before);
	do
		at = hit_chunk(p, w, at);
	while (atomic_load_explicit(&p->inserting, memory_order_relaxed));
	add_events(&w->events[1], &before);
}

/* The control: turns of the length of a mean call that only read the clock. A thread without timed
 * calls keeps its processor busy meanwhile. */
static void idle_thread(unsigned thread, void *arg)
{
	struct process *p = arg;
	struct worker *w = &p->workers[thread];
	const struct histogram *times = &w->records[p->part].times;
	struct harness_events before;
	if (times->total == 0) {
		while (!atomic_load_explicit(&p->idle_over, memory_order_relaxed))
			ticks_now();
		return;
	}
	uint64_t turn = times->sum / times->total + overhead;
	harness_events_read(&before);
	for (uint64_t i = 0; i < times->total; i++) {
		uint64_t start = ticks_now(), now;
		do
			now = ticks_now();
		while ((int64_t)(now - start) < (int64_t)turn);
		record(&w->idle[p->part], now - start);
	}
	add_events(&w->idle_events[p->part], &before);
	atomic_store_explicit(&p->idle_over, true, memory_order_relaxed);
}

/* Runs fn on the threads and ends the process where one of them saw something wrong. */
static uint64_t on_threads(struct process *p, unsigned threads, void (*fn)(unsigned, void *))
{
	p->threads = threads;
	uint64_t ns = harness_threads(threads, fn, p);
	for (unsigned t = 0; t < threads; t++)
		if (p->workers[t].wrong)
			cli_fail("%s: wrong answer: %s", p->c->engine->name, p->workers[t].wrong);
	return ns;
}

/* Strings a second in the untimed runs since the last call, in millions. */
static void take_runs(struct worker *w, uint64_t *strings, uint64_t *ns)
{
	*strings += w->runs;
	*ns += w->run_ns;
	w->runs = w->run_ns = 0;
}

static double rate(uint64_t strings, uint64_t ns)
{
	return (double)strings / (double)(ns ? ns : 1) * 1e3;
}

static void measure_inserts(struct process *p, unsigned threads)
{
	on_threads(p, threads, insert_thread);
	on_threads(p, threads, idle_thread);
}

static void measure_hits(struct process *p, struct calls_figures figures[2])
{
	uint64_t quiet = 0, quiet_ns = 0, disturbed = 0, disturbed_ns = 0;
	cistern_span hot[CHUNK];
	const char *hot_answers[CHUNK];

	uint64_t start = ticks_now();
	p->c->engine->intern(p->engine, p->in, p->known, p->out);
	/* Quiet hits last about as long as the inserting will. */
	p->quiet_ticks = (ticks_now() - start) / 2;

	p->hits = p->in;
	p->answers = p->out;
	p->nhits = p->known;
	if (p->c->first == CALLS_HOT) {
		uint64_t state = 1;
		for (size_t i = 0; i < CHUNK; i++) {
			size_t from = corpus_hot(&state, p->known);
			hot[i] = p->in[from];
			hot_answers[i] = p->out[from];
		}
		p->hits = hot;
		p->answers = hot_answers;
		p->nhits = CHUNK;
	}

	on_threads(p, 1, quiet_thread);
	take_runs(&p->workers[0], &quiet, &quiet_ns);
	p->part = 1;
	atomic_store_explicit(&p->inserting, true, memory_order_relaxed);
	on_threads(p, 2, disturbed_thread);
	take_runs(&p->workers[0], &disturbed, &disturbed_ns);
	p->part = 0;
	on_threads(p, 1, quiet_thread);
	take_runs(&p->workers[0], &quiet, &quiet_ns);

	on_threads(p, 1, idle_thread);
	p->part = 1;
	atomic_store_explicit(&p->idle_over, false, memory_order_relaxed);
	on_threads(p, 2, idle_thread);

	figures[0].rate = rate(quiet, quiet_ns);
	figures[1].rate = rate(disturbed, disturbed_ns);
	figures[1].kept = figures[1].rate / figures[0].rate;
	figures[1].inserting = rate(p->n - p->known, p->inserting_ns);
}

static void verify(const struct process *p)
{
	const struct engine *engine = p->c->engine;
	uint64_t pointers = 0;
	for (size_t i = 0; i < p->n; i++) {
		engine_expect_string(engine, i, &p->in[i], p->out[i]);
		pointers += (uintptr_t)p->out[i];
	}
	struct engine_sum sum = engine->find ? engine->find(p->engine, p->in, p->n)
					     : engine->intern(p->engine, p->in, p->n, NULL);
	if (sum.pointers != pointers || sum.found != p->n)
		cli_fail("%s: wrong answer: looking up finds %" PRIu64
			 " strings where %zu are right%s",
			 engine->name, sum.found, p->n, sum.found == p->n ? ", but others" : "");
	engine_expect_count(engine, p->engine, p->n, NULL);
}

static void merge(struct calls_record *to, const struct calls_record *from)
{
	histogram_merge(&to->times, &from->times);
	to->over += from->over;
	to->over_ticks += from->over_ticks;
}

static void measure(void *arg, void *result)
{
	const struct calls *c = arg;
	struct calls_figures *figures = result;
	unsigned threads = c->first == CALLS_INSERT ? 1 : 2;
	struct process p = {.c = c, .in = c->corpus->distinct, .n = c->corpus->ndistinct};

	p.out = harness_pages(p.n * sizeof *p.out);
	p.workers = harness_pages(threads * sizeof *p.workers);
	p.known = p.n / 2;
	long_ticks = (uint64_t)(CALLS_LONG_NS / ticks.ns_per_tick);
	overhead = measured_overhead(&p.workers[0].records[0]);
	corpus_touch(p.in, p.n);

	p.engine = engine_make(c->engine, &c->config);
	if (calls_has_second(c->first))
		measure_hits(&p, figures);
	else
		measure_inserts(&p, threads);
	verify(&p);
	c->engine->destroy(p.engine);

	for (unsigned t = 0; t < threads; t++) {
		const struct worker *w = &p.workers[t];
		for (int i = 0; i < 2; i++) {
			merge(&figures[i].calls, &w->records[i]);
			merge(&figures[i].idle, &w->idle[i]);
			figures[i].events.switches += w->events[i].switches;
			figures[i].events.faults += w->events[i].faults;
			figures[i].idle_events.switches += w->idle_events[i].switches;
			figures[i].overhead = overhead;
		}
	}
}

bool calls_run(const struct calls *c, struct calls_figures figures[2])
{
	memset(figures, 0, 2 * sizeof *figures);
	harness_warm(4 * (size_t)c->corpus->distinct_payload);
	return harness_child(measure, (void *)(uintptr_t)c, figures, 2 * sizeof *figures);
}
