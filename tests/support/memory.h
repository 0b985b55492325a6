/* SPDX-License-Identifier: MIT */
/* memory.h - how much memory there is, and how much of it this process takes. Linux; 0 elsewhere.
 */
#ifndef TESTS_SUPPORT_MEMORY_H
#define TESTS_SUPPORT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes that programs can still take before the machine swaps or kills: MemAvailable. */
uint64_t memory_available(void);

/* Bytes of address space and of resident memory of this process. */
uint64_t memory_mapped(void);
uint64_t memory_resident(void);

/*
 * For main() of a suite that takes that many bytes: says in TAP that it is left out, and gives
 * false, where they are not to be had.
 */
bool memory_suffices(uint64_t bytes);

#endif
