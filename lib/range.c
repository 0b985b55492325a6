/* SPDX-License-Identifier: MIT */
/*
 * range.c - hands out memory of a reserved address range by moving a cursor, and commits it in chunks.
 *
 * Every interner has two: one for strings, one for tables. Since all shards take from the same dense range, a
 * refill is a pointer move under a short lock, small slabs cost nothing extra, and memory follows what is
 * used rather than shards times slab size.
 *
 *   commit    mprotect under the lock, in chunks of 1/64 of what the interner has committed (32 KiB to
 *             1 MiB), so that overshoot stays below two percent. committed is stored with release (C1)
 *             after mprotect; who loads it with acquire may touch memory below it.
 *   populate  after the lock is released, in steps; threads claim steps by compare-and-swap, so that several
 *             share the work and none waits. Faulting pages in batches takes a third off inserting. Goes 1/1024 of
 *             what is committed beyond what is handed out (16 KiB to 256 KiB), so that resident memory follows use
 *             closer than commitment does.
 *   budget    is charged before mprotect and refunded if that fails; both ranges share one.
 *
 * Nothing is ever returned to the system before the interner goes; blocks that lost a race come back
 * through range_give and are handed out again, first fit.
 *
 * Knows no shard, slab or table. range_take and range_give take the range's lock, which ranks above
 * every shard's.
 */
#include "range.h"

#include "order.h"
#include "os.h"

#include <assert.h>
#include <errno.h>

#define COMMIT_SHARE  64              /* a chunk is this part of the total ... */
#define COMMIT_MIN    ((size_t)32 << 10) /* ... but no less ... */
#define COMMIT_MAX    ((size_t)1 << 20)  /* ... and no more */
#define POPULATE_SHARE 1024              /* populating goes this part of what is committed ahead ... */
#define POPULATE_MIN   ((size_t)16 << 10)  /* ... but no less ... */
#define POPULATE_MAX   ((size_t)256 << 10) /* ... and no more, also at a time */

static size_t round_up(size_t n, size_t unit)
{
	return (n + unit - 1) & ~(unit - 1); /* unit is a power of two */
}

bool budget_charge(struct budget *budget, uint64_t bytes)
{
	/* relaxed: only the sum matters, it publishes nothing */
	uint64_t now = atomic_load_explicit(&budget->committed, memory_order_relaxed);

	do {
		if (bytes > budget->limit || now > budget->limit - bytes) {
			errno = ENOSPC;
			return false;
		}
	} while (!atomic_compare_exchange_weak_explicit(&budget->committed, &now, now + bytes,
	                                                memory_order_relaxed, memory_order_relaxed));
	return true;
}

void budget_refund(struct budget *budget, uint64_t bytes)
{
	atomic_fetch_sub_explicit(&budget->committed, bytes, memory_order_relaxed);
}

void range_open(struct range *range, void *base, size_t capacity, size_t head,
                struct budget *budget, const struct range_config *config, unsigned rank)
{
	size_t page = os_page_size();
	size_t committed = round_up(head, page);

	range->base = base;
	range->capacity = capacity;
	range->budget = budget;
	range->page = page;
	range->chunk = round_up(config->commit_chunk, page);
	range->granularity = config->hugepages == CISTERN_HUGEPAGES_ALWAYS ? OS_HUGE_PAGE : page;
	range->prefault = config->prefault;
	atomic_init(&range->committed, committed);
	atomic_init(&range->populated, committed);
	atomic_init(&range->needed, committed);
	lock_init(&range->lock, CISTERN_LOCK_MUTEX, rank);
	range->used = head;
	range->returned = NULL;
	range->returned_bytes = 0;
	range->skipped_bytes = 0;
}

void range_close(struct range *range)
{
	lock_destroy(&range->lock);
}

/* Moves the committed end from `committed` to `end`. Holds: range lock. */
static bool commit_to(struct range *range, size_t committed, size_t end)
{
	if (!budget_charge(range->budget, end - committed))
		return false;
	if (!os_commit(range->base + committed, end - committed)) {
		budget_refund(range->budget, end - committed);
		return false;
	}
	/* C1: pairs with the acquire in range_contains */
	atomic_store_explicit(&range->committed, end, ORDER_C1_END_STORE);
	return true;
}

