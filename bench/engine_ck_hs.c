/* SPDX-License-Identifier: MIT */
/*
 * engine_ck_hs.c - Concurrency Kit's hash set in locked shards: readers take no lock, writers a
 * mutex.
 *
 * What a good user of ck_hs does, and this does:
 *   - one set for each shard, in the mode for one writer and many readers (CK_HS_MODE_SPMC), so
 * that a mutex among writers is all that is needed. The top byte of the hash picks the shard; ck_hs
 * picks its first slot with the lowest bits.
 *   - ck_hs_apply inserts with one probe: its function is called with the string that is there, or
 * makes one.
 *   - the set holds pointers only. Debian's build does not pack hash bits into them, so the entry
 * keeps the hash: comparing reads one cache line of an entry that is not the one, and growing
 * hashes nothing again.
 *   - a fence orders an entry's bytes before its pointer; ck_hs leaves that to its user.
 * Readers may still be in a table that growth replaced. CK would free it by epochs, which cost
 * readers a store and a fence; here such tables are kept, as much again as the tables in use at
 * most.
 *
 * Builds with sanitizers leave this engine out: m4/peers.m4.
 */
#include "engine_arena.h"
#include "engine_hash.h"
#include "engine_loop.h"

#include <ck_hs.h>
#include <ck_pr.h>
#include <errno.h>

enum { SHARDS = 256, SLAB_SIZE = 4096 };

struct entry {
	uint64_t hash;
	uint32_t len;
	char data[];
};

enum { HEADER = offsetof(struct entry, data) };

/* What is looked for. */
struct key {
	uint64_t hash;
	const char *s;
	size_t len;
};

/* In front of each table, as long as ck_hs itself needs alignment for. */
struct table {
	struct table *next;
	size_t size;
};

struct shard {
	ck_hs_t set;
	struct table *retired; /* this and below guarded by lock */
	uint64_t table_bytes, retired_bytes, payload_bytes, growths;
	struct engine_arena arena;
	pthread_mutex_t lock;
} __attribute__((aligned(64)));

struct shards {
	uint32_t mask;
	struct shard *shard;
};

/* CK's allocator is told nothing of the set. Whoever may allocate names the shard here. */
static __thread struct shard *writing;

static void *table_allocate(size_t size)
{
	struct table *table = malloc(sizeof *table + size);
	if (!table)
		return NULL;
	table->size = size;
	writing->table_bytes += size;
	return table + 1;
}

static void table_free(void *p, size_t size, bool readers)
{
	struct table *table = (struct table *)p - 1;
	writing->table_bytes -= size;
	if (!readers) {
		free(table);
		return;
	}
	table->next = writing->retired;
	writing->retired = table;
	writing->retired_bytes += size;
	writing->growths++;
}

static struct ck_malloc allocator = {.malloc = table_allocate, .free = table_free};

/* Both are called with entries only when a set grows, and with what is there and what is looked for
 * otherwise. */
static unsigned long hash_of(const void *entry, unsigned long seed)
{
	(void)seed;
	return (unsigned long)((const struct entry *)entry)->hash;
}

static bool same(const void *there, const void *wanted)
{
	const struct entry *entry = there;
	const struct key *key = wanted;
	return entry->hash == key->hash && entry->len == key->len &&
	       memcmp(entry->data, key->s, key->len) == 0;
}

struct insertion {
	struct shard *shard;
	const struct key *key;
	const struct entry *result;
};

/* Holds: the shard's lock. */
static void *insert(void *there, void *arg)
{
	struct insertion *in = arg;
	const struct key *key = in->key;
	if (there) {
		in->result = there;
		return there;
	}
	struct entry *entry = NULL;
	if (key->len <= UINT32_MAX)
		entry = (void *)engine_arena_allocate(&in->shard->arena, HEADER + key->len + 1, 8);
	if (!entry)
		return NULL;
	entry->hash = key->hash;
	entry->len = (uint32_t)key->len;
	memcpy(entry->data, key->s, key->len);
	entry->data[key->len] = '\0';
	in->shard->payload_bytes += key->len;
	in->result = entry;
	ck_pr_fence_store();
	return entry;
}

