/* SPDX-License-Identifier: MIT */
/*
 * secure.c - a program that runs with the rights of another user or group than its caller's takes
 * nothing from the caller's environment: no knob, no report of one, no statistics at exit. The
 * program copies itself, gives the copy away with its set-user-id or set-group-id bit, and runs it;
 * that needs root and a second user, and a folder where such bits count. Linked with the library's
 * objects, since the copy's user may not read the folder where the library is.
 */
#include "cases.h"
#include "child.h"
#include "support.h"

#include <cistern.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/auxv.h>
#endif

enum { OTHER = 65534 }; /* nobody */

static char folder[4096], copy[4200];
static const char *reason; /* why there is nothing to test here */

/* Looking for leaks takes rights over oneself that such a program does not have. */
const char *__asan_default_options(void);
__attribute__((__visibility__("default"))) const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

/* ---------------------------------------------------------------- the copy */

static bool is_secure(void)
{
#if defined(__linux__)
	return getauxval(AT_SECURE) != 0;
#else
	return geteuid() != getuid() || getegid() != getgid();
#endif
}

static int inside(void)
{
	cistern_config config = CISTERN_CONFIG_INIT, effective = {.size = sizeof(effective)};
	cistern *c = cistern_default();
	int refused = cistern_config_from_env(&config);

	CHILD_CHECK(c && cistern_config_of(c, &effective) == 0);
	CHILD_CHECK(cistern_intern_cstr(c, "works all the same"));
	printf("%s refused=%d max_len=%d default=%d value_size=%d\n",
	       is_secure() ? "secure" : "plain", refused, (int)config.max_len,
	       (int)effective.max_len, (int)effective.value_size);
	return 0;
}

/* ---------------------------------------------------------------- running it */

static struct way {
	uid_t owner;
	gid_t group;
	mode_t mode;
	bool drop; /* the caller is the other user, and no root */
} ways[] = {
    {OTHER, 0, 04755, false},   /* root runs a program of nobody's */
    {0, 0, 04755, true},        /* nobody runs a program of root's */
    {0, OTHER, 02755, false},   /* root runs a program of another group's */
    {0, 0, 02755, true},        /* nobody runs a program of root's group */
    {OTHER, OTHER, 06755, true} /* its own: no rights are gained, so the environment counts */
};

static int run_copy(void *arg)
{
	const struct way *way = arg;
	char *const argv[] = {copy, (char *)"inside", NULL};

	CHILD_CHECK(setenv("CISTERN_MAX_LEN", "77", 1) == 0);
	CHILD_CHECK(setenv("CISTERN_STATS", "text", 1) == 0);
	CHILD_CHECK(setenv("CISTERN_VALUE_SIZE", "5", 1) == 0); /* to be refused */
	if (way->drop)
		CHILD_CHECK(setgid(OTHER) == 0 && setuid(OTHER) == 0);
	execv(copy, argv);
	perror(copy);
	return 1;
}

static void run(struct child *child, struct way *way)
{
	/* the owner first: to change it takes the bits away */
	ck_assert_int_eq(chown(copy, way->owner, way->group), 0);
	ck_assert_int_eq(chmod(copy, way->mode), 0);
	child_run(child, run_copy, way);
	ck_assert(child_ok(child));
}

START_TEST(a_program_with_more_rights_ignores_the_environment)
{
	struct child child;

	run(&child, &ways[_i]);
	ck_assert_str_eq(child.out, "secure refused=0 max_len=0 default=0 value_size=0\n");
	/* no refused variable is reported, and no statistics */
	ck_assert_ptr_null(strstr(child.err, "cistern"));
	ck_assert_ptr_null(strstr(child.err, "payload"));
	child_free(&child);
}
END_TEST

/* So that the test above can fail. */
START_TEST(a_program_with_its_callers_rights_takes_the_environment)
{
	struct child child;

	run(&child, &ways[4]);
	ck_assert_str_eq(child.out, "plain refused=1 max_len=77 default=77 value_size=0\n");
	ck_assert_ptr_nonnull(strstr(child.err, "cistern: CISTERN_VALUE_SIZE=5"));
	ck_assert_ptr_nonnull(strstr(child.err, "payload"));
	child_free(&child);
}
END_TEST

/* ---------------------------------------------------------------- making it */

static bool copy_myself(void)
{
	char bytes[65536];
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int to = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	ssize_t n = -1;

	while (from >= 0 && to >= 0 && (n = read(from, bytes, sizeof(bytes))) > 0)
		if (write(to, bytes, (size_t)n) != n) {
			n = -1;
			break;
		}
	close(from);
	return close(to) == 0 && n == 0;
}

static bool prepare(void)
{
	const char *tmp = getenv("TMPDIR");
	struct child child;
	bool counts;

	if (geteuid() != 0) {
		reason = "needs root";
		return false;
	}
	snprintf(folder, sizeof(folder), "%s/cistern-secure.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(folder) || chmod(folder, 0755) != 0) {
		reason = "no folder for temporary files";
		return false;
	}
	snprintf(copy, sizeof(copy), "%s/copy", folder);
	if (!copy_myself() || chown(copy, OTHER, 0) != 0 || chmod(copy, 04755) != 0) {
		reason = "nothing can be given to another user here";
		return false;
	}
	child_run(&child, run_copy, &ways[0]);
	counts = child.exited && child.code == 0 && strncmp(child.out, "secure", 6) == 0;
	child_free(&child);
	if (!counts)
		reason = "set-user-id bits do not count here";
	return counts;
}

static Suite *make(void)
{
	Suite *s = suite_create("secure");

	cases_add_loop(s, a_program_with_more_rights_ignores_the_environment, 4);
	support_add(s, a_program_with_its_callers_rights_takes_the_environment);
	return s;
}

int main(int argc, char **argv)
{
	int status = 0;

	if (argc == 2 && strcmp(argv[1], "inside") == 0)
		return inside();
	if (prepare())
		status = support_main(argc, argv, "secure", make);
	else
		printf("1..0 # SKIP %s\n", reason);
	if (folder[0]) {
		unlink(copy);
		rmdir(folder);
	}
	return status;
}
