/* SPDX-License-Identifier: MIT */
/*
 * history.h - calls of intern, find and foreach as several threads made them, and whether there is
 * an order in which one thread could have made them. See history.c.
 *
 * When a call began and ended is told in moments of its own thread, and for its beginning which
 * moments of the others had passed. By a clock that all share these are the same number; on the
 * machine of machine.h they are what C11 lets a thread know.
 */
#ifndef TESTS_STRESS_HISTORY_H
#define TESTS_STRESS_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HISTORY_THREADS = 8 };

enum call_kind {
	CALL_INTERN, /* returns the string, NULL only where it failed */
	CALL_ADD,    /* the same, and it said that the string was new */
	CALL_FIND,   /* NULL: absent */
	CALL_VISIT   /* an iteration with regard to one key; NULL: it did not come by */
};

struct call {
	enum call_kind kind;
	unsigned thread;
	unsigned key;
	const char *str;
	uint64_t end;                    /* by this thread's count */
	uint64_t known[HISTORY_THREADS]; /* what had passed when it began, by each thread's count */
};

/* The calls of one thread, in their order. */
struct history {
	struct call *calls;
	size_t count, room;
};

void history_add(struct history *history, const struct call *call);
void history_free(struct history *history);

/*
 * For threads of the processor: the moment, as a number that no other has, and a call that begins
 * now. Who gets a larger number knows what those with smaller ones had done; by a clock it need
 * not: the store that published a string may still be under way when the call that made it has
 * ended.
 */
uint64_t history_now(void);
void history_begin(struct call *call, enum call_kind kind, unsigned thread, unsigned key);

/*
 * Whether the calls of these threads are those of a set of strings. complete: the history begins
 * with an empty interner, so somebody added each key that anybody got. False writes the reason.
 */
bool history_check(const struct history *histories, unsigned count, unsigned keys, bool complete,
		   char *reason, size_t size);

#endif
