/* SPDX-License-Identifier: MIT */
/*
 * ordered.c - strings on the machine of machine.h: workers intern, find and iterate while tables
 * grow, are re-keyed and emptied, under schedules and memory that a processor seldom or never
 * shows.
 *
 * All calls go into a history, which must be that of a set of strings; what a call returned must be
 * readable by whoever got it; and afterwards everything is there once. Tables are small: with 11
 * strings the first is replaced, with 43 the second, whose pages are emptied. Keys that all begin
 * in one bucket fill it and go past it, and from 25 of them on the shard is re-keyed (PROBE_LIMIT
 * is 2 here).
 */
#include "machine.h"

#include "figures.h"
#include "history.h"
#include "ways.h"
#include "words.h"

#include <cistern.h>

#include <stdlib.h>
#include <string.h>

enum { KEYS = 57, WORKERS = 3, LONGEST = 4200 };

/*
 * The bucket is in the hash's low bits and shows in cistern_hash, which depends on the seed alone.
 * Key 0 is the empty string, and the seed one under which its hash has zeros where an entry keeps
 * eight of its bits: so its entry looks like memory that was never written.
 */
struct keys {
	char text[KEYS][96];
	size_t len[KEYS];
	uint64_t seed;
	bool look; /* while the table is emptied */
};

struct world {
	cistern *c;
	const struct keys *keys;
	unsigned planted; /* keys that are there when the workers begin */
	bool iterate;
	struct history histories[1 + WORKERS];
	char large[LONGEST]; /* one key is of the kind that is copied before the lock is taken */
};

enum { LARGE = KEYS - 1, FRESH = 12, FULL = 42 };

static uint64_t hash_under(uint64_t seed, const char *s, size_t len)
{
	static cistern *c;
	static uint64_t of;

	if (!c || of != seed) {
		cistern_config config = CISTERN_CONFIG_INIT;

		cistern_destroy(c);
		config.seed = of = seed;
		config.shards = 1;
		config.max_bytes = 1 << 20;
		c = need(cistern_create(&config));
	}
	return cistern_hash(c, s, len);
}

enum kind {
	ALL_SORTS,
	ONE_BUCKET, /* all begin in the same one */
	TWO_TAGS,   /* for all of them */
	LOOKED_AT   /* all sorts, for workers who look while one of them has the table replaced */
};

static void make_keys(struct keys *keys, enum kind kind)
{
	unsigned number = 0;

	keys->look = kind == LOOKED_AT;
	while (hash_under(++keys->seed, "", 0) >> 32 & 0xFF)
		;
	for (unsigned k = 1; k < KEYS; k++)
		for (bool good = false; !good; number++) {
			/* every sixth gets a slab of its own where it meets a full one */
			keys->len[k] = (size_t)snprintf(keys->text[k], sizeof(keys->text[k]),
							k % 6 ? "key %u" : "key %70u", number);
			uint64_t hash = hash_under(keys->seed, keys->text[k], keys->len[k]);

			good = kind == ONE_BUCKET ? hash % 4 == 0
			       : kind == TWO_TAGS ? (hash >> 40 & 0xFF) < 3
						  : true;
		}
}

static const char *key_text(const struct world *world, unsigned key)
{
	return key == LARGE ? world->large : world->keys->text[key];
}

static size_t key_len(const struct world *world, unsigned key)
{
	return key == LARGE ? sizeof(world->large) : world->keys->len[key];
}

/* ---------------------------------------------------------------- calls */

static void begin(struct call *call, enum call_kind kind, unsigned thread, unsigned key)
{
	*call = (struct call){.kind = kind, .thread = thread, .key = key};
	machine_known(call->known);
}

/* Whoever gets a string may read it. */
static bool readable(const struct world *world, unsigned key, const char *str)
{
	size_t len = key_len(world, key);

	if (cistern_len(str) != len)
		return false;
	machine_read(str, len + 1);
	return memcmp(str, key_text(world, key), len) == 0 && str[len] == '\0';
}

static bool end(struct world *world, struct call *call, const char *str)
{
	call->str = str;
	call->end = machine_now();
	history_add(&world->histories[call->thread], call);
	return !str || readable(world, call->key, str);
}

static bool intern(struct world *world, unsigned thread, unsigned key, enum way way)
{
	bool is_new = false;
	struct call call;
	const char *str;

	begin(&call, CALL_INTERN, thread, key);
	str = way_intern(world->c, way, key_text(world, key), key_len(world, key), &is_new);
	if (is_new)
		call.kind = CALL_ADD;
	return end(world, &call, str) && str;
}

