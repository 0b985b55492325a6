/* SPDX-License-Identifier: MIT */
/* cases.c - see cases.h. */
#include "cases.h"

/* Seconds; support_main multiplies them under sanitizers. */
#define TIMEOUT 120

static TCase *named(Suite *suite, const TTest *test)
{
	TCase *tcase = tcase_create(test->name);

	tcase_set_timeout(tcase, TIMEOUT);
	suite_add_tcase(suite, tcase);
	return tcase;
}

void cases_add_loop(Suite *suite, const TTest *test, int count)
{
	tcase_add_loop_test(named(suite, test), test, 0, count);
}

void cases_add_fixture(Suite *suite, const TTest *test, void (*setup)(void), void (*teardown)(void))
{
	TCase *tcase = named(suite, test);

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test);
}
