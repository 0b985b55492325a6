/* SPDX-License-Identifier: MIT */
/*
 * shard.c - lib/shard.c for the models, with a door to its re-keying: honest strings do not come
 * that far, and forging a flood would take more strings than every execution can hold.
 */
#include "../../lib/shard.c"

#include "model.h"

bool model_rekey(struct shard *shard, struct shard_common *common)
{
	uintptr_t word;
	bool done;

	lock_acquire(&shard->lock);
	current_table(shard, common, &word);
	done = rekey(shard, common, word);
	lock_release(&shard->lock);
	return done;
}
