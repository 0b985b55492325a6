/* SPDX-License-Identifier: MIT */
/*
 * handed.c - what one thread hands to another through the interner, on the machine of machine.h:
 * what a program wrote before it set a value, a counterpart behind a link, memory behind an id, a
 * string with a slab of its own met by an iteration, the default interner itself. Whoever gets it
 * may read it.
 */
#include "machine.h"

#include "words.h"

#include <cistern.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS = 3, STRINGS = 3, NOTES = 24 };

struct world {
	cistern *c;
	const char *str[STRINGS]; /* there when the workers begin */
	uint64_t notes[NOTES];    /* what a value tells of: number plus 1 */
};

/* What workers do in one world, and how that differs from the others'. */
struct subject {
	void (*work)(support_worker *worker);
	unsigned value_size[2]; /* one or the other */
	bool links;
	size_t commit_chunk;
};

static void live(void *arg)
{
	const struct subject *subject = arg;
	struct world world = {.c = NULL};
	cistern_config config = CISTERN_CONFIG_INIT;

	config.seed = 1;
	config.shards = 1;
	config.max_bytes = 1 << 20;
	config.slab_size = 256;
	config.hugepages = CISTERN_HUGEPAGES_NEVER;
	config.lock = machine_random(2) ? CISTERN_LOCK_SPIN : CISTERN_LOCK_MUTEX;
	config.value_size = subject->value_size[machine_random(2)];
	config.links = subject->links;
	config.commit_chunk = subject->commit_chunk;
	world.c = need(cistern_create(&config));
	for (unsigned i = 0; i < STRINGS; i++) {
		char name[] = {'p', (char)('0' + i)};

		world.str[i] = cistern_intern(world.c, name, sizeof(name));
		machine_expect(world.str[i] != NULL);
	}
	machine_track(world.notes, sizeof(world.notes));
	machine_run(WORKERS, subject->work, &world);
	cistern_destroy(world.c);
}

/* ---------------------------------------------------------------- values */

static void write_note(struct world *world, uint64_t number)
{
	world->notes[number] = ~number;
}

/* value is that of a string: 0, or a note that was written before. */
static void read_note(const struct world *world, support_worker *worker, uint64_t value)
{
	if (value == 0)
		return;
	if (support_expect(worker, value <= NOTES))
		support_expect(worker, world->notes[value - 1] == ~(value - 1));
}

static void set_and_read(support_worker *worker)
{
	struct world *world = worker->arg;
	unsigned steps = NOTES / WORKERS;

	for (unsigned i = 0; i < steps; i++) {
		const char *str = world->str[support_rng_below(&worker->rng, STRINGS)];
		uint64_t note = worker->index * steps + i, expected;

		switch (support_rng_below(&worker->rng, 4)) {
		case 0:
			read_note(world, worker, cistern_value(world->c, str));
			break;
		case 1:
			write_note(world, note);
			support_expect(worker, cistern_set_value(world->c, str, note + 1) == 0);
			break;
		case 2: /* the value there is guessed, not read */
			write_note(world, note);
			expected = support_rng_below(&worker->rng, NOTES + 1);
			cistern_cas_value(world->c, str, &expected, note + 1);
			read_note(world, worker, expected);
			break;
		default: /* first come */
			write_note(world, note);
			expected = 0;
			cistern_cas_value(world->c, str, &expected, note + 1);
			read_note(world, worker, expected);
		}
	}
}

START_TEST(who_sees_a_value_sees_what_was_written_before_it)
{
	static struct subject subject = {.work = set_and_read, .value_size = {8, 4}};

	machine_explore(support_scaled(1500), live, &subject);
}
END_TEST

/* ---------------------------------------------------------------- links */

static const char *intern_fresh(struct world *world, support_worker *worker, unsigned i)
{
	char name[] = {'f', (char)('0' + worker->index), (char)('0' + i)};

	return cistern_intern(world->c, name, sizeof(name));
}

/* The first worker only looks: inserting would tell it of the others through the shard's lock. */
static void link_and_read(support_worker *worker)
{
	struct world *world = worker->arg;

	for (unsigned i = 0; i < 4; i++) {
		const char *str = world->str[support_rng_below(&worker->rng, STRINGS)], *other;

		if (worker->index > 0) {
			bool first = support_rng_below(&worker->rng, 2);

			other = intern_fresh(world, worker, i);
			support_expect(worker, cistern_link(world->c, first ? str : other,
							    first ? other : str) == 0);
			continue;
		}
		other = cistern_linked(world->c, str);
		if (!other)
			continue;
		if (support_expect(worker, cistern_len(other) == 3)) {
			machine_read(other, 4);
			support_expect(worker, other[0] == 'f' && other[3] == '\0');
		}
	}
}

