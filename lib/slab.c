/* SPDX-License-Identifier: MIT */
/*
 * slab.c - the bump allocator of a shard.
 *
 * A shard's first slabs are small (256 bytes, doubling), so that an interner with few strings in many shards
 * stays small. From slab_size on, slab i has slab_size << (i / growth_interval) bytes, up to slab_max:
 * the scheme of LLVM's BumpPtrAllocator (GrowthDelay). A string that does not fit into what is left of the current
 * slab and needs more than a quarter of the next one gets a slab of its own, and the current one stays; so what is
 * left unused of a slab is less than a quarter of the slab after it.
 *
 * Slabs form a list from the current one to the oldest. A slab of its own is linked behind the current one.
 * Hence who knows (current slab, cursor) knows all entries: everything behind is complete. That is all that
 * iteration and growth have to note under the lock.
 *
 * Slabs come out of the strings range and live as long as the interner. slab_alloc and slab_link need the
 * shard's lock; knows no table.
 */
#include "slab.h"

#include "order.h"

#include <assert.h>
#include <errno.h>

#define SLAB_FIRST ((size_t)256)
#define SLAB_UNIT  ((size_t)16) /* sizes of slabs are multiples of it */

static size_t round_up(size_t n, size_t unit)
{
	return (n + unit - 1) & ~(unit - 1); /* unit is a power of two */
}

static size_t slab_align(const struct entry_layout *layout)
{
	return layout->align > SLAB_UNIT ? layout->align : SLAB_UNIT;
}

/* Offset of the first entry in a slab. */
static size_t first_entry(const struct entry_layout *layout)
{
	return round_up(SLAB_HEADER, layout->align);
}

/*
 * In a slab of its own an escaped string keeps the alignment of its extras and its reference by starting
 * 8 bytes before where others do, so that str - prefix is where it always is.
 */
static size_t single_str(const struct entry_layout *layout, size_t len)
{
	size_t before = entry_escaped(len) ? ENTRY_LONG_LEN : 0;

	return round_up(SLAB_HEADER + before, layout->align) + layout->prefix;
}

size_t slab_single_size(const struct entry_layout *layout, size_t len)
{
	return round_up(single_str(layout, len) + len + 1, SLAB_UNIT);
}

size_t slab_longest(const struct entry_layout *layout, size_t size)
{
	size_t plain = size - single_str(layout, 0) - 1;
	size_t escaped = size - single_str(layout, ENTRY_ESCAPE) - 1;

	if (!entry_escaped(plain))
		return plain;
	return entry_escaped(escaped) ? escaped : ENTRY_ESCAPE - 1;
}

char *slab_single_str(const struct slab *slab)
{
	return (char *)slab + slab->used;
}

static struct slab *slab_make(const struct entry_layout *layout, struct range *range, size_t size,
                              bool single)
{
	struct slab *slab = range_take(range, size, slab_align(layout));

	if (!slab)
		return NULL;
	atomic_init(&slab->next, NULL);
	slab->used = 0;
	slab->single = single;
	return slab;
}

struct slab *slab_alloc_single(const struct entry_layout *layout, struct range *range, size_t len)
{
	struct slab *slab = slab_make(layout, range, slab_single_size(layout, len), true);

	if (slab)
		slab->used = (uint32_t)single_str(layout, len);
	return slab;
}

void slab_abandon(struct slab *slab, const struct entry_layout *layout, struct range *range,
                  size_t len)
{
	range_give(range, slab, slab_single_size(layout, len));
}

static void account(struct slabs *slabs, size_t size, size_t head)
{
	slabs->count++;
	slabs->bytes += size;
	slabs->heads += head;
}

void slab_link(struct slabs *slabs, const struct entry_layout *layout, struct slab *slab,
               size_t len)
{
	/* what rounding leaves at its end counts as padding */
	account(slabs, slab_single_size(layout, len), first_entry(layout));
	if (!slabs->head) {
		slabs->head = slab;
		return;
	}
	/* relaxed: next is written under the lock that we hold, and the slab is not linked yet */
	atomic_store_explicit(&slab->next,
	                      atomic_load_explicit(&slabs->head->next, memory_order_relaxed),
	                      memory_order_relaxed);
	/* D1: pairs with the acquire in slab_walk_next; the slab's header and entry come first */
	atomic_store_explicit(&slabs->head->next, slab, ORDER_D1_NEXT_STORE);
}

