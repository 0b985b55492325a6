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

/* Below it a difference is not worth a setting that someone has to remember. */
static const double margin = 0.03;

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

bool recommend_clearly_better(const struct recommend_option *a, const struct recommend_option *b)
{
	if (a->rounds < 2 || b->rounds < 2)
		return false;
	struct harness_spread ratio = score_ratio(a, b);
	return ratio.q1 > 1 && ratio.median - 1 > margin &&
	       ratio.median - 1 > ratio.q3 - ratio.q1;
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

struct recommend_choice recommend_choose(const struct recommend_option *options, size_t n)
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
	choice.chosen = choice.best;
	for (size_t i = 0; i < n; i++)
		if (options[i].distance < options[choice.chosen].distance &&
		    options[i].rounds > 0 &&
		    !recommend_clearly_better(&options[choice.best], &options[i]))
			choice.chosen = i;
	choice.gain = score_ratio(&options[choice.best], &options[choice.chosen]);
	return choice;
}
