/* SPDX-License-Identifier: MIT */
/*
 * early.c - interning before main and after it (G10): from the constructor of another shared
 * library, from a program's pre-initialization, which comes before all constructors, the library's
 * own among them, and from destructors. What a program's own constructors and exit handlers may do
 * is in life.c.
 */
#include "early.h"

#include "child.h"
#include "support.h"
#include "tools.h"

#include <cistern.h>

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(the_constructor_of_another_library_may_intern)
{
	ck_assert_ptr_nonnull(early_string());
	ck_assert_str_eq(early_string(), EARLY_STRING);
	ck_assert_ptr_eq(cistern_find_cstr(cistern_default(), EARLY_STRING), early_string());
	ck_assert(cistern_owns(cistern_default(), early_string()));
}
END_TEST

static int end_speaking(void *arg)
{
	(void)arg;
	setenv("EARLY_SPEAKS", "1", 1);
	return 0;
}

START_TEST(the_destructor_of_another_library_may_intern)
{
	struct child child;

	child_run(&child, end_speaking, NULL);
	ck_assert(child_ok(&child));
	ck_assert_str_eq(child.out, "a destructor interned\n");
	child_free(&child);
}
END_TEST

/* Sanitizers are not up yet then. */
#if defined(__linux__) && defined(__ELF__) && !UNDER_ASAN && !UNDER_TSAN
#define HAVE_PREINIT 1
#else
#define HAVE_PREINIT 0
#endif

#if HAVE_PREINIT

static cistern *created_first;
static const char *interned_first, *literal_first, *constructed_by_then;
static int forked_first = -1;

/* Makes both kinds of interner, and forks, before the library's constructor installs what makes
 * fork safe. */
static void before_all_constructors(void)
{
	pid_t pid;

	constructed_by_then = early_string();
	created_first = cistern_create(NULL);
	interned_first = cistern_intern_cstr(created_first, "before all constructors");
	literal_first = CISTERN_LIT("a literal before all constructors");
	pid = fork();
	if (pid == 0)
		_exit(!cistern_intern_cstr(created_first, "the child's") ||
		      !CISTERN_LIT("the child's"));
	waitpid(pid, &forked_first, 0);
}

__attribute__((section(".preinit_array"),
	       used)) static void (*const preinit)(void) = before_all_constructors;

START_TEST(a_program_may_intern_before_all_constructors)
{
	ck_assert_ptr_null(constructed_by_then);
	ck_assert_ptr_nonnull(interned_first);
	ck_assert_str_eq(interned_first, "before all constructors");
	ck_assert_ptr_eq(cistern_find_cstr(created_first, "before all constructors"),
			 interned_first);
	ck_assert_ptr_nonnull(literal_first);
	ck_assert_ptr_eq(literal_first,
			 cistern_find_cstr(cistern_default(), "a literal before all constructors"));
	ck_assert_int_eq(forked_first, 0);
	cistern_destroy(created_first);
}
END_TEST

#endif

static Suite *make(void)
{
	Suite *s = suite_create("early");

	support_add(s, the_constructor_of_another_library_may_intern);
	support_add(s, the_destructor_of_another_library_may_intern);
#if HAVE_PREINIT
	support_add(s, a_program_may_intern_before_all_constructors);
#endif
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "early", make);
}
