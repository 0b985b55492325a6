/* SPDX-License-Identifier: MIT */
/*
 * handover.c - what one thread has seen, no later call of another misses: an insert, or only a hit,
 * handed on through a release store and an acquire load. Bytes and length come along with the
 * pointer.
 */
#include "cases.h"
#include "figures.h"
#include "support.h"
#include "variants.h"
#include "words.h"

#include <cistern.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 20000 };

struct line {
	cistern *c;
	size_t keys;
	const char *kept[MOST]; /* plain: what publishes it is count */
	atomic_size_t count;    /* keys that were interned, in their order */
	atomic_size_t found;    /* keys that the second thread has found */
	atomic_bool stop;
};

/* One in 61 is of the kind that gets a slab of its own. */
static size_t key(char *data, size_t k)
{
	size_t len = (size_t)snprintf(data, 64, "handed over %zu", k);

	if (k % 61 != 60)
		return len;
	memset(data + len, '.', 5000 - len);
	return 5000;
}

static void insert(struct line *line, support_worker *worker)
{
	static char data[8][5000];
	size_t k = 0;

	while (k < line->keys && !atomic_load(&line->stop)) {
		size_t n = k % 3 == 0 ? 8 : 1, i;
		cistern_span in[8];

		if (n > line->keys - k)
			n = line->keys - k;
		for (i = 0; i < n; i++) {
			in[i].data = data[i];
			in[i].len = key(data[i], k + i);
		}
		if (n > 1) {
			if (!support_expect(
				worker, cistern_intern_batch(line->c, in, line->kept + k, n) == n))
				break;
		} else {
			line->kept[k] = cistern_intern(line->c, in[0].data, in[0].len);
			if (!support_expect(worker, line->kept[k] != NULL))
				break;
		}
		k += n;
		/* release: pairs with the acquire loads of the other two */
		atomic_store_explicit(&line->count, k, memory_order_release);
	}
}

/* Looks for the newest keys without having been told, and tells the third thread what it found. */
static void find_ahead(struct line *line, support_worker *worker)
{
	char data[5000];
	size_t k;

	for (k = 0; k < line->keys && !atomic_load(&line->stop); k++) {
		size_t len = key(data, k);
		const char *str;

		do
			str = cistern_find(line->c, data, len);
		while (!str && !atomic_load(&line->stop));
		if (!str)
			break;
		support_expect(worker, cistern_len(str) == len && memcmp(str, data, len) == 0);
		/* release: pairs with the acquire load in follow */
		atomic_store_explicit(&line->found, k + 1, memory_order_release);
	}
}

/* Whatever the others have seen must be there. */
static void follow(struct line *line, support_worker *worker)
{
	char data[5000];
	size_t seen = 0;

	while (seen < line->keys && !worker->failed) {
		size_t count = atomic_load_explicit(&line->count, memory_order_acquire);
		size_t found = atomic_load_explicit(&line->found, memory_order_acquire), k, len;

		if (found) {
			len = key(data, found - 1);
			support_expect(worker, cistern_find(line->c, data, len) != NULL);
		}
		if (count) {
			const char *out = NULL;
			cistern_span in = {data, 0};

			k = count - 1 - support_rng_below(&worker->rng, count < 4 ? count : 4);
			in.len = len = key(data, k);
			support_expect(worker, cistern_find(line->c, data, len) == line->kept[k]);
			support_expect(worker, cistern_find_batch(line->c, &in, &out, 1) == 1 &&
						   out == line->kept[k]);
			support_expect(worker, cistern_intern(line->c, data, len) == line->kept[k]);
			support_expect(worker, memcmp(line->kept[k], data, len) == 0);
			support_expect(worker, cistern_len(line->kept[k]) == len);
			support_expect(
			    worker, cistern_str(line->c, cistern_id_of(line->c, line->kept[k])) ==
					line->kept[k]);
		}
		seen = count;
	}
	if (worker->failed)
		atomic_store(&line->stop, true);
}

static void take_part(support_worker *worker)
{
	if (worker->index == 0)
		insert(worker->arg, worker);
	else if (worker->index == 1)
		find_ahead(worker->arg, worker);
	else
		follow(worker->arg, worker);
}

START_TEST(what_was_seen_is_never_missed)
{
	struct line *line = need(malloc(sizeof(*line)));
	size_t round, rounds = support_scaled(6);

	for (round = 0; round < rounds; round++) {
		memset(line, 0, sizeof(*line));
		line->c = crowd_create(_i);
		line->keys = round % 2 ? MOST : 1000;
		support_run(3, take_part, line);
		ck_assert_uint_eq(figures(line->c).strings, line->keys);
		figures_check(line->c);
		cistern_destroy(line->c);
	}
	free(line);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("handover");

	cases_add_loop(s, what_was_seen_is_never_missed, CROWDS);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "handover", make);
}
