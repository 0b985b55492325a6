/* SPDX-License-Identifier: MIT */
/*
 * engines.c - tests that every engine of this build is an interner: several threads intern the same
 * strings, among them the empty one and some longer than a slab, and what they got is compared.
 *
 * Each engine runs in a process of its own, since some have one table a process.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../bench/engine.h"
#include "../../bench/harness.h"
#include "../../bench/workload.h"
#include "support.h"

enum { THREADS = 4, SHORT = 3000, LONGEST = 100000, RUN = 8 };

struct trial {
	const struct engine *engine;
	cistern_config config;
	void *e;
	cistern_span *in, *absent;
	size_t n, nabsent;
	const char **out[THREADS];
	struct engine_sum sums[THREADS];
	pthread_barrier_t step;
};

/* What is wrong; empty where nothing is. */
struct verdict {
	char text[200];
};

#define EXPECT(condition, ...)                                                                     \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			snprintf(v->text, sizeof v->text, __VA_ARGS__);                            \
			return;                                                                    \
		}                                                                                  \
	} while (0)

static void add(cistern_span *list, size_t *n, const char *s, size_t len)
{
	char *copy = malloc(len + 1);
	ck_assert_ptr_nonnull(copy);
	memcpy(copy, s, len);
	copy[len] = '\0';
	list[(*n)++] = (cistern_span){copy, len};
}

/* Strings of all lengths up to 300, some long ones, the empty one, and, where they are taken,
 * strings with a NUL. */
static void fill(struct trial *t)
{
	static char text[LONGEST];
	static const size_t lengths[] = {511, 512, 4000, 4079, 4095, 4096, 4097, 65536, LONGEST};
	size_t room = support_scaled(SHORT) + 40;
	t->in = calloc(room, sizeof *t->in);
	t->absent = calloc(room, sizeof *t->absent);
	ck_assert(t->in && t->absent);
	for (size_t i = 0; i < support_scaled(SHORT); i++) {
		memset(text, 'a' + (char)(i % 26), sizeof text);
		size_t digits = (size_t)snprintf(text, sizeof text, "%zu", i);
		text[digits] = '.';
		add(t->in, &t->n, text, digits + i % 300);
		text[0] = '#';
		add(t->absent, &t->nabsent, text, digits + i % 300);
	}
	memset(text, 'z', sizeof text);
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
		add(t->in, &t->n, text, lengths[i]);
	add(t->absent, &t->nabsent, text, LONGEST - 1);
	add(t->in, &t->n, "", 0);
	if (t->engine->c_strings)
		return;
	add(t->in, &t->n, "\0", 1);
	add(t->in, &t->n, "\0\0", 2);
	add(t->in, &t->n, "nul\0inside", 10);
	add(t->in, &t->n, "nul\0outside", 11);
	add(t->in, &t->n, "nul", 3);
	add(t->absent, &t->nabsent, "nul\0", 4);
	add(t->absent, &t->nabsent, "\0\0\0", 3);
}

static void add_up(struct engine_sum *sum, struct engine_sum more)
{
	sum->pointers += more.pointers;
	sum->found += more.found;
}

/* The first half in step with the others, in short runs, so that several are about to insert the
 * same string; the second from a place of its own on and round. */
static void intern_all(unsigned thread, void *arg)
{
	struct trial *t = arg;
	const struct engine *engine = t->engine;
	size_t half = t->n / 2, from = half + (t->n - half) * thread / THREADS;
	const char **out = t->out[thread];
	struct engine_sum sum = {0, 0};
	for (size_t i = 0, run; i < half; i += run) {
		run = half - i < RUN ? half - i : RUN;
		pthread_barrier_wait(&t->step);
		add_up(&sum, engine->intern(t->e, t->in + i, run, out + i));
	}
	add_up(&sum, engine->intern(t->e, t->in + from, t->n - from, out + from));
	add_up(&sum, engine->intern(t->e, t->in + half, from - half, out + half));
	t->sums[thread] = sum;
}

