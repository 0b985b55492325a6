/* SPDX-License-Identifier: MIT */
/*
 * life.c - interners come and go, and so do processes: nothing leaks, and constructors and exit
 * handlers may intern (G10). Fork is in fork.c.
 */
#include "cases.h"
#include "child.h"
#include "many_locks.h"
#include "maps.h"
#include "meminfo.h"
#include "support.h"
#include "tools.h"
#include "variants.h"

#include <cistern.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------- constructors */

static const char *constructed;

__attribute__((__constructor__)) static void construct(void)
{
	constructed = cistern_intern_cstr(cistern_default(), "from a constructor");
}

START_TEST(a_constructor_may_intern)
{
	ck_assert_ptr_nonnull(constructed);
	ck_assert_str_eq(constructed, "from a constructor");
	ck_assert_ptr_eq(cistern_find_cstr(cistern_default(), "from a constructor"), constructed);
	ck_assert_ptr_eq(CISTERN_LIT("from a constructor"), constructed);
}
END_TEST

static cistern *used_at_exit;

static void intern_at_exit(void)
{
	if (cistern_intern_cstr(used_at_exit, "at exit") && CISTERN_LIT("literal at exit") &&
	    cistern_find_cstr(cistern_default(), "from a constructor") == constructed)
		puts("interned at exit");
}

static int exit_with_handler(void *arg)
{
	(void)arg;
	CHILD_CHECK(atexit(intern_at_exit) == 0);
	used_at_exit = cistern_create(NULL);
	CHILD_CHECK(used_at_exit);
	return 0;
}

START_TEST(an_exit_handler_may_intern)
{
	struct child child;

	child_run(&child, exit_with_handler, NULL);
	ck_assert(child_ok(&child));
	ck_assert_str_eq(child.out, "interned at exit\n");
	child_free(&child);
}
END_TEST

static atomic_ulong endless_count;

static void *intern_for_ever(void *arg)
{
	unsigned long i;

	for (i = 0;; i++) {
		char data[32];

		cistern_intern(arg, data, (size_t)snprintf(data, sizeof(data), "%lu", i % 100000));
		atomic_fetch_add(&endless_count, 1);
	}
	return NULL;
}

static int exit_under_load(void *arg)
{
	pthread_t thread;
	int i;

	(void)arg;
	for (i = 0; i < 3; i++)
		CHILD_CHECK(pthread_create(&thread, NULL, intern_for_ever, cistern_default()) == 0);
	while (atomic_load(&endless_count) < 3000)
		usleep(100);
	return 0;
}

START_TEST(a_process_may_end_while_threads_intern)
{
	size_t i;

	for (i = 0; i < support_scaled(20); i++) {
		struct child child;

		child_run(&child, exit_under_load, NULL);
		ck_assert(child_ok(&child));
		child_free(&child);
	}
}
END_TEST

/* ---------------------------------------------------------------- create and destroy */

static void use(cistern *c, int strings)
{
	char large[6000];
	int i;

	for (i = 0; i < strings; i++) {
		char data[32];

		ck_assert_ptr_nonnull(
		    cistern_intern(c, data, (size_t)snprintf(data, sizeof(data), "used %d", i)));
	}
	memset(large, 'u', sizeof(large));
	ck_assert_ptr_nonnull(cistern_intern(c, large, sizeof(large)));
	ck_assert_ptr_nonnull(cistern_find_cstr(c, "used 0"));
}

START_TEST(destroying_nothing_does_nothing)
{
	cistern_destroy(NULL);
	cistern_destroy(cistern_default());
	ck_assert_ptr_eq(cistern_find_cstr(cistern_default(), "from a constructor"), constructed);
}
END_TEST

START_TEST(interners_come_and_go)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	static struct maps before, after;
	bool mapped;
	size_t i;

	for (i = 0; i < 3; i++) /* settles what the library keeps for good */
		cistern_destroy(variant_create(_i));
	mapped = maps_read(&before);
	for (i = 0; i < support_scaled(60); i++) {
		cistern *c = variant_create(_i);

		use(c, (int)i * 20 + 1);
		cistern_destroy(c);
		/* one that cannot be made leaves nothing either */
		config.memory_limit = 65536;
		config.shards = 65536;
		ck_assert_ptr_null(cistern_create(&config));
	}
	if (mapped && !UNDER_ASAN && !UNDER_TSAN && !UNDER_VALGRIND) {
		ck_assert(maps_read(&after));
		ck_assert_uint_eq(after.count, before.count);
	}
}
END_TEST

