/* SPDX-License-Identifier: MIT */
/*
 * fuzz.h - what a fuzz target is: one function over bytes, which ends the process where something
 * is wrong. The name of the function is libFuzzer's, so that each target is built in two
 * ways, the second by either fuzzer:
 *
 *   tests/fuzz/NAME           with replay.c: seeds and seeded mutations of them, in "make check"
 *   tests/fuzz/NAME_fuzzer    with -fsanitize=fuzzer: libFuzzer by clang, AFL++ in persistent
 *                             mode by afl-clang-fast, whose driver calls the same function; see
 *                             "make fuzz"
 *
 * A target keeps nothing from one call to the next, and the same bytes take the same way every
 * time. To add one: NAME.c with the function and fuzz_target, NAME.seeds with its first inputs, and
 * its lines in Makefile.inc.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The target's name: its seeds are in NAME.seeds. */
extern const char fuzz_target[];

/* What sanitizers and fuzzers take for a crash, NDEBUG or not. */
#define FUZZ_CHECK(condition)                                                                      \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);    \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* The bytes that are left of an input. Behind the end everything reads as 0. */
struct fuzz_bytes {
	const uint8_t *at, *end;
};

static inline size_t fuzz_left(const struct fuzz_bytes *in)
{
	return (size_t)(in->end - in->at);
}

static inline uint8_t fuzz_byte(struct fuzz_bytes *in)
{
	return in->at < in->end ? *in->at++ : 0;
}

/* Two bytes, the low one first. */
static inline unsigned fuzz_number(struct fuzz_bytes *in)
{
	unsigned low = fuzz_byte(in);

	return low | (unsigned)fuzz_byte(in) << 8;
}

/*
 * At most `most` of the bytes that are left, in memory of exactly that size, so that a sanitizer
 * sees who reads beyond it. The caller frees it.
 */
static inline char *fuzz_text(struct fuzz_bytes *in, size_t most, size_t *len)
{
	size_t left = fuzz_left(in);
	char *text;

	*len = most < left ? most : left;
	text = malloc(*len ? *len : 1);
	FUZZ_CHECK(text);
	if (*len)
		memcpy(text, in->at, *len);
	in->at += *len;
	return text;
}

#endif
