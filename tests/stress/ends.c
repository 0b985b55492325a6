/* SPDX-License-Identifier: MIT */
/*
 * ends.c - threads that end of themselves: through destructors of thread-local storage that intern,
 * and the main thread before the others.
 */
#include "cases.h"
#include "child.h"
#include "figures.h"
#include "support.h"
#include "tools.h"
#include "variants.h"

#include <cistern.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#if !defined(__STDC_NO_THREADS__)
#include <threads.h>
#endif

enum { LENGTHY = 5000 };

/* ---------------------------------------------------------------- destructors of threads */

static pthread_key_t posix_key;
static cistern *left_to;
static atomic_ulong destructions, destructions_wrong;

static void intern_in_destructor(void *arg)
{
	char data[LENGTHY];
	unsigned long n = atomic_fetch_add(&destructions, 1);
	size_t len = (size_t)snprintf(data, sizeof(data), "left behind %lu", n);
	const char *str;

	if (n % 16 == 0) {
		memset(data + len, 'l', sizeof(data) - len);
		len = sizeof(data);
	}
	str = cistern_intern(left_to, data, len);
	if (!str || cistern_find(left_to, data, len) != str ||
	    cistern_intern_cstr(left_to, "common") != arg || !CISTERN_LIT("in a destructor"))
		atomic_fetch_add(&destructions_wrong, 1);
}

/* Sets the key again, as destructors of other libraries do: it runs once more, after the others. */
static void intern_in_destructor_twice(void *arg)
{
	intern_in_destructor(arg);
	if (atomic_load(&destructions) % 2)
		pthread_setspecific(posix_key, arg);
}

/* The threads have interned before: so what the library might keep for them would be there, or
 * gone. */
static void *end_with_values(void *arg)
{
	cistern_intern_cstr(left_to, "common");
	pthread_setspecific(posix_key, arg);
	return NULL;
}

static void make_and_end(support_worker *worker)
{
	size_t i, rounds = support_scaled(300);
	const char *common = cistern_find_cstr(left_to, "common");

	for (i = 0; i < rounds; i++) {
		pthread_t thread;

		if (!support_expect(worker, pthread_create(&thread, NULL, end_with_values,
							   (void *)(uintptr_t)common) == 0))
			return;
		support_expect(worker, pthread_join(thread, NULL) == 0);
	}
	pthread_setspecific(posix_key, common); /* and once for this thread itself */
}

START_TEST(destructors_of_threads_may_intern)
{
	left_to = crowd_create(_i);
	atomic_store(&destructions, 0);
	ck_assert_ptr_nonnull(cistern_intern_cstr(left_to, "common"));
	ck_assert_int_eq(pthread_key_create(&posix_key, intern_in_destructor_twice), 0);
	support_run(4, make_and_end, NULL);
	ck_assert_uint_ge(atomic_load(&destructions), 4 * support_scaled(300) + 4);
	ck_assert_uint_eq(atomic_load(&destructions_wrong), 0);
	ck_assert_uint_eq(figures(left_to).strings, atomic_load(&destructions) + 1);
	pthread_key_delete(posix_key);
	figures_check_alive(left_to, "after destructors");
	cistern_destroy(left_to);
}
END_TEST

#if !defined(__STDC_NO_THREADS__) && !UNDER_TSAN /* which does not know the threads of C11 */

static tss_t c11_key;

static int end_with_values_of_c11(void *arg)
{
	cistern_intern_cstr(left_to, "common");
	return tss_set(c11_key, arg) == thrd_success ? 0 : 1;
}

START_TEST(destructors_of_c11_threads_may_intern)
{
	size_t i, rounds = support_scaled(300);
	const char *common;

	left_to = crowd_create(_i);
	atomic_store(&destructions, 0);
	common = cistern_intern_cstr(left_to, "common");
	ck_assert_int_eq(tss_create(&c11_key, intern_in_destructor), thrd_success);
	for (i = 0; i < rounds; i++) {
		thrd_t threads[2];
		int k, result;

		for (k = 0; k < 2; k++)
			ck_assert_int_eq(thrd_create(&threads[k], end_with_values_of_c11,
						     (void *)(uintptr_t)common),
					 thrd_success);
		for (k = 0; k < 2; k++) {
			ck_assert_int_eq(thrd_join(threads[k], &result), thrd_success);
			ck_assert_int_eq(result, 0);
		}
	}
	ck_assert_uint_eq(atomic_load(&destructions), 2 * rounds);
	ck_assert_uint_eq(atomic_load(&destructions_wrong), 0);
	ck_assert_uint_eq(figures(left_to).strings, 2 * rounds + 1);
	tss_delete(c11_key);
	cistern_destroy(left_to);
}
END_TEST

#define HAVE_C11_THREADS 1
#else
#define HAVE_C11_THREADS 0
#endif

/* ---------------------------------------------------------------- the main thread ends first */

static pthread_t main_thread;

static void speak_at_exit(void)
{
	if (cistern_intern_cstr(cistern_default(), "at the exit of the last thread") &&
	    cistern_find_cstr(cistern_default(), "of the main thread"))
		puts("interned at exit");
}

static void *outlive_main(void *arg)
{
	int i;

	if (pthread_join(main_thread, NULL) != 0)
		abort();
	for (i = 0; i < 10000; i++) {
		char data[32];

		if (!cistern_intern(cistern_default(), data,
				    (size_t)snprintf(data, sizeof(data), "later %d", i)))
			abort();
	}
	return arg; /* the last one: the process exits with 0, through its handlers */
}

static int leave_main(void *arg)
{
	pthread_t thread;

	CHILD_CHECK(atexit(speak_at_exit) == 0);
	CHILD_CHECK(CISTERN_LIT("of the main thread"));
	main_thread = pthread_self();
	CHILD_CHECK(pthread_create(&thread, NULL, outlive_main, arg) == 0);
	pthread_exit(NULL);
}

START_TEST(threads_go_on_when_the_main_thread_has_ended)
{
	struct child child;

	child_run(&child, leave_main, NULL);
	ck_assert(child_ok(&child));
	ck_assert_str_eq(child.out, "interned at exit\n");
	child_free(&child);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("ends");

	cases_add_loop(s, destructors_of_threads_may_intern, CROWDS);
#if HAVE_C11_THREADS
	cases_add_loop(s, destructors_of_c11_threads_may_intern, CROWDS);
#endif
	/* LeakSanitizer no longer sees what the main thread's stack refers to, and ThreadSanitizer
	 * does not know it as a thread to wait for */
	if (!UNDER_ASAN && !UNDER_TSAN)
		support_add(s, threads_go_on_when_the_main_thread_has_ended);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "ends", make);
}
