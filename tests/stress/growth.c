/* SPDX-License-Identifier: MIT */
/*
 * growth.c - readers while tables grow: what was there before is found at every moment, also by a
 * reader who slept in the middle of a look-up while its table was replaced several times.
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
#include <string.h>
#include <time.h>

enum { SENTINELS = 300 };

struct growing {
	cistern *c;
	atomic_uint writers;
	size_t inserts;
	char bytes[SENTINELS][32];
	cistern_span spans[SENTINELS];
	const char *kept[SENTINELS];
	uint64_t hashes[SENTINELS];
	atomic_ulong looks;
};

static void plant(struct growing *g)
{
	size_t i;

	for (i = 0; i < SENTINELS; i++) {
		int len = snprintf(g->bytes[i], sizeof(g->bytes[i]), "sentinel %zu", i);

		g->spans[i].data = g->bytes[i];
		g->spans[i].len = (size_t)len;
		g->kept[i] = cistern_intern(g->c, g->bytes[i], (size_t)len);
		ck_assert_ptr_nonnull(g->kept[i]);
		g->hashes[i] = cistern_hash(g->c, g->bytes[i], (size_t)len);
	}
}

static void grow(struct growing *g, support_worker *worker)
{
	size_t i;

	for (i = 0; i < g->inserts; i++) {
		char data[64];
		int len = snprintf(data, sizeof(data), "%u adds %zu", worker->index, i);

		if (!support_expect(worker, cistern_intern(g->c, data, (size_t)len) != NULL))
			break;
	}
	atomic_fetch_sub(&g->writers, 1);
}

static void look(struct growing *g, support_worker *worker)
{
	const char *out[SENTINELS];
	unsigned long looks = 0;

	while (atomic_load(&g->writers)) {
		size_t i = support_rng_below(&worker->rng, SENTINELS);
		const char *s = g->spans[i].data;
		size_t len = g->spans[i].len;

		if (!support_expect(worker, cistern_find(g->c, s, len) == g->kept[i]) ||
		    !support_expect(worker, cistern_find_hashed(g->c, s, len, g->hashes[i]) ==
						g->kept[i]) ||
		    !support_expect(worker, cistern_intern(g->c, s, len) == g->kept[i]) ||
		    !support_expect(worker, !cistern_find(g->c, "never there", 11)))
			return;
		if (looks++ % 64 == 0) {
			if (!support_expect(worker, cistern_find_batch(g->c, g->spans, out,
								       SENTINELS) == SENTINELS) ||
			    !support_expect(worker, memcmp(out, g->kept, sizeof(out)) == 0))
				return;
		}
	}
	atomic_fetch_add(&g->looks, looks);
}

/* Odd workers read, even ones write. */
static void read_or_write(support_worker *worker)
{
	struct growing *g = worker->arg;

	if (worker->index % 2)
		look(g, worker);
	else
		grow(g, worker);
}

START_TEST(sentinels_are_found_at_every_moment_of_growth)
{
	size_t round, rounds = support_scaled(12);

	/* many small interners rather than one large one: small tables grow most often */
	for (round = 0; round < rounds; round++) {
		struct growing g = {.c = crowd_create(_i), .inserts = 500 << round % 6};

		atomic_init(&g.writers, 2);
		plant(&g);
		support_run(4, read_or_write, &g);
		ck_assert_uint_eq(figures(g.c).strings, SENTINELS + 2 * g.inserts);
		ck_assert_uint_gt(figures(g.c).growths, 3);
		figures_check(g.c);
		cistern_destroy(g.c);
	}
}
END_TEST

/* ---------------------------------------------------------------- held readers */

/* Where the reader's handler waits: wherever in a look-up the signal came. */
static atomic_bool hold, held;

static void sleep_a_little(void)
{
	struct timespec moment = {0, 20000};

	nanosleep(&moment, NULL);
}

static void wait_in_handler(int signal_number)
{
	int saved = errno;

	(void)signal_number;
	atomic_store(&held, true);
	while (atomic_load(&hold))
		sleep_a_little();
	atomic_store(&held, false);
	errno = saved;
}

struct holding {
	struct growing g;
	atomic_bool started, done;
	pthread_t reader;
	uint64_t holds;
};

static void be_held(struct holding *h, support_worker *worker)
{
	size_t i = 0;

	h->reader = pthread_self();
	atomic_store(&h->started, true);
	while (!atomic_load(&h->done)) {
		i = (i + 1) % SENTINELS;
		if (!support_expect(worker, cistern_find(h->g.c, h->g.spans[i].data,
							 h->g.spans[i].len) == h->g.kept[i]) ||
		    !support_expect(worker, !cistern_find(h->g.c, h->g.bytes[i], 5)))
			break;
	}
	atomic_store(&h->started, false);
}

/* Stops the reader, makes every table grow three times, and lets it go on. */
static void hold_reader(struct holding *h, support_worker *worker)
{
	size_t round, rounds = 2, added = 0;

	while (!atomic_load(&h->started))
		sleep_a_little();
	for (round = 0; round < rounds && atomic_load(&h->started); round++) {
		cistern_stats before = {.size = sizeof(before)}, now = {.size = sizeof(now)};
		int patience = 5000;

		atomic_store(&hold, true);
		if (!support_expect(worker, pthread_kill(h->reader, SIGUSR1) == 0))
			break;
		while (!atomic_load(&held) && patience--)
			sleep_a_little();
		support_expect(worker, cistern_stats_get(h->g.c, &before) == 0);
		do {
			char data[64];
			int len = snprintf(data, sizeof(data), "while held %zu", added++);

			if (!support_expect(worker,
					    cistern_intern(h->g.c, data, (size_t)len) != NULL))
				break;
			if (added % 64 == 0)
				support_expect(worker, cistern_stats_get(h->g.c, &now) == 0);
		} while (now.growths < before.growths + 3 * before.shards && added < 300000);
		h->holds += atomic_load(&held);
		atomic_store(&hold, false);
		while (atomic_load(&held))
			sleep_a_little();
	}
	atomic_store(&h->done, true);
}

static void hold_or_be_held(support_worker *worker)
{
	if (worker->index)
		be_held(worker->arg, worker);
	else
		hold_reader(worker->arg, worker);
}

START_TEST(a_reader_that_slept_through_growth_finds_its_string)
{
	size_t round, rounds = support_scaled(12);
	uint64_t holds = 0;
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = wait_in_handler;
	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
	for (round = 0; round < rounds; round++) {
		struct holding h = {.g.c = crowd_create(_i)};

		plant(&h.g);
		support_run(2, hold_or_be_held, &h);
		holds += h.holds;
		cistern_destroy(h.g.c);
	}
	if (!UNDER_TSAN) /* which delivers signals when it sees fit */
		ck_assert_uint_gt(holds, 0);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("growth");

	cases_add_loop(s, sentinels_are_found_at_every_moment_of_growth, CROWDS);
	cases_add_loop(s, a_reader_that_slept_through_growth_finds_its_string, CROWDS);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "growth", make);
}
