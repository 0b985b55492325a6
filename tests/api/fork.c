/* SPDX-License-Identifier: MIT */
/*
 * fork.c - fork (G7): children of a busy parent use what it had and make their own at once, while
 * interners come and go, and under locks of the program's own.
 */
#include "cases.h"
#include "child.h"
#include "figures.h"
#include "many_locks.h"
#include "support.h"
#include "tools.h"
#include "variants.h"

#include <cistern.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---------------------------------------------------------------- busy parents */

static struct load {
	cistern *c;
	bool full; /* a small range that is soon used up: then every insert asks for memory and gets
		      none */
	atomic_bool done;
	const char *sentinels[64];
} load;

static void make_load(support_worker *worker)
{
	uint64_t i;

	for (i = 0; !atomic_load(&load.done); i++) {
		char data[64];
		int len = snprintf(data, sizeof(data), "load %u %llu", worker->index,
				   (unsigned long long)i);
		cistern_span in[4] = {{data, (size_t)len}, {data, 3}, {data, 4}, {data, 6}};
		const char *out[4];

		if (load.full) {
			char large[5000];

			/* long strings ask for memory before they have their shard's lock */
			memset(large, 'l', sizeof(large));
			memcpy(large, data, (size_t)len);
			cistern_intern(load.c, i % 8 ? large : data,
				       i % 8 ? sizeof(large) : (size_t)len);
			continue;
		}
		/* until the interner is of some size; then fresh strings only now and then */
		if (i < 30000 || i % 64 == 0)
			support_expect(worker, cistern_intern(load.c, data, (size_t)len) != NULL);
		support_expect(worker, cistern_intern_batch(load.c, in, out, 4) == 4);
		cistern_find(cistern_default(), data, (size_t)len);
		if (i % 200 == 0)
			cistern_intern(cistern_default(), data, (size_t)len);
	}
}

/*
 * What a child does at once. No stdio and no malloc, which may have been in another thread's hands:
 * 0, or the line that was wrong.
 */
#define WRONG_UNLESS(condition)                                                                    \
	do {                                                                                       \
		if (!(condition))                                                                  \
			return __LINE__ & 0x7f ? __LINE__ & 0x7f : 1;                              \
	} while (0)

static int work_in_child(int generation)
{
	cistern_stats stats = {.size = sizeof(stats)};
	char data[] = "child 0000", large[5000];
	cistern_span in[2] = {{data, 10}, {"child", 5}};
	const char *out[2], *str;
	int i;

	for (i = 0; i < 64; i++)
		WRONG_UNLESS(cistern_find(load.c, load.sentinels[i],
					  cistern_len(load.sentinels[i])) == load.sentinels[i]);
	for (i = 0; i < 500; i++) {
		data[6] = (char)('a' + generation);
		data[7] = (char)('0' + i / 100);
		data[8] = (char)('0' + i / 10 % 10);
		data[9] = (char)('0' + i % 10);
		WRONG_UNLESS(!cistern_find(load.c, data, 10));
		str = cistern_intern(load.c, data, 10);
		WRONG_UNLESS(str ? cistern_find(load.c, data, 10) == str
				 : load.full && errno == ENOSPC);
		WRONG_UNLESS(cistern_intern(cistern_default(), data, 10));
	}
	for (i = 0; i < (int)sizeof(large); i++)
		large[i] = (char)('a' + generation);
	WRONG_UNLESS(cistern_intern(load.c, large, sizeof(large)) ||
		     (load.full && errno == ENOSPC));
	if (load.full)
		return 0;
	WRONG_UNLESS(cistern_intern_batch(load.c, in, out, 2) == 2 && out[0] == str);
	WRONG_UNLESS(cistern_stats_get(load.c, &stats) == 0);
	WRONG_UNLESS(stats.strings > 500);
	WRONG_UNLESS(figures_balance(&stats)); /* which speaks only where it is wrong */
	if (!UNDER_ASAN) {                     /* whose malloc is not safe in the child */
		cistern *fresh = cistern_create(NULL);

		WRONG_UNLESS(fresh && cistern_intern_cstr(fresh, "fresh"));
		cistern_destroy(fresh);
	}
	return 0;
}

static int exit_code_of_handler;

static void intern_at_childs_exit(void)
{
	const char *str = cistern_intern_cstr(cistern_default(), "at the child's exit");

	if (!str || cistern_find_cstr(cistern_default(), "at the child's exit") != str)
		_exit(253);
	if (exit_code_of_handler)
		_exit(exit_code_of_handler);
}

/*
 * Through exit, with its handlers, or at once. Sanitizers have handlers of their own that expect
 * all threads to be there.
 */
static _Noreturn void end_child(int wrong, bool at_once)
{
	if (at_once || UNDER_ASAN || UNDER_TSAN)
		_exit(wrong);
	exit_code_of_handler = wrong;
	exit(wrong);
}

/* Forks; the child works, has a child of its own do the same, and answers for both. */
static int generations(int generation, bool at_once)
{
	pid_t pid = fork();
	int status = 0;

	if (pid < 0)
		return 255;
	if (pid == 0) {
		int wrong;

		child_deadline(30);
		wrong = work_in_child(generation);
		if (!wrong && generation == 0)
			wrong = generations(1, !at_once);
		end_child(wrong, at_once);
	}
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return 254;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status) % 100;
}

