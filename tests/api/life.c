/* SPDX-License-Identifier: MIT */
/*
 * life.c - interners come and go, and so do processes: nothing leaks, fork works under load (G7),
 * and constructors and exit handlers may intern (G10).
 */
#include "cases.h"
#include "child.h"
#include "figures.h"
#include "maps.h"
#include "meminfo.h"
#include "support.h"
#include "tools.h"
#include "variants.h"
#include "words.h"

#include <cistern.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * ThreadSanitizer's search for deadlocks has room for 64 locks that one thread holds, and before a fork a thread
 * holds those of every shard. The order of locks is asserted in --enable-debug builds instead.
 */
const char *__tsan_default_options(void);
__attribute__((__visibility__("default"))) const char *__tsan_default_options(void)
{
	return "detect_deadlocks=0";
}

/* ---------------------------------------------------------------- constructors */

static const char *constructed;

/* A lock of the program's, under which it interns, and which it has free in children. */
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
__attribute__((__constructor__)) static void construct(void)
{
	pthread_atfork(lock_before_fork, unlock_after_fork, unlock_after_fork);
	constructed = cistern_intern_cstr(cistern_default(), "from a constructor");
}

START_TEST(a_constructor_may_intern)
{
	ck_assert_ptr_nonnull(constructed);
	ck_assert_str_eq(constructed, "from a constructor");
	ck_assert_ptr_eq(cistern_find_cstr(cistern_default(), "from a constructor"), constructed);
	ck_assert_ptr_eq(CISTERN_LIT("from a constructor"), constructed);
}
END_TEST

static cistern *used_at_exit;

static void intern_at_exit(void)
{
	if (cistern_intern_cstr(used_at_exit, "at exit") && CISTERN_LIT("literal at exit") &&
	    cistern_find_cstr(cistern_default(), "from a constructor") == constructed)
		puts("interned at exit");
}

static int exit_with_handler(void *arg)
{
	(void)arg;
	CHILD_CHECK(atexit(intern_at_exit) == 0);
	used_at_exit = cistern_create(NULL);
	CHILD_CHECK(used_at_exit);
	return 0;
}

START_TEST(an_exit_handler_may_intern)
{
	struct child child;

	child_run(&child, exit_with_handler, NULL);
	ck_assert(child_ok(&child));
	ck_assert_str_eq(child.out, "interned at exit\n");
	child_free(&child);
}
END_TEST

static atomic_ulong endless_count;

static void *intern_for_ever(void *arg)
{
	unsigned long i;

	for (i = 0;; i++) {
		char data[32];

		cistern_intern(arg, data, (size_t)snprintf(data, sizeof(data), "%lu", i % 100000));
		atomic_fetch_add(&endless_count, 1);
	}
	return NULL;
}

static int exit_under_load(void *arg)
{
	pthread_t thread;
	int i;

	(void)arg;
	for (i = 0; i < 3; i++)
		CHILD_CHECK(pthread_create(&thread, NULL, intern_for_ever, cistern_default()) == 0);
	while (atomic_load(&endless_count) < 3000)
		usleep(100);
	return 0;
}

START_TEST(a_process_may_end_while_threads_intern)
{
	size_t i;

	for (i = 0; i < support_scaled(20); i++) {
		struct child child;

		child_run(&child, exit_under_load, NULL);
		ck_assert(child_ok(&child));
		child_free(&child);
	}
}
END_TEST

/* ---------------------------------------------------------------- create and destroy */

static void use(cistern *c, int strings)
{
	char large[6000];
	int i;

	for (i = 0; i < strings; i++) {
		char data[32];

		ck_assert_ptr_nonnull(
		    cistern_intern(c, data, (size_t)snprintf(data, sizeof(data), "used %d", i)));
	}
	memset(large, 'u', sizeof(large));
	ck_assert_ptr_nonnull(cistern_intern(c, large, sizeof(large)));
	ck_assert_ptr_nonnull(cistern_find_cstr(c, "used 0"));
}

START_TEST(destroying_nothing_does_nothing)
{
	cistern_destroy(NULL);
	cistern_destroy(cistern_default());
	ck_assert_ptr_eq(cistern_find_cstr(cistern_default(), "from a constructor"), constructed);
}
END_TEST

START_TEST(interners_come_and_go)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	static struct maps before, after;
	bool mapped;
	size_t i;

	for (i = 0; i < 3; i++) /* settles what the library keeps for good */
		cistern_destroy(variant_create(_i));
	mapped = maps_read(&before);
	for (i = 0; i < support_scaled(60); i++) {
		cistern *c = variant_create(_i);

		use(c, (int)i * 20 + 1);
		cistern_destroy(c);
		/* one that cannot be made leaves nothing either */
		config.memory_limit = 65536;
		config.shards = 65536;
		ck_assert_ptr_null(cistern_create(&config));
	}
	if (mapped && !UNDER_ASAN && !UNDER_TSAN && !UNDER_VALGRIND) {
		ck_assert(maps_read(&after));
		ck_assert_uint_eq(after.count, before.count);
	}
}
END_TEST

