/* SPDX-License-Identifier: MIT */
/*
 * machine.h - a small machine inside the test, on which threads of the library run one at a time,
 * switched where a seed says, and on which a load may return any older value that C11 allows.
 *
 * Nothing in lib/ knows of it. The library is compiled once more with -fsanitize=thread, by which
 * the compiler reports every access to memory, atomics with their order, to functions that
 * instrument.c defines in the place of ThreadSanitizer's own; seam.h redirects locks and system
 * calls.
 *
 *   threads.c     whose turn it is: at each atomic access, lock and system call
 *   memory.c      what a load returns: histories of atomic variables, clocks, races of plain data
 *   instrument.c  the compiler's calls
 *   seam.c        locks, system calls, memcpy and its kin
 *
 * What it explores is a subset of what C11 allows: stores reach the order of modification as they
 * are executed, and no load sees a store of the future. What it reports is an error in any case.
 *
 * A suite is a scenario that runs once for each schedule:
 *
 *	static void scenario(void *arg) { make an interner; machine_run(3, work, ...); look; drop }
 *	machine_explore(support_scaled(500), scenario, NULL);
 *
 * A failure names its schedule: TEST_SEED=N TEST_SCHEDULE=I and the case run that one again.
 */
#ifndef TESTS_STRESS_MACHINE_H
#define TESTS_STRESS_MACHINE_H

#include "support.h"

enum {
	MACHINE_THREADS = 6, /* that of the test, which is number 0, and its workers */
	MACHINE_PAGE = 256   /* so that small tables have whole pages, and lose them */
};

/* Runs the scenario under so many schedules, or the one of TEST_SCHEDULE. Fails the test at the
 * first schedule that fails. */
void machine_explore(size_t schedules, void (*scenario)(void *arg), void *arg);

/* The same with a process for each schedule: for what a process has once. */
void machine_explore_apart(size_t schedules, void (*scenario)(void *arg), void *arg);

/* Runs it under the schedule with that number; returns how it failed, or NULL. */
const char *machine_try(size_t number, void (*scenario)(void *arg), void *arg);

/*
 * For a scenario: runs fn on count workers, one at a time. What the caller did before is known to
 * all of them, what they did is known to the caller afterwards. Their random numbers come from the
 * schedule.
 */
void machine_run(unsigned count, void (*fn)(support_worker *worker), void *arg);

/* For a scenario's own thread: records a failure unless condition holds; gives condition. */
#define machine_expect(condition)                                                                  \
	((condition) ? true : (machine_fail("%s:%d: %s", __FILE__, __LINE__, #condition), false))
void machine_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether this schedule has failed: nothing that follows means anything. */
bool machine_failed(void);

/* A number below bound that depends on the schedule. */
uint64_t machine_random(uint64_t bound);

/* Memory of the scenario itself whose plain accesses are to be checked; atomics always are. */
void machine_track(const void *p, size_t size);

/* For loops that wait for another worker. */
void machine_yield(void);

/* Notes that this thread reads memory: what it finds must have been written before, in the sense of
 * C11. */
void machine_read(const void *p, size_t size);

/* Whether this thread knows that the memory at p was made accessible. */
bool machine_committed(const void *p);

/*
 * Moments, for histories: what each thread has done is numbered. machine_now gives the number of
 * this thread, known[] of each thread what this one knows of.
 */
uint64_t machine_now(void);
void machine_known(uint64_t known[MACHINE_THREADS]);

#endif
