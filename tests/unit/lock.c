/* SPDX-License-Identifier: MIT */
/* lock.c - tests of lib/lock.c: both policies exclude, say that they were busy, survive fork; ranks are checked. */
#include "unit.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

static const cistern_lock policies[] = {CISTERN_LOCK_MUTEX, CISTERN_LOCK_SPIN};

struct shared {
	struct lock lock;
	uint64_t rounds;
	uint64_t sum;  /* not atomic on purpose */
	unsigned busy; /* threads inside */
	_Atomic unsigned asking;
	bool waited;
};

static void count_up(support_worker *worker)
{
	struct shared *shared = worker->arg;

	for (uint64_t i = 0; i < shared->rounds; i++) {
		lock_acquire(&shared->lock);
		support_expect(worker, shared->busy == 0);
		shared->busy++;
		if (i % 64 == 0)
			sched_yield(); /* lets others find it busy */
		shared->sum++;
		shared->busy--;
		lock_release(&shared->lock);
	}
}

START_TEST(one_thread_at_a_time)
{
	struct shared shared = {.rounds = support_scaled(20000)};

	lock_init(&shared.lock, policies[_i], 16);
	support_run(4, count_up, &shared);
	ck_assert_uint_eq(shared.sum, 4 * shared.rounds);
	lock_destroy(&shared.lock);
}
END_TEST

START_TEST(a_free_lock_is_not_busy)
{
	struct lock lock;

	lock_init(&lock, policies[_i], 16);
	for (int i = 0; i < 100; i++) {
		ck_assert(!lock_acquire(&lock));
		lock_release(&lock);
	}
	lock_destroy(&lock);
}
END_TEST

/* Worker 0 holds the lock until worker 1 has begun to ask for it, and a little longer. */
static void hold_and_ask(support_worker *worker)
{
	static const struct timespec moment = {.tv_nsec = 2000000};
	struct shared *shared = worker->arg;

	if (worker->index == 0) {
		lock_acquire(&shared->lock);
		shared->asking++;
		while (shared->asking < 2)
			sched_yield();
		nanosleep(&moment, NULL);
	} else {
		while (shared->asking < 1)
			sched_yield();
		shared->asking++;
		shared->waited = lock_acquire(&shared->lock);
	}
	lock_release(&shared->lock);
}

START_TEST(a_busy_lock_says_so)
{
	bool waited = false;

	/* the asker may be stopped before it asks, so give it several chances */
	for (int i = 0; i < 200 && !waited; i++) {
		struct shared shared = {.rounds = 1};

		lock_init(&shared.lock, policies[_i], 16);
		support_run(2, hold_and_ask, &shared);
		waited = shared.waited;
		lock_destroy(&shared.lock);
	}
	ck_assert(waited);
}
END_TEST

START_TEST(a_static_lock_works)
{
	static struct lock lock = LOCK_STATIC_INIT(LOCK_RANK_DEFAULT);

	ck_assert(!lock_acquire(&lock));
	lock_release(&lock);
	ck_assert(!lock_acquire(&lock));
	lock_release(&lock);
}
END_TEST

static int use_after_fork(void *arg)
{
	struct shared *shared = arg;

	lock_fork_child(&shared->lock);
	if (lock_acquire(&shared->lock))
		return 1;
	lock_release(&shared->lock);
	return shared->lock.rank == 16 ? 0 : 2;
}

START_TEST(the_child_of_a_fork_gets_a_free_lock)
{
	struct shared shared;
	int status;

	lock_init(&shared.lock, policies[_i], 16);
	lock_fork_acquire(&shared.lock);
	status = unit_child(use_after_fork, &shared);
	lock_fork_release(&shared.lock);
	ck_assert_int_eq(status, 0);
	ck_assert(!lock_acquire(&shared.lock));
	lock_release(&shared.lock);
	lock_destroy(&shared.lock);
}
END_TEST

static void try_for_fork(support_worker *worker)
{
	struct shared *shared = worker->arg;

	for (uint64_t i = 0; i < shared->rounds; i++) {
		if (worker->index == 0)
			lock_fork_acquire(&shared->lock);
		else
			lock_acquire(&shared->lock);
		support_expect(worker, shared->busy == 0);
		shared->busy = 1;
		shared->sum++;
		shared->busy = 0;
		if (worker->index == 0)
			lock_fork_release(&shared->lock);
		else
			lock_release(&shared->lock);
	}
}

/* clang's ThreadSanitizer installs handlers of its own through the same call, and must not be refused. */
#if defined(__clang__)
#if __has_feature(thread_sanitizer)
#define HANDLERS_ARE_FOREIGN 1
#endif
#endif

#ifndef HANDLERS_ARE_FOREIGN
/*
 * Installing the fork handlers when the library is loaded is the first call here, and it fails. (A program's
 * constructors without a priority come later, and so does everything else.)
 */
static struct {
	int calls;
	void (*prepare)(void), (*parent)(void), (*child)(void);
} handlers;

