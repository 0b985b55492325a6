/* SPDX-License-Identifier: MIT */
/*
 * instrument.c - the functions by which code that was compiled with -fsanitize=thread reports its
 * plain accesses, before it makes them. Names and arguments are gcc's and clang's. There are none
 * for atomics here: those go through c11/stdatomic.h, so one that did not would not link.
 */
#include "model.h"

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

#define PLAIN(name, size, access)                                                                  \
	HOOK(void, __tsan_##name, void *p)                                                         \
	{                                                                                          \
		access(p, size);                                                                   \
	}
#define PLAIN_OF(size)                                                                             \
	PLAIN(read##size, size, model_read)                                                        \
	PLAIN(write##size, size, model_write)                                                      \
	PLAIN(unaligned_read##size, size, model_read)                                              \
	PLAIN(unaligned_write##size, size, model_write)

PLAIN_OF(1)
PLAIN_OF(2)
PLAIN_OF(4)
PLAIN_OF(8)
PLAIN_OF(16)

HOOK(void, __tsan_read_range, void *p, size_t size)
{
	model_read(p, size);
}

HOOK(void, __tsan_write_range, void *p, size_t size)
{
	model_write(p, size);
}

/* clang's names for copies of structures. */
HOOK(void *, __tsan_memcpy, void *to, const void *from, size_t size)
{
	return model_copy(to, from, size);
}

HOOK(void *, __tsan_memset, void *p, int byte, size_t size)
{
	return model_set(p, byte, size);
}
