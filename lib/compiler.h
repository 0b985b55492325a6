/* SPDX-License-Identifier: MIT */
/*
 * compiler.h - what GNU C offers beyond the standard and the library uses: gcc, clang and icx have it.
 */
#ifndef CISTERN_LIB_COMPILER_H
#define CISTERN_LIB_COMPILER_H

#if !defined(__GNUC__)
#error "libcistern is built with a compiler that knows GNU C, such as gcc or clang"
#endif

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define NOINLINE      __attribute__((noinline))
#define FLATTEN       __attribute__((flatten)) /* inlines all that is called within */

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Hints that the line at p is going to be read, or written; p need not be readable. */
#define PREFETCH_READ(p)  __builtin_prefetch(p, 0)
#define PREFETCH_WRITE(p) __builtin_prefetch(p, 1)

/* Index of the lowest bit set; x is not 0. */
#define FIRST_BIT(x) ((unsigned)__builtin_ctz(x))

#endif
