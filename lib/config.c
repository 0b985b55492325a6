/* SPDX-License-Identifier: MIT */
/*
 * config.c - the one table of knobs. cistern_config_set, the environment, the check that cistern_create makes,
 * "--help" of the benches and (through a test) the man page all follow it: a knob is added here, as a
 * field at the end of cistern_config, and nowhere else in the library but where it takes effect.
 *
 * No state, no locks. A config belongs to its caller's thread.
 */
#include "config.h"

#include "os.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum kind {
	KIND_NUMBER, /* decimal digits */
	KIND_SIZE,   /* the same, and K, M or G */
	KIND_CHOICE, /* a word of a list; the field holds its position */
	KIND_SEED    /* a number or "random" */
};

static const char *const switches[] = {"off", "on", NULL};
static const char *const locks[] = {"mutex", "spin", NULL};
static const char *const huge[] = {"never", "auto", "always", NULL};
static const char *const reports[] = {"off", "text", "json", NULL};

#define FIELD(name) offsetof(cistern_config, name), sizeof(((cistern_config *)0)->name)
#define KIB UINT64_C(1024)
#define MIB (KIB * KIB)
#define GIB (MIB * KIB)

static const struct knob {
	struct config_knob public;
	size_t offset, width;
	enum kind kind;
	uint64_t least, most; /* 0 is allowed beside them where zero says so */
	bool zero;            /* 0 stands for none, never or automatic ... */
	bool zero_text;       /* ... and text may say it too */
	const char *const *choices;
} knobs[] = {
    {{"shards", "auto", "1 to 65536, rounded up to a power of two",
      "locked parts; auto: from the processors, 16 to 256"},
     FIELD(shards), KIND_NUMBER, 1, 65536, true, false, NULL},
    {{"slab_size", "4K", "256 to 64M, rounded up to a multiple of 64",
      "bytes a shard takes at a time"},
     FIELD(slab_size), KIND_SIZE, 256, 64 * MIB, false, false, NULL},
    {{"growth_interval", "32", "0 (never) to 1048576",
      "slabs of a shard before its slab size doubles"},
     FIELD(growth_interval), KIND_NUMBER, 1, MIB, true, true, NULL},
    {{"slab_max", "1M", "slab_size to 1G", "slab size never doubles beyond"},
     FIELD(slab_max), KIND_SIZE, 256, GIB, false, false, NULL},
    {{"max_bytes", sizeof(void *) >= 8 ? "16G" : "256M", "64K to 1024G",
      "address range for strings"},
     FIELD(max_bytes), KIND_SIZE, 64 * KIB, 1024 * GIB, false, false, NULL},
    {{"memory_limit", "0", "0 (none), or 64K and more",
      "bytes committed at most, tables included"},
     FIELD(memory_limit), KIND_SIZE, 64 * KIB, UINT64_MAX, true, true, NULL},
    {{"max_len", "0", "0 (none), or 1 and more", "longest string accepted"},
     FIELD(max_len), KIND_SIZE, 1, UINT64_MAX, true, true, NULL},
    {{"capacity", "0", "0 to 4294967295", "strings to size the tables for at once"},
     FIELD(capacity), KIND_NUMBER, 1, UINT32_MAX, true, true, NULL},
    {{"commit_chunk", "0", "0 (1/64 of what is committed), or 4K to 64M",
      "bytes committed at a time"},
     FIELD(commit_chunk), KIND_SIZE, 4 * KIB, 64 * MIB, true, true, NULL},
    {{"value_size", "0", "0, 4 or 8", "bytes of value kept with each string"},
     FIELD(value_size), KIND_NUMBER, 4, 8, true, true, NULL},
    {{"links", "off", "on or off", "room for a counterpart with each string"},
     FIELD(links), KIND_CHOICE, 0, 0, false, false, switches},
    {{"lock", "mutex", "mutex or spin", "how writers of one shard exclude each other"},
     FIELD(lock), KIND_CHOICE, 0, 0, false, false, locks},
    {{"hugepages", "auto", "never, auto or always", "transparent huge pages"},
     FIELD(hugepages), KIND_CHOICE, 0, 0, false, false, huge},
    {{"prefault", "on", "on or off", "touch fresh memory in batches"},
     FIELD(prefault), KIND_CHOICE, 0, 0, false, false, switches},
    {{"seed", "random", "random, or 0 to 18446744073709551614",
      "a number makes runs reproducible and floods possible"},
     FIELD(seed), KIND_SEED, 0, UINT64_MAX - 1, false, false, NULL},
    {{"stats", "off", "off, text or json", "default interner: statistics to stderr at exit"},
     FIELD(stats), KIND_CHOICE, 0, 0, false, false, reports},
};
#define NKNOBS (sizeof knobs / sizeof *knobs)

