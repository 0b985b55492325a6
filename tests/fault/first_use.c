/* SPDX-License-Identifier: MIT */
/*
 * first_use.c - the default interner while the system refuses something: each call fails in turn,
 * once and for good, and so does installing the fork handlers, which is refused from the start of
 * this program on. A failure is told to whoever caused it, is not kept, and leaves no lock taken.
 */
#include "child.h"
#include "faults.h"
#include "support.h"
#include "tools.h"

#include <cistern.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---------------------------------------------------------------- the default interner */

static const char *literal(void)
{
	return CISTERN_LIT("literal");
}

static void *use_from_another_thread(void *arg)
{
	*(const char **)arg = literal();
	return NULL;
}

enum { NOTHING_FAILED = 42 };

/*
 * The first use fails as planned; when the system gives again, another thread and this one have the
 * same interner.
 */
static int use_first(void *arg)
{
	const struct fault_plan *plan = arg;
	cistern_config config = CISTERN_CONFIG_INIT;
	const char *theirs = NULL;
	pthread_t thread;
	cistern *c;

	config.shards = 2;
	config.capacity = 2000;
	config.commit_chunk = 4096;
	CHILD_CHECK(cistern_default_configure(&config) == 0);
	faults_plan(plan);
	for (int i = 0; i < 3; i++) {
		uint64_t memory = faults_failed(FAULTS_MEMORY),
			 random = faults_failed(FAULTS_RANDOM);

		errno = 0;
		c = cistern_default();
		CHILD_CHECK(c || (errno == ENOMEM && faults_failed(FAULTS_MEMORY) > memory) ||
			    (errno == EIO && faults_failed(FAULTS_RANDOM) > random));
		CHILD_CHECK(c || faults.mappings == 0);
		if (!c && plan->times == FAULTS_FOR_GOOD)
			CHILD_CHECK(!literal());
	}
	faults_plan(NULL);
	CHILD_CHECK(pthread_create(&thread, NULL, use_from_another_thread, &theirs) == 0);
	CHILD_CHECK(pthread_join(thread, NULL) == 0);
	CHILD_CHECK(theirs && theirs == literal());
	CHILD_CHECK(cistern_find_cstr(cistern_default(), "literal") == theirs);
	CHILD_CHECK(!c || c == cistern_default());
	CHILD_CHECK(faults.mappings == 2);
	return faults_failed(FAULTS_ALL) ? 0 : NOTHING_FAILED;
}

/* Each n from 0 on, until nothing is left to fail. */
static void each_call_fails(uint64_t times)
{
	struct fault_plan plan = {.kinds = FAULTS_ALL, .times = times};
	struct child child;
	bool passed;

	do {
		child_run(&child, use_first, &plan);
		passed = child.exited && child.code == NOTHING_FAILED;
		ck_assert(passed || child_ok(&child));
		child_free(&child);
		plan.after++;
	} while (!passed);
	ck_assert_uint_ge(plan.after, 10);
}

START_TEST(a_first_use_that_failed_once_is_repeated)
{
	each_call_fails(1);
	each_call_fails(5);
}
END_TEST

START_TEST(a_first_use_that_fails_for_good_keeps_failing_and_no_longer)
{
	each_call_fails(FAULTS_FOR_GOOD);
}
END_TEST

/* ---------------------------------------------------------------- fork handlers */

/*
 * Clang's ThreadSanitizer is part of the program and installs handlers of its own before anything
 * of the program may run: it would be the one that is refused.
 */
#if defined(__GLIBC__) && !(UNDER_TSAN && defined(__clang__))
#define HANDLERS_ARE_OURS 1
#else
#define HANDLERS_ARE_OURS 0
#endif

#if HANDLERS_ARE_OURS
/* So many calls of pthread_atfork are refused. The first is that of the library's constructor. */
static atomic_int refusals = 1;
static atomic_int installed;

extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
			     void *dso);
extern void *__dso_handle __attribute__((__visibility__("hidden")));

__attribute__((visibility("default"))) int pthread_atfork(void (*prepare)(void),
							  void (*parent)(void), void (*child)(void))
{
	if (refusals > 0) {
		refusals--;
		return ENOMEM;
	}
	installed++;
	return __register_atfork(prepare, parent, child, &__dso_handle);
}

static int handlers_are_refused(void *arg)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	cistern *c;
	pid_t child;
	int status;

	(void)arg;
	CHILD_CHECK(refusals == 0 && installed == 0); /* the constructor was here */
	refusals = 3;
	errno = 0;
	CHILD_CHECK(!cistern_create(NULL) && errno == ENOMEM);
	errno = 0;
	CHILD_CHECK(!cistern_default() && errno == ENOMEM);
	errno = 0;
	CHILD_CHECK(cistern_default_configure(&config) == -1 && errno == ENOMEM);
	CHILD_CHECK(refusals == 0 && faults.mappings == 0);

	CHILD_CHECK(cistern_default_configure(&config) == 0);
	c = cistern_create(NULL);
	CHILD_CHECK(c && cistern_default() && installed == 1);
	CHILD_CHECK(cistern_intern_cstr(c, "before"));
	child = fork();
	if (child == 0)
		_exit(!(cistern_find_cstr(c, "before") && cistern_intern_cstr(c, "behind")));
	CHILD_CHECK(waitpid(child, &status, 0) == child && status == 0);
	cistern_destroy(c);
	return 0;
}

START_TEST(without_fork_handlers_nothing_is_made)
{
	struct child child;

	child_run(&child, handlers_are_refused, NULL);
	ck_assert(child_ok(&child));
	child_free(&child);
}
END_TEST
#endif

static Suite *make(void)
{
	Suite *s = suite_create("first_use");

	support_add(s, a_first_use_that_failed_once_is_repeated);
	support_add(s, a_first_use_that_fails_for_good_keeps_failing_and_no_longer);
#if HANDLERS_ARE_OURS
	support_add(s, without_fork_handlers_nothing_is_made);
#else
	puts("# fork handlers cannot be refused here");
#endif
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "first_use", make);
}
