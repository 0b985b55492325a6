/* SPDX-License-Identifier: MIT */
/*
 * sizes.h - what a string costs beside its bytes, and what each of these sizes limits.
 *
 * Small handles are bought with limits: SwiftNIO made its ByteBuffer fit into three words by giving
 * the start of a slice 24 bits, and slices that begin beyond 16 MiB have been copied since
 * (swift-nio #349). So a size is worth stating only beside the limit that it brings. Nothing here
 * is typed in: sizes are the library's own constants, limits are those or found by asking the
 * library, and what a string costs is measured on an interner and worked out besides.
 */
#ifndef BENCH_SIZES_H
#define BENCH_SIZES_H

#include "corpus.h"

struct sizes_row {
	const char *what;
	double bytes;   /* a whole number unless it is a mean over the corpus */
	double formula; /* means: what the layout says, below 0 where nothing is measured */
	uint64_t limit; /* 0: none */
	const char *of; /* what is limited */
	const char *how;
};

/*
 * Calls take for one row after another. config: what the interners are made from. Ends the program
 * where an interner cannot be made or does not take the corpus.
 */
void sizes_each(const struct corpus *corpus, const cistern_config *config,
		void (*take)(void *arg, const struct sizes_row *row), void *arg);

/* The largest number that the library accepts for a knob. */
uint64_t sizes_knob_most(const char *key);

#endif /* BENCH_SIZES_H */
