/* SPDX-License-Identifier: MIT */
/* stats.c - tests of lib/stats.c: every field is reported in every format, the accounts balance, shards add up. */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>

/* Every field of cistern_stats but size; the assertion says when one is missing here. */
#define FIELDS(X)                                                                                  \
	X(strings) X(payload_bytes) X(overhead_bytes) X(slack_bytes) X(table_bytes)                \
	X(retired_bytes) X(free_bytes) X(control_bytes) X(committed_bytes) X(emptied_bytes)        \
	X(reserved_bytes) X(capacity_bytes) X(reference_shift) X(shards) X(slots) X(slabs)         \
	X(growths) X(rekeys) X(lock_waits) X(max_probe) X(seed_fixed)

static const struct field {
	const char *name;
	size_t offset;
} fields[] = {
#define X(name) {#name, offsetof(cistern_stats, name)},
    FIELDS(X)
#undef X
};
#define NFIELDS (sizeof fields / sizeof *fields)
_Static_assert(sizeof(size_t) != 8 || sizeof(cistern_stats) == 8 * (NFIELDS + 1), "FIELDS is complete");

/* Strings of all sizes in a few shards, so that no figure that can differ from 0 is 0. */
static cistern *open_busy(cistern_config config)
{
	cistern *c = cistern_create(&config);
	static char large[9000];
	uint32_t i;

	ck_assert_ptr_nonnull(c);
	for (i = 0; i < 20000; i++)
		ck_assert(cistern_intern(c, (const char *)&i, sizeof i));
	for (i = 0; i < 50; i++) {
		memcpy(large, &i, sizeof i);
		ck_assert(cistern_intern(c, large, 1000 + i * 160));
	}
	return c;
}

static uint64_t field_of(const cistern_stats *stats, size_t i)
{
	uint64_t value;

	memcpy(&value, (const char *)stats + fields[i].offset, sizeof value);
	return value;
}

/* What cistern_stats_print writes. To be freed. */
static char *printed(const cistern *c, cistern_format format)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(cistern_stats_print(c, f, format), 0);
	fclose(f);
	return text;
}

/* The number behind a prefix that must occur exactly once. */
static uint64_t number_behind(const char *text, const char *prefix)
{
	const char *at = strstr(text, prefix);

	ck_assert_msg(at != NULL, "no %s", prefix);
	ck_assert_msg(strstr(at + 1, prefix) == NULL, "two of %s", prefix);
	return strtoull(at + strlen(prefix), NULL, 10);
}

START_TEST(every_format_reports_every_field)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	cistern *c;
	cistern_stats stats;
	char *text, *json, *prometheus;

	config.shards = 4;
	config.seed = 7;
	c = open_busy(config);
	text = printed(c, CISTERN_FORMAT_TEXT);
	json = printed(c, CISTERN_FORMAT_JSON);
	prometheus = printed(c, CISTERN_FORMAT_PROMETHEUS);
	stats = figures(c);
	for (size_t i = 0; i < NFIELDS; i++) {
		uint64_t value = field_of(&stats, i);
		char prefix[100];
		const char *total;

		sprintf(prefix, "\"%s\": ", fields[i].name);
		ck_assert_uint_eq(number_behind(json, prefix), value);
		sprintf(prefix, "\n%s ", fields[i].name);
		if (i > 0)
			ck_assert_uint_eq(number_behind(text, prefix), value);
		sprintf(prefix, "# TYPE cistern_%s_total counter\n", fields[i].name);
		total = strstr(prometheus, prefix) ? "_total" : "";
		sprintf(prefix, "# TYPE cistern_%s%s %s\ncistern_%s%s ", fields[i].name, total,
		        *total ? "counter" : "gauge", fields[i].name, total);
		ck_assert_uint_eq(number_behind(prometheus, prefix), value);
		sprintf(prefix, "# HELP cistern_%s%s ", fields[i].name, total);
		ck_assert_ptr_nonnull(strstr(prometheus, prefix));
	}
	ck_assert_uint_eq(strtoull(text + strlen("strings"), NULL, 10), stats.strings);
	ck_assert_int_eq(json[0], '{');
	ck_assert_str_eq(json + strlen(json) - 2, "}\n");
	ck_assert_int_eq(prometheus[strlen(prometheus) - 1], '\n');
	free(text);
	free(json);
	free(prometheus);
	cistern_destroy(c);
}
END_TEST

