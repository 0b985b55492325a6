/* SPDX-License-Identifier: MIT */
/*
 * words.h - strings for tests: random ones, and a plain set of strings that the interner is
 * compared with. The set is one array and a chain a bucket; it is meant to be obviously right, and
 * it knows nothing of cistern.
 */
#ifndef TESTS_SUPPORT_WORDS_H
#define TESTS_SUPPORT_WORDS_H

#include "support.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fills data with len random bytes, NULs among them. */
void random_bytes(support_rng *rng, char *data, size_t len);

/*
 * Writes a random string of at most max bytes and returns its length. The shapes are those that
 * interners get wrong: repeats from a small alphabet, prefixes of each other, NULs at either end,
 * bytes from 0x80 on.
 */
size_t random_word(support_rng *rng, char *data, size_t max);

/* One string of the set, with room for what a test wants to remember of it. */
struct word {
	char *data; /* len bytes and a NUL */
	size_t len;
	const char *kept; /* the test's: what the interner returned */
	uint64_t mark;    /* the test's */
	struct word *next_in_chain;
};

struct words {
	struct word **items; /* in the order they came */
	size_t count;
	size_t room;
	struct word **chains;
	size_t nchains;
	uint64_t payload; /* sum of the lengths */
};

void words_init(struct words *set);
void words_free(struct words *set);

/* The entry with these bytes, or NULL. */
struct word *words_get(const struct words *set, const char *data, size_t len);

/* The entry with these bytes, made if it is not there; *is_new may be NULL. Aborts without memory.
 */
struct word *words_put(struct words *set, const char *data, size_t len, bool *is_new);

/* malloc that ends the test where there is no memory. */
void *need(void *memory);

#endif
