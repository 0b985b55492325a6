/* SPDX-License-Identifier: MIT */
/*
 * engine_conststring.c - our own model of LLDB's ConstString pool, with the knobs that LLDB
 * compiles in.
 *
 * It exists so that a sweep can show what LLDB's review D68549 argued about: slab size times the
 * number of pools. Many pools keep threads apart, but each holds a slab that is partly empty, so
 * that fewer and larger pools, or smaller slabs, save memory. The real thing (engine_stringmap.cc)
 * has all of it as template arguments. bench/README.md says how close the two come.
 *
 * What is modelled, since it decides speed and memory, and where LLVM 19 has it:
 *   - pools, 256 by default, each with a reader-writer lock. The folded hash selects one, the same
 * hash goes to the map (lldb/source/Utility/ConstString.cpp). llvm::sys::SmartRWMutex is a
 * std::shared_mutex, which is a pthread_rwlock_t.
 *   - a hit takes the read lock. A miss gives it up, takes the write lock and probes again, since
 * another thread may have been first.
 *   - the map is one allocation: pointers to entries, one more that ends them, and as many 32-bit
 * hashes (llvm/lib/Support/StringMap.cpp). Probing goes 1, 2, 3 ... further. 16 buckets at first,
 * or 4/3 of the strings expected and one, as a power of two; above 3/4 they double, before the
 * string that goes above, not after it, so that no failure comes after a change. LLVM also rehashes
 * in place where removed entries leave less than 1/8 empty; a pool of strings removes none.
 *   - an entry is the length, a pointer that LLDB keeps the demangled counterpart in, the bytes and
 * a NUL, aligned to 8 (llvm/ADT/StringMapEntry.h).
 *   - slabs come from malloc; the i-th has slab_size << min(30, i / growth_interval) bytes, and
 * what does not fit into slab_size bytes gets an allocation of its own (llvm/Support/Allocator.h).
 * LLDB has 4096 and 1.
 *   - XXH3 (llvm::xxh3_64bits), of which 32 bits are kept, and one call that is not inlined for
 * each string.
 *
 * Nobody but this file knows the structs below. A pool's fields other than its lock are guarded by
 * it, for reading by the read lock; entries do not change once they are in the table.
 */
#include "engine_hash.h"
#include "engine_loop.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { POOLS = 256, SLAB_SIZE = 4096, BUCKETS = 16, SHIFT_MAX = 30 };

struct entry {
	size_t len;
	const char *counterpart; /* LLDB's value; nothing uses it here */
	char data[];
};

_Static_assert(sizeof(struct entry) == 16, "as llvm::StringMapEntry<const char *>");

/* What was allocated, so that it can be freed: LLVM keeps the same two lists. */
struct list {
	void **items;
	size_t n, room;
};

struct pool {
	pthread_rwlock_t lock;
	struct entry *
	    *table; /* buckets + 1 of them, then the hashes; NULL before the first string */
	uint32_t buckets, strings;
	char *at, *end; /* the rest of the slab in use */
	struct list slabs, own;
	uint64_t slab_bytes;  /* in slabs and in allocations of their own */
	uint64_t entry_bytes; /* entries with header, NUL and padding; LLVM counts them, too */
	uint64_t growths;
};

struct pools {
	uint32_t mask;
	uint32_t first_buckets;
	size_t slab_size;
	uint32_t growth_interval; /* 0: slabs do not grow */
	struct pool pool[];
};

static uint32_t *hashes_of(struct entry *const *table, uint32_t buckets)
{
	return (uint32_t *)(table + buckets + 1);
}

static struct entry **table_of(uint32_t buckets)
{
	return calloc((size_t)buckets + 1, sizeof(struct entry *) + sizeof(uint32_t));
}

/* The bucket that holds the string, or the empty one where its probing ends. Holds: the pool's
 * lock, and there is a table. */
static uint32_t probe(const struct pool *pool, uint32_t hash, const char *s, size_t len)
{
	const uint32_t mask = pool->buckets - 1;
	const uint32_t *hashes = hashes_of(pool->table, pool->buckets);
	uint32_t at = hash & mask;
	for (uint32_t step = 1;; step++) {
		const struct entry *entry = pool->table[at];
		if (!entry)
			return at;
		if (hashes[at] == hash && entry->len == len && memcmp(entry->data, s, len) == 0)
			return at;
		at = (at + step) & mask;
	}
}

