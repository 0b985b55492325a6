/* SPDX-License-Identifier: MIT */
/*
 * trial.h - one round of cistern-builder: every way over the same names, all results compared.
 */
#ifndef BENCH_TRIAL_H
#define BENCH_TRIAL_H

#include "ways.h"

enum { TRIAL_WAYS_MAX = 16 };

struct trial {
	const struct corpus *corpus;
	const cistern_config *config;
	uint64_t seed;
	size_t pieces;
	const struct ways_length *length;
	const struct way *only; /* NULL: all */
	bool reversed;          /* the last way first */
	unsigned pass_us;       /* repeat each way for so long ... */
	uint64_t passes;        /* ... or, unless 0, so often */
};

/* For a name. */
struct trial_figures {
	double ns, allocations, allocated;
};

struct trial_outcome {
	struct trial_figures of[TRIAL_WAYS_MAX]; /* in the order of way_at */
	double bytes;                            /* mean length of the names */
	uint64_t names;                          /* a pass */
	bool counted;                            /* allocations could be */
};

/* For harness_child: takes a struct trial and leaves a struct trial_outcome. */
void trial_run(void *trial, void *outcome);

/*
 * Compares all that a way makes of the set, byte by byte, and counts its allocations; false where
 * they cannot be counted. A wrong answer ends the program with one line.
 */
bool trial_verify(const struct way *way, struct ways_set *set, const cistern_config *config,
		  struct trial_figures *out);

/*
 * One pass of a way over the set, which is what is measured; adds the names that came out to *good.
 * A function that others can name, so that a tool can be told to count instructions in it and below
 * only.
 */
void builder_pass(const struct way *way, const struct ways_set *set, cistern *c, uint64_t *good)
    __attribute__((noinline));

#endif /* BENCH_TRIAL_H */
