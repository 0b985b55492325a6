/* SPDX-License-Identifier: MIT */
/*
 * scene.h - what scenes share: an interner of one shard, and what threads do with it. See scene.c.
 */
#ifndef TESTS_MODEL_SCENE_H
#define TESTS_MODEL_SCENE_H

#include "interner.h"

#include "model.h"

extern cistern *set;
extern const char *known;  /* the string that was there before */
extern cistern_id next_id; /* the one that the next string in the current slab is going to have */

/* For .notices: the number of a name in lib/order.h. */
#define M(name) MUTANT_##name

uint64_t hash_of(const char *s);
void note_next_id(void);

/* Interns s under the shard's lock, without looking before it is taken. */
const char *insert(const char *s);

/* This thread may read str, and finds s there. */
void expect_whole(const char *str, const char *s);

/* Beginnings. A first table has one bucket, so ten strings fit in. */
cistern_config small(uint64_t seed, unsigned value_size, bool links);
void make_with(uint64_t seed, unsigned value_size, bool links);
void bare(void);      /* no table yet, but the bucket that all empty shards share */
void empty(void);     /* a table without strings */
void with_slab(void); /* and a slab, so that a new string commits nothing */
void with_known(void);
void with_slab_and_next_id(void);

/* What threads do. */
void insert_new(void);
void insert_and_grow(void);
void grow(void);
void find_new(void);      /* if it is found, it is whole */
void search_new(void);    /* the same without the first look */
void validate_next(void); /* if it is an id, it is that of a whole string */

#endif
