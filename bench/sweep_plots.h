/* SPDX-License-Identifier: MIT */
/*
 * sweep_plots.h - the pictures of a sweep.
 *
 *   front, front-all                 speed against memory: around the front, and all settings
 *   MEASURE-threadsT[-KEY-VALUE]...[-ENGINE]  heat maps over shards and slab size
 *   threads-MEASURE                  speed over the number of threads, a line an engine and lock
 *
 * What belongs together is one picture of several files, with one title and one caption.
 */
#ifndef BENCH_SWEEP_PLOTS_H
#define BENCH_SWEEP_PLOTS_H

#include "page.h"
#include "sweep_choice.h"

enum picture_kind { PICTURE_FRONT, PICTURE_MAP, PICTURE_THREADS };

enum { PICTURE_PARTS = 16 };

struct picture {
	enum picture_kind kind;
	enum page_layout layout;
	struct page_picture parts[PICTURE_PARTS];
	size_t nparts;
	char title[160];
	char caption[800]; /* what to see in it */
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
