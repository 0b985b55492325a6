/* SPDX-License-Identifier: MIT */
/*
 * rekey.c - readers at work while an attacker, to whom each new secret leaks at once, has a table
 * keyed anew at every size.
 */
#include "flood.h"

#include <stdlib.h>

enum { SENTINELS = 512 };

struct race {
	cistern *c;
	struct flood_string sentinels[SENTINELS];
	uint64_t hashes[SENTINELS];
	const char *strings[SENTINELS];
	_Atomic bool over;
	uint64_t most; /* strings to intern in all */
};

/* Worker 0 floods under each new secret until it is replaced, and then lets the table grow. */
static void flood_each_secret(support_worker *worker)
{
	struct race *race = worker->arg;
	uint64_t n = 0;

	while (n < race->most && !worker->failed) {
		const struct secret secret = *unit_secret(race->c, 0);
		uint64_t rekeys = figures(race->c).rekeys, growths;

		for (uint64_t i = 0; figures(race->c).rekeys == rekeys; i++, n++) {
			struct flood_string s =
			    flood_make(&secret, i % 2 ? SAME_BUCKET_AND_TAG : SAME_BUCKET, i);
			const char *str = cistern_intern(race->c, s.data, s.len);

			if (!support_expect(worker,
					    i <= 2 * BUCKET_SLOTS * REKEY_LIMIT && str &&
						str == cistern_find(race->c, s.data, s.len)))
				break;
		}
		growths = figures(race->c).growths;
		for (; figures(race->c).growths == growths && !worker->failed; n++)
			support_expect(worker,
				       cistern_intern(race->c, (const char *)&n, sizeof(n)));
	}
	race->over = true;
}

static void look_meanwhile(support_worker *worker)
{
	struct race *race = worker->arg;

	while (!race->over && !worker->failed) {
		cistern_span in[16];
		const char *out[16];
		uint64_t at[16];

		for (int i = 0; i < 16; i++) {
			const struct flood_string *s;

			at[i] = support_rng_below(&worker->rng, SENTINELS);
			s = &race->sentinels[at[i]];
			in[i] = (cistern_span){s->data, s->len};
			support_expect(worker, cistern_find(race->c, s->data, s->len) ==
						   race->strings[at[i]]);
			support_expect(worker, cistern_find_hashed(race->c, s->data, s->len,
								   race->hashes[at[i]]) ==
						   race->strings[at[i]]);
			support_expect(worker, cistern_intern_hashed(race->c, s->data, s->len,
								     race->hashes[at[i]]) ==
						   race->strings[at[i]]);
		}
		support_expect(worker, cistern_find_batch(race->c, in, out, 16) == 16);
		for (int i = 0; i < 16; i++)
			support_expect(worker, out[i] == race->strings[at[i]]);
		support_expect(worker, cistern_intern_batch(race->c, in, out, 16) == 16);
		for (int i = 0; i < 16; i++)
			support_expect(worker, out[i] == race->strings[at[i]]);
	}
}

static void flood_or_look(support_worker *worker)
{
	if (worker->index == 0)
		flood_each_secret(worker);
	else
		look_meanwhile(worker);
}

static void race_once(struct race *race)
{
	race->c = unit_interner(1, 0);
	race->most = support_scaled(100) >= 100 ? 100000 : 20000;
	race->over = false;
	for (uint64_t i = 0; i < SENTINELS; i++) {
		struct flood_string *s = &race->sentinels[i];

		/* half of them collide, so that they lie far from their bucket until the first
		 * re-key */
		*s = flood_make(&race->c->common.secret, i % 2 ? SAME_BUCKET : SAME_SHARD, i);
		race->hashes[i] = flood_hash(&race->c->common.secret, s);
		race->strings[i] = cistern_intern(race->c, s->data, s->len);
		ck_assert(race->strings[i]);
	}
	support_run(3, flood_or_look, race);
	ck_assert_uint_ge(figures(race->c).rekeys, support_scaled(100) >= 100 ? 7 : 4);
	ck_assert_uint_le(figures(race->c).rekeys, figures(race->c).growths + 1);
	for (uint64_t i = 0; i < SENTINELS; i++)
		ck_assert_ptr_eq(
		    cistern_find(race->c, race->sentinels[i].data, race->sentinels[i].len),
		    race->strings[i]);
	unit_check_accounts(race->c);
	cistern_destroy(race->c);
}

/* FAULTS 21. */
START_TEST(readers_lose_nothing_while_a_table_is_rekeyed_at_every_size)
{
	struct race *race = calloc(1, sizeof(*race));

	ck_assert_ptr_nonnull(race);
	for (size_t round = 0; round < support_scaled(8); round++)
		race_once(race);
	free(race);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("rekey");

	support_add_slow(s, readers_lose_nothing_while_a_table_is_rekeyed_at_every_size, 120);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "rekey", make);
}
