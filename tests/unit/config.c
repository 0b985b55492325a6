/* SPDX-License-Identifier: MIT */
/* config.c - tests of lib/config.c: the table of knobs, text, the environment, what normalizing makes of a struct. */
#include "unit.h"

#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define NKNOBS 16u

/* Bytes of a config, so that a change of any field shows. */
static bool same(const cistern_config *a, const cistern_config *b)
{
	return memcmp(a, b, sizeof *a) == 0;
}

static cistern_config defaults(void)
{
	cistern_config config;

	memset(&config, 0, sizeof config); /* padding too */
	cistern_config_init(&config);
	return config;
}

START_TEST(defaults_are_those_of_the_initializer)
{
	cistern_config config;
	const cistern_config init = CISTERN_CONFIG_INIT;

	cistern_config_init(&config);
	ck_assert_uint_eq(config.size, sizeof config);
	ck_assert_uint_eq(config.shards, init.shards);
	ck_assert_uint_eq(config.growth_interval, 32);
	ck_assert_uint_eq(config.slab_size, 4096);
	ck_assert_uint_eq(config.slab_max, 1 << 20);
	ck_assert_uint_eq(config.max_bytes, sizeof(void *) >= 8 ? UINT64_C(16) << 30 : UINT64_C(256) << 20);
	ck_assert_uint_eq(config.memory_limit, 0);
	ck_assert_uint_eq(config.seed, CISTERN_SEED_RANDOM);
	ck_assert(!config.links);
	ck_assert(config.prefault);
}
END_TEST

START_TEST(every_knob_has_its_texts_and_a_key_of_its_own)
{
	for (size_t i = 0; i < NKNOBS; i++) {
		const struct config_knob *knob = config_knob_at(i);

		ck_assert_ptr_nonnull(knob);
		ck_assert(knob->key[0] && knob->default_text[0] && knob->accepts[0] && knob->help[0]);
		for (const char *p = knob->key; *p; p++)
			ck_assert((*p >= 'a' && *p <= 'z') || *p == '_');
		for (size_t k = 0; k < i; k++)
			ck_assert_str_ne(knob->key, config_knob_at(k)->key);
	}
	ck_assert_ptr_null(config_knob_at(NKNOBS));
	ck_assert_ptr_null(config_knob_at(SIZE_MAX));
}
END_TEST

START_TEST(every_default_text_gives_the_default_field)
{
	const cistern_config config = defaults();

	for (size_t i = 0; i < NKNOBS; i++) {
		const struct config_knob *knob = config_knob_at(i);
		cistern_config changed = config;

		ck_assert_msg(cistern_config_set(&changed, knob->key, knob->default_text) == 0, "%s",
		              knob->key);
		ck_assert_msg(same(&changed, &config), "%s=%s", knob->key, knob->default_text);
	}
}
END_TEST

/* Each knob sets its own field, all of it, and no other. */
START_TEST(every_knob_sets_its_own_field)
{
#define ROW(key, text, field, value) {key, text, offsetof(cistern_config, field), \
	                              sizeof(((cistern_config *)0)->field), value}
	static const struct {
		const char *key, *text;
		size_t offset, width;
		uint64_t value;
	} rows[] = {
	    ROW("shards", "65536", shards, 65536),
	    ROW("slab_size", "64M", slab_size, 64 << 20),
	    ROW("growth_interval", "1048576", growth_interval, 1 << 20),
	    ROW("slab_max", "1G", slab_max, 1 << 30),
	    ROW("max_bytes", "1024G", max_bytes, UINT64_C(1) << 40),
	    ROW("memory_limit", "18446744073709551615", memory_limit, UINT64_MAX),
	    ROW("max_len", "18446744073709551615", max_len, UINT64_MAX),
	    ROW("capacity", "4294967295", capacity, UINT32_MAX),
	    ROW("commit_chunk", "64M", commit_chunk, 64 << 20),
	    ROW("value_size", "8", value_size, 8),
	    ROW("links", "on", links, 1),
	    ROW("lock", "spin", lock, CISTERN_LOCK_SPIN),
	    ROW("hugepages", "always", hugepages, CISTERN_HUGEPAGES_ALWAYS),
	    ROW("prefault", "off", prefault, 0),
	    ROW("seed", "18446744073709551614", seed, UINT64_MAX - 1),
	    ROW("stats", "json", stats, CISTERN_STATS_JSON),
	};
