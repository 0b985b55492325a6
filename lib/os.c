/* SPDX-License-Identifier: MIT */
/*
 * os.c - the only file that talks to the operating system about memory, processors, randomness and the
 * environment, so that a port or a fault-injecting test has one place to look.
 *
 * Everything here may be called from any thread, with or without locks held, and keeps no state. What a system
 * may lack (populating, huge pages, discarding, getrandom, a safe getenv) has a fallback behind the
 * HAVE_ macro that configure sets; callers never see the difference except in speed or in memory use.
 */
#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef HAVE_SYS_RANDOM_H
#include <sys/random.h>
#endif
#ifdef HAVE_SYS_AUXV_H
#include <sys/auxv.h>
#endif

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif
#if !defined(MAP_ANONYMOUS) && defined(MAP_ANON)
#define MAP_ANONYMOUS MAP_ANON
#endif

size_t os_page_size(void)
{
	long size = sysconf(_SC_PAGESIZE);

	return size > 0 ? (size_t)size : 4096;
}

unsigned os_cpu_count(void)
{
	long count = sysconf(_SC_NPROCESSORS_ONLN);

	return count > 0 ? (unsigned)count : 1;
}

size_t os_address_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
	    limit.rlim_cur > SIZE_MAX)
		return SIZE_MAX;
	return (size_t)limit.rlim_cur;
}

void *os_reserve(size_t size)
{
	void *p = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED) {
		errno = ENOMEM; /* EAGAIN after mlockall means the same to our callers */
		return NULL;
	}
	return p;
}

void os_release(void *p, size_t size)
{
	munmap(p, size);
}

bool os_commit(void *p, size_t size)
{
	if (mprotect(p, size, PROT_READ | PROT_WRITE) == 0)
		return true;
	errno = ENOMEM;
	return false;
}

/* Advice that is refused is nobody's failure, and the caller may have an errno to hand on: it stays as it is. */
__attribute__((unused)) static bool advise(void *p, size_t size, int advice)
{
	int error = errno;
	bool done = madvise(p, size, advice) == 0;

	errno = error;
	return done;
}

void os_populate(void *p, size_t size)
{
#ifdef HAVE_MADV_POPULATE_WRITE
	(void)advise(p, size, MADV_POPULATE_WRITE);
#else
	(void)p;
	(void)size;
#endif
}

bool os_discard(void *p, size_t size)
{
	/* Elsewhere MADV_DONTNEED is advice only, and the pages need not read as zeros afterwards. */
#if defined(__linux__) && defined(HAVE_MADV_DONTNEED)
	return advise(p, size, MADV_DONTNEED);
#else
	(void)p;
	(void)size;
	return false;
#endif
}

void os_advise_huge(void *p, size_t size, bool wanted)
{
#ifdef HAVE_MADV_HUGEPAGE
	(void)advise(p, size, wanted ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#else
	(void)p;
	(void)size;
	(void)wanted;
#endif
}

/* Early in boot, in a chroot or under a system-call filter there may be a device where there is no call. */
static bool read_urandom(unsigned char *buf, size_t size)
{
	int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	while (size > 0) {
		ssize_t got = read(fd, buf, size);

		if (got > 0) {
			buf += got;
			size -= (size_t)got;
		} else if (got == 0 || errno != EINTR) {
			break;
		}
	}
	close(fd);
	return size == 0;
}

static bool random_bytes(unsigned char *at, size_t size)
{
#ifdef HAVE_GETRANDOM
	while (size > 0) {
		ssize_t got = getrandom(at, size, 0);

		if (got > 0) {
			at += got;
			size -= (size_t)got;
		} else if (got == 0 || errno != EINTR) {
			break;
		}
	}
#endif
	return size == 0 || read_urandom(at, size);
}

bool os_random(void *buf, size_t size)
{
	int cancel, ignored;
	bool done;

	/* these are cancellation points, and callers hold locks: a thread that ends here would keep them */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	done = random_bytes(buf, size);
	pthread_setcancelstate(cancel, &ignored);
	if (!done)
		errno = EIO;
	return done;
}

const char *os_getenv(const char *name)
{
#if defined(HAVE_SECURE_GETENV)
	return secure_getenv(name);
#elif defined(HAVE_GETAUXVAL)
	return getauxval(AT_SECURE) ? NULL : getenv(name);
#else
	(void)name; /* no way to tell a set-user-id program: better no environment than a hostile one */
	return NULL;
#endif
}
