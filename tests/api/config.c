/* SPDX-License-Identifier: MIT */
/*
 * config.c - knobs: as text, from the environment, in the struct; what is accepted, what is refused
 * and how, and what cistern_config_of says came of them.
 */
#include "cases.h"
#include "child.h"
#include "figures.h"
#include "support.h"
#include "variants.h"
#include "words.h"

#include <cistern.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define KIB          UINT64_C(1024)
#define MIB          (KIB * 1024)
#define GIB          (MIB * 1024)

enum kind { COUNTING, BYTES, WORDS };

static const struct knob {
	const char *key;
	size_t offset, size;
	enum kind kind;
	const char *range[3]; /* spellings of the end of what is accepted, one of which a report
				 must have */
} knobs[] = {
#define FIELD(name) #name, offsetof(cistern_config, name), sizeof(((cistern_config *)0)->name)
    {FIELD(shards), COUNTING, {"65536", "64K", NULL}},
    {FIELD(growth_interval), COUNTING, {"1048576", "1M", "2^20"}},
    {FIELD(slab_size), BYTES, {"64M", "67108864", NULL}},
    {FIELD(slab_max), BYTES, {"1G", "1073741824", "1024M"}},
    {FIELD(max_bytes), BYTES, {"1024G", "1099511627776", "1T"}},
    {FIELD(memory_limit), BYTES, {"64K", "65536", NULL}},
    {FIELD(max_len), BYTES, {"0", NULL, NULL}},
    {FIELD(capacity), COUNTING, {"0", NULL, NULL}},
    {FIELD(commit_chunk), BYTES, {"64M", "67108864", NULL}},
    {FIELD(seed), COUNTING, {"random", NULL, NULL}},
    {FIELD(value_size), COUNTING, {"8", NULL, NULL}},
    {FIELD(lock), WORDS, {"spin", NULL, NULL}},
    {FIELD(hugepages), WORDS, {"always", NULL, NULL}},
    {FIELD(stats), WORDS, {"json", NULL, NULL}},
    {FIELD(links), WORDS, {"off", NULL, NULL}},
    {FIELD(prefault), WORDS, {"off", NULL, NULL}},
#undef FIELD
};

static uint64_t field(const cistern_config *config, const char *key)
{
	size_t i;

	for (i = 0; i < COUNT(knobs); i++) {
		const char *at = (const char *)config + knobs[i].offset;
		uint64_t wide;
		uint32_t narrow;
		bool flag;

		if (strcmp(knobs[i].key, key) != 0)
			continue;
		if (knobs[i].size == sizeof(flag)) {
			memcpy(&flag, at, sizeof(flag));
			return flag;
		}
		if (knobs[i].size == sizeof(narrow)) {
			memcpy(&narrow, at, sizeof(narrow));
			return narrow;
		}
		memcpy(&wide, at, sizeof(wide));
		return wide;
	}
	ck_abort_msg("the test has no knob %s", key);
	return 0;
}

/* By field: what padding holds is nobody's business. */
static bool same(const cistern_config *a, const cistern_config *b)
{
	size_t i;

	for (i = 0; i < COUNT(knobs); i++)
		if (field(a, knobs[i].key) != field(b, knobs[i].key))
			return false;
	return a->size == b->size;
}

static cistern *create(const cistern_config *config)
{
	cistern *c = cistern_create(config);

	if (!c)
		ck_abort_msg("cistern_create: %s", strerror(errno));
	return c;
}

static cistern_config config_of(const cistern *c)
{
	cistern_config config;

	memset(&config, 0, sizeof(config));
	config.size = sizeof(config);
	ck_assert_int_eq(cistern_config_of(c, &config), 0);
	return config;
}

/* ---------------------------------------------------------------- defaults */

START_TEST(init_and_initializer_agree_on_the_defaults)
{
	cistern_config by_call, by_macro = CISTERN_CONFIG_INIT;
	size_t i;

	memset(&by_call, 0xa5, sizeof(by_call));
	cistern_config_init(&by_call);
	ck_assert_uint_eq(by_call.size, sizeof(cistern_config));
	ck_assert_uint_eq(by_macro.size, sizeof(cistern_config));
	for (i = 0; i < COUNT(knobs); i++)
		ck_assert_msg(field(&by_call, knobs[i].key) == field(&by_macro, knobs[i].key),
			      "default of %s", knobs[i].key);
	ck_assert_uint_eq(by_macro.seed, CISTERN_SEED_RANDOM);
	ck_assert(by_macro.prefault);
	ck_assert(!by_macro.links);
}
END_TEST

