/* SPDX-License-Identifier: MIT */
/*
 * sizes.c - the sizes. See sizes.h. It looks into the library's own headers, as an outsider cannot,
 * and grows by a row for each size that a layout has.
 */
#include "sizes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "interner.h"

/* The greatest number that passes, where passing ends somewhere above 0. */
static uint64_t greatest(bool (*passes)(void *arg, uint64_t n), void *arg)
{
	uint64_t low = 0, high = UINT64_MAX;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2 + (high - low) % 2;
		if (passes(arg, middle))
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* Too small is no reason to stop: only what is below a knob's least is neither. */
static bool knob_passes(void *arg, uint64_t n)
{
	cistern_config config;
	char text[24];
	cistern_config_init(&config);
	snprintf(text, sizeof text, "%" PRIu64, n);
	return n < 1048576 || cistern_config_set(&config, arg, text) == 0;
}

uint64_t sizes_knob_most(const char *key)
{
	return greatest(knob_passes, (void *)(uintptr_t)key);
}

struct valued {
	cistern *c;
	const char *str;
};

static bool value_passes(void *arg, uint64_t n)
{
	struct valued *v = arg;
	return cistern_set_value(v->c, v->str, n) == 0;
}

static cistern *make(const cistern_config *config)
{
	cistern *c = cistern_create(config);
	if (!c)
		cli_fail("no interner for the sizes: %s", strerror(errno));
	return c;
}

/* The largest number that can be kept with a string. */
static uint64_t value_most(const cistern_config *config)
{
	struct valued v = {.c = make(config)};
	v.str = cistern_intern(v.c, "", 0);
	if (!v.str)
		cli_fail("a string cannot be interned: %s", strerror(errno));
	uint64_t most = greatest(value_passes, &v);
	cistern_destroy(v.c);
	return most;
}

/* ---- constants */

static void fixed(const cistern_config *config, void (*take)(void *, const struct sizes_row *),
		  void *arg)
{
	cistern *c = make(config);
	cistern_stats stats = {.size = sizeof stats};
	cistern_stats_get(c, &stats);
	uint64_t reach = ((uint64_t)(cistern_id)-1 + 1) << stats.reference_shift;
	const struct sizes_row rows[] = {
	    {"id", sizeof(cistern_id), -1, (cistern_id)-1, "strings of an interner",
	     "cistern_id, 0 for none"},
	    {"unit of ids", (double)(UINT64_C(1) << stats.reference_shift), -1, reach,
	     "bytes that ids reach", "2^32 units; larger ranges have larger units"},
	    {"pointer", sizeof(const char *), -1, sizes_knob_most("max_bytes"),
	     "bytes of strings of an interner", "const char *"},
	    {"header", ENTRY_HEADER, -1, ENTRY_ESCAPE - 1, "length of a string",
	     "24 bits of length, 8 of hash"},
	    {"header, escaped", ENTRY_HEADER + ENTRY_LONG_LEN, -1, c->longest, "length of a string",
	     "the same, and 64 bits of length"},
	    {"NUL", 1, -1, 0, "", "behind each string"},
	    {"slab header", SLAB_HEADER, -1, sizes_knob_most("slab_max"), "bytes of a slab",
	     "shared by the strings of a slab"},
	    {"slot of a table", (double)BUCKET_BYTES / BUCKET_SLOTS, -1,
	     sizes_knob_most("capacity"), "strings to reserve for",
	     "a cache line for 12: tag, reference, filter"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		take(arg, &rows[i]);
	cistern_destroy(c);
}

/* What value and link add, each with its limit. */
static void extras(const cistern_config *config, void (*take)(void *, const struct sizes_row *),
		   void *arg)
{
	static char base[64]; /* of a range that nothing lies in */
	struct entry_layout layout;
	static const char *const names[] = {"value_size=4", "value_size=8"};
	for (unsigned i = 0; i < 2; i++) {
		cistern_config with = *config;
		with.value_size = 4 * (i + 1);
		entry_layout_init(&layout, base, 0, with.value_size, false);
		take(arg, &(struct sizes_row){names[i], layout.value_size, -1, value_most(&with),
					      "value", "in front of the header"});
	}
	entry_layout_init(&layout, base, 0, 0, true);
	take(arg, &(struct sizes_row){"links=on", layout.link_size, -1, (cistern_id)-1,
				      "strings of an interner", "the id of the counterpart"});
}

/* ---- means over a corpus */

/* Overhead of a string of the corpus: what the layout says, slab headers apart. */
static double layout_overhead(const struct corpus *corpus, const struct entry_layout *layout)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < corpus->ndistinct; i++)
		sum += entry_size(layout, corpus->distinct[i].len) - corpus->distinct[i].len;
	return (double)sum / (double)corpus->ndistinct;
}

static void measured(const struct corpus *corpus, const cistern_config *config, const char *what,
		     bool table, void (*take)(void *, const struct sizes_row *), void *arg)
{
	cistern *c = make(config);
	cistern_stats stats = {.size = sizeof stats};
	for (size_t i = 0; i < corpus->ndistinct; i++)
		if (!cistern_intern(c, corpus->distinct[i].data, corpus->distinct[i].len))
			cli_fail("%s: string %zu cannot be interned: %s", what, i, strerror(errno));
	cistern_stats_get(c, &stats);
	if (stats.strings != corpus->ndistinct)
		cli_fail("%s: wrong answer: %" PRIu64 " strings where %zu are right", what,
			 stats.strings, corpus->ndistinct);
	double n = (double)stats.strings;
	take(arg, &(struct sizes_row){what, (double)stats.overhead_bytes / n,
				      layout_overhead(corpus, &c->common.layout),
				      stats.capacity_bytes, "bytes of strings of an interner",
				      "prefix, NUL, padding to the unit; and slab headers"});
	if (table)
		take(arg, &(struct sizes_row){"table a string", (double)stats.table_bytes / n,
					      (double)stats.slots / BUCKET_SLOTS * BUCKET_BYTES / n,
					      0, "", "slots over the load"});
	cistern_destroy(c);
}

void sizes_each(const struct corpus *corpus, const cistern_config *config,
		void (*take)(void *arg, const struct sizes_row *row), void *arg)
{
	static const struct {
		const char *name, *pairs[3];
	} settings[] = {
	    {"overhead", {NULL}},
	    {"overhead, value_size=4", {"value_size=4"}},
	    {"overhead, value_size=8", {"value_size=8"}},
	    {"overhead, links=on", {"links=on"}},
	    {"overhead, links=on value_size=8", {"links=on", "value_size=8"}},
	    {"overhead, max_bytes=4G", {"max_bytes=4G"}},
	    {"overhead, max_bytes=64G", {"max_bytes=64G"}},
	    {"overhead, max_bytes=256G", {"max_bytes=256G"}},
	    {"overhead, max_bytes=1024G", {"max_bytes=1024G"}},
	};
	fixed(config, take, arg);
	extras(config, take, arg);
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
		cistern_config with = *config;
		for (size_t k = 0; settings[i].pairs[k]; k++)
			cli_knob_pair(&with, "sizes", settings[i].pairs[k]);
		measured(corpus, &with, settings[i].name, i == 0, take, arg);
	}
}
