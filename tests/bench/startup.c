/* SPDX-License-Identifier: MIT */
/*
 * startup.c - tests of the processes that cistern-startup measures: what they report, that wrong
 * answers are noticed in them, and what is counted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../bench/allocations.h"
#include "../../bench/cli.h"
#include "../../bench/harness.h"
#include "../../bench/startup.h"
#include "support.h"

static const cistern_span strings[] = {{"one", 3}, {"two", 3}, {"", 0}, {"three", 5}};
enum { STRINGS = sizeof strings / sizeof *strings };

static struct startup_subject subject_of(const struct engine *engine)
{
	struct startup_subject s = {.engine = engine, .strings = strings, .n = STRINGS};
	cistern_config_init(&s.config);
	s.order = startup_order(&s);
	return s;
}

START_TEST(executed_process_reports_what_it_took)
{
	struct startup_figures nobody = {{0}, {0}}, interner = {{0}, {0}};
	struct startup_subject none = subject_of(NULL), real = subject_of(&engine_cistern);
	struct allocations heap;
	ck_assert(startup_executed(&none, &nobody));
	ck_assert(startup_executed(&real, &interner));
	for (int m = STARTUP_PROCESS_WALL; m <= STARTUP_PROCESS_RSS; m++) {
		ck_assert(nobody.known[m] && interner.known[m]);
		ck_assert(nobody.value[m] > 0 && interner.value[m] > 0);
	}
	ck_assert(interner.known[STARTUP_PROCESS_ALLOCATIONS] == allocations_so_far(&heap));
	ck_assert(!interner.known[STARTUP_PROCESS_SYSCALLS] && !interner.known[STARTUP_CREATE]);
	close(none.order);
	close(real.order);
}
END_TEST

START_TEST(interner_takes_more_system_calls_than_none)
{
	struct startup_figures nobody = {{0}, {0}}, interner = {{0}, {0}};
	struct startup_subject none = subject_of(NULL), real = subject_of(&engine_cistern);
	const enum startup_measure calls = STARTUP_PROCESS_SYSCALLS;
	ck_assert(startup_traced(&none, &nobody));
	ck_assert(startup_traced(&real, &interner));
	ck_assert(nobody.known[calls] == interner.known[calls]); /* neither where it is forbidden */
	if (nobody.known[calls]) {
		ck_assert(nobody.value[calls] > 1);
		/* At the least, two ranges are reserved. */
		ck_assert(interner.value[calls] >= nobody.value[calls] + 2);
	}
	close(none.order);
	close(real.order);
}
END_TEST

START_TEST(process_that_cannot_be_measured_is_noticed)
{
	static const struct engine unknown = {.name = "no such engine"};
	struct startup_figures figures;
	struct startup_subject s = subject_of(&unknown);
	ck_assert(!startup_executed(&s, &figures));
	memset(&figures, 0, sizeof figures);
	ck_assert(!startup_traced(&s, &figures) || !figures.known[STARTUP_PROCESS_SYSCALLS]);
	close(s.order);
}
END_TEST

/* ---- engines that are wrong: the library's, with one function replaced */

static void count_too_few(void *e, cistern_stats *out)
{
	engine_cistern.stats(e, out);
	out->strings--;
}

static struct engine_sum other_bytes(void *e, const cistern_span *in, size_t n, const char **out)
{
	struct engine_sum sum = engine_cistern.intern(e, in, n, out);
	out[n - 1] = out[0];
	return sum;
}

static struct engine_sum forget_one(void *e, const cistern_span *in, size_t n, const char **out)
{
	struct engine_sum sum = engine_cistern.intern(e, in, n, out);
	out[n - 1] = NULL;
	return sum;
}

static void *not_made(const cistern_config *config)
{
	(void)config;
	errno = ENOMEM;
	return NULL;
}

static bool forked(const struct engine *engine, struct startup_figures *figures)
{
	struct startup_subject s = subject_of(engine);
	memset(figures, 0, sizeof *figures);
	bool good = harness_child(startup_forked, &s, figures, sizeof *figures);
	close(s.order);
	return good;
}

START_TEST(wrong_engines_are_noticed)
{
	struct startup_figures figures;
	struct engine wrong[4];
	for (int i = 0; i < 4; i++)
		wrong[i] = engine_cistern;
	wrong[0].stats = count_too_few;
	wrong[1].intern = other_bytes;
	wrong[2].intern = forget_one;
	wrong[3].create = not_made;
	for (int i = 0; i < 4; i++)
		ck_assert(!forked(&wrong[i], &figures));
	ck_assert(forked(&engine_cistern, &figures));
	for (int m = STARTUP_CREATE; m <= STARTUP_ADDED_RSS; m++)
		ck_assert(figures.known[m]);
	ck_assert(!figures.known[STARTUP_PROCESS_WALL]);
	ck_assert(figures.value[STARTUP_ADDED_RSS] > 0);
}
END_TEST

/* ---- what is shared */

START_TEST(allocations_of_shared_libraries_count)
{
	struct allocations first, last;
	char *(*volatile copy)(const char *) = strdup; /* the C library's, and its malloc */
	if (!allocations_so_far(&first))
		return;
	char *text = copy("text");
	allocations_so_far(&last);
	ck_assert_uint_eq(last.calls, first.calls + 1);
	ck_assert_uint_eq(last.bytes, first.bytes + sizeof "text");
	free(text);
}
END_TEST

START_TEST(deviation_is_that_of_a_sample)
{
	const double values[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
	double d = harness_deviation(values, 13); /* the square is 182 / 12 */
	ck_assert(d > 3.894 && d < 3.895);
	ck_assert(harness_deviation(values, 1) == 0);
}
END_TEST

/* Sleeps when it is made, which takes no processor time. */
static void *create_slowly(const cistern_config *config)
{
	nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	return engine_cistern.create(config);
}

START_TEST(the_clock_that_was_asked_for_is_read)
{
	struct engine slow = engine_cistern;
	struct startup_figures wall = {{0}, {0}}, cpu = {{0}, {0}};
	slow.create = create_slowly;
	ck_assert(forked(&slow, &wall));
	harness_use_clock(HARNESS_CPU);
	ck_assert(forked(&slow, &cpu));
	harness_use_clock(HARNESS_WALL);
	ck_assert(wall.value[STARTUP_CREATE] >= 10000);
	ck_assert(cpu.value[STARTUP_CREATE] < wall.value[STARTUP_CREATE]);
	ck_assert(cpu.value[STARTUP_WARM_CREATE] < 10000);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("bench/startup");
	support_add(s, executed_process_reports_what_it_took);
	support_add(s, interner_takes_more_system_calls_than_none);
	support_add(s, process_that_cannot_be_measured_is_noticed);
	support_add(s, wrong_engines_are_noticed);
	support_add(s, allocations_of_shared_libraries_count);
	support_add(s, deviation_is_that_of_a_sample);
	support_add(s, the_clock_that_was_asked_for_is_read);
	return s;
}

int main(int argc, char **argv)
{
	/* The processes are this program anew. */
	if (argc >= 3 && strcmp(argv[1], "--child") == 0)
		return startup_child(argv);
	return support_main(argc, argv, "bench/startup", make);
}