START_TEST(the_table_of_this_test_covers_the_struct)
{
	size_t i, sum = sizeof(size_t);

	for (i = 0; i < COUNT(knobs); i++)
		sum += knobs[i].size;
	ck_assert_uint_le(sum, sizeof(cistern_config));
	ck_assert_uint_gt(sum + 8, sizeof(cistern_config)); /* but for padding at the end */
}
END_TEST

/* ---------------------------------------------------------------- text */

static const struct {
	const char *key, *value;
	uint64_t expect;
} accepted[] = {
    {"shards", "1", 1},
    {"shards", "3", 3},
    {"shards", "65536", 65536},
    {"shards", "00016", 16},
    {"slab_size", "256", 256},
    {"slab_size", "4K", 4096},
    {"slab_size", "64M", 64 * MIB},
    {"slab_size", "65536K", 64 * MIB},
    {"growth_interval", "0", 0},
    {"growth_interval", "1048576", 1048576},
    {"slab_max", "4096", 4096},
    {"slab_max", "1G", GIB},
    {"max_bytes", "64K", 65536},
    {"max_bytes", "65536", 65536},
    {"memory_limit", "64K", 65536},
    {"memory_limit", "1G", GIB},
    {"max_len", "0", 0},
    {"max_len", "1", 1},
    {"max_len", "16M", 16 * MIB},
    {"capacity", "0", 0},
    {"capacity", "1000000", 1000000},
    {"commit_chunk", "0", 0},
    {"commit_chunk", "4K", 4096},
    {"commit_chunk", "64M", 64 * MIB},
    {"value_size", "0", 0},
    {"value_size", "4", 4},
    {"value_size", "8", 8},
    {"links", "on", true},
    {"links", "off", false},
    {"lock", "mutex", CISTERN_LOCK_MUTEX},
    {"lock", "spin", CISTERN_LOCK_SPIN},
    {"hugepages", "never", CISTERN_HUGEPAGES_NEVER},
    {"hugepages", "auto", CISTERN_HUGEPAGES_AUTO},
    {"hugepages", "always", CISTERN_HUGEPAGES_ALWAYS},
    {"prefault", "on", true},
    {"prefault", "off", false},
    {"seed", "random", CISTERN_SEED_RANDOM},
    {"seed", "0", 0},
    {"seed", "42", 42},
    {"seed", "18446744073709551614", UINT64_MAX - 1},
    {"stats", "off", CISTERN_STATS_OFF},
    {"stats", "text", CISTERN_STATS_TEXT},
    {"stats", "json", CISTERN_STATS_JSON},
};

START_TEST(values_in_range_are_accepted)
{
	size_t i, k;

	for (i = 0; i < COUNT(accepted); i++) {
		cistern_config config, before;

		cistern_config_init(&config);
		cistern_config_init(&before);
		ck_assert_msg(cistern_config_set(&config, accepted[i].key, accepted[i].value) == 0,
			      "%s=%s: errno %d", accepted[i].key, accepted[i].value, errno);
		ck_assert_msg(field(&config, accepted[i].key) == accepted[i].expect,
			      "%s=%s became %llu", accepted[i].key, accepted[i].value,
			      (unsigned long long)field(&config, accepted[i].key));
		for (k = 0; k < COUNT(knobs); k++) {
			if (strcmp(knobs[k].key, accepted[i].key) != 0)
				ck_assert_msg(field(&config, knobs[k].key) ==
						  field(&before, knobs[k].key),
					      "%s=%s changed %s", accepted[i].key,
					      accepted[i].value, knobs[k].key);
		}
	}
}
END_TEST

START_TEST(the_largest_range_is_a_tebibyte)
{
	cistern_config config = CISTERN_CONFIG_INIT;

	if (sizeof(void *) >= 8) {
		ck_assert_int_eq(cistern_config_set(&config, "max_bytes", "1024G"), 0);
		ck_assert_uint_eq(config.max_bytes, 1024 * GIB);
	}
	errno = 0;
	ck_assert_int_eq(cistern_config_set(&config, "max_bytes", "1025G"), -1);
	ck_assert_int_eq(errno, ERANGE);
}
END_TEST

