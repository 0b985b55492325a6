/* SPDX-License-Identifier: MIT */
/*
 * lock.h - the locks of Cistern: one type, two policies, ranks. See lock.c.
 */
#ifndef CISTERN_LIB_LOCK_H
#define CISTERN_LIB_LOCK_H

#include "cistern.h"

#include <pthread.h>

/*
 * The order in which one thread may take locks: upwards only. Shards are ranked among themselves by
 * index, so shard i of an interner has LOCK_RANK_SHARD + i.
 */
enum {
	LOCK_RANK_DEFAULT = 1,
	LOCK_RANK_REGISTRY = 2,
	LOCK_RANK_SHARD = 16,
	LOCK_RANK_RANGE = 1 << 20
};

struct lock {
	union {
		pthread_mutex_t mutex;
		unsigned spin; /* a ck_spinlock_fas_t, which only lock.c may name */
	} u;
	cistern_lock policy; /* immutable */
	unsigned rank;       /* immutable */
};

/* For locks that must work before any constructor has run. */
#define LOCK_STATIC_INIT(rank)                                                                    \
	{                                                                                         \
		{PTHREAD_MUTEX_INITIALIZER}, CISTERN_LOCK_MUTEX, rank                             \
	}

void lock_init(struct lock *lock, cistern_lock policy, unsigned rank);
void lock_destroy(struct lock *lock);

/* Takes the lock. True when it was busy and the caller had to wait. */
bool lock_acquire(struct lock *lock);
void lock_release(struct lock *lock);

/*
 * For the fork handlers, which take every lock of the library: without the check of ranks, since theirs
 * are the same in each interner. In the child the locks are made afresh.
 */
void lock_fork_acquire(struct lock *lock);
void lock_fork_release(struct lock *lock);
void lock_fork_child(struct lock *lock);

#endif
