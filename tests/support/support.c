/* SPDX-License-Identifier: MIT */
/*
 * support.c - running a Check suite, seeds, guarded memory, worker threads. See support.h.
 */
#include "support.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#define TIMEOUT_SECONDS 60

static uint64_t run_seed;

/* ---------------------------------------------------------------- running */

/* splitmix64: every state gives another number, so streams that differ in one bit have nothing in common. */
static uint64_t mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static bool number_of(const char *text, uint64_t *number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*number = strtoull(text, &end, 0);
	return errno == 0 && *end == '\0';
}

static bool choose_seed(void)
{
	const char *text = getenv("TEST_SEED");
	struct timespec now;

	if (text)
		return number_of(text, &run_seed);
	clock_gettime(CLOCK_REALTIME, &now);
	run_seed = mix(((uint64_t)now.tv_sec << 30) ^ (uint64_t)now.tv_nsec ^
		       ((uint64_t)getpid() << 44)) >> 32; /* short enough to type */
	return true;
}

int support_main(int argc, char **argv, const char *name, Suite *(*make)(void))
{
	const char *tap = getenv("TEST_TAP");
	SRunner *runner;
	int run, failed;

	if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
		fprintf(stderr, "usage: %s [CASE]\n", name);
		return 2;
	}
	if (!choose_seed()) {
		fprintf(stderr, "%s: TEST_SEED is not a number\n", name);
		return 2;
	}
	/* Read by Check when the cases are made; a value from outside wins. */
	setenv("CK_TIMEOUT_MULTIPLIER", SANITIZED ? "10" : "1", 0);

	/* A forked case flushes what it inherited in stdout's buffer once more, so leave nothing there. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("# %s: TEST_SEED=%llu\n", name, (unsigned long long)run_seed);

	runner = srunner_create(make());
	if (tap)
		srunner_set_tap(runner, "-");
	srunner_run(runner, NULL, argc == 2 ? argv[1] : NULL, tap ? CK_SILENT : CK_NORMAL);
	run = srunner_ntests_run(runner);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);

	if (run == 0) {
		fprintf(stderr, "%s: no such case: %s\n", name, argc == 2 ? argv[1] : "(empty suite)");
		return 2;
	}
	return failed != 0 && !tap;
}

void support_add_slow(Suite *suite, const TTest *test, unsigned seconds)
{
	TCase *tcase = tcase_create(test->name);

	tcase_set_timeout(tcase, seconds);
	tcase_add_test(tcase, test);
	suite_add_tcase(suite, tcase);
}

void support_add(Suite *suite, const TTest *test)
{
	support_add_slow(suite, test, TIMEOUT_SECONDS);
}

size_t support_scaled(size_t n)
{
	const char *text = getenv("TEST_SCALE");
	uint64_t percent = SANITIZED ? 20 : 100;
	uint64_t scaled;

	if (text && !number_of(text, &percent))
		ck_abort_msg("TEST_SCALE is not a number");
	scaled = n * percent / 100;
	return scaled ? (size_t)scaled : 1;
}

size_t support_stride(void)
{
	size_t percent = support_scaled(100);

	return percent < 100 ? 100 / percent : 1;
}

/* ---------------------------------------------------------------- random numbers */

uint64_t support_seed(void)
{
	return run_seed;
}

support_rng support_rng_start(uint64_t stream)
{
	return (support_rng){mix(run_seed ^ mix(stream))};
}

uint64_t support_rng_next(support_rng *rng)
{
	uint64_t number = mix(rng->state);

	rng->state += UINT64_C(0x9e3779b97f4a7c15);
	return number;
}

uint64_t support_rng_below(support_rng *rng, uint64_t bound)
{
	/* The bias towards small numbers is below bound / 2^64, which no test here can see. */
	return support_rng_next(rng) % bound;
}

/* ---------------------------------------------------------------- guarded memory */

/* Whole pages that hold len bytes, at least one, so that the guard page has a neighbour. */
static size_t guarded_size(size_t len)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return len ? (len + page - 1) / page * page : page;
}

char *support_guarded(const void *bytes, size_t len)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = guarded_size(len);
	char *base = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* Only a failing assertion is written here: a passing one would move the place Check reports on a crash. */
	if (base == MAP_FAILED || mprotect(base + size, page, PROT_NONE) != 0)
		ck_abort_msg("guarded memory of %zu bytes: %s", size + page, strerror(errno));
	if (len)
		memcpy(base + size - len, bytes, len);
	return base + size - len;
}

void support_guarded_free(char *copy, size_t len)
{
	size_t size = guarded_size(len);

	munmap(copy + len - size, size + (size_t)sysconf(_SC_PAGESIZE));
}

/* ---------------------------------------------------------------- threads */

typedef struct thread {
	support_worker worker;
	void (*fn)(support_worker *worker);
	pthread_barrier_t *start;
	pthread_t id;
} thread;

static void *thread_main(void *arg)
{
	thread *t = arg;

	pthread_barrier_wait(t->start);
	t->fn(&t->worker);
	return NULL;
}

void support_record(support_worker *worker, const char *file, int line, const char *what)
{
	if (worker->failed)
		return;
	worker->failed = true;
	snprintf(worker->failure, sizeof(worker->failure), "worker %u: %s:%d: %s", worker->index, file,
		 line, what);
}

void support_run(unsigned count, void (*fn)(support_worker *worker), void *arg)
{
	thread *threads = calloc(count, sizeof(*threads));
	pthread_barrier_t start;
	char failure[sizeof(threads->worker.failure)] = "";

	if (!threads || pthread_barrier_init(&start, NULL, count) != 0)
		ck_abort_msg("no memory for %u workers", count);
	for (unsigned i = 0; i < count; i++) {
		threads[i] = (thread){.worker = {.index = i, .count = count, .arg = arg,
						 .rng = support_rng_start(i)},
				      .fn = fn, .start = &start};
		if (pthread_create(&threads[i].id, NULL, thread_main, &threads[i]) != 0)
			ck_abort_msg("worker %u of %u cannot be started", i, count);
	}
	for (unsigned i = 0; i < count; i++) {
		pthread_join(threads[i].id, NULL);
		if (threads[i].worker.failed && !failure[0])
			memcpy(failure, threads[i].worker.failure, sizeof(failure));
	}
	pthread_barrier_destroy(&start);
	free(threads);
	if (failure[0])
		ck_abort_msg("%s", failure);
}