START_TEST(many_interners_live_side_by_side)
{
	enum { MOST = 60 };
	/* each takes 32 GiB of address space, of which valgrind leaves less; or 384 MiB of 4 GiB; or an eighth of a limit */
	const bool few = UNDER_VALGRIND || sizeof(void *) < 8 || meminfo_space() != UINT64_MAX;
	const int many = few ? 4 : MOST;
	cistern *c[MOST];
	const char *kept[MOST];
	int i, k;

	for (i = 0; i < many; i++) {
		char data[32];

		c[i] = variant_create(i % VARIANTS);
		kept[i] =
		    cistern_intern(c[i], data, (size_t)snprintf(data, sizeof(data), "home %d", i));
		ck_assert_ptr_nonnull(kept[i]);
	}
	for (i = 0; i < many; i++) {
		for (k = 0; k < many; k++) {
			char data[32];
			const char *found = cistern_find(
			    c[i], data, (size_t)snprintf(data, sizeof(data), "home %d", k));

			ck_assert_ptr_eq(found, i == k ? kept[i] : NULL);
			ck_assert_int_eq(cistern_owns(c[i], kept[k]), i == k);
		}
	}
	for (i = 0; i < many; i += 2)
		cistern_destroy(c[i]);
	for (i = 1; i < many; i += 2) {
		use(c[i], 50);
		cistern_destroy(c[i]);
	}
}
END_TEST

/* Threads that live on: what they might remember of an interner would outlive it. */
static struct {
	pthread_barrier_t made, used;
	cistern *c;
	size_t rounds;
} succession;

static void use_each(support_worker *worker)
{
	size_t round;

	for (round = 0; round < succession.rounds; round++) {
		char data[32];
		size_t len = (size_t)snprintf(data, sizeof(data), "of thread %u", worker->index);
		cistern *c;
		const char *str;

		if (worker->index == 0)
			succession.c = cistern_create(NULL);
		pthread_barrier_wait(&succession.made);
		c = succession.c;
		support_expect(worker, !cistern_find(c, data, len));
		str = cistern_intern(c, data, len);
		support_expect(worker, str && cistern_find(c, data, len) == str);
		support_expect(worker, cistern_owns(c, str) && memcmp(str, data, len + 1) == 0);
		pthread_barrier_wait(&succession.used);
		if (worker->index == 0)
			cistern_destroy(c);
	}
}

START_TEST(an_interner_knows_nothing_of_one_that_was_there_before)
{
	succession.rounds = support_scaled(200);
	pthread_barrier_init(&succession.made, NULL, 3);
	pthread_barrier_init(&succession.used, NULL, 3);
	support_run(3, use_each, NULL);
}
END_TEST

static void create_and_destroy(support_worker *worker)
{
	size_t i, rounds = support_scaled(60);

	for (i = 0; i < rounds; i++) {
		cistern *c = cistern_create(NULL);
		int k;

		if (!support_expect(worker, c != NULL))
			return;
		for (k = 0; k < 100; k++) {
			char data[32];
			size_t len = (size_t)snprintf(data, sizeof(data), "%d", k);

			support_expect(worker,
				       cistern_intern(c, data, len) == cistern_find(c, data, len));
		}
		cistern_destroy(c);
	}
}

START_TEST(interners_come_and_go_on_all_threads)
{
	support_run(4, create_and_destroy, NULL);
}
END_TEST

/* ---------------------------------------------------------------- fork */

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
	WRONG_UNLESS(stats.payload_bytes + stats.overhead_bytes + stats.slack_bytes +
			 stats.table_bytes + stats.retired_bytes + stats.free_bytes +
			 stats.control_bytes ==
		     stats.committed_bytes);
	if (!UNDER_ASAN) { /* whose malloc is not safe in the child */
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

/* What the handlers lock they unlock: no more, and no less, whoever is made or destroyed meanwhile. */
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
			if (!support_expect(worker, pid > 0 && waitpid(pid, &status, 0) == pid && status == 0))
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
	Suite *s = suite_create("life");

	support_add(s, a_constructor_may_intern);
	support_add(s, an_exit_handler_may_intern);
	support_add(s, a_process_may_end_while_threads_intern);
	support_add(s, destroying_nothing_does_nothing);
	cases_add_loop(s, interners_come_and_go, VARIANTS);
	support_add(s, many_interners_live_side_by_side);
	support_add(s, an_interner_knows_nothing_of_one_that_was_there_before);
	support_add(s, interners_come_and_go_on_all_threads);
	cases_add_loop(s, children_of_a_busy_parent_intern_at_once, 6);
	support_add(s, fork_while_interners_come_and_go);
	support_add(s, parent_and_child_are_apart_after_fork);
	support_add(s, a_program_may_intern_under_a_lock_that_it_takes_before_fork);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "life", make);
}
