/* SPDX-License-Identifier: MIT */
/*
 * allocs.h - counts the calls of malloc and its kin that a program makes, those of shared libraries
 * included. Whoever includes this links allocs.c, which takes malloc's place where that is
 * possible.
 */
#ifndef TESTS_SUPPORT_ALLOCS_H
#define TESTS_SUPPORT_ALLOCS_H

#include <stdbool.h>

/* Whether this build can count: with glibc or under a sanitizer. */
bool allocs_counted(void);

/* Calls so far of malloc, calloc, realloc, aligned allocation and free, on all threads. */
unsigned long allocs_calls(void);

/* From the n-th allocating call on (0 is the next), all fail; a negative n ends that. glibc only.
 */
void allocs_fail_after(long n);

/* Whether allocs_fail_after works here. */
bool allocs_can_fail(void);

#endif
