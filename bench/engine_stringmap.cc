// SPDX-License-Identifier: MIT
//
// engine_stringmap.cc - the interner that LLDB has: LLVM's StringMap split over 256 pools, each
// behind a reader-writer lock and fed by a bump allocator with 4 KiB slabs that double at every
// slab.
//
// What is kept of LLDB 19's ConstString, since it decides speed and memory:
//   - a string is hashed once; the folded hash selects the pool and the map gets the same hash.
//   Before LLVM 19
//     StringMap could not be given a hash, so there it hashes again, as LLDB did then.
//   - a hit takes the pool's read lock; a miss gives it up, takes the write lock and inserts.
//   - each entry holds a pointer for the demangled counterpart beside the characters.
//   - a caller pays one call to a function that is not inlined, as for any ConstString, and for
//   cistern_intern.
// It is compiled without assertions and with LLVM's static library where there is one: calls
// through a PLT would burden it. Neither engine is helped by link-time optimisation.
#include "engine_loop.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/Support/Allocator.h>
#include <llvm/Support/RWMutex.h>
#if LLVM_VERSION_MAJOR < 19
#include <llvm/Support/DJB.h>
#endif

#include <array>
#include <cstring>
#include <mutex>
#include <new>

namespace
{

constexpr size_t kSlab = 4096;
using Allocator = llvm::BumpPtrAllocatorImpl<llvm::MallocAllocator, kSlab, kSlab, 1>;
using Map = llvm::StringMap<const char *, Allocator>;
using Mutex = llvm::sys::SmartRWMutex<false>;

struct Pool {
	mutable Mutex mutex;
	Map map;
};

struct Pools {
	std::array<Pool, 256> pools;

	Pool &select(uint32_t hash)
	{
		return pools[((hash >> 24) ^ (hash >> 16) ^ (hash >> 8) ^ hash) & 0xff];
	}
};

#if LLVM_VERSION_MAJOR >= 19
uint32_t hashOf(llvm::StringRef key)
{
	return Map::hash(key);
}
Map::iterator lookUp(Map &map, llvm::StringRef key, uint32_t hash)
{
	return map.find(key, hash);
}
Map::iterator add(Map &map, llvm::StringRef key, uint32_t hash)
{
	return map.try_emplace_with_hash(key, hash, nullptr).first;
}
#else
uint32_t hashOf(llvm::StringRef key)
{
	return llvm::djbHash(key);
}
Map::iterator lookUp(Map &map, llvm::StringRef key, uint32_t)
{
	return map.find(key);
}
Map::iterator add(Map &map, llvm::StringRef key, uint32_t)
{
	return map.try_emplace(key, nullptr).first;
}
#endif

__attribute__((noinline)) const char *findString(Pools *e, const char *s, size_t len)
{
	llvm::StringRef key(s, len);
	const uint32_t hash = hashOf(key);
	Pool &pool = e->select(hash);
	llvm::sys::SmartScopedReader<false> lock(pool.mutex);
	auto it = lookUp(pool.map, key, hash);
	return it == pool.map.end() ? nullptr : it->getKeyData();
}

__attribute__((noinline)) const char *internString(Pools *e, const char *s, size_t len)
{
	llvm::StringRef key(s, len);
	const uint32_t hash = hashOf(key);
	Pool &pool = e->select(hash);
	{
		llvm::sys::SmartScopedReader<false> lock(pool.mutex);
		auto it = lookUp(pool.map, key, hash);
		if (it != pool.map.end())
			return it->getKeyData();
	}
	llvm::sys::SmartScopedWriter<false> lock(pool.mutex);
	return add(pool.map, key, hash)->getKeyData();
}

ENGINE_LOOPS(stringmap, Pools, internString, findString)

void *create(const cistern_config *)
{
	return new (std::nothrow) Pools;
}

void destroy(void *e)
{
	delete static_cast<Pools *>(e);
}

void stats(void *e, cistern_stats *out)
{
	engine_stats_begin(out, 256);
	for (Pool &pool : static_cast<Pools *>(e)->pools) {
		out->strings += pool.map.getNumItems();
		// A bucket is a pointer and 32 bits of hash; one more of each ends the array.
		out->table_bytes += pool.map.getNumBuckets() * (sizeof(void *) + sizeof(uint32_t));
		out->slots += pool.map.getNumBuckets();
		out->committed_bytes += pool.map.getAllocator().getTotalMemory();
		for (auto &entry : pool.map)
			out->payload_bytes += entry.getKeyLength();
	}
	out->committed_bytes += out->table_bytes + sizeof(Pools);
	out->control_bytes = sizeof(Pools);
}

} // namespace

extern "C" const struct engine engine_stringmap = {
    "stringmap",
    "LLVM " LLVM_VERSION_STRING " StringMap in 256 pools behind RW locks, as LLDB's ConstString",
    "",
    nullptr,
    create,
    destroy,
    stringmap_intern_loop,
    stringmap_find_loop,
    nullptr,
    nullptr,
    stats,
    false,
};