static const struct {
	const char *key, *value;
} out_of_range[] = {
    {"shards", "0"},
    {"shards", "65537"},
    {"shards", "2147483648"},
    {"shards", "4294967297"}, /* 1, if somebody cut it to 32 bits */
    {"slab_size", "0"},
    {"slab_size", "255"},
    {"slab_size", "67108865"},
    {"slab_size", "65M"},
    {"growth_interval", "1048577"},
    {"growth_interval", "4294967296"},
    {"slab_max", "0"},
    {"slab_max", "1"},
    {"slab_max", "1073741825"},
    {"slab_max", "2G"},
    {"max_bytes", "0"},
    {"max_bytes", "63K"},
    {"max_bytes", "65535"},
    {"memory_limit", "1"},
    {"memory_limit", "65535"},
    {"commit_chunk", "1"},
    {"commit_chunk", "4095"},
    {"commit_chunk", "67108865"},
    {"commit_chunk", "65M"},
    /* products that wrap to 0 or to something small */
    {"max_len", "17179869184G"},
    {"max_len", "18014398509481984K"},
    {"memory_limit", "17179869184G"},
    {"max_bytes", "17179869185G"},
    {"commit_chunk", "17592186044416M"},
    /* numbers that are none of 64 bits */
    {"capacity", "18446744073709551616"},
    {"max_len", "99999999999999999999"},
    {"memory_limit", "99999999999999999999"},
    {"seed", "18446744073709551616"},
    {"shards", "18446744073709551617"},
    {"growth_interval", "99999999999999999999999999999999999999999"},
};

START_TEST(values_out_of_range_are_erange_and_change_nothing)
{
	size_t i;

	for (i = 0; i < COUNT(out_of_range); i++) {
		cistern_config config = CISTERN_CONFIG_INIT, before;

		memcpy(&before, &config, sizeof(config));
		errno = 0;
		ck_assert_msg(
		    cistern_config_set(&config, out_of_range[i].key, out_of_range[i].value) == -1,
		    "%s=%s was accepted", out_of_range[i].key, out_of_range[i].value);
		ck_assert_msg(errno == ERANGE, "%s=%s: errno %d", out_of_range[i].key,
			      out_of_range[i].value, errno);
		ck_assert(same(&before, &config));
	}
}
END_TEST

static const char *const malformed[] = {
    "",      " ",      " 12",     "12 ",  "12x",       "-1",  "+1",       "1e9",     "0x10",
    "1.5",   "K",      "1KK",     "4KB",  "4 K",       "\t8", "8\n",      "8,",      "0b1",
    "1_000", "eight",  "NaN",     "1G1",  "--8",       "8K8", "\xd9\xa8", "4096M x", "M",
    "true",  "yes",    "ON",      "On",   "on ",       " on", "of",       "offf",    "mutexx",
    "spi",   "RANDOM", "random1", "%s%n", "text json",
};

START_TEST(malformed_values_are_einval_for_every_knob_and_change_nothing)
{
	size_t k, i;

	for (k = 0; k < COUNT(knobs); k++) {
		for (i = 0; i < COUNT(malformed); i++) {
			cistern_config config = CISTERN_CONFIG_INIT, before;

			memcpy(&before, &config, sizeof(config));
			errno = 0;
			ck_assert_msg(cistern_config_set(&config, knobs[k].key, malformed[i]) == -1,
				      "%s=\"%s\" was accepted", knobs[k].key, malformed[i]);
			ck_assert_msg(errno == EINVAL, "%s=\"%s\": errno %d", knobs[k].key,
				      malformed[i], errno);
			ck_assert(same(&before, &config));
		}
	}
}
END_TEST

/* Whether these are of the wrong form or out of range is a matter of taste; accepted they must not
 * be. */
START_TEST(strange_values_are_refused)
{
	static const struct {
		const char *key, *value;
	} strange[] = {
	    {"value_size", "1"},
	    {"value_size", "2"},
	    {"value_size", "16"},
	    {"value_size", "5"},
	    {"links", "1"},
	    {"links", "0"},
	    {"prefault", "2"},
	    {"lock", "0"},
	    {"hugepages", "1"},
	    {"stats", "1"},
	    {"shards", "1K"},
	    {"value_size", "4K"},
	    {"growth_interval", "on"},
	    {"seed", "-2"},
	    {"seed", "off"},
	    {"lock", "ticket"},
	    {"max_bytes", "1P"},
	};
	char *huge = need(malloc(MIB + 1));
	size_t i, k;

	for (i = 0; i < COUNT(strange); i++) {
		cistern_config config = CISTERN_CONFIG_INIT, before;

		memcpy(&before, &config, sizeof(config));
		errno = 0;
		ck_assert_msg(cistern_config_set(&config, strange[i].key, strange[i].value) == -1,
			      "%s=%s was accepted", strange[i].key, strange[i].value);
		ck_assert(errno == EINVAL || errno == ERANGE);
		ck_assert(same(&before, &config));
	}
	for (i = 0; i < 2; i++) {
		memset(huge, i ? '1' : 'a', MIB);
		huge[MIB] = '\0';
		for (k = 0; k < COUNT(knobs); k++) {
			cistern_config config = CISTERN_CONFIG_INIT, before;

			memcpy(&before, &config, sizeof(config));
			errno = 0;
			ck_assert_int_eq(cistern_config_set(&config, knobs[k].key, huge), -1);
			ck_assert(errno == EINVAL || errno == ERANGE);
			ck_assert(same(&before, &config));
		}
	}
	free(huge);
}
END_TEST

