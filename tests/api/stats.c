/* SPDX-License-Identifier: MIT */
/* stats.c - G9: the figures add up to the byte, and the three ways to print them say the same. */
#include "cases.h"
#include "figures.h"
#include "json.h"
#include "support.h"
#include "variants.h"
#include "words.h"

#include <cistern.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* An interner's handle and a string's number are what they are said to be. */
_Static_assert(sizeof(cistern_id) == 4, "an id is four bytes");
_Static_assert(sizeof(cistern_span) == 2 * sizeof(void *), "a span is two words");

static const struct figure {
	const char *name;
	size_t offset;
} all_figures[] = {
#define FIGURE(name)                                                                               \
	{                                                                                          \
#name, offsetof(cistern_stats, name)                                               \
	}
    FIGURE(strings),         FIGURE(payload_bytes), FIGURE(overhead_bytes), FIGURE(slack_bytes),
    FIGURE(table_bytes),     FIGURE(retired_bytes), FIGURE(free_bytes),     FIGURE(control_bytes),
    FIGURE(committed_bytes), FIGURE(emptied_bytes), FIGURE(reserved_bytes), FIGURE(capacity_bytes),
    FIGURE(reference_shift), FIGURE(shards),        FIGURE(slots),          FIGURE(slabs),
    FIGURE(growths),         FIGURE(rekeys),        FIGURE(lock_waits),     FIGURE(max_probe),
    FIGURE(seed_fixed),
#undef FIGURE
};

static uint64_t figure(const cistern_stats *stats, const struct figure *f)
{
	uint64_t number;

	memcpy(&number, (const char *)stats + f->offset, sizeof(number));
	return number;
}

static cistern *create(const cistern_config *config)
{
	cistern *c = cistern_create(config);

	if (!c)
		ck_abort_msg("cistern_create: %s", strerror(errno));
	return c;
}

/* ---------------------------------------------------------------- accounting */

START_TEST(a_new_interner_has_nothing)
{
	cistern *c = variant_create(_i);
	cistern_stats stats = figures(c);

	figures_check(c);
	ck_assert_uint_eq(stats.strings, 0);
	ck_assert_uint_eq(stats.payload_bytes, 0);
	ck_assert_uint_eq(stats.slabs, 0);
	ck_assert_uint_eq(stats.growths, 0);
	ck_assert_uint_eq(stats.rekeys, 0);
	ck_assert_uint_eq(stats.retired_bytes, 0);
	ck_assert_uint_ge(stats.reserved_bytes, stats.capacity_bytes);
	ck_assert_uint_ge(stats.reserved_bytes, stats.committed_bytes);
	cistern_destroy(c);
}
END_TEST

START_TEST(a_string_adds_its_length_and_a_few_bytes)
{
	cistern *c = variant_create(_i);
	cistern_stats before, after;
	int i;

	ck_assert_ptr_nonnull(cistern_intern_cstr(c, "the first one brings a slab"));
	before = figures(c);
	for (i = 0; i < 10; i++)
		ck_assert_ptr_nonnull(cistern_intern_cstr(c, "0123456789"));
	ck_assert_ptr_nonnull(cistern_find_cstr(c, "0123456789"));
	after = figures(c);
	ck_assert_uint_eq(after.strings, before.strings + 1);
	ck_assert_uint_eq(after.payload_bytes, before.payload_bytes + 10);
	ck_assert_uint_ge(after.overhead_bytes, before.overhead_bytes + 5);
	figures_check(c);
	cistern_destroy(c);
}
END_TEST

