/* SPDX-License-Identifier: MIT */
/*
 * sweep_choice.h - what a sweep recommends: its settings put before recommend.c, and the answer in
 * words.
 *
 * The settings with the highest scores are measured again for some rounds together with the
 * defaults, and the choice rests on those rounds alone: among many settings that scatter, the first
 * by score owes part of it to luck, which these confirmation rounds take away.
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
		bool apart;                   /* clearly better than the base, or clearly worse */
		bool confirmed;               /* took part in the confirmation rounds */
		bool front;                   /* cistern only */
	} * of;                               /* by setting */
};

/* The settings to measure again: the base first. 0 where there is nothing to choose from. */
size_t choice_contenders(const struct results *r, size_t out[CHOICE_CONTENDERS + 1]);

/* first is the first of the confirmation rounds; where there are none all rounds count. */
void choice_make(struct choice *choice, const struct results *r, unsigned first);
void choice_free(struct choice *choice);

/* "shards=16 slab_size=4K": the axes that vary, or differ from the base. */
void choice_name(const struct results *r, size_t setting, char *out, size_t size);

/*
 * What to set, as lines for a shell, i counting them; false behind the last. First the knobs of
 * --set, then those in which the chosen setting differs from the base, or a comment where it is the
 * base: what the library sets by itself on this machine may be wrong on another one.
 */
bool choice_environment(const struct results *r, const struct choice *choice, size_t i, char *out,
			size_t size);

/* What the base is: the defaults of the library, or they with --set. */
const char *choice_base_words(const struct results *r);

/* One sentence on what it costs and gives, and one on why it was chosen. */
void choice_effect(const struct results *r, const struct choice *choice, char *out, size_t size);
void choice_reason(const struct results *r, const struct choice *choice, char *out, size_t size);

/* The settings on the front by memory; free the array. */
size_t choice_front(const struct results *r, const struct choice *choice, size_t **settings);

#endif /* BENCH_SWEEP_CHOICE_H */
