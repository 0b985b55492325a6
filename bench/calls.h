/* SPDX-License-Identifier: MIT */
/*
 * calls.h - single calls of one engine, timed one by one, in a process of its own, with every
 * answer verified.
 *
 *   insert           distinct strings into an empty interner, so that its tables grow meanwhile
 *   insert-shared    the same on two threads, half of the strings each
 *   hit              half of the strings are known; they are interned again, in quiet
 *   hit-inserting    ... while another thread inserts the other half at full speed
 *   hot, hot-inserting   the same with hits of 64 strings only
 *
 * A call is timed through the engine's table, as a run of one string. The indirect call, the loop
 * of one turn and the reading of the clock are in what a call of an engine that does nothing takes,
 * and that is subtracted. So every engine is timed by the same code, none needs loops of its own
 * for it, and what the compiler sees in the engine's file is what it sees in every other bench.
 *
 * Hits alternate between timed calls and untimed runs of as many; the runs give the throughput,
 * which the clock does not slow. Quiet is measured half before and half after the inserting, since
 * the tables are larger then: the ratio is to tell what the other thread does.
 *
 * What the machine does meanwhile is told apart by an idle loop right after: on as many threads,
 * with as many turns, each of which reads the clock until the time of a mean call has passed.
 */
#ifndef BENCH_CALLS_H
#define BENCH_CALLS_H

#include "corpus.h"
#include "engine.h"
#include "harness.h"
#include "histogram.h"

enum calls_case {
	CALLS_INSERT,
	CALLS_INSERT_SHARED,
	CALLS_HIT,
	CALLS_HIT_INSERTING,
	CALLS_HOT,
	CALLS_HOT_INSERTING,
	CALLS_CASES
};

/* By number, as above. */
extern const char *const calls_names[CALLS_CASES];

enum {
	CALLS_LONG_NS = 50000, /* calls that took longer are added up */
	CALLS_LEAST = 128      /* distinct strings that a corpus must have */
};

/* Times of calls or of turns, in ticks. */
struct calls_record {
	struct histogram times;
	uint64_t over, over_ticks; /* those over CALLS_LONG_NS */
};

struct calls_figures {
	struct calls_record calls, idle;
	struct harness_events events, idle_events; /* on the threads that were timed */
	double rate;       /* millions a second in the untimed runs; 0: there are none */
	double kept;       /* of the rate in quiet, a part; 0: this is not an inserting case */
	double inserting;  /* millions of strings a second of the other thread; 0: there is none */
	uint64_t overhead; /* ticks of a call that does nothing, subtracted from each */
};

struct calls {
	const struct engine *engine;
	const struct corpus *corpus; /* its distinct strings are used */
	cistern_config config;
	enum calls_case first; /* CALLS_INSERT, CALLS_INSERT_SHARED, CALLS_HIT or CALLS_HOT */
};

/* Whether a case has figures behind it that come out of the same process. */
static inline bool calls_has_second(enum calls_case first)
{
	return first == CALLS_HIT || first == CALLS_HOT;
}

/* One process; a hit case fills in figures of its own and, behind it, the inserting one. */
bool calls_run(const struct calls *c, struct calls_figures figures[2]);

#endif /* BENCH_CALLS_H */
