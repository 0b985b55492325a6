/* SPDX-License-Identifier: MIT */
/*
 * builder.c - tests of what cistern-builder measures: the ways give the right names and allocate
 * what they are said to, a wrong way is noticed, and the table of sizes says what the library does.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../bench/allocations.h"
#include "../../bench/harness.h"
#include "../../bench/sizes.h"
#include "../../bench/trial.h"
#include "support.h"

static struct corpus corpus;
static cistern_config config;

static void setup(void)
{
	corpus_load(&corpus,
		    &(struct corpus_request){.generate = CORPUS_SYMBOLS, .count = 300, .seed = 3});
	cistern_config_init(&config);
}

static void teardown(void)
{
	corpus_unload(&corpus);
}

static struct trial_figures figures_of(const char *name, struct ways_set *set)
{
	struct trial_figures out = {0, -1, -1};
	size_t i = 0;
	while (way_at(i) && strcmp(way_at(i)->name, name) != 0)
		i++;
	ck_assert_ptr_nonnull(way_at(i));
	trial_verify(way_at(i), set, &config, &out);
	return out;
}

START_TEST(every_way_gives_the_names_and_only_builders_that_grow_allocate_twice)
{
	static const size_t pieces[] = {2, 5, 20, 500};
	struct allocations so_far;
	setup();
	for (size_t p = 0; p < 4; p++)
		for (size_t l = 0; ways_length_at(l); l++) {
			struct ways_set set;
			ways_set_make(&set, &corpus, pieces[p], ways_length_at(l), 7);
			for (size_t i = 0; way_at(i); i++)
				figures_of(way_at(i)->name, &set);
			if (allocations_so_far(&so_far)) {
				double bytes = (double)set.bytes / (double)set.names;
				double grown = figures_of("growing", &set).allocations;
				ck_assert(figures_of("array", &set).allocations == 0);
				ck_assert(figures_of("fixed", &set).allocations == 0);
				ck_assert(figures_of("malloc", &set).allocations == 1);
				ck_assert(figures_of("malloc", &set).allocated == bytes + 1);
				ck_assert(figures_of("presized", &set).allocations == 1);
				ck_assert(pieces[p] < 20 ? grown >= 1 : grown > 1);
				ck_assert(figures_of("new-internv", &set).allocations == 0);
				ck_assert(figures_of("hit-builder", &set).allocations == 0);
			}
			ways_set_free(&set);
		}
	teardown();
}
END_TEST

/* Counting takes some nanoseconds, which ways that allocate would pay and others not. */
START_TEST(nothing_is_counted_while_ways_are_timed)
{
	static struct trial_outcome out;
	struct allocations before, after;
	setup();
	struct trial t = {.corpus = &corpus,
			  .config = &config,
			  .pieces = 5,
			  .length = ways_length_at(0),
			  .seed = 7,
			  .passes = 1};
	trial_run(&t, &out);
	ck_assert(out.of[0].ns > 0);
	allocations_so_far(&before);
	void *volatile p = malloc(100);
	free(p);
	ck_assert(allocations_so_far(&after) == out.counted);
	ck_assert_uint_eq(after.calls, before.calls);
	teardown();
}
END_TEST

START_TEST(names_are_all_different_and_new_after_renumbering)
{
	struct ways_set set;
	setup();
	cistern *c = cistern_create(NULL);
	ck_assert_ptr_nonnull(c);
	ways_set_make(&set, &corpus, 5, ways_length_at(0), 7);
	for (unsigned pass = 0; pass < 3; pass++) {
		ways_renumber(&set, pass * set.names);
		for (size_t k = 0; k < set.names; k++) {
			bool is_new = false;
			char *name = malloc(set.longest + 1);
			ck_assert_ptr_nonnull(name);
			size_t len = ways_join(&set, k, name);
			ck_assert_uint_le(len, set.longest);
			cistern_intern_new(c, name, len, &is_new);
			ck_assert(is_new);
			free(name);
		}
	}
	ways_set_free(&set);
	cistern_destroy(c);
	teardown();
}
END_TEST