START_TEST(unknown_knobs_are_enoent)
{
	static const char *const unknown[] = {"nosuch",         "",         "SHARDS",  "shards ",
					      " shards",        "shard",    "shardss", "size",
					      "CISTERN_SHARDS", "slab-size"};
	cistern_config config = CISTERN_CONFIG_INIT, before;
	size_t i;

	memcpy(&before, &config, sizeof(config));
	for (i = 0; i < COUNT(unknown); i++) {
		errno = 0;
		ck_assert_msg(cistern_config_set(&config, unknown[i], "4") == -1, "\"%s\"",
			      unknown[i]);
		ck_assert_int_eq(errno, ENOENT);
	}
	ck_assert(same(&before, &config));
}
END_TEST

START_TEST(null_arguments_are_einval)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	cistern *c = create(NULL);

	errno = 0;
	ck_assert_int_eq(cistern_config_set(NULL, "shards", "4"), -1);
	ck_assert_int_eq(errno, EINVAL);
	errno = 0;
	ck_assert_int_eq(cistern_config_set(&config, NULL, "4"), -1);
	ck_assert_int_eq(errno, EINVAL);
	errno = 0;
	ck_assert_int_eq(cistern_config_set(&config, "shards", NULL), -1);
	ck_assert_int_eq(errno, EINVAL);
	errno = 0;
	ck_assert_int_eq(cistern_config_from_env(NULL), -1);
	ck_assert_int_eq(errno, EINVAL);
	errno = 0;
	ck_assert_int_eq(cistern_config_of(NULL, &config), -1);
	ck_assert_int_eq(errno, EINVAL);
	errno = 0;
	ck_assert_int_eq(cistern_config_of(c, NULL), -1);
	ck_assert_int_eq(errno, EINVAL);
	cistern_destroy(c);
}
END_TEST

/* ---------------------------------------------------------------- environment */

static const char *variable(const char *key)
{
	static char name[64];
	size_t i, at = (size_t)snprintf(name, sizeof(name), "CISTERN_");

	for (i = 0; key[i]; i++)
		name[at + i] = (char)(key[i] >= 'a' && key[i] <= 'z' ? key[i] - 32 : key[i]);
	name[at + i] = '\0';
	return name;
}

static void clear_environment(void)
{
	size_t k;

	for (k = 0; k < COUNT(knobs); k++)
		unsetenv(variable(knobs[k].key));
}

static int take_from_environment(void *arg)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	size_t i;

	(void)arg;
	clear_environment();
	for (i = 0; i < COUNT(accepted); i++) {
		cistern_config_init(&config);
		setenv(variable(accepted[i].key), accepted[i].value, 1);
		CHILD_CHECK(cistern_config_from_env(&config) == 0);
		CHILD_CHECK(field(&config, accepted[i].key) == accepted[i].expect);
		unsetenv(variable(accepted[i].key));
	}
	/* all at once, over what was set before */
	cistern_config_init(&config);
	config.capacity = 77;
	config.shards = 8;
	setenv("CISTERN_SHARDS", "32", 1);
	setenv("CISTERN_LINKS", "on", 1);
	setenv("CISTERN_LOCK", "spin", 1);
	CHILD_CHECK(cistern_config_from_env(&config) == 0);
	CHILD_CHECK(config.shards == 32 && config.links && config.lock == CISTERN_LOCK_SPIN);
	CHILD_CHECK(config.capacity == 77);
	return 0;
}

START_TEST(the_environment_sets_every_knob_in_silence)
{
	struct child child;

	child_run(&child, take_from_environment, NULL);
	ck_assert(child_ok(&child));
	ck_assert_str_eq(child.err, "");
	ck_assert_str_eq(child.out, "");
	child_free(&child);
}
END_TEST

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static int refuse_everything(void *arg)
{
	cistern_config config = CISTERN_CONFIG_INIT, before;
	size_t k;

	for (k = 0; k < COUNT(knobs); k++)
		setenv(variable(knobs[k].key), arg, 1);
	memcpy(&before, &config, sizeof(config));
	CHILD_CHECK(cistern_config_from_env(&config) == (int)COUNT(knobs));
	CHILD_CHECK(same(&before, &config));
	return 0;
}

