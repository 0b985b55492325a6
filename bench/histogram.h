/* SPDX-License-Identifier: MIT */
/*
 * histogram.h - counts of numbers by size, with the same relative precision from 0 to 2^64 - 1.
 *
 * The buckets are those of HdrHistogram: numbers below 256 have one each, and from there on every
 * power of two is cut into 128 equal parts. Adding is a shift and an increment, without a branch on
 * the range, and takes no memory: a histogram can be filled while single calls are timed.
 *
 *   index   0 .. 255 | 256 .. 383    | 384 .. 511     | ...
 *   holds   itself   | 256 .. 511 /2 | 512 .. 1023 /4 | ...
 */
#ifndef BENCH_HISTOGRAM_H
#define BENCH_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

enum {
	HISTOGRAM_BITS = 7, /* parts of a power of two: what is read is at most 1/128 too much */
	HISTOGRAM_PARTS = 1 << HISTOGRAM_BITS,
	HISTOGRAM_BUCKETS = (64 - HISTOGRAM_BITS + 1) * HISTOGRAM_PARTS
};

struct histogram {
	uint64_t total; /* how many numbers */
	uint64_t sum;
	uint64_t max;
	uint64_t counts[HISTOGRAM_BUCKETS];
};

/* An empty histogram is all zeros. */

static inline size_t histogram_index(uint64_t value)
{
	unsigned top = 63 - (unsigned)__builtin_clzll(value | HISTOGRAM_PARTS);
	unsigned shift = top - HISTOGRAM_BITS;
	return ((size_t)shift << HISTOGRAM_BITS) + (size_t)(value >> shift);
}

static inline void histogram_add(struct histogram *h, uint64_t value)
{
	h->counts[histogram_index(value)]++;
	h->total++;
	h->sum += value;
	h->max = value > h->max ? value : h->max;
}

/* The least and the greatest number of a bucket. */
uint64_t histogram_low(size_t index);
uint64_t histogram_high(size_t index);

void histogram_merge(struct histogram *to, const struct histogram *from);

/*
 * The least bucket's greatest number that so many of a million are not above; never above the
 * greatest number that was added. At most 1/128 more than the number itself, never less. 0 where
 * nothing was added.
 */
uint64_t histogram_quantile(const struct histogram *h, unsigned per_million);

#endif /* BENCH_HISTOGRAM_H */
