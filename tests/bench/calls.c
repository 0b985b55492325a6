/* SPDX-License-Identifier: MIT */
/*
 * calls.c - tests of timing single calls: what is counted, and that a wrong engine is noticed. The
 * engine is cistern, with answers that are changed on demand.
 */
#include <errno.h>
#include <stdatomic.h>
#include <time.h>

#include "../../bench/calls.h"
#include "../../bench/engine_loop.h"
#include "../../bench/ticks.h"
#include "support.h"

/* What the engine gets wrong. */
static enum fault {
	RIGHT,
	REFUSES,     /* one string cannot be interned */
	OTHER_BYTES, /* a string comes back as another one */
	LATER_OTHER, /* timed hits give another pointer than the build */
	RUNS_OTHER,  /* so do untimed runs */
	FINDS_OTHER, /* looking up does */
	MISCOUNTS,   /* the count of strings is wrong */
	SLEEPS,      /* right, but some calls take long */
	NOT_MADE
} fault;

enum { SLEPT_CALLS = 3, SLEPT_MS = 2 };

static atomic_uint calls;
static struct corpus corpus;

static const char *intern_one(cistern *c, const char *s, size_t len)
{
	unsigned call = atomic_fetch_add(&calls, 1);
	size_t n = corpus.ndistinct;
	if (fault == REFUSES && call == 100)
		return NULL;
	if (fault == OTHER_BYTES && call == 100)
		return cistern_intern(c, corpus.distinct[0].data, corpus.distinct[0].len);
	const char *p = cistern_intern(c, s, len);
	if (fault == LATER_OTHER && call == n / 2 + 50)
		return p + 1;
	if (fault == SLEEPS && call % 100 == 99 && call / 100 < SLEPT_CALLS)
		nanosleep(&(struct timespec){.tv_nsec = SLEPT_MS * 1000000}, NULL);
	return p;
}

ENGINE_LOOPS(doubtful, cistern, intern_one, cistern_find)

static struct engine_sum intern_run(void *e, const cistern_span *in, size_t n, const char **out)
{
	struct engine_sum sum = doubtful_intern_loop(e, in, n, out);
	if (fault == RUNS_OTHER && n > 1 && !out)
		sum.pointers++;
	return sum;
}

static struct engine_sum find_run(void *e, const cistern_span *in, size_t n)
{
	struct engine_sum sum = doubtful_find_loop(e, in, n);
	sum.pointers += fault == FINDS_OTHER;
	return sum;
}

static void *create(const cistern_config *config)
{
	errno = ENOMEM;
	return fault == NOT_MADE ? NULL : engine_cistern.create(config);
}

static void destroy(void *e)
{
	engine_cistern.destroy(e);
}

static void stats(void *e, cistern_stats *out)
{
	engine_cistern.stats(e, out);
	out->strings -= fault == MISCOUNTS;
}

static const struct engine engine_doubtful = {
    .name = "doubtful",
    .about = "right or wrong",
    .create = create,
    .destroy = destroy,
    .intern = intern_run,
    .find = find_run,
    .stats = stats,
};

static struct calls_figures figures[2];

/* Whether the measurement is content with the engine. */
static bool passes(enum fault how, enum calls_case first)
{
	corpus_load(&corpus, &(struct corpus_request){.generate = CORPUS_SYMBOLS,
						      .count = 3000,
						      .seed = 3,
						      .distinct_random = true});
	ticks_start(true);
	fault = how;
	atomic_store(&calls, 0);
	struct calls c = {.engine = &engine_doubtful, .corpus = &corpus, .first = first};
	cistern_config_init(&c.config);
	return calls_run(&c, figures);
}

/* What holds for the figures of any case. */
static void check_figures(const struct calls_figures *f)
{
	ck_assert_uint_gt(f->calls.times.total, 0);
	ck_assert_uint_eq(f->idle.times.total, f->calls.times.total);
	ck_assert_uint_ge(f->calls.times.sum, f->calls.over_ticks);
	ck_assert_uint_ge(f->calls.over_ticks, f->calls.over);
	ck_assert_uint_gt(f->overhead, 0);
	ck_assert_uint_ge(f->idle.times.sum / f->idle.times.total,
			  f->calls.times.sum / f->calls.times.total);
}