START_TEST(a_refused_value_is_reported_in_one_line_with_its_range)
{
	struct child child;
	size_t k;

	child_run(&child, refuse_everything, (void *)"12x");
	ck_assert(child_ok(&child));
	ck_assert_uint_eq(count_lines(child.err), COUNT(knobs));
	for (k = 0; k < COUNT(knobs); k++) {
		char *line = strstr(child.err, variable(knobs[k].key)), *end;
		size_t i;
		bool named = false;

		ck_assert_msg(line != NULL, "no line for %s", knobs[k].key);
		end = strchr(line, '\n');
		ck_assert_ptr_nonnull(end);
		*end = '\0';
		for (i = 0; i < COUNT(knobs[k].range) && knobs[k].range[i]; i++)
			named |= strstr(line, knobs[k].range[i]) != NULL;
		ck_assert_msg(named, "the range of %s is not in: %s", knobs[k].key, line);
		*end = '\n';
	}
	child_free(&child);
}
END_TEST

/* Values that would spoil the report: too long, a newline inside, control and format characters. */
START_TEST(a_report_stays_one_line_whatever_the_value)
{
	char *huge = need(malloc(MIB + 1));
	const char *values[] = {"",     "1\n2", "\n\n\n", "\033[31m", "%s%s%n",
				"0x10", "-1",   "1e9",    huge};
	size_t i;

	memset(huge, 'a', MIB);
	huge[MIB] = '\0';
	for (i = 0; i < COUNT(values); i++) {
		struct child child;

		child_run(&child, refuse_everything, (void *)(uintptr_t)values[i]);
		ck_assert(child_ok(&child));
		ck_assert_msg(count_lines(child.err) == COUNT(knobs), "value %zu: %zu lines", i,
			      count_lines(child.err));
		ck_assert_msg(child.err_len < COUNT(knobs) * 512, "value %zu: %zu bytes", i,
			      child.err_len);
		ck_assert_ptr_null(strchr(child.err, '\033'));
		ck_assert_uint_eq(strlen(child.err), child.err_len);
		child_free(&child);
	}
	free(huge);
}
END_TEST

static int refuse_one_of_three(void *arg)
{
	cistern_config config = CISTERN_CONFIG_INIT;

	(void)arg;
	clear_environment();
	setenv("CISTERN_SHARDS", "64", 1);
	setenv("CISTERN_SLAB_SIZE", "1", 1);
	setenv("CISTERN_MAX_LEN", "1K", 1);
	setenv("CISTERN_NO_SUCH_KNOB", "1", 1);
	CHILD_CHECK(cistern_config_from_env(&config) == 1);
	CHILD_CHECK(config.shards == 64 && config.slab_size == 4096 && config.max_len == 1024);
	return 0;
}

START_TEST(a_refused_value_leaves_the_others_standing)
{
	struct child child;

	child_run(&child, refuse_one_of_three, NULL);
	ck_assert(child_ok(&child));
	ck_assert_uint_eq(count_lines(child.err), 1);
	ck_assert_ptr_nonnull(strstr(child.err, "CISTERN_SLAB_SIZE"));
	child_free(&child);
}
END_TEST

static int create_beside_environment(void *arg)
{
	cistern_config config = {.size = sizeof(config)};
	cistern *c;

	(void)arg;
	setenv("CISTERN_SHARDS", "2", 1);
	setenv("CISTERN_MAX_LEN", "bogus", 1);
	c = cistern_create(NULL);
	CHILD_CHECK(c);
	CHILD_CHECK(cistern_config_of(c, &config) == 0);
	CHILD_CHECK(config.shards >= 16);
	cistern_destroy(c);
	return 0;
}

START_TEST(create_does_not_read_the_environment)
{
	struct child child;

	child_run(&child, create_beside_environment, NULL);
	ck_assert(child_ok(&child));
	ck_assert_str_eq(child.err, "");
	child_free(&child);
}
END_TEST

/* ---------------------------------------------------------------- the struct */

START_TEST(fields_out_of_range_are_einval)
{
	int i;

	for (i = 0; i < 20; i++) {
		cistern_config config = CISTERN_CONFIG_INIT;

		switch (i) {
		case 0:
			config.shards = 65537;
			break;
		case 1:
			config.shards = UINT32_C(1) << 31;
			break;
		case 2:
			config.shards = UINT32_MAX;
			break;
		case 3:
			config.slab_size = 255;
			break;
		case 4:
			config.slab_size = 0;
			break;
		case 5:
			config.slab_size = 64 * MIB + 1;
			break;
		case 6:
			config.growth_interval = (1 << 20) + 1;
			break;
		case 7:
			config.slab_max = GIB + 1;
			break;
		case 8:
			config.max_bytes = 65535;
			break;
		case 9:
			config.max_bytes = 0;
			break;
		case 10:
			config.max_bytes = 1024 * GIB + 1;
			break;
		case 11:
			config.max_bytes = UINT64_MAX;
			break;
		case 12:
			config.memory_limit = 65535;
			break;
		case 13:
			config.commit_chunk = 4095;
			break;
		case 14:
			config.commit_chunk = 64 * MIB + 1;
			break;
		case 15:
			config.value_size = 5;
			break;
		case 16:
			config.lock = (cistern_lock)7;
			break;
		case 17:
			config.hugepages = (cistern_hugepages)3;
			break;
		case 18:
			config.stats = (cistern_stats_exit)3;
			break;
		default:
			config.size = 0;
		}
		errno = 0;
		ck_assert_msg(cistern_create(&config) == NULL, "field case %d was accepted", i);
		ck_assert_msg(errno == EINVAL, "field case %d: errno %d", i, errno);
	}
}
END_TEST

