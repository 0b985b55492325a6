/* SPDX-License-Identifier: MIT */
/* figures.h - statistics of an interner, asserted on the way. For a test's main thread. */
#ifndef TESTS_SUPPORT_FIGURES_H
#define TESTS_SUPPORT_FIGURES_H

#include <cistern.h>

#include <stdbool.h>

/* The statistics of c. */
cistern_stats figures(const cistern *c);

/* Whether committed is exactly the sum of its seven parts; false prints all of them to stderr. */
bool figures_balance(const cistern_stats *stats);

/*
 * Asserts what must hold for any interner that nobody changes at the moment: the accounting
 * identity, the memory limit, and that the shards' figures add up to the whole's.
 */
void figures_check(const cistern *c);

/* The same after hundreds of strings of that prefix: every shard's lock is to be had. */
void figures_check_alive(cistern *c, const char *prefix);

#endif
