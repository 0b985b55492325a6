/* SPDX-License-Identifier: MIT */
/*
 * seam.c - the machine's locks and its system: see seam.h. Pages are small here (MACHINE_PAGE), so
 * that small tables have whole ones; they are all accessible from the beginning, and what the
 * library makes so is only noted. Random bytes come from the schedule, so that it can be repeated.
 */
#include "memory.h"
#include "threads.h"

#include "seam.h"
#undef pthread_mutex_init
#undef mmap
#undef munmap
#undef sysconf
#undef memcpy
#undef memset
#undef memcmp

#include <errno.h>

int seam_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
	return pthread_mutex_init(mutex, attributes); /* for its bytes' sake: see below */
}

int seam_mutex_destroy(pthread_mutex_t *mutex)
{
	(void)mutex;
	return 0;
}

/* Without a scenario one thread runs, and locks are none. */
int seam_mutex_trylock(pthread_mutex_t *mutex)
{
	if (!threads_watched())
		return 0;
	threads_point();
	if (threads_locked(mutex))
		return EBUSY;
	threads_lock(mutex);
	return 0;
}

int seam_mutex_lock(pthread_mutex_t *mutex)
{
	if (!threads_watched())
		return 0;
	threads_point();
	threads_wait(mutex);
	threads_lock(mutex);
	return 0;
}

int seam_mutex_unlock(pthread_mutex_t *mutex)
{
	if (threads_watched()) {
		threads_unlock(mutex);
		threads_point();
	}
	return 0;
}

/*
 * Scenarios do not fork. The first call, when the library is loaded, fails: so threads may meet at
 * installing. POSIX says of no lock by which fork and pthread_atfork would order them.
 */
int seam_atfork(void (*before)(void), void (*parent)(void), void (*child)(void))
{
	static bool loaded;

	(void)before;
	(void)parent;
	(void)child;
	if (!loaded) {
		loaded = true;
		return ENOMEM;
	}
	threads_point();
	threads_install();
	return 0;
}

void *seam_mmap(void *p, size_t size, int protection, int flags, int fd, off_t offset)
{
	void *map = mmap(p, size, protection | PROT_READ | PROT_WRITE, flags, fd, offset);

	if (map != MAP_FAILED && threads_watched())
		memory_watch(map, size);
	return map;
}

int seam_munmap(void *p, size_t size)
{
	if (threads_watched())
		memory_ignore(p);
	return munmap(p, size);
}

int seam_mprotect(void *p, size_t size, int protection)
{
	(void)protection;
	if (threads_watched()) {
		threads_point();
		memory_commit(threads_self(), p, size);
	}
	return 0;
}

int seam_madvise(void *p, size_t size, int advice)
{
	if (advice == MADV_DONTNEED && threads_watched()) {
		threads_point();
		memory_empty(threads_self(), p, size);
	}
	return 0;
}

long seam_sysconf(int name)
{
	return name == _SC_PAGESIZE ? MACHINE_PAGE : sysconf(name);
}

ssize_t seam_getrandom(void *buf, size_t size, unsigned flags)
{
	unsigned char *at = buf;

	(void)flags;
	for (size_t i = 0; i < size; i++)
		at[i] = (unsigned char)machine_random(256);
	return (ssize_t)size;
}

void *seam_memcpy(void *to, const void *from, size_t size)
{
	threads_access(from, size, false);
	threads_access(to, size, true);
	return memcpy(to, from, size);
}

void *seam_memset(void *to, int byte, size_t size)
{
	threads_access(to, size, true);
	return memset(to, byte, size);
}

int seam_memcmp(const void *a, const void *b, size_t size)
{
	threads_access(a, size, false);
	threads_access(b, size, false);
	return memcmp(a, b, size);
}
