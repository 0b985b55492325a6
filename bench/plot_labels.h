/* SPDX-License-Identifier: MIT */
/*
 * plot_labels.h - where labels of points can stand, so that they cover neither each other nor what
 * else is drawn.
 */
#ifndef BENCH_PLOT_LABELS_H
#define BENCH_PLOT_LABELS_H

#include <stdbool.h>
#include <stddef.h>

/* In pixels, upwards. */
struct label_box {
	double left, right, bottom, top;
};

struct label {
	double x, y;          /* its point */
	double width, height; /* of the text */
	bool placed;          /* false where there was no room */
	bool far;             /* a line has to say whose it is */
	double at_x, at_y;    /* the left end of the text, half way up */
};

/* Where the text of a label is. */
struct label_box label_box(const struct label *label);

bool label_boxes_overlap(const struct label_box *a, const struct label_box *b);

/* Each label as near to its point as it can be, to the right of it if possible, inside area. */
void labels_place(struct label *labels, size_t n, const struct label_box *taken, size_t ntaken,
		  struct label_box area);

#endif /* BENCH_PLOT_LABELS_H */
