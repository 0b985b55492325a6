/* SPDX-License-Identifier: MIT */
/*
 * slab.h - bump allocation of entries in slabs, and walking what was allocated. See slab.c.
 */
#ifndef CISTERN_LIB_SLAB_H
#define CISTERN_LIB_SLAB_H

#include "entry.h"
#include "range.h"

/*
 *  slab                first entry                          end of the entries       end
 *   | next used single  | entry entry entry ...              | slack                  |
 *
 * single is immutable; used is written once, under the shard's lock, when the slab stops being
 * the current one (a single slab has it from the start); next is written under that lock and read
 * without (D1).
 */
struct slab {
	_Atomic(struct slab *) next;
	uint32_t used; /* offset of the entries' end, 0 while the slab is the current one */
	bool single;   /* holds one entry, escaped or not; then used is the offset of its string */
};

#define SLAB_HEADER sizeof(struct slab)
_Static_assert(sizeof(void *) != 8 || SLAB_HEADER == 16, "slab header on 64-bit systems");
_Static_assert(sizeof(void *) != 4 || SLAB_HEADER == 12, "slab header on 32-bit systems");

/* How slabs are sized; immutable. */
struct slab_policy {
	size_t slab_size;
	size_t slab_max;
	uint32_t growth_interval;
};

/* The slabs of one shard. Guarded by its lock. What every insert changes comes first. */
struct slabs {
	char *cursor;       /* where the next entry goes, in the current slab */
	size_t room;        /* bytes from there to its end */
	struct slab *head;  /* the current slab; then the older ones */
	uint32_t sized;     /* slabs that counted for the growth interval */
	uint32_t small;     /* size of the last small first slab; 0 before it */
	uint64_t count;
	uint64_t bytes;     /* of all slabs */
	uint64_t heads;     /* what their headers take, alignment included */
	uint64_t abandoned; /* unused ends of slabs that are no longer the current one */
};

/* Bytes handed out to entries. Holds: shard lock. */
static inline uint64_t slab_entry_bytes(const struct slabs *slabs)
{
	return slabs->bytes - slabs->heads - slabs->abandoned - slabs->room;
}

/*
 * Room for the entry of a string of len bytes, in the current slab or a fresh one. Returns where the
 * string goes, or NULL with ENOSPC or ENOMEM. *own is the slab that the string has to itself, NULL if it has none: it is
 * to be linked once the string is written, since walks may enter it at once. Holds: shard lock.
 */
char *slab_alloc(struct slabs *slabs, const struct slab_policy *policy,
                 const struct entry_layout *layout, struct range *range, size_t len,
                 struct slab **own);

/*
 * A slab for one string alone, not linked to any shard yet: slab_link makes it part of one,
 * slab_abandon gives it back; len is the same for both. NULL with ENOSPC or ENOMEM. Holds: nothing.
 */
struct slab *slab_alloc_single(const struct entry_layout *layout, struct range *range, size_t len);
char *slab_single_str(const struct slab *slab);
void slab_link(struct slabs *slabs, const struct entry_layout *layout, struct slab *slab,
               size_t len);
void slab_abandon(struct slab *slab, const struct entry_layout *layout, struct range *range,
                  size_t len);

/* Bytes that a slab for one string of len bytes takes; the longest string for which that is at most size, a page or more. */
size_t slab_single_size(const struct entry_layout *layout, size_t len);
size_t slab_longest(const struct entry_layout *layout, size_t size);

/*
 * Walks the entries that were there at slab_walk_begin. Begin holds the shard's lock; the rest may go on
 * without it, since entries are immutable and slabs never go away.
 */
struct slab_walk {
	const struct slab *slab;
	const char *at, *end;
};

void slab_walk_begin(struct slab_walk *walk, const struct slabs *slabs,
                     const struct entry_layout *layout);
/* The next string and its length, or NULL. */
const char *slab_walk_next(struct slab_walk *walk, const struct entry_layout *layout, size_t *len);

#endif
