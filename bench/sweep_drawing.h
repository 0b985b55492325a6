/* SPDX-License-Identifier: MIT */
/*
 * sweep_drawing.h - what sweep_plots.c, sweep_maps.c and sweep_front.c share. A kind of picture is
 * a function that finds in the results what it can draw.
 */
#ifndef BENCH_SWEEP_DRAWING_H
#define BENCH_SWEEP_DRAWING_H

#include "plot.h"
#include "sweep_plots.h"

struct drawing {
	struct plotter *plotter;
	struct pictures *pictures;
	const struct results *r;
	const struct choice *choice;
	size_t shards, slab_size; /* the axes */
};

/* Heat maps need two values of shards and of slab size at least. */
void draw_maps(struct drawing *d);

/* Where cistern takes part. */
void draw_front(struct drawing *d);

/* Memory for n and one more, or the end. */
void *drawing_room(size_t n, size_t size);

struct picture *drawing_picture(struct pictures *p, enum picture_kind kind);

/* Another file of a picture; NULL where it has no room. */
struct page_picture *drawing_part(struct picture *picture);

/* Adds to a text that may become too long and is cut then. */
void drawing_text(char *text, size_t size, const char *format, ...) CISTERN_PRINTF(3, 4);

/* "Resident memory added" of "resident memory added", without the unit behind the comma. */
void drawing_title(unsigned measure, char *out, size_t size);

#endif /* BENCH_SWEEP_DRAWING_H */
