/* SPDX-License-Identifier: MIT */
/*
 * resume.h - the file of --resume: a row for each process as it was measured, so that a sweep that
 * was interrupted goes on where it stopped.
 *
 *   # cistern-sweep --resume
 *   # key: text                  what has to be the same for figures to be mixed
 *   round,engine,threads,...     the columns: axes, then measures
 *   0,cistern,1,...              with all digits, so that medians come out the same
 *
 * Rows are added at the end and never changed. A last line without its end was torn when the
 * program was killed, and is dropped.
 */
#ifndef BENCH_RESUME_H
#define BENCH_RESUME_H

#include "sweep_result.h"

/* What has to be the same. */
struct resume_facts {
	char text[8192]; /* lines "# key: text" */
	size_t used;
};
/* arg is a struct resume_facts. */
void resume_fact(void *arg, const char *key, const char *text);

struct resume;

/*
 * Opens the file, or makes it. Ends the program, with the line of the file where there is one, if
 * it is not such a file, or of another commit, machine, corpus or setting, or in use.
 */
struct resume *resume_open(const char *path, const struct resume_facts *facts);

/* Rows that were there. */
size_t resume_rows(const struct resume *r);

/* What was measured for a point in a round; false where it was not. */
bool resume_find(const struct resume *r, const struct plan_point *point, unsigned round,
		 double values[MEASURES]);

/* Adds a row; it is with the system when this returns. */
void resume_add(struct resume *r, const struct plan_point *point, unsigned round,
		const double values[MEASURES]);

void resume_close(struct resume *r);

#endif /* BENCH_RESUME_H */
