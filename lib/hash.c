/* SPDX-License-Identifier: MIT */
/*
 * hash.c - secrets, and the hashes that are not on the way of every call. Keeps no state; any thread may
 * call anything. hash.[ch] are the only files that include xxHash.
 */
#include "hash.h"

#include "os.h"

bool secret_draw(struct secret *secret)
{
	return os_random(secret->bytes, sizeof secret->bytes);
}

/* SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014). */
void secret_from_seed(struct secret *secret, uint64_t seed)
{
	for (size_t i = 0; i < sizeof secret->bytes; i += 8) {
		uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);

		z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
		z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
		z ^= z >> 31;
		for (size_t byte = 0; byte < 8; byte++)
			secret->bytes[i + byte] = (unsigned char)(z >> 8 * byte);
	}
}

uint64_t hash_bytes(const struct secret *secret, const char *s, size_t len)
{
	return XXH3_64bits_withSecret(s, len, secret->bytes, sizeof secret->bytes);
}

uint64_t hash_parts(const struct secret *secret, const cistern_span *parts, size_t nparts)
{
	XXH3_state_t state;

	XXH3_64bits_reset_withSecret(&state, secret->bytes, sizeof secret->bytes);
	for (size_t i = 0; i < nparts; i++)
		if (parts[i].len > 0)
			XXH3_64bits_update(&state, parts[i].data, parts[i].len);
	return XXH3_64bits_digest(&state);
}

/*
 * The one place that reads bytes while they may be written. volatile makes it one load a byte, none invented and
 * none repeated; the copy is then hashed, and only a string found under that hash counts.
 */
__attribute__((noinline, no_sanitize("thread"))) void
hash_copy_racing(void *to, const void *from, size_t len)
{
	const volatile unsigned char *source = from;
	unsigned char *target = to;

	for (size_t i = 0; i < len; i++)
		target[i] = source[i];
}

uint64_t hash_racing_bytes(const struct secret *secret, const char *s, size_t len)
{
	XXH3_state_t state;
	unsigned char copy[512];

	XXH3_64bits_reset_withSecret(&state, secret->bytes, sizeof secret->bytes);
	while (len > 0) {
		size_t n = len < sizeof copy ? len : sizeof copy;

		hash_copy_racing(copy, s, n);
		XXH3_64bits_update(&state, copy, n);
		s += n;
		len -= n;
	}
	return XXH3_64bits_digest(&state);
}
