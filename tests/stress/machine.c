/* SPDX-License-Identifier: MIT */
/*
 * machine.c - the machine of machine.h itself: it shows what C11 allows and this processor does
 * not, shows nothing that C11 forbids, and reports races, deadlocks and the schedule that led
 * there. Without this, a green run on the machine would say nothing. The programs are the usual
 * litmus tests.
 */
#include "machine.h"

#include "cases.h"
#include "child.h"

#include <stdatomic.h>
#include <string.h>

/* What the workers of one litmus test share, and what is counted over all schedules. */
static struct {
	_Atomic uint64_t x, y;
	uint64_t plain;
	uint64_t saw[4];
	unsigned long outcomes[4][4];
	memory_order store, load;
} shared;

static void forget_outcomes(void)
{
	memset(shared.outcomes, 0, sizeof(shared.outcomes));
}

/* A litmus test: what its workers do. */
struct litmus {
	unsigned workers;
	void (*work)(support_worker *worker);
	void (*end)(void); /* what holds afterwards; may be NULL */
};

static void play(void *arg)
{
	const struct litmus *litmus = arg;

	atomic_store_explicit(&shared.x, 0, memory_order_relaxed);
	atomic_store_explicit(&shared.y, 0, memory_order_relaxed);
	shared.plain = 0;
	memset(shared.saw, 0, sizeof(shared.saw));
	machine_track(&shared.plain, sizeof(shared.plain));
	machine_run(litmus->workers, litmus->work, NULL);
	if (litmus->end)
		litmus->end();
	shared.outcomes[shared.saw[0]][shared.saw[1]]++;
}

/* ---------------------------------------------------------------- a message is passed */

static void pass_relaxed(support_worker *worker)
{
	if (worker->index == 0) {
		atomic_store_explicit(&shared.x, 1, memory_order_relaxed);
		atomic_store_explicit(&shared.y, 1, memory_order_relaxed);
	} else {
		shared.saw[0] = atomic_load_explicit(&shared.y, memory_order_relaxed);
		shared.saw[1] = atomic_load_explicit(&shared.x, memory_order_relaxed);
	}
}

static void pass_released(support_worker *worker)
{
	if (worker->index == 0) {
		atomic_store_explicit(&shared.x, 1, memory_order_relaxed);
		atomic_store_explicit(&shared.y, 1, memory_order_release);
	} else {
		shared.saw[0] = atomic_load_explicit(&shared.y, memory_order_acquire);
		shared.saw[1] = atomic_load_explicit(&shared.x, memory_order_relaxed);
	}
}

START_TEST(a_relaxed_message_may_come_before_what_it_tells_of)
{
	forget_outcomes();
	machine_explore(2000, play, &(struct litmus){2, pass_relaxed, NULL});
	ck_assert_uint_gt(shared.outcomes[1][0], 0);
	ck_assert_uint_gt(shared.outcomes[0][0], 0);
	ck_assert_uint_gt(shared.outcomes[0][1], 0);
	ck_assert_uint_gt(shared.outcomes[1][1], 0);
}
END_TEST

START_TEST(a_released_message_never_does)
{
	forget_outcomes();
	machine_explore(2000, play, &(struct litmus){2, pass_released, NULL});
	ck_assert_uint_eq(shared.outcomes[1][0], 0);
	ck_assert_uint_gt(shared.outcomes[0][0], 0);
	ck_assert_uint_gt(shared.outcomes[1][1], 0);
}
END_TEST

/* ---------------------------------------------------------------- both store, then load */

static void cross(support_worker *worker)
{
	_Atomic uint64_t *mine = worker->index ? &shared.y : &shared.x;
	_Atomic uint64_t *other = worker->index ? &shared.x : &shared.y;

	atomic_store_explicit(mine, 1, memory_order_release);
	shared.saw[worker->index] = atomic_load_explicit(other, memory_order_acquire);
}

START_TEST(two_threads_may_both_miss_the_others_store)
{
	forget_outcomes();
	machine_explore(2000, play, &(struct litmus){2, cross, NULL});
	ck_assert_uint_gt(shared.outcomes[0][0], 0);
	ck_assert_uint_gt(shared.outcomes[1][1], 0);
}
END_TEST

/* ---------------------------------------------------------------- coherence */

static void count_up(support_worker *worker)
{
	uint64_t last = 0, now;

	for (unsigned i = 0; i < 6; i++) {
		if (worker->index == 0) {
			atomic_store_explicit(&shared.x, i + 1, memory_order_relaxed);
			continue;
		}
		now = atomic_load_explicit(&shared.x, memory_order_relaxed);
		support_expect(worker, now >= last);
		last = now;
		/* what one has seen and handed on, the other sees, too */
		if (worker->index == 1)
			atomic_store_explicit(&shared.y, now, memory_order_release);
		else
			last = atomic_load_explicit(&shared.y, memory_order_acquire);
	}
}

START_TEST(no_load_returns_what_is_older_than_what_is_known)
{
	machine_explore(2000, play, &(struct litmus){3, count_up, NULL});
}
END_TEST

/* ---------------------------------------------------------------- replaced values */

static void add(support_worker *worker)
{
	if (worker->index == 2) {
		shared.saw[0] = atomic_load_explicit(&shared.x, memory_order_acquire);
		shared.saw[1] = atomic_load_explicit(&shared.y, memory_order_relaxed);
		return;
	}
	if (worker->index == 0) {
		atomic_store_explicit(&shared.y, 1, memory_order_relaxed);
		atomic_fetch_add_explicit(&shared.x, 1, memory_order_release);
	} else {
		uint64_t old = 0;

		/* relaxed: what the other's release carried goes on with it */
		while (!atomic_compare_exchange_weak_explicit(
		    &shared.x, &old, old + 2, memory_order_relaxed, memory_order_relaxed))
			;
	}
}

