/* SPDX-License-Identifier: MIT */
/*
 * hits.c - G4: a hit allocates nothing, calls no system, stores nothing and may happen in a signal
 * handler. Shown by counting malloc, by a filter that traps every system call, by taking the right
 * to write from all of the interner's memory, and by handlers that interrupt inserts.
 */
#include "allocs.h"
#include "cases.h"
#include "child.h"
#include "maps.h"
#include "support.h"
#include "tools.h"
#include "variants.h"
#include "words.h"

#include <cistern.h>

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#if defined(__linux__)
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

enum { NAMES = 300, LONG = 70000 };

/* Everything that hits need, laid out before they are watched. */
static struct {
	cistern *c;
	char bytes[NAMES][32];
	cistern_span spans[NAMES], halves[NAMES][2];
	const char *kept[NAMES], *out[NAMES];
	uint64_t hashes[NAMES];
	cistern_id ids[NAMES];
	char lengthy[LONG], storage[64];
	cistern_span long_halves[2];
	const char *long_kept;
	cistern_buf buf;
	uint32_t value_size;
	bool links;
} hot;

static int prepare(int number)
{
	cistern_config config = variant(number);
	size_t i;

	hot.c = cistern_create(&config);
	CHILD_CHECK(hot.c);
	hot.value_size = config.value_size;
	hot.links = config.links;
	for (i = 0; i < NAMES; i++) {
		int len = snprintf(hot.bytes[i], sizeof(hot.bytes[i]), "hot %zu", i * 7919);

		hot.spans[i].data = hot.bytes[i];
		hot.spans[i].len = (size_t)len;
		hot.halves[i][0].data = hot.bytes[i];
		hot.halves[i][0].len = 3;
		hot.halves[i][1].data = hot.bytes[i] + 3;
		hot.halves[i][1].len = (size_t)len - 3;
		hot.kept[i] = cistern_intern(hot.c, hot.bytes[i], (size_t)len);
		CHILD_CHECK(hot.kept[i]);
		hot.hashes[i] = cistern_hash(hot.c, hot.bytes[i], (size_t)len);
		hot.ids[i] = cistern_id_of(hot.c, hot.kept[i]);
		if (hot.links && i)
			CHILD_CHECK(cistern_link(hot.c, hot.kept[i], hot.kept[i - 1]) == 0);
	}
	memset(hot.lengthy, 'l', sizeof(hot.lengthy));
	hot.long_halves[0].data = hot.lengthy;
	hot.long_halves[0].len = LONG / 2;
	hot.long_halves[1].data = hot.lengthy + LONG / 2;
	hot.long_halves[1].len = LONG - LONG / 2;
	hot.long_kept = cistern_intern(hot.c, hot.lengthy, LONG);
	CHILD_CHECK(hot.long_kept);
	cistern_buf_init_fixed(&hot.buf, hot.storage, sizeof(hot.storage));
	CHILD_CHECK(cistern_buf_add(&hot.buf, hot.bytes[0], hot.spans[0].len));
	return 0;
}

/* One hit of every kind for the i-th name; how many of them were wrong. Stores to hot.out only. */
static int hit(size_t i)
{
	cistern *c = hot.c;
	const char *s = hot.spans[i].data, *kept = hot.kept[i];
	size_t len = hot.spans[i].len;
	bool is_new = true;
	int wrong = 0;

	wrong += cistern_intern(c, s, len) != kept;
	wrong += cistern_intern_cstr(c, s) != kept;
	wrong += cistern_intern_new(c, s, len, &is_new) != kept || is_new;
	wrong += cistern_intern_hashed(c, s, len, hot.hashes[i]) != kept;
	wrong += cistern_internv(c, hot.halves[i], 2) != kept;
	wrong += cistern_find(c, s, len) != kept;
	wrong += cistern_find_cstr(c, s) != kept;
	wrong += cistern_find_hashed(c, s, len, hot.hashes[i]) != kept;
	wrong += cistern_hash(c, s, len) != hot.hashes[i];
	wrong += cistern_find(c, s, len - 1) == kept;
	wrong += cistern_len(kept) != len;
	wrong += cistern_id_of(c, kept) != hot.ids[i];
	wrong += cistern_str(c, hot.ids[i]) != kept;
	wrong += cistern_compare(kept, kept) != 0;
	wrong += cistern_casecompare(kept, hot.kept[(i + 1) % NAMES]) == 0;
	wrong += cistern_value(c, kept) != 0;
	wrong += hot.links && i + 1 < NAMES && cistern_linked(c, kept) != hot.kept[i + 1];
	if (i == 0)
		wrong += cistern_buf_intern(c, &hot.buf) != kept;
	return wrong;
}