/* ---- ways that are wrong */

static enum { OTHER_BYTES, NO_NUL, FORGETS, FAILS, RIGHT } fault;

static void run_wrong(const struct ways_set *set, cistern *c, ways_take *take, void *arg)
{
	(void)c;
	char *name = malloc(set->longest + 2);
	ck_assert_ptr_nonnull(name);
	for (size_t k = 0; k < set->names; k++) {
		size_t len = ways_join(set, k, name);
		bool wrong = k == set->names - 1;
		if (wrong && fault == OTHER_BYTES)
			name[len - 1]++;
		if (wrong && fault == NO_NUL)
			name[len] = 'x';
		if (!(wrong && fault == FORGETS))
			take(arg, k, wrong && fault == FAILS ? NULL : name);
	}
	free(name);
}

static void verify_wrong(void *arg, void *result)
{
	static const struct way wrong = {"wrong", "a way", WAYS_BUILD, run_wrong};
	struct ways_set set;
	(void)arg;
	ways_set_make(&set, &corpus, 5, ways_length_at(0), 7);
	trial_verify(&wrong, &set, &config, result);
	ways_set_free(&set);
}

START_TEST(wrong_ways_are_noticed)
{
	struct trial_figures figures;
	setup();
	for (fault = OTHER_BYTES; fault <= RIGHT; fault++)
		ck_assert_int_eq(harness_child(verify_wrong, NULL, &figures, sizeof figures),
				 fault == RIGHT);
	teardown();
}
END_TEST

/* ---- sizes */

static struct sizes_row rows[64];
static size_t nrows;

static void keep(void *arg, const struct sizes_row *row)
{
	(void)arg;
	ck_assert_uint_lt(nrows, 64);
	rows[nrows++] = *row;
}

static const struct sizes_row *size_named(const char *what)
{
	for (size_t i = 0; i < nrows; i++)
		if (strcmp(rows[i].what, what) == 0)
			return &rows[i];
	ck_abort_msg("no row called %s", what);
	return NULL;
}

START_TEST(header_holds_lengths_up_to_its_limit)
{
	setup();
	sizes_each(&corpus, &config, keep, NULL);
	const struct sizes_row *header = size_named("header");
	const struct sizes_row *escaped = size_named("header, escaped");
	size_t last = header->limit, next = last + 1;
	char *bytes = calloc(next, 1);
	cistern *c = cistern_create(&config);
	ck_assert_ptr_nonnull(bytes);
	ck_assert_ptr_nonnull(c);
	const char *short_one = cistern_intern(c, bytes, last);
	const char *long_one = cistern_intern(c, bytes, next);
	uint32_t word;
	uint64_t length;
	ck_assert_uint_eq(header->bytes, sizeof word);
	ck_assert_uint_eq(escaped->bytes, sizeof word + sizeof length);
	memcpy(&word, short_one - sizeof word, sizeof word);
	ck_assert_uint_eq(word & 0xFFFFFF, last);
	/* The next length is the mark of an escape, and stands in full before the header. */
	memcpy(&word, long_one - sizeof word, sizeof word);
	ck_assert_uint_eq(word & 0xFFFFFF, next);
	memcpy(&length, long_one - sizeof word - sizeof length, sizeof length);
	ck_assert_uint_eq(length, next);
	cistern_destroy(c);
	free(bytes);
	teardown();
}
END_TEST

START_TEST(longest_string_is_the_limit_of_the_escaped_header)
{
	setup();
	config.max_bytes = 65536;
	sizes_each(&corpus, &config, keep, NULL);
	size_t longest = size_named("header, escaped")->limit;
	char *bytes = calloc(longest + 1, 1);
	cistern *c = cistern_create(&config);
	ck_assert_ptr_nonnull(bytes);
	errno = 0;
	ck_assert_ptr_null(cistern_intern(c, bytes, longest + 1));
	ck_assert_int_eq(errno, E2BIG);
	ck_assert_ptr_nonnull(cistern_intern(c, bytes, longest));
	cistern_destroy(c);
	free(bytes);
	teardown();
}
END_TEST