START_TEST(accounts_balance_in_every_configuration)
{
	for (unsigned i = 0; i < 24; i++) {
		cistern_config config = CISTERN_CONFIG_INIT;
		cistern *c;

		config.shards = i % 2 ? 1 : 64;
		config.value_size = i % 3 * 4;
		config.links = i % 4 > 1;
		config.hugepages = (cistern_hugepages)(i % 3);
		config.commit_chunk = i % 5 ? 0 : 100000;
		config.max_bytes = UINT64_C(1) << (28 + i % 12);
		config.slab_size = 256 + i * 64;
		config.growth_interval = i % 4;
		config.capacity = i % 7 ? 0 : 30000;
		config.lock = (cistern_lock)(i % 2);
		config.prefault = i % 3 != 1;
		c = cistern_create(&config);
		ck_assert_ptr_nonnull(c);
		unit_check_accounts(c);
		cistern_destroy(c);
		c = open_busy(config);
		unit_check_accounts(c);
		ck_assert_uint_eq(figures(c).strings, 20050);
		cistern_destroy(c);
	}
}
END_TEST

START_TEST(figures_mean_what_they_say)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	uint64_t payload = 20000 * 4, committed;
	cistern_stats s;
	cistern *c;

	config.shards = 4;
	config.seed = 7;
	config.max_bytes = UINT64_C(16) << 30;
	c = open_busy(config);
	for (uint32_t i = 0; i < 50; i++)
		payload += 1000 + i * 160;
	s = figures(c);
	ck_assert_uint_eq(s.size, sizeof s);
	ck_assert_uint_eq(s.payload_bytes, payload);
	ck_assert_uint_ge(s.overhead_bytes, 20050 * 5);
	ck_assert_uint_eq(s.shards, 4);
	ck_assert_uint_eq(s.seed_fixed, 1);
	ck_assert_uint_ge(s.slots, s.strings * 8 / 7);
	ck_assert_uint_eq(s.table_bytes, s.slots / 12 * 64);
	ck_assert_uint_ge(s.max_probe, 1);
	ck_assert_uint_ge(s.slabs, 50 - 19); /* those above a quarter of a slab have their own */
	ck_assert_uint_eq(s.rekeys, 0);
	ck_assert_uint_ge(s.growths, 4 * 6);
	ck_assert_uint_le(s.capacity_bytes, s.reserved_bytes);
	if (s.capacity_bytes == config.max_bytes)
		ck_assert_uint_eq(s.reference_shift, 2);
	committed = atomic_load(&c->common.strings.committed) + atomic_load(&c->common.tables.committed);
	ck_assert_uint_eq(s.committed_bytes, committed);
	cistern_destroy(c);

	c = cistern_create(NULL);
	s = figures(c);
	ck_assert_uint_eq(s.seed_fixed, 0);
	ck_assert_uint_eq(s.strings + s.payload_bytes + s.overhead_bytes + s.slack_bytes + s.table_bytes, 0);
	cistern_destroy(c);
}
END_TEST

START_TEST(shards_add_up_to_the_whole)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	cistern_shard_stats sum = {.size = 0}, one = {.size = sizeof one};
	cistern_stats s;
	cistern *c;

	config.shards = 16;
	c = open_busy(config);
	for (unsigned i = 0; i < 16; i++) {
		ck_assert_int_eq(cistern_shard_stats_get(c, i, &one), 0);
		ck_assert_uint_ge(one.strings, 500);
		sum.strings += one.strings;
		sum.payload_bytes += one.payload_bytes;
		sum.overhead_bytes += one.overhead_bytes;
		sum.slack_bytes += one.slack_bytes;
		sum.table_bytes += one.table_bytes;
		sum.retired_bytes += one.retired_bytes;
		sum.emptied_bytes += one.emptied_bytes;
		sum.slots += one.slots;
		sum.slabs += one.slabs;
		sum.growths += one.growths;
		if (sum.max_probe < one.max_probe)
			sum.max_probe = one.max_probe;
	}
	s = figures(c);
	ck_assert_uint_eq(s.strings, sum.strings);
	ck_assert_uint_eq(s.payload_bytes, sum.payload_bytes);
	ck_assert_uint_eq(s.overhead_bytes, sum.overhead_bytes);
	ck_assert_uint_eq(s.slack_bytes, sum.slack_bytes);
	ck_assert_uint_eq(s.table_bytes, sum.table_bytes);
	ck_assert_uint_eq(s.retired_bytes, sum.retired_bytes);
	ck_assert_uint_eq(s.emptied_bytes, sum.emptied_bytes);
	ck_assert_uint_eq(s.slots, sum.slots);
	ck_assert_uint_eq(s.slabs, sum.slabs);
	ck_assert_uint_eq(s.growths, sum.growths);
	ck_assert_uint_eq(s.max_probe, sum.max_probe);
	cistern_destroy(c);
}
END_TEST

