/* SPDX-License-Identifier: MIT */
/*
 * child.h - runs a function in a process of its own: for what changes a process for good (the
 * default interner, limits, filters, exit handlers) and for what may crash it.
 */
#ifndef TESTS_SUPPORT_CHILD_H
#define TESTS_SUPPORT_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct child {
	bool exited; /* through exit, not by a signal */
	int code;    /* exit code, or the signal's number */
	char *out;   /* what it wrote to stdout, NUL-terminated */
	size_t out_len;
	char *err; /* what it wrote to stderr, NUL-terminated */
	size_t err_len;
};

/*
 * Forks, calls fn(arg) and ends the child through exit() with its answer, exit handlers included.
 * Waits for it and collects what it wrote; kills it after a minute (longer under slow tools). The
 * caller frees the result with child_free. Ends the test where there is no process to be had.
 */
void child_run(struct child *result, int (*fn)(void *arg), void *arg);
void child_free(struct child *result);

/* Whether the child ended with code 0; otherwise what it wrote goes to stderr, with how it ended.
 */
bool child_ok(const struct child *result);

/* Ends this process with SIGALRM after so many seconds. For children that tests fork themselves:
 * Check's own handler for that signal, which they inherit, would end the whole test. */
void child_deadline(unsigned seconds);

/* Leaves a function of a child with code 1 and one line on stderr where a condition does not hold.
 */
#define CHILD_CHECK(condition)                                                                     \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);    \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)

#endif
