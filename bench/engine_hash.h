/* SPDX-License-Identifier: MIT */
/*
 * engine_hash.h - XXH3 for the engines whose library takes a hash from its user: the one that
 * LLVM's StringMap has brought since version 17 (llvm::xxh3_64bits, no seed) and that cistern has
 * with a secret, so that no engine of these is ahead or behind by its hash. C and C++.
 */
#ifndef BENCH_ENGINE_HASH_H
#define BENCH_ENGINE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static inline uint64_t engine_hash(const char *s, size_t len)
{
	return XXH3_64bits(s, len);
}

#endif /* BENCH_ENGINE_HASH_H */
