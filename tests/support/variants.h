/* SPDX-License-Identifier: MIT */
/*
 * variants.h - the configurations that a test of a guarantee is repeated under. Each differs from
 * the defaults where the inside takes another way: entry layout, shift, lock, slab and table sizes.
 */
#ifndef TESTS_SUPPORT_VARIANTS_H
#define TESTS_SUPPORT_VARIANTS_H

#include "tools.h"

#include <cistern.h>

/* FEW is for cases that move megabytes, which ThreadSanitizer watches byte by byte. */
enum { VARIANTS = 10, FEW = UNDER_TSAN ? 2 : VARIANTS };

/* The configuration with that number, 0 to VARIANTS - 1. Number 0 is the defaults. */
cistern_config variant(int number);

/* Its interner. Ends the test where there is none. */
cistern *variant_create(int number);

/*
 * The configurations for threads: each lock with one shard, where all meet, and with sixteen.
 * Tables start at nothing, so that they grow all the time.
 */
enum { CROWDS = 4 };

cistern *crowd_create(int number);

#endif
