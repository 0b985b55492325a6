/* SPDX-License-Identifier: MIT */
/*
 * recommend.h - which setting to choose, from measurements that scatter.
 *
 * Speed and memory of each option are ratios to those of the defaults in the same round. The score
 * of an option in a round is its speed over the cube root of its memory, so that 1% of speed weighs
 * as much as 3% of memory: memory between settings differs by factors, speed by percents.
 *
 * One option is clearly better than another one if the ratio of their scores in the same round is
 * above 1 in seven rounds of eight (in all of less than eight), and its median is above 1 by more
 * than 3%, by more than the distance between its quartiles, and by more than the noise: how far
 * apart the rounds of one and the same option lie. Fewer than four rounds tell nothing apart: on
 * a busy machine two or three agree by chance.
 *
 * The options are gone through from the defaults outwards, and one takes the place of what was
 * chosen so far only if it is clearly better: what lies within the scatter of something nearer to
 * the defaults is never chosen.
 */
#ifndef BENCH_RECOMMEND_H
#define BENCH_RECOMMEND_H

#include <stdbool.h>
#include <stddef.h>

#include "harness.h"

/* A gain up to this part is not worth a setting that someone has to remember. */
#define RECOMMEND_MARGIN 0.03

enum { RECOMMEND_ROUNDS = 4 };

struct recommend_option {
	const double *speed, *memory; /* a value for each round */
	size_t rounds;
	double distance; /* from the defaults, which are at 0 */
};

struct recommend_choice {
	size_t chosen;
	size_t best;                /* the one with the highest score */
	struct harness_spread gain; /* score of the best over that of the chosen one */
};

/* Marks the options than which no other one is both as small and as fast, and better in one. NaN
 * is never among them. */
void recommend_front(const double *memory, const double *speed, size_t n, bool *front);

double recommend_score(double speed, double memory);

/* The options with the highest median scores, best first; the defaults among them only if there is
 * room otherwise left. Returns how many. */
size_t recommend_contenders(const struct recommend_option *options, size_t n, size_t *out,
			    size_t room);

bool recommend_clearly_better(const struct recommend_option *a, const struct recommend_option *b,
			      double noise);

/* n is at least 1. */
struct recommend_choice recommend_choose(const struct recommend_option *options, size_t n,
					 double noise);

#endif /* BENCH_RECOMMEND_H */
