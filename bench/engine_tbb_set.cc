// SPDX-License-Identifier: MIT
//
// engine_tbb_set.cc - oneTBB's concurrent_unordered_set: a split-ordered list, lock-free for
// everybody.
//
// What a good user of it does, and this does:
//   - looks a string up before making an element of it: nearly all are there. A loser of the race
//   to insert
//     takes its bytes back.
//   - keeps bytes in an arena of each thread, since there is no lock that could guard a shared one.
//   - leaves nodes to the container's allocator, TBB's own.
//   - hashes with XXH3: what TBB falls back on is std::hash, which reads strings more slowly.
//   - allows one string a bucket on average, not four: a tenth more memory, and hits a third
//   faster.
// The container orders nodes by their whole hash, so that strings of one bucket are told apart
// without reading them.
#include "engine_key.h"
#include "engine_loop.h"

#include <oneapi/tbb/concurrent_unordered_set.h>

#include <cerrno>
#include <new>

namespace
{

struct Interner {
	tbb::concurrent_unordered_set<Key, KeyHash, KeyEqual> set;
	engine_arenas arenas;
};

__attribute__((noinline)) const char *findString(Interner *e, const char *s, size_t len)
{
	auto it = e->set.find(makeKey(s, len));
	return it == e->set.end() ? nullptr : it->data;
}

const char *insertString(Interner *e, const Key &key, size_t len)
{
	engine_arena *arena = engine_arenas_mine(&e->arenas);
	const Key stored = storeKey(arena, key, len);
	if (!stored.data) {
		errno = ENOMEM;
		return nullptr;
	}
	auto [it, inserted] = e->set.insert(stored);
	if (!inserted)
		engine_arena_undo(arena, stored.data, len + 1);
	return it->data;
}

__attribute__((noinline)) const char *internString(Interner *e, const char *s, size_t len)
{
	const Key key = makeKey(s, len);
	auto it = e->set.find(key);
	return it == e->set.end() ? insertString(e, key, len) : it->data;
}

ENGINE_LOOPS(tbb_set, Interner, internString, findString)

void *create(const cistern_config *config)
{
	Interner *e = new (std::nothrow) Interner;
	if (!e)
		return nullptr;
	engine_arenas_init(&e->arenas, config->slab_size);
	e->set.max_load_factor(1);
	if (config->capacity)
		e->set.reserve(config->capacity);
	return e;
}

void stats(void *engine, cistern_stats *out)
{
	const Interner *e = static_cast<Interner *>(engine);
	engine_stats_begin(out, 1);
	out->strings = e->set.size();
	for (const Key &key : e->set)
		out->payload_bytes += key.len;
}

} // namespace

extern "C" const struct engine engine_tbb_set = {
    "tbb_set",
    "oneTBB " PEER_VERSION_TBB " concurrent_unordered_set, bytes in an arena a thread, XXH3",
    "slab_size capacity",
    arenasDefaults,
    create,
    arenasDestroy<Interner>,
    tbb_set_intern_loop,
    tbb_set_find_loop,
    nullptr,
    nullptr,
    stats,
    false,
};
