/* SPDX-License-Identifier: MIT */
/*
 * history.c - judging a history, key by key: strings are only ever added, and no call is about two
 * of them, so a history is linearizable exactly when that of each key is.
 *
 * - one pointer: all calls that returned the key returned the same, and no other key's
 * - added once: at most one call said that it was new, and no call that returned the key had ended
 *   before that one began
 * - no miss: a find or an iteration that began after a call that returned the key had ended does
 *   not miss it
 * - no foresight: a find or an iteration that returned the key did not end before every intern of
 *   it began
 *
 * "Ended before" is what the threads could know: a.end <= b.known[a.thread]. A thread's own moments
 * only grow, so of the calls of a thread that returned the key the first says all, and of all
 * interns of a key the least that one of them knew.
 */
#include "history.h"

#include "words.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void history_add(struct history *history, const struct call *call)
{
	if (history->count == history->room) {
		history->room = history->room ? 2 * history->room : 64;
		history->calls =
		    need(realloc(history->calls, history->room * sizeof(*history->calls)));
	}
	history->calls[history->count++] = *call;
}

void history_free(struct history *history)
{
	free(history->calls);
	memset(history, 0, sizeof(*history));
}

uint64_t history_now(void)
{
	static _Atomic uint64_t moments;

	return atomic_fetch_add_explicit(&moments, 1, memory_order_acq_rel) + 1;
}

void history_begin(struct call *call, enum call_kind kind, unsigned thread, unsigned key)
{
	uint64_t before = history_now() - 1;

	*call = (struct call){.kind = kind, .thread = thread, .key = key};
	for (unsigned t = 0; t < HISTORY_THREADS; t++)
		call->known[t] = before;
}

/* ---------------------------------------------------------------- judging */

/* What is known of one key. */
struct verdict {
	const struct call *returned; /* a call that returned it */
	const struct call *added;    /* the one that said it was new */
	bool interned;
	uint64_t first[HISTORY_THREADS]; /* end of each thread's first call that returned it */
	bool some[HISTORY_THREADS];
	uint64_t known[HISTORY_THREADS]; /* the least that an intern of it knew of each thread */
};

static bool before(const struct call *a, const struct call *b)
{
	return a->end <= b->known[a->thread];
}

static bool wrong(char *reason, size_t size, const struct call *call, const char *what)
{
	snprintf(reason, size, "key %u, thread %u: %s", call->key, call->thread, what);
	return false;
}

/* Notes a call that returned its key. */
static bool note(struct verdict *verdict, const struct call *call, char *reason, size_t size)
{
	if (verdict->returned && verdict->returned->str != call->str)
		return wrong(reason, size, call, "a second pointer");
	if (call->kind == CALL_ADD && verdict->added)
		return wrong(reason, size, call, "new for a second time");
	verdict->returned = call;
	if (call->kind == CALL_ADD)
		verdict->added = call;
	if (call->kind == CALL_ADD || call->kind == CALL_INTERN)
		for (unsigned t = 0; t < HISTORY_THREADS; t++)
			if (!verdict->interned || call->known[t] < verdict->known[t])
				verdict->known[t] = call->known[t];
	verdict->interned |= call->kind == CALL_ADD || call->kind == CALL_INTERN;
	if (!verdict->some[call->thread] || call->end < verdict->first[call->thread])
		verdict->first[call->thread] = call->end;
	verdict->some[call->thread] = true;
	return true;
}

static bool must_be_there(const struct verdict *verdict, const struct call *call)
{
	for (unsigned t = 0; t < HISTORY_THREADS; t++)
		if (verdict->some[t] && verdict->first[t] <= call->known[t])
			return true;
	return false;
}

static int by_pointer(const void *a, const void *b)
{
	const struct call *x = *(const struct call *const *)a, *y = *(const struct call *const *)b;

	return (x->str > y->str) - (x->str < y->str);
}

static bool pointers_differ(const struct verdict *verdicts, unsigned keys, char *reason,
			    size_t size)
{
	const struct call **sorted = need(calloc(keys + 1, sizeof(*sorted)));
	unsigned n = 0;
	bool good = true;

	for (unsigned k = 0; k < keys; k++)
		if (verdicts[k].returned)
			sorted[n++] = verdicts[k].returned;
	qsort(sorted, n, sizeof(*sorted), by_pointer);
	for (unsigned i = 1; i < n && good; i++)
		if (sorted[i]->str == sorted[i - 1]->str)
			good = wrong(reason, size, sorted[i], "the pointer of another key");
	free(sorted);
	return good;
}

/* A call against all others of its key. */
static bool judge(const struct verdict *verdict, const struct call *call, bool complete,
		  char *reason, size_t size)
{
	if (!call->str)
		return call->kind <= CALL_ADD || !must_be_there(verdict, call) ||
		       wrong(reason, size, call, "missed after a call that returned it");
	if (verdict->added && call != verdict->added && before(call, verdict->added))
		return wrong(reason, size, call, "returned before it was new");
	if (!complete || call->kind <= CALL_ADD)
		return true;
	if (!verdict->interned)
		return wrong(reason, size, call, "returned, but never interned");
	return call->end > verdict->known[call->thread] ||
	       wrong(reason, size, call, "returned before anybody interned it");
}

bool history_check(const struct history *histories, unsigned count, unsigned keys, bool complete,
		   char *reason, size_t size)
{
	struct verdict *verdicts = need(calloc(keys + 1, sizeof(*verdicts)));
	bool good = true;

	for (unsigned h = 0; h < count; h++)
		for (size_t i = 0; i < histories[h].count && good; i++) {
			const struct call *call = &histories[h].calls[i];

			if (call->str)
				good = note(&verdicts[call->key], call, reason, size);
		}
	good = good && pointers_differ(verdicts, keys, reason, size);
	for (unsigned h = 0; h < count; h++)
		for (size_t i = 0; i < histories[h].count && good; i++) {
			const struct call *call = &histories[h].calls[i];

			good = judge(&verdicts[call->key], call, complete, reason, size);
		}
	free(verdicts);
	return good;
}
