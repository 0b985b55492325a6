/* SPDX-License-Identifier: MIT */
/*
 * faults.h - stands between lib/os.c and the C library: counts what the library asks of the system,
 * and has it fail by plan. For suites that link the library's objects (libfaults.a goes in front of
 * them); the library itself has not one instruction of it. See faults.c.
 */
#ifndef TESTS_FAULTS_H
#define TESTS_FAULTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is asked for. */
enum fault_kind {
	FAULT_RESERVE,  /* mmap of address space */
	FAULT_COMMIT,   /* mprotect */
	FAULT_POPULATE, /* madvise: MADV_POPULATE_WRITE */
	FAULT_DISCARD,  /* MADV_DONTNEED */
	FAULT_HUGE,     /* MADV_HUGEPAGE, MADV_NOHUGEPAGE */
	FAULT_RANDOM,   /* getrandom */
	FAULT_DEVICE,   /* open of a device of random bytes */
	FAULT_READ,     /* read from it */
	FAULT_KINDS
};

/* Sets of kinds. */
#define FAULT_BIT(kind) (1u << FAULT_##kind)
enum {
	FAULTS_MEMORY = FAULT_BIT(RESERVE) | FAULT_BIT(COMMIT),
	FAULTS_HINTS = FAULT_BIT(POPULATE) | FAULT_BIT(DISCARD) | FAULT_BIT(HUGE),
	FAULTS_RANDOM = FAULT_BIT(RANDOM) | FAULT_BIT(DEVICE) | FAULT_BIT(READ),
	FAULTS_ALL = FAULTS_MEMORY | FAULTS_HINTS | FAULTS_RANDOM
};

#define FAULTS_FOR_GOOD UINT64_MAX
#define FAULTS_NO_BYTES (-1)

/*
 * Of the calls of these kinds, `after` succeed, then `times` fail. Where `to` is set, only calls
 * that are about memory in [from, to) are meant. error is what they fail with; 0: ENOMEM, or EINVAL
 * for a hint, or ENOSYS for random bytes. FAULTS_NO_BYTES: reading random bytes gives none, as at
 * the end of a file. Where `chance` is set, only so many of 256 calls are meant, at random by seed.
 */
struct fault_plan {
	unsigned kinds;
	uint64_t after;
	uint64_t times;
	uintptr_t from, to;
	int error;
	unsigned chance;
	uint64_t seed;
};

/* Takes effect for all threads; none may be inside of the library. NULL: everything succeeds. */
void faults_plan(const struct fault_plan *plan);

/* Everything succeeds until faults_resume gets what faults_pause gave; the plan goes on from there.
 */
unsigned faults_pause(void);
void faults_resume(unsigned kinds);

/* What has happened. */
extern struct faults {
	_Atomic uint64_t calls[FAULT_KINDS];  /* that succeeded */
	_Atomic uint64_t failed[FAULT_KINDS]; /* by plan */
	_Atomic uint64_t populated;           /* bytes that FAULT_POPULATE was asked for */
	_Atomic uint64_t populate_max;        /* the most in one call */
	_Atomic uint64_t mappings;            /* reservations that exist, and their bytes */
	_Atomic uint64_t mapped;
	_Atomic unsigned random_short; /* so many getrandoms and reads of the device give EINTR,
					  then one byte, in turn */
} faults;

/* Calls that failed by plan so far, of these kinds. */
uint64_t faults_failed(unsigned kinds);

#endif
