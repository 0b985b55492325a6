/* SPDX-License-Identifier: MIT */
/*
 * ticks.c - choosing and calibrating the clock for single calls. See ticks.h.
 *
 * Invariant: CPUID 80000007h, EDX bit 8 (AMD64 Architecture Programmer's Manual, volume 3, appendix
 * E.4; Intel SDM, volume 3, 18.17.1). Linux shows the same bit as constant_tsc and nonstop_tsc, and
 * takes tsc out of its list of clock sources when it finds that processors disagree.
 *
 * It grows by counters of other processors.
 */
#include "ticks.h"

#include <stdio.h>
#include <string.h>

#ifdef TICKS_HAVE_COUNTER
#include <cpuid.h>
#endif

struct ticks ticks = {.counter = false, .ns_per_tick = 1};

#ifdef TICKS_HAVE_COUNTER

static bool invariant(void)
{
	unsigned a, b, c, d;
	return __get_cpuid(0x80000007, &a, &b, &c, &d) && d & 1 << 8;
}

/* What the system has against it; true where the system does not tell. */
static bool trusted(void)
{
	char line[128] = "";
	FILE *f = fopen("/sys/devices/system/clocksource/clocksource0/available_clocksource", "r");
	if (!f)
		return true;
	bool read = fgets(line, sizeof line, f) != NULL;
	fclose(f);
	return !read || strstr(line, "tsc");
}

/* Both clocks at one moment: of several pairs the one that was read in the shortest time. */
struct moment {
	uint64_t ticks, ns;
};

static struct moment moment_now(void)
{
	struct moment best = {0, 0};
	uint64_t shortest = UINT64_MAX;
	for (int i = 0; i < 32; i++) {
		uint64_t before = ticks_now(), ns = harness_now(), after = ticks_now();
		if (after - before >= shortest)
			continue;
		shortest = after - before;
		best = (struct moment){before + shortest / 2, ns};
	}
	return best;
}

static double calibrated(void)
{
	struct moment start = moment_now(), end;
	while (harness_now() - start.ns < 10000000)
		;
	end = moment_now();
	return (double)(end.ns - start.ns) / (double)(end.ticks - start.ticks);
}

/* Whether two calibrations agree to a thousandth; others may disturb one, so it is tried again. */
static bool calibrate(void)
{
	for (int i = 0; i < 5; i++) {
		double a = calibrated(), b = calibrated();
		ticks.ns_per_tick = (a + b) / 2;
		if (a < b * 1.001 && b < a * 1.001)
			return true;
	}
	return false;
}

#endif

void ticks_start(bool allow_counter)
{
	ticks = (struct ticks){.counter = false, .ns_per_tick = 1};
#ifdef TICKS_HAVE_COUNTER
	/* ticks_now has to read the counter while it is calibrated. */
	ticks.counter = allow_counter && invariant() && trusted();
	ticks.counter = ticks.counter && calibrate();
	if (ticks.counter) {
		snprintf(ticks.about, sizeof ticks.about,
			 "rdtsc between fences, invariant, %.1f ticks a microsecond by "
			 "CLOCK_MONOTONIC",
			 1e3 / ticks.ns_per_tick);
		return;
	}
#endif
	(void)allow_counter;
	ticks.ns_per_tick = 1;
	snprintf(ticks.about, sizeof ticks.about, "clock_gettime(CLOCK_MONOTONIC)");
}
