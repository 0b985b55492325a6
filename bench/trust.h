/* SPDX-License-Identifier: MIT */
/*
 * trust.h - how far to trust the figures of a run: remarks on a busy machine and on a set of
 * strings that is too small.
 */
#ifndef BENCH_TRUST_H
#define BENCH_TRUST_H

#include <stdbool.h>
#include <stddef.h>

struct trust {
	double before, after; /* load averages; NaN: not known */
	unsigned processors;
	unsigned threads; /* the most that the run itself had; they are in the load after it */
	double spread; /* the typical distance of quartiles of speeds, as a part; NaN: not known */
	size_t strings;
};

/* The remarks as sentences, i counting them; false behind the last. */
bool trust_remark(const struct trust *t, size_t i, char *out, size_t size);

#endif /* BENCH_TRUST_H */
