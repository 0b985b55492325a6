/* SPDX-License-Identifier: MIT */
/*
 * plot_labels.c - the first free place of each label, from near to far. See plot_labels.h.
 *
 * Places are tried on circles around the point. That is quadratic, for the dozen labels that a
 * picture has room for.
 */
#include "plot_labels.h"

#include <math.h>

/* Further away than this nobody sees whose a label is. */
enum { NEAR = 20 };

bool label_boxes_overlap(const struct label_box *a, const struct label_box *b)
{
	return a->left < b->right && b->left < a->right && a->bottom < b->top && b->bottom < a->top;
}

struct label_box label_box(const struct label *l)
{
	return (struct label_box){l->at_x, l->at_x + l->width, l->at_y - l->height / 2,
				  l->at_y + l->height / 2};
}

static bool is_free(const struct label *labels, size_t i, const struct label_box *taken,
		    size_t ntaken, const struct label_box *area)
{
	struct label_box box = label_box(&labels[i]);
	if (box.left < area->left || box.right > area->right || box.bottom < area->bottom ||
	    box.top > area->top)
		return false;
	for (size_t k = 0; k < ntaken; k++)
		if (label_boxes_overlap(&box, &taken[k]))
			return false;
	for (size_t k = 0; k < i; k++) {
		struct label_box other = label_box(&labels[k]);
		if (labels[k].placed && label_boxes_overlap(&box, &other))
			return false;
	}
	return true;
}

void labels_place(struct label *labels, size_t n, const struct label_box *taken, size_t ntaken,
		  struct label_box area)
{
	static const double degrees[] = {0, -20, 20, 180, -45, 45, 200, 160, -70, 70, 225, 135};
	static const double radii[] = {13, 17, 26, 36, 50, 66, 84, 104, 126, 150};
	for (size_t i = 0; i < n; i++) {
		struct label *l = &labels[i];
		l->placed = false;
		for (size_t r = 0; r < sizeof radii / sizeof *radii && !l->placed; r++)
			for (size_t d = 0; d < sizeof degrees / sizeof *degrees; d++) {
				double angle = degrees[d] * 3.14159265358979 / 180;
				l->at_x = l->x + radii[r] * cos(angle);
				l->at_y = l->y + radii[r] * sin(angle);
				if (cos(angle) < 0)
					l->at_x -= l->width;
				if (!is_free(labels, i, taken, ntaken, &area))
					continue;
				l->placed = true;
				l->far = radii[r] > NEAR;
				break;
			}
	}
}