/* A configuration at random, from small to large and with every knob in play. */
static cistern_config random_config(support_rng *rng)
{
	static const uint64_t ranges[] = {1 << 17,           1 << 20,           1 << 24,
					  UINT64_C(1) << 32, UINT64_C(1) << 34, UINT64_C(1) << 38};
	cistern_config config = CISTERN_CONFIG_INIT;

	config.shards = 1u << support_rng_below(rng, 8);
	config.slab_size = UINT64_C(256) << support_rng_below(rng, 8);
	config.growth_interval = (uint32_t)support_rng_below(rng, 4);
	config.slab_max = config.slab_size << support_rng_below(rng, 5);
	config.max_bytes = ranges[support_rng_below(rng, COUNT(ranges))];
	if (support_rng_below(rng, 3) == 0)
		config.memory_limit = (UINT64_C(256) << 10) + (support_rng_next(rng) & 0xfffff);
	if (support_rng_below(rng, 4) == 0)
		config.max_len = 5000;
	if (support_rng_below(rng, 3) == 0)
		config.capacity = support_rng_below(rng, 5000);
	if (support_rng_below(rng, 2))
		config.commit_chunk = UINT64_C(4096) << support_rng_below(rng, 5);
	config.value_size = (uint32_t)support_rng_below(rng, 3) * 4;
	config.links = support_rng_below(rng, 2);
	config.prefault = support_rng_below(rng, 2);
	config.hugepages = (cistern_hugepages)support_rng_below(rng, 3);
	config.lock = (cistern_lock)support_rng_below(rng, 2);
	return config;
}

static size_t random_length(support_rng *rng)
{
	switch (support_rng_below(rng, 40)) {
	case 0:
		return 3500 + support_rng_below(rng, 1500);
	case 1:
		return support_rng_below(rng, 20000);
	case 2:
		return support_rng_below(rng, 100) ? 0 : (1 << 24) + support_rng_below(rng, 100);
	default:
		return support_rng_below(rng, 100);
	}
}

/* One step: any call that can change the figures. Keeps the set in step with the interner. */
static void random_step(cistern *c, struct words *set, support_rng *rng, char *data)
{
	size_t len = random_length(rng);
	cistern_span parts[2] = {{data, len / 2}, {data + len / 2, len - len / 2}};
	const char *str, *out[8];
	cistern_span in[8];
	size_t i, n;

	for (i = 0; i < len && i < 8; i++)
		data[i] = (char)support_rng_next(rng);
	switch (support_rng_below(rng, 8)) {
	case 0:
		str = cistern_internv(c, parts, 2);
		break;
	case 1:
		for (i = 0; i < 8; i++) {
			in[i].data = data + i;
			in[i].len = len > 8 ? len - i : i;
		}
		n = cistern_intern_batch(c, in, out, 8);
		for (i = 0; i < n; i++)
			words_put(set, in[i].data, in[i].len, NULL)->kept = out[i];
		/* behind the prefix some may be interned though they are not told */
		for (; i < 8; i++) {
			str = cistern_find(c, in[i].data, in[i].len);
			if (str)
				words_put(set, in[i].data, in[i].len, NULL)->kept = str;
		}
		return;
	case 2:
		if (set->count < 2)
			return;
		str = set->items[support_rng_below(rng, set->count)]->kept;
		cistern_set_value(c, str, support_rng_below(rng, 1000));
		cistern_link(c, str, set->items[support_rng_below(rng, set->count)]->kept);
		return;
	case 3:
		if (support_rng_below(rng, 20) == 0)
			cistern_reserve(c, set->count + support_rng_below(rng, 2000));
		return;
	default:
		str = cistern_intern(c, data, len);
	}
	if (str)
		words_put(set, data, len, NULL)->kept = str;
}

START_TEST(the_figures_add_up_after_random_scripts)
{
	support_rng rng = support_rng_start(0);
	char *data = need(calloc(1, (1 << 24) + 100));
	size_t script, scripts = support_scaled(150), refused = 0;

	for (script = 0; script < scripts; script++) {
		cistern_config config = random_config(&rng);
		cistern *c = cistern_create(&config);
		size_t step, steps = 100 + support_rng_below(&rng, 3000);
		struct words set;

		if (!c) {
			/* the only excuse: structures that do not fit the limit */
			ck_assert_int_eq(errno, EINVAL);
			ck_assert_uint_ne(config.memory_limit, 0);
			refused++;
			continue;
		}
		words_init(&set);
		for (step = 0; step < steps; step++) {
			random_step(c, &set, &rng, data);
			if (step % 97 == 0)
				figures_check(c);
		}
		figures_check(c);
		ck_assert_uint_eq(figures(c).strings, set.count);
		ck_assert_uint_eq(figures(c).payload_bytes, set.payload);
		for (step = 0; step < set.count; step++)
			ck_assert_ptr_eq(
			    cistern_find(c, set.items[step]->data, set.items[step]->len),
			    set.items[step]->kept);
		words_free(&set);
		cistern_destroy(c);
	}
	ck_assert_uint_le(refused * 4, scripts + 4);
	free(data);
}
END_TEST

