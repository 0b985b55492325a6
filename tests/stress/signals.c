/* SPDX-License-Identifier: MIT */
/*
 * signals.c - a profiler's handler that looks strings up (SIGPROF: find, len, str and the like)
 * while it interrupts threads that all insert into the same shards, at any instruction of theirs.
 * One thread that is interrupted alone is in tests/api/hits.c.
 */
#include "cases.h"
#include "figures.h"
#include "support.h"
#include "tools.h"
#include "variants.h"
#include "words.h"

#include <cistern.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum { INSERTING = 4, MOST = 60000, BATCH = 40 };

static struct {
	cistern *c;
	const char **kept[INSERTING];
	atomic_size_t count[INSERTING]; /* of kept; those are written before it */
	unsigned long wanted;           /* signals, at least */
	atomic_ulong signals, wrong, hits_of_fresh;
} load;

/* By hand: snprintf is not for handlers. */
static size_t key(char *data, unsigned thread, size_t i)
{
	char digits[24];
	size_t len = 0, n = 0;

	data[len++] = (char)('a' + thread);
	do
		digits[n++] = (char)('0' + i % 10);
	while (i /= 10);
	while (n)
		data[len++] = digits[--n];
	/* some longer than what a hit serves inline */
	if (data[len - 1] == '7') {
		memset(data + len, '.', 150);
		len += 150;
	}
	return len;
}

static bool right(const char *str, const char *data, size_t len)
{
	return cistern_len(str) == len && memcmp(str, data, len) == 0 && str[len] == '\0' &&
	       cistern_str(load.c, cistern_id_of(load.c, str)) == str;
}

/* A string that its thread has, or NULL. */
static const char *known(support_rng *rng, char *data, size_t *len)
{
	unsigned thread = (unsigned)support_rng_below(rng, INSERTING);
	size_t count = atomic_load(&load.count[thread]), back, i;

	if (count == 0)
		return NULL;
	/* the latest ones most often */
	back = support_rng_below(rng, support_rng_below(rng, 2) ? 8 : MOST);
	i = count - 1 - back % count;
	*len = key(data, thread, i);
	return load.kept[thread][i];
}

static bool look_up_known(support_rng *rng)
{
	char data[256];
	size_t len;
	const char *str = known(rng, data, &len);

	return !str ||
	       (cistern_find(load.c, data, len) == str && right(str, data, len) &&
		cistern_find_hashed(load.c, data, len, cistern_hash(load.c, data, len)) == str &&
		cistern_linked(load.c, str) == str && cistern_value(load.c, str) == len &&
		cistern_compare(str, str) == 0 && cistern_casecompare(NULL, str) < 0);
}

/* What the threads are inserting just now: it is there, or not yet, and never half. */
static bool look_up_fresh(void)
{
	unsigned thread;
	bool good = true;

	for (thread = 0; thread < INSERTING; thread++) {
		char data[256];
		size_t len = key(data, thread, atomic_load(&load.count[thread]));
		const char *str = cistern_find(load.c, data, len);

		good &= !str || right(str, data, len);
		if (str)
			atomic_fetch_add(&load.hits_of_fresh, 1);
	}
	return good;
}

static bool look_up_batch(support_rng *rng)
{
	static const char absent[] = "never interned";
	char data[BATCH][256];
	cistern_span in[BATCH];
	const char *out[BATCH], *expected[BATCH];
	size_t found = 0, i;
	bool good = true;

	for (i = 0; i < BATCH; i++) {
		in[i].data = data[i];
		expected[i] = known(rng, data[i], &in[i].len);
		if (!expected[i])
			in[i] = (cistern_span){absent, sizeof(absent) - 1};
		found += expected[i] != NULL;
	}
	good &= cistern_find_batch(load.c, in, out, BATCH) == found;
	for (i = 0; i < BATCH; i++)
		good &= out[i] == expected[i];
	return good;
}

static void look_up(int signal_number)
{
	int saved = errno;
	support_rng rng = {atomic_fetch_add(&load.signals, 1)};
	bool good = true;
	int i;

	(void)signal_number;
	errno = 4321;
	good &= look_up_fresh();
	for (i = 0; i < 12; i++)
		good &= look_up_known(&rng);
	good &= look_up_batch(&rng);
	good &= errno == 4321;
	if (!good)
		atomic_fetch_add(&load.wrong, 1);
	errno = saved;
}

static void insert(support_worker *worker)
{
	size_t many = support_scaled(MOST), i;
	unsigned thread = worker->index;
	sigset_t both;

	sigemptyset(&both);
	sigaddset(&both, SIGPROF);
	sigaddset(&both, SIGALRM);
	pthread_sigmask(SIG_UNBLOCK, &both, NULL);
	for (i = 0; i < many; i++) {
		char data[256];
		size_t len = key(data, thread, i);
		const char *str = cistern_intern(load.c, data, len);

		if (!support_expect(worker, str && cistern_set_value(load.c, str, len) == 0 &&
						cistern_link(load.c, str, str) == 0))
			break;
		load.kept[thread][i] = str;
		atomic_store(&load.count[thread], i + 1);
	}
	/* where little ran: hits, until there were enough */
	while (!worker->failed && atomic_load(&load.signals) < load.wanted) {
		char data[256];
		size_t len = key(data, thread, --i);

		support_expect(worker, cistern_intern(load.c, data, len) == load.kept[thread][i]);
		i = i ? i : many;
	}
}

START_TEST(handlers_look_up_while_all_threads_insert)
{
	struct itimerval wall = {{0, 100}, {0, 100}}, cpu = {{0, 1000}, {0, 1000}}, off;
	struct sigaction action;
	sigset_t both;
	unsigned thread;

	memset(&load, 0, sizeof(load));
	load.wanted = support_scaled(2000);
	if (UNDER_VALGRIND) { /* where a handler takes longer than all else */
		wall.it_interval.tv_usec = 50000;
		load.wanted = 20;
	}
	load.c = crowd_create(_i);
	for (thread = 0; thread < INSERTING; thread++)
		load.kept[thread] = need(calloc(MOST, sizeof(char *)));
	/* for the threads that insert; the one that waits for them would be the first choice */
	sigemptyset(&both);
	sigaddset(&both, SIGPROF);
	sigaddset(&both, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &both, NULL);
	memset(&off, 0, sizeof(off));
	memset(&action, 0, sizeof(action));
	action.sa_handler = look_up;
	action.sa_flags = SA_RESTART;
	ck_assert_int_eq(sigaction(SIGPROF, &action, NULL), 0);
	ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
	/* the first as profilers do, which is no faster than the kernel's tick; the other is */
	ck_assert_int_eq(setitimer(ITIMER_PROF, &cpu, NULL), 0);
	ck_assert_int_eq(setitimer(ITIMER_REAL, &wall, NULL), 0);
	support_run(INSERTING, insert, NULL);
	setitimer(ITIMER_PROF, &off, NULL);
	setitimer(ITIMER_REAL, &off, NULL);
	ck_assert_uint_eq(atomic_load(&load.wrong), 0);
	ck_assert_uint_eq(figures(load.c).strings, INSERTING * support_scaled(MOST));
	figures_check(load.c);
	printf("# %lu signals, and %lu strings seen before their thread knew of them\n",
	       atomic_load(&load.signals), atomic_load(&load.hits_of_fresh));
	cistern_destroy(load.c);
	for (thread = 0; thread < INSERTING; thread++)
		free(load.kept[thread]);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("signals");

	cases_add_loop(s, handlers_look_up_while_all_threads_insert, CROWDS);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "signals", make);
}
