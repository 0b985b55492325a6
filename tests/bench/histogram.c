/* SPDX-License-Identifier: MIT */
/*
 * histogram.c - tests of the histograms against sorted arrays, and of the clock for single calls.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../bench/histogram.h"
#include "../../bench/ticks.h"
#include "support.h"

/* Numbers of all sizes: as many of each length in bits. */
static uint64_t any_number(support_rng *rng)
{
	return support_rng_next(rng) >> support_rng_below(rng, 64);
}

static int compare_numbers(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

START_TEST(every_number_has_one_bucket)
{
	/* Buckets join without gaps or overlaps, from 0 to the greatest number. */
	ck_assert_uint_eq(histogram_low(0), 0);
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		uint64_t low = histogram_low(i), high = histogram_high(i);
		ck_assert_uint_le(low, high);
		ck_assert_uint_eq(histogram_index(low), i);
		ck_assert_uint_eq(histogram_index(high), i);
		if (i + 1 < HISTOGRAM_BUCKETS)
			ck_assert_uint_eq(histogram_low(i + 1), high + 1);
	}
	ck_assert_uint_eq(histogram_high(HISTOGRAM_BUCKETS - 1), UINT64_MAX);
}
END_TEST

START_TEST(buckets_are_at_most_a_128th_wide)
{
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		uint64_t low = histogram_low(i), width = histogram_high(i) - low;
		ck_assert_uint_le(width, low / HISTOGRAM_PARTS);
		if (low < 256)
			ck_assert_uint_eq(width, 0);
	}
}
END_TEST

START_TEST(quantiles_are_those_of_a_sorted_array)
{
	static const unsigned parts[] = {0, 1, 250000, 500000, 990000, 999000, 999900, 1000000};
	support_rng rng = support_rng_start(1);
	struct histogram *h = malloc(sizeof *h);
	ck_assert_ptr_nonnull(h);
	for (int run = 0; run < 40; run++) {
		size_t n = 1 + (size_t)support_rng_below(&rng, 20000);
		uint64_t *numbers = malloc(n * sizeof *numbers), sum = 0;
		ck_assert_ptr_nonnull(numbers);
		memset(h, 0, sizeof *h);
		for (size_t i = 0; i < n; i++) {
			numbers[i] =
			    run % 2 ? any_number(&rng) : 30 + support_rng_below(&rng, 3000);
			histogram_add(h, numbers[i]);
			sum += numbers[i];
		}
		qsort(numbers, n, sizeof *numbers, compare_numbers);
		ck_assert_uint_eq(h->total, n);
		ck_assert_uint_eq(h->sum, sum);
		ck_assert_uint_eq(h->max, numbers[n - 1]);
		for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
			/* So many are not above it: the rank is rounded up. */
			size_t rank = (size_t)((n * (uint64_t)parts[k] + 999999) / 1000000);
			uint64_t right = numbers[rank ? rank - 1 : 0];
			uint64_t got = histogram_quantile(h, parts[k]);
			ck_assert_uint_ge(got, right);
			ck_assert_uint_le(got - right, right / HISTOGRAM_PARTS);
		}
		free(numbers);
	}
	free(h);
}
END_TEST

START_TEST(quantiles_of_small_numbers_are_exact)
{
	struct histogram *h = calloc(1, sizeof *h);
	ck_assert_ptr_nonnull(h);
	ck_assert_uint_eq(histogram_quantile(h, 500000), 0);
	for (uint64_t i = 1; i <= 200; i++)
		for (int times = 0; times < 50; times++)
			histogram_add(h, i);
	ck_assert_uint_eq(histogram_quantile(h, 500000), 100);
	ck_assert_uint_eq(histogram_quantile(h, 990000), 198);
	ck_assert_uint_eq(histogram_quantile(h, 999900), 200);
	/* The 9,999th of 10,000, where floating point may land on the 10,000th. */
	memset(h, 0, sizeof *h);
	for (int i = 0; i < 9999; i++)
		histogram_add(h, 7);
	histogram_add(h, 1000000);
	ck_assert_uint_eq(histogram_quantile(h, 999900), 7);
	ck_assert_uint_eq(histogram_quantile(h, 999901), 1000000);
	free(h);
}
END_TEST

START_TEST(merged_is_as_if_all_had_been_added_to_one)
{
	support_rng rng = support_rng_start(2);
	struct histogram *h = calloc(3, sizeof *h);
	ck_assert_ptr_nonnull(h);
	for (int i = 0; i < 5000; i++) {
		uint64_t number = any_number(&rng);
		histogram_add(&h[support_rng_below(&rng, 2)], number);
		histogram_add(&h[2], number);
	}
	histogram_merge(&h[0], &h[1]);
	ck_assert_int_eq(memcmp(&h[0], &h[2], sizeof *h), 0);
	free(h);
}
END_TEST

/* A thousandth of a second by ticks is about that by the system's clock. */
static void check_clock(bool counter)
{
	ticks_start(counter);
	ck_assert(counter || !ticks.counter);
	ck_assert_int_gt(strlen(ticks.about), 0);
	uint64_t outside = harness_now(), start = ticks_now(), inside = harness_now();
	while (harness_now() - inside < 20000000)
		;
	uint64_t inside_end = harness_now(), end = ticks_now(), outside_end = harness_now();
	double ns = ticks_ns(end - start);
	ck_assert(ns > 0.99 * (double)(inside_end - inside));
	ck_assert(ns < 1.01 * (double)(outside_end - outside));
	for (int i = 0; i < 1000; i++) {
		start = ticks_now();
		ck_assert_int_ge((int64_t)(ticks_now() - start), -1000);
	}
}

START_TEST(ticks_agree_with_the_clock_of_the_system)
{
	check_clock(true);
}
END_TEST

START_TEST(ticks_do_without_a_counter)
{
	check_clock(false);
	ck_assert(ticks.ns_per_tick == 1);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("bench/histogram");
	support_add(s, every_number_has_one_bucket);
	support_add(s, buckets_are_at_most_a_128th_wide);
	support_add(s, quantiles_are_those_of_a_sorted_array);
	support_add(s, quantiles_of_small_numbers_are_exact);
	support_add(s, merged_is_as_if_all_had_been_added_to_one);
	support_add(s, ticks_agree_with_the_clock_of_the_system);
	support_add(s, ticks_do_without_a_counter);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "bench/histogram", make);
}
