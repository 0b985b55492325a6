/* SPDX-License-Identifier: MIT */
/*
 * trust.c - tests of the remarks on how far to trust figures: a busy machine, speeds that scatter
 * and few strings each leave one, and nothing else does.
 */
#include <math.h>
#include <string.h>

#include "../../bench/trust.h"
#include "support.h"

/* An idle machine with two processors, speeds that hardly scatter, and enough strings. */
static struct trust calm(void)
{
	return (struct trust){.before = 0.4,
			      .after = 2.1,
			      .processors = 2,
			      .threads = 2,
			      .spread = 0.03,
			      .strings = 150000};
}

/* The remarks one after another, a line each. */
static const char *remarks(const struct trust *t)
{
	static char all[2048];
	char one[512];
	*all = '\0';
	for (size_t i = 0; trust_remark(t, i, one, sizeof one); i++) {
		ck_assert_uint_lt(i, 4);
		strcat(strcat(all, one), "\n");
	}
	return all;
}

START_TEST(calm_machine_leaves_no_remark)
{
	struct trust t = calm();
	ck_assert_str_eq(remarks(&t), "");
	/* At the limits. */
	t.before = 3.0;
	t.after = 3.0;
	t.spread = 0.10;
	t.strings = 10000;
	ck_assert_str_eq(remarks(&t), "");
}
END_TEST

START_TEST(load_before_is_told)
{
	struct trust t = calm();
	t.before = 5.04;
	ck_assert_str_eq(remarks(&t), "The machine was busy (load 5.0 on 2 CPUs). Memory figures "
				      "hold; repeat for speeds.\n");
	t.processors = 1;
	t.before = 31.4;
	ck_assert_str_eq(remarks(&t), "The machine was busy (load 31 on 1 CPU). Memory figures "
				      "hold; repeat for speeds.\n");
}
END_TEST

START_TEST(load_after_counts_beyond_the_own_threads)
{
	struct trust t = calm();
	t.threads = 16;
	t.after = 16.5;
	ck_assert_str_eq(remarks(&t), "");
	t.after = 17.5;
	ck_assert_str_eq(remarks(&t), "The machine was busy (load 18 on 2 CPUs). Memory figures "
				      "hold; repeat for speeds.\n");
	/* The own threads are no excuse for a load that was there before them. */
	t.after = 2;
	t.before = 16.5;
	ck_assert_ptr_nonnull(strstr(remarks(&t), "was busy (load 16 on"));
}
END_TEST

START_TEST(scattered_speeds_are_told)
{
	struct trust t = calm();
	t.spread = 0.24;
	ck_assert_str_eq(remarks(&t),
			 "Speeds differ by 24% between rounds (load 2.1 on 2 CPUs). Memory figures "
			 "hold; repeat for speeds.\n");
	t.before = 8;
	ck_assert_str_eq(remarks(&t),
			 "The machine was busy (load 8.0 on 2 CPUs); speeds differ by 24% between "
			 "rounds. Memory figures hold; repeat for speeds.\n");
}
END_TEST

START_TEST(what_is_not_known_is_no_remark)
{
	struct trust t = calm();
	t.before = t.after = t.spread = NAN;
	ck_assert_str_eq(remarks(&t), "");
	t.after = 9;
	ck_assert_ptr_nonnull(strstr(remarks(&t), "load 9.0"));
	t.after = NAN;
	t.before = 9;
	ck_assert_ptr_nonnull(strstr(remarks(&t), "load 9.0"));
	t.before = NAN;
	t.spread = 0.5;
	ck_assert_str_eq(remarks(&t), "Speeds differ by 50% between rounds. Memory figures hold; "
				      "repeat for speeds.\n");
}
END_TEST

START_TEST(few_strings_are_told_too)
{
	struct trust t = calm();
	t.strings = 9999;
	ck_assert_str_eq(remarks(&t), "9999 strings: too few to choose by speed.\n");
	t.strings = 1;
	t.before = 9;
	ck_assert_str_eq(remarks(&t), "The machine was busy (load 9.0 on 2 CPUs). Memory figures "
				      "hold; repeat for speeds.\n1 string: too few to choose by "
				      "speed.\n");
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("bench/trust");
	support_add(s, calm_machine_leaves_no_remark);
	support_add(s, load_before_is_told);
	support_add(s, load_after_counts_beyond_the_own_threads);
	support_add(s, scattered_speeds_are_told);
	support_add(s, what_is_not_known_is_no_remark);
	support_add(s, few_strings_are_told_too);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "bench/trust", make);
}
