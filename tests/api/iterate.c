/* SPDX-License-Identifier: MIT */
/* iterate.c - cistern_foreach: every string that was there, once, and no lock held during the
 * calls. */
#include "cases.h"
#include "figures.h"
#include "support.h"
#include "variants.h"
#include "words.h"

#include <cistern.h>

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static cistern *one_shard(cistern_lock lock)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	cistern *c;

	config.shards = 1;
	config.lock = lock;
	c = cistern_create(&config);
	if (!c)
		ck_abort_msg("cistern_create: %s", strerror(errno));
	return c;
}

/* Interns numbered strings, and keeps them in the set. */
static void intern_numbers(cistern *c, struct words *set, const char *prefix, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		char data[64];
		size_t len = (size_t)snprintf(data, sizeof(data), "%s%d", prefix, i);
		struct word *word = words_put(set, data, len, NULL);

		word->kept = cistern_intern(c, data, len);
		ck_assert_ptr_nonnull(word->kept);
	}
}

/* Marks what it meets. */
struct meeting {
	cistern *c;
	struct words *set;
	uint64_t met, twice, wrong, unknown;
};

static int meet(const char *str, size_t len, void *arg)
{
	struct meeting *meeting = arg;
	struct word *word = words_get(meeting->set, str, len);

	meeting->met++;
	if (cistern_len(str) != len || str[len] != '\0')
		meeting->wrong++;
	if (!word) {
		meeting->unknown++;
		return 0;
	}
	if (word->kept != str)
		meeting->wrong++;
	if (word->mark++)
		meeting->twice++;
	return 0;
}

static void assert_met_all(const struct meeting *meeting)
{
	size_t i, missed = 0;

	for (i = 0; i < meeting->set->count; i++)
		missed += meeting->set->items[i]->mark == 0;
	ck_assert_uint_eq(missed, 0);
	ck_assert_uint_eq(meeting->twice, 0);
	ck_assert_uint_eq(meeting->wrong, 0);
}

START_TEST(foreach_visits_every_string_once)
{
	static const size_t special[] = {0,      1,    1023,  1024,   1025,          4095,
					 4096,   4097, 65536, 300000, (1 << 24) - 2, (1 << 24) - 1,
					 1 << 24};
	cistern *c = variant_create(_i);
	char *data = need(calloc(1, 1 << 24));
	struct words set;
	struct meeting meeting = {.c = c, .set = &set};
	size_t i;

	words_init(&set);
	for (i = 0; i < sizeof(special) / sizeof(special[0]); i++) {
		struct word *word = words_put(&set, data, special[i], NULL);

		word->kept = cistern_intern(c, data, special[i]);
		ck_assert_ptr_nonnull(word->kept);
		intern_numbers(c, &set, i % 2 ? "odd " : "even ", (int)(i * support_scaled(200)));
	}
	ck_assert_int_eq(cistern_foreach(c, meet, &meeting), 0);
	ck_assert_uint_eq(meeting.met, set.count);
	ck_assert_uint_eq(meeting.unknown, 0);
	assert_met_all(&meeting);
	free(data);
	words_free(&set);
	cistern_destroy(c);
}
END_TEST

START_TEST(foreach_of_an_empty_interner_calls_nothing)
{
	cistern *c = variant_create(_i);
	struct words set;
	struct meeting meeting = {.c = c, .set = &set};

	words_init(&set);
	ck_assert_int_eq(cistern_foreach(c, meet, &meeting), 0);
	ck_assert_uint_eq(meeting.met, 0);
	words_free(&set);
	cistern_destroy(c);
}
END_TEST

struct stopping {
	int after, calls, answer;
};

static int stop(const char *str, size_t len, void *arg)
{
	struct stopping *stopping = arg;

	(void)str;
	(void)len;
	return ++stopping->calls == stopping->after ? stopping->answer : 0;
}

