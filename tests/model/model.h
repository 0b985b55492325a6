/* SPDX-License-Identifier: MIT */
/*
 * model.h - small scenes of threads in the library's own code, each played in every execution that
 * Relacy finds: every interleaving, and in each the older values that loads may return under C11.
 *
 * Nothing in lib/ knows of it. The library is compiled once more: with c11/stdatomic.h in the place
 * of the system's, so that atomics are Relacy's; with -fsanitize=thread, by which the compiler
 * reports all other accesses to functions that instrument.c defines in ThreadSanitizer's place; and
 * with system.c in the place of lib/lock.c and lib/os.c.
 *
 *   memory.cc      what came before, plain data and its races, locks, pages
 *   atomics.cc     atomic accesses
 *   explore.cc     all executions of a scene, right and with each mutant that it has to notice
 *   instrument.c   the compiler's calls
 *   system.c       lib/os.h and lib/lock.h
 *   shard.c        lib/shard.c, with a door to the re-keying that only a flood sets off
 *   scene.c        what scenes share
 *   entries.c, tables.c, others.c
 *                  the scenes, by the labels of the publication table; a program each. By hand:
 *	tests/model/entries                 all of its scenes, as TAP
 *	tests/model/entries SCENE           one, as the library is
 *	tests/model/entries SCENE MUTANT    with that order of lib/order.h relaxed, say
 *	                                    A1_TAG_STORE: the execution that fails is printed
 *
 * What it leaves out. A load returns one of the last three values. Stores enter the order of
 * modification as they are executed, and no load sees a store of the future, so executions that
 * need load buffering are not among them; a compare-and-exchange reads the last value, also where
 * it fails. Scenes are small: two threads, seldom three. Where a scene bounds its switches,
 * executions in which threads take turns more often are left out.
 *
 * Grows by scenes. A name in lib/order.h needs one that fails without it: tests/policy/order.sh
 * looks for it.
 */
#ifndef TESTS_MODEL_MODEL_H
#define TESTS_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	MODEL_THREADS = 3,   /* at most */
	MODEL_PAGE = 64,     /* a bucket, so that small tables have whole pages, and lose them */
	MODEL_ORDER_BITS = 3 /* of an order, below the number of its name */
};

/* Beside the names of lib/order.h: madvise is no full barrier. */
#define MODEL_NO_BARRIER (-1)

struct scene {
	const char *name;
	void (*begin)(void); /* once: what has happened before all executions */
	void (*threads[MODEL_THREADS])(void);
	void (*end)(void); /* after each execution; may be NULL */
	/* How often at most a thread loses its turn that could go on; 0: any number of times. */
	unsigned switches;
	int notices[12]; /* names of lib/order.h without each of which the scene fails; then 0 */
};

/*
 * What main does with its list of scenes, which ends with an empty one. Each scene is a case, and
 * each mutant that it notices.
 */
int model_main(int argc, char **argv, const struct scene *scenes);

/* Ends an execution, which has failed, unless condition holds. */
#define model_expect(condition) model_expect_at((condition), #condition, __FILE__, __LINE__)
void model_expect_at(bool condition, const char *what, const char *file, int line);

/* ---- for scenes ---- */

/* A plain access by the scene's own code. Whoever made the access before must be known. */
void model_read(const void *p, size_t size);
void model_write(void *p, size_t size);

/* This thread must know that there is memory at p. */
void model_reach(const void *p);

/* Relaxed accesses there are of no interest: no other thread gets its turn before them. */
void model_quiet(const void *p, size_t size);

/* system.c: fresh memory and no fork handlers, for begin; the handlers, plain data. */
void model_system(void);
extern bool model_handlers;

/* shard.c: what a flood of colliding strings sets off. */
struct shard;
struct shard_common;
bool model_rekey(struct shard *shard, struct shard_common *common);

/* ---- for the library's code and what is in the place of it ---- */

uint64_t model_load(const volatile void *p, size_t size, const char *file, int line, int order);
void model_store(volatile void *p, size_t size, const char *file, int line, uint64_t value,
		 int order);
uint64_t model_exchange(volatile void *p, size_t size, const char *file, int line, uint64_t value,
			int order);
uint64_t model_add(volatile void *p, size_t size, const char *file, int line, uint64_t value,
		   int order);
bool model_compare_exchange(volatile void *p, size_t size, const char *file, int line,
			    void *expected, uint64_t value, int order, int failed);

/* Whether a look is taken: false when this is the mutant. */
bool model_looks(int recheck);

void *model_copy(void *to, const void *from, size_t size);
void *model_set(void *p, int byte, size_t size);
int model_compare(const void *a, const void *b, size_t size);

void model_lock(const void *lock);
void model_unlock(const void *lock);

/* Memory that is reserved there can be touched only by who knows that it was committed. */
void model_reserve(void *p, size_t size);
void model_commit(void *p, size_t size);

/* The system puts zeros there: a full barrier, then a store for each word. */
void model_discard(void *p, size_t size);

/* Whether main has begun; constructors come before. */
bool model_started(void);

int model_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));

#ifdef __cplusplus
}
#endif
#endif
