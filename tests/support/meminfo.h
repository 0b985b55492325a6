/* SPDX-License-Identifier: MIT */
/* meminfo.h - how much memory there is, and how much of it this process takes. Linux; 0 elsewhere.
 */
#ifndef TESTS_SUPPORT_MEMINFO_H
#define TESTS_SUPPORT_MEMINFO_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes that programs can still take before the machine swaps or kills: MemAvailable. */
uint64_t meminfo_available(void);

/* Bytes of address space and of resident memory of this process. */
uint64_t meminfo_mapped(void);
uint64_t meminfo_resident(void);

/* Bytes of private writable memory of this process, the stack aside: what RLIMIT_DATA counts. */
uint64_t meminfo_data(void);

/* How much address space this process may take in all, in bytes; UINT64_MAX when there is no limit.
 */
uint64_t meminfo_space(void);

/*
 * Whether a limit on it can be set here and means the test: emulators keep it from what they
 * emulate, and sanitizers and valgrind take terabytes themselves.
 */
bool meminfo_space_can_be_limited(void);

/*
 * For main() of a suite that takes that many bytes: says in TAP that it is left out, and gives
 * false, where they are not to be had.
 */
bool meminfo_suffices(uint64_t bytes);

#endif