START_TEST(many_interners_live_side_by_side)
{
	enum { MOST = 60 };
	/* each takes 32 GiB of address space, of which valgrind leaves less; or 384 MiB of 4 GiB;
	 * or an eighth of a limit */
	const bool few = UNDER_VALGRIND || sizeof(void *) < 8 || meminfo_space() != UINT64_MAX;
	const int many = few ? 4 : MOST;
	cistern *c[MOST];
	const char *kept[MOST];
	int i, k;

	for (i = 0; i < many; i++) {
		char data[32];

		c[i] = variant_create(i % VARIANTS);
		kept[i] =
		    cistern_intern(c[i], data, (size_t)snprintf(data, sizeof(data), "home %d", i));
		ck_assert_ptr_nonnull(kept[i]);
	}
	for (i = 0; i < many; i++) {
		for (k = 0; k < many; k++) {
			char data[32];
			const char *found = cistern_find(
			    c[i], data, (size_t)snprintf(data, sizeof(data), "home %d", k));

			ck_assert_ptr_eq(found, i == k ? kept[i] : NULL);
			ck_assert_int_eq(cistern_owns(c[i], kept[k]), i == k);
		}
	}
	for (i = 0; i < many; i += 2)
		cistern_destroy(c[i]);
	for (i = 1; i < many; i += 2) {
		use(c[i], 50);
		cistern_destroy(c[i]);
	}
}
END_TEST

/* Threads that live on: what they might remember of an interner would outlive it. */
static struct {
	pthread_barrier_t made, used;
	cistern *c;
	size_t rounds;
} succession;

static void use_each(support_worker *worker)
{
	size_t round;

	for (round = 0; round < succession.rounds; round++) {
		char data[32];
		size_t len = (size_t)snprintf(data, sizeof(data), "of thread %u", worker->index);
		cistern *c;
		const char *str;

		if (worker->index == 0)
			succession.c = cistern_create(NULL);
		pthread_barrier_wait(&succession.made);
		c = succession.c;
		support_expect(worker, !cistern_find(c, data, len));
		str = cistern_intern(c, data, len);
		support_expect(worker, str && cistern_find(c, data, len) == str);
		support_expect(worker, cistern_owns(c, str) && memcmp(str, data, len + 1) == 0);
		pthread_barrier_wait(&succession.used);
		if (worker->index == 0)
			cistern_destroy(c);
	}
}

START_TEST(an_interner_knows_nothing_of_one_that_was_there_before)
{
	succession.rounds = support_scaled(200);
	pthread_barrier_init(&succession.made, NULL, 3);
	pthread_barrier_init(&succession.used, NULL, 3);
	support_run(3, use_each, NULL);
}
END_TEST

static void create_and_destroy(support_worker *worker)
{
	size_t i, rounds = support_scaled(60);

	for (i = 0; i < rounds; i++) {
		cistern *c = cistern_create(NULL);
		int k;

		if (!support_expect(worker, c != NULL))
			return;
		for (k = 0; k < 100; k++) {
			char data[32];
			size_t len = (size_t)snprintf(data, sizeof(data), "%d", k);

			support_expect(worker,
				       cistern_intern(c, data, len) == cistern_find(c, data, len));
		}
		cistern_destroy(c);
	}
}

START_TEST(interners_come_and_go_on_all_threads)
{
	support_run(4, create_and_destroy, NULL);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("life");

	support_add(s, a_constructor_may_intern);
	support_add(s, an_exit_handler_may_intern);
	support_add(s, a_process_may_end_while_threads_intern);
	support_add(s, destroying_nothing_does_nothing);
	cases_add_loop(s, interners_come_and_go, VARIANTS);
	support_add(s, many_interners_live_side_by_side);
	support_add(s, an_interner_knows_nothing_of_one_that_was_there_before);
	support_add(s, interners_come_and_go_on_all_threads);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "life", make);
}
