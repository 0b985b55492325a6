/* SPDX-License-Identifier: MIT */
/*
 * system.c - lib/os.h and lib/lock.h for the models. Address space is a part of the program's own
 * data, pages are as large as a bucket, random bytes are always the same, there is no environment.
 * Of the fork handlers only that they are there is kept, as glibc does: under a lock of its own.
 * Compiled as the library is, so all this is undone between executions as well.
 */
#include "model.h"

#include "lock.h"
#include "os.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SPACE      ((size_t)1 << 19)
#define SPACE_UNIT ((size_t)4096)

static _Alignas(SPACE_UNIT) char space[SPACE];
static size_t reserved;

bool model_handlers;

void model_system(void)
{
	reserved = 0;
	model_handlers = false;
}

size_t os_page_size(void)
{
	return MODEL_PAGE;
}

unsigned os_cpu_count(void)
{
	return 1;
}

size_t os_address_limit(void)
{
	return SIZE_MAX;
}

void *os_reserve(size_t size)
{
	char *p = space + reserved;

	size = (size + SPACE_UNIT - 1) & ~(SPACE_UNIT - 1);
	if (size > SPACE - reserved) {
		errno = ENOMEM;
		return NULL;
	}
	reserved += size;
	model_reserve(p, size);
	return p;
}

void os_release(void *p, size_t size)
{
	(void)p;
	(void)size;
}

bool os_commit(void *p, size_t size)
{
	model_commit(p, size);
	return true;
}

void os_populate(void *p, size_t size)
{
	(void)p;
	(void)size;
}

bool os_discard(void *p, size_t size)
{
	model_discard(p, size);
	return true;
}

void os_advise_huge(void *p, size_t size, bool wanted)
{
	(void)p;
	(void)size;
	(void)wanted;
}

bool os_random(void *buf, size_t size)
{
	memset(buf, 42, size);
	return true;
}

const char *os_getenv(const char *name)
{
	(void)name;
	return NULL;
}

void lock_init(struct lock *lock, cistern_lock policy, unsigned rank)
{
	lock->policy = policy;
	lock->rank = rank;
}

void lock_destroy(struct lock *lock)
{
	(void)lock;
}

bool lock_acquire(struct lock *lock)
{
	model_lock(lock);
	return false;
}

void lock_release(struct lock *lock)
{
	model_unlock(lock);
}

/* Models do not fork. */
void lock_fork_acquire(struct lock *lock)
{
	(void)lock;
	abort();
}

void lock_fork_release(struct lock *lock)
{
	(void)lock;
	abort();
}

void lock_fork_child(struct lock *lock)
{
	(void)lock;
	abort();
}

int model_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
	static const char glibc;

	(void)prepare;
	(void)parent;
	(void)child;
	if (!model_started())
		return ENOMEM; /* the library installs them when a scene begins, not before */
	model_lock(&glibc);
	if (!model_handlers)
		model_handlers = true;
	model_unlock(&glibc);
	return 0;
}