START_TEST(memory_limit_below_the_own_structures_is_einval)
{
	cistern_config config = CISTERN_CONFIG_INIT;

	config.memory_limit = 65536;
	config.shards = 65536;
	errno = 0;
	ck_assert_ptr_null(cistern_create(&config));
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST

START_TEST(capacity_that_the_limits_cannot_hold_is_enospc)
{
	cistern_config config = CISTERN_CONFIG_INIT;

	config.capacity = 10000000;
	config.memory_limit = MIB;
	errno = 0;
	ck_assert_ptr_null(cistern_create(&config));
	ck_assert_int_eq(errno, ENOSPC);
	config.memory_limit = 0;
	config.max_bytes = MIB;
	errno = 0;
	ck_assert_ptr_null(cistern_create(&config));
	ck_assert_int_eq(errno, ENOSPC);
}
END_TEST

START_TEST(boundary_values_make_a_working_interner)
{
	int i;

	for (i = 0; i < 16; i++) {
		cistern_config config = CISTERN_CONFIG_INIT;
		char data[1200];
		cistern *c;
		int k;

		switch (i) {
		case 0:
			config.shards = 65536;
			break;
		case 1:
			config.shards = 1;
			break;
		case 2:
			config.slab_size = 256;
			config.slab_max = 256;
			break;
		case 3:
			config.slab_size = 64 * MIB;
			config.slab_max = GIB;
			break;
		case 4:
			config.growth_interval = 1 << 20;
			break;
		case 5:
			config.growth_interval = 1;
			config.slab_max = GIB;
			break;
		case 6:
			config.max_bytes = sizeof(void *) >= 8 ? 1024 * GIB : GIB;
			break;
		case 7:
			config.max_bytes = 65537;
			config.shards = 1;
			break;
		case 8:
			config.commit_chunk = 4096;
			break;
		case 9:
			config.commit_chunk = 64 * MIB;
			break;
		case 10:
			config.seed = 0;
			break;
		case 11:
			config.seed = UINT64_MAX - 1;
			break;
		case 12:
			config.memory_limit = UINT64_MAX;
			break;
		case 13:
			config.max_len = UINT64_MAX;
			break;
		case 14:
			config.slab_size = 257;
			break;
		default:
			config.slab_max = config.slab_size;
		}
		c = cistern_create(&config);
		ck_assert_msg(c != NULL, "boundary case %d: errno %d", i, errno);
		memset(data, 'b', sizeof(data));
		for (k = 0; k < 20; k++)
			ck_assert_msg(cistern_intern(c, data, (size_t)k * 59) != NULL,
				      "boundary case %d: errno %d", i, errno);
		figures_check(c);
		cistern_destroy(c);
	}
}
END_TEST

/* ---------------------------------------------------------------- versions of the struct */

struct longer {
	cistern_config config;
	unsigned char tail[64];
};

START_TEST(a_longer_struct_is_accepted_while_its_tail_is_zero)
{
	struct longer longer;
	cistern *c;
	size_t i;

	memset(&longer, 0, sizeof(longer));
	cistern_config_init(&longer.config);
	longer.config.size = sizeof(longer);
	longer.config.shards = 2;
	c = create(&longer.config);
	ck_assert_uint_eq(config_of(c).shards, 2);
	ck_assert_int_eq(cistern_config_of(c, &longer.config), 0);
	ck_assert_uint_eq(longer.config.size, sizeof(longer));
	for (i = 0; i < sizeof(longer.tail); i++) {
		ck_assert_uint_eq(longer.tail[i], 0);
		longer.tail[i] = 1;
		errno = 0;
		ck_assert_ptr_null(cistern_create(&longer.config));
		ck_assert_int_eq(errno, E2BIG);
		errno = 0;
		ck_assert_int_eq(cistern_config_of(c, &longer.config), -1);
		ck_assert_int_eq(errno, E2BIG);
		ck_assert_uint_eq(longer.tail[i], 1);
		longer.tail[i] = 0;
	}
	cistern_destroy(c);
}
END_TEST

/* This is the first version, so whatever is shorter is none. Later versions have to take this one's
 * size. */
START_TEST(a_struct_shorter_than_the_first_version_is_einval)
{
	static const size_t sizes[] = {0, 1, sizeof(size_t) - 1, sizeof(size_t),
				       sizeof(cistern_config) - 8};
	cistern *c = create(NULL);
	size_t i;

	for (i = 0; i < COUNT(sizes); i++) {
		cistern_config config = CISTERN_CONFIG_INIT, before;

		config.size = sizes[i];
		config.slab_size = 12345; /* nothing may be stored over it */
		memcpy(&before, &config, sizeof(config));
		errno = 0;
		ck_assert_ptr_null(cistern_create(&config));
		ck_assert_int_eq(errno, EINVAL);
		errno = 0;
		ck_assert_int_eq(cistern_config_of(c, &config), -1);
		ck_assert_int_eq(errno, EINVAL);
		errno = 0;
		ck_assert_int_eq(cistern_default_configure(&config), -1);
		ck_assert_int_eq(errno, EINVAL);
		ck_assert(same(&before, &config));
	}
	cistern_destroy(c);
}
END_TEST

START_TEST(text_for_a_shorter_struct_stays_inside_it)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	cistern_config *shorter;
	size_t i;

	config.size = offsetof(cistern_config, value_size);
	shorter = (cistern_config *)(void *)support_guarded(&config, config.size);
	for (i = 0; i < COUNT(accepted); i++) {
		int answer;

		errno = 0;
		answer = cistern_config_set(shorter, accepted[i].key, accepted[i].value);
		if (strcmp(accepted[i].key, "shards") == 0) {
			ck_assert_int_eq(answer, 0);
			ck_assert_uint_eq(shorter->shards, accepted[i].expect);
		}
		if (strcmp(accepted[i].key, "links") == 0) {
			ck_assert_int_eq(answer, -1);
			ck_assert_int_eq(errno, ENOENT);
		}
	}
	ck_assert_int_ge(cistern_config_from_env(shorter), 0);
	support_guarded_free((char *)shorter, config.size);
}
END_TEST

