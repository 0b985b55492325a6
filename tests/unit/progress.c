/* SPDX-License-Identifier: MIT */
/*
 * progress.c - who waits for whom. One thread holds locks of the library, others call: what is
 * wait-free ends all the same, and leaves no trace in the count of busy locks; a miss waits for
 * its own shard only. A call that waits where it must not ends the case by its time limit.
 */
#include "cases.h"
#include "unit.h"

#include <pthread.h>
#include <unistd.h>

enum { NAMES = 2000, HOT = 64, SHARDS = 8, LARGE = 6000 };

static struct {
	cistern *c;
	const char *kept[NAMES];
	uint32_t held; /* a shard, or SHARDS: all of them, and every other lock */
	const char *large;
} scene;

static size_t name(char *data, size_t i)
{
	return (size_t)snprintf(data, 32, "progress %zu", i);
}

static void open_scene(cistern_lock policy)
{
	cistern_config config = CISTERN_CONFIG_INIT;

	config.shards = SHARDS;
	config.lock = policy;
	config.value_size = 8;
	config.links = true;
	scene.c = cistern_create(&config);
	ck_assert_ptr_nonnull(scene.c);
	for (size_t i = 0; i < NAMES; i++) {
		char data[32];

		scene.kept[i] = cistern_intern(scene.c, data, name(data, i));
		ck_assert_ptr_nonnull(scene.kept[i]);
	}
	ck_assert_ptr_nonnull(CISTERN_LIT("progress"));
}

/* As the fork handlers do, which is the one place where a thread holds them all. */
static void every_lock(void (*act)(struct lock *lock))
{
	act(default_lock());
	for (uint32_t i = 0; i < SHARDS; i++)
		act(&scene.c->shards[i].lock);
	act(&scene.c->common.strings.lock);
	act(&scene.c->common.tables.lock);
}

/* Each wait-free call, hits and misses. False where an answer is wrong. */
static bool call_wait_free(size_t i)
{
	cistern *c = scene.c;
	char data[32];
	size_t len = name(data, i);
	cistern_span whole = {data, len}, halves[2] = {{data, 4}, {data + 4, len - 4}};
	const char *kept = scene.kept[i], *out;
	uint64_t hash = cistern_hash(c, data, len), value = cistern_value(c, kept);
	bool is_new = true;

	return cistern_intern(c, data, len) == kept && cistern_intern_cstr(c, data) == kept &&
	       cistern_intern_new(c, data, len, &is_new) == kept && !is_new &&
	       cistern_internv(c, halves, 2) == kept &&
	       cistern_intern_hashed(c, data, len, hash) == kept &&
	       cistern_intern_batch(c, &whole, &out, 1) == 1 && out == kept &&
	       cistern_find(c, data, len) == kept && cistern_find_cstr(c, data) == kept &&
	       cistern_find_hashed(c, data, len, hash) == kept &&
	       cistern_find_batch(c, &whole, &out, 1) == 1 && out == kept &&
	       !cistern_find_cstr(c, "absent") && cistern_owns(c, kept) &&
	       !cistern_owns(c, kept + 1) && cistern_id_valid(c, cistern_id_of(c, kept)) &&
	       cistern_str(c, cistern_id_of(c, kept)) == kept && cistern_len(kept) == len &&
	       cistern_set_value(c, kept, value + 1) == 0 &&
	       (cistern_cas_value(c, kept, &value, 1) || true) &&
	       cistern_link(c, kept, kept) == 0 && cistern_linked(c, kept) == kept &&
	       cistern_compare(kept, kept) == 0 && cistern_casecompare(kept, NULL) > 0 &&
	       cistern_default() && CISTERN_LIT("progress");
}

/* Hot strings that all threads hit, and each string once. */
static void hit(support_worker *worker)
{
	size_t rounds = support_scaled(20000), i;

	for (i = 0; i < NAMES; i++)
		support_expect(worker, call_wait_free(i));
	for (i = 0; i < rounds; i++)
		support_expect(worker, call_wait_free(i % HOT));
}

