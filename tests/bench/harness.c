/* SPDX-License-Identifier: MIT */
/*
 * harness.c - tests of what the harness makes of series of figures: spreads, ratios within rounds, turns.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../bench/harness.h"
#include "support.h"

static void check_spread(struct harness_spread spread, double q1, double median, double q3)
{
	ck_assert_double_eq_tol(spread.q1, q1, 1e-12);
	ck_assert_double_eq_tol(spread.median, median, 1e-12);
	ck_assert_double_eq_tol(spread.q3, q3, 1e-12);
}

START_TEST(spread_is_median_and_quartiles_in_any_order)
{
	double five[] = {5, 1, 4, 2, 3}, four[] = {4, 1, 3, 2}, one[] = {7};
	check_spread(harness_spread_of(five, 5), 2, 3, 4);
	check_spread(harness_spread_of(four, 4), 1.75, 2.5, 3.25);
	check_spread(harness_spread_of(one, 1), 7, 7, 7);
}
END_TEST

START_TEST(ratio_is_own_over_base_within_each_round)
{
	/* The machine is slower in later rounds; only pairing sees that own is twice as fast in each. */
	const double base[] = {100, 50, 10}, own[] = {200, 100, 20};
	struct harness_pair pair = harness_pair_of(own, base, 3);
	ck_assert(pair.known);
	ck_assert(pair.paired);
	check_spread(pair.ratio, 2, 2, 2);
	check_spread(pair.own, 60, 100, 150);

	const double mixed[] = {100, 150, 5};
	check_spread(harness_pair_of(mixed, base, 3).ratio, 0.75, 1, 2);
}
END_TEST

START_TEST(nothing_is_paired_with_nothing)
{
	const double own[] = {1, 2}, zero[] = {1, 0}, unknown[] = {1, NAN};
	ck_assert(harness_pair_of(own, NULL, 2).known);
	ck_assert(!harness_pair_of(own, NULL, 2).paired);
	ck_assert(!harness_pair_of(own, zero, 2).paired);
	ck_assert(!harness_pair_of(own, unknown, 2).paired);
	ck_assert(!harness_pair_of(unknown, own, 2).known);
	ck_assert(!harness_pair_of(unknown, own, 2).paired);
}
END_TEST

START_TEST(each_takes_each_turn_once_and_every_other_round_goes_backwards)
{
	for (size_t n = 1; n < 6; n++)
		for (size_t i = 0; i < n; i++) {
			ck_assert_uint_eq(harness_in_turn(i, n, 0), i);
			ck_assert_uint_eq(harness_in_turn(i, n, 1), n - 1 - i);
			ck_assert_uint_eq(harness_in_turn(i, n, 2), i);
		}
}
END_TEST

START_TEST(deviation_is_that_of_a_sample)
{
	const double values[] = {2, 4, 4, 4, 5, 5, 7, 9};
	ck_assert_double_eq_tol(harness_deviation(values, 8), sqrt(32.0 / 7), 1e-12);
	ck_assert_double_eq(harness_deviation(values, 1), 0);
}
END_TEST

START_TEST(processors_do_some_arithmetic)
{
	/* How much depends on what else runs, so that there is no more to say. */
	ck_assert_double_gt(harness_parallel(), 0);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("bench/harness");
	support_add(s, spread_is_median_and_quartiles_in_any_order);
	support_add(s, ratio_is_own_over_base_within_each_round);
	support_add(s, nothing_is_paired_with_nothing);
	support_add(s, each_takes_each_turn_once_and_every_other_round_goes_backwards);
	support_add(s, deviation_is_that_of_a_sample);
	support_add(s, processors_do_some_arithmetic);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "bench/harness", make);
}
