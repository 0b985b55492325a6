/* SPDX-License-Identifier: MIT */
/* maps.h - the mappings of this process, read without allocating anything. Linux only. */
#ifndef TESTS_SUPPORT_MAPS_H
#define TESTS_SUPPORT_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAPS_MAX = 2000 };

struct maps {
	size_t count;
	struct {
		uintptr_t from, to;
		bool writable;
	} ranges[MAPS_MAX];
};

/* Reads /proc/self/maps; false when there is no such thing, or too much of it. */
bool maps_read(struct maps *maps);

/*
 * The bytes of [from, to) that have memory, or had and are swapped out, as /proc/self/smaps counts
 * them. False where that is not told, or told of a mapping that is only partly in there.
 */
bool maps_resident(uintptr_t from, uintptr_t to, size_t *bytes);

/*
 * Makes what is writable now and was not mapped in before read-only; returns the bytes that this
 * took hold of. The caller sees to it that nothing but the interner mapped memory meanwhile.
 */
size_t maps_protect_since(const struct maps *before);

#endif
