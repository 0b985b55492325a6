/* SPDX-License-Identifier: MIT */
/*
 * sweep_choice.h - what a sweep recommends: its settings put before recommend.c, and the answer in
 * words.
 *
 * The settings with the highest scores are measured again for some rounds together with the
 * defaults, and the choice rests on those rounds alone: among many settings that scatter, the first
 * by score owes part of it to luck, which the second look takes away.
 */
#ifndef BENCH_SWEEP_CHOICE_H
#define BENCH_SWEEP_CHOICE_H

#include "recommend.h"
#include "sweep_result.h"

/* Settings that are measured again, the defaults apart. */
enum { CHOICE_CONTENDERS = 3 };

struct choice {
	bool made;   /* false where cistern took no part */
	size_t base; /* cistern's defaults, a setting; all ratios are to it */
	size_t chosen, best;
	struct harness_spread gain;          /* as in recommend_choice */
	unsigned rounds;                     /* that it rests on */
	double noise;                        /* how far the base's own speed varied between them */
	struct harness_spread speed, memory; /* of the chosen one in them, against the base */
	struct choice_figures {
		bool known;                   /* measured with all numbers of threads */
		struct harness_spread speed;  /* against the base */
		struct harness_spread memory; /* against the base */
		double added;                 /* bytes: the geometric mean of medians */
		bool front;                   /* cistern only */
	} * of;                               /* by setting */
};

/* The settings to measure again: the base first. 0 where there is nothing to choose from. */
size_t choice_contenders(const struct results *r, size_t out[CHOICE_CONTENDERS + 1]);

/* first is the first of the rounds of the second look; where there are none all rounds count. */
void choice_make(struct choice *choice, const struct results *r, unsigned first);
void choice_free(struct choice *choice);

/* "shards=16 slab_size=4K": the axes that vary, or differ from the base. */
void choice_name(const struct results *r, size_t setting, char *out, size_t size);

/* "CISTERN_SHARDS=16" and so on, i counting them; false behind the last. */
bool choice_environment(const struct results *r, size_t setting, size_t i, char *out, size_t size);

/* One sentence on what it costs and gives, and one on why it was chosen. */
void choice_effect(const struct choice *choice, char *out, size_t size);
void choice_reason(const struct results *r, const struct choice *choice, char *out, size_t size);

/* The settings on the front by memory; free the array. */
size_t choice_front(const struct results *r, const struct choice *choice, size_t **settings);

#endif /* BENCH_SWEEP_CHOICE_H */