static void busy(support_worker *worker)
{
	for (uint32_t i = 0; i < 20000; i++)
		support_expect(worker, cistern_intern(worker->arg, (const char *)&i, sizeof i) != NULL);
}

START_TEST(busy_locks_are_counted)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	uint64_t waits = 0;

	config.shards = 1;
	for (int i = 0; i < 50 && waits == 0; i++) {
		cistern *c = cistern_create(&config);

		support_run(4, busy, c);
		waits = figures(c).lock_waits;
		ck_assert_uint_eq(figures(c).strings, 20000);
		cistern_destroy(c);
	}
	ck_assert_uint_gt(waits, 0);
}
END_TEST

START_TEST(wrong_arguments_are_refused)
{
	struct {
		cistern_stats stats;
		uint64_t tail;
	} larger = {.stats = {.size = sizeof larger}};
	cistern_shard_stats shard = {.size = sizeof shard};
	cistern *c = cistern_create(NULL);

	ck_assert_int_eq(cistern_stats_get(c, &larger.stats), 0);
	ck_assert_uint_eq(larger.stats.size, sizeof larger);
	larger.tail = 1;
	errno = 0;
	ck_assert_int_eq(cistern_stats_get(c, &larger.stats), -1);
	ck_assert_int_eq(errno, E2BIG);
	larger.stats.size = sizeof(cistern_stats) - 1;
	ck_assert_int_eq(cistern_stats_get(c, &larger.stats), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(cistern_stats_get(NULL, &larger.stats), -1);
	ck_assert_int_eq(cistern_stats_get(c, NULL), -1);
	ck_assert_int_eq(cistern_shard_stats_get(c, (unsigned)figures(c).shards, &shard), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(cistern_shard_stats_get(NULL, 0, &shard), -1);
	ck_assert_int_eq(cistern_shard_stats_get(c, 0, NULL), -1);
	shard.size = 8;
	ck_assert_int_eq(cistern_shard_stats_get(c, 0, &shard), -1);
	ck_assert_int_eq(cistern_stats_print(NULL, stderr, CISTERN_FORMAT_TEXT), -1);
	ck_assert_int_eq(cistern_stats_print(c, NULL, CISTERN_FORMAT_TEXT), -1);
	errno = 0;
	ck_assert_int_eq(cistern_stats_print(c, stderr, (cistern_format)3), -1);
	ck_assert_int_eq(errno, EINVAL);
	cistern_destroy(c);
}
END_TEST

START_TEST(an_old_error_of_the_stream_is_not_one_of_printing)
{
	static const cistern_format formats[] = {CISTERN_FORMAT_TEXT, CISTERN_FORMAT_JSON,
	                                         CISTERN_FORMAT_PROMETHEUS};
	cistern *c = cistern_create(NULL);

	for (size_t i = 0; i < 3; i++) {
		FILE *f = fopen("/dev/null", "w");

		ck_assert_ptr_nonnull(f);
		ck_assert_int_eq(fgetc(f), EOF); /* not open for reading */
		ck_assert_int_ne(ferror(f), 0);
		ck_assert_int_eq(cistern_stats_print(c, f, formats[i]), 0);
		fclose(f);
		f = fopen("/dev/null", "r");
		ck_assert_ptr_nonnull(f);
		errno = 0;
		ck_assert_int_eq(cistern_stats_print(c, f, formats[i]), -1);
		ck_assert_int_eq(errno, EBADF);
		fclose(f);
	}
	cistern_destroy(c);
}
END_TEST

START_TEST(a_full_device_is_an_error)
{
	cistern *c = cistern_create(NULL);
	FILE *f = fopen("/dev/full", "w");

	if (f) {
		errno = 0;
		ck_assert_int_eq(cistern_stats_print(c, f, CISTERN_FORMAT_JSON), -1);
		ck_assert_int_eq(errno, ENOSPC);
		fclose(f);
	}
	cistern_destroy(c);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("stats");

	support_add(s, every_format_reports_every_field);
	support_add(s, accounts_balance_in_every_configuration);
	support_add(s, figures_mean_what_they_say);
	support_add(s, shards_add_up_to_the_whole);
	support_add(s, busy_locks_are_counted);
	support_add(s, wrong_arguments_are_refused);
	support_add(s, an_old_error_of_the_stream_is_not_one_of_printing);
	support_add(s, a_full_device_is_an_error);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "stats", make);
}
