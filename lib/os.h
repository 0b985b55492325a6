/* SPDX-License-Identifier: MIT */
/*
 * os.h - what Cistern asks of the operating system: address space, memory, processors, random bytes and
 * the environment. See os.c.
 */
#ifndef CISTERN_LIB_OS_H
#define CISTERN_LIB_OS_H

#include <stdbool.h>
#include <stddef.h>

/* Size of a huge page on the systems that have them transparently. */
#define OS_HUGE_PAGE ((size_t)2 << 20)

/* Never fail and never change while the process runs. */
size_t os_page_size(void);
unsigned os_cpu_count(void);

/* The address space this process may use in all, in bytes; SIZE_MAX when there is no limit. */
size_t os_address_limit(void);

/* Reserves address space that cannot be touched yet. NULL with ENOMEM. size is a multiple of the page. */
void *os_reserve(size_t size);
void os_release(void *p, size_t size);

/* Makes reserved pages readable and writable, zero-filled. False with ENOMEM: nothing changed. */
bool os_commit(void *p, size_t size);

/* Has the system supply the pages now, in one go. A hint, as all advice: without effect where it is not known, errno kept. */
void os_populate(void *p, size_t size);

/*
 * Gives the pages' memory back; they read as zeros from now on. False where the system cannot promise
 * that: then they keep what they hold. Keeps errno.
 */
bool os_discard(void *p, size_t size);

/* Asks for huge pages, or for none. A hint; keeps errno. */
void os_advise_huge(void *p, size_t size, bool wanted);

/* Fills buf with random bytes fit for a key. False with EIO when there are none to be had. */
bool os_random(void *buf, size_t size);

/* The variable's value; NULL when it is not set or this is a set-user-id program. */
const char *os_getenv(const char *name);

#endif
