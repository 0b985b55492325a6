/* SPDX-License-Identifier: MIT */
/*
 * recommend.c - the front and the choice. See recommend.h, which has the rule.
 *
 * It knows numbers only, neither knobs nor engines, so that tests can put any noise into them.
 */
#include "recommend.h"

#include <math.h>
#include <stdlib.h>

#include "cli.h"

double recommend_score(double speed, double memory)
{
	return speed / cbrt(memory);
}

void recommend_front(const double *memory, const double *speed, size_t n, bool *front)
{
	for (size_t i = 0; i < n; i++) {
		front[i] = !isnan(memory[i]) && !isnan(speed[i]);
		for (size_t k = 0; k < n && front[i]; k++) {
			bool as_good = memory[k] <= memory[i] && speed[k] >= speed[i];
			bool better = memory[k] < memory[i] || speed[k] > speed[i];
			/* Of equal ones the first stands for all. */
			if (as_good && (better || k < i))
				front[i] = false;
		}
	}
}

/* Over the rounds that both have; b NULL: of a alone. */
static struct harness_spread score_ratio(const struct recommend_option *a,
					 const struct recommend_option *b)
{
	size_t n = b && b->rounds < a->rounds ? b->rounds : a->rounds;
	if (n == 0)
		return (struct harness_spread){NAN, NAN, NAN};
	double *ratios = malloc(n * sizeof *ratios);
	if (!ratios)
		cli_fail("out of memory");
	for (size_t i = 0; i < n; i++)
		ratios[i] = recommend_score(a->speed[i], a->memory[i]) /
			    (b ? recommend_score(b->speed[i], b->memory[i]) : 1);
	struct harness_spread spread = harness_spread_of(ratios, n);
	free(ratios);
	return spread;
}

bool recommend_clearly_better(const struct recommend_option *a, const struct recommend_option *b,
			      double noise)
{
	if (a->rounds < RECOMMEND_ROUNDS || b->rounds < RECOMMEND_ROUNDS)
		return false;
	size_t n = b->rounds < a->rounds ? b->rounds : a->rounds, behind = 0;
	for (size_t i = 0; i < n; i++)
		behind += recommend_score(a->speed[i], a->memory[i]) <=
			  recommend_score(b->speed[i], b->memory[i]);
	struct harness_spread ratio = score_ratio(a, b);
	double gain = ratio.median - 1;
	return 8 * behind <= n && gain > RECOMMEND_MARGIN && gain > ratio.q3 - ratio.q1 &&
	       gain > noise;
}

size_t recommend_contenders(const struct recommend_option *options, size_t n, size_t *out,
			    size_t room)
{
	size_t used = 0;
	for (size_t i = 0; i < n; i++) {
		double score = score_ratio(&options[i], NULL).median;
		if (isnan(score) || options[i].distance == 0 || room == 0)
			continue;
		size_t at = used < room ? used++ : room;
		while (at > 0 && score_ratio(&options[out[at - 1]], NULL).median < score) {
			if (at < room)
				out[at] = out[at - 1];
			at--;
		}
		if (at < room)
			out[at] = i;
	}
	for (size_t i = 0; i < n && used < room; i++)
		if (options[i].distance == 0)
			out[used++] = i;
	return used;
}

/* Negative where a comes before b. Options that are the same in both are told apart by their place,
 * so that none is passed over. */
static int outwards(const struct recommend_option *a, const struct recommend_option *b)
{
	double x = score_ratio(a, NULL).median, y = score_ratio(b, NULL).median;
	if (a->distance != b->distance)
		return a->distance < b->distance ? -1 : 1;
	if (x != y && !isnan(x) && !isnan(y))
		return x > y ? -1 : 1;
	if (isnan(x) != isnan(y))
		return isnan(x) ? 1 : -1;
	return (a > b) - (a < b);
}

struct recommend_choice recommend_choose(const struct recommend_option *options, size_t n,
					 double noise)
{
	struct recommend_choice choice = {0, 0, {1, 1, 1}};
	double highest = -1;
	for (size_t i = 0; i < n; i++) {
		double score = score_ratio(&options[i], NULL).median;
		if (score > highest) {
			highest = score;
			choice.best = i;
		}
	}
	/* From near to far, of equally near ones the better one first. */
	const struct recommend_option *last = NULL;
	for (;;) {
		size_t next = n;
		for (size_t i = 0; i < n; i++)
			if ((!last || outwards(last, &options[i]) < 0) &&
			    (next == n || outwards(&options[i], &options[next]) < 0))
				next = i;
		if (next == n)
			break;
		if (!last ||
		    recommend_clearly_better(&options[next], &options[choice.chosen], noise))
			choice.chosen = next;
		last = &options[next];
	}
	choice.gain = score_ratio(&options[choice.best], &options[choice.chosen]);
	return choice;
}