struct busy {
	cistern *c;
	size_t inserts;
};

static void insert(support_worker *worker)
{
	struct busy *busy = worker->arg;
	size_t i;

	for (i = 0; i < busy->inserts; i++) {
		char data[64];
		int len = snprintf(data, sizeof(data), "%zu of all threads", i);
		cistern_stats stats = {.size = sizeof(stats)};

		if (!support_expect(worker, cistern_intern(busy->c, data, (size_t)len) != NULL))
			return;
		if (i % 1024 == worker->index)
			support_expect(worker, cistern_stats_get(busy->c, &stats) == 0 &&
						   stats.strings > 0 &&
						   stats.strings <= busy->inserts);
	}
}

START_TEST(the_figures_add_up_after_threads)
{
	struct busy busy = {.c = variant_create(_i), .inserts = support_scaled(20000)};
	cistern_stats stats;

	support_run(4, insert, &busy);
	figures_check(busy.c);
	stats = figures(busy.c);
	ck_assert_uint_eq(stats.strings, busy.inserts);
	cistern_destroy(busy.c);
}
END_TEST

/* The formula of the design: header, NUL, padding, table, slack and commit come to about 15 bytes a
 * string. */
START_TEST(a_hundred_thousand_strings_cost_few_bytes_each)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	cistern_stats stats;
	cistern *c;
	int i;

	config.shards = 16;
	config.hugepages = CISTERN_HUGEPAGES_NEVER;
	c = create(&config);
	for (i = 0; i < 100000; i++) {
		char data[64];

		ck_assert_ptr_nonnull(cistern_intern(
		    c, data, (size_t)snprintf(data, sizeof(data), "a name of some length %d", i)));
	}
	stats = figures(c);
	ck_assert_uint_eq(stats.strings, 100000);
	ck_assert_uint_le(
	    (stats.committed_bytes - stats.payload_bytes - stats.emptied_bytes) / 100000, 24);
	ck_assert_uint_le(stats.strings * 100, stats.slots * 95);
	cistern_destroy(c);
}
END_TEST

START_TEST(counters_count)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	cistern_stats stats;
	cistern *c;
	int i;

	config.shards = 1;
	c = create(&config);
	for (i = 0; i < 5000; i++) {
		char data[64];

		ck_assert_ptr_nonnull(
		    cistern_intern(c, data, (size_t)snprintf(data, sizeof(data), "counted %d", i)));
	}
	stats = figures(c);
	ck_assert_uint_ge(stats.slots, 5000);
	ck_assert_uint_ge(stats.growths, 4);
	ck_assert_uint_ge(stats.slabs, 5000 * 15 / 4096);
	ck_assert_uint_gt(stats.retired_bytes, 0);
	ck_assert_uint_ge(stats.max_probe, 1);
	ck_assert_uint_le(stats.max_probe, 64);
	ck_assert_uint_eq(stats.rekeys, 0);
	ck_assert_uint_eq(stats.lock_waits, 0); /* there is one thread */
	cistern_destroy(c);
}
END_TEST

/* ---------------------------------------------------------------- arguments and versions */

