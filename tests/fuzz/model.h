/* SPDX-License-Identifier: MIT */
/*
 * model.h - an interner next to a plain set that says what it has to hold: each string once, with
 * the pointer that was returned first, its value and its link. What the interner answers is put to
 * model_* functions, which end the process where the set knows better.
 *
 * The set is tests/support/words, which knows nothing of cistern. One thread.
 */
#ifndef TESTS_FUZZ_MODEL_H
#define TESTS_FUZZ_MODEL_H

#include "words.h"

#include <cistern.h>

/* What the set knows of a string besides its bytes; word->mark is its place in extras. */
struct extra {
	uint64_t value;
	const struct word *link;
};

struct model {
	cistern *c;
	cistern_config config; /* as it was asked for */
	cistern_config in_effect;
	struct words set;
	struct extra *extras;
	size_t room;
	uint64_t refusals; /* that were planned (faults.h), as of the last call that failed with
			      ENOMEM */
};

/* Makes the interner; false where there is none, which has to be for a reason that config has. */
bool model_open(struct model *m, const cistern_config *config);
void model_close(struct model *m);

/* Whether interning so long a string is E2BIG or EOVERFLOW, and which. 0: it is neither. */
int model_refuses(const struct model *m, size_t len);

/*
 * got and error (errno then) are what a call that interns these bytes gave. Returns the word, made
 * if the string is new; NULL where it could not be interned, which has to be right.
 */
struct word *model_interned(struct model *m, const char *s, size_t len, const char *got, int error);

/* got is what a call that finds these bytes gave. */
void model_found(const struct model *m, const char *s, size_t len, const char *got);

/* Whether the system was made to refuse memory since this was last asked: then ENOMEM is right. */
bool model_was_refused(struct model *m);

/* Some word, NULL while there is none. */
struct word *model_word(const struct model *m, unsigned number);

struct extra *model_extra(const struct model *m, const struct word *word);

/* Whether p is a string that the interner returned. */
const struct word *model_owner(const struct model *m, const void *p);

/* The whole: every string is found and right, iteration meets each once, the figures add up. */
void model_check(const struct model *m);

#endif
