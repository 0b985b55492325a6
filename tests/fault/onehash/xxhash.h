/* SPDX-License-Identifier: MIT */
/*
 * xxhash.h - stands in front of xxHash's own header for the library that tests/fault/onehash.c
 * links: the same functions, whose results the test chooses.
 */
#ifndef TESTS_FAULT_ONEHASH_XXHASH_H
#define TESTS_FAULT_ONEHASH_XXHASH_H

#include <stddef.h>
#include <stdint.h>

#define XXH3_SECRET_SIZE_MIN 136

typedef struct XXH3_state {
	uint64_t hash;
} XXH3_state_t;

uint64_t XXH3_64bits_withSecret(const void *data, size_t len, const void *secret,
				size_t secret_size);
void XXH3_64bits_reset_withSecret(XXH3_state_t *state, const void *secret, size_t secret_size);
void XXH3_64bits_update(XXH3_state_t *state, const void *data, size_t len);
uint64_t XXH3_64bits_digest(const XXH3_state_t *state);

#endif
