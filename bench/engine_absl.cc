// SPDX-License-Identifier: MIT
//
// engine_absl.cc - Abseil's flat_hash_set in locked shards: what its users build where threads
// share a set.
//
// What a good user of it does, and this does:
// - splits the set over shards behind reader-writer locks: a hit takes the shard's lock for
//   reading, a miss gives it up and takes it for writing.
// - inserts through lazy_emplace, which probes once and asks for the element only where there is
//   none.
// - keeps bytes in an arena of the shard, under its lock, and 16 bytes a string in the set itself.
// - hashes once: the element keeps 32 bits, so that a table grows without reading strings. The
//   highest bits pick the shard, the set goes by the lowest: with a bit for both, all strings of a
//   shard would begin their probing in one part of its table.
// XXH3 rather than absl::Hash and std::shared_mutex rather than absl::Mutex, since that is faster.
#include "engine_key.h"
#include "engine_loop.h"

#include <absl/container/flat_hash_set.h>

#include <cerrno>
#include <memory>
#include <mutex>
#include <new>
#include <shared_mutex>

namespace
{

constexpr size_t kShards = 256;

struct alignas(64) Shard {
	mutable std::shared_mutex mutex;
	absl::flat_hash_set<Key, KeyHash, KeyEqual> set;
	engine_arena arena{};

	~Shard()
	{
		engine_arena_free(&arena);
	}
};

struct Shards {
	size_t n;
	unsigned shift; // leaves the highest log2 n of 32 bits
	std::unique_ptr<Shard[]> shards;

	Shard &select(uint64_t hash)
	{
		return shards[hash >> shift];
	}
};

__attribute__((noinline)) const char *findString(Shards *e, const char *s, size_t len)
{
	const Key key = makeKey(s, len);
	Shard &shard = e->select(key.hash);
	std::shared_lock<std::shared_mutex> lock(shard.mutex);
	auto it = shard.set.find(key);
	return it == shard.set.end() ? nullptr : it->data;
}

__attribute__((noinline)) const char *internString(Shards *e, const char *s, size_t len)
{
	const Key key = makeKey(s, len);
	Shard &shard = e->select(key.hash);
	{
		std::shared_lock<std::shared_mutex> lock(shard.mutex);
		auto it = shard.set.find(key);
		if (it != shard.set.end())
			return it->data;
	}
	std::unique_lock<std::shared_mutex> lock(shard.mutex);
	auto it = shard.set.lazy_emplace(
	    key, [&](const auto &make) { make(storeKey(&shard.arena, key, len)); });
	if (it->data)
		return it->data;
	shard.set.erase(it);
	errno = ENOMEM;
	return nullptr;
}

ENGINE_LOOPS(absl, Shards, internString, findString)

void defaults(cistern_config *config)
{
	config->shards = kShards;
	config->slab_size = 4096;
}

void *create(const cistern_config *config)
{
	size_t n = 1;
	unsigned shift = 32;
	for (; n < (config->shards ? config->shards : kShards); n *= 2)
		shift--;
	std::unique_ptr<Shards> e(new (std::nothrow) Shards{n, shift, nullptr});
	if (!e)
		return nullptr;
	e->shards.reset(new (std::nothrow) Shard[n]);
	if (!e->shards)
		return nullptr;
	for (size_t i = 0; i < n; i++) {
		e->shards[i].arena.block_size = config->slab_size;
		e->shards[i].set.reserve(config->capacity / n);
	}
	return e.release();
}

void destroy(void *e)
{
	delete static_cast<Shards *>(e);
}

void stats(void *engine, cistern_stats *out)
{
	const Shards *e = static_cast<Shards *>(engine);
	engine_stats_begin(out, e->n);
	out->control_bytes = sizeof *e + e->n * sizeof(Shard);
	out->committed_bytes = out->control_bytes;
	for (size_t i = 0; i < e->n; i++) {
		const Shard &shard = e->shards[i];
		out->strings += shard.set.size();
		// A place is an element and one byte.
		out->slots += shard.set.capacity();
		out->table_bytes += shard.set.capacity() * (sizeof(Key) + 1);
		out->committed_bytes += shard.arena.bytes;
		for (const Key &key : shard.set)
			out->payload_bytes += key.len;
	}
	out->committed_bytes += out->table_bytes;
}

} // namespace

extern "C" const struct engine engine_absl = {
    "absl",
    "Abseil " PEER_VERSION_ABSL " flat_hash_set in shards behind RW locks, XXH3",
    "shards slab_size capacity",
    defaults,
    create,
    destroy,
    absl_intern_loop,
    absl_find_loop,
    nullptr,
    nullptr,
    stats,
    false,
};
