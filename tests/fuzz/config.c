/* SPDX-License-Identifier: MIT */
/*
 * config.c - fuzz target: text for knobs, by cistern_config_set and by the environment, against
 * what the manual says that each knob accepts; then an interner of what came out.
 *
 *   line by line: key=value; every second line comes again as an environment variable
 *
 * The table is written from cistern_config(3), not from lib/config.c.
 */
#include "fuzz.h"

#include "model.h"
#include "tools.h"

#include <ctype.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

const char fuzz_target[] = "config";

enum { LINES = 64 };

/* What a knob accepts: words, or else a number, with K, M or G behind it where it is a size. */
static const struct rule {
	const char *key;
	size_t offset, width;
	const char *words; /* with a blank behind each; their numbers are 0, 1 ... */
	bool size;
	uint64_t least, most;
	bool zero;    /* 0 is accepted beside them */
	uint64_t gap; /* not 0: only multiples of it */
} rules[] = {
#define FIELD(name) #name, offsetof(cistern_config, name), sizeof(((cistern_config *)0)->name)
    {FIELD(shards), "auto ", false, 1, 65536, false, 0},
    {FIELD(slab_size), NULL, true, 256, 64 << 20, false, 0},
    {FIELD(growth_interval), NULL, false, 0, 1 << 20, false, 0},
    {FIELD(slab_max), NULL, true, 0, 1 << 30, false, 0}, /* from slab_size on */
    {FIELD(max_bytes), NULL, true, 64 << 10, UINT64_C(1) << 40, false, 0},
    {FIELD(memory_limit), NULL, true, 64 << 10, UINT64_MAX, true, 0},
    {FIELD(max_len), NULL, true, 0, UINT64_MAX, false, 0},
    {FIELD(capacity), NULL, false, 0, UINT32_MAX, false, 0},
    {FIELD(commit_chunk), NULL, true, 4096, 64 << 20, true, 0},
    {FIELD(value_size), NULL, false, 0, 8, false, 4},
    {FIELD(links), "off on ", false, 1, 0, false, 0},
    {FIELD(lock), "mutex spin ", false, 1, 0, false, 0},
    {FIELD(hugepages), "never auto always ", false, 1, 0, false, 0},
    {FIELD(prefault), "off on ", false, 1, 0, false, 0},
    {FIELD(seed), NULL, false, 0, UINT64_MAX - 1, false, 0}, /* or random */
    {FIELD(stats), "off text json ", false, 1, 0, false, 0},
#undef FIELD
};
enum { NRULES = sizeof(rules) / sizeof(rules[0]), NOBODY = NRULES };

static size_t rule_named(const char *key)
{
	size_t i = 0;

	while (i < NRULES && strcmp(rules[i].key, key) != 0)
		i++;
	return i;
}

static uint64_t field(const cistern_config *config, size_t i)
{
	const char *at = (const char *)config + rules[i].offset;
	uint64_t wide;
	uint32_t narrow;
	bool flag;

	if (rules[i].width == sizeof(flag)) {
		memcpy(&flag, at, sizeof(flag));
		return flag;
	}
	if (rules[i].width == sizeof(narrow)) {
		memcpy(&narrow, at, sizeof(narrow));
		return narrow;
	}
	memcpy(&wide, at, sizeof(wide));
	return wide;
}

/* The number of value among words, or -1. */
static int word_number(const char *words, const char *value)
{
	size_t len = strlen(value);
	int number = 0;

	for (; words && *words; words += strcspn(words, " ") + 1, number++)
		if (len == strcspn(words, " ") && memcmp(words, value, len) == 0)
			return number;
	return -1;
}

/* What the manual says: 0 and the field's new value, or an error number. */
static int judge(const cistern_config *config, size_t i, const char *value, uint64_t *out)
{
	const struct rule *rule = &rules[i];
	size_t digits = strspn(value, "0123456789"), k;
	const char *unit = value + digits;
	int word = word_number(rule->words, value);
	bool over = false;
	uint64_t n = 0;

	if (word >= 0) {
		*out = (uint64_t)word;
		return 0;
	}
	if (strcmp(rule->key, "seed") == 0 && strcmp(value, "random") == 0) {
		*out = CISTERN_SEED_RANDOM;
		return 0;
	}
	if (digits == 0 || (*unit && (!rule->size || unit[1] || !strchr("KMG", *unit))) ||
	    (rule->words && rule->most == 0))
		return EINVAL;
	for (k = 0; k < digits; k++)
		over |= __builtin_mul_overflow(n, 10, &n) ||
			__builtin_add_overflow(n, (uint64_t)(value[k] - '0'), &n);
	for (k = *unit == 'K' ? 1 : *unit == 'M' ? 2 : *unit == 'G' ? 3 : 0; k > 0; k--)
		over |= __builtin_mul_overflow(n, 1024, &n);
	if (over || ((n < rule->least || n > rule->most) && !(n == 0 && rule->zero)) ||
	    (rule->gap && n % rule->gap))
		return ERANGE;
	if (strcmp(rule->key, "slab_max") == 0 && n < config->slab_size)
		return ERANGE;
	*out = n;
	return 0;
}