START_TEST(ids_count_units)
{
	setup();
	sizes_each(&corpus, &config, keep, NULL);
	const struct sizes_row *id = size_named("id"), *unit = size_named("unit of ids");
	cistern *c = cistern_create(&config);
	const char *a = cistern_intern(c, "a", 1), *b = cistern_intern(c, "b", 1);
	int64_t ids = (int64_t)cistern_id_of(c, b) - (int64_t)cistern_id_of(c, a);
	ck_assert_int_eq(ids * (int64_t)unit->bytes, (int64_t)(b - a));
	ck_assert_uint_eq(id->bytes, sizeof cistern_id_of(c, a));
	ck_assert_uint_eq(id->limit, UINT32_MAX);
	ck_assert_uint_eq(unit->limit, (id->limit + 1) * (uint64_t)unit->bytes);
	ck_assert_uint_ge(unit->limit, size_named("overhead")->limit);
	cistern_destroy(c);
	teardown();
}
END_TEST

START_TEST(limits_of_knobs_and_values_are_where_the_library_stops)
{
	static const char *const keys[] = {"max_bytes", "slab_max", "capacity"};
	char text[24];
	setup();
	for (size_t i = 0; i < 3; i++) {
		uint64_t most = sizes_knob_most(keys[i]);
		snprintf(text, sizeof text, "%llu", (unsigned long long)most);
		ck_assert_int_eq(cistern_config_set(&config, keys[i], text), 0);
		snprintf(text, sizeof text, "%llu", (unsigned long long)most + 1);
		ck_assert_int_eq(cistern_config_set(&config, keys[i], text), -1);
	}
	cistern_config_init(&config);
	sizes_each(&corpus, &config, keep, NULL);
	ck_assert_uint_eq(size_named("value_size=4")->limit, UINT32_MAX);
	ck_assert_uint_eq(size_named("value_size=8")->limit, UINT64_MAX);
	ck_assert(size_named("value_size=4")->bytes == 4);
	ck_assert(size_named("links=on")->bytes == 4);
	teardown();
}
END_TEST

START_TEST(overhead_is_what_the_layout_says_and_slab_headers)
{
	struct corpus three;
	char text[4];
	setup();
	corpus_open(&three);
	for (unsigned i = 0; i < 900; i++) {
		snprintf(text, sizeof text, "%u", 100 + i);
		corpus_add(&three, text, 3);
	}
	corpus_seal(&three);
	config.max_bytes = UINT64_C(1) << 30; /* a unit of one byte, wherever this runs */
	sizes_each(&three, &config, keep, NULL);
	const struct sizes_row *plain = size_named("overhead");
	double fixed = size_named("header")->bytes + size_named("NUL")->bytes;
	ck_assert(size_named("unit of ids")->bytes == 1);
	ck_assert(plain->formula == fixed);
	/* Some slab header in every shard, and no more than one for each string. */
	ck_assert(plain->bytes > plain->formula);
	ck_assert(plain->bytes < plain->formula + size_named("slab header")->bytes);
	ck_assert(size_named("overhead, links=on")->formula >= fixed + 4);
	const struct sizes_row *table = size_named("table a string");
	ck_assert(table->bytes == table->formula);
	ck_assert(table->bytes >= size_named("slot of a table")->bytes);
	corpus_unload(&three);
	teardown();
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("bench/builder");
	support_add(s, every_way_gives_the_names_and_only_builders_that_grow_allocate_twice);
	support_add(s, nothing_is_counted_while_ways_are_timed);
	support_add(s, names_are_all_different_and_new_after_renumbering);
	support_add(s, wrong_ways_are_noticed);
	support_add(s, header_holds_lengths_up_to_its_limit);
	support_add(s, longest_string_is_the_limit_of_the_escaped_header);
	support_add(s, ids_count_units);
	support_add(s, limits_of_knobs_and_values_are_where_the_library_stops);
	support_add(s, overhead_is_what_the_layout_says_and_slab_headers);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "bench/builder", make);
}
