/* SPDX-License-Identifier: MIT */
/* threads.h - whose turn it is. See threads.c. For the machine's own files. */
#ifndef TESTS_STRESS_THREADS_H
#define TESTS_STRESS_THREADS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a scenario runs: else accesses are what they would be without the machine. */
bool threads_watched(void);

/* Number of the calling thread. */
unsigned threads_self(void);

/* A moment at which another thread may get its turn. */
void threads_point(void);

/* A plain access of the calling thread, looked at in a scenario only. */
void threads_access(const void *p, size_t size, bool write);

/* Lets others go on until the lock at that address is free: the caller takes it before its next
 * point. */
void threads_wait(const void *lock);

/* The caller has taken the lock; gives it back. */
bool threads_locked(const void *lock);
void threads_lock(const void *lock);
void threads_unlock(const void *lock);

/* The caller has installed the library's fork handlers: nobody takes a lock who does not know that
 * somebody did. */
void threads_install(void);

#endif