static int hit_batches(void)
{
	int wrong = 0;

	wrong += cistern_intern_batch(hot.c, hot.spans, hot.out, NAMES) != NAMES;
	wrong += memcmp(hot.out, hot.kept, sizeof(hot.out)) != 0;
	wrong += cistern_find_batch(hot.c, hot.spans, hot.out, NAMES) != NAMES;
	wrong += memcmp(hot.out, hot.kept, sizeof(hot.out)) != 0;
	return wrong;
}

static int hit_long_ones(void)
{
	int wrong = 0;

	wrong += cistern_intern(hot.c, hot.lengthy, LONG) != hot.long_kept;
	wrong += cistern_find(hot.c, hot.lengthy, LONG) != hot.long_kept;
	wrong += cistern_internv(hot.c, hot.long_halves, 2) != hot.long_kept;
	return wrong;
}

/* At least 100,000 hits. */
static int hit_everything(void)
{
	size_t round, rounds = 25, i;
	int wrong = 0;

	for (round = 0; round < rounds; round++) {
		for (i = 0; i < NAMES; i++)
			wrong += hit(i);
		wrong += hit_batches();
		wrong += hit_long_ones();
	}
	return wrong;
}

/* ---------------------------------------------------------------- allocation */

static int count_allocations(void *arg)
{
	unsigned long before;
	const char *literal;
	int wrong, i;

	if (prepare(*(int *)arg) != 0)
		return 1;
	literal = CISTERN_LIT("literal");
	before = allocs_calls();
	wrong = hit_everything();
	for (i = 0; i < 1000; i++)
		wrong += CISTERN_LIT("literal") != cistern_find(cistern_default(), literal, 7);
	CHILD_CHECK(allocs_calls() == before);
	CHILD_CHECK(wrong == 0);
	return 0;
}

START_TEST(hits_allocate_nothing)
{
	struct child child;
	char *probe;
	unsigned long before = allocs_calls();

	if (!allocs_counted())
		return;
	/* the counter itself counts */
	probe = need(malloc(10));
	free(probe);
	ck_assert_uint_ge(allocs_calls(), before + 2);
	child_run(&child, count_allocations, &_i);
	ck_assert(child_ok(&child));
	child_free(&child);
}
END_TEST

/* ---------------------------------------------------------------- system calls */

/* Sanitizers call the system behind the program's back, and other systems have no such filter. */
#if defined(__linux__) && defined(SYS_seccomp) && !UNDER_ASAN && !UNDER_TSAN &&                    \
    (defined(__x86_64__) || defined(__aarch64__))
#define HAVE_FILTER 1
#else
#define HAVE_FILTER 0
#endif

#if HAVE_FILTER

#if defined(__x86_64__)
#define THIS_MACHINE AUDIT_ARCH_X86_64
#else
#define THIS_MACHINE AUDIT_ARCH_AARCH64
#endif

/* Says which call it was and ends: write and exit_group are let through. */
static void trapped(int signal_number, siginfo_t *info, void *context)
{
	static char line[] = "system call 0000\n";
	int number = info->si_syscall, at;

	(void)signal_number;
	(void)context;
	for (at = 15; at >= 12; at--) {
		line[at] = (char)('0' + number % 10);
		number /= 10;
	}
	if (write(STDERR_FILENO, line, sizeof(line) - 1) < 0)
		_exit(4);
	_exit(3);
}

/* From here on every system call but write and the ends of the process traps. 2 where there is no
 * such filter. */