START_TEST(inserts_are_timed_once_each)
{
	for (int shared = 0; shared < 2; shared++) {
		ck_assert(passes(RIGHT, shared ? CALLS_INSERT_SHARED : CALLS_INSERT));
		check_figures(&figures[0]);
		ck_assert_uint_eq(figures[0].calls.times.total, corpus.ndistinct);
		ck_assert_uint_gt(figures[0].events.faults, 0);
		ck_assert(figures[0].rate == 0 && figures[0].inserting == 0);
		ck_assert_uint_eq(figures[1].calls.times.total, 0);
		corpus_unload(&corpus);
	}
}
END_TEST

START_TEST(hits_have_figures_in_quiet_and_under_inserts)
{
	for (int hot = 0; hot < 2; hot++) {
		ck_assert(passes(RIGHT, hot ? CALLS_HOT : CALLS_HIT));
		for (int i = 0; i < 2; i++) {
			check_figures(&figures[i]);
			ck_assert(figures[i].rate > 0);
		}
		ck_assert(figures[0].kept == 0 && figures[0].inserting == 0);
		ck_assert(figures[1].inserting > 0);
		ck_assert(figures[1].kept == figures[1].rate / figures[0].rate);
		corpus_unload(&corpus);
	}
}
END_TEST

START_TEST(calls_that_take_long_are_added_up)
{
	ck_assert(passes(SLEEPS, CALLS_INSERT));
	ck_assert_uint_ge(figures[0].calls.over, SLEPT_CALLS);
	ck_assert(ticks_ns(figures[0].calls.over_ticks) >= SLEPT_CALLS * SLEPT_MS * 0.99e6);
	ck_assert(ticks_ns(figures[0].calls.times.max) >= SLEPT_MS * 0.99e6);
	ck_assert(ticks_ns(histogram_quantile(&figures[0].calls.times, 999900)) >=
		  SLEPT_MS * 0.99e6);
}
END_TEST

START_TEST(failed_intern_is_noticed)
{
	ck_assert(!passes(REFUSES, CALLS_INSERT));
}
END_TEST

START_TEST(other_bytes_are_noticed)
{
	ck_assert(!passes(OTHER_BYTES, CALLS_INSERT));
	corpus_unload(&corpus);
	ck_assert(!passes(OTHER_BYTES, CALLS_HIT));
}
END_TEST

START_TEST(hit_with_another_pointer_is_noticed)
{
	ck_assert(!passes(LATER_OTHER, CALLS_HIT));
	corpus_unload(&corpus);
	ck_assert(!passes(LATER_OTHER, CALLS_HOT));
}
END_TEST

START_TEST(run_of_hits_with_other_pointers_is_noticed)
{
	ck_assert(!passes(RUNS_OTHER, CALLS_HIT));
}
END_TEST

START_TEST(find_that_answers_differently_is_noticed)
{
	ck_assert(!passes(FINDS_OTHER, CALLS_INSERT));
}
END_TEST

START_TEST(wrong_count_is_noticed)
{
	ck_assert(!passes(MISCOUNTS, CALLS_INSERT_SHARED));
}
END_TEST

START_TEST(engine_that_cannot_be_made_is_noticed)
{
	ck_assert(!passes(NOT_MADE, CALLS_INSERT));
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("bench/calls");
	support_add(s, inserts_are_timed_once_each);
	support_add(s, hits_have_figures_in_quiet_and_under_inserts);
	support_add(s, calls_that_take_long_are_added_up);
	support_add(s, failed_intern_is_noticed);
	support_add(s, other_bytes_are_noticed);
	support_add(s, hit_with_another_pointer_is_noticed);
	support_add(s, run_of_hits_with_other_pointers_is_noticed);
	support_add(s, find_that_answers_differently_is_noticed);
	support_add(s, wrong_count_is_noticed);
	support_add(s, engine_that_cannot_be_made_is_noticed);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "bench/calls", make);
}