/* The size of the shard's next slab of the regular kind. */
static size_t regular_size(const struct slabs *slabs, const struct slab_policy *policy)
{
	unsigned doublings = policy->growth_interval ? slabs->sized / policy->growth_interval : 0;

	if (doublings >= 30 || policy->slab_size > policy->slab_max >> doublings)
		return policy->slab_max;
	return policy->slab_size << doublings;
}

/* Opens a fresh current slab with room for an entry of that size. Holds: shard lock. */
static bool open_slab(struct slabs *slabs, const struct slab_policy *policy,
                      const struct entry_layout *layout, struct range *range, size_t entry,
                      size_t regular)
{
	size_t first = first_entry(layout), least = first + entry;
	size_t size = slabs->small ? (size_t)slabs->small * 2 : SLAB_FIRST;
	struct slab *slab;

	while (size < least)
		size *= 2;
	if (size > policy->slab_size || slabs->sized > 0)
		size = regular;
	assert(size >= least);
	slab = slab_make(layout, range, size, false);
	if (!slab) /* the range may still hold the string alone */
		slab = slab_make(layout, range, size = round_up(least, SLAB_UNIT), false);
	if (!slab)
		return false;
	if (size < policy->slab_size)
		slabs->small = (uint32_t)size;
	else
		slabs->sized++;
	if (slabs->head && !slabs->head->single)
		slabs->head->used = (uint32_t)(slabs->cursor - (char *)slabs->head);
	/* relaxed: nobody sees the slab before the shard's lock is released */
	atomic_store_explicit(&slab->next, slabs->head, memory_order_relaxed);
	slabs->head = slab;
	slabs->abandoned += slabs->room;
	slabs->cursor = (char *)slab + first;
	slabs->room = size - first;
	account(slabs, size, first);
	return true;
}

char *slab_alloc(struct slabs *slabs, const struct slab_policy *policy,
                 const struct entry_layout *layout, struct range *range, size_t len,
                 struct slab **own)
{
	size_t entry = entry_size(layout, len);
	size_t regular;
	char *str;

	*own = NULL;
	if (entry > slabs->room) {
		regular = regular_size(slabs, policy);
		if (entry > regular / 4 || first_entry(layout) + entry > regular) {
			*own = slab_alloc_single(layout, range, len);
			return *own ? slab_single_str(*own) : NULL;
		}
		if (!open_slab(slabs, policy, layout, range, entry, regular))
			return NULL;
	}
	str = slabs->cursor + layout->prefix;
	slabs->cursor += entry;
	slabs->room -= entry;
	/* Where the next entry goes: else its stores are still on their way when the lock is taken next, and taking
	 * a lock waits for all stores before it. */
	PREFETCH_WRITE(slabs->cursor);
	PREFETCH_WRITE(slabs->cursor + 64);
	return str;
}

/* Points the walk at the entries of a slab that are complete. */
static void enter(struct slab_walk *walk, const struct slab *slab,
                  const struct entry_layout *layout, const char *end)
{
	walk->slab = slab;
	walk->at = (const char *)slab + first_entry(layout);
	walk->end = end;
}

void slab_walk_begin(struct slab_walk *walk, const struct slabs *slabs,
                     const struct entry_layout *layout)
{
	walk->slab = slabs->head;
	if (slabs->head)
		enter(walk, slabs->head, layout, slabs->cursor);
}

const char *slab_walk_next(struct slab_walk *walk, const struct entry_layout *layout, size_t *len)
{
	const char *str;

	while (walk->slab) {
		const struct slab *slab = walk->slab;

		if (slab->single && walk->at) {
			str = slab_single_str(slab);
			walk->at = NULL;
			*len = entry_len(str);
			return str;
		}
		if (!slab->single && walk->at < walk->end) {
			str = walk->at + layout->prefix;
			*len = entry_len(str);
			walk->at += entry_size(layout, *len);
			return str;
		}
		/* acquire: pairs with D1 */
		slab = atomic_load_explicit(&slab->next, ORDER_D1_NEXT_LOAD);
		walk->slab = slab;
		if (slab)
			enter(walk, slab, layout, (const char *)slab + slab->used);
	}
	return NULL;
}