static int watch(void)
{
	struct sock_filter rules[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THIS_MACHINE, 1, 0),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 3, 0),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 2, 0),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 1, 0),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(rules) / sizeof(rules[0]), .filter = rules};
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = trapped;
	action.sa_flags = SA_SIGINFO;
	if (sigaction(SIGSYS, &action, NULL) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return 2;
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0 ? 0 : 2;
}

static int hit_without_system(void *arg)
{
	int wrong;

	if (prepare(*(int *)arg) != 0)
		return 1;
	hit_everything(); /* settles lazy binding */
	if (watch() != 0)
		_exit(2);
	wrong = hit_everything();
	_exit(wrong ? 1 : 0);
}

START_TEST(hits_make_no_system_call)
{
	struct child child;

	child_run(&child, hit_without_system, &_i);
	if (child.code == 2 && child.exited)
		fprintf(stderr, "this kernel has no system call filter\n");
	else
		ck_assert(child_ok(&child));
	child_free(&child);
}
END_TEST

static int call_the_system(void *arg)
{
	(void)arg;
	if (watch() != 0)
		_exit(2);
	_exit(getppid() == 0);
}

/* So that the test above can fail. */
START_TEST(a_system_call_would_be_noticed)
{
	struct child child;

	child_run(&child, call_the_system, NULL);
	ck_assert(child.exited);
	ck_assert(child.code == 3 || child.code == 2);
	if (child.code == 3)
		ck_assert_ptr_nonnull(strstr(child.err, "system call "));
	child_free(&child);
}
END_TEST

#endif

/* ---------------------------------------------------------------- stores */

/* Sanitizers map memory of their own while the interner does. */
#if defined(__linux__) && !UNDER_TSAN && !UNDER_ASAN
#define HAVE_MAPS 1
#else
#define HAVE_MAPS 0
#endif

#if HAVE_MAPS

static struct maps before_interner;

static int prepare_readonly(int number)
{
	size_t taken;

	CHILD_CHECK(maps_read(&before_interner));
	if (prepare(number) != 0)
		return 1;
	hit_everything();
	taken = maps_protect_since(&before_interner);
	CHILD_CHECK(taken >= 8192);
	return 0;
}

static int hit_readonly(void *arg)
{
	if (prepare_readonly(*(int *)arg) != 0)
		return 1;
	CHILD_CHECK(hit_everything() == 0);
	_exit(0);
}

/* All memory that the interner mapped is read-only: a store to it would end the child. */
START_TEST(hits_store_nothing)
{
	struct child child;

	child_run(&child, hit_readonly, &_i);
	ck_assert(child_ok(&child));
	child_free(&child);
}
END_TEST

static int insert_readonly(void *arg)
{
	if (prepare_readonly(*(int *)arg) != 0)
		return 1;
	_exit(cistern_intern(hot.c, "a new one", 9) ? 0 : 2);
}

/* So that the test above can fail. */
START_TEST(a_store_would_be_noticed)
{
	struct child child;

	child_run(&child, insert_readonly, &_i);
	ck_assert(!child.exited);
	ck_assert_int_eq(child.code, SIGSEGV);
	child_free(&child);
}
END_TEST

#endif

/* ---------------------------------------------------------------- signals */

enum { KNOWN = 200000 };

static struct {
	cistern *c;
	const char *known[KNOWN];
	volatile sig_atomic_t count, signals, wrong, touched_errno;
} interrupted;

static size_t name_of(char *data, size_t i)
{
	size_t len = 0;
	char digits[24];
	size_t n = 0;

	/* by hand: snprintf is not for handlers */
	do
		digits[n++] = (char)('0' + i % 10);
	while (i /= 10);
	data[len++] = 's';
	while (n)
		data[len++] = digits[--n];
	return len;
}

