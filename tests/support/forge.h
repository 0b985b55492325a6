/* SPDX-License-Identifier: MIT */
/*
 * forge.h - strings with chosen hashes, for who knows the 192 bytes that an interner's hashes are
 * keyed with: what an attacker can do to whom they have leaked, or who was told a fixed seed.
 *
 * For 17 to 32 bytes XXH3 adds two products, (bytes 0-7 ^ secret 0-7) x (bytes 8-15 ^ secret 8-15)
 * and the same with the last sixteen bytes and secret 16-31. A string of 32 that repeats those
 * secret bytes in its first and third word makes both 0, whatever its other words are: 2^128
 * strings with one hash.
 */
#ifndef TESTS_FORGE_H
#define TESTS_FORGE_H

#include <stdint.h>
#include <string.h>

#define FORGED 32u

/* The string with that number; secret is that of hash.h. */
static inline void forge(const void *secret, uint64_t number, char out[FORGED])
{
	uint64_t other = number * UINT64_C(0x9e3779b97f4a7c15);

	memcpy(out, secret, 8);
	memcpy(out + 8, &number, 8);
	memcpy(out + 16, (const char *)secret + 16, 8);
	memcpy(out + 24, &other, 8);
}

#define FORGED_CHOSEN 8u

/* The one string of eight bytes that has this hash, so that any of its bits can be chosen. */
void forge_chosen(const void *secret, uint64_t hash, char out[FORGED_CHOSEN]);

#endif
