/* SPDX-License-Identifier: MIT */
/*
 * support.h - what every Check suite shares.
 *
 * A test program is a list of behaviours and one line of main:
 *
 *	START_TEST(intern_equal_bytes_gives_same_pointer) { ... } END_TEST
 *
 *	static Suite *make(void)
 *	{
 *		Suite *s = suite_create("intern");
 *		support_add(s, intern_equal_bytes_gives_same_pointer);
 *		return s;
 *	}
 *	int main(int argc, char **argv) { return support_main(argc, argv, "intern", make); }
 *
 * Environment
 *	TEST_SEED=N        repeats a random run; every run prints its seed
 *	TEST_SCALE=P       percent of the usual work (support_scaled); 20 is the default under sanitizers
 *	TEST_SCHEDULE=N    only that schedule of a run on the machine of tests/stress/machine.h
 *	TEST_TAP=1         TAP on stdout for automake's driver; set by "make check"
 *	CK_FORK=no         all cases in one process, for debuggers (no timeouts, a crash ends the run)
 *	CK_TIMEOUT_MULTIPLIER=N   for slow machines and valgrind
 */
#ifndef TESTS_SUPPORT_H
#define TESTS_SUPPORT_H

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A passing assertion tells Check's parent process where it was, in case of a crash: several allocations and a
 * system call, where loops here assert millions of times. So only failing ones do; a crash is reported at
 * the last mark_point(), or at the start of the case.
 */
#undef mark_point
#define mark_point()            (_mark_point)(__FILE__, __LINE__)
#define _mark_point(file, line) ((void)0)

/*
 * Runs the suite, or only the case named in argv[1]. Returns the exit status of the program: 0; 1 when a
 * case failed; 2 for a usage error. Under TEST_TAP failed cases leave the status at 0: the driver
 * counts their lines, and would count the status as one failure more.
 */
int support_main(int argc, char **argv, const char *name, Suite *(*make)(void));

/* Adds one test as a case of its own, so that its name can be given to support_main. */
void support_add(Suite *suite, const TTest *test);

/* The same for a test that may run for that many seconds (60 otherwise; sanitizers get ten times as long). */
void support_add_slow(Suite *suite, const TTest *test, unsigned seconds);

/* How much of n to do here: n * TEST_SCALE / 100, at least 1. */
size_t support_scaled(size_t n);

/* A run that is scaled down takes only every so many-th of cases that are all alike; 1 otherwise. */
size_t support_stride(void);

/* ---------------------------------------------------------------- random numbers */

typedef struct support_rng {
	uint64_t state;
} support_rng;

/* The seed of this run. */
uint64_t support_seed(void);

/* A generator that depends on the seed of the run and on stream only. */
support_rng support_rng_start(uint64_t stream);
uint64_t support_rng_next(support_rng *rng);
/* Between 0 and bound - 1; bound is not 0. */
uint64_t support_rng_below(support_rng *rng, uint64_t bound);

/* ---------------------------------------------------------------- memory that faults when overrun */

/* A copy of len bytes that ends where an unreadable page begins. Never NULL: fails the test instead. */
char *support_guarded(const void *bytes, size_t len);
void support_guarded_free(char *copy, size_t len);

/* ---------------------------------------------------------------- threads */

/*
 * Check's assertions may only be used by the thread that runs the test. Workers therefore record, and
 * support_run asserts for them once all have ended.
 */
typedef struct support_worker {
	unsigned index;    /* 0 .. count - 1 */
	unsigned count;    /* workers in this run */
	void *arg;         /* what support_run was given */
	support_rng rng;   /* a stream of its own */
	bool failed;       /* set by support_expect */
	char failure[240]; /* the first failure */
} support_worker;

/* Runs fn on count threads that start together; fails the test when a worker recorded a failure. */
void support_run(unsigned count, void (*fn)(support_worker *worker), void *arg);

/* Records a failure unless condition holds; gives condition, so that a worker can stop. */
#define support_expect(worker, condition)                                                          \
	((condition) ? true : (support_record(worker, __FILE__, __LINE__, #condition), false))
void support_record(support_worker *worker, const char *file, int line, const char *what);

#endif