START_TEST(stats_of_null_are_invalid)
{
	cistern *c = create(NULL);
	cistern_stats stats = {.size = sizeof(stats)};
	cistern_shard_stats shard = {.size = sizeof(shard)};

	errno = 0;
	ck_assert_int_eq(cistern_stats_get(NULL, &stats), -1);
	ck_assert_int_eq(errno, EINVAL);
	errno = 0;
	ck_assert_int_eq(cistern_stats_get(c, NULL), -1);
	ck_assert_int_eq(errno, EINVAL);
	errno = 0;
	ck_assert_int_eq(cistern_shard_stats_get(NULL, 0, &shard), -1);
	ck_assert_int_eq(errno, EINVAL);
	errno = 0;
	ck_assert_int_eq(cistern_shard_stats_get(c, 0, NULL), -1);
	ck_assert_int_eq(errno, EINVAL);
	errno = 0;
	ck_assert_int_eq(cistern_stats_print(NULL, stderr, CISTERN_FORMAT_TEXT), -1);
	ck_assert_int_eq(errno, EINVAL);
	errno = 0;
	ck_assert_int_eq(cistern_stats_print(c, NULL, CISTERN_FORMAT_TEXT), -1);
	ck_assert_int_eq(errno, EINVAL);
	errno = 0;
	ck_assert_int_eq(cistern_stats_print(c, stderr, (cistern_format)3), -1);
	ck_assert_int_eq(errno, EINVAL);
	cistern_destroy(c);
}
END_TEST

START_TEST(a_shard_that_is_not_there_is_invalid)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	cistern_shard_stats shard = {.size = sizeof(shard), .strings = 77};
	cistern *c;

	config.shards = 4;
	c = create(&config);
	ck_assert_int_eq(cistern_shard_stats_get(c, 3, &shard), 0);
	ck_assert_uint_eq(shard.strings, 0);
	shard.strings = 77;
	errno = 0;
	ck_assert_int_eq(cistern_shard_stats_get(c, 4, &shard), -1);
	ck_assert_int_eq(errno, EINVAL);
	errno = 0;
	ck_assert_int_eq(cistern_shard_stats_get(c, UINT32_MAX, &shard), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_uint_eq(shard.strings, 77);
	cistern_destroy(c);
}
END_TEST

START_TEST(stats_know_longer_structs_and_refuse_shorter_ones)
{
	struct {
		cistern_stats stats;
		unsigned char tail[32];
	} longer;
	struct {
		cistern_shard_stats stats;
		unsigned char tail[32];
	} longer_shard;
	cistern *c = create(NULL);
	cistern_stats shorter = {.strings = 77};
	cistern_shard_stats shorter_shard = {.strings = 77};
	size_t i;

	ck_assert_ptr_nonnull(cistern_intern_cstr(c, "one"));
	memset(&longer, 0, sizeof(longer));
	memset(&longer_shard, 0, sizeof(longer_shard));
	longer.stats.size = sizeof(longer);
	longer_shard.stats.size = sizeof(longer_shard);
	ck_assert_int_eq(cistern_stats_get(c, &longer.stats), 0);
	ck_assert_uint_eq(longer.stats.strings, 1);
	ck_assert_uint_eq(longer.stats.size, sizeof(longer));
	ck_assert_int_eq(cistern_shard_stats_get(c, 0, &longer_shard.stats), 0);
	for (i = 0; i < sizeof(longer.tail); i++)
		ck_assert_uint_eq(longer.tail[i], 0);
	longer.stats.strings = 77;
	longer.tail[31] = 1;
	errno = 0;
	ck_assert_int_eq(cistern_stats_get(c, &longer.stats), -1);
	ck_assert_int_eq(errno, E2BIG);
	ck_assert_uint_eq(longer.stats.strings, 77);
	longer_shard.tail[0] = 1;
	errno = 0;
	ck_assert_int_eq(cistern_shard_stats_get(c, 0, &longer_shard.stats), -1);
	ck_assert_int_eq(errno, E2BIG);

	/* this is the first version: whatever is shorter is none */
	for (i = 0; i < sizeof(shorter); i += 4) {
		shorter.size = i;
		errno = 0;
		ck_assert_int_eq(cistern_stats_get(c, &shorter), -1);
		ck_assert_int_eq(errno, EINVAL);
		ck_assert_uint_eq(shorter.strings, 77);
	}
	for (i = 0; i < sizeof(shorter_shard); i += 4) {
		shorter_shard.size = i;
		errno = 0;
		ck_assert_int_eq(cistern_shard_stats_get(c, 0, &shorter_shard), -1);
		ck_assert_int_eq(errno, EINVAL);
		ck_assert_uint_eq(shorter_shard.strings, 77);
	}
	cistern_destroy(c);
}
END_TEST