START_TEST(foreach_stops_at_the_first_answer_that_is_not_zero)
{
	static const int answers[] = {1, -1, 77, INT_MAX, INT_MIN};
	cistern *c = one_shard(CISTERN_LOCK_MUTEX);
	struct words set;
	size_t i;

	words_init(&set);
	intern_numbers(c, &set, "stop ", 100);
	for (i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		struct stopping stopping = {.after = (int)i * 20 + 1, .answer = answers[i]};

		ck_assert_int_eq(cistern_foreach(c, stop, &stopping), answers[i]);
		ck_assert_int_eq(stopping.calls, stopping.after);
	}
	words_free(&set);
	cistern_destroy(c);
}
END_TEST

START_TEST(foreach_of_null_is_invalid)
{
	cistern *c = one_shard(CISTERN_LOCK_MUTEX);
	struct stopping stopping = {0};

	errno = 0;
	ck_assert_int_eq(cistern_foreach(NULL, stop, &stopping), -1);
	ck_assert_int_eq(errno, EINVAL);
	errno = 0;
	ck_assert_int_eq(cistern_foreach(c, NULL, &stopping), -1);
	ck_assert_int_eq(errno, EINVAL);
	cistern_destroy(c);
}
END_TEST

/* ---------------------------------------------------------------- calls from within */

static int intern_more(const char *str, size_t len, void *arg)
{
	struct meeting *meeting = arg;
	cistern_stats stats = {.size = sizeof(stats)};
	char data[64];
	int i;

	meet(str, len, arg);
	if (!words_get(meeting->set, str, len))
		return 0;
	/* several a call, so that the table grows and slabs follow while the walk goes on */
	for (i = 0; i < 5; i++) {
		int n = snprintf(data, sizeof(data), "new %d of %s", i, str);
		const char *fresh = cistern_intern(meeting->c, data, (size_t)n);

		if (!fresh || cistern_find(meeting->c, data, (size_t)n) != fresh)
			meeting->wrong++;
	}
	if (cistern_find(meeting->c, str, len) != str || cistern_stats_get(meeting->c, &stats) != 0)
		meeting->wrong++;
	return 0;
}

START_TEST(the_callback_may_intern)
{
	cistern *c = one_shard(_i ? CISTERN_LOCK_SPIN : CISTERN_LOCK_MUTEX);
	struct words set;
	struct meeting meeting = {.c = c, .set = &set};

	words_init(&set);
	intern_numbers(c, &set, "old ", 3000);
	ck_assert_int_eq(cistern_foreach(c, intern_more, &meeting), 0);
	assert_met_all(&meeting);
	ck_assert_uint_eq(figures(c).strings, 3000 * 6);
	figures_check(c);
	words_free(&set);
	cistern_destroy(c);
}
END_TEST

static int count_calls(const char *str, size_t len, void *arg)
{
	(void)str;
	(void)len;
	++*(uint64_t *)arg;
	return 0;
}

static int iterate_within(const char *str, size_t len, void *arg)
{
	struct meeting *meeting = arg;
	uint64_t calls = 0;

	meet(str, len, arg);
	if (cistern_foreach(meeting->c, count_calls, &calls) != 0 || calls != meeting->set->count)
		meeting->wrong++;
	return 0;
}

START_TEST(the_callback_may_iterate)
{
	cistern *c = one_shard(CISTERN_LOCK_MUTEX);
	struct words set;
	struct meeting meeting = {.c = c, .set = &set};

	words_init(&set);
	intern_numbers(c, &set, "nested ", 200);
	ck_assert_int_eq(cistern_foreach(c, iterate_within, &meeting), 0);
	assert_met_all(&meeting);
	words_free(&set);
	cistern_destroy(c);
}
END_TEST

static void *intern_elsewhere(void *arg)
{
	struct meeting *meeting = arg;
	char data[64];
	const char *str = cistern_intern(
	    meeting->c, data, (size_t)snprintf(data, sizeof(data), "from another thread"));

	return (void *)(uintptr_t)str;
}

