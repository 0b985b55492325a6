/* SPDX-License-Identifier: MIT */
/*
 * full.c - many threads against a limit: the range or the memory limit is used up under all of them
 * at once, the limit is not passed at any moment, and nothing that was given out is lost.
 */
#include "cases.h"
#include "figures.h"
#include "support.h"
#include "words.h"

#include <cistern.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, MOST = 60000 };

struct filling {
	cistern *c;
	uint64_t limit;
	const char **kept[THREADS];
	size_t count[THREADS];
	atomic_uint busy;
};

/* Strings of each thread's own, and every fifth one that all share; one in 200 is long. */
static size_t key(char *data, unsigned thread, size_t i)
{
	size_t len = (size_t)snprintf(data, 64, "%u fills with %zu", i % 5 ? thread : 9, i);

	if (i % 200 != 199)
		return len;
	memset(data + len, 'f', 4500 - len);
	return 4500;
}

static void fill(struct filling *f, support_worker *worker)
{
	char data[4500];
	size_t i, refused = 0;

	for (i = 0; i < MOST && refused < 300; i++) {
		size_t len = key(data, worker->index, i);
		const char *str;

		errno = 0;
		str = cistern_intern(f->c, data, len);
		f->kept[worker->index][i] = str;
		if (str) {
			if (!support_expect(worker,
					    cistern_len(str) == len && memcmp(str, data, len) == 0))
				break;
		} else {
			refused++;
			if (!support_expect(worker, errno == ENOSPC))
				break;
		}
	}
	f->count[worker->index] = i;
	support_expect(worker, refused > 0);
	atomic_fetch_sub(&f->busy, 1);
}

static void watch(struct filling *f, support_worker *worker)
{
	while (atomic_load(&f->busy)) {
		cistern_stats stats = {.size = sizeof(stats)};

		support_expect(worker, cistern_stats_get(f->c, &stats) == 0);
		support_expect(worker, stats.committed_bytes <= f->limit);
	}
}

static void fill_or_watch(support_worker *worker)
{
	if (worker->index < THREADS)
		fill(worker->arg, worker);
	else
		watch(worker->arg, worker);
}

START_TEST(threads_that_fill_an_interner_lose_nothing)
{
	size_t round, rounds = support_scaled(4), i;
	unsigned t;

	for (round = 0; round < rounds; round++) {
		cistern_config config = CISTERN_CONFIG_INIT;
		struct filling f = {.limit = UINT64_MAX};

		config.shards = _i / 2 ? 16 : 1;
		config.lock = round % 2 ? CISTERN_LOCK_SPIN : CISTERN_LOCK_MUTEX;
		/* the smallest commits, so that both ranges often charge the limit at once */
		config.commit_chunk = round % 4 < 2 ? 4096 : 0;
		config.prefault = config.commit_chunk == 0;
		if (_i % 2)
			f.limit = config.memory_limit = 1 << 20;
		else
			config.max_bytes = 1 << 19;
		f.c = cistern_create(&config);
		ck_assert_ptr_nonnull(f.c);
		atomic_init(&f.busy, THREADS);
		for (t = 0; t < THREADS; t++)
			f.kept[t] = need(calloc(MOST, sizeof(char *)));
		support_run(THREADS + 1, fill_or_watch, &f);
		for (t = 0; t < THREADS; t++) {
			for (i = 0; i < f.count[t]; i++) {
				char data[4500];
				size_t len = key(data, t, i);
				const char *found = cistern_find(f.c, data, len);

				/* refused to this thread, it may have come by another one */
				if (f.kept[t][i])
					ck_assert_ptr_eq(found, f.kept[t][i]);
				else if (i % 5)
					ck_assert_ptr_null(found);
			}
			free(f.kept[t]);
		}
		figures_check(f.c);
		cistern_destroy(f.c);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("full");

	cases_add_loop(s, threads_that_fill_an_interner_lose_nothing, 4);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "full", make);
}
