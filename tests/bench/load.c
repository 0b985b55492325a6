/* SPDX-License-Identifier: MIT */
/*
 * load.c - tests of loading symbols: that all of a file is read, by any number of threads, and that
 * a wrong engine is noticed. The file is this program; the engine is cistern, with answers that are
 * changed on demand.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "../../bench/elf_file.h"
#include "../../bench/engine_loop.h"
#include "../../bench/load.h"
#include "support.h"

/* What the engine gets wrong. */
static enum fault {
	RIGHT,
	REFUSES,      /* one string cannot be interned */
	OTHER_BYTES,  /* a string comes back as another one */
	TWO_POINTERS, /* one string comes back twice */
	MISCOUNTS,    /* the count of strings is wrong */
	NOT_MADE
} fault;

static atomic_uint calls;

static const char *intern_one(cistern *c, const char *s, size_t len)
{
	bool now = atomic_fetch_add(&calls, 1) == 100;
	if (fault == REFUSES && now)
		return NULL;
	const char *p = cistern_intern(c, s, len);
	if (fault == OTHER_BYTES && now)
		return cistern_intern(c, s, len - 1);
	if (fault == TWO_POINTERS && now) {
		char *copy = malloc(len + 1);
		ck_assert_ptr_nonnull(copy);
		return memcpy(copy, s, len + 1);
	}
	return p;
}

ENGINE_LOOPS(doubtful, cistern, intern_one, cistern_find)

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
	out->strings += fault == MISCOUNTS;
}

static const struct engine engine_doubtful = {
    .name = "doubtful",
    .about = "right or wrong",
    .create = create,
    .destroy = destroy,
    .intern = doubtful_intern_loop,
    .find = doubtful_find_loop,
    .stats = stats,
};

/* The same file twice, so that each string is asked for twice at least. */
static const char *const paths[] = {"/proc/self/exe", "/proc/self/exe"};

static size_t chunk;

static bool passes(enum fault how, const struct engine *engine, unsigned threads)
{
	struct corpus c;
	struct load_result result;
	uint64_t debug_strings;
	struct load l = {
	    .engine = engine, .threads = threads, .chunk = chunk, .paths = paths, .npaths = 2};
	l.distinct = load_survey(paths, 2, &c, &debug_strings);
	l.strings = c.n;
	ck_assert_uint_eq(l.distinct, c.ndistinct);
	corpus_unload(&c);
	cistern_config_init(&l.config);
	fault = how;
	atomic_store(&calls, 0);
	if (!load_run(&l, &result))
		return false;
	ck_assert(result.open_ms > 0 && result.read_ms > 0 && result.finish_ms > 0);
	ck_assert_uint_gt(result.after.rss, result.before.rss);
	return true;
}

START_TEST(survey_reads_all_symbols_and_strings)
{
	struct corpus c;
	uint64_t debug_strings;
	bool found = false;
	load_survey(paths, 1, &c, &debug_strings);
	for (size_t i = 0; i < c.n; i++)
		found |= strcmp(c.all[i].data, "load_survey") == 0;
	ck_assert(found);

	/* As many as the file says, by the sizes of its sections alone. */
	struct elf_file f;
	uint64_t symbols = 0, strings = 0;
	elf_file_open(&f, paths[0], true);
	for (size_t t = 0; t < f.ntables; t++) {
		for (size_t i = 0; i < f.tables[t].count; i++) {
			struct elf_symbol symbol;
			elf_file_symbol(&f, &f.tables[t], i, &symbol);
			ck_assert_uint_eq(symbol.len, strlen(symbol.name));
			symbols += symbol.len > 0;
		}
	}
	for (size_t t = 0; t < f.nstrings; t++)
		for (size_t i = 1; i < f.strings[t].size; i++)
			strings += f.strings[t].data[i] == '\0' && f.strings[t].data[i - 1] != '\0';
	elf_file_close(&f);
	ck_assert_uint_eq(c.n, symbols + strings);
	ck_assert_uint_eq(debug_strings, strings);
	corpus_unload(&c);
}
END_TEST

START_TEST(right_engine_passes_with_any_number_of_threads)
{
	for (unsigned threads = 1; threads <= 5; threads += 2)
		ck_assert(passes(RIGHT, &engine_doubtful, threads));
}
END_TEST

START_TEST(strings_may_lie_across_chunks)
{
	/* Down to 32 bytes: strings end before, at and behind the end of a chunk. */
	for (chunk = 1; chunk <= 3; chunk++)
		ck_assert(passes(RIGHT, &engine_doubtful, 2));
}
END_TEST

START_TEST(engines_of_our_own_pass)
{
	/* What others wrap is tested in engines.c. */
	ck_assert(passes(RIGHT, &engine_nothing, 2));
	ck_assert(passes(RIGHT, &engine_cistern, 2));
	ck_assert(passes(RIGHT, &engine_conststring, 2));
}
END_TEST

START_TEST(failed_intern_is_noticed)
{
	ck_assert(!passes(REFUSES, &engine_doubtful, 1));
}
END_TEST

START_TEST(other_bytes_are_noticed)
{
	ck_assert(!passes(OTHER_BYTES, &engine_doubtful, 2));
}
END_TEST

START_TEST(string_with_two_pointers_is_noticed)
{
	ck_assert(!passes(TWO_POINTERS, &engine_doubtful, 2));
}
END_TEST

START_TEST(wrong_count_is_noticed)
{
	ck_assert(!passes(MISCOUNTS, &engine_doubtful, 1));
}
END_TEST

START_TEST(engine_that_cannot_be_made_is_noticed)
{
	ck_assert(!passes(NOT_MADE, &engine_doubtful, 1));
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("bench/load");
	support_add(s, survey_reads_all_symbols_and_strings);
	support_add(s, right_engine_passes_with_any_number_of_threads);
	support_add(s, strings_may_lie_across_chunks);
	support_add(s, engines_of_our_own_pass);
	support_add(s, failed_intern_is_noticed);
	support_add(s, other_bytes_are_noticed);
	support_add(s, string_with_two_pointers_is_noticed);
	support_add(s, wrong_count_is_noticed);
	support_add(s, engine_that_cannot_be_made_is_noticed);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "bench/load", make);
}