static int wait_for_another_thread(const char *str, size_t len, void *arg)
{
	struct meeting *meeting = arg;
	pthread_t thread;
	void *answer = NULL;

	(void)str;
	(void)len;
	if (pthread_create(&thread, NULL, intern_elsewhere, arg) != 0 ||
	    pthread_join(thread, &answer) != 0 || !answer)
		meeting->wrong++;
	return 1;
}

/* Would wait for ever if the shard's lock were held around the call. */
START_TEST(other_threads_intern_during_a_callback)
{
	cistern *c = one_shard(_i ? CISTERN_LOCK_SPIN : CISTERN_LOCK_MUTEX);
	struct meeting meeting = {.c = c};

	ck_assert_ptr_nonnull(cistern_intern_cstr(c, "only"));
	ck_assert_int_eq(cistern_foreach(c, wait_for_another_thread, &meeting), 1);
	ck_assert_uint_eq(meeting.wrong, 0);
	ck_assert_ptr_nonnull(cistern_find_cstr(c, "from another thread"));
	cistern_destroy(c);
}
END_TEST

/* ---------------------------------------------------------------- while others insert */

struct crowd {
	cistern *c;
	struct words set;
	atomic_bool done;
	size_t inserts;
	uint64_t rounds;
};

static void insert_or_iterate(support_worker *worker)
{
	struct crowd *crowd = worker->arg;
	struct meeting meeting = {.c = crowd->c, .set = &crowd->set};
	size_t i;

	if (worker->index != 0) {
		for (i = 0; i < crowd->inserts; i++) {
			char data[64];
			/* both inserting threads make the same strings; one in 50 takes a slab
			 * alone */
			int len = snprintf(data, sizeof(data), "crowd %zu", i);
			const char *str = cistern_intern(crowd->c, data, (size_t)len);

			if (!support_expect(worker, str != NULL))
				return;
			if (i % 50 == 0) {
				char large[5000];

				memset(large, 'l', sizeof(large));
				memcpy(large, data, (size_t)len);
				support_expect(
				    worker, cistern_intern(crowd->c, large, sizeof(large)) != NULL);
			}
		}
		atomic_store(&crowd->done, true);
		return;
	}
	do {
		for (i = 0; i < crowd->set.count; i++)
			crowd->set.items[i]->mark = 0;
		meeting.met = meeting.unknown = 0;
		support_expect(worker, cistern_foreach(crowd->c, meet, &meeting) == 0);
		support_expect(worker, meeting.met - meeting.unknown == crowd->set.count);
		support_expect(worker, meeting.twice == 0);
		support_expect(worker, meeting.wrong == 0);
		crowd->rounds++;
	} while (!atomic_load(&crowd->done));
}

START_TEST(foreach_is_complete_while_others_insert)
{
	struct crowd crowd = {.c = one_shard(_i ? CISTERN_LOCK_SPIN : CISTERN_LOCK_MUTEX),
			      .inserts = support_scaled(30000)};

	words_init(&crowd.set);
	intern_numbers(crowd.c, &crowd.set, "there before ", 2000);
	support_run(3, insert_or_iterate, &crowd);
	ck_assert_uint_gt(crowd.rounds, 0);
	words_free(&crowd.set);
	cistern_destroy(crowd.c);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("iterate");

	cases_add_loop(s, foreach_visits_every_string_once, FEW);
	cases_add_loop(s, foreach_of_an_empty_interner_calls_nothing, VARIANTS);
	support_add(s, foreach_stops_at_the_first_answer_that_is_not_zero);
	support_add(s, foreach_of_null_is_invalid);
	cases_add_loop(s, the_callback_may_intern, 2);
	support_add(s, the_callback_may_iterate);
	cases_add_loop(s, other_threads_intern_during_a_callback, 2);
	cases_add_loop(s, foreach_is_complete_while_others_insert, 2);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "iterate", make);
}