static void find_all(unsigned thread, void *arg)
{
	struct trial *t = arg;
	t->sums[thread] = t->engine->find(t->e, t->in, t->n);
}

static void find_absent(unsigned thread, void *arg)
{
	struct trial *t = arg;
	t->sums[thread] = t->engine->find(t->e, t->absent, t->nabsent);
}

static int by_address(const void *a, const void *b)
{
	const char *x = *(const char *const *)a, *y = *(const char *const *)b;
	return (x > y) - (x < y);
}

static void check_answers(struct trial *t, struct verdict *v, uint64_t *sum)
{
	for (size_t i = 0; i < t->n; i++) {
		const cistern_span *s = &t->in[i];
		const char *p = t->out[0][i];
		EXPECT(p, "string %zu of length %zu was not interned", i, s->len);
		EXPECT(p != s->data, "string %zu was not copied", i);
		EXPECT(memcmp(p, s->data, s->len) == 0, "string %zu has other bytes", i);
		EXPECT(p[s->len] == '\0', "string %zu has no NUL", i);
		for (unsigned k = 1; k < THREADS; k++)
			EXPECT(t->out[k][i] == p, "thread %u got another pointer for string %zu", k,
			       i);
		*sum += (uintptr_t)p;
	}
	for (unsigned k = 0; k < THREADS; k++)
		EXPECT(t->sums[k].pointers == *sum && t->sums[k].found == t->n,
		       "the sum of thread %u is not that of its answers", k);
	qsort(t->out[0], t->n, sizeof(char *), by_address);
	for (size_t i = 1; i < t->n; i++)
		EXPECT(t->out[0][i - 1] != t->out[0][i], "two strings share a pointer");
}

static void check_finding(struct trial *t, struct verdict *v, uint64_t sum)
{
	harness_threads(THREADS, find_all, t);
	for (unsigned k = 0; k < THREADS; k++)
		EXPECT(t->sums[k].pointers == sum && t->sums[k].found == t->n,
		       "thread %u found %zu of %zu strings", k, (size_t)t->sums[k].found, t->n);
	harness_threads(THREADS, find_absent, t);
	for (unsigned k = 0; k < THREADS; k++)
		EXPECT(t->sums[k].pointers == 0 && t->sums[k].found == 0,
		       "an absent string was found");
}

static void check_groups(struct trial *t, struct verdict *v, uint64_t sum)
{
	const struct engine *engine = t->engine;
	struct engine_sum s = {sum, t->n};
	if (engine->intern_batch)
		s = engine->intern_batch(t->e, t->in, t->n, NULL);
	EXPECT(s.pointers == sum && s.found == t->n, "the batch call interns differently");
	if (engine->find_batch)
		s = engine->find_batch(t->e, t->in, t->n);
	EXPECT(s.pointers == sum && s.found == t->n, "the batch call finds differently");
}

static void check_count(struct trial *t, struct verdict *v)
{
	for (int again = 0; again < 2; again++) {
		cistern_stats stats;
		memset(&stats, 0xff, sizeof stats);
		t->engine->stats(t->e, &stats);
		EXPECT(stats.strings == t->n, "it counts %zu strings where %zu are right",
		       (size_t)stats.strings, t->n);
	}
}

static void check_engine(void *arg, void *result)
{
	struct trial *t = arg;
	struct verdict *v = result;
	uint64_t sum = 0;
	t->e = t->engine->create(&t->config);
	EXPECT(t->e, "it could not be made");
	/* While it is empty, too. */
	if (t->engine->find) {
		struct engine_sum s = t->engine->find(t->e, t->in, t->n);
		EXPECT(s.found == 0 && s.pointers == 0, "it finds strings while it is empty");
	}
	pthread_barrier_init(&t->step, NULL, THREADS);
	harness_threads(THREADS, intern_all, t);
	check_answers(t, v, &sum);
	if (!*v->text && t->engine->find)
		check_finding(t, v, sum);
	if (!*v->text)
		check_groups(t, v, sum);
	if (!*v->text)
		check_count(t, v);
	t->engine->destroy(t->e);
}