/* ---------------------------------------------------------------- slab_max and slab_size */

START_TEST(a_larger_slab_size_takes_the_default_slab_max_along)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	cistern *c;

	ck_assert_int_eq(cistern_config_set(&config, "slab_size", "4M"), 0);
	c = create(&config);
	ck_assert_uint_eq(config_of(c).slab_size, 4 * MIB);
	ck_assert_uint_eq(config_of(c).slab_max, 4 * MIB);
	cistern_destroy(c);
	config.slab_max = 8 * MIB;
	c = create(&config);
	ck_assert_uint_eq(config_of(c).slab_max, 8 * MIB);
	cistern_destroy(c);
}
END_TEST

START_TEST(a_slab_max_below_the_slab_size_is_refused)
{
	cistern_config config = CISTERN_CONFIG_INIT;

	ck_assert_int_eq(cistern_config_set(&config, "slab_size", "4M"), 0);
	errno = 0;
	ck_assert_int_eq(cistern_config_set(&config, "slab_max", "2M"), -1);
	ck_assert_int_eq(errno, ERANGE);
	ck_assert_int_eq(cistern_config_set(&config, "slab_max", "4M"), 0);
	config.slab_max = 2 * MIB;
	errno = 0;
	ck_assert_ptr_null(cistern_create(&config));
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST

/* ---------------------------------------------------------------- effective values */

START_TEST(config_of_tells_what_is_in_effect)
{
	cistern_config config = CISTERN_CONFIG_INIT, effective;
	cistern *c;

	config.shards = 3;
	config.slab_size = 257;
	config.growth_interval = 5;
	config.max_len = 1000;
	config.value_size = 4;
	config.links = true;
	config.prefault = false;
	config.lock = CISTERN_LOCK_SPIN;
	config.hugepages = CISTERN_HUGEPAGES_NEVER;
	config.seed = 9;
	config.memory_limit = GIB;
	c = create(&config);
	effective = config_of(c);
	ck_assert_uint_eq(effective.size, sizeof(effective));
	ck_assert_uint_eq(effective.shards, 4);
	ck_assert_uint_eq(effective.slab_size, 320);
	ck_assert_uint_eq(effective.growth_interval, 5);
	ck_assert_uint_eq(effective.max_len, 1000);
	ck_assert_uint_eq(effective.value_size, 4);
	ck_assert(effective.links);
	ck_assert(!effective.prefault);
	ck_assert_int_eq(effective.lock, CISTERN_LOCK_SPIN);
	ck_assert_int_eq(effective.hugepages, CISTERN_HUGEPAGES_NEVER);
	ck_assert_uint_eq(effective.seed, 9);
	ck_assert_uint_eq(effective.memory_limit, GIB);
	ck_assert_uint_eq(figures(c).shards, 4);
	ck_assert_uint_eq(figures(c).seed_fixed, 1);
	cistern_destroy(c);
}
END_TEST

START_TEST(automatic_shards_are_a_power_of_two_from_16_to_256)
{
	cistern *c = create(NULL);
	uint32_t shards = config_of(c).shards;

	ck_assert_uint_ge(shards, 16);
	ck_assert_uint_le(shards, 256);
	ck_assert_uint_eq(shards & (shards - 1), 0);
	ck_assert_uint_eq(figures(c).shards, shards);
	ck_assert_uint_eq(figures(c).seed_fixed, 0);
	ck_assert_uint_eq(config_of(c).seed, CISTERN_SEED_RANDOM);
	cistern_destroy(c);
}
END_TEST

START_TEST(slabs_of_all_shards_take_at_most_a_quarter_of_the_range)
{
	cistern_config config = CISTERN_CONFIG_INIT, effective;
	cistern *c;

	config.max_bytes = MIB;
	config.shards = 256;
	c = create(&config);
	effective = config_of(c);
	ck_assert_uint_le(effective.shards * effective.slab_size * 4, figures(c).capacity_bytes);
	ck_assert_uint_ge(effective.slab_size, 256);
	cistern_destroy(c);
}
END_TEST

START_TEST(shards_round_up_to_a_power_of_two)
{
	static const uint32_t asked[] = {1, 2, 3, 4, 5, 7, 8, 9, 100, 1000, 40000};
	static const uint32_t given[] = {1, 2, 4, 4, 8, 8, 8, 16, 128, 1024, 65536};
	size_t i;

	for (i = 0; i < COUNT(asked); i++) {
		cistern_config config = CISTERN_CONFIG_INIT;
		cistern *c;

		config.shards = asked[i];
		c = create(&config);
		ck_assert_uint_eq(config_of(c).shards, given[i]);
		cistern_destroy(c);
	}
}
END_TEST

/* The effective values are valid, and settle nothing further when they are used again. */
START_TEST(effective_values_make_the_same_interner_again)
{
	cistern *first = variant_create(_i), *second;
	cistern_config one = config_of(first), two;
	size_t k;

	cistern_destroy(first); /* its address space may be needed */
	second = create(&one);
	two = config_of(second);
	for (k = 0; k < COUNT(knobs); k++)
		ck_assert_msg(field(&one, knobs[k].key) == field(&two, knobs[k].key), "%s",
			      knobs[k].key);
	cistern_destroy(second);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("config");

	support_add(s, init_and_initializer_agree_on_the_defaults);
	support_add(s, the_table_of_this_test_covers_the_struct);
	support_add(s, values_in_range_are_accepted);
	support_add(s, the_largest_range_is_a_tebibyte);
	support_add(s, values_out_of_range_are_erange_and_change_nothing);
	support_add(s, malformed_values_are_einval_for_every_knob_and_change_nothing);
	support_add(s, strange_values_are_refused);
	support_add(s, unknown_knobs_are_enoent);
	support_add(s, null_arguments_are_einval);
	support_add(s, the_environment_sets_every_knob_in_silence);
	support_add(s, a_refused_value_is_reported_in_one_line_with_its_range);
	support_add(s, a_report_stays_one_line_whatever_the_value);
	support_add(s, a_refused_value_leaves_the_others_standing);
	support_add(s, create_does_not_read_the_environment);
	support_add(s, fields_out_of_range_are_einval);
	support_add(s, memory_limit_below_the_own_structures_is_einval);
	support_add(s, capacity_that_the_limits_cannot_hold_is_enospc);
	support_add(s, boundary_values_make_a_working_interner);
	support_add(s, a_longer_struct_is_accepted_while_its_tail_is_zero);
	support_add(s, a_struct_shorter_than_the_first_version_is_einval);
	support_add(s, text_for_a_shorter_struct_stays_inside_it);
	support_add(s, a_larger_slab_size_takes_the_default_slab_max_along);
	support_add(s, a_slab_max_below_the_slab_size_is_refused);
	support_add(s, config_of_tells_what_is_in_effect);
	support_add(s, automatic_shards_are_a_power_of_two_from_16_to_256);
	support_add(s, slabs_of_all_shards_take_at_most_a_quarter_of_the_range);
	support_add(s, shards_round_up_to_a_power_of_two);
	cases_add_loop(s, effective_values_make_the_same_interner_again, VARIANTS);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "config", make);
}