static struct pool *select_pool(struct pools *e, uint32_t hash)
{
	return &e->pool[(hash >> 24 ^ hash >> 16 ^ hash >> 8 ^ hash) & e->mask];
}

/* An allocation of that size, remembered in a list. NULL where there is no memory; nothing has
 * changed then. */
static void *list_allocate(struct list *list, size_t size)
{
	if (list->n == list->room) {
		size_t room = list->room ? 2 * list->room : 4;
		void **items = realloc(list->items, room * sizeof *items);
		if (!items)
			return NULL;
		list->items = items;
		list->room = room;
	}
	void *p = malloc(size);
	if (p)
		list->items[list->n++] = p;
	return p;
}

static void list_free(struct list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->items[i]);
	free(list->items);
}

static size_t slab_size_at(const struct pools *e, size_t i)
{
	size_t shift = e->growth_interval ? i / e->growth_interval : 0;
	return e->slab_size << (shift < SHIFT_MAX ? shift : SHIFT_MAX);
}

/* Room for an entry. Holds: write lock. */
static void *allocate(const struct pools *e, struct pool *pool, size_t size)
{
	const size_t alignment = _Alignof(struct entry);
	size_t padding = -(uintptr_t)pool->at & (alignment - 1);
	if (pool->at && padding + size <= (size_t)(pool->end - pool->at)) {
		char *p = pool->at + padding;
		pool->at = p + size;
		pool->entry_bytes += padding;
		return p;
	}
	/* LLVM reckons with the worst alignment here. */
	if (size + alignment - 1 > e->slab_size) {
		void *p = list_allocate(&pool->own, size + alignment - 1);
		pool->slab_bytes += p ? size + alignment - 1 : 0;
		return p;
	}
	size_t slab = slab_size_at(e, pool->slabs.n);
	char *p = list_allocate(&pool->slabs, slab);
	if (!p)
		return NULL;
	pool->slab_bytes += slab;
	pool->at = p + size;
	pool->end = p + slab;
	return p;
}

/* Twice as many buckets. Holds: write lock. False: no memory; the table is as it was. */
static bool grow(struct pool *pool)
{
	uint32_t buckets = 2 * pool->buckets, mask = buckets - 1;
	struct entry **table = table_of(buckets);
	if (!table)
		return false;
	const uint32_t *from = hashes_of(pool->table, pool->buckets);
	uint32_t *to = hashes_of(table, buckets);
	for (uint32_t i = 0; i < pool->buckets; i++) {
		if (!pool->table[i])
			continue;
		uint32_t at = from[i] & mask;
		for (uint32_t step = 1; table[at]; step++)
			at = (at + step) & mask;
		table[at] = pool->table[i];
		to[at] = from[i];
	}
	free(pool->table);
	pool->table = table;
	pool->buckets = buckets;
	pool->growths++;
	return true;
}

/* Holds: write lock. */
static const char *insert(const struct pools *e, struct pool *pool, uint32_t hash, const char *s,
			  size_t len)
{
	if (!pool->table) {
		pool->table = table_of(e->first_buckets);
		if (!pool->table)
			return NULL;
		pool->buckets = e->first_buckets;
	}
	uint32_t at = probe(pool, hash, s, len);
	if (pool->table[at])
		return pool->table[at]->data;
	if (4 * (pool->strings + UINT64_C(1)) > 3 * (uint64_t)pool->buckets) {
		if (!grow(pool))
			return NULL;
		at = probe(pool, hash, s, len);
	}
	struct entry *entry = allocate(e, pool, sizeof *entry + len + 1);
	if (!entry)
		return NULL;
	entry->len = len;
	entry->counterpart = NULL;
	memcpy(entry->data, s, len);
	entry->data[len] = '\0';
	pool->table[at] = entry;
	hashes_of(pool->table, pool->buckets)[at] = hash;
	pool->strings++;
	pool->entry_bytes += sizeof *entry + len + 1;
	return entry->data;
}

