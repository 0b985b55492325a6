/* SPDX-License-Identifier: MIT */
/*
 * accesses.h - the functions by which code that was compiled with -fsanitize=thread reports its
 * plain accesses, before it makes them; for one file of a program that is told of them in the
 * place of ThreadSanitizer's run-time library. Names and arguments are gcc's and clang's. That file
 * defines look_at and, where it wants them, the functions of atomics with HOOK.
 */
#ifndef TESTS_SUPPORT_ACCESSES_H
#define TESTS_SUPPORT_ACCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* What is done at each access. */
static void look_at(const void *p, size_t size, bool write);

/* Declared by nobody: the compiler calls them by name. */
#define HOOK(type, name, ...)                                                                      \
	type name(__VA_ARGS__);                                                                    \
	type name(__VA_ARGS__)

HOOK(void, __tsan_init, void)
{
}

HOOK(void, __tsan_func_entry, void *caller)
{
	(void)caller;
}

HOOK(void, __tsan_func_exit, void)
{
}

#define ACCESS(name, size, write)                                                                  \
	HOOK(void, __tsan_##name, void *p)                                                         \
	{                                                                                          \
		look_at(p, size, write);                                                           \
	}
#define ACCESSES(size)                                                                             \
	ACCESS(read##size, size, false)                                                            \
	ACCESS(write##size, size, true)                                                            \
	ACCESS(unaligned_read##size, size, false)                                                  \
	ACCESS(unaligned_write##size, size, true)

ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

HOOK(void, __tsan_read_range, void *p, size_t size)
{
	look_at(p, size, false);
}

HOOK(void, __tsan_write_range, void *p, size_t size)
{
	look_at(p, size, true);
}

/* clang's names for copies of structures. */
HOOK(void *, __tsan_memcpy, void *to, const void *from, size_t size)
{
	look_at(from, size, false);
	look_at(to, size, true);
	return memcpy(to, from, size);
}

HOOK(void *, __tsan_memset, void *p, int byte, size_t size)
{
	look_at(p, size, true);
	return memset(p, byte, size);
}

#endif
