/* SPDX-License-Identifier: MIT */
/* sealed.h - what bench/corpus.h says of a sealed corpus, checked. */
#ifndef TESTS_BENCH_SEALED_H
#define TESTS_BENCH_SEALED_H

#include "../../bench/corpus.h"

/* What of it does not hold, or NULL. */
const char *sealed_fault(const struct corpus *c);

#endif
