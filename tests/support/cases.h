/* SPDX-License-Identifier: MIT */
/* cases.h - further ways to add a test to a suite, each as a case of its own name. */
#ifndef TESTS_SUPPORT_CASES_H
#define TESTS_SUPPORT_CASES_H

#include <check.h>

/* A test that runs count times, with _i from 0 to count - 1. */
void cases_add_loop(Suite *suite, const TTest *test, int count);

/* A test with something to make before it and to drop behind it, in the same process. */
void cases_add_fixture(Suite *suite, const TTest *test, void (*setup)(void),
		       void (*teardown)(void));

#endif
