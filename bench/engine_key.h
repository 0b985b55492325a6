/* SPDX-License-Identifier: MIT */
/*
 * engine_key.h - the element of the sets that are C++ templates: a view of the bytes with 32 bits
 * of their hash in what would be padding. A string is hashed once, tables grow without reading
 * strings, and few strings that differ are compared byte for byte; it takes no more room than a
 * std::string_view. C++ only.
 *
 * The same type is what is looked for, with the caller's bytes, so that no set has to be asked
 * through another type. Strings of 4 GiB are more than it holds: storeKey refuses them.
 */
#ifndef BENCH_ENGINE_KEY_H
#define BENCH_ENGINE_KEY_H

#include "engine.h"
#include "engine_arena.h"
#include "engine_hash.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

struct Key {
	const char *data;
	uint32_t len;
	uint32_t hash;
};

static inline Key makeKey(const char *s, size_t len)
{
	return {s, static_cast<uint32_t>(len), static_cast<uint32_t>(engine_hash(s, len))};
}

struct KeyHash {
	size_t operator()(const Key &key) const
	{
		return key.hash;
	}
};

struct KeyEqual {
	bool operator()(const Key &a, const Key &b) const
	{
		return a.hash == b.hash && a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
	}
};

/* Lays down the bytes; data is nullptr where there is no memory, or no way to say their number. */
static inline Key storeKey(engine_arena *arena, const Key &key, size_t len)
{
	const bool fits = arena && len == key.len;
	return {fits ? engine_arena_copy(arena, key.data, len) : nullptr, key.len, key.hash};
}

// What the engines with an arena a thread have in common; Interner has them as arenas.
static inline void arenasDefaults(cistern_config *config)
{
	config->slab_size = ENGINE_ARENAS_BLOCK;
}

template <class Interner> void arenasDestroy(void *engine)
{
	Interner *e = static_cast<Interner *>(engine);
	engine_arenas_destroy(&e->arenas);
	delete e;
}

#endif /* BENCH_ENGINE_KEY_H */