/* Runs all engines; set changes the configuration of each. */
static void check_engines(void (*set)(cistern_config *config))
{
	for (size_t i = 0; engine_at(i); i++) {
		struct trial t = {.engine = engine_at(i)};
		struct verdict v = {""};
		fill(&t);
		for (unsigned k = 0; k < THREADS; k++)
			t.out[k] = calloc(t.n, sizeof(char *));
		cistern_config_init(&t.config);
		if (t.engine->defaults)
			t.engine->defaults(&t.config);
		if (set)
			set(&t.config);
		bool ended = harness_child(check_engine, &t, &v, sizeof v);
		ck_assert_msg(ended, "%s: did not end well", t.engine->name);
		ck_assert_msg(!*v.text, "%s: %s", t.engine->name, v.text);
		for (unsigned k = 0; k < THREADS; k++)
			free(t.out[k]);
		while (t.n > 0)
			free((void *)(uintptr_t)t.in[--t.n].data);
		while (t.nabsent > 0)
			free((void *)(uintptr_t)t.absent[--t.nabsent].data);
		free(t.in);
		free(t.absent);
	}
}

START_TEST(every_engine_interns)
{
	check_engines(NULL);
}
END_TEST

static void small(cistern_config *config)
{
	config->shards = 2;
	config->slab_size = 256;
	config->slab_max = 4096;
	config->growth_interval = 0;
}

START_TEST(every_engine_interns_in_few_shards_and_small_slabs)
{
	check_engines(small);
}
END_TEST

static void expecting(cistern_config *config)
{
	config->capacity = 2 * SHORT;
	config->growth_interval = 1;
}

START_TEST(every_engine_interns_when_told_how_many)
{
	check_engines(expecting);
}
END_TEST

START_TEST(strings_with_nul_are_refused_where_c_strings_are_taken)
{
	struct workload_result result;
	struct corpus c;
	corpus_open(&c);
	corpus_add(&c, "plain", 5);
	corpus_add(&c, "nul\0inside", 10);
	corpus_seal(&c);
	for (size_t i = 0; engine_at(i); i++) {
		struct workload w = {.engine = engine_at(i), .corpus = &c, .threads = 1};
		cistern_config_init(&w.config);
		if (w.engine->defaults)
			w.engine->defaults(&w.config);
		ck_assert_msg(workload_run(&w, &result) != w.engine->c_strings, "%s",
			      w.engine->name);
	}
	corpus_unload(&c);
}
END_TEST

/* Every key that is said to be heeded is a knob, and each engine has a name of its own. */
START_TEST(engines_say_what_they_are)
{
	for (size_t i = 0; engine_at(i); i++) {
		const struct engine *engine = engine_at(i);
		ck_assert_ptr_eq(engine_named(engine->name), engine);
		ck_assert_uint_gt(strlen(engine->about), 5);
		char knobs[200], *rest = knobs;
		snprintf(knobs, sizeof knobs, "%s", engine->knobs ? engine->knobs : "");
		for (char *key; (key = strtok_r(rest, " ", &rest)) != NULL;) {
			cistern_config config;
			cistern_config_init(&config);
			ck_assert_msg(cistern_config_set(&config, key, "512") == 0, "%s: %s",
				      engine->name, key);
			ck_assert(engine_heeds(engine, key));
		}
	}
	ck_assert_ptr_null(engine_named("none"));
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("bench/engines");
	support_add(s, every_engine_interns);
	support_add(s, every_engine_interns_in_few_shards_and_small_slabs);
	support_add(s, every_engine_interns_when_told_how_many);
	support_add(s, strings_with_nul_are_refused_where_c_strings_are_taken);
	support_add(s, engines_say_what_they_are);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "bench/engines", make);
}
