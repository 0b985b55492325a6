/* SPDX-License-Identifier: MIT */
/*
 * linear.c - histories of intern, find and foreach on threads of the processor, and the judge of
 * histories itself: it must reject what no set of strings does.
 */
#include "cases.h"
#include "figures.h"
#include "history.h"
#include "support.h"
#include "tools.h"
#include "variants.h"
#include "words.h"

#include <cistern.h>

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- made-up histories */

/* A call on a clock that all threads share. */
struct step {
	enum call_kind kind;
	unsigned thread, key;
	const char *str;
	uint64_t start, end;
};

static const char a[] = "a", b[] = "b";

static bool allowed(const struct step *steps, bool complete)
{
	struct history histories[3] = {{0}};
	char reason[160] = "";
	bool good;

	for (; steps->end; steps++) {
		struct call call = {.kind = steps->kind,
				    .thread = steps->thread,
				    .key = steps->key,
				    .str = steps->str,
				    .end = steps->end};

		for (unsigned t = 0; t < HISTORY_THREADS; t++)
			call.known[t] = steps->start - 1;
		history_add(&histories[steps->thread], &call);
	}
	good = history_check(histories, 3, 2, complete, reason, sizeof(reason));
	ck_assert(good == (reason[0] == '\0'));
	for (unsigned t = 0; t < 3; t++)
		history_free(&histories[t]);
	return good;
}

START_TEST(histories_of_a_set_are_allowed)
{
	static const struct step histories[][8] = {
	    {{CALL_ADD, 0, 0, a, 1, 2}, {CALL_FIND, 1, 0, a, 3, 4}, {CALL_INTERN, 2, 0, a, 5, 6}},
	    {{CALL_FIND, 1, 0, NULL, 1, 2},
	     {CALL_ADD, 0, 0, a, 3, 4},
	     {CALL_FIND, 1, 1, NULL, 5, 6}},
	    /* at the same time: either way */
	    {{CALL_ADD, 0, 0, a, 1, 9}, {CALL_FIND, 1, 0, NULL, 2, 3}, {CALL_FIND, 2, 0, a, 4, 5}},
	    {{CALL_ADD, 0, 0, a, 1, 4},
	     {CALL_FIND, 1, 0, NULL, 3, 6},
	     {CALL_INTERN, 2, 0, a, 2, 3}},
	    {{CALL_ADD, 0, 0, a, 1, 2},
	     {CALL_ADD, 0, 1, b, 3, 4},
	     {CALL_VISIT, 1, 0, a, 3, 9},
	     {CALL_VISIT, 1, 1, NULL, 3, 9}},
	    /* two inserts meet: one of them was first */
	    {{CALL_ADD, 0, 0, a, 1, 5}, {CALL_INTERN, 1, 0, a, 1, 5}},
	};

	for (size_t i = 0; i < sizeof(histories) / sizeof(*histories); i++)
		ck_assert_msg(allowed(histories[i], true), "history %zu", i);
}
END_TEST

