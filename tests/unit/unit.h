/* SPDX-License-Identifier: MIT */
/*
 * unit.h - what suites of internals share: a range to play with, system calls that fail on demand (see faults.h), children
 * that may die.
 */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include "faults.h"
#include "figures.h"
#include "interner.h"
#include "support.h"

/* ---------------------------------------------------------------- a range of one's own */

struct unit_space {
	struct budget budget;
	struct range range;
	void *base;
	size_t size;
};

/* Opens s->range over size reserved bytes, none of them committed. config may be NULL. */
void unit_space_open(struct unit_space *s, size_t size, uint64_t limit,
                     const struct range_config *config);
void unit_space_close(struct unit_space *s);

/* What the range has committed. */
size_t unit_committed(const struct unit_space *s);

/* Takes what is committed and was never taken: from now on only blocks that were given back serve without commit. */
void unit_use_up(struct range *range);

/* Gives the range a block for later range_takes, so that these need not commit. */
void unit_provide(struct range *range, size_t size);

/* ---------------------------------------------------------------- system calls */

/* How many processors there are; 0: as many as there are. */
extern _Atomic unsigned unit_processors;

/* From now on committing memory of the range fails. unit_commits_work ends that. */
void unit_commits_fail(const struct range *range);
void unit_commits_work(void);

/* From now on the process gets no random bytes, neither from the call nor from the device. unit_random_works ends that. */
void unit_random_fails(void);
void unit_random_works(void);

/* ---------------------------------------------------------------- children */

/* Runs fn in a child and gives what waitpid says of it. */
int unit_child(int (*fn)(void *arg), void *arg);

/* ---------------------------------------------------------------- interners */

/* One for tests of tables: all its hashes follow from the seed of the run. No limit: 0. */
cistern *unit_interner(uint32_t shards, uint64_t memory_limit);

/* The table of a shard as of now. */
struct table unit_table(const cistern *c, uint32_t shard, uintptr_t *word);

/* The secret that it is keyed with: the interner's, or its own after a re-key. Good until the next re-key. */
const struct secret *unit_secret(const cistern *c, uint32_t shard);

/* As figures_check, and that the budget is what the figures say. */
void unit_check_accounts(const cistern *c);

#endif