/* Commits up to need, and a chunk ahead where that is allowed. Holds: range lock. */
static bool commit(struct range *range, size_t need)
{
	/* relaxed: written under the lock that we hold */
	size_t committed = atomic_load_explicit(&range->committed, memory_order_relaxed);
	size_t chunk = range->chunk;
	size_t least, end;

	if (need <= committed)
		return true;
	if (chunk == 0) {
		uint64_t total = atomic_load_explicit(&range->budget->committed, memory_order_relaxed);

		chunk = total / COMMIT_SHARE > COMMIT_MAX ? COMMIT_MAX : (size_t)(total / COMMIT_SHARE);
		if (chunk < COMMIT_MIN)
			chunk = COMMIT_MIN;
	}
	least = round_up(need, range->page);
	end = chunk > range->capacity - committed ? range->capacity
	                                          : round_up(committed + chunk, range->page);
	if (end < least)
		end = least;
	end = round_up(end, range->granularity);
	if (end > range->capacity)
		end = range->capacity;
	return commit_to(range, committed, end) ||
	       (end > least && commit_to(range, committed, least));
}

/* A block that was given back and is large enough, unlinked; its surplus goes back. Holds: range lock. */
static void *take_returned(struct range *range, size_t size, size_t align)
{
	for (struct range_block **link = &range->returned; *link; link = &(*link)->next) {
		struct range_block *block = *link;
		size_t rest = block->size - size;

		if (block->size < size || (uintptr_t)block % align != 0)
			continue;
		*link = block->next;
		range->returned_bytes -= size;
		if (rest > 0) { /* a multiple of 16, as all sizes are: room for a block's own header */
			struct range_block *surplus = (void *)((char *)block + size);

			surplus->size = rest;
			surplus->next = range->returned;
			range->returned = surplus;
		}
		return block;
	}
	return NULL;
}

/* Notes how far populating should go, once what is populated is used up. Holds: range lock. */
static void want_populated(struct range *range)
{
	/* relaxed, all: hints, see range_populate */
	size_t committed = atomic_load_explicit(&range->committed, memory_order_relaxed);
	size_t needed = atomic_load_explicit(&range->needed, memory_order_relaxed);
	size_t ahead = committed / POPULATE_SHARE;

	if (range->used <= needed)
		return;
	if (ahead < POPULATE_MIN)
		ahead = POPULATE_MIN;
	if (ahead > POPULATE_MAX)
		ahead = POPULATE_MAX;
	needed = round_up(range->used + ahead, range->page);
	atomic_store_explicit(&range->needed, needed < committed ? needed : committed,
	                      memory_order_relaxed);
}

void *range_take(struct range *range, size_t size, size_t align)
{
	void *block;
	size_t at;

	assert(size % 16 == 0 && align >= 16 && (align & (align - 1)) == 0);
	lock_acquire(&range->lock);
	block = take_returned(range, size, align);
	if (!block) {
		at = round_up(range->used, align);
		if (at > range->capacity || size > range->capacity - at) {
			errno = ENOSPC;
		} else if (commit(range, at + size)) {
			range->skipped_bytes += at - range->used;
			range->used = at + size;
			want_populated(range);
			block = range->base + at;
		}
	}
	lock_release(&range->lock);
	return block;
}

void range_give(struct range *range, void *p, size_t size)
{
	struct range_block *block = p;

	lock_acquire(&range->lock);
	block->size = size;
	block->next = range->returned;
	range->returned = block;
	range->returned_bytes += size;
	lock_release(&range->lock);
}

void range_populate(struct range *range)
{
	/*
	 * relaxed, the claim too: they only say which pages are worth a hint. needed may be seen late (then the
	 * next caller populates), never early: a page is committed before needed says so, and
	 * MADV_POPULATE_WRITE on a page that is not merely fails.
	 */
	size_t from = atomic_load_explicit(&range->populated, memory_order_relaxed);
	size_t to, step;

	if (!range->prefault)
		return;
	while (from < (to = atomic_load_explicit(&range->needed, memory_order_relaxed))) {
		step = to - from < POPULATE_MAX ? to - from : POPULATE_MAX;
		if (atomic_compare_exchange_weak_explicit(&range->populated, &from, from + step,
		                                          memory_order_relaxed, memory_order_relaxed)) {
			os_populate(range->base + from, step);
			from += step;
		}
	}
}

bool range_contains(const struct range *range, uintptr_t p, size_t size)
{
	/* acquire: pairs with C1 */
	size_t committed = atomic_load_explicit(&range->committed, ORDER_C1_END_LOAD);
	uintptr_t base = (uintptr_t)range->base;

	return p >= base && p - base <= committed && size <= committed - (p - base);
}
