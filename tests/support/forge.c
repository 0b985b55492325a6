/* SPDX-License-Identifier: MIT */
/*
 * forge.c - see forge.h. How XXH3 hashes 4 to 8 bytes is in xxHash's doc/xxhash_spec.md: the bytes
 * as one number, xor some of the secret, go through steps each of which can be undone.
 */
#include "forge.h"

static uint64_t load(const void *at)
{
	const unsigned char *p = at;
	uint64_t word = 0;
	int i;

	for (i = 7; i >= 0; i--)
		word = word << 8 | p[i];
	return word;
}

static void store(void *at, uint64_t word)
{
	unsigned char *p = at;
	int i;

	for (i = 0; i < 8; i++)
		p[i] = (unsigned char)(word >> 8 * i);
}

static uint64_t rotate(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

/* The inverse of an odd number modulo 2^64: Newton's steps double the bits that are right. */
static uint64_t inverse(uint64_t odd)
{
	uint64_t x = odd;
	int i;

	for (i = 0; i < 6; i++)
		x *= 2 - odd * x;
	return x;
}

/* Undoes y = x ^ (x >> shift). */
static uint64_t unshift(uint64_t y, unsigned shift)
{
	uint64_t x = y;
	unsigned done;

	for (done = shift; done < 64; done += shift)
		x = y ^ x >> shift;
	return x;
}

/*
 * Undoes y = x ^ rotate(x, a) ^ rotate(x, b). As polynomials modulo z^64 + 1 that is a product with
 * 1 + z^a + z^b, whose 64th power is 1 + 1 + 1 = 1: so its 63rd power undoes it.
 */
static uint64_t unrotate(uint64_t y, unsigned a, unsigned b)
{
	int i;

	for (i = 0; i < 63; i++)
		y ^= rotate(y, a) ^ rotate(y, b);
	return y;
}

void forge_chosen(const void *secret, uint64_t hash, char out[FORGED_CHOSEN])
{
	const uint64_t prime = UINT64_C(0x9FB21C651E98DF25);
	uint64_t x = hash;

	x = unshift(x, 28) * inverse(prime);
	/* x ^= (x >> 35) + length: the upper 35 bits are as they were */
	x ^= (x >> 35) + FORGED_CHOSEN;
	x = unrotate(x * inverse(prime), 49, 24);
	x ^= load((const char *)secret + 8) ^ load((const char *)secret + 16);
	/* the last four bytes are its lower half */
	store(out, rotate(x, 32));
}
