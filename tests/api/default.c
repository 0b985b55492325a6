/* SPDX-License-Identifier: MIT */
/*
 * default.c - the default interner, its configuration, its report at exit, and CISTERN_LIT. Each
 * case has a process of its own, since the interner cannot be made twice.
 */
#include "child.h"
#include "json.h"
#include "support.h"

#include <cistern.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void clean_environment(void)
{
	static const char *const names[] = {
	    "SHARDS",    "SLAB_SIZE", "GROWTH_INTERVAL", "SLAB_MAX", "MAX_BYTES",  "MEMORY_LIMIT",
	    "MAX_LEN",   "CAPACITY",  "COMMIT_CHUNK",    "SEED",     "VALUE_SIZE", "LOCK",
	    "HUGEPAGES", "STATS",     "LINKS",           "PREFAULT"};
	char name[64];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(name, sizeof(name), "CISTERN_%s", names[i]);
		unsetenv(name);
	}
}

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

/* Runs fn in a child and asserts that it went well and wrote nothing. */
static void run_quietly(int (*fn)(void *), void *arg)
{
	struct child child;

	child_run(&child, fn, arg);
	ck_assert(child_ok(&child));
	ck_assert_str_eq(child.out, "");
	ck_assert_str_eq(child.err, "");
	child_free(&child);
}

/* ---------------------------------------------------------------- one interner */

static int is_one(void *arg)
{
	cistern *c;
	const char *str;

	(void)arg;
	clean_environment();
	c = cistern_default();
	CHILD_CHECK(c && cistern_default() == c);
	str = cistern_intern_cstr(c, "kept");
	cistern_destroy(c);
	CHILD_CHECK(cistern_default() == c);
	CHILD_CHECK(cistern_find_cstr(c, "kept") == str);
	CHILD_CHECK(cistern_intern_cstr(c, "still works") != NULL);
	return 0;
}

START_TEST(the_default_is_one_and_outlives_destroy)
{
	run_quietly(is_one, NULL);
}
END_TEST

struct first_use {
	cistern *seen[8];
	const char *literal[8], *string[8];
};

static void use_first(support_worker *worker)
{
	struct first_use *first = worker->arg;

	first->seen[worker->index] = cistern_default();
	first->literal[worker->index] = CISTERN_LIT("from every thread");
	first->string[worker->index] = cistern_intern_cstr(first->seen[worker->index], "shared");
}

static int many_use_first(void *arg)
{
	struct first_use first;
	unsigned i;

	(void)arg;
	clean_environment();
	memset(&first, 0, sizeof(first));
	support_run(8, use_first, &first);
	CHILD_CHECK(first.seen[0] && first.literal[0] && first.string[0]);
	for (i = 1; i < 8; i++) {
		CHILD_CHECK(first.seen[i] == first.seen[0]);
		CHILD_CHECK(first.literal[i] == first.literal[0]);
		CHILD_CHECK(first.string[i] == first.string[0]);
	}
	return 0;
}

START_TEST(first_use_from_many_threads_makes_one)
{
	size_t i;

	for (i = 0; i < support_scaled(40); i++)
		run_quietly(many_use_first, NULL);
}
END_TEST

static atomic_bool first_use, forked;

static void *use_default(void *arg)
{
	atomic_store(&first_use, true);
	cistern_intern_cstr(cistern_default(), "the parent's first use");
	/* alive until then: ThreadSanitizer would take a thread that ended for a leak of the
	 * child's */
	while (!atomic_load(&forked))
		;
	return arg;
}

/* Forks while another thread makes the default interner; the moment differs from call to call. */
static int fork_during_first_use(void *arg)
{
	volatile unsigned wait = *(unsigned *)arg;
	pthread_t thread;
	int status = 0;
	pid_t pid;

	clean_environment();
	CHILD_CHECK(pthread_create(&thread, NULL, use_default, NULL) == 0);
	while (!atomic_load(&first_use))
		;
	while (wait)
		wait--;
	pid = fork();
	if (pid == 0) {
		child_deadline(20);
		_exit(!cistern_intern_cstr(cistern_default(), "the child's first use"));
	}
	atomic_store(&forked, true);
	CHILD_CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHILD_CHECK(pthread_join(thread, NULL) == 0);
	CHILD_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	return 0;
}

START_TEST(a_child_forked_during_first_use_can_use_it_at_once)
{
	size_t i, rounds = support_scaled(200);

	for (i = 0; i < rounds; i++) {
		unsigned wait = (unsigned)(i * 40000 / rounds);

		run_quietly(fork_during_first_use, &wait);
	}
}
END_TEST

/* ---------------------------------------------------------------- configuration */

static int take_environment(void *arg)
{
	cistern_config config = {.size = sizeof(config)};
	cistern *c;

	(void)arg;
	clean_environment();
	setenv("CISTERN_SHARDS", "2", 1);
	setenv("CISTERN_VALUE_SIZE", "8", 1);
	setenv("CISTERN_LINKS", "on", 1);
	c = cistern_default();
	CHILD_CHECK(c && cistern_config_of(c, &config) == 0);
	CHILD_CHECK(config.shards == 2 && config.value_size == 8 && config.links);
	/* the environment is settled by the first use */
	setenv("CISTERN_SHARDS", "4", 1);
	CHILD_CHECK(cistern_default() == c);
	CHILD_CHECK(cistern_config_of(c, &config) == 0 && config.shards == 2);
	return 0;
}

