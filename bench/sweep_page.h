/* SPDX-License-Identifier: MIT */
/*
 * sweep_page.h - the page of a sweep: what to choose and why, the pictures, the tables, and how to
 * make it again.
 */
#ifndef BENCH_SWEEP_PAGE_H
#define BENCH_SWEEP_PAGE_H

#include "corpus.h"
#include "sweep_choice.h"
#include "sweep_plots.h"

struct sweep_page {
	const struct results *results;
	const struct choice *choice;
	const struct pictures *pictures;
	const struct corpus *corpus;
	const struct trust *trust;
	unsigned rounds;
	int argc; /* the command */
	char **argv;
};

/* Writes FOLDER/index.html, with the pictures that are in the folder. */
void sweep_page(const char *folder, const struct sweep_page *page);

#endif /* BENCH_SWEEP_PAGE_H */
