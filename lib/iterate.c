/* SPDX-License-Identifier: MIT */
/*
 * iterate.c - visiting all strings. Each shard's lock is taken only to note where its entries end at that
 * moment; entries are immutable and slabs stay, so the walk and the callbacks need no lock.
 */
#include "interner.h"

#include <errno.h>

int cistern_foreach(const cistern *c, int (*fn)(const char *str, size_t len, void *arg), void *arg)
{
	if (!c || !fn) {
		errno = EINVAL;
		return -1;
	}
	for (uint32_t i = 0; i < interner_shards(c); i++) {
		struct slab_walk walk;
		const char *str;
		size_t len;

		shard_walk_begin(interner_shard(c, i), &c->common, &walk);
		while ((str = slab_walk_next(&walk, &c->common.layout, &len)) != NULL) {
			int answer;

			shard_check_string(&c->common, i, str, len);
			answer = fn(str, len, arg);
			if (answer != 0)
				return answer;
		}
	}
	return 0;
}
