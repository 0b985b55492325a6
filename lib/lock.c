/* SPDX-License-Identifier: MIT */
/*
 * lock.c - mutual exclusion with a choice of policy, counted contention and, in debug builds, checked ranks.
 *
 *   mutex  pthread_mutex_t: sleeps, safe everywhere
 *   spin   ck_spinlock_fas with exponential back-off: cheaper while the holder runs, a waste when it does not
 *
 * Fair locks (ticket, MCS) are left out on purpose: with more threads than processors the next in line is often
 * not running, and everyone waits for it (doc/ARCHITECTURE.md has the figures).
 *
 * This is the only file that includes Concurrency Kit. CK's primitives are inline assembly, which
 * ThreadSanitizer cannot see; the hooks below tell it what they do.
 */
#include "lock.h"

#include <assert.h>
#include <ck_backoff.h>
#include <ck_pr.h>
#include <ck_spinlock.h>

/* The headers are installed for one machine; a cross compiler that finds those of x86 would leave out barriers. */
#if defined(CK_MD_TSO) &&                                                                         \
    (defined(__aarch64__) || defined(__arm__) || defined(__powerpc__) || defined(__riscv))
#error "these headers of Concurrency Kit are for a machine that orders stores, as this one does not"
#endif

#if defined(__SANITIZE_THREAD__)
#define LOCK_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LOCK_TSAN 1
#endif
#endif

#ifdef LOCK_TSAN
#include <sanitizer/tsan_interface.h>
#define TSAN_PRE_LOCK(l, flags)  __tsan_mutex_pre_lock(l, flags)
#define TSAN_POST_LOCK(l, flags) __tsan_mutex_post_lock(l, flags, 0)
#define TSAN_PRE_UNLOCK(l)       __tsan_mutex_pre_unlock(l, 0)
#define TSAN_POST_UNLOCK(l)      __tsan_mutex_post_unlock(l, 0)
#define TSAN_CREATE(l)           __tsan_mutex_create(l, __tsan_mutex_not_static)
#define TSAN_DESTROY(l)          __tsan_mutex_destroy(l, __tsan_mutex_not_static)
#define TSAN_TRY                 __tsan_mutex_try_lock
#define TSAN_TRY_FAILED          (__tsan_mutex_try_lock | __tsan_mutex_try_lock_failed)
#else
#define TSAN_PRE_LOCK(l, flags)  ((void)0)
#define TSAN_POST_LOCK(l, flags) ((void)0)
#define TSAN_PRE_UNLOCK(l)       ((void)0)
#define TSAN_POST_UNLOCK(l)      ((void)0)
#define TSAN_CREATE(l)           ((void)0)
#define TSAN_DESTROY(l)          ((void)0)
#endif

#define MUTEX_SPINS 16u /* tries with growing pauses, 136 in all: a few microseconds */

_Static_assert(sizeof(ck_spinlock_fas_t) == sizeof(unsigned), "struct lock has room for CK's lock");
_Static_assert(_Alignof(ck_spinlock_fas_t) <= _Alignof(unsigned), "and at the right alignment");

static ck_spinlock_fas_t *spin_of(struct lock *lock)
{
	return (ck_spinlock_fas_t *)(void *)&lock->u.spin;
}

#ifdef CISTERN_DEBUG
/*
 * The ranks this thread holds, in the order taken. A thread holds at most a default lock, the registry,
 * one shard and one range; reader calls never come here, so they keep free of thread-local storage.
 */
static _Thread_local unsigned held[4];
static _Thread_local unsigned nheld;

static void rank_push(const struct lock *lock)
{
	assert(nheld < sizeof held / sizeof *held);
	assert(nheld == 0 || held[nheld - 1] < lock->rank);
	held[nheld++] = lock->rank;
}

static void rank_pop(const struct lock *lock)
{
	assert(nheld > 0 && held[nheld - 1] == lock->rank);
	nheld--;
}
#else
static void rank_push(const struct lock *lock)
{
	(void)lock;
}

static void rank_pop(const struct lock *lock)
{
	(void)lock;
}
#endif

void lock_init(struct lock *lock, cistern_lock policy, unsigned rank)
{
	lock->policy = policy;
	lock->rank = rank;
	if (policy == CISTERN_LOCK_SPIN) {
		ck_spinlock_fas_init(spin_of(lock));
		TSAN_CREATE(&lock->u.spin);
	} else {
		pthread_mutex_init(&lock->u.mutex, NULL); /* cannot fail with default attributes */
	}
}

void lock_destroy(struct lock *lock)
{
	if (lock->policy == CISTERN_LOCK_SPIN)
		TSAN_DESTROY(&lock->u.spin);
	else
		pthread_mutex_destroy(&lock->u.mutex);
}

static bool spin_acquire(struct lock *lock)
{
	bool waited = false;

	TSAN_PRE_LOCK(&lock->u.spin, TSAN_TRY);
	if (ck_spinlock_fas_trylock(spin_of(lock))) {
		TSAN_POST_LOCK(&lock->u.spin, TSAN_TRY);
	} else {
		TSAN_POST_LOCK(&lock->u.spin, TSAN_TRY_FAILED);
		waited = true;
		TSAN_PRE_LOCK(&lock->u.spin, 0);
		ck_spinlock_fas_lock_eb(spin_of(lock));
		TSAN_POST_LOCK(&lock->u.spin, 0);
	}
	return waited;
}

/* A shard is held for well under a microsecond, and going to sleep and being woken takes many: try for a moment. */
static bool mutex_acquire(struct lock *lock)
{
	for (unsigned i = 0; i <= MUTEX_SPINS; i++) {
		if (pthread_mutex_trylock(&lock->u.mutex) == 0)
			return i > 0;
		for (unsigned pause = 0; pause < i; pause++)
			ck_pr_stall();
	}
	pthread_mutex_lock(&lock->u.mutex);
	return true;
}

void lock_fork_acquire(struct lock *lock)
{
	if (lock->policy == CISTERN_LOCK_SPIN)
		spin_acquire(lock);
	else
		mutex_acquire(lock);
}

void lock_fork_release(struct lock *lock)
{
	if (lock->policy == CISTERN_LOCK_SPIN) {
		TSAN_PRE_UNLOCK(&lock->u.spin);
		ck_spinlock_fas_unlock(spin_of(lock));
		TSAN_POST_UNLOCK(&lock->u.spin);
	} else {
		pthread_mutex_unlock(&lock->u.mutex);
	}
}

void lock_fork_child(struct lock *lock)
{
	lock_fork_release(lock); /* so that ThreadSanitizer's books agree */
	lock_init(lock, lock->policy, lock->rank);
}

bool lock_acquire(struct lock *lock)
{
	rank_push(lock);
	return lock->policy == CISTERN_LOCK_SPIN ? spin_acquire(lock) : mutex_acquire(lock);
}

void lock_release(struct lock *lock)
{
	rank_pop(lock);
	lock_fork_release(lock);
}
