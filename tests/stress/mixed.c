/* SPDX-License-Identifier: MIT */
/* mixed.c - every call at once on one interner; each answer is checked by what it must be in any
 * order. */
#include "cases.h"
#include "figures.h"
#include "support.h"
#include "variants.h"
#include "words.h"

#include <cistern.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 6000 };

struct mix {
	cistern *c;
	size_t steps;
	/* what some thread got for a key, once; all others must get the same */
	_Atomic(const char *) kept[KEYS];
};

/* One in 97 is long. */
static size_t key(char *data, size_t k)
{
	size_t len = (size_t)snprintf(data, 64, "mixed %zu", k);

	if (k % 97 != 96)
		return len;
	memset(data + len, 'm', 6000 - len);
	return 6000;
}

static bool right(struct mix *mix, size_t k, const char *str, const char *data, size_t len)
{
	const char *first = NULL;

	if (!str || cistern_len(str) != len || memcmp(str, data, len) != 0)
		return false;
	return atomic_compare_exchange_strong(&mix->kept[k], &first, str) || first == str;
}

static int check_one(const char *str, size_t len, void *arg)
{
	uint64_t *wrong = arg;

	*wrong +=
	    cistern_len(str) != len || str[len] != '\0' || len < 7 || memcmp(str, "mixed ", 6) != 0;
	return 0;
}

static void step(struct mix *mix, support_worker *worker, char (*data)[6000])
{
	cistern_span in[8], halves[2];
	const char *out[8], *str, *known;
	size_t k = support_rng_below(&worker->rng, KEYS), len = key(data[0], k), i;
	cistern_stats stats = {.size = sizeof(stats)};
	uint64_t wrong = 0, value;

	switch (support_rng_below(&worker->rng, 16)) {
	case 0:
		halves[0].data = data[0];
		halves[0].len = len / 3;
		halves[1].data = data[0] + len / 3;
		halves[1].len = len - len / 3;
		support_expect(worker,
			       right(mix, k, cistern_internv(mix->c, halves, 2), data[0], len));
		break;
	case 1:
		for (i = 0; i < 8; i++) {
			in[i].data = data[i];
			in[i].len = key(data[i], (k + i * i) % KEYS);
		}
		support_expect(worker, cistern_intern_batch(mix->c, in, out, 8) == 8);
		for (i = 0; i < 8; i++)
			support_expect(worker,
				       right(mix, (k + i * i) % KEYS, out[i], data[i], in[i].len));
		break;
	case 2:
		for (i = 0; i < 8; i++) {
			in[i].data = data[i];
			in[i].len = key(data[i], (k + i) % KEYS);
		}
		cistern_find_batch(mix->c, in, out, 8);
		for (i = 0; i < 8; i++)
			support_expect(worker, !out[i] || right(mix, (k + i) % KEYS, out[i],
								data[i], in[i].len));
		break;
	case 3:
		str =
		    cistern_intern_hashed(mix->c, data[0], len, cistern_hash(mix->c, data[0], len));
		support_expect(worker, right(mix, k, str, data[0], len));
		break;
	case 4:
	case 5:
	case 6:
		known = atomic_load(&mix->kept[k]);
		str = cistern_find(mix->c, data[0], len);
		support_expect(worker, str ? right(mix, k, str, data[0], len) : !known);
		break;
	case 7:
		known = atomic_load(&mix->kept[k]);
		if (!known)
			break;
		support_expect(worker, cistern_owns(mix->c, known));
		support_expect(worker, !cistern_owns(mix->c, known + 1));
		support_expect(worker, cistern_id_valid(mix->c, cistern_id_of(mix->c, known)));
		support_expect(worker, cistern_str(mix->c, cistern_id_of(mix->c, known)) == known);
		break;
	case 8:
		known = atomic_load(&mix->kept[k]);
		if (!known)
			break;
		support_expect(worker, cistern_set_value(mix->c, known, k) == 0);
		value = cistern_value(mix->c, known);
		support_expect(worker, value == k);
		support_expect(worker, cistern_link(mix->c, known, known) == 0);
		support_expect(worker, cistern_linked(mix->c, known) == known);
		break;
	case 9:
		known = atomic_load(&mix->kept[k]);
		str = atomic_load(&mix->kept[(k + 1) % KEYS]);
		if (known && str)
			support_expect(worker, cistern_compare(known, str) != 0);
		break;
	case 10:
		if (support_rng_below(&worker->rng, 400) == 0)
			support_expect(worker,
				       cistern_foreach(mix->c, check_one, &wrong) == 0 && !wrong);
		else if (support_rng_below(&worker->rng, 20) == 0)
			support_expect(worker, cistern_stats_get(mix->c, &stats) == 0 &&
						   stats.strings <= KEYS);
		else if (support_rng_below(&worker->rng, 400) == 0)
			support_expect(worker, cistern_reserve(mix->c, k) == 0);
		break;
	default:
		support_expect(worker,
			       right(mix, k, cistern_intern(mix->c, data[0], len), data[0], len));
	}
}

static void mixed(support_worker *worker)
{
	struct mix *mix = worker->arg;
	char(*data)[6000] = malloc(8 * sizeof(*data));
	size_t i;

	if (!support_expect(worker, data != NULL))
		return;
	for (i = 0; i < mix->steps && !worker->failed; i++)
		step(mix, worker, data);
	free(data);
}

START_TEST(all_calls_at_once_agree)
{
	struct mix *mix = need(malloc(sizeof(*mix)));
	size_t round, rounds = support_scaled(3), k, count = 0;

	for (round = 0; round < rounds; round++) {
		memset(mix, 0, sizeof(*mix));
		mix->c = crowd_create(_i);
		mix->steps = 15000;
		support_run(4, mixed, mix);
		for (k = 0, count = 0; k < KEYS; k++) {
			char data[6000];
			size_t len = key(data, k);
			const char *known = atomic_load(&mix->kept[k]);

			ck_assert_ptr_eq(cistern_find(mix->c, data, len), known);
			count += known != NULL;
		}
		ck_assert_uint_gt(count, KEYS / 2);
		ck_assert_uint_eq(figures(mix->c).strings, count);
		figures_check(mix->c);
		cistern_destroy(mix->c);
	}
	free(mix);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("mixed");

	cases_add_loop(s, all_calls_at_once_agree, CROWDS);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "mixed", make);
}
