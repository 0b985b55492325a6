/* SPDX-License-Identifier: MIT */
/*
 * engine_arena.h - where the engines without string storage of their own put the bytes: a bump
 * allocator over blocks from malloc, so that no table is burdened with a call of malloc for each
 * string. C and C++.
 *
 * struct engine_arena is for one thread at a time. An engine with locked shards has one in each,
 * under the shard's lock. One without has struct engine_arenas, an arena for each thread: a lock or
 * an atomic counter on a shared one would be the only thing that its threads contend for. The arena
 * of a thread that has ended stays, with what is left of its last block unused, until the engine is
 * destroyed.
 *
 * Where a race was lost, the bytes laid down last can be taken back.
 */
#ifndef BENCH_ENGINE_ARENA_H
#define BENCH_ENGINE_ARENA_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* In front of each block. */
struct engine_block {
	struct engine_block *next;
};

struct engine_arena {
	char *at, *end; /* the rest of the block in use */
	struct engine_block *blocks;
	size_t block_size;
	uint64_t bytes; /* in all blocks */
	struct engine_arena *next;
};

static inline char *engine_arena_block(struct engine_arena *a, size_t size)
{
	struct engine_block *block = (struct engine_block *)malloc(size);
	if (!block)
		return NULL;
	block->next = a->blocks;
	a->blocks = block;
	a->bytes += size;
	return (char *)(block + 1);
}

/* size bytes at a multiple of alignment (8 at most), or NULL. What is larger than a block gets one
 * of its own. */
static inline char *engine_arena_allocate(struct engine_arena *a, size_t size, size_t alignment)
{
	size_t padding = -(uintptr_t)a->at & (alignment - 1);
	if (a->at && padding + size <= (size_t)(a->end - a->at)) {
		char *p = a->at + padding;
		a->at = p + size;
		return p;
	}
	if (size > a->block_size - sizeof(struct engine_block))
		return engine_arena_block(a, sizeof(struct engine_block) + size);
	char *p = engine_arena_block(a, a->block_size);
	if (!p)
		return NULL;
	a->at = p + size;
	a->end = (char *)a->blocks + a->block_size;
	return p;
}

/* The bytes and a NUL, or NULL. */
static inline char *engine_arena_copy(struct engine_arena *a, const char *s, size_t len)
{
	char *p = engine_arena_allocate(a, len + 1, 1);
	if (!p)
		return NULL;
	memcpy(p, s, len);
	p[len] = '\0';
	return p;
}

/* Takes back what was allocated last. A block of its own stays. */
static inline void engine_arena_undo(struct engine_arena *a, const char *p, size_t size)
{
	if (a->at == p + size)
		a->at -= size;
}

static inline void engine_arena_free(struct engine_arena *a)
{
	while (a->blocks) {
		struct engine_block *next = a->blocks->next;
		free(a->blocks);
		a->blocks = next;
	}
}

/* An arena for each thread that asks for one, and the block that each takes at a time. */
enum { ENGINE_ARENAS_BLOCK = 65536 };

struct engine_arenas {
	pthread_mutex_t lock; /* guards the list */
	struct engine_arena *list;
	size_t block_size;
	uint64_t number; /* tells it from one that was at the same address before */
};

/* The arena that this thread used last, and whose it is. One of each for each engine's file. */
static uint64_t engine_arenas_made __attribute__((unused));
static __thread struct engine_arena *engine_arena_last __attribute__((unused));
static __thread uint64_t engine_arena_owner __attribute__((unused));

static inline void engine_arenas_init(struct engine_arenas *all, size_t block_size)
{
	pthread_mutex_init(&all->lock, NULL);
	all->list = NULL;
	all->block_size = block_size;
	all->number = __atomic_add_fetch(&engine_arenas_made, 1, __ATOMIC_RELAXED);
}

/* This thread's, or NULL where there is no memory for one. */
static inline struct engine_arena *engine_arenas_mine(struct engine_arenas *all)
{
	if (engine_arena_owner == all->number)
		return engine_arena_last;
	/* In a cache line of its own, so that threads do not disturb each other. */
	size_t size = (sizeof(struct engine_arena) + 63) / 64 * 64;
	struct engine_arena *a = (struct engine_arena *)aligned_alloc(64, size);
	if (!a)
		return NULL;
	memset(a, 0, sizeof *a);
	a->block_size = all->block_size;
	pthread_mutex_lock(&all->lock);
	a->next = all->list;
	all->list = a;
	pthread_mutex_unlock(&all->lock);
	engine_arena_owner = all->number;
	engine_arena_last = a;
	return a;
}

static inline void engine_arenas_destroy(struct engine_arenas *all)
{
	while (all->list) {
		struct engine_arena *next = all->list->next;
		engine_arena_free(all->list);
		free(all->list);
		all->list = next;
	}
	pthread_mutex_destroy(&all->lock);
}

#endif /* BENCH_ENGINE_ARENA_H */