START_TEST(who_sees_a_link_sees_the_counterpart)
{
	static struct subject subject = {
	    .work = link_and_read, .value_size = {0, 8}, .links = true};

	machine_explore(support_scaled(1000), live, &subject);
}
END_TEST

/* ---------------------------------------------------------------- committed memory */

/* Some fill memory, some ask for what is behind any number. */
static void fill_or_ask(support_worker *worker)
{
	struct world *world = worker->arg;
	char long_name[700];

	memset(long_name, 'c', sizeof(long_name));
	for (unsigned i = 0; i < 8; i++) {
		cistern_id id = (cistern_id)(4096 + support_rng_below(&worker->rng, 4096));
		const char *str;

		if (worker->index == 0) {
			str = cistern_str(world->c, id);
			support_expect(worker, !str || machine_committed(str));
			continue;
		}
		long_name[0] = (char)('0' + worker->index);
		support_expect(worker,
			       cistern_intern(world->c, long_name, sizeof(long_name) - i) != NULL);
	}
}

START_TEST(what_an_id_names_is_accessible_memory)
{
	static struct subject subject = {.work = fill_or_ask, .commit_chunk = 4096};

	machine_explore(support_scaled(500), live, &subject);
}
END_TEST

/* ---------------------------------------------------------------- slabs of their own */

struct walk {
	const cistern *c;
	unsigned count;
};

/* What is met can be read, and is found from now on. */
static int meet(const char *str, size_t len, void *arg)
{
	struct walk *walk = arg;

	machine_read(str, len + 1);
	walk->count++;
	return str[len] != '\0' || cistern_len(str) != len ||
	       cistern_find(walk->c, str, len) != str || !cistern_owns(walk->c, str);
}

/* Strings that fill more than a quarter of a slab are linked behind the one that is in use. */
static void add_or_walk(support_worker *worker)
{
	struct world *world = worker->arg;
	char name[100];

	memset(name, 's', sizeof(name));
	for (unsigned i = 0; i < 4; i++) {
		struct walk walk = {.c = world->c};

		if (worker->index == 0) {
			support_expect(worker, cistern_foreach(world->c, meet, &walk) == 0);
			support_expect(worker, walk.count >= STRINGS);
			continue;
		}
		name[0] = (char)('0' + worker->index);
		name[1] = (char)('0' + i);
		support_expect(worker, cistern_intern(world->c, name, sizeof(name) - i) != NULL);
	}
}

START_TEST(what_an_iteration_meets_is_readable_and_found)
{
	static struct subject subject = {.work = add_or_walk};

	machine_explore(support_scaled(500), live, &subject);
}
END_TEST

/* ---------------------------------------------------------------- the default interner */

static _Atomic(cistern *) agreed;

static void use_default(support_worker *worker)
{
	cistern *c = cistern_default(), *first = NULL;
	const char *str;

	if (!support_expect(worker, c != NULL))
		return;
	/* relaxed: it tells nothing of what the interner is made of */
	if (!atomic_compare_exchange_strong_explicit(&agreed, &first, c, memory_order_relaxed,
						     memory_order_relaxed))
		support_expect(worker, first == c);
	str = worker->index ? cistern_find(c, "d", 1) : cistern_intern(c, "d", 1);
	support_expect(worker, str || worker->index > 0);
}

static void defaults(void *arg)
{
	(void)arg;
	machine_run(WORKERS, use_default, NULL);
}

START_TEST(all_threads_get_one_default_interner_that_is_complete)
{
	setenv("CISTERN_SHARDS", "1", 1);
	setenv("CISTERN_MAX_BYTES", "1M", 1);
	setenv("CISTERN_SEED", "1", 1);
	setenv("CISTERN_HUGEPAGES", "never", 1);
	machine_explore_apart(support_scaled(400), defaults, NULL);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("handed");

	support_add(s, who_sees_a_value_sees_what_was_written_before_it);
	support_add(s, who_sees_a_link_sees_the_counterpart);
	support_add(s, what_an_id_names_is_accessible_memory);
	support_add(s, what_an_iteration_meets_is_readable_and_found);
	support_add(s, all_threads_get_one_default_interner_that_is_complete);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "handed", make);
}
