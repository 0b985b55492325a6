/* SPDX-License-Identifier: MIT */
/*
 * check.c - what holds at any time, and so after any failure (G6): strings that are there resolve
 * and are found with all that belongs to them, what was refused is nowhere, the counts are those of
 * the set, the accounts add up to the byte and agree with what the system has mapped (G9), and no
 * lock is left taken.
 */
#include "script.h"

#include "../unit/unit.h"
#include "maps.h"
#include "tools.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

/* ---------------------------------------------------------------- strings */

static void check_word(const struct script *s, const struct word *word)
{
	const char *str = word->kept;
	bool good = cistern_find(s->c, word->data, word->len) == str &&
		    cistern_len(str) == word->len &&
		    (word->len == 0 || memcmp(str, word->data, word->len) == 0) &&
		    str[word->len] == '\0' && cistern_str(s->c, cistern_id_of(s->c, str)) == str &&
		    cistern_value(s->c, str) == word->mark;

	if (!good)
		ck_abort_msg("a string of %zu bytes is not what it was", word->len);
}

struct walk {
	const struct script *script;
	size_t strings;
	bool right;
};

static int visit(const char *str, size_t len, void *arg)
{
	struct walk *walk = arg;
	const struct word *word;

	walk->strings++;
	if (str == walk->script->giant_str)
		return 0;
	word = words_get(&walk->script->set, str, len);
	walk->right &= word && word->kept == str;
	return 0;
}

void script_check(struct script *s)
{
	struct walk walk = {.script = s, .right = true};
	size_t strings = s->set.count + (s->giant_str != NULL);
	unsigned kinds = faults_pause();
	cistern_stats stats;

	if (s->c) {
		for (size_t i = 0; i < s->set.count; i++)
			check_word(s, s->set.items[i]);
		if (s->refused && !words_get(&s->set, s->refused, s->refused_len))
			ck_assert_ptr_null(cistern_find(s->c, s->refused, s->refused_len));
		ck_assert_int_eq(cistern_foreach(s->c, visit, &walk), 0);
		ck_assert(walk.right);
		ck_assert_uint_eq(walk.strings, strings);
		stats = figures(s->c);
		ck_assert_uint_eq(stats.strings, strings);
		ck_assert_uint_eq(stats.payload_bytes,
				  s->set.payload + (s->giant_str ? cistern_len(s->giant_str) : 0));
		script_check_accounts(s->c);
	}
	faults_resume(kinds);
}

/* ---------------------------------------------------------------- accounts */

/* Asserts that the range's committed part, and nothing else of it, is writable. */
static size_t check_range(const struct maps *maps, const struct range *range)
{
	uintptr_t from = (uintptr_t)range->base, end = from + range->capacity, at = from;
	size_t committed = atomic_load(&((struct range *)range)->committed);

	for (size_t i = 0; i < maps->count; i++) {
		uintptr_t low = maps->ranges[i].from > from ? maps->ranges[i].from : from;
		uintptr_t high = maps->ranges[i].to < end ? maps->ranges[i].to : end;

		if (low >= high || !maps->ranges[i].writable)
			continue;
		ck_assert_uint_eq(low, at); /* from the start on, without a gap */
		at = high;
	}
	ck_assert_uint_eq(at - from, committed);
	return committed;
}

/* Slabs that the shards have in their lists; tables that the directory names, and what is in them.
 */
static void check_counts(const cistern *c, const cistern_stats *stats)
{
	uint64_t slabs = 0, slots = 0;

	for (uint32_t i = 0; i < interner_shards(c); i++) {
		struct table table = shard_table(&c->common, atomic_load(&c->common.directory[i]));

		ck_assert(table_check(&table, c->shards[i].strings));
		if (c->shards[i].slots > 0) /* the bucket that empty shards share counts for none */
			slots += table_slots((uint64_t)table.mask + 1);
		for (struct slab *slab = c->shards[i].slabs.head; slab;
		     slab = atomic_load(&slab->next))
			slabs++;
	}
	ck_assert_uint_eq(stats->slabs, slabs);
	ck_assert_uint_eq(stats->slots, slots);
}

void script_check_accounts(const cistern *c)
{
	static struct maps maps;
	unsigned kinds = faults_pause();
	cistern_stats stats = figures(c);

	unit_check_accounts(c);
	check_counts(c, &stats);
	if (maps_read(&maps))
		ck_assert_uint_eq(check_range(&maps, &c->common.strings) +
				      check_range(&maps, &c->common.tables),
				  stats.committed_bytes);
	faults_resume(kinds);
}

/* ---------------------------------------------------------------- locks */

static struct {
	pthread_t thread;
	sem_t asked, answered;
	bool over;
	cistern *c;
	char data[32];
	const char *str;
	int error;
	bool made; /* an interner of its own */
} bystander;

/* Takes the lock of every shard and both ranges, and the registry's; then inserts. */
static void visit_all_locks(void)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	cistern_stats stats = {.size = sizeof stats};
	cistern *own;

	config.max_bytes = 1 << 20;
	config.shards = 1;
	own = cistern_create(&config);
	bystander.made = own != NULL;
	cistern_destroy(own);
	bystander.str = NULL;
	if (!bystander.c)
		return;
	cistern_stats_get(bystander.c, &stats);
	bystander.str = cistern_intern_cstr(bystander.c, bystander.data);
	bystander.error = errno;
}

static void *stand_by(void *arg)
{
	(void)arg;
	for (;;) {
		while (sem_wait(&bystander.asked) != 0)
			;
		if (bystander.over)
			return NULL;
		visit_all_locks();
		sem_post(&bystander.answered);
	}
}

void bystander_begin(void)
{
	bystander.over = false;
	sem_init(&bystander.asked, 0, 0);
	sem_init(&bystander.answered, 0, 0);
	ck_assert_int_eq(pthread_create(&bystander.thread, NULL, stand_by, NULL), 0);
}

void bystander_end(void)
{
	bystander.over = true;
	sem_post(&bystander.asked);
	pthread_join(bystander.thread, NULL);
}

void bystander_visit(struct script *s)
{
	unsigned kinds = faults_pause();
	struct timespec deadline;

	bystander.c = s->c;
	sprintf(bystander.data, "bystander %u", s->visits++);
	sem_post(&bystander.asked);
	clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_sec += UNDER_ASAN || UNDER_TSAN || UNDER_VALGRIND ? 200 : 20;
	while (sem_timedwait(&bystander.answered, &deadline) != 0)
		if (errno != EINTR)
			ck_abort_msg("another thread waits for ever: a lock is left taken");
	ck_assert(bystander.made);
	if (bystander.str)
		script_note(s, bystander.data, strlen(bystander.data), bystander.str);
	else if (s->c)
		ck_assert(script_limited(s) && bystander.error == ENOSPC);
	faults_resume(kinds);
}