START_TEST(histories_of_no_set_are_rejected)
{
	static const struct step histories[][8] = {
	    /* two pointers, in calls of all kinds */
	    {{CALL_ADD, 0, 0, a, 1, 2}, {CALL_INTERN, 1, 0, b, 3, 4}},
	    {{CALL_ADD, 0, 0, a, 1, 9}, {CALL_FIND, 1, 0, b, 3, 4}},
	    {{CALL_ADD, 0, 0, a, 1, 9}, {CALL_VISIT, 1, 0, b, 3, 4}},
	    /* one for two keys */
	    {{CALL_ADD, 0, 0, a, 1, 2}, {CALL_ADD, 1, 1, a, 3, 4}},
	    /* new twice; new after it was there */
	    {{CALL_ADD, 0, 0, a, 1, 9}, {CALL_ADD, 1, 0, a, 3, 4}},
	    {{CALL_INTERN, 0, 0, a, 1, 2}, {CALL_ADD, 1, 0, a, 3, 4}},
	    {{CALL_FIND, 0, 0, a, 1, 2}, {CALL_ADD, 1, 0, a, 3, 4}},
	    /* missed after an intern, a find, an iteration that returned it; by each kind of look
	     */
	    {{CALL_ADD, 0, 0, a, 1, 2}, {CALL_FIND, 1, 0, NULL, 3, 4}},
	    {{CALL_INTERN, 0, 0, a, 1, 2}, {CALL_FIND, 0, 0, NULL, 3, 4}},
	    {{CALL_ADD, 0, 0, a, 1, 9}, {CALL_FIND, 1, 0, a, 2, 3}, {CALL_FIND, 2, 0, NULL, 4, 5}},
	    {{CALL_ADD, 0, 0, a, 1, 9}, {CALL_VISIT, 1, 0, a, 2, 3}, {CALL_FIND, 2, 0, NULL, 4, 5}},
	    {{CALL_ADD, 0, 0, a, 1, 2}, {CALL_VISIT, 1, 0, NULL, 3, 4}},
	    /* the first that returned it counts, not the last */
	    {{CALL_ADD, 0, 0, a, 1, 2}, {CALL_FIND, 0, 0, a, 8, 9}, {CALL_FIND, 1, 0, NULL, 3, 4}},
	    /* returned before, or without, anybody's intern */
	    {{CALL_FIND, 0, 0, a, 1, 2}, {CALL_INTERN, 1, 0, a, 3, 4}},
	    {{CALL_VISIT, 0, 0, a, 1, 2}, {CALL_INTERN, 1, 0, a, 3, 4}},
	    {{CALL_FIND, 0, 1, b, 1, 2}},
	};

	for (size_t i = 0; i < sizeof(histories) / sizeof(*histories); i++)
		ck_assert_msg(!allowed(histories[i], true), "history %zu", i);
}
END_TEST

START_TEST(an_interner_that_was_not_empty_may_know_keys_already)
{
	static const struct step found[] = {{CALL_FIND, 0, 1, b, 1, 2}, {0}};
	static const struct step missed[] = {
	    {CALL_FIND, 0, 1, b, 1, 2}, {CALL_FIND, 1, 1, NULL, 3, 4}, {0}};

	ck_assert(allowed(found, false));
	ck_assert(!allowed(missed, false));
}
END_TEST

/* Threads that know nothing of each other need not agree; who was told must. */
START_TEST(what_counts_is_what_a_thread_can_know)
{
	struct call add = {.kind = CALL_ADD, .thread = 0, .str = a, .end = 5};
	struct call find = {.kind = CALL_FIND, .thread = 1, .end = 1};
	char reason[160];

	for (unsigned told = 0; told < 2; told++) {
		struct history histories[2] = {{0}};

		find.known[0] = told ? 5 : 4;
		history_add(&histories[0], &add);
		history_add(&histories[1], &find);
		ck_assert(history_check(histories, 2, 1, true, reason, sizeof(reason)) == !told);
		history_free(&histories[0]);
		history_free(&histories[1]);
	}
}
END_TEST

/* ---------------------------------------------------------------- recorded histories */

enum { THREADS = 4, KEYS = 3000 };

struct recorded {
	cistern *c;
	unsigned keys;
	struct history histories[THREADS];
};

/* One in 50 is copied before the shard's lock is taken, one in 50 gets a slab of its own. */
static size_t key(char *data, unsigned k)
{
	size_t len = (size_t)snprintf(data, 64, "recorded %u", k);
	size_t longer = k % 50 == 49 ? 4500 : k % 50 == 24 ? 1500 : len;

	memset(data + len, 'r', longer - len);
	return longer;
}

static void intern_recorded(struct recorded *r, support_worker *worker, unsigned k)
{
	char data[4500];
	size_t len = key(data, k);
	bool is_new = false;
	struct call call;

	history_begin(&call, CALL_INTERN, worker->index, k);
	call.str = cistern_intern_new(r->c, data, len, &is_new);
	call.end = history_now();
	call.kind = is_new ? CALL_ADD : CALL_INTERN;
	support_expect(worker, call.str != NULL);
	history_add(&r->histories[worker->index], &call);
}

static void find_recorded(struct recorded *r, support_worker *worker, unsigned k)
{
	char data[4500];
	size_t len = key(data, k);
	struct call call;

	history_begin(&call, CALL_FIND, worker->index, k);
	call.str = cistern_find(r->c, data, len);
	call.end = history_now();
	history_add(&r->histories[worker->index], &call);
}

