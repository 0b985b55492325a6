/* SPDX-License-Identifier: MIT */
/*
 * corpus.h - the strings that a bench works on.
 *
 * A corpus is one array of bytes and one array of spans into it, in the order in which a program
 * would meet the strings, repetitions included. Everything lies in mappings of its own, not on the
 * heap: the benches look at the resident memory of an engine, and freed heap left over from reading
 * a corpus would hide some of what an engine allocates. A corpus is complete before the first
 * measurement and is only read then.
 *
 *   bytes     | s0 NUL | s1 NUL | s2 NUL ...
 *   all       spans of s0, s1, s2 ...                      (n of them)
 *   kind      all[i] equals distinct[kind[i]]
 *   distinct  the different strings, by first appearance   (ndistinct)
 *   absent    strings of like shape that are not in it     (nabsent), for look-ups that miss
 */
#ifndef BENCH_CORPUS_H
#define BENCH_CORPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cistern.h"

/* A mapping that grows by moving to one twice as large. */
struct corpus_region {
	char *base;
	size_t used;
	size_t size;
};

struct corpus {
	struct corpus_region bytes_region, all_region, kind_region, distinct_region;
	struct corpus_region absent_region, absent_bytes_region;

	const cistern_span *all;
	const uint32_t *kind;
	const cistern_span *distinct;
	const cistern_span *absent;
	size_t n, ndistinct, nabsent;

	uint64_t payload;          /* lengths of all */
	uint64_t distinct_payload; /* lengths of distinct */
	uint64_t hash;             /* of all, in order; the same on every machine */
	char name[160];            /* for people */
};

enum corpus_kind { CORPUS_FILE, CORPUS_ELF, CORPUS_SYMBOLS, CORPUS_IDENTIFIERS };

/* What the command line asked for. Without files the strings are generated. */
struct corpus_request {
	struct corpus_source {
		enum corpus_kind kind;
		const char *path;
	} * sources;
	size_t nsources;
	enum corpus_kind generate; /* CORPUS_SYMBOLS or CORPUS_IDENTIFIERS */
	uint64_t count; /* strings to generate, or at most to take from files; 0: as many as come */
	uint64_t seed;
	bool distinct_random; /* each string once, shuffled */
};

/* Makes the corpus, or ends the program with one line. */
void corpus_load(struct corpus *c, const struct corpus_request *request);
void corpus_unload(struct corpus *c);

/* The steps of corpus_load, for readers and tests. */
void corpus_open(struct corpus *c);
void corpus_add(struct corpus *c, const char *s, size_t len);
void corpus_seal(struct corpus *c);
void corpus_shuffle_distinct(struct corpus *c,
			     uint64_t seed); /* on a sealed corpus; seals it again */

/* Touches strings, whose pages a fork leaves to be mapped on first use. For the child that
 * measures. */
void corpus_touch(const cistern_span *in, size_t n);

/* The hot set: 64 of n distinct strings, spread over them. This is the number of one of them, drawn
 * at random, so that no branch predictor knows the order. n is at least 1. */
size_t corpus_hot(uint64_t *state, size_t n);

/* Readers: add the strings, or end the program. max as corpus_request.count. */
void corpus_read_lines(struct corpus *c, const char *path, uint64_t max);
void corpus_read_elf(struct corpus *c, const char *path, uint64_t max);

/* Generators: count strings from seed, the same on every machine. */
void corpus_generate_symbols(struct corpus *c, uint64_t count, uint64_t seed);
void corpus_generate_identifiers(struct corpus *c, uint64_t count, uint64_t seed);

#endif /* BENCH_CORPUS_H */