/* ---------------------------------------------------------------- printing */

/* What cistern_stats_print writes, in memory of its own. */
static char *printed(const cistern *c, cistern_format format)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(cistern_stats_print(c, f, format), 0);
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_uint_gt(len, 0);
	ck_assert_int_eq(text[len - 1], '\n');
	return text;
}

static cistern *furnished(int number)
{
	cistern *c = variant_create(number);
	int i;

	for (i = 0; i < 3000; i++) {
		char data[64];

		ck_assert_ptr_nonnull(
		    cistern_intern(c, data, (size_t)snprintf(data, sizeof(data), "printed %d", i)));
	}
	return c;
}

START_TEST(json_holds_every_figure)
{
	cistern *c = furnished(_i);
	cistern_stats stats = figures(c);
	char *text = printed(c, CISTERN_FORMAT_JSON);
	size_t i;

	ck_assert_msg(json_valid(text), "%s", text);
	for (i = 0; i < COUNT(all_figures); i++) {
		uint64_t number = 0;

		ck_assert_msg(json_number(text, all_figures[i].name, &number), "no %s in %s",
			      all_figures[i].name, text);
		ck_assert_uint_eq(number, figure(&stats, &all_figures[i]));
	}
	free(text);
	cistern_destroy(c);
}
END_TEST

/* The second opinion, where there is a Python. */
START_TEST(python_reads_the_json)
{
	cistern *c = furnished(0);
	FILE *python;
	int answer;

	if (system("python3 -c 'import json' 2>/dev/null") == 0) {
		python = popen("python3 -c 'import json,sys; d = json.load(sys.stdin); "
			       "sys.exit(d[\"strings\"] != 3000)'",
			       "w");
		ck_assert_ptr_nonnull(python);
		ck_assert_int_eq(cistern_stats_print(c, python, CISTERN_FORMAT_JSON), 0);
		answer = pclose(python);
		ck_assert_int_eq(answer, 0);
	}
	cistern_destroy(c);
}
END_TEST

static bool name_char(char ch, bool first)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_' || ch == ':' ||
	       (!first && ch >= '0' && ch <= '9');
}

/* The length of a metric's name at the beginning of text; 0 when there is none. */
static size_t metric_name(const char *text)
{
	size_t n = 0;

	while (name_char(text[n], n == 0))
		n++;
	return n;
}

/* The labels in braces at the beginning of text, their length; 0 when they are malformed. */
static size_t labels(const char *text)
{
	const char *p = text + 1;

	while (*p != '}') {
		size_t n = metric_name(p);

		if (!n || p[n] != '=' || p[n + 1] != '"')
			return 0;
		p += n + 2;
		while (*p != '"') {
			if (!*p || *p == '\n')
				return 0;
			p += *p == '\\' && p[1] ? 2 : 1;
		}
		p++;
		if (*p == ',')
			p++;
		else if (*p != '}')
			return 0;
	}
	return (size_t)(p - text) + 1;
}

/*
 * The text format: "# HELP name ...", "# TYPE name counter|gauge" once a name and before its
 * samples, and "name{labels} number" once each.
 */
static void assert_prometheus(char *text, struct words *types, struct words *samples)
{
	char *line, *rest = NULL;

	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		bool fresh = false;
		size_t n, l = 0;
		char *end;

		if (strncmp(line, "# HELP ", 7) == 0) {
			n = metric_name(line + 7);
			ck_assert_msg(n && line[7 + n] == ' ' && line[8 + n], "%s", line);
			continue;
		}
		if (strncmp(line, "# TYPE ", 7) == 0) {
			n = metric_name(line + 7);
			ck_assert_msg(n && (strcmp(line + 7 + n, " counter") == 0 ||
					    strcmp(line + 7 + n, " gauge") == 0),
				      "%s", line);
			words_put(types, line + 7, n, &fresh);
			ck_assert_msg(fresh, "twice: %s", line);
			continue;
		}
		n = metric_name(line);
		ck_assert_msg(n && strncmp(line, "cistern_", 8) == 0, "%s", line);
		ck_assert_msg(words_get(types, line, n) != NULL, "no type before: %s", line);
		if (line[n] == '{') {
			l = labels(line + n);
			ck_assert_msg(l != 0, "%s", line);
		}
		ck_assert_msg(line[n + l] == ' ', "%s", line);
		words_put(samples, line, n + l, &fresh)->mark =
		    strtoull(line + n + l + 1, &end, 10);
		ck_assert_msg(fresh, "twice: %s", line);
		ck_assert_msg(*end == '\0' && end != line + n + l + 1, "%s", line);
	}
}