/* after is before, but for field i, which is value. */
static void check_changed(const cistern_config *before, const cistern_config *after, size_t i,
			  uint64_t value)
{
	size_t k;

	for (k = 0; k < NRULES; k++)
		FUZZ_CHECK(field(after, k) == (k == i ? value : field(before, k)));
	FUZZ_CHECK(after->size == before->size);
}

static void set(cistern_config *config, const char *key, const char *value)
{
	cistern_config before = *config;
	size_t i = rule_named(key);
	uint64_t want = 0;
	int error = i == NOBODY ? ENOENT : judge(config, i, value, &want);
	int done;

	errno = 0;
	done = cistern_config_set(config, key, value);
	FUZZ_CHECK(done == (error ? -1 : 0) && (!error || errno == error));
	check_changed(&before, config, error ? NOBODY : i, want);
}

/* ---------------------------------------------------------------- the environment */

/* What is written to stderr goes here meanwhile. */
static int reports = -1, stderr_kept;

static void catch_reports(void)
{
	if (reports < 0)
		reports = memfd_create("reports", MFD_CLOEXEC);
	stderr_kept = dup(STDERR_FILENO);
	FUZZ_CHECK(reports >= 0 && stderr_kept >= 0 && ftruncate(reports, 0) == 0);
	FUZZ_CHECK(lseek(reports, 0, SEEK_SET) == 0 && dup2(reports, STDERR_FILENO) >= 0);
}

/* Lines that were written; each is whole and has no control characters. */
static int release_reports(void)
{
	static char text[64 * NRULES * 8];
	ssize_t len;
	int lines = 0;

	FUZZ_CHECK(dup2(stderr_kept, STDERR_FILENO) >= 0 && close(stderr_kept) == 0);
	len = pread(reports, text, sizeof(text), 0);
	FUZZ_CHECK(len >= 0 && len < (ssize_t)sizeof(text) && (len == 0 || text[len - 1] == '\n'));
	for (ssize_t i = 0; i < len; i++) {
		unsigned char ch = (unsigned char)text[i];

		lines += ch == '\n';
		FUZZ_CHECK(ch == '\n' || (ch >= 0x20 && ch != 0x7f));
	}
	return lines;
}

static void variable_of(char name[64], size_t i)
{
	size_t k;

	snprintf(name, 64, "CISTERN_%s", rules[i].key);
	for (k = 8; name[k]; k++)
		name[k] = (char)toupper((unsigned char)name[k]);
}

/* values[i]: of the variable of knob i, NULL where there is none. */
static void read_environment(cistern_config *config, char *const values[NRULES])
{
	cistern_config before = *config, expected = *config;
	int refused = 0, got;
	char name[64];
	size_t i;

	for (i = 0; i < NRULES; i++) {
		uint64_t want;

		variable_of(name, i);
		if (!values[i]) {
			unsetenv(name);
			continue;
		}
		FUZZ_CHECK(setenv(name, values[i], 1) == 0);
		/* field by field, in the order of the manual */
		if (judge(&expected, i, values[i], &want) != 0)
			refused++;
		else
			FUZZ_CHECK(cistern_config_set(&expected, rules[i].key, values[i]) == 0);
	}
	catch_reports();
	got = cistern_config_from_env(config);
	FUZZ_CHECK(release_reports() == refused && got == refused);
	for (i = 0; i < NRULES; i++) {
		uint64_t want = field(&before, i);

		if (values[i])
			judge(&expected, i, values[i], &want);
		FUZZ_CHECK(field(config, i) == field(&expected, i) && field(config, i) == want);
		variable_of(name, i);
		unsetenv(name);
	}
}

/* ---------------------------------------------------------------- what came out */

static void try_config(cistern_config *config)
{
	static const uint64_t default_slab_max = 1 << 20;
	struct model m;
	char text[16];
	int i;

	if (config->slab_max < config->slab_size && config->slab_max != default_slab_max) {
		/* slab_size was set after it */
		FUZZ_CHECK(!cistern_create(config) && errno == EINVAL);
		return;
	}
	/* what would take the machine's memory, or long */
	if (config->capacity > 10000)
		config->capacity = 10000;
	if (UNDER_TSAN && config->max_bytes > 4 << 20)
		config->max_bytes = 4 << 20;
	if (config->shards > 4096)
		config->shards = 4096;
	if (!model_open(&m, config))
		return;
	for (i = 0; i < 40; i++) {
		int len = snprintf(text, sizeof(text), "%d", i * i * i);
		const char *str;

		errno = 0;
		str = cistern_intern(m.c, text, (size_t)len);
		model_interned(&m, text, (size_t)len, str, errno);
	}
	model_check(&m);
	model_close(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	char *values[NRULES] = {NULL};
	char *text = need(malloc(size + 1)), *line, *next;
	size_t n = 0;

	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	for (line = text; line && n < LINES; line = next, n++) {
		char *value;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		value = strchr(line, '=');
		if (!value)
			continue;
		*value++ = '\0';
		set(&config, line, value);
		if (n % 2 && rule_named(line) != NOBODY)
			values[rule_named(line)] = value;
	}
	if (n % 2) /* otherwise on top of what was set */
		cistern_config_init(&config);
	read_environment(&config, values);
	try_config(&config);
	free(text);
	return 0;
}
