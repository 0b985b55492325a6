/* SPDX-License-Identifier: MIT */
/*
 * sweep_plots.h - the pictures of a sweep.
 *
 *   front                            speed against memory of all settings, the front as steps
 *   MEASURE-threadsT[-KEY-VALUE]...  heat maps over shards and slab size, a panel for each engine
 *   threads-MEASURE                  speed over the number of threads, a line an engine and lock
 */
#ifndef BENCH_SWEEP_PLOTS_H
#define BENCH_SWEEP_PLOTS_H

#include "sweep_choice.h"

enum picture_kind { PICTURE_FRONT, PICTURE_MAP, PICTURE_THREADS };

struct picture {
	enum picture_kind kind;
	bool wide;
	char file[160]; /* without folder and ending */
	char title[160];
	char caption[640]; /* what to see in it */
};

struct pictures {
	struct picture *of;
	size_t n;
};

/* Draws them into a folder. False where gnuplot did not; pictures says what there would be. */
bool sweep_plots(const char *folder, const struct results *r, const struct choice *choice,
		 struct pictures *pictures);
void pictures_free(struct pictures *pictures);

#endif /* BENCH_SWEEP_PLOTS_H */
