/* SPDX-License-Identifier: MIT */
/*
 * instrument.c - the functions by which code that was compiled with -fsanitize=thread reports what
 * it does: those of ThreadSanitizer's run-time library, which is not linked, done by the machine.
 * The names and arguments are gcc's and clang's; the spin lock, which is inline assembly, reports
 * itself through the same interface (lib/lock.c).
 *
 * Outside of a scenario everything is done as the code says.
 */
#include "memory.h"
#include "threads.h"

/* Under any sanitizer gcc has prototypes of its own for them, with pointers to void where these
 * have types. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wbuiltin-declaration-mismatch"
#endif

#include "accesses.h"

static void look_at(const void *p, size_t size, bool write)
{
	threads_access(p, size, write);
}

/* ---------------------------------------------------------------- atomic accesses */

/* SEQ: outside of scenarios an order that is always enough, since the compiler wants a constant. */
#define SEQ __ATOMIC_SEQ_CST

#define ATOMIC(bits, type)                                                                         \
	HOOK(type, __tsan_atomic##bits##_load, const volatile type *p, int order)                  \
	{                                                                                          \
		if (!threads_watched())                                                            \
			return __atomic_load_n(p, SEQ);                                            \
		threads_point();                                                                   \
		return (type)memory_load(threads_self(), (void *)p, sizeof(type), order);          \
	}                                                                                          \
	HOOK(void, __tsan_atomic##bits##_store, volatile type *p, type value, int order)           \
	{                                                                                          \
		if (!threads_watched()) {                                                          \
			__atomic_store_n(p, value, SEQ);                                           \
			return;                                                                    \
		}                                                                                  \
		threads_point();                                                                   \
		memory_store(threads_self(), (void *)p, sizeof(type), value, order);               \
	}                                                                                          \
	static type change##bits(volatile type *p, type with, int order,                           \
				 type (*new_value)(type old, type with))                           \
	{                                                                                          \
		type old;                                                                          \
                                                                                                   \
		threads_point();                                                                   \
		old = (type)memory_fetch(threads_self(), (void *)p, sizeof(type), order);          \
		memory_replace(threads_self(), (void *)p, sizeof(type), new_value(old, with),      \
			       order);                                                             \
		return old;                                                                        \
	}                                                                                          \
	static type with##bits(type old, type with)                                                \
	{                                                                                          \
		(void)old;                                                                         \
		return with;                                                                       \
	}                                                                                          \
	static type sum##bits(type old, type with)                                                 \
	{                                                                                          \
		return (type)(old + with);                                                         \
	}                                                                                          \
	HOOK(type, __tsan_atomic##bits##_exchange, volatile type *p, type value, int order)        \
	{                                                                                          \
		return threads_watched() ? change##bits(p, value, order, with##bits)               \
					 : __atomic_exchange_n(p, value, SEQ);                     \
	}                                                                                          \
	HOOK(type, __tsan_atomic##bits##_fetch_add, volatile type *p, type value, int order)       \
	{                                                                                          \
		return threads_watched() ? change##bits(p, value, order, sum##bits)                \
					 : __atomic_fetch_add(p, value, SEQ);                      \
	}                                                                                          \
	HOOK(type, __tsan_atomic##bits##_fetch_sub, volatile type *p, type value, int order)       \
	{                                                                                          \
		return threads_watched() ? change##bits(p, (type)-value, order, sum##bits)         \
					 : __atomic_fetch_sub(p, value, SEQ);                      \
	}                                                                                          \
	static int exchange##bits(volatile type *p, type *expected, type desired, int order,       \
				  int failure, bool may_fail)                                      \
	{                                                                                          \
		type old;                                                                          \
                                                                                                   \
		if (!threads_watched())                                                            \
			return __atomic_compare_exchange_n(p, expected, desired, false, SEQ, SEQ); \
		threads_point();                                                                   \
		old = __atomic_load_n(p, SEQ);                                                     \
		if (old != *expected || (may_fail && machine_random(16) == 0)) {                   \
			*expected =                                                                \
			    (type)memory_fetch(threads_self(), (void *)p, sizeof(type), failure);  \
			return 0;                                                                  \
		}                                                                                  \
		memory_fetch(threads_self(), (void *)p, sizeof(type), order);                      \
		memory_replace(threads_self(), (void *)p, sizeof(type), desired, order);           \
		return 1;                                                                          \
	}                                                                                          \
	HOOK(int, __tsan_atomic##bits##_compare_exchange_strong, volatile type *p, type *expected, \
	     type desired, int order, int failure)                                                 \
	{                                                                                          \
		return exchange##bits(p, expected, desired, order, failure, false);                \
	}                                                                                          \
	HOOK(int, __tsan_atomic##bits##_compare_exchange_weak, volatile type *p, type *expected,   \
	     type desired, int order, int failure)                                                 \
	{                                                                                          \
		return exchange##bits(p, expected, desired, order, failure, true);                 \
	}                                                                                          \
	HOOK(type, __tsan_atomic##bits##_compare_exchange_val, volatile type *p, type expected,    \
	     type desired, int order, int failure)                                                 \
	{                                                                                          \
		exchange##bits(p, &expected, desired, order, failure, false);                      \
		return expected;                                                                   \
	}

ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

/* ---------------------------------------------------------------- the spin lock */

enum { TRY = 1 << 4, TRY_FAILED = 1 << 5 }; /* as in sanitizer/tsan_interface.h */

HOOK(void, __tsan_mutex_create, void *lock, unsigned flags)
{
	(void)lock;
	(void)flags;
}

HOOK(void, __tsan_mutex_destroy, void *lock, unsigned flags)
{
	(void)lock;
	(void)flags;
}

HOOK(void, __tsan_mutex_pre_lock, void *lock, unsigned flags)
{
	if (!threads_watched())
		return;
	threads_point();
	if (!(flags & TRY))
		threads_wait(lock);
}

HOOK(void, __tsan_mutex_post_lock, void *lock, unsigned flags, int recursion)
{
	(void)recursion;
	if (threads_watched() && !(flags & TRY_FAILED))
		threads_lock(lock);
}

HOOK(int, __tsan_mutex_pre_unlock, void *lock, unsigned flags)
{
	(void)lock;
	(void)flags;
	return 0;
}

HOOK(void, __tsan_mutex_post_unlock, void *lock, unsigned flags)
{
	(void)flags;
	if (threads_watched()) {
		threads_unlock(lock);
		threads_point();
	}
}
