/* SPDX-License-Identifier: MIT */
/*
 * harness.h - measuring: a clock, threads that start together, a fresh process for each
 * measurement, resident memory, medians, and progress for the one who waits.
 */
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Nanoseconds of a clock that never goes back. */
uint64_t harness_now(void);

/* Processors that this process may use. */
unsigned harness_cpus(void);

/* Memory of this process in bytes, as smaps_rollup and status tell it. Ends the program where it
 * cannot be read: no memory at all would be the best of all results. */
struct harness_memory {
	uint64_t rss;
	uint64_t pss;
	uint64_t huge; /* AnonHugePages */
	uint64_t peak; /* VmHWM */
};
void harness_memory_read(struct harness_memory *m);

/* Zeroed pages of a mapping of its own, already resident. Ends the program where there are none. */
void *harness_pages(size_t size);
void harness_pages_free(void *p, size_t size);

/*
 * What harness_threads measures: time on the wall (the default), or the processor time of the
 * thread that took most of it. The latter leaves out what other processes took, and also what
 * threads waited for each other.
 */
enum harness_clock { HARNESS_WALL, HARNESS_CPU };
void harness_use_clock(enum harness_clock clock);
enum harness_clock harness_clock_used(void);

/* Nanoseconds of that clock, for a single thread that measures itself. */
uint64_t harness_clock_now(void);

/* What happened to the calling thread so far (on Linux; elsewhere to its process). */
struct harness_events {
	uint64_t switches; /* that it lost its processor, without having waited for anything */
	uint64_t faults;   /* pages that were touched first, or again */
};
void harness_events_read(struct harness_events *e);

/*
 * Runs fn on each of n threads and returns the nanoseconds from when the first began to when the
 * last ended. All wait for each other before they begin. fn gets its thread's number and arg.
 */
uint64_t harness_threads(unsigned n, void (*fn)(unsigned thread, void *arg), void *arg);

/*
 * Touches 64 MiB, which is more than any engine takes for few strings, and so many bytes more, in
 * huge pages where there are some, and gives them back. Hosts take free
 * memory from their virtual machines (free page reporting, balloons); who touches it next pays
 * milliseconds for a huge page, and without this it would be chance whose measurement that is.
 */
void harness_warm(size_t more);

/*
 * Runs fn in a forked child that has a heap, a peak and an interner of its own, and copies what it
 * left in result back. The child may print one line and exit; then, or where it is killed, false is
 * returned after one line about it.
 */
bool harness_child(void (*fn)(void *arg, void *result), void *arg, void *result, size_t size);

/* Starts n threads that do nothing: stacks and what else threads leave behind must be there before
 * memory is read. */
void harness_threads_leave(unsigned n);

/* A copy of fd that executed programs do not inherit and whose number is none of their usual ones;
 * -1 with errno. */
int harness_descriptor(int fd);

/* How many threads wanted a processor in the last minute; NaN where the system does not tell. That
 * of when the bench began has to be noted then, since its own threads count afterwards. */
double harness_load(void);
void harness_note_load(void);
double harness_load_at_start(void);

/* How many processors' worth of arithmetic all processors give together at the moment. The host of a
 * virtual machine may have less than it lists, and then nothing speeds up with threads. Takes some
 * 50 ms; NaN where the child that tries it fails. */
double harness_parallel(void);

/* Order statistics. The array is sorted in place; n is at least 1. */
struct harness_spread {
	double q1, median, q3;
};
struct harness_spread harness_spread_of(double *values, size_t n);

/* A series, and what it is of another one in the same rounds. known: it has no NaN; paired: so that
 * there is a ratio in each round, since the other is above 0 in all of them. base: NULL for none.
 */
struct harness_pair {
	struct harness_spread own, ratio;
	bool known, paired;
};
struct harness_pair harness_pair_of(const double *own, const double *base, size_t n);

/* Who is i-th of n in a round. Who comes first may find a colder or a quieter machine, so every
 * other round goes backwards. */
size_t harness_in_turn(size_t i, size_t n, unsigned round);

/* Standard deviation of a sample; 0 for a single value. */
double harness_deviation(const double *values, size_t n);

/* Progress with the time left, on stderr, if that is a terminal. */
struct harness_progress {
	const char *what;
	size_t done, total;
	uint64_t start, shown;
	bool on;
};
void harness_progress_start(struct harness_progress *p, const char *what, size_t total);
void harness_progress_step(struct harness_progress *p);
void harness_progress_end(struct harness_progress *p);

#endif /* BENCH_HARNESS_H */
