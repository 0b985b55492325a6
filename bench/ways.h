/* SPDX-License-Identifier: MIT */
/*
 * ways.h - ways to put a name together out of pieces, and to intern what came out.
 *
 * A set holds names of equally many pieces, the pieces cut out of the strings of a corpus. No two
 * of its names are alike, and ways_renumber makes all of them new ones.
 *
 * A way runs over a whole set, so that the call through a pointer is paid once; each result is
 * handed to a function, as a program would hand it on, and is gone when that returns.
 */
#ifndef BENCH_WAYS_H
#define BENCH_WAYS_H

#include "corpus.h"

struct ways_set {
	const cistern_span *parts; /* name k has parts[k * pieces] and the pieces - 1 behind it */
	size_t names, pieces;
	size_t bytes;   /* of all names together */
	size_t longest; /* name */
	char *memory, *numbers;
	size_t size;
};

/* How long pieces are. */
struct ways_length {
	const char *name;
	size_t least, most;
};
/* One after another, NULL behind the last. */
const struct ways_length *ways_length_at(size_t i);

/* The storage that ways without a heap have on their stacks; no name is longer. */
enum { WAYS_ROOM = 65536, WAYS_PIECES_MAX = 512 };

/* Names of so many pieces, in all some thousand pieces, out of a corpus that has bytes; or ends the
 * program where there is no memory. */
void ways_set_make(struct ways_set *set, const struct corpus *corpus, size_t pieces,
		   const struct ways_length *length, uint64_t seed);
void ways_set_free(struct ways_set *set);

/* Gives name k the number first + k, in the digits that its first piece ends with. */
void ways_renumber(struct ways_set *set, uint64_t first);

/* Writes name k and a NUL to out, which has longest + 1 bytes; returns its length. */
size_t ways_join(const struct ways_set *set, size_t k, char *out);

/* Takes the result for name k: NUL-terminated, or NULL where the way failed. */
typedef void ways_take(void *arg, size_t k, const char *str);

enum ways_part { WAYS_BUILD, WAYS_NEW, WAYS_HIT };

struct way {
	const char *name, *about;
	enum ways_part part;
	/* c: where to intern; not for WAYS_BUILD. */
	void (*run)(const struct ways_set *set, cistern *c, ways_take *take, void *arg);
};

/* One after another, NULL behind the last; those of a part stand together. */
const struct way *way_at(size_t i);
const char *ways_part_name(enum ways_part part);

#endif /* BENCH_WAYS_H */
