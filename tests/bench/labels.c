/* SPDX-License-Identifier: MIT */
/*
 * labels.c - tests of where the labels of a picture come to stand: near, inside, and over nothing.
 */
#include "../../bench/plot_labels.h"
#include "support.h"

static const struct label_box area = {0, 600, 0, 300};

static struct label at(double x, double y)
{
	return (struct label){.x = x, .y = y, .width = 100, .height = 15};
}

START_TEST(right_of_its_point_where_that_is_free)
{
	struct label one = at(100, 100);
	labels_place(&one, 1, NULL, 0, area);
	ck_assert(one.placed && !one.far);
	ck_assert(one.at_x > 100 && one.at_x < 120);
	ck_assert(one.at_y > 99 && one.at_y < 101);
}
END_TEST

START_TEST(inside_at_every_edge)
{
	for (int x = 0; x <= 600; x += 50)
		for (int y = 0; y <= 300; y += 50) {
			struct label one = at(x, y);
			labels_place(&one, 1, NULL, 0, area);
			struct label_box box = label_box(&one);
			ck_assert_msg(one.placed, "%d, %d", x, y);
			ck_assert(box.left >= 0 && box.right <= 600);
			ck_assert(box.bottom >= 0 && box.top <= 300);
		}
}
END_TEST

START_TEST(over_nothing_and_over_no_other)
{
	/* A front: close to each other, each with a bar, and a line through all. */
	enum { POINTS = 8 };
	struct label labels[POINTS];
	struct label_box taken[POINTS + 1];
	for (int i = 0; i < POINTS; i++) {
		labels[i] = at(40 + 12 * i, 60 + 9 * i);
		taken[i] = (struct label_box){labels[i].x - 5, labels[i].x + 5, labels[i].y - 40,
					      labels[i].y + 40};
	}
	taken[POINTS] = (struct label_box){0, 600, 150, 152};
	labels_place(labels, POINTS, taken, POINTS + 1, area);
	for (int i = 0; i < POINTS; i++) {
		struct label_box box = label_box(&labels[i]);
		ck_assert_msg(labels[i].placed, "%d", i);
		for (int k = 0; k <= POINTS; k++)
			ck_assert_msg(!label_boxes_overlap(&box, &taken[k]), "%d, bar %d", i, k);
		for (int k = 0; k < i; k++) {
			struct label_box other = label_box(&labels[k]);
			ck_assert_msg(!label_boxes_overlap(&box, &other), "%d and %d", i, k);
		}
	}
	/* Not all of them can be where one alone would be. */
	bool far = false;
	for (int i = 0; i < POINTS; i++)
		far |= labels[i].far;
	ck_assert(far);
}
END_TEST

START_TEST(left_out_where_there_is_no_room)
{
	const struct label_box all = {0, 600, 0, 300};
	struct label labels[] = {at(100, 100), at(590, 290)};
	labels_place(labels, 2, &all, 1, area);
	ck_assert(!labels[0].placed && !labels[1].placed);
	/* What is not there takes no room. */
	struct label twice[] = {{.x = 50, .y = 50, .width = 9000, .height = 15}, at(50, 50)};
	labels_place(twice, 2, NULL, 0, area);
	ck_assert(!twice[0].placed && twice[1].placed && !twice[1].far);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("bench/labels");
	support_add(s, right_of_its_point_where_that_is_free);
	support_add(s, inside_at_every_edge);
	support_add(s, over_nothing_and_over_no_other);
	support_add(s, left_out_where_there_is_no_room);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "bench/labels", make);
}
