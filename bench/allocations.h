/* SPDX-License-Identifier: MIT */
/* allocations.h - how often a program that links allocations.c has called malloc and its like. */
#ifndef BENCH_ALLOCATIONS_H
#define BENCH_ALLOCATIONS_H

#include <stdbool.h>
#include <stdint.h>

struct allocations {
	uint64_t calls;
	uint64_t bytes;
};

/* So far, of all threads. False where this C library or a sanitizer does not let them be counted.
 */
bool allocations_so_far(struct allocations *out);

/* Counts no more: it takes some nanoseconds, which those who allocate would pay when they are
 * timed.
 */
void allocations_stop(void);

#endif /* BENCH_ALLOCATIONS_H */