const struct config_knob *config_knob_at(size_t i)
{
	return i < NKNOBS ? &knobs[i].public : NULL;
}

size_t config_knob_named(const char *key)
{
	size_t i = 0;

	while (i < NKNOBS && strcmp(key, knobs[i].public.key) != 0)
		i++;
	return i;
}

void cistern_config_init(cistern_config *config)
{
	*config = (cistern_config)CISTERN_CONFIG_INIT;
}

/* ---- fields ---- */

static uint64_t load(const cistern_config *config, const struct knob *knob)
{
	const char *field = (const char *)config + knob->offset;
	uint64_t wide;
	uint32_t narrow;
	uint8_t byte;

	switch (knob->width) {
	case 8:
		memcpy(&wide, field, 8);
		return wide;
	case 4:
		memcpy(&narrow, field, 4);
		return narrow;
	default:
		memcpy(&byte, field, 1);
		return byte;
	}
}

static void store(cistern_config *config, const struct knob *knob, uint64_t value)
{
	char *field = (char *)config + knob->offset;
	uint32_t narrow = (uint32_t)value;
	uint8_t byte = (uint8_t)value;

	switch (knob->width) {
	case 8:
		memcpy(field, &value, 8);
		break;
	case 4:
		memcpy(field, &narrow, 4);
		break;
	default:
		memcpy(field, &byte, 1);
		break;
	}
}

_Static_assert(sizeof(bool) == 1 && sizeof(cistern_lock) == 4, "the widths that load and store know");

static uint64_t count_choices(const struct knob *knob)
{
	uint64_t n = 0;

	while (knob->choices[n])
		n++;
	return n;
}

static bool in_range(const struct knob *knob, uint64_t value)
{
	if (knob->kind == KIND_CHOICE)
		return value < count_choices(knob);
	if (knob->kind == KIND_SEED || (value == 0 && knob->zero))
		return true;
	if (knob->offset == offsetof(cistern_config, value_size))
		return value == 4 || value == 8;
	return value >= knob->least && value <= knob->most;
}

/* ---- text ---- */

void config_knob_text(const cistern_config *config, size_t i, char *out, size_t size)
{
	const struct knob *knob = &knobs[i];
	uint64_t value = load(config, knob);
	unsigned unit = 0;

	if (knob->kind == KIND_CHOICE && value < count_choices(knob)) {
		snprintf(out, size, "%s", knob->choices[value]);
		return;
	}
	if ((knob->kind == KIND_SEED && value == CISTERN_SEED_RANDOM) ||
	    (value == 0 && knob->zero && !knob->zero_text)) {
		snprintf(out, size, "%s", knob->public.default_text);
		return;
	}
	if (knob->kind == KIND_SIZE)
		while (unit < 3 && value && value % 1024 == 0) {
			value /= 1024;
			unit++;
		}
	snprintf(out, size, "%" PRIu64 "%.*s", value, unit ? 1 : 0, &"KMG"[unit ? unit - 1 : 0]);
}

int config_parse_number(const char *text, bool size, uint64_t *out)
{
	uint64_t value = 0;
	unsigned shift = 0;

	if (*text < '0' || *text > '9')
		return EINVAL;
	for (; *text >= '0' && *text <= '9'; text++) {
		uint64_t digit = (uint64_t)(*text - '0');

		if (value > (UINT64_MAX - digit) / 10) {
			while (*text >= '0' && *text <= '9')
				text++;
			return *text && !(size && strchr("KMG", *text) && !text[1]) ? EINVAL : ERANGE;
		}
		value = value * 10 + digit;
	}
	if (size && *text) {
		const char *units = "KMG", *unit = strchr(units, *text);

		if (!unit || text[1])
			return EINVAL;
		shift = 10 * (unsigned)(unit - units + 1);
		text++;
	}
	if (*text)
		return EINVAL;
	if (value > UINT64_MAX >> shift)
		return ERANGE;
	*out = value << shift;
	return 0;
}

static int parse(const struct knob *knob, const char *text, uint64_t *out)
{
	int error;

	if (knob->kind == KIND_CHOICE) {
		for (uint64_t i = 0; knob->choices[i]; i++)
			if (strcmp(text, knob->choices[i]) == 0) {
				*out = i;
				return 0;
			}
		return EINVAL;
	}
	if (knob->kind == KIND_SEED && strcmp(text, "random") == 0) {
		*out = CISTERN_SEED_RANDOM;
		return 0;
	}
	if (knob->zero && !knob->zero_text && strcmp(text, "auto") == 0) {
		*out = 0;
		return 0;
	}
	error = config_parse_number(text, knob->kind == KIND_SIZE, out);
	if (error)
		return error;
	if (*out == 0 && knob->zero && !knob->zero_text)
		return ERANGE;
	if (knob->kind == KIND_SEED && *out > knob->most)
		return ERANGE;
	return in_range(knob, *out) ? 0 : ERANGE;
}

