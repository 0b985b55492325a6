/* SPDX-License-Identifier: MIT */
/*
 * interner.h - what an interner is made of, for the files that implement the public interface.
 */
#ifndef CISTERN_LIB_INTERNER_H
#define CISTERN_LIB_INTERNER_H

#include "shard.h"

#include <errno.h>

/*
 * The interner lies at the start of its own tables range:
 *
 *   | struct cistern | shards | empty bucket | directory | tables ...
 */
struct cistern {
	struct shard_common common; /* what a hit reads is at its start */
	struct shard *shards;

	/* immutable */
	size_t longest; /* what the range could hold at best */
	size_t control_bytes; /* of the tables range */
	size_t strings_head;  /* of the strings range: the unit that reference 0 would name */
	void *strings_map, *tables_map; /* what was reserved, alignment included */
	size_t strings_map_size, tables_map_size;
	cistern_config config; /* the effective values */

	struct budget budget;

	/* guarded by the registry's lock */
	struct cistern *next, **link;
};

static inline uint32_t interner_shards(const struct cistern *c)
{
	return c->common.shard_mask + 1;
}

/* const in the public interface means that the set of strings does not change; locks are taken all the same. */
static inline struct shard *interner_shard(const struct cistern *c, uint32_t index)
{
	return &c->shards[index];
}

/* Whether the string may be looked for inline, with shard_peek. */
ALWAYS_INLINE bool interner_short(const cistern *c, const char *s, size_t len)
{
	return c && s && len <= c->common.short_len;
}

/* Whether it may be looked for at all; decided without reading it. */
static inline bool interner_findable(const cistern *c, const char *s, size_t len)
{
	return c && (s || len == 0) && len <= c->common.max_len;
}

/* The same for interning: false with EINVAL, EOVERFLOW or E2BIG. */
static inline bool interner_acceptable(const cistern *c, const char *s, size_t len)
{
	if (interner_findable(c, s, len))
		return true;
	errno = !c || (!s && len > 0) ? EINVAL : len > PTRDIFF_MAX ? EOVERFLOW : E2BIG;
	return false;
}

/* interner.c: looks for a findable string until it finds it or has searched a table that is still in use. */
const char *interner_find(const cistern *c, const char *s, size_t len, uint64_t hash);

/*
 * fork.c: has the fork handlers installed, before any lock of the library is taken: a lock that is held while
 * they are missing stays locked in a child. It allocates, so no lock may be held. False with ENOMEM; the next call
 * tries again.
 */
bool registry_ready(void);

/* fork.c: every interner is listed, so that fork finds all locks. */
void registry_add(struct cistern *c);
void registry_remove(struct cistern *c);

/*
 * stats.c, for the child of a fork: slabs that other threads had taken for large strings and not linked yet belong to
 * nobody now. They are counted with what alignment loses. Holds: all locks of the interner.
 */
void interner_settle(struct cistern *c);

/* default.c: the lock that makes the default interner once, for fork.c. */
struct lock *default_lock(void);

/* The default interner if there is one already. */
struct cistern *default_interner(void);

#endif
