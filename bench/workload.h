/* SPDX-License-Identifier: MIT */
/*
 * workload.h - one measurement of one engine, in a process of its own, with every answer verified.
 *
 * In this order:
 *
 *   build         the strings are interned into an empty interner; thread t of T takes the t-th
 *                 part of them
 *   memory        is read before the interner was made and after the build; what was added is the
 *                 difference
 *   hit           every thread interns the whole corpus again, in order, each beginning at another
 *                 place
 *   batch         the same through the batch call, in groups of ENGINE_GROUP
 *   hot           every thread interns the same 64 strings over and over
 *   miss          every thread looks up strings that are absent
 *   mixed         every thread interns a new string for every 19 known ones
 *   miss_slowest, miss_fastest
 *                 a second interner is filled from half of the distinct strings to all of them, and
 *                 absent ones are looked up at every step: tables that double are nearly full at
 *                 one of them and have just grown at another
 *
 * The speeds of hit, batch, hot and miss are medians over several passes; build and mixed can
 * happen once only, so that their spread shows between processes.
 */
#ifndef BENCH_WORKLOAD_H
#define BENCH_WORKLOAD_H

#include "corpus.h"
#include "engine.h"
#include "harness.h"

struct workload {
	const struct engine *engine;
	const struct corpus *corpus;
	cistern_config config;
	unsigned threads;
	bool build_distinct; /* build from each string once, rather than from the whole corpus */
	bool build_batch;    /* build through the batch call */
	unsigned pass_ms;    /* repeat passes for at least so long; 0: a single pass */
	bool steps;          /* measure miss_slowest and miss_fastest */
};

/* Millions of strings a second, over all threads. NaN: the engine cannot, or it was not asked for.
 */
struct workload_speed {
	double build, hit, batch, hot, miss, mixed, miss_slowest, miss_fastest;
};

struct workload_result {
	struct workload_speed speed;
	struct harness_memory before, after;
	cistern_stats stats;
	uint64_t payload; /* lengths of the distinct strings: not every engine counts them */
	cistern_config effective; /* cistern only */
};

/* Runs it. False after one line on stderr: the engine failed, or gave a wrong answer. */
bool workload_run(const struct workload *w, struct workload_result *result);

/* What the engine added to the resident memory. */
uint64_t workload_added(const struct workload_result *r);

#endif /* BENCH_WORKLOAD_H */