/* The field lies within the struct as the caller knows it. */
static bool known_to(const cistern_config *config, const struct knob *knob)
{
	return knob->offset + knob->width <= config->size;
}

static int set(cistern_config *config, const struct knob *knob, const char *value)
{
	uint64_t number;
	int error = parse(knob, value, &number);

	if (error)
		return error;
	if (knob->offset == offsetof(cistern_config, slab_max) && number < config->slab_size)
		return ERANGE;
	store(config, knob, number);
	return 0;
}

int cistern_config_set(cistern_config *config, const char *key, const char *value)
{
	int error = ENOENT;
	size_t i;

	if (!config || !key || !value) {
		errno = EINVAL;
		return -1;
	}
	i = config_knob_named(key);
	if (i < NKNOBS && known_to(config, &knobs[i]))
		error = set(config, &knobs[i], value);
	if (error) {
		errno = error;
		return -1;
	}
	return 0;
}

void config_variable(char name[CONFIG_VARIABLE_MAX], const char *key)
{
	static const char prefix[] = "CISTERN_";
	size_t n = sizeof prefix - 1;

	memcpy(name, prefix, n);
	for (; *key && n < CONFIG_VARIABLE_MAX - 1; key++)
		name[n++] = *key >= 'a' && *key <= 'z' ? (char)(*key - 'a' + 'A') : *key;
	name[n] = '\0';
}

/* One line, whatever the value holds: its start only, and no control characters. */
static void report(const char *name, const char *value, const char *accepts)
{
	char shown[41];
	size_t n = 0;

	for (; n < sizeof shown - 1 && value[n]; n++) {
		unsigned char ch = (unsigned char)value[n];

		shown[n] = (char)(ch < 0x20 || ch == 0x7f ? '?' : ch);
	}
	shown[n] = '\0';
	fprintf(stderr, "cistern: %s=%s%s refused, accepts %s\n", name, shown,
	        value[n] ? "..." : "", accepts);
}

int config_read_environment(cistern_config *config, bool loudly)
{
	int refused = 0;

	for (size_t i = 0; i < NKNOBS; i++) {
		const struct knob *knob = &knobs[i];
		char name[CONFIG_VARIABLE_MAX];
		const char *value;

		config_variable(name, knob->public.key);
		value = known_to(config, knob) ? os_getenv(name) : NULL;
		if (!value || set(config, knob, value) == 0)
			continue;
		refused++;
		if (loudly)
			report(name, value, knob->public.accepts);
	}
	return refused;
}

int cistern_config_from_env(cistern_config *config)
{
	if (!config) {
		errno = EINVAL;
		return -1;
	}
	return config_read_environment(config, true);
}

/* ---- structs of callers ---- */

bool config_struct_fits(const void *theirs, size_t size, size_t least, size_t ours)
{
	const unsigned char *bytes = theirs;

	if (size < least) {
		errno = EINVAL;
		return false;
	}
	for (size_t i = ours; i < size; i++)
		if (bytes[i] != 0) {
			errno = E2BIG;
			return false;
		}
	return true;
}

bool config_hand_out(void *theirs, size_t size, const void *ours, size_t ours_size)
{
	size_t known = size < ours_size ? size : ours_size;

	if (!config_struct_fits(theirs, size, ours_size, ours_size))
		return false;
	memcpy((char *)theirs + sizeof(size_t), (const char *)ours + sizeof(size_t),
	       known - sizeof(size_t));
	return true;
}

static uint64_t round_up(uint64_t n, uint64_t unit)
{
	return (n + unit - 1) / unit * unit;
}

bool config_normalize(const cistern_config *in, cistern_config *out)
{
	static const cistern_config defaults = CISTERN_CONFIG_INIT;
	cistern_config config = defaults;

	if (in) {
		if (!config_struct_fits(in, in->size, sizeof config, sizeof config))
			return false;
		config = *in;
		config.size = sizeof config;
	}
	for (size_t i = 0; i < NKNOBS; i++)
		if (!in_range(&knobs[i], load(&config, &knobs[i]))) {
			errno = EINVAL;
			return false;
		}
	if (config.slab_max < config.slab_size) {
		/* who asks for larger slabs need not know of slab_max; who set it is told */
		if (config.slab_max != defaults.slab_max) {
			errno = EINVAL;
			return false;
		}
		config.slab_max = config.slab_size;
	}
	config.slab_size = round_up(config.slab_size, 64);
	/* a slab of slab_max bytes is taken from the range like any other */
	config.slab_max = config.slab_max < config.slab_size ? config.slab_size
	                                                     : config.slab_max / 64 * 64;
	if (config.shards)
		for (uint32_t power = 1;; power *= 2)
			if (power >= config.shards) {
				config.shards = power;
				break;
			}
	*out = config;
	return true;
}
