/* SPDX-License-Identifier: MIT */
/*
 * histogram.c - reading histograms. See histogram.h.
 *
 * A histogram has one writer; several are merged once their writers have ended.
 */
#include "histogram.h"

uint64_t histogram_low(size_t index)
{
	if (index < 2 * HISTOGRAM_PARTS)
		return index;
	unsigned shift = (unsigned)(index >> HISTOGRAM_BITS) - 1;
	return (uint64_t)(index % HISTOGRAM_PARTS + HISTOGRAM_PARTS) << shift;
}

uint64_t histogram_high(size_t index)
{
	return index + 1 < HISTOGRAM_BUCKETS ? histogram_low(index + 1) - 1 : UINT64_MAX;
}

void histogram_merge(struct histogram *to, const struct histogram *from)
{
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		to->counts[i] += from->counts[i];
	to->total += from->total;
	to->sum += from->sum;
	to->max = from->max > to->max ? from->max : to->max;
}

uint64_t histogram_quantile(const struct histogram *h, unsigned per_million)
{
	/* In integers: 0.999 of 1000 numbers is the 999th, and not by a rounding error the 1000th.
	 */
	uint64_t rank = (h->total * per_million + 999999) / 1000000, seen = 0;
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += h->counts[i];
		if (seen && seen >= rank)
			return histogram_high(i) < h->max ? histogram_high(i) : h->max;
	}
	return 0;
}