static struct shard *shard_of(struct shards *e, uint64_t hash)
{
	return &e->shard[(uint32_t)(hash >> 48) & e->mask];
}

__attribute__((noinline)) static const char *find_string(struct shards *e, const char *s,
							 size_t len)
{
	struct key key = {engine_hash(s, len), s, len};
	struct shard *shard = shard_of(e, key.hash);
	const struct entry *entry = ck_hs_get(&shard->set, (unsigned long)key.hash, &key);
	return entry ? entry->data : NULL;
}

__attribute__((noinline)) static const char *intern_string(struct shards *e, const char *s,
							   size_t len)
{
	struct key key = {engine_hash(s, len), s, len};
	struct shard *shard = shard_of(e, key.hash);
	const struct entry *entry = ck_hs_get(&shard->set, (unsigned long)key.hash, &key);
	if (entry)
		return entry->data;
	struct insertion in = {shard, &key, NULL};
	pthread_mutex_lock(&shard->lock);
	writing = shard;
	bool done = ck_hs_apply(&shard->set, (unsigned long)key.hash, &key, insert, &in);
	pthread_mutex_unlock(&shard->lock);
	if (done && in.result)
		return in.result->data;
	errno = ENOMEM;
	return NULL;
}

ENGINE_LOOPS(ck_hs, struct shards, intern_string, find_string)

static void defaults(cistern_config *config)
{
	config->shards = SHARDS;
	config->slab_size = SLAB_SIZE;
}

static void destroy(void *engine)
{
	struct shards *e = engine;
	for (size_t i = 0; i <= e->mask; i++) {
		struct shard *shard = &e->shard[i];
		writing = shard;
		if (shard->set.map)
			ck_hs_destroy(&shard->set);
		while (shard->retired) {
			struct table *next = shard->retired->next;
			free(shard->retired);
			shard->retired = next;
		}
		engine_arena_free(&shard->arena);
		pthread_mutex_destroy(&shard->lock);
	}
	free(e->shard);
	free(e);
}

static void *create(const cistern_config *config)
{
	size_t n = 1;
	while (n < (config->shards ? config->shards : SHARDS))
		n *= 2;
	struct shards *e = malloc(sizeof *e);
	if (!e)
		return NULL;
	e->mask = (uint32_t)(n - 1);
	e->shard = aligned_alloc(64, n * sizeof *e->shard);
	if (!e->shard) {
		free(e);
		return NULL;
	}
	memset(e->shard, 0, n * sizeof *e->shard);
	bool good = true;
	for (size_t i = 0; i < n; i++) {
		writing = &e->shard[i];
		writing->arena.block_size = config->slab_size;
		pthread_mutex_init(&writing->lock, NULL);
		/* It grows above a half. */
		good &= ck_hs_init(&writing->set, CK_HS_MODE_SPMC | CK_HS_MODE_OBJECT, hash_of,
				   same, &allocator, 2 * (unsigned long)(config->capacity / n), 0);
	}
	if (good)
		return e;
	destroy(e);
	errno = ENOMEM;
	return NULL;
}

static void stats(void *engine, cistern_stats *out)
{
	struct shards *e = engine;
	engine_stats_begin(out, e->mask + UINT64_C(1));
	out->control_bytes = sizeof *e + out->shards * sizeof *e->shard;
	out->committed_bytes = out->control_bytes;
	for (size_t i = 0; i <= e->mask; i++) {
		struct shard *shard = &e->shard[i];
		out->strings += ck_hs_count(&shard->set);
		out->payload_bytes += shard->payload_bytes;
		out->table_bytes += shard->table_bytes;
		out->retired_bytes += shard->retired_bytes;
		out->growths += shard->growths;
		out->committed_bytes +=
		    shard->table_bytes + shard->retired_bytes + shard->arena.bytes;
	}
}

const struct engine engine_ck_hs = {
    .name = "ck_hs",
    .about = "Concurrency Kit " PEER_VERSION_CK_HS
	     " ck_hs in shards: no lock for hits, a mutex for inserts, XXH3",
    .knobs = "shards slab_size capacity",
    .defaults = defaults,
    .create = create,
    .destroy = destroy,
    .intern = ck_hs_intern_loop,
    .find = ck_hs_find_loop,
    .stats = stats,
};