static void look_up(int signal_number)
{
	int saved = errno;
	size_t count = (size_t)interrupted.count, i;
	uint64_t state = (uint64_t)interrupted.signals * 2654435761u + (uint64_t)signal_number;
	char data[32];
	cistern_span span = {data, 0};
	const char *out = NULL, *str;

	interrupted.signals++;
	for (i = 0; i < 16 && count; i++) {
		size_t at;

		state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
		at = i < 8 ? count - 1 - (size_t)(state >> 33) % (count < 8 ? count : 8)
			   : (size_t)(state >> 33) % count;
		errno = 4321;
		span.len = name_of(data, at);
		str = cistern_find(interrupted.c, data, span.len);
		if (str != interrupted.known[at] || cistern_len(str) != span.len)
			interrupted.wrong++;
		if (cistern_find_batch(interrupted.c, &span, &out, 1) != 1 || out != str)
			interrupted.wrong++;
		if (cistern_find_hashed(interrupted.c, data, span.len,
					cistern_hash(interrupted.c, data, span.len)) != str)
			interrupted.wrong++;
		if (cistern_str(interrupted.c, cistern_id_of(interrupted.c, str)) != str)
			interrupted.wrong++;
		if (cistern_value(interrupted.c, str) != at ||
		    cistern_linked(interrupted.c, str) != str)
			interrupted.wrong++;
		if (cistern_compare(str, str) != 0 ||
		    cistern_find_cstr(interrupted.c, "never interned"))
			interrupted.wrong++;
		if (errno != 4321)
			interrupted.touched_errno++;
	}
	errno = saved;
}

START_TEST(find_works_in_a_handler_that_interrupts_inserts)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	struct itimerval wall = {{0, 150}, {0, 150}}, cpu = {{0, 1000}, {0, 1000}}, off;
	struct sigaction action;
	size_t i, many = support_scaled(KNOWN);
	cistern *c;

	if (UNDER_VALGRIND) /* where a handler takes longer than that */
		wall.it_value.tv_usec = wall.it_interval.tv_usec = 50000;
	config.shards = 1; /* the handler always meets the shard that is being changed */
	config.value_size = 4;
	config.links = true;
	config.lock = _i ? CISTERN_LOCK_SPIN : CISTERN_LOCK_MUTEX;
	interrupted.c = c = cistern_create(&config);
	ck_assert_ptr_nonnull(c);
	memset(&off, 0, sizeof(off));
	memset(&action, 0, sizeof(action));
	action.sa_handler = look_up;
	action.sa_flags = SA_RESTART;
	ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
	ck_assert_int_eq(sigaction(SIGPROF, &action, NULL), 0);
	ck_assert_int_eq(setitimer(ITIMER_REAL, &wall, NULL), 0);
	ck_assert_int_eq(setitimer(ITIMER_PROF, &cpu, NULL), 0);
	for (i = 0; i < many; i++) {
		char data[32];
		const char *str = cistern_intern(c, data, name_of(data, i));

		if (!str || cistern_set_value(c, str, i) != 0 || cistern_link(c, str, str) != 0)
			break;
		interrupted.known[i] = str;
		interrupted.count = (sig_atomic_t)(i + 1);
	}
	setitimer(ITIMER_REAL, &off, NULL);
	setitimer(ITIMER_PROF, &off, NULL);
	/* what is still on its way must not find the interner gone */
	signal(SIGALRM, SIG_IGN);
	signal(SIGPROF, SIG_IGN);
	ck_assert_uint_eq(i, many);
	ck_assert_int_gt(interrupted.signals, 0);
	ck_assert_int_eq(interrupted.wrong, 0);
	ck_assert_int_eq(interrupted.touched_errno, 0);
	cistern_destroy(c);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("hits");

	cases_add_loop(s, hits_allocate_nothing, VARIANTS);
	/* valgrind knows no filter, and its own memory is among the mappings */
	if (!UNDER_VALGRIND) {
#if HAVE_FILTER
		cases_add_loop(s, hits_make_no_system_call, VARIANTS);
		support_add(s, a_system_call_would_be_noticed);
#endif
#if HAVE_MAPS
		cases_add_loop(s, hits_store_nothing, VARIANTS);
		cases_add_loop(s, a_store_would_be_noticed, VARIANTS);
#endif
	}
	cases_add_loop(s, find_works_in_a_handler_that_interrupts_inserts, 2);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "hits", make);
}