static void fork_under_load(support_worker *worker)
{
	/* a full interner takes a lock for each string, so nearly all are always held */
	size_t i, children = support_scaled(load.full ? 100 : 30);

	if (worker->index != 0) {
		make_load(worker);
		return;
	}
	for (i = 0; i < children; i++) {
		int answer = generations(0, i % 2);

		if (answer)
			fprintf(stderr,
				"child %zu: exit code %d is the line (mod 128) that was wrong\n", i,
				answer);
		if (!support_expect(worker, answer == 0))
			break;
		usleep(500);
	}
	atomic_store(&load.done, true);
}

START_TEST(children_of_a_busy_parent_intern_at_once)
{
	cistern_config config = variant(_i % 2 ? 4 : 0);
	int i;

	ck_assert_ptr_nonnull(cistern_default());
	config.shards = _i / 2 ? 16 : 1;
	load.full = _i >= 4;
	if (load.full) {
		config.max_bytes = 1 << 18;
		config.slab_size = 256;
	}
	load.c = cistern_create(&config);
	ck_assert_ptr_nonnull(load.c);
	for (i = 0; i < 64; i++) {
		char data[32];

		load.sentinels[i] = cistern_intern(
		    load.c, data, (size_t)snprintf(data, sizeof(data), "sentinel %d", i));
	}
	ck_assert_int_eq(atexit(intern_at_childs_exit), 0);
	support_run(load.full ? 6 : 4, fork_under_load, NULL);
	cistern_destroy(load.c);
}
END_TEST

static void fork_while_they_come_and_go(support_worker *worker)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	size_t i, children = support_scaled(100);

	config.max_bytes = 1 << 20; /* quickly made */
	while (worker->index != 0 && !atomic_load(&load.done)) {
		cistern *c = cistern_create(&config);

		if (!support_expect(worker, c && cistern_intern_cstr(c, "short-lived")))
			return;
		cistern_destroy(c);
	}
	for (i = 0; worker->index == 0 && i < children; i++) {
		pid_t pid = fork();
		int status = 0;

		if (pid == 0) {
			cistern *c;

			child_deadline(30);
			c = cistern_create(&config);
			_exit(!(c && cistern_intern_cstr(c, "the child's")));
		}
		if (!support_expect(worker, pid > 0 && waitpid(pid, &status, 0) == pid) ||
		    !support_expect(worker, WIFEXITED(status) && WEXITSTATUS(status) == 0))
			break;
	}
	if (worker->index == 0)
		atomic_store(&load.done, true);
}

/* What the handlers lock they unlock: no more, and no less, whoever is made or destroyed meanwhile.
 */
START_TEST(fork_while_interners_come_and_go)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	cistern *c;

	config.shards = 16384; /* keeps the handlers busy */
	c = cistern_create(&config);
	ck_assert_ptr_nonnull(c);
	support_run(4, fork_while_they_come_and_go, NULL);
	cistern_destroy(c);
}
END_TEST

/* The parent's interner is not the child's: what one adds the other does not see. */
START_TEST(parent_and_child_are_apart_after_fork)
{
	cistern *c = cistern_create(NULL);
	const char *str = cistern_intern_cstr(c, "common");
	int status;
	pid_t pid;

	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(
		    !(cistern_find_cstr(c, "common") == str && cistern_intern_cstr(c, "child's")));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	ck_assert_ptr_null(cistern_find_cstr(c, "child's"));
	ck_assert_uint_eq(figures(c).strings, 1);
	figures_check(c);
	cistern_destroy(c);
}
END_TEST

/* ---------------------------------------------------------------- locks of the program's own */

/* It is interned under this one, which is free in children. */
static pthread_mutex_t programs_lock = PTHREAD_MUTEX_INITIALIZER;

static void lock_before_fork(void)
{
	pthread_mutex_lock(&programs_lock);
}

static void unlock_after_fork(void)
{
	pthread_mutex_unlock(&programs_lock);
}

/* Before main, and before the program uses the library. */
__attribute__((__constructor__)) static void install_handlers(void)
{
	pthread_atfork(lock_before_fork, unlock_after_fork, unlock_after_fork);
}

static void intern_under_a_lock(support_worker *worker)
{
	cistern *c = worker->arg;
	size_t i, children = support_scaled(500);
	uint64_t n = worker->index;

	if (worker->index == 0) {
		for (i = 0; i < children; i++) {
			pid_t pid = fork();
			int status = 0;

			if (pid == 0)
				_exit(cistern_intern_cstr(c, "the child's") ? 0 : 1);
			if (!support_expect(worker, pid > 0 && waitpid(pid, &status, 0) == pid &&
							status == 0))
				break;
		}
		atomic_store(&load.done, true);
		return;
	}
	for (; !load.done; n += worker->count) {
		pthread_mutex_lock(&programs_lock);
		support_expect(worker, cistern_intern(c, (const char *)&n, sizeof(n)) != NULL);
		pthread_mutex_unlock(&programs_lock);
	}
}

/* Its handler was installed before the program's first call of the library. */
START_TEST(a_program_may_intern_under_a_lock_that_it_takes_before_fork)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	cistern *c;

	config.shards = 1;
	c = cistern_create(&config);
	ck_assert_ptr_nonnull(c);
	atomic_store(&load.done, false);
	support_run(3, intern_under_a_lock, c);
	cistern_destroy(c);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("fork");

	cases_add_loop(s, children_of_a_busy_parent_intern_at_once, 6);
	support_add(s, fork_while_interners_come_and_go);
	support_add(s, parent_and_child_are_apart_after_fork);
	support_add(s, a_program_may_intern_under_a_lock_that_it_takes_before_fork);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "fork", make);
}
