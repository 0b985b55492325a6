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
#include "words.h"

#include <cistern.h>

#include <stdlib.h>
#include <string.h>

enum { KEYS = 57, WORKERS = 3, LONGEST = 4200 };

/*
 * The bucket is in the hash's low bits and shows in cistern_hash, which depends on the seed alone.
 * The empty string's hash under EMPTY_SEED has zeros where an entry keeps eight of its bits: so its
 * entry looks like memory that was never written.
 */
enum { SEED = 1, KINDS = 4, FULL = 42 };

static struct keys {
	char text[KEYS][96];
	size_t len[KEYS];
	uint64_t seed;
	bool look; /* while the table is emptied */
} kinds[KINDS];

struct world {
	cistern *c;
	const struct keys *keys;
	unsigned planted; /* keys that are there when the workers begin */
	bool iterate;
	struct history histories[1 + WORKERS];
	char large[LONGEST]; /* one key is of the kind that is copied before the lock is taken */
};

enum { LARGE = KEYS - 1, FRESH = 12 };

static cistern *create(const cistern_config *config)
{
	cistern *c = cistern_create(config);

	if (!c) {
		fprintf(stderr, "no interner\n");
		abort();
	}
	return c;
}

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
		c = create(&config);
	}
	return cistern_hash(c, s, len);
}

/* Kind 0: all sorts. Kind 1: all begin in the same bucket. Kind 2: two tags for all of them. Kind
 * 3: as kind 0, for workers who look while one of them has the table replaced. */
static void make_keys(void)
{
	for (unsigned kind = 0; kind < KINDS; kind++) {
		struct keys *keys = &kinds[kind];
		unsigned number = 0;

		keys->look = kind == 3;
		keys->seed = SEED;
		while (hash_under(keys->seed, "", 0) >> 32 & 0xFF)
			keys->seed++;
		for (unsigned k = 1; k < KEYS; k++)
			for (bool good = false; !good; number++) {
				/* every sixth gets a slab of its own where it meets a full one */
				keys->len[k] =
				    (size_t)snprintf(keys->text[k], sizeof(keys->text[k]),
						     k % 6 ? "key %u" : "key %70u", number);
				uint64_t hash = hash_under(keys->seed, keys->text[k], keys->len[k]);

				good = kind % 3 == 0 || (kind == 1 && hash % 4 == 0) ||
				       (kind == 2 && (hash >> 40 & 0xFF) < 3);
			}
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

static bool intern(struct world *world, unsigned thread, unsigned key, unsigned way)
{
	const char *s = key_text(world, key), *str = NULL;
	size_t len = key_len(world, key);
	cistern_span span = {s, len}, halves[2] = {{s, len / 2}, {s + len / 2, len - len / 2}};
	bool is_new = false;
	struct call call;

	begin(&call, CALL_INTERN, thread, key);
	switch (way) {
	case 0:
		str = cistern_intern_hashed(world->c, s, len, cistern_hash(world->c, s, len));
		break;
	case 1:
		cistern_intern_batch(world->c, &span, &str, 1);
		break;
	case 2:
		str = cistern_internv(world->c, halves, 2);
		break;
	case 3:
		str = cistern_intern(world->c, s, len);
		break;
	default:
		str = cistern_intern_new(world->c, s, len, &is_new);
		call.kind = is_new ? CALL_ADD : CALL_INTERN;
	}
	return end(world, &call, str) && str;
}

static bool find(struct world *world, unsigned thread, unsigned key, unsigned way)
{
	const char *s = key_text(world, key), *str = NULL;
	size_t len = key_len(world, key);
	cistern_span span = {s, len};
	struct call call;

	begin(&call, CALL_FIND, thread, key);
	switch (way) {
	case 0:
		str = cistern_find_hashed(world->c, s, len, cistern_hash(world->c, s, len));
		break;
	case 1:
		cistern_find_batch(world->c, &span, &str, 1);
		break;
	default:
		str = cistern_find(world->c, s, len);
	}
	return end(world, &call, str);
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
		support_expect(worker, intern(world, thread, FULL, 3));
		return;
	}
	for (unsigned i = 0; i < 4; i++) {
		unsigned key = (unsigned)support_rng_below(&worker->rng, FULL);

		support_expect(worker, find(world, thread, key, i % 3));
		support_expect(worker, own(world, thread, key));
	}
}

static void work(support_worker *worker)
{
	struct world *world = worker->arg;
	unsigned thread = worker->index + 1;
	unsigned steps = 6 + (unsigned)support_rng_below(&worker->rng, 8);

	if (world->keys->look) {
		look(world, worker);
		return;
	}
	while (steps-- > 0 && !worker->failed && !machine_failed()) {
		unsigned way = (unsigned)support_rng_below(&worker->rng, 6);

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
		machine_expect(find(world, 0, k, 2));
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
	world.c = create(&config);
	for (unsigned k = 0; k < world.planted; k++)
		machine_expect(intern(&world, 0, k, 3 + k % 2));
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

static void explore(unsigned kind)
{
	size_t schedules = support_scaled(1000);

	make_keys();
	machine_explore(schedules, live, &kinds[kind]);
	if (schedules < 100 || getenv("TEST_SCHEDULE"))
		return;
	/* schedules say little unless tables were replaced meanwhile */
	ck_assert_uint_ge(reached.strings, schedules);
	ck_assert_uint_gt(reached.growths, schedules / 10);
	ck_assert_uint_gt(reached.emptied, schedules / 20);
	ck_assert(kind != 1 || reached.rekeys > schedules / 20);
}

START_TEST(all_sorts_of_keys_are_a_set_under_every_schedule)
{
	explore(0);
}
END_TEST

START_TEST(keys_that_crowd_one_bucket_are_a_set_under_every_schedule)
{
	explore(1);
}
END_TEST

START_TEST(keys_of_equal_tags_are_a_set_under_every_schedule)
{
	explore(2);
}
END_TEST

START_TEST(strings_are_found_while_their_table_is_emptied)
{
	explore(3);
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
