/* SPDX-License-Identifier: MIT */
/*
 * ticks.h - a clock for single calls: the processor's own counter where it can be relied on, else
 * the system's clock.
 *
 * Reading the counter takes some 10 nanoseconds with its fences, clock_gettime twice that and
 * more. What a reading costs is measured by whoever times calls, around a call that does nothing.
 */
#ifndef BENCH_TICKS_H
#define BENCH_TICKS_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#define TICKS_HAVE_COUNTER 1
#endif

#include "harness.h"

struct ticks {
	bool counter;       /* the processor's counter, not clock_gettime */
	double ns_per_tick; /* measured against CLOCK_MONOTONIC */
	char about[160];    /* for people */
};

/* What ticks_now reads. Set by ticks_start, before there are threads. */
extern struct ticks ticks;

/*
 * Chooses and calibrates. The counter is taken where allowed, where the processor says that it is
 * invariant (it runs at one speed and does not stop), where the system has not found it unstable,
 * and where two calibrations agree.
 */
void ticks_start(bool allow_counter);

/* The fences keep the processor from moving the reading before or behind what is timed. */
static inline uint64_t ticks_now(void)
{
#ifdef TICKS_HAVE_COUNTER
	if (ticks.counter) {
		_mm_lfence();
		uint64_t t = __rdtsc();
		_mm_lfence();
		return t;
	}
#endif
	return harness_now();
}

static inline double ticks_ns(uint64_t n)
{
	return (double)n * ticks.ns_per_tick;
}

#endif /* BENCH_TICKS_H */
