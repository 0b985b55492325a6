/* SPDX-License-Identifier: MIT */
/*
 * range.h - an address range that is reserved once and committed in chunks. See range.c.
 */
#ifndef CISTERN_LIB_RANGE_H
#define CISTERN_LIB_RANGE_H

#include "cistern.h"
#include "lock.h"

#include <stdatomic.h>

/* What the ranges of one interner may commit together. */
struct budget {
	_Atomic uint64_t committed; /* bytes */
	uint64_t limit;             /* bytes; immutable */
};

/* A block that was given back, kept in a list through its own first bytes. */
struct range_block {
	struct range_block *next;
	size_t size;
};

/*
 *  base              used          committed                     capacity
 *   |  handed out     |  free       |  address space only         |
 */
struct range {
	/* immutable once the range is open */
	char *base;
	size_t capacity;
	struct budget *budget;
	size_t page;
	size_t chunk;       /* fixed size of a commit; 0: by the total */
	size_t granularity; /* commits end at multiples of it */
	bool prefault;

	_Atomic size_t committed; /* written under lock; C1 */
	_Atomic size_t populated; /* claimed by compare-and-swap, without the lock */
	_Atomic size_t needed;    /* populating is due up to there; written under lock */

	/* guarded by lock, on lines that readers of the above do not share */
	_Alignas(64) struct lock lock;
	size_t used;
	struct range_block *returned;
	size_t returned_bytes;
	size_t skipped_bytes; /* lost to alignment, or with the threads that a fork leaves behind */
};

struct range_config {
	uint64_t commit_chunk;
	cistern_hugepages hugepages;
	bool prefault;
};

/*
 * Opens a range over reserved space whose first head bytes are committed and taken already. The space
 * stays the caller's to release.
 */
void range_open(struct range *range, void *base, size_t capacity, size_t head,
                struct budget *budget, const struct range_config *config, unsigned rank);
void range_close(struct range *range);

/*
 * Takes size bytes at a multiple of align, a power of two of at least 16. Fresh bytes are zeros; those of
 * a block that was given back are not. NULL with ENOSPC (the range or the budget is used up) or ENOMEM.
 */
void *range_take(struct range *range, size_t size, size_t align);

/* Gives a block back for later range_take. At least 16 bytes, as range_take handed it out. */
void range_give(struct range *range, void *p, size_t size);

/* Populates what was handed out and a little ahead. Holds no lock of the range; call it after range_take. */
void range_populate(struct range *range);

/* Whether [p, p + size) is committed memory of the range. */
bool range_contains(const struct range *range, uintptr_t p, size_t size);

/* Takes bytes from the budget. False with ENOSPC: nothing taken. */
bool budget_charge(struct budget *budget, uint64_t bytes);
void budget_refund(struct budget *budget, uint64_t bytes);

#endif