static bool find(struct world *world, unsigned thread, unsigned key, enum way way)
{
	struct call call;

	begin(&call, CALL_FIND, thread, key);
	return end(world, &call,
		   way_find(world->c, way, key_text(world, key), key_len(world, key)));
}

struct visit {
	struct world *world;
	const char *seen[KEYS];
	bool wrong;
};

static int visit(const char *str, size_t len, void *arg)
{
	struct visit *v = arg;

	for (unsigned k = 0; k < KEYS; k++)
		if (key_len(v->world, k) == len && memcmp(key_text(v->world, k), str, len) == 0) {
			v->wrong |= v->seen[k] || !readable(v->world, k, str);
			v->seen[k] = str;
			return 0;
		}
	v->wrong = true;
	return 0;
}

static bool iterate(struct world *world, unsigned thread)
{
	struct visit v = {.world = world};
	struct call call;

	begin(&call, CALL_VISIT, thread, 0);
	if (cistern_foreach(world->c, visit, &v) != 0 || v.wrong)
		return false;
	call.end = machine_now();
	for (call.key = 0; call.key < KEYS; call.key++) {
		call.str = v.seen[call.key];
		history_add(&world->histories[thread], &call);
	}
	return true;
}

/* What this thread knows of is the interner's, whatever happens to the tables. */
static bool own(struct world *world, unsigned thread, unsigned key)
{
	const struct history *history = &world->histories[key < world->planted ? 0 : thread];

	for (size_t i = 0; i < history->count; i++)
		if (history->calls[i].key == key && history->calls[i].str)
			return cistern_owns(world->c, history->calls[i].str) &&
			       cistern_id_valid(world->c,
						cistern_id_of(world->c, history->calls[i].str));
	return true;
}

/* Where a number is an id, the string is there for whoever asked. */
static bool guess(struct world *world, support_worker *worker)
{
	cistern_stats stats = figures(world->c);
	unsigned from = (unsigned)support_rng_below(&worker->rng, 4096);

	for (cistern_id id = from; id < from + 200; id++) {
		const char *str;

		if (!cistern_id_valid(world->c, id))
			continue;
		str = cistern_str(world->c, id);
		machine_read(str, cistern_len(str) + 1);
		if (cistern_find(world->c, str, cistern_len(str)) != str)
			return false;
	}
	return stats.strings <= KEYS;
}

/* ---------------------------------------------------------------- scenario */

/* What is planted, and a few more, so that threads meet; mostly what is new where that is asked
 * for. */
static unsigned choose(const struct world *world, support_worker *worker, bool fresh)
{
	unsigned key = (unsigned)support_rng_below(&worker->rng, world->planted + FRESH);

	if (fresh && key < world->planted && support_rng_below(&worker->rng, 2))
		key = world->planted + (unsigned)support_rng_below(&worker->rng, FRESH);
	return support_rng_below(&worker->rng, 16) ? key : LARGE;
}

/* One string more and the table is replaced; those in it are there all the time. */
static void look(struct world *world, support_worker *worker)
{
	unsigned thread = worker->index + 1;

	if (worker->index == 0) {
		support_expect(worker, intern(world, thread, FULL, WAY_PLAIN));
		return;
	}
	for (unsigned i = 0; i < 4; i++) {
		unsigned key = (unsigned)support_rng_below(&worker->rng, FULL);

		support_expect(worker, find(world, thread, key, (enum way)(i % 3)));
		support_expect(worker, own(world, thread, key));
	}
}

static void work(support_worker *worker)
{
	/* the last one alone says who added a string */
	static const enum way ways[] = {WAY_HASHED, WAY_BATCH, WAY_PIECES,
					WAY_PLAIN,  WAY_NEW,   WAY_NEW};
	struct world *world = worker->arg;
	unsigned thread = worker->index + 1;
	unsigned steps = 6 + (unsigned)support_rng_below(&worker->rng, 8);

	if (world->keys->look) {
		look(world, worker);
		return;
	}
	while (steps-- > 0 && !worker->failed && !machine_failed()) {
		enum way way = ways[support_rng_below(&worker->rng, sizeof(ways) / sizeof(*ways))];

		switch (support_rng_below(&worker->rng, 10)) {
		case 0:
		case 1:
			support_expect(worker,
				       find(world, thread, choose(world, worker, false), way));
			break;
		case 2:
		case 3:
			support_expect(worker, own(world, thread, choose(world, worker, false)));
			break;
		case 4:
			support_expect(worker, !world->iterate || iterate(world, thread));
			break;
		case 5:
			support_expect(worker, world->iterate || guess(world, worker));
			break;
		default:
			support_expect(worker,
				       intern(world, thread, choose(world, worker, true), way));
		}
	}
}

