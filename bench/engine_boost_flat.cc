// SPDX-License-Identifier: MIT
//
// engine_boost_flat.cc - Boost.Unordered's concurrent_flat_set (Boost 1.84): open addressing, a
// spin lock for each group of 15 elements, and one for the whole that only growing takes for
// itself.
//
// What a good user of it does, and this does:
//   - interns with one call, insert_or_cvisit with a key that is not yet an element: the set looks
//   it up under
//     a reader's lock, and only where it inserts does it make the element of it, under the group's
//     lock. The element's constructor lays down the bytes then, so that there is no race to lose.
//   - keeps bytes in an arena of each thread, and 16 bytes a string in the set itself.
//   - hashes with XXH3 and keeps 32 bits of it, so that growing reads no strings. It is not
//   declared as
//     avalanching: that would promise 64 bits, and Boost spreads those that there are with one
//     multiplication.
#include "engine_key.h"
#include "engine_loop.h"

#include <boost/unordered/concurrent_flat_set.hpp>
#include <boost/version.hpp>

#include <cerrno>
#include <new>

namespace
{

// What is looked for, and what an element is made of where there is none.
struct Request {
	Key key;
	size_t len;
	engine_arenas *arenas;
	const char **result;
};

struct Element {
	Key key;

	explicit Element(const Request &r)
	    : key(storeKey(engine_arenas_mine(r.arenas), r.key, r.len))
	{
		// Leaves the set as it was: no element is made.
		if (!key.data)
			throw std::bad_alloc();
		*r.result = key.data;
	}
};

struct Hash {
	using is_transparent = void;

	size_t operator()(const Element &element) const
	{
		return element.key.hash;
	}
	size_t operator()(const Request &request) const
	{
		return request.key.hash;
	}
};

struct Equal {
	using is_transparent = void;

	bool operator()(const Element &a, const Element &b) const
	{
		return KeyEqual()(a.key, b.key);
	}
	bool operator()(const Request &a, const Element &b) const
	{
		return KeyEqual()(a.key, b.key);
	}
	bool operator()(const Element &a, const Request &b) const
	{
		return KeyEqual()(a.key, b.key);
	}
};

struct Interner {
	boost::concurrent_flat_set<Element, Hash, Equal> set;
	engine_arenas arenas;
};

__attribute__((noinline)) const char *findString(Interner *e, const char *s, size_t len)
{
	const char *result = nullptr;
	const Request request{makeKey(s, len), len, nullptr, nullptr};
	e->set.cvisit(request, [&](const Element &there) { result = there.key.data; });
	return result;
}

__attribute__((noinline)) const char *internString(Interner *e, const char *s, size_t len)
{
	const char *result = nullptr;
	const Request request{makeKey(s, len), len, &e->arenas, &result};
	try {
		e->set.insert_or_cvisit(request,
					[&](const Element &there) { result = there.key.data; });
	} catch (const std::bad_alloc &) {
		errno = ENOMEM;
		return nullptr;
	}
	return result;
}

ENGINE_LOOPS(boost_flat, Interner, internString, findString)

void *create(const cistern_config *config)
{
	Interner *e = new (std::nothrow) Interner;
	if (!e)
		return nullptr;
	engine_arenas_init(&e->arenas, config->slab_size);
	e->set.reserve(config->capacity);
	return e;
}

void stats(void *engine, cistern_stats *out)
{
	const Interner *e = static_cast<Interner *>(engine);
	engine_stats_begin(out, 1);
	out->strings = e->set.size();
	out->slots = e->set.bucket_count();
	e->set.cvisit_all([&](const Element &there) { out->payload_bytes += there.key.len; });
}

} // namespace

extern "C" const struct engine engine_boost_flat = {
    "boost_flat",
    "Boost " BOOST_LIB_VERSION " concurrent_flat_set, bytes in an arena a thread, XXH3",
    "slab_size capacity",
    arenasDefaults,
    create,
    arenasDestroy<Interner>,
    boost_flat_intern_loop,
    boost_flat_find_loop,
    nullptr,
    nullptr,
    stats,
    false,
};