START_TEST(the_environment_configures_the_default)
{
	run_quietly(take_environment, NULL);
}
END_TEST

static int configure(void *arg)
{
	cistern_config config = CISTERN_CONFIG_INIT, effective = {.size = sizeof(effective)};
	cistern *c;

	(void)arg;
	clean_environment();
	setenv("CISTERN_SHARDS", "2", 1);
	setenv("CISTERN_MAX_LEN", "bogus", 1); /* not read, so not reported */
	config.shards = 8;
	config.value_size = 4;
	CHILD_CHECK(cistern_default_configure(&config) == 0);
	config.shards = 32; /* the struct was copied */
	c = cistern_default();
	CHILD_CHECK(c && cistern_config_of(c, &effective) == 0);
	CHILD_CHECK(effective.shards == 8 && effective.value_size == 4);
	errno = 0;
	CHILD_CHECK(cistern_default_configure(&config) == -1 && errno == EBUSY);
	CHILD_CHECK(cistern_config_of(c, &effective) == 0 && effective.shards == 8);
	return 0;
}

START_TEST(configure_takes_the_place_of_the_environment)
{
	run_quietly(configure, NULL);
}
END_TEST

static int configure_late(void *arg)
{
	cistern_config config = CISTERN_CONFIG_INIT;

	(void)arg;
	clean_environment();
	CHILD_CHECK(CISTERN_LIT("first use") != NULL);
	errno = 0;
	CHILD_CHECK(cistern_default_configure(&config) == -1 && errno == EBUSY);
	return 0;
}

START_TEST(configure_after_first_use_is_busy)
{
	run_quietly(configure_late, NULL);
}
END_TEST

static int configure_badly(void *arg)
{
	struct {
		cistern_config config;
		char tail[8];
	} longer = {.config = CISTERN_CONFIG_INIT, .tail = "x"};
	cistern_config config = CISTERN_CONFIG_INIT, effective = {.size = sizeof(effective)};
	cistern *c;

	(void)arg;
	clean_environment();
	setenv("CISTERN_SHARDS", "2", 1);
	config.shards = 100000;
	errno = 0;
	CHILD_CHECK(cistern_default_configure(&config) == -1 && errno == EINVAL);
	errno = 0;
	CHILD_CHECK(cistern_default_configure(NULL) == -1 && errno == EINVAL);
	longer.config.size = sizeof(longer);
	errno = 0;
	CHILD_CHECK(cistern_default_configure(&longer.config) == -1 && errno == E2BIG);
	c = cistern_default();
	CHILD_CHECK(c && cistern_config_of(c, &effective) == 0);
	CHILD_CHECK(effective.shards == 2); /* a refused struct settled nothing */
	return 0;
}

START_TEST(a_refused_configuration_changes_nothing)
{
	run_quietly(configure_badly, NULL);
}
END_TEST

static int refuse_a_knob(void *arg)
{
	cistern_config config = {.size = sizeof(config)};
	cistern *c;

	(void)arg;
	clean_environment();
	setenv("CISTERN_SHARDS", "0", 1);
	setenv("CISTERN_MAX_LEN", "100", 1);
	c = cistern_default();
	CHILD_CHECK(c && cistern_default() == c);
	CHILD_CHECK(CISTERN_LIT("again"));
	CHILD_CHECK(cistern_config_of(c, &config) == 0);
	CHILD_CHECK(config.shards >= 16 && config.max_len == 100);
	return 0;
}

START_TEST(a_refused_variable_is_reported_once)
{
	struct child child;

	child_run(&child, refuse_a_knob, NULL);
	ck_assert(child_ok(&child));
	ck_assert_uint_eq(count_lines(child.err), 1);
	ck_assert_ptr_nonnull(strstr(child.err, "CISTERN_SHARDS"));
	child_free(&child);
}
END_TEST

/* ---------------------------------------------------------------- failure */

static const char *same_call_site(void)
{
	return CISTERN_LIT("not cached");
}

static int fail_then_work(void *arg)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	cistern *c;
	int i;

	(void)arg;
	clean_environment();
	/* each is right for itself, but the structures of so many shards do not fit */
	setenv("CISTERN_SHARDS", "65536", 1);
	setenv("CISTERN_MEMORY_LIMIT", "64K", 1);
	for (i = 0; i < 3; i++) {
		errno = 0;
		CHILD_CHECK(cistern_default() == NULL && errno == EINVAL);
		errno = 0;
		CHILD_CHECK(same_call_site() == NULL && errno == EINVAL);
	}
	CHILD_CHECK(cistern_default_configure(&config) == 0);
	c = cistern_default();
	CHILD_CHECK(c != NULL);
	CHILD_CHECK(same_call_site() != NULL);
	CHILD_CHECK(same_call_site() == cistern_find_cstr(c, "not cached"));
	errno = 0;
	CHILD_CHECK(cistern_default_configure(&config) == -1 && errno == EBUSY);
	return 0;
}

