/* SPDX-License-Identifier: MIT */
/*
 * allocs.c - see allocs.h. With glibc the program's own malloc takes the place of the library's for
 * every caller and passes on to it under its other name; a sanitizer has malloc already and offers
 * hooks.
 */
#include "allocs.h"

#include "tools.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

static atomic_ulong calls;

unsigned long allocs_calls(void)
{
	return atomic_load(&calls);
}

#if UNDER_ASAN || UNDER_TSAN

#define EXPORT __attribute__((__visibility__("default")))

EXPORT void __sanitizer_malloc_hook(const volatile void *p, size_t size);
EXPORT void __sanitizer_free_hook(const volatile void *p);

void __sanitizer_malloc_hook(const volatile void *p, size_t size)
{
	(void)p;
	(void)size;
	atomic_fetch_add(&calls, 1);
}

void __sanitizer_free_hook(const volatile void *p)
{
	(void)p;
	atomic_fetch_add(&calls, 1);
}

bool allocs_counted(void)
{
	return true;
}

bool allocs_can_fail(void)
{
	return false;
}

void allocs_fail_after(long n)
{
	(void)n;
}

#elif defined(__GLIBC__)

#define EXPORT __attribute__((__visibility__("default")))

void *memalign(size_t alignment, size_t size);

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *p);

/* What is left until allocations fail; negative: they do not. */
static atomic_long left = -1;

/* Valgrind puts its own functions in the place of ours. */
bool allocs_counted(void)
{
	return !UNDER_VALGRIND;
}

bool allocs_can_fail(void)
{
	return !UNDER_VALGRIND;
}

void allocs_fail_after(long n)
{
	atomic_store(&left, n);
}

/* Counts one allocation; false when it is to fail. */
static bool allowed(void)
{
	long n = atomic_load(&left);

	atomic_fetch_add(&calls, 1);
	while (n > 0 && !atomic_compare_exchange_weak(&left, &n, n - 1))
		;
	if (n == 0)
		errno = ENOMEM;
	return n != 0;
}

EXPORT void *malloc(size_t size)
{
	return allowed() ? __libc_malloc(size) : NULL;
}

EXPORT void *calloc(size_t n, size_t size)
{
	return allowed() ? __libc_calloc(n, size) : NULL;
}

EXPORT void *realloc(void *p, size_t size)
{
	return allowed() ? __libc_realloc(p, size) : NULL;
}

EXPORT void *memalign(size_t alignment, size_t size)
{
	return allowed() ? __libc_memalign(alignment, size) : NULL;
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

EXPORT int posix_memalign(void **out, size_t alignment, size_t size)
{
	void *p = memalign(alignment, size);

	if (!p)
		return ENOMEM;
	*out = p;
	return 0;
}

EXPORT void free(void *p)
{
	atomic_fetch_add(&calls, 1);
	__libc_free(p);
}

#else

bool allocs_counted(void)
{
	return false;
}

bool allocs_can_fail(void)
{
	return false;
}

void allocs_fail_after(long n)
{
	(void)n;
}

#endif
