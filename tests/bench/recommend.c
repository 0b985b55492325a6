/* SPDX-License-Identifier: MIT */
/*
 * recommend.c - tests of the Pareto front and of the choice between settings: what is clearly
 * better is chosen, what scatter may have made better is not.
 */
#include <math.h>

#include "../../bench/recommend.h"
#include "support.h"

enum { ROUNDS = 5 };

static const double ones[ROUNDS] = {1, 1, 1, 1, 1};
static const struct recommend_option defaults = {ones, ones, ROUNDS, 0};

/* The defaults at 0, and another option. */
static struct recommend_choice choose(const double *speed, const double *memory)
{
	struct recommend_option options[] = {defaults, {speed, memory, ROUNDS, 1}};
	return recommend_choose(options, 2, 0);
}

START_TEST(front_has_what_nothing_beats)
{
	/*                    small fast  slower, larger  twin  unknown */
	const double memory[] = {1, 4, 2, 3, 1, 2};
	const double speed[] = {1, 3, 2, 1.5, 1, NAN};
	const bool right[] = {true, true, true, false, false, false};
	bool front[6];
	recommend_front(memory, speed, 6, front);
	for (int i = 0; i < 6; i++)
		ck_assert_msg(front[i] == right[i], "option %d", i);
}
END_TEST

START_TEST(clear_gain_is_chosen)
{
	const double faster[] = {1.20, 1.22, 1.19, 1.21, 1.20};
	ck_assert_uint_eq(choose(faster, ones).chosen, 1);
	const double smaller[] = {0.7, 0.71, 0.7, 0.69, 0.7};
	ck_assert_uint_eq(choose(ones, smaller).chosen, 1);
}
END_TEST

START_TEST(gain_within_the_spread_is_not)
{
	const double scatters[] = {0.95, 1.30, 1.10, 1.35, 0.97};
	struct recommend_choice choice = choose(scatters, ones);
	ck_assert_uint_eq(choice.best, 1);
	ck_assert_uint_eq(choice.chosen, 0);
	ck_assert(choice.gain.median > 1.05);
}
END_TEST

START_TEST(gain_within_the_noise_is_not)
{
	const double faster[] = {1.20, 1.22, 1.19, 1.21, 1.20};
	struct recommend_option options[] = {defaults, {faster, ones, ROUNDS, 1}};
	ck_assert_uint_eq(recommend_choose(options, 2, 0.19).chosen, 1);
	ck_assert_uint_eq(recommend_choose(options, 2, 0.21).chosen, 0);
}
END_TEST

START_TEST(gain_of_most_rounds_only_is_not)
{
	const double steady[] = {1.20, 1.20, 1.20, 1.20, 0.99};
	ck_assert_uint_eq(choose(steady, ones).chosen, 0);
}
END_TEST

START_TEST(gain_of_a_few_rounds_is_not)
{
	const double faster[] = {1.50, 1.50, 1.50, 1.50};
	for (size_t rounds = 1; rounds <= 4; rounds++) {
		struct recommend_option options[] = {{ones, ones, rounds, 0},
						     {faster, ones, rounds, 1}};
		ck_assert_uint_eq(recommend_choose(options, 2, 0).chosen, rounds < 4 ? 0 : 1);
	}
}
END_TEST

START_TEST(gain_below_the_margin_is_not)
{
	const double steady[] = {1.02, 1.02, 1.02, 1.02, 1.02};
	ck_assert_uint_eq(choose(steady, ones).chosen, 0);
}
END_TEST

START_TEST(speed_is_not_bought_with_any_memory)
{
	const double faster[] = {1.2, 1.2, 1.2, 1.2, 1.2}, larger[] = {2, 2, 2, 2, 2};
	ck_assert_uint_eq(choose(faster, larger).chosen, 0);
}
END_TEST

START_TEST(one_round_tells_nothing_apart)
{
	const double faster[] = {2};
	struct recommend_option options[] = {{ones, ones, 1, 0}, {faster, ones, 1, 1}};
	ck_assert_uint_eq(recommend_choose(options, 2, 0).chosen, 0);
}
END_TEST

START_TEST(nearest_of_equals_is_chosen)
{
	const double a[] = {1.30, 1.31, 1.30, 1.29, 1.30}, b[] = {1.31, 1.32, 1.31, 1.30, 1.31};
	struct recommend_option options[] = {{b, ones, ROUNDS, 3}, defaults, {a, ones, ROUNDS, 2}};
	struct recommend_choice choice = recommend_choose(options, 3, 0);
	ck_assert_uint_eq(choice.best, 0);
	ck_assert_uint_eq(choice.chosen, 2);
}
END_TEST

START_TEST(one_within_the_spread_of_the_best_alone_is_not)
{
	/* The far one is clearly better than the defaults; the near one is neither clearly better
	 * than them nor clearly worse than the far one. */
	const double near[] = {1.15, 1.35, 0.98, 1.20, 1.10};
	const double far[] = {1.30, 1.31, 1.30, 1.29, 1.30};
	struct recommend_option options[] = {
	    defaults, {near, ones, ROUNDS, 1}, {far, ones, ROUNDS, 2}};
	ck_assert_uint_eq(recommend_choose(options, 3, 0).chosen, 2);
	ck_assert_uint_eq(recommend_choose(options, 2, 0).chosen, 0);
}
END_TEST

START_TEST(not_measured_is_never_chosen)
{
	const double faster[] = {1.20, 1.22, 1.19, 1.21, 1.20};
	struct recommend_option options[] = {
	    defaults, {NULL, NULL, 0, 0.5}, {faster, ones, ROUNDS, 1}};
	ck_assert_uint_eq(recommend_choose(options, 3, 0).chosen, 2);
}
END_TEST

START_TEST(contenders_come_best_first)
{
	const double a[] = {1.1, 1.1, 1.1, 1.1, 1.1}, b[] = {1.3, 1.3, 1.3, 1.3, 1.3};
	const double c[] = {1.2, 1.2, 1.2, 1.2, 1.2}, d[] = {0.9, 0.9, 0.9, 0.9, 0.9};
	struct recommend_option options[] = {{d, ones, ROUNDS, 1},
					     {a, ones, ROUNDS, 1},
					     defaults,
					     {b, ones, ROUNDS, 1},
					     {c, ones, ROUNDS, 1}};
	size_t out[9];
	ck_assert_uint_eq(recommend_contenders(options, 5, out, 3), 3);
	ck_assert_uint_eq(out[0], 3);
	ck_assert_uint_eq(out[1], 4);
	ck_assert_uint_eq(out[2], 1);
	ck_assert_uint_eq(recommend_contenders(options, 5, out, 9), 5);
	ck_assert_uint_eq(out[3], 0);
	ck_assert_uint_eq(out[4], 2);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("bench/recommend");
	support_add(s, front_has_what_nothing_beats);
	support_add(s, clear_gain_is_chosen);
	support_add(s, gain_within_the_spread_is_not);
	support_add(s, gain_within_the_noise_is_not);
	support_add(s, gain_of_most_rounds_only_is_not);
	support_add(s, gain_of_a_few_rounds_is_not);
	support_add(s, gain_below_the_margin_is_not);
	support_add(s, speed_is_not_bought_with_any_memory);
	support_add(s, one_round_tells_nothing_apart);
	support_add(s, nearest_of_equals_is_chosen);
	support_add(s, one_within_the_spread_of_the_best_alone_is_not);
	support_add(s, not_measured_is_never_chosen);
	support_add(s, contenders_come_best_first);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "bench/recommend", make);
}