__attribute__((visibility("default"))) int pthread_atfork(void (*prepare)(void), void (*parent)(void),
                                                          void (*child)(void))
{
	if (handlers.calls++ < 2)
		return ENOMEM;
	handlers.prepare = prepare;
	handlers.parent = parent;
	handlers.child = child;
	return 0;
}

START_TEST(fork_handlers_that_were_refused_are_installed_by_a_later_call)
{
	cistern *c;

	ck_assert_int_eq(handlers.calls, 1);
	errno = 0;
	ck_assert_ptr_null(cistern_create(NULL));
	ck_assert_int_eq(errno, ENOMEM);
	ck_assert_ptr_nonnull(c = cistern_create(NULL));
	ck_assert_int_eq(handlers.calls, 3);
	ck_assert_ptr_nonnull(handlers.prepare);
	handlers.prepare();
	ck_assert_int_ne(pthread_mutex_trylock(&c->shards[0].lock.u.mutex), 0);
	handlers.parent();
	ck_assert_ptr_nonnull(cistern_intern_cstr(c, "after fork"));
	/* a second installation makes every handler run twice */
	handlers.prepare();
	handlers.prepare();
	handlers.parent();
	handlers.parent();
	ck_assert_ptr_nonnull(cistern_intern_cstr(c, "after fork again"));
	cistern_destroy(c);
	cistern_destroy(cistern_create(NULL));
	ck_assert_int_eq(handlers.calls, 3);
}
END_TEST

#endif

START_TEST(fork_handlers_exclude_users)
{
	struct shared shared = {.rounds = support_scaled(20000)};

	lock_init(&shared.lock, policies[_i], 16);
	support_run(3, try_for_fork, &shared);
	ck_assert_uint_eq(shared.sum, 3 * shared.rounds);
	lock_destroy(&shared.lock);
}
END_TEST

START_TEST(ranks_may_rise)
{
	struct lock low, middle, high;

	lock_init(&low, CISTERN_LOCK_MUTEX, LOCK_RANK_REGISTRY);
	lock_init(&middle, CISTERN_LOCK_SPIN, LOCK_RANK_SHARD + 65535);
	lock_init(&high, CISTERN_LOCK_MUTEX, LOCK_RANK_RANGE);
	for (int i = 0; i < 3; i++) {
		lock_acquire(&low);
		lock_acquire(&middle);
		lock_acquire(&high);
		lock_release(&high);
		lock_release(&middle);
		lock_acquire(&high);
		lock_release(&high);
		lock_release(&low);
	}
	lock_destroy(&low);
	lock_destroy(&middle);
	lock_destroy(&high);
}
END_TEST

#ifdef CISTERN_DEBUG
static struct lock locks[6];

static void init_locks(void)
{
	for (unsigned i = 0; i < 6; i++)
		lock_init(&locks[i], CISTERN_LOCK_MUTEX, 16 + i);
}

static int take_downwards(void *arg)
{
	(void)arg;
	init_locks();
	lock_acquire(&locks[1]);
	lock_acquire(&locks[0]);
	return 0;
}

static int take_equal(void *arg)
{
	(void)arg;
	init_locks();
	locks[1].rank = locks[0].rank;
	lock_acquire(&locks[0]);
	lock_acquire(&locks[1]);
	return 0;
}

static int release_out_of_order(void *arg)
{
	(void)arg;
	init_locks();
	lock_acquire(&locks[0]);
	lock_acquire(&locks[1]);
	lock_release(&locks[0]);
	return 0;
}

static int take_five(void *arg)
{
	(void)arg;
	init_locks();
	for (int i = 0; i < 5; i++)
		lock_acquire(&locks[i]);
	return 0;
}

START_TEST(wrong_order_of_locks_is_caught_in_debug_builds)
{
	static int (*const wrong[])(void *) = {take_downwards, take_equal, release_out_of_order,
	                                       take_five};
	int status = unit_child(wrong[_i], NULL);

	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGABRT);
}
END_TEST
#endif

/* A case of its own for each index. */
static void add_each(Suite *suite, const TTest *test, int count)
{
	TCase *tcase = tcase_create(test->name);

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, test, 0, count);
	suite_add_tcase(suite, tcase);
}

static Suite *make(void)
{
	Suite *s = suite_create("lock");

	add_each(s, one_thread_at_a_time, 2);
	add_each(s, a_free_lock_is_not_busy, 2);
	add_each(s, a_busy_lock_says_so, 2);
	support_add(s, a_static_lock_works);
	add_each(s, the_child_of_a_fork_gets_a_free_lock, 2);
	add_each(s, fork_handlers_exclude_users, 2);
#ifndef HANDLERS_ARE_FOREIGN
	support_add(s, fork_handlers_that_were_refused_are_installed_by_a_later_call);
#endif
	support_add(s, ranks_may_rise);
#ifdef CISTERN_DEBUG
	add_each(s, wrong_order_of_locks_is_caught_in_debug_builds, 4);
#endif
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "lock", make);
}
