/* SPDX-License-Identifier: MIT */
/*
 * script.h - the life of one interner in steps, beside a plain set of what should be in it. Whoever
 * has system calls fail meanwhile (faults.h) acts step by step, and checks in between. See
 * script.c.
 */
#ifndef TESTS_FAULT_SCRIPT_H
#define TESTS_FAULT_SCRIPT_H

#include "interner.h"
#include "tools.h"
#include "words.h"

/*
 * The configurations that the script is run under. The last one has a string too long for an
 * entry's header, 16 MiB, which ThreadSanitizer would watch byte by byte.
 */
enum { SCRIPT_GIANT = 10, SCRIPT_CONFIGS = UNDER_TSAN ? SCRIPT_GIANT : SCRIPT_GIANT + 1 };

struct script {
	cistern *c; /* NULL until the step that makes it */
	cistern_config config;
	bool limited; /* ENOSPC is to be expected */
	bool floods;  /* strings of one hash come, too: many comparisons */
	bool giant;   /* only a few strings, and one of 16 MiB */
	const char *giant_str;
	struct words set;    /* kept: what was returned; mark: the value kept with it */
	size_t at;           /* how far the current step has got */
	const char *refused; /* what the call that failed last was to intern; NULL: nothing */
	size_t refused_len;
	uint64_t mappings, mapped; /* what was reserved before it began */
	unsigned visits;           /* of bystanders, for their strings */
};

/*
 * A step of the script goes on where it stopped. False where a call of the library failed: errno
 * says why, and acting once more begins with that call.
 */
struct step {
	const char *name;
	bool (*act)(struct script *script);
};

extern const struct step script_steps[];
extern const size_t script_nsteps;

/*
 * Whether the interner may be full: by its configuration, or because the system refused the range
 * and gave a smaller one.
 */
static inline bool script_limited(const struct script *s)
{
	return s->limited || (s->c && s->c->common.strings.capacity < s->config.max_bytes);
}

/* Begins the script under one of the configurations, whose number is from 0 to SCRIPT_CONFIGS - 1.
 */
void script_open(struct script *script, int number);

/* Ends it: destroys the interner, and asserts that nothing of it is left. */
void script_close(struct script *script);

/* Asserts what G6 promises at any time, after a failure as well: see check.c. */
void script_check(struct script *script);

/* Asserts that the accounts are right (G9): their sum, and that just this memory is writable. */
void script_check_accounts(const cistern *c);

/*
 * Another thread, which lives as long as a test and does something under every lock of the library
 * when asked. The test fails if it does not come back: somebody left a lock taken. What it interns
 * joins the set.
 */
void bystander_begin(void);
void bystander_visit(struct script *script);
void bystander_end(void);

/* Notes that the interner has given str for these bytes; asserts that this is no second one. */
void script_note(struct script *script, const char *data, size_t len, const char *str);

#endif