START_TEST(prometheus_lines_are_well_formed)
{
	cistern *c = furnished(_i);
	cistern_stats stats = figures(c);
	char *text = printed(c, CISTERN_FORMAT_PROMETHEUS);
	struct words types, samples;
	size_t i;

	words_init(&types);
	words_init(&samples);
	assert_prometheus(text, &types, &samples);
	ck_assert_uint_ge(samples.count, COUNT(all_figures));
	/* each figure is there, under its name; counters may end in _total */
	for (i = 0; i < COUNT(all_figures); i++) {
		char name[100];
		int len = snprintf(name, sizeof(name), "cistern_%s_total", all_figures[i].name);
		const struct word *word = words_get(&samples, name, (size_t)len - 6);

		if (!word)
			word = words_get(&samples, name, (size_t)len);
		ck_assert_msg(word != NULL, "no sample of %s", all_figures[i].name);
		ck_assert_uint_eq(word->mark, figure(&stats, &all_figures[i]));
	}
	words_free(&types);
	words_free(&samples);
	free(text);
	cistern_destroy(c);
}
END_TEST

START_TEST(text_is_lines_for_people)
{
	cistern *c = furnished(_i);
	char *text = printed(c, CISTERN_FORMAT_TEXT), *p;

	ck_assert_ptr_nonnull(strstr(text, "strings"));
	ck_assert_ptr_nonnull(strstr(text, "3000"));
	for (p = text; *p; p++)
		ck_assert((*p >= ' ' && *p < 127) || *p == '\n');
	free(text);
	cistern_destroy(c);
}
END_TEST

START_TEST(an_error_of_writing_is_reported)
{
	cistern *c = furnished(0);
	FILE *full = fopen("/dev/full", "w"), *readonly = fopen("/dev/null", "r");
	int format;

	ck_assert_ptr_nonnull(readonly);
	for (format = CISTERN_FORMAT_TEXT; format <= CISTERN_FORMAT_PROMETHEUS; format++) {
		errno = 0;
		ck_assert_int_eq(cistern_stats_print(c, readonly, (cistern_format)format), -1);
		ck_assert_int_eq(errno, EBADF);
		if (!full)
			continue;
		setvbuf(full, NULL, _IONBF, 0);
		clearerr(full);
		errno = 0;
		ck_assert_int_eq(cistern_stats_print(c, full, (cistern_format)format), -1);
		ck_assert_int_eq(errno, ENOSPC);
	}
	fclose(readonly);
	if (full)
		fclose(full);
	cistern_destroy(c);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("stats");

	cases_add_loop(s, a_new_interner_has_nothing, VARIANTS);
	cases_add_loop(s, a_string_adds_its_length_and_a_few_bytes, VARIANTS);
	support_add(s, the_figures_add_up_after_random_scripts);
	cases_add_loop(s, the_figures_add_up_after_threads, VARIANTS);
	support_add(s, a_hundred_thousand_strings_cost_few_bytes_each);
	support_add(s, counters_count);
	support_add(s, stats_of_null_are_invalid);
	support_add(s, a_shard_that_is_not_there_is_invalid);
	support_add(s, stats_know_longer_structs_and_refuse_shorter_ones);
	cases_add_loop(s, json_holds_every_figure, VARIANTS);
	support_add(s, python_reads_the_json);
	cases_add_loop(s, prometheus_lines_are_well_formed, VARIANTS);
	cases_add_loop(s, text_is_lines_for_people, VARIANTS);
	support_add(s, an_error_of_writing_is_reported);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "stats", make);
}