__attribute__((noinline)) static const char *find_string(struct pools *e, const char *s, size_t len)
{
	const uint32_t hash = (uint32_t)engine_hash(s, len);
	struct pool *pool = select_pool(e, hash);
	pthread_rwlock_rdlock(&pool->lock);
	const struct entry *entry = pool->table ? pool->table[probe(pool, hash, s, len)] : NULL;
	pthread_rwlock_unlock(&pool->lock);
	return entry ? entry->data : NULL;
}

__attribute__((noinline)) static const char *intern_string(struct pools *e, const char *s,
							   size_t len)
{
	const uint32_t hash = (uint32_t)engine_hash(s, len);
	struct pool *pool = select_pool(e, hash);
	pthread_rwlock_rdlock(&pool->lock);
	const struct entry *entry = pool->table ? pool->table[probe(pool, hash, s, len)] : NULL;
	pthread_rwlock_unlock(&pool->lock);
	if (entry)
		return entry->data;
	pthread_rwlock_wrlock(&pool->lock);
	const char *p = insert(e, pool, hash, s, len);
	pthread_rwlock_unlock(&pool->lock);
	return p;
}

ENGINE_LOOPS(conststring, struct pools, intern_string, find_string)

static uint64_t power_of_two(uint64_t least)
{
	uint64_t n = 1;
	while (n < least)
		n *= 2;
	return n;
}

static void defaults(cistern_config *config)
{
	config->shards = POOLS;
	config->slab_size = SLAB_SIZE;
	config->growth_interval = 1;
}

static void *create(const cistern_config *config)
{
	size_t n = power_of_two(config->shards ? config->shards : POOLS);
	struct pools *e = calloc(1, sizeof *e + n * sizeof e->pool[0]);
	if (!e)
		return NULL;
	uint64_t strings = config->capacity / n;
	e->mask = (uint32_t)(n - 1);
	e->first_buckets = (uint32_t)(strings ? power_of_two(strings * 4 / 3 + 2) : BUCKETS);
	e->slab_size = config->slab_size;
	e->growth_interval = config->growth_interval;
	for (size_t i = 0; i < n; i++)
		pthread_rwlock_init(&e->pool[i].lock,
				    NULL); /* cannot fail with default attributes */
	return e;
}

static void destroy(void *engine)
{
	struct pools *e = engine;
	for (size_t i = 0; i <= e->mask; i++) {
		struct pool *pool = &e->pool[i];
		list_free(&pool->slabs);
		list_free(&pool->own);
		free(pool->table);
		pthread_rwlock_destroy(&pool->lock);
	}
	free(e);
}

static void stats(void *engine, cistern_stats *out)
{
	struct pools *e = engine;
	engine_stats_begin(out, e->mask + UINT64_C(1));
	out->control_bytes = sizeof *e + out->shards * sizeof e->pool[0];
	for (size_t i = 0; i <= e->mask; i++) {
		const struct pool *pool = &e->pool[i];
		out->strings += pool->strings;
		uint64_t payload = 0;
		for (uint32_t k = 0; k < pool->buckets; k++)
			payload += pool->table[k] ? pool->table[k]->len : 0;
		out->payload_bytes += payload;
		out->overhead_bytes += pool->entry_bytes - payload;
		out->slack_bytes += pool->slab_bytes - pool->entry_bytes;
		out->slots += pool->buckets;
		if (pool->table)
			out->table_bytes += (pool->buckets + UINT64_C(1)) *
					    (sizeof(struct entry *) + sizeof(uint32_t));
		out->control_bytes += (pool->slabs.room + pool->own.room) * sizeof(void *);
		out->slabs += pool->slabs.n + pool->own.n;
		out->growths += pool->growths;
	}
	out->committed_bytes = out->payload_bytes + out->overhead_bytes + out->slack_bytes +
			       out->table_bytes + out->control_bytes;
}

const struct engine engine_conststring = {
    .name = "conststring",
    .about = "model of LLDB's ConstString: StringMap in pools behind RW locks, XXH3",
    .knobs = "shards slab_size growth_interval capacity",
    .defaults = defaults,
    .create = create,
    .destroy = destroy,
    .intern = conststring_intern_loop,
    .find = conststring_find_loop,
    .stats = stats,
};