START_TEST(hits_and_finds_go_on_while_every_lock_is_held)
{
	cistern_stats before, after;

	open_scene(_i ? CISTERN_LOCK_SPIN : CISTERN_LOCK_MUTEX);
	before = figures(scene.c);
	every_lock(lock_fork_acquire);
	support_run(4, hit, NULL);
	every_lock(lock_fork_release);
	after = figures(scene.c);
	ck_assert_uint_eq(after.lock_waits, before.lock_waits);
	ck_assert_uint_eq(after.strings, before.strings);
	cistern_destroy(scene.c);
}
END_TEST

/* Nor do they meet in a lock that they take for a moment: that would show in the count sooner or
 * later. */
START_TEST(hot_strings_on_all_threads_leave_the_locks_alone)
{
	cistern_stats before, after;

	open_scene(_i ? CISTERN_LOCK_SPIN : CISTERN_LOCK_MUTEX);
	before = figures(scene.c);
	support_run(8, hit, NULL);
	after = figures(scene.c);
	ck_assert_uint_eq(after.lock_waits, before.lock_waits);
	cistern_destroy(scene.c);
}
END_TEST

static uint32_t shard_of(const char *data, size_t len)
{
	return hash_shard(cistern_hash(scene.c, data, len)) & scene.c->common.shard_mask;
}

static void insert_into_others(support_worker *worker)
{
	for (size_t i = 0; i < 4000; i++) {
		char data[64];
		size_t len = (size_t)snprintf(data, sizeof data, "of %u: %zu", worker->index, i);

		if (shard_of(data, len) != scene.held)
			support_expect(worker, cistern_intern(scene.c, data, len));
	}
}

START_TEST(a_shard_that_is_held_stops_no_other)
{
	open_scene(_i ? CISTERN_LOCK_SPIN : CISTERN_LOCK_MUTEX);
	for (scene.held = 0; scene.held < SHARDS; scene.held++) {
		lock_fork_acquire(&scene.c->shards[scene.held].lock);
		support_run(2, insert_into_others, NULL);
		lock_fork_release(&scene.c->shards[scene.held].lock);
	}
	cistern_destroy(scene.c);
}
END_TEST

static void *intern_large(void *arg)
{
	scene.large = cistern_intern(scene.c, arg, LARGE);
	return NULL;
}

static size_t strings_used(void)
{
	size_t used;

	lock_acquire(&scene.c->common.strings.lock);
	used = scene.c->common.strings.used;
	lock_release(&scene.c->common.strings.lock);
	return used;
}

/* It has its place before the lock, so the lock is not held while it is copied. */
START_TEST(a_large_string_gets_its_place_before_the_lock)
{
	char data[LARGE];
	pthread_t thread;
	uint32_t shard;
	size_t used;

	open_scene(_i ? CISTERN_LOCK_SPIN : CISTERN_LOCK_MUTEX);
	memset(data, 'l', sizeof data);
	shard = shard_of(data, LARGE);
	used = strings_used();
	lock_fork_acquire(&scene.c->shards[shard].lock);
	ck_assert_int_eq(pthread_create(&thread, NULL, intern_large, data), 0);
	while (strings_used() < used + LARGE)
		usleep(100);
	ck_assert_ptr_null(cistern_find(scene.c, data, LARGE));
	lock_fork_release(&scene.c->shards[shard].lock);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_ptr_nonnull(scene.large);
	ck_assert_ptr_eq(cistern_find(scene.c, data, LARGE), scene.large);
	cistern_destroy(scene.c);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("progress");

	cases_add_loop(s, hits_and_finds_go_on_while_every_lock_is_held, 2);
	cases_add_loop(s, hot_strings_on_all_threads_leave_the_locks_alone, 2);
	cases_add_loop(s, a_shard_that_is_held_stops_no_other, 2);
	cases_add_loop(s, a_large_string_gets_its_place_before_the_lock, 2);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "progress", make);
}
