/* SPDX-License-Identifier: MIT */
/* memory.h - the memory of the machine. See memory.c. For the machine's own files. */
#ifndef TESTS_STRESS_MEMORY_H
#define TESTS_STRESS_MEMORY_H

#include "machine.h"

/* What a thread knows: of each thread, how many of its steps. */
struct clock {
	uint32_t at[MACHINE_THREADS];
};

/* threads.c: whether a load returns an older value this time, if there is one. */
bool machine_stale(void);

/* Forgets everything. */
void memory_reset(void);

/* From now on plain accesses there are watched, and nothing is known of them; or no longer. */
void memory_watch(const void *p, size_t size);
void memory_ignore(const void *p);

/* self knows what other knows, and the other way round for a lock: into is given what self knows.
 */
void memory_learn(unsigned self, const struct clock *from);
void memory_tell(unsigned self, struct clock *into);
const struct clock *memory_clock(unsigned self);

/* Atomic accesses of 1, 4 or 8 bytes; order as in the compiler's calls, which is that of
 * memory_order. */
uint64_t memory_load(unsigned self, void *p, size_t size, int order);
void memory_store(unsigned self, void *p, size_t size, uint64_t value, int order);
/* The latest value, as an operation reads it that is going to replace it; then that. */
uint64_t memory_fetch(unsigned self, void *p, size_t size, int order);
void memory_replace(unsigned self, void *p, size_t size, uint64_t value, int order);

/* A plain access of self. */
void memory_access(unsigned self, const void *p, size_t size, bool write);

/* self makes memory accessible. Whether self knows that somebody did. */
void memory_commit(unsigned self, const void *p, size_t size);
bool memory_committed(unsigned self, const void *p);

/* self has the system put zeros there, as a full barrier. */
void memory_empty(unsigned self, void *p, size_t size);

#endif