START_TEST(a_failed_first_use_is_tried_again)
{
	run_quietly(fail_then_work, NULL);
}
END_TEST

/* ---------------------------------------------------------------- literals */

static int literals(void *arg)
{
	cistern *c;
	const char *first;
	int i;

	(void)arg;
	clean_environment();
	first = same_call_site();
	c = cistern_default();
	CHILD_CHECK(first && first == cistern_find_cstr(c, "not cached"));
	for (i = 0; i < 100; i++)
		CHILD_CHECK(same_call_site() == first);
	CHILD_CHECK(CISTERN_LIT("not cached") == first); /* another call site */
	CHILD_CHECK(CISTERN_LIT("not "
				"cached") == first);
	CHILD_CHECK(CISTERN_LIT("") == cistern_find(c, "", 0));
	CHILD_CHECK(CISTERN_LIT("a\0b") == cistern_find(c, "a\0b", 3));
	CHILD_CHECK(cistern_len(CISTERN_LIT("a\0b")) == 3);
	CHILD_CHECK(CISTERN_LIT("x") != CISTERN_LIT("y"));
	return 0;
}

START_TEST(literals_are_interned_whole)
{
	run_quietly(literals, NULL);
}
END_TEST

/* ---------------------------------------------------------------- report at exit */

struct report {
	const char *by_environment;
	int by_configure; /* -1: not */
	bool use, quick;
};

static int report(void *arg)
{
	const struct report *how = arg;
	cistern_config config = CISTERN_CONFIG_INIT;
	cistern *other;

	clean_environment();
	if (how->by_environment)
		setenv("CISTERN_STATS", how->by_environment, 1);
	if (how->by_configure >= 0) {
		config.stats = (cistern_stats_exit)how->by_configure;
		CHILD_CHECK(cistern_default_configure(&config) == 0);
	}
	if (how->use) {
		CHILD_CHECK(CISTERN_LIT("one"));
		CHILD_CHECK(CISTERN_LIT("three"));
	}
	/* other interners never report */
	config.stats = CISTERN_STATS_JSON;
	other = cistern_create(&config);
	CHILD_CHECK(other && cistern_intern_cstr(other, "quiet"));
	cistern_destroy(other);
	if (how->quick)
		_exit(0);
	return 0;
}

START_TEST(json_at_exit_is_one_valid_object)
{
	struct report how = {"json", -1, true, false};
	struct child child;
	uint64_t number = 0;

	child_run(&child, report, &how);
	ck_assert(child_ok(&child));
	ck_assert_str_eq(child.out, "");
	ck_assert_msg(json_valid(child.err), "%s", child.err);
	ck_assert(json_number(child.err, "strings", &number));
	ck_assert_uint_eq(number, 2);
	ck_assert(json_number(child.err, "payload_bytes", &number));
	ck_assert_uint_eq(number, 8);
	child_free(&child);
}
END_TEST

START_TEST(text_at_exit_is_for_people)
{
	struct report how = {NULL, CISTERN_STATS_TEXT, true, false};
	struct child child;

	child_run(&child, report, &how);
	ck_assert(child_ok(&child));
	ck_assert_str_eq(child.out, "");
	ck_assert_uint_gt(count_lines(child.err), 5);
	ck_assert(!json_valid(child.err));
	ck_assert_ptr_nonnull(strstr(child.err, "strings"));
	ck_assert_int_eq(child.err[child.err_len - 1], '\n');
	child_free(&child);
}
END_TEST

START_TEST(nothing_is_printed_at_exit_unless_asked)
{
	static const struct report ways[] = {
	    {NULL, -1, true, false},                  /* not asked */
	    {"off", -1, true, false},                 /* asked not to */
	    {"json", CISTERN_STATS_OFF, true, false}, /* the environment does not count then */
	    {"json", -1, false, false},               /* never used */
	    {"json", -1, true, true},                 /* exit handlers do not run */
	};
	size_t i;

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		run_quietly(report, (void *)(uintptr_t)&ways[i]);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("default");

	support_add(s, the_default_is_one_and_outlives_destroy);
	support_add(s, first_use_from_many_threads_makes_one);
	support_add(s, a_child_forked_during_first_use_can_use_it_at_once);
	support_add(s, the_environment_configures_the_default);
	support_add(s, configure_takes_the_place_of_the_environment);
	support_add(s, configure_after_first_use_is_busy);
	support_add(s, a_refused_configuration_changes_nothing);
	support_add(s, a_refused_variable_is_reported_once);
	support_add(s, a_failed_first_use_is_tried_again);
	support_add(s, literals_are_interned_whole);
	support_add(s, json_at_exit_is_one_valid_object);
	support_add(s, text_at_exit_is_for_people);
	support_add(s, nothing_is_printed_at_exit_unless_asked);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "default", make);
}