static void expect_sum(void)
{
	machine_expect(atomic_load_explicit(&shared.x, memory_order_relaxed) == 3);
}

START_TEST(replacing_loses_nothing_and_hands_releases_on)
{
	forget_outcomes();
	machine_explore(2000, play, &(struct litmus){3, add, expect_sum});
	ck_assert_uint_eq(shared.outcomes[1][0], 0);
	ck_assert_uint_eq(shared.outcomes[3][0], 0);
	ck_assert_uint_gt(shared.outcomes[3][1], 0);
	ck_assert_uint_gt(shared.outcomes[2][0], 0);
}
END_TEST

/* ---------------------------------------------------------------- plain data */

static void publish(support_worker *worker)
{
	if (worker->index == 0) {
		shared.plain = 7;
		atomic_store_explicit(&shared.x, 1, shared.store);
	} else if (atomic_load_explicit(&shared.x, shared.load) == 1) {
		machine_read(&shared.plain, sizeof(shared.plain));
		support_expect(worker, shared.plain == 7);
	}
}

/* How many of 400 schedules of a litmus test end in a data race, and none in another failure. */
static size_t races(unsigned workers, void (*work)(support_worker *worker))
{
	struct litmus litmus = {workers, work, NULL};
	size_t count = 0;

	for (size_t i = 0; i < 400; i++) {
		const char *failure = machine_try(i, play, &litmus);

		count += failure != NULL;
		if (failure && !strstr(failure, "data race"))
			ck_abort_msg("%s", failure);
	}
	return count;
}

START_TEST(plain_data_races_unless_both_ends_are_ordered)
{
	shared.store = memory_order_release;
	shared.load = memory_order_acquire;
	ck_assert_uint_eq(races(2, publish), 0);
	shared.store = memory_order_relaxed;
	ck_assert_uint_gt(races(2, publish), 20);
	shared.store = memory_order_release;
	shared.load = memory_order_relaxed;
	ck_assert_uint_gt(races(2, publish), 20);
}
END_TEST

static void write_plain(support_worker *worker)
{
	if (worker->index == 0)
		shared.plain = 1;
	else
		shared.saw[0] = shared.plain;
}

START_TEST(a_race_is_found_in_whatever_order_the_threads_run)
{
	ck_assert_uint_eq(races(2, write_plain), 400);
}
END_TEST

/* A release in between does not help: the last store is relaxed. */
static void release_then_relax(support_worker *worker)
{
	switch (worker->index) {
	case 0:
		shared.plain = 7;
		atomic_store_explicit(&shared.x, 1, memory_order_release);
		break;
	case 1:
		if (atomic_load_explicit(&shared.x, memory_order_acquire) == 1)
			atomic_store_explicit(&shared.x, 2, memory_order_relaxed);
		break;
	default:
		if (atomic_load_explicit(&shared.x, memory_order_acquire) == 2)
			machine_read(&shared.plain, sizeof(shared.plain));
	}
}

START_TEST(a_relaxed_store_over_a_release_carries_nothing)
{
	ck_assert_uint_gt(races(3, release_then_relax), 0);
}
END_TEST

/* ---------------------------------------------------------------- failures */

static void expect_order(void)
{
	machine_expect(shared.saw[0] <= shared.saw[1]);
}

static struct litmus fails_now_and_then = {2, pass_relaxed, expect_order};

START_TEST(the_same_schedule_goes_the_same_way)
{
	bool failed[200];
	unsigned count = 0;

	for (size_t i = 0; i < 200; i++) {
		failed[i] = machine_try(i, play, &fails_now_and_then) != NULL;
		count += failed[i];
	}
	ck_assert_uint_gt(count, 0);
	ck_assert_uint_lt(count, 200);
	for (size_t i = 200; i-- > 0;)
		ck_assert(failed[i] == (machine_try(i, play, &fails_now_and_then) != NULL));
}
END_TEST

static int explore_failing(void *arg)
{
	(void)arg;
	machine_explore(400, play, &fails_now_and_then);
	return 0;
}

static void wait_for_good(support_worker *worker)
{
	while (!atomic_load_explicit(&shared.x, memory_order_relaxed) || worker)
		machine_yield();
}

static int explore_waiting(void *arg)
{
	(void)arg;
	machine_explore(1, play, &(struct litmus){2, wait_for_good, NULL});
	return 0;
}

START_TEST(a_failure_names_its_schedule)
{
	static int (*const explore[])(void *arg) = {explore_failing, explore_waiting};
	char *schedule;

	for (unsigned i = 0; i < 2; i++) {
		struct child child;

		child_run(&child, explore[i], NULL);
		ck_assert(!child.exited || child.code != 0);
		schedule = strstr(child.err, "TEST_SCHEDULE=");
		ck_assert_ptr_nonnull(schedule);
		ck_assert_ptr_nonnull(strstr(child.err, i ? "no end in sight" : "saw[0]"));
		child_free(&child);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("machine");

	support_add(s, a_relaxed_message_may_come_before_what_it_tells_of);
	support_add(s, a_released_message_never_does);
	support_add(s, two_threads_may_both_miss_the_others_store);
	support_add(s, no_load_returns_what_is_older_than_what_is_known);
	support_add(s, replacing_loses_nothing_and_hands_releases_on);
	support_add(s, plain_data_races_unless_both_ends_are_ordered);
	support_add(s, a_race_is_found_in_whatever_order_the_threads_run);
	support_add(s, a_relaxed_store_over_a_release_carries_nothing);
	support_add(s, the_same_schedule_goes_the_same_way);
	support_add(s, a_failure_names_its_schedule);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "machine", make);
}