/* Eight at a time, as one call each: a batch promises no more. */
static void batch_recorded(struct recorded *r, support_worker *worker, unsigned k, bool intern)
{
	static _Thread_local char data[8][4500];
	const char *out[8];
	cistern_span in[8];
	struct call call;
	uint64_t end;

	for (unsigned i = 0; i < 8; i++) {
		in[i].data = data[i];
		in[i].len = key(data[i], (k + i) % r->keys);
	}
	history_begin(&call, intern ? CALL_INTERN : CALL_FIND, worker->index, 0);
	if (intern)
		support_expect(worker, cistern_intern_batch(r->c, in, out, 8) == 8);
	else
		cistern_find_batch(r->c, in, out, 8);
	end = history_now();
	for (unsigned i = 0; i < 8; i++) {
		call.key = (k + i) % r->keys;
		call.str = out[i];
		call.end = end;
		history_add(&r->histories[worker->index], &call);
	}
}

struct visits {
	const char *seen[KEYS];
	bool wrong;
};

static int visit(const char *str, size_t len, void *arg)
{
	struct visits *visits = arg;
	unsigned k = 0;

	if (len < 10 || memcmp(str, "recorded ", 9) != 0)
		visits->wrong = true;
	for (size_t i = 9; i < len && str[i] >= '0' && str[i] <= '9'; i++)
		k = 10 * k + (unsigned)(str[i] - '0');
	if (k >= KEYS || visits->seen[k])
		visits->wrong = true;
	else
		visits->seen[k] = str;
	return 0;
}

static void visit_recorded(struct recorded *r, support_worker *worker)
{
	struct visits *visits = calloc(1, sizeof(*visits));
	struct call call;

	if (!support_expect(worker, visits != NULL))
		return;
	history_begin(&call, CALL_VISIT, worker->index, 0);
	support_expect(worker, cistern_foreach(r->c, visit, visits) == 0 && !visits->wrong);
	call.end = history_now();
	for (call.key = 0; call.key < r->keys; call.key++) {
		call.str = visits->seen[call.key];
		history_add(&r->histories[worker->index], &call);
	}
	free(visits);
}

/* Keys come in an order that all threads share, so that they meet at those that are new. */
static void record(support_worker *worker)
{
	struct recorded *r = worker->arg;

	for (unsigned front = 0; front < r->keys && !worker->failed; front++) {
		unsigned k =
		    front - (unsigned)support_rng_below(&worker->rng, front < 8 ? front + 1 : 8);

		switch (support_rng_below(&worker->rng, 8)) {
		case 0:
			find_recorded(r, worker,
				      (unsigned)support_rng_below(&worker->rng, r->keys));
			break;
		case 1:
		case 2:
			find_recorded(r, worker, front);
			break;
		case 3:
			batch_recorded(r, worker, k, support_rng_below(&worker->rng, 2));
			break;
		case 4:
			if (support_rng_below(&worker->rng, 40) == 0)
				visit_recorded(r, worker);
			break;
		default:
			intern_recorded(r, worker, k);
		}
	}
}

START_TEST(recorded_calls_are_those_of_a_set)
{
	size_t rounds = support_scaled(10);

	for (size_t round = 0; round < rounds; round++) {
		struct recorded r = {.c = crowd_create(_i), .keys = round % 2 ? KEYS : KEYS / 10};
		char reason[160];

		support_run(THREADS, record, &r);
		if (!history_check(r.histories, THREADS, r.keys, true, reason, sizeof(reason)))
			ck_abort_msg("%s", reason);
		figures_check(r.c);
		cistern_destroy(r.c);
		for (unsigned t = 0; t < THREADS; t++)
			history_free(&r.histories[t]);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("linear");

	support_add(s, histories_of_a_set_are_allowed);
	support_add(s, histories_of_no_set_are_rejected);
	support_add(s, an_interner_that_was_not_empty_may_know_keys_already);
	support_add(s, what_counts_is_what_a_thread_can_know);
	cases_add_loop(s, recorded_calls_are_those_of_a_set, CROWDS);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "linear", make);
}