/* What happened while workers ran, over all schedules. */
static struct {
	uint64_t growths, rekeys, emptied, strings;
} reached;

static void add_reached(const cistern_stats *before, const cistern_stats *after)
{
	reached.growths += after->growths - before->growths;
	reached.rekeys += after->rekeys - before->rekeys;
	reached.emptied += after->emptied_bytes > before->emptied_bytes;
	reached.strings += after->strings - before->strings;
}

static void check_world(struct world *world)
{
	char reason[160];
	unsigned count = 0;
	cistern_stats stats = figures(world->c);

	for (unsigned k = 0; k < KEYS && !machine_failed(); k++) {
		const char *s = key_text(world, k);
		const char *str = cistern_find(world->c, s, key_len(world, k));

		count += str != NULL;
		machine_expect(find(world, 0, k, WAY_PLAIN));
	}
	machine_expect(iterate(world, 0));
	machine_expect(count == stats.strings);
	machine_expect(figures_balance(&stats));
	if (!history_check(world->histories, 1 + WORKERS, KEYS, true, reason, sizeof(reason)))
		machine_fail("%s", reason);
}

static void live(void *arg)
{
	static const unsigned full[] = {0, 8, 10, 12, 22, 24, 38, 40, 42, 44};
	static struct world world;
	cistern_config config = CISTERN_CONFIG_INIT;
	const struct keys *keys = arg;
	cistern_stats before, after;

	memset(&world, 0, sizeof(world));
	world.keys = keys;
	world.planted = keys->look ? FULL : full[machine_random(sizeof(full) / sizeof(*full))];
	world.iterate = machine_random(2);
	memset(world.large, 'L', sizeof(world.large));
	config.seed = keys->seed;
	config.shards = keys->look || machine_random(8) ? 1 : 2;
	config.max_bytes = 1 << 20;
	config.slab_size = 256;
	config.lock = machine_random(2) ? CISTERN_LOCK_SPIN : CISTERN_LOCK_MUTEX;
	config.hugepages = CISTERN_HUGEPAGES_NEVER;
	world.c = need(cistern_create(&config));
	for (unsigned k = 0; k < world.planted; k++)
		machine_expect(intern(&world, 0, k, k % 2 ? WAY_NEW : WAY_PLAIN));
	before = figures(world.c);
	machine_run(WORKERS, work, &world);
	after = figures(world.c);
	add_reached(&before, &after);
	if (!machine_failed())
		check_world(&world);
	cistern_destroy(world.c);
	for (unsigned t = 0; t <= WORKERS; t++)
		history_free(&world.histories[t]);
}

static void explore(enum kind kind)
{
	size_t schedules = support_scaled(1000);
	struct keys keys = {.seed = 0};

	make_keys(&keys, kind);
	machine_explore(schedules, live, &keys);
	if (schedules < 100 || getenv("TEST_SCHEDULE"))
		return;
	/* schedules say little unless tables were replaced meanwhile */
	ck_assert_uint_ge(reached.strings, schedules);
	ck_assert_uint_gt(reached.growths, schedules / 10);
	ck_assert_uint_gt(reached.emptied, schedules / 20);
	ck_assert(kind != ONE_BUCKET || reached.rekeys > schedules / 20);
}

START_TEST(all_sorts_of_keys_are_a_set_under_every_schedule)
{
	explore(ALL_SORTS);
}
END_TEST

START_TEST(keys_that_crowd_one_bucket_are_a_set_under_every_schedule)
{
	explore(ONE_BUCKET);
}
END_TEST

START_TEST(keys_of_equal_tags_are_a_set_under_every_schedule)
{
	explore(TWO_TAGS);
}
END_TEST

START_TEST(strings_are_found_while_their_table_is_emptied)
{
	explore(LOOKED_AT);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("ordered");

	support_add(s, all_sorts_of_keys_are_a_set_under_every_schedule);
	support_add(s, keys_that_crowd_one_bucket_are_a_set_under_every_schedule);
	support_add(s, keys_of_equal_tags_are_a_set_under_every_schedule);
	support_add(s, strings_are_found_while_their_table_is_emptied);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "ordered", make);
}