#undef ROW
	const cistern_config config = defaults();

	ck_assert_uint_eq(sizeof rows / sizeof *rows, NKNOBS);
	for (size_t i = 0; i < NKNOBS; i++) {
		cistern_config changed = config, want = config;

		/* little-endian machines only differ in which bytes these are */
		if (rows[i].width == 8)
			memcpy((char *)&want + rows[i].offset, &rows[i].value, 8);
		else if (rows[i].width == 4)
			memcpy((char *)&want + rows[i].offset, &(uint32_t){(uint32_t)rows[i].value}, 4);
		else
			memcpy((char *)&want + rows[i].offset, &(uint8_t){(uint8_t)rows[i].value}, 1);
		ck_assert_msg(cistern_config_set(&changed, rows[i].key, rows[i].text) == 0, "%s",
		              rows[i].key);
		ck_assert_msg(same(&changed, &want), "%s=%s", rows[i].key, rows[i].text);
		ck_assert(!same(&changed, &config));
	}
}
END_TEST

START_TEST(text_out_of_range_or_shape_is_refused_and_changes_nothing)
{
	static const struct {
		const char *key, *text;
		int error;
	} rows[] = {
	    {"shards", "0", ERANGE},        {"shards", "65537", ERANGE},   {"shards", "", EINVAL},
	    {"shards", " 12", EINVAL},      {"shards", "12x", EINVAL},     {"shards", "-1", EINVAL},
	    {"shards", "1e3", EINVAL},      {"shards", "0x10", EINVAL},    {"shards", "4K", EINVAL},
	    {"shards", "99999999999999999999", ERANGE},                    {"shards", "Auto", EINVAL},
	    {"shards", "4294967297", ERANGE},                              {"shards", "+4", EINVAL},
	    {"slab_size", "255", ERANGE},   {"slab_size", "65M", ERANGE},  {"slab_size", "4k", EINVAL},
	    {"slab_size", "4KB", EINVAL},   {"slab_size", "K", EINVAL},    {"slab_size", "4T", EINVAL},
	    {"slab_size", "auto", EINVAL},  {"slab_size", "0", ERANGE},    {"slab_size", "4 K", EINVAL},
	    {"slab_size", "99999999999999999999K", ERANGE},
	    {"slab_size", "99999999999999999999KB", EINVAL},
	    {"slab_size", "18014398509481984K", ERANGE},  {"slab_size", "17179869184G", ERANGE},
	    {"growth_interval", "1048577", ERANGE},       {"growth_interval", "none", EINVAL},
	    {"slab_max", "2G", ERANGE},     {"slab_max", "4095", ERANGE},  {"slab_max", "0", ERANGE},
	    {"max_bytes", "65535", ERANGE}, {"max_bytes", "1025G", ERANGE}, {"max_bytes", "0", ERANGE},
	    {"memory_limit", "65535", ERANGE},            {"memory_limit", "18446744073709551616", ERANGE},
	    {"capacity", "4294967296", ERANGE},           {"capacity", "1K", EINVAL},
	    {"commit_chunk", "4095", ERANGE},             {"commit_chunk", "65M", ERANGE},
	    {"value_size", "1", ERANGE},    {"value_size", "5", ERANGE},   {"value_size", "9", ERANGE},
	    {"links", "1", EINVAL},         {"links", "ON", EINVAL},       {"links", "", EINVAL},
	    {"lock", "ticket", EINVAL},     {"hugepages", "on", EINVAL},   {"prefault", "yes", EINVAL},
	    {"seed", "18446744073709551615", ERANGE},     {"seed", "-1", EINVAL},
	    {"seed", "Random", EINVAL},     {"stats", "xml", EINVAL},      {"stats", "2", EINVAL},
	    {"", "1", ENOENT},              {"Shards", "1", ENOENT},       {"shard", "1", ENOENT},
	    {"size", "1", ENOENT},
	};
	const cistern_config config = defaults();

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		cistern_config changed = config;

		errno = 0;
		ck_assert_msg(cistern_config_set(&changed, rows[i].key, rows[i].text) == -1, "%s=%s",
		              rows[i].key, rows[i].text);
		ck_assert_msg(errno == rows[i].error, "%s=%s: errno %d", rows[i].key, rows[i].text, errno);
		ck_assert(same(&changed, &config));
	}
}
END_TEST

