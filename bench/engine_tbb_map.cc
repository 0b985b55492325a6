// SPDX-License-Identifier: MIT
//
// engine_tbb_map.cc - oneTBB's concurrent_hash_map: chains, a reader-writer spin lock for each
// bucket and element.
//
// What a good user of it does, and this does:
//   - reads through const_accessor, which locks for reading only, and looks a string up before
//   making an element
//     of it. A loser of the race to insert takes its bytes back.
//   - keeps bytes in an arena of each thread, since there is no lock that could guard a shared one.
//   - leaves nodes to the container's allocator, TBB's own.
//   - hashes with XXH3; what TBB falls back on reads strings more slowly.
// It is a map, and no set comes with it: the value that goes with a string is one byte, the least
// there is.
#include "engine_key.h"
#include "engine_loop.h"

#include <oneapi/tbb/concurrent_hash_map.h>

#include <cerrno>
#include <new>

namespace
{

struct HashCompare {
	static size_t hash(const Key &key)
	{
		return KeyHash()(key);
	}
	static bool equal(const Key &a, const Key &b)
	{
		return KeyEqual()(a, b);
	}
};

using Map = tbb::concurrent_hash_map<Key, char, HashCompare>;

struct Interner {
	Map map;
	engine_arenas arenas;

	explicit Interner(size_t buckets) : map(buckets)
	{
	}
};

__attribute__((noinline)) const char *findString(Interner *e, const char *s, size_t len)
{
	Map::const_accessor element;
	return e->map.find(element, makeKey(s, len)) ? element->first.data : nullptr;
}

const char *insertString(Interner *e, const Key &key, size_t len)
{
	engine_arena *arena = engine_arenas_mine(&e->arenas);
	const Key stored = storeKey(arena, key, len);
	if (!stored.data) {
		errno = ENOMEM;
		return nullptr;
	}
	Map::const_accessor element;
	if (!e->map.insert(element, stored))
		engine_arena_undo(arena, stored.data, len + 1);
	return element->first.data;
}

__attribute__((noinline)) const char *internString(Interner *e, const char *s, size_t len)
{
	const Key key = makeKey(s, len);
	{
		Map::const_accessor element;
		if (e->map.find(element, key))
			return element->first.data;
	}
	return insertString(e, key, len);
}

ENGINE_LOOPS(tbb_map, Interner, internString, findString)

void *create(const cistern_config *config)
{
	// It starts with 2 buckets, and allocates those that it is told of at once.
	Interner *e = new (std::nothrow) Interner(config->capacity);
	if (!e)
		return nullptr;
	engine_arenas_init(&e->arenas, config->slab_size);
	return e;
}

void stats(void *engine, cistern_stats *out)
{
	const Interner *e = static_cast<Interner *>(engine);
	engine_stats_begin(out, 1);
	out->strings = e->map.size();
	for (const auto &element : e->map)
		out->payload_bytes += element.first.len;
}

} // namespace

extern "C" const struct engine engine_tbb_map = {
    "tbb_map",
    "oneTBB " PEER_VERSION_TBB " concurrent_hash_map, bytes in an arena a thread, XXH3",
    "slab_size capacity",
    arenasDefaults,
    create,
    arenasDestroy<Interner>,
    tbb_map_intern_loop,
    tbb_map_find_loop,
    nullptr,
    nullptr,
    stats,
    false,
};
