/* SPDX-License-Identifier: MIT */
/*
 * fork.c - the list of all interners, and the handlers that let a forked child use them at once.
 *
 * Before fork every lock of the library is taken, in the order of ranks: the default interner's, the
 * registry's, all shards of all interners, all ranges. So no structure is half-changed in the child. The
 * parent unlocks; the child settles its accounts and makes its locks afresh. vfork, _Fork and raw clone run no
 * handlers and are not covered.
 *
 * A program that interns under a lock of its own, and takes that lock before fork too, needs ours to be taken after
 * it. Handlers before fork run last installed first, so ours are installed as early as can be: when the library is
 * loaded. Handlers of other libraries may run before ours all the same and must find malloc and stdio free: nothing
 * here, and nothing under any lock of the library, calls them.
 */
#include "interner.h"
#include "order.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

static struct lock registry = LOCK_STATIC_INIT(LOCK_RANK_REGISTRY);

/* guarded by registry */
static struct cistern *interners;

static _Atomic bool installed; /* the handlers */

/* This thread is forking: true between the handlers before and after. */
static _Thread_local bool forking;

/* Does one thing to the locks of all interners. Holds: registry. */
static void interner_locks(void (*act)(struct lock *lock))
{
	for (struct cistern *c = interners; c; c = c->next)
		for (uint32_t i = 0; i < interner_shards(c); i++)
			act(&c->shards[i].lock);
	for (struct cistern *c = interners; c; c = c->next) {
		act(&c->common.strings.lock);
		act(&c->common.tables.lock);
	}
}

/* Two threads, or a process that was forked in the midst of it, may have installed twice: then each handler runs twice. */
static void before_fork(void)
{
	if (!forking) {
		lock_fork_acquire(default_lock());
		lock_fork_acquire(&registry);
		interner_locks(lock_fork_acquire);
	}
	forking = true;
}

/* The registry comes last: without it another thread may change the list of what is still to be unlocked. */
static void after_fork(void (*act)(struct lock *lock))
{
	if (forking) {
		interner_locks(act);
		act(&registry);
		act(default_lock());
	}
	forking = false;
}

static void after_fork_parent(void)
{
	after_fork(lock_fork_release);
}

static void after_fork_child(void)
{
	if (forking)
		for (struct cistern *c = interners; c; c = c->next)
			interner_settle(c);
	after_fork(lock_fork_child);
}

bool registry_ready(void)
{
	int error;

	/* acquire: pairs with H1 */
	if (atomic_load_explicit(&installed, ORDER_H1_READY_LOAD))
		return true;
	error = pthread_atfork(before_fork, after_fork_parent, after_fork_child);
	if (error) {
		errno = error;
		return false;
	}
	/* H1: who sees it takes no lock before the handlers are there */
	atomic_store_explicit(&installed, true, ORDER_H1_READY_STORE);
	return true;
}

/* Before constructors without a priority. Where it fails, or another constructor was faster, first use does it. */
__attribute__((constructor(101))) static void install_at_load(void)
{
	(void)registry_ready();
}

void registry_add(struct cistern *c)
{
	lock_acquire(&registry);
	c->next = interners;
	c->link = &interners;
	if (interners)
		interners->link = &c->next;
	interners = c;
	lock_release(&registry);
}

#ifdef CISTERN_DEBUG
/* Does not look into it: its memory may be gone. Holds: registry. */
static bool is_listed(const struct cistern *c)
{
	const struct cistern *listed = interners;

	while (listed && listed != c)
		listed = listed->next;
	return listed != NULL;
}
#endif

void registry_remove(struct cistern *c)
{
	lock_acquire(&registry);
#ifdef CISTERN_DEBUG
	assert(is_listed(c) && "destroyed before, or no interner");
#endif
	*c->link = c->next;
	if (c->next)
		c->next->link = c->link;
	lock_release(&registry);
}
