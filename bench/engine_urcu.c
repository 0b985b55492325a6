/* SPDX-License-Identifier: MIT */
/*
 * engine_urcu.c - userspace-rcu's cds_lfht: a split-ordered list that grows by itself, lock-free
 * for everybody.
 *
 * What a good user of it does, and this does:
 *   - looks a string up before making a node of it; cds_lfht_add_unique tells who was first, and
 * the loser takes its node back.
 *   - node, length and bytes are one allocation, from an arena of each thread.
 *   - the "bulletproof" flavour, which registers threads by itself: an interner is called from
 * threads that it does not know. Its read side is inline (_LGPL_SOURCE), and cheap where the kernel
 * has membarrier.
 *   - nothing is removed, so that no grace period is ever waited for.
 *   - the table counts its nodes (CDS_LFHT_ACCOUNTING) as in the library's examples, and grows at 8
 * strings a bucket. Without counting it grows once a chain is longer than 3: hits are up to twice
 * as fast, but a chain that got long before the growing thread ran makes it grow many times over
 * (on 8,000,000 identifiers, 290,000 of them distinct, to half a gigabyte).
 *   - hashes with XXH3, of which the table takes all 64 bits and compares them before it asks for
 * the strings. Growing is done by a thread of the library, so that a process that builds has one
 * more than it started.
 *
 * Builds with sanitizers leave this engine out: m4/peers.m4.
 */
#define _LGPL_SOURCE
#include "engine_arena.h"
#include "engine_hash.h"
#include "engine_loop.h"

#include <urcu/urcu-bp.h>

#include <errno.h>
#include <urcu/rculfhash.h>

struct entry {
	struct cds_lfht_node node;
	uint32_t len;
	char data[];
};

struct interner {
	struct cds_lfht *table;
	struct engine_arenas arenas;
};

struct key {
	const char *s;
	size_t len;
};

static int same(struct cds_lfht_node *node, const void *wanted)
{
	const struct entry *entry = caa_container_of(node, struct entry, node);
	const struct key *key = wanted;
	return entry->len == key->len && memcmp(entry->data, key->s, key->len) == 0;
}

/* Within a read-side section. */
static const char *look_up(struct interner *e, unsigned long hash, const struct key *key)
{
	struct cds_lfht_iter at;
	cds_lfht_lookup(e->table, hash, same, key, &at);
	const struct cds_lfht_node *node = cds_lfht_iter_get_node(&at);
	return node ? caa_container_of(node, const struct entry, node)->data : NULL;
}

__attribute__((noinline)) static const char *find_string(struct interner *e, const char *s,
							 size_t len)
{
	struct key key = {s, len};
	unsigned long hash = (unsigned long)engine_hash(s, len);
	urcu_bp_read_lock();
	const char *found = look_up(e, hash, &key);
	urcu_bp_read_unlock();
	return found;
}

/* Within a read-side section. */
static const char *insert(struct interner *e, unsigned long hash, const struct key *key)
{
	struct engine_arena *arena = engine_arenas_mine(&e->arenas);
	size_t size = offsetof(struct entry, data) + key->len + 1;
	struct entry *entry = NULL;
	if (arena && key->len <= UINT32_MAX)
		entry = (void *)engine_arena_allocate(arena, size, 8);
	if (!entry) {
		errno = ENOMEM;
		return NULL;
	}
	cds_lfht_node_init(&entry->node);
	entry->len = (uint32_t)key->len;
	memcpy(entry->data, key->s, key->len);
	entry->data[key->len] = '\0';
	struct cds_lfht_node *node = cds_lfht_add_unique(e->table, hash, same, key, &entry->node);
	if (node != &entry->node)
		engine_arena_undo(arena, (const char *)entry, size);
	return caa_container_of(node, struct entry, node)->data;
}

__attribute__((noinline)) static const char *intern_string(struct interner *e, const char *s,
							   size_t len)
{
	struct key key = {s, len};
	unsigned long hash = (unsigned long)engine_hash(s, len);
	urcu_bp_read_lock();
	const char *p = look_up(e, hash, &key);
	if (!p)
		p = insert(e, hash, &key);
	urcu_bp_read_unlock();
	return p;
}

ENGINE_LOOPS(urcu, struct interner, intern_string, find_string)

static void defaults(cistern_config *config)
{
	config->slab_size = ENGINE_ARENAS_BLOCK;
}

static void *create(const cistern_config *config)
{
	unsigned long buckets = 1024; /* 16 KiB */
	while (buckets < config->capacity)
		buckets *= 2;
	struct interner *e = malloc(sizeof *e);
	if (!e)
		return NULL;
	e->table = cds_lfht_new_flavor(buckets, 1, 0, CDS_LFHT_AUTO_RESIZE | CDS_LFHT_ACCOUNTING,
				       &urcu_bp_flavor, NULL);
	if (!e->table) {
		free(e);
		errno = ENOMEM;
		return NULL;
	}
	engine_arenas_init(&e->arenas, config->slab_size);
	return e;
}

/* Left to the end of the process. A table must be empty before it can be destroyed, and emptying
 * one of 400,000 strings took over 50 s, while its worker thread shrank it step by step. */
static void destroy(void *engine)
{
	(void)engine;
}

static void stats(void *engine, cistern_stats *out)
{
	struct interner *e = engine;
	struct cds_lfht_iter at;
	struct entry *entry;
	engine_stats_begin(out, 1);
	urcu_bp_read_lock();
	cds_lfht_for_each_entry(e->table, &at, entry, node)
	{
		out->strings++;
		out->payload_bytes += entry->len;
	}
	urcu_bp_read_unlock();
}

const struct engine engine_urcu = {
    .name = "urcu",
    .about = "userspace-rcu " PEER_VERSION_URCU " cds_lfht, bytes in an arena a thread, XXH3",
    .knobs = "slab_size capacity",
    .defaults = defaults,
    .create = create,
    .destroy = destroy,
    .intern = urcu_intern_loop,
    .find = urcu_find_loop,
    .stats = stats,
};
