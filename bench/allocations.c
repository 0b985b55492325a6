/* SPDX-License-Identifier: MIT */
/*
 * allocations.c - counts heap allocations by standing in front of the C library's own functions.
 *
 * A program's malloc takes the place of the C library's everywhere in the process, in libstdc++
 * too, so that engines in C and in C++ are counted alike; for that it must be visible to shared
 * libraries. Only glibc offers the real ones under a
 * second name, and only without a sanitizer are they the right ones. free is left as it is: it is
 * the same heap.
 */
#include "allocations.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif

#if defined(__GLIBC__) && !defined(SANITIZED)

#define EXPORT __attribute__((__visibility__("default")))

/* Relaxed: two plain counters; threads that allocate were joined before they are read. */
static _Atomic uint64_t calls, bytes;
static atomic_bool stopped;

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static void count(size_t size)
{
	if (atomic_load_explicit(&stopped, memory_order_relaxed))
		return;
	atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&bytes, size, memory_order_relaxed);
}

EXPORT void *malloc(size_t size)
{
	count(size);
	return __libc_malloc(size);
}

EXPORT void *calloc(size_t n, size_t size)
{
	count(n * size); /* where this overflows, the call fails */
	return __libc_calloc(n, size);
}

EXPORT void *realloc(void *p, size_t size)
{
	count(size);
	return __libc_realloc(p, size);
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
	count(size);
	return __libc_memalign(alignment, size);
}

EXPORT int posix_memalign(void **out, size_t alignment, size_t size)
{
	count(size);
	void *p = __libc_memalign(alignment, size);
	if (!p)
		return ENOMEM;
	*out = p;
	return 0;
}

bool allocations_so_far(struct allocations *out)
{
	out->calls = atomic_load_explicit(&calls, memory_order_relaxed);
	out->bytes = atomic_load_explicit(&bytes, memory_order_relaxed);
	return true;
}

void allocations_stop(void)
{
	atomic_store_explicit(&stopped, true, memory_order_relaxed);
}

#else

bool allocations_so_far(struct allocations *out)
{
	*out = (struct allocations){0, 0};
	return false;
}

void allocations_stop(void)
{
}

#endif