START_TEST(zero_is_taken_where_it_means_something)
{
	static const char *const keys[] = {"growth_interval", "memory_limit", "max_len", "capacity",
	                                   "commit_chunk",    "value_size",   "seed"};
	cistern_config config = defaults();

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		ck_assert_int_eq(cistern_config_set(&config, keys[i], "0"), 0);
	ck_assert_uint_eq(config.growth_interval, 0);
	ck_assert_uint_eq(config.seed, 0);
	ck_assert_int_eq(cistern_config_set(&config, "shards", "7"), 0);
	ck_assert_int_eq(cistern_config_set(&config, "shards", "auto"), 0);
	ck_assert_uint_eq(config.shards, 0);
}
END_TEST

START_TEST(null_arguments_give_einval)
{
	cistern_config config = defaults();

	errno = 0;
	ck_assert_int_eq(cistern_config_set(NULL, "shards", "1"), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(cistern_config_set(&config, NULL, "1"), -1);
	ck_assert_int_eq(cistern_config_set(&config, "shards", NULL), -1);
	errno = 0;
	ck_assert_int_eq(cistern_config_from_env(NULL), -1);
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST

START_TEST(slab_max_may_not_be_below_slab_size)
{
	cistern_config config = defaults();

	ck_assert_int_eq(cistern_config_set(&config, "slab_size", "2M"), 0);
	errno = 0;
	ck_assert_int_eq(cistern_config_set(&config, "slab_max", "1M"), -1);
	ck_assert_int_eq(errno, ERANGE);
	ck_assert_int_eq(cistern_config_set(&config, "slab_max", "2M"), 0);
}
END_TEST

/* ---------------------------------------------------------------- the environment */

/* cistern_config_from_env with stderr caught in text. */
static int from_env(cistern_config *config, char *text, size_t size)
{
	FILE *f = tmpfile();
	int keep = dup(STDERR_FILENO), refused;
	size_t n;

	ck_assert(f && keep >= 0);
	fflush(stderr);
	dup2(fileno(f), STDERR_FILENO);
	refused = cistern_config_from_env(config);
	fflush(stderr);
	dup2(keep, STDERR_FILENO);
	close(keep);
	rewind(f);
	n = fread(text, 1, size - 1, f);
	text[n] = '\0';
	fclose(f);
	return refused;
}

START_TEST(every_knob_has_a_variable)
{
	for (size_t i = 0; i < NKNOBS; i++) {
		static const char *const values[] = {"8", "on", "off", "spin", "json", "always", "512K"};
		const char *key = config_knob_at(i)->key;
		char name[64] = "CISTERN_", text[1000];
		const cistern_config config = defaults();
		bool changed = false;

		for (size_t n = strlen(name), k = 0; key[k]; k++) {
			name[n + k] = key[k] == '_' ? '_' : (char)(key[k] - 'a' + 'A');
			name[n + k + 1] = '\0';
		}
		for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
			cistern_config env = config, set = config;
			int refused, error;

			setenv(name, values[k], 1);
			refused = from_env(&env, text, sizeof text);
			error = cistern_config_set(&set, key, values[k]);
			ck_assert_int_eq(refused, error ? 1 : 0);
			ck_assert(same(&env, &set));
			ck_assert_int_eq(text[0] != '\0', refused);
			if (refused)
				ck_assert_ptr_nonnull(strstr(text, name));
			changed = changed || !same(&env, &config);
		}
		unsetenv(name);
		ck_assert_msg(changed, "%s", name);
	}
}
END_TEST

START_TEST(a_refused_variable_is_one_line_however_long)
{
	const cistern_config config = defaults();
	cistern_config env = config;
	char *huge = malloc(1 << 20), text[4000];
	size_t lines = 0;

	memset(huge, '9', (1 << 20) - 1);
	huge[(1 << 20) - 1] = '\0';
	setenv("CISTERN_SHARDS", huge, 1);
	setenv("CISTERN_LOCK", "", 1);
	setenv("CISTERN_CAPACITY", "12", 1);
	ck_assert_int_eq(from_env(&env, text, sizeof text), 2);
	for (const char *p = text; *p; p++)
		lines += *p == '\n';
	ck_assert_uint_eq(lines, 2);
	ck_assert_uint_lt(strlen(text), 400);
	ck_assert_ptr_nonnull(strstr(text, "1 to 65536"));
	ck_assert_uint_eq(env.shards, config.shards);
	ck_assert_uint_eq(env.capacity, 12);
	unsetenv("CISTERN_SHARDS");
	unsetenv("CISTERN_LOCK");
	unsetenv("CISTERN_CAPACITY");
	free(huge);
}
END_TEST

START_TEST(variables_of_fields_beyond_the_struct_are_left_alone)
{
	cistern_config config = defaults(), before;
	char text[1000];

	config.size = offsetof(cistern_config, value_size);
	before = config;
	setenv("CISTERN_LINKS", "nonsense", 1);
	setenv("CISTERN_VALUE_SIZE", "8", 1);
	ck_assert_int_eq(from_env(&config, text, sizeof text), 0);
	ck_assert_str_eq(text, "");
	ck_assert(same(&config, &before));
	errno = 0;
	ck_assert_int_eq(cistern_config_set(&config, "links", "on"), -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_int_eq(cistern_config_set(&config, "seed", "1"), 0);
	unsetenv("CISTERN_LINKS");
	unsetenv("CISTERN_VALUE_SIZE");
}
END_TEST

/* ---------------------------------------------------------------- normalizing */

START_TEST(null_stands_for_the_defaults)
{
	cistern_config out;
	const cistern_config init = CISTERN_CONFIG_INIT;

	ck_assert(config_normalize(NULL, &out));
	ck_assert_uint_eq(out.size, init.size);
	ck_assert_uint_eq(out.slab_size, init.slab_size);
	ck_assert_uint_eq(out.slab_max, init.slab_max);
	ck_assert_uint_eq(out.shards, 0);
}
END_TEST

START_TEST(shards_become_a_power_of_two)
{
	for (uint32_t shards = 0; shards <= 65536; shards += shards < 300 ? 1 : 251) {
		cistern_config config = defaults(), out;

		config.shards = shards;
		ck_assert(config_normalize(&config, &out));
		ck_assert_uint_eq(out.shards & (out.shards - 1), 0);
		ck_assert_uint_ge(out.shards, shards);
		ck_assert(shards == 0 || out.shards < 2 * shards);
	}
}
END_TEST

START_TEST(slab_size_becomes_a_multiple_of_64)
{
	for (uint64_t size = 256; size < 1000; size++) {
		cistern_config config = defaults(), out;

		config.slab_size = size;
		ck_assert(config_normalize(&config, &out));
		ck_assert_uint_eq(out.slab_size % 64, 0);
		ck_assert_uint_ge(out.slab_size, size);
		ck_assert_uint_lt(out.slab_size, size + 64);
	}
}
END_TEST

START_TEST(every_slab_size_and_slab_max_in_range_work)
{
	static const uint64_t sizes[] = {256, 257, 300, 4096, 4097};

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		for (uint64_t more = 0; more < 140; more += 7) {
			cistern_config config = defaults(), out;
			char text[24];
			cistern *c;

			config.slab_size = sizes[i];
			config.growth_interval = 1;
			config.shards = 1;
			/* what text may say a struct may say too */
			sprintf(text, "%llu", (unsigned long long)(sizes[i] + more));
			ck_assert_int_eq(cistern_config_set(&config, "slab_max", text), 0);
			ck_assert(config_normalize(&config, &out));
			ck_assert_uint_ge(out.slab_max, out.slab_size);
			ck_assert_uint_eq(out.slab_max % 64, 0);
			ck_assert_uint_lt(out.slab_max, sizes[i] + more + 64);
			c = cistern_create(&config);
			ck_assert_ptr_nonnull(c);
			for (uint32_t k = 0; k < 1000; k++)
				ck_assert(cistern_intern(c, (const char *)&k, sizeof k));
			unit_check_accounts(c);
			cistern_destroy(c);
		}
}
END_TEST

START_TEST(slab_max_follows_a_larger_slab_size_unless_it_was_set)
{
	cistern_config config = defaults(), out;

	config.slab_size = 4 << 20;
	ck_assert(config_normalize(&config, &out));
	ck_assert_uint_eq(out.slab_max, 4 << 20);
	config.slab_max = 2 << 20;
	memset(&out, 0x55, sizeof out);
	errno = 0;
	ck_assert(!config_normalize(&config, &out));
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(*(unsigned char *)&out, 0x55);
}
END_TEST

START_TEST(fields_out_of_range_are_refused)
{
#define BAD(field, value) {offsetof(cistern_config, field), sizeof(((cistern_config *)0)->field), value}
	static const struct {
		size_t offset, width;
		uint64_t value;
	} rows[] = {
	    BAD(shards, 65537), BAD(growth_interval, (1 << 20) + 1), BAD(slab_size, 255), BAD(slab_size, 0),
	    BAD(slab_size, (64 << 20) + 1), BAD(slab_max, 0), BAD(slab_max, (1 << 30) + 1),
	    BAD(max_bytes, 65535), BAD(max_bytes, (UINT64_C(1) << 40) + 1), BAD(memory_limit, 65535),
	    BAD(capacity, UINT64_C(1) << 32), BAD(commit_chunk, 4095), BAD(commit_chunk, (64 << 20) + 1),
	    BAD(value_size, 6), BAD(value_size, 16), BAD(lock, 2), BAD(hugepages, 3), BAD(stats, 3),
	};
#undef BAD

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		cistern_config config = defaults(), out;
		uint32_t narrow = (uint32_t)rows[i].value;

		if (rows[i].width == 8)
			memcpy((char *)&config + rows[i].offset, &rows[i].value, 8);
		else
			memcpy((char *)&config + rows[i].offset, &narrow, 4);
		errno = 0;
		ck_assert_msg(!config_normalize(&config, &out), "row %zu", i);
		ck_assert_int_eq(errno, EINVAL);
		ck_assert_ptr_null(cistern_create(&config));
		ck_assert_int_eq(errno, EINVAL);
	}
}
END_TEST

START_TEST(structs_of_other_versions_are_told_apart)
{
	struct {
		cistern_config config;
		unsigned char tail[16];
	} larger = {.config = defaults()};
	cistern_config out;

	larger.config.size = sizeof larger;
	ck_assert(config_normalize(&larger.config, &out));
	ck_assert_uint_eq(out.size, sizeof out);
	for (size_t i = 0; i < sizeof larger.tail; i++) {
		larger.tail[i] = 1;
		errno = 0;
		ck_assert(!config_normalize(&larger.config, &out));
		ck_assert_int_eq(errno, E2BIG);
		larger.tail[i] = 0;
	}
	for (size_t size = 0; size < sizeof out; size++) {
		larger.config.size = size;
		errno = 0;
		ck_assert(!config_normalize(&larger.config, &out));
		ck_assert_int_eq(errno, EINVAL);
	}
}
END_TEST

START_TEST(shards_and_slabs_are_fitted_to_a_small_range)
{
	static const uint64_t ranges[] = {64 << 10, 1 << 20, 16 << 20};

	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
		for (uint32_t shards = 1; shards <= 65536; shards *= 16) {
			cistern_config config = defaults(), fitted = {.size = sizeof fitted};
			cistern *c;

			config.max_bytes = ranges[i];
			config.shards = shards;
			config.slab_size = 64 << 10;
			c = cistern_create(&config);
			ck_assert_ptr_nonnull(c);
			ck_assert_int_eq(cistern_config_of(c, &fitted), 0);
			ck_assert_uint_le(fitted.slab_size * fitted.shards, fitted.max_bytes / 4);
			ck_assert_uint_ge(fitted.slab_size, 256);
			ck_assert_uint_ge(fitted.slab_max, fitted.slab_size);
			ck_assert(cistern_intern(c, "a", 1));
			cistern_destroy(c);
		}
}
END_TEST

START_TEST(knobs_are_found_by_their_names)
{
	char name[CONFIG_VARIABLE_MAX];

	for (size_t i = 0; config_knob_at(i); i++)
		ck_assert_uint_eq(config_knob_named(config_knob_at(i)->key), i);
	ck_assert_ptr_null(config_knob_at(config_knob_named("slab")));
	ck_assert_ptr_null(config_knob_at(config_knob_named("")));
	config_variable(name, "slab_size");
	ck_assert_str_eq(name, "CISTERN_SLAB_SIZE");
}
END_TEST

/* What a knob says of itself is what it takes back. */
START_TEST(knob_text_reads_back)
{
	cistern_config config, again;
	char text[32];
	const struct config_knob *knob;

	cistern_config_init(&config);
	for (size_t i = 0; (knob = config_knob_at(i)) != NULL; i++) {
		config_knob_text(&config, i, text, sizeof text);
		ck_assert_str_eq(text, knob->default_text);
	}
	ck_assert_int_eq(cistern_config_set(&config, "shards", "8"), 0);
	ck_assert_int_eq(cistern_config_set(&config, "slab_size", "1536"), 0);
	ck_assert_int_eq(cistern_config_set(&config, "memory_limit", "3M"), 0);
	ck_assert_int_eq(cistern_config_set(&config, "value_size", "4"), 0);
	ck_assert_int_eq(cistern_config_set(&config, "lock", "spin"), 0);
	ck_assert_int_eq(cistern_config_set(&config, "seed", "0"), 0);
	cistern_config_init(&again);
	for (size_t i = 0; (knob = config_knob_at(i)) != NULL; i++) {
		config_knob_text(&config, i, text, sizeof text);
		if (strcmp(text, "auto") != 0)
			ck_assert_int_eq(cistern_config_set(&again, knob->key, text), 0);
	}
	for (size_t i = 0; config_knob_at(i); i++) {
		char other[32];

		config_knob_text(&config, i, text, sizeof text);
		config_knob_text(&again, i, other, sizeof other);
		ck_assert_str_eq(text, other);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("config");

	support_add(s, knobs_are_found_by_their_names);
	support_add(s, knob_text_reads_back);
	support_add(s, defaults_are_those_of_the_initializer);
	support_add(s, every_knob_has_its_texts_and_a_key_of_its_own);
	support_add(s, every_default_text_gives_the_default_field);
	support_add(s, every_knob_sets_its_own_field);
	support_add(s, text_out_of_range_or_shape_is_refused_and_changes_nothing);
	support_add(s, zero_is_taken_where_it_means_something);
	support_add(s, null_arguments_give_einval);
	support_add(s, slab_max_may_not_be_below_slab_size);
	support_add(s, every_knob_has_a_variable);
	support_add(s, a_refused_variable_is_one_line_however_long);
	support_add(s, variables_of_fields_beyond_the_struct_are_left_alone);
	support_add(s, null_stands_for_the_defaults);
	support_add(s, shards_become_a_power_of_two);
	support_add(s, slab_size_becomes_a_multiple_of_64);
	support_add(s, every_slab_size_and_slab_max_in_range_work);
	support_add(s, slab_max_follows_a_larger_slab_size_unless_it_was_set);
	support_add(s, fields_out_of_range_are_refused);
	support_add(s, structs_of_other_versions_are_told_apart);
	support_add(s, shards_and_slabs_are_fitted_to_a_small_range);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "config", make);
}
