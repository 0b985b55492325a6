/* SPDX-License-Identifier: MIT */
/*
 * sweep_axes.c - the table of axes. See sweep_axes.h.
 *
 * A knob to sweep is a line here: its option, its column, the checks of its values and its place in
 * a file of --resume follow from it.
 */
#include "sweep_axes.h"

#include <stdio.h>
#include <string.h>

#include "config.h"

const struct axis axes[] = {
    [AXIS_ENGINE] = {"engines", "engine", REPORT_TEXT, "engines, or all of them"},
    [AXIS_THREADS] = {"threads", "threads", REPORT_COUNT, "numbers of threads"},
    {"shards", "shards", REPORT_COUNT, "shard counts"},
    {"slab-size", "slab_size", REPORT_BYTES, "slab sizes"},
    {"growth-interval", "growth_interval", REPORT_COUNT, "slabs before their size doubles"},
    {"capacity", "capacity", REPORT_COUNT, "strings to size the tables for at once"},
    {"hugepages", "hugepages", REPORT_TEXT, "policies for huge pages"},
    {"commit-chunk", "commit_chunk", REPORT_BYTES, "bytes committed at a time"},
    {"lock", "lock", REPORT_TEXT, "lock policies"},
    {"slab-max", "slab_max", REPORT_BYTES, "where the doubling of slabs ends"},
    {"prefault", "prefault", REPORT_TEXT, "whether fresh memory is touched in batches"},
};
const size_t axes_n = sizeof axes / sizeof *axes;
_Static_assert(sizeof axes / sizeof *axes <= AXES_MAX, "room for all axes");

size_t axis_named(const char *key)
{
	size_t a = 0;
	while (a < axes_n && strcmp(axes[a].key, key) != 0)
		a++;
	return a;
}

void axis_text(size_t axis, const cistern_config *config, char text[AXIS_TEXT])
{
	size_t knob = config_knob_named(axes[axis].key);
	*text = '\0';
	if (config_knob_at(knob))
		config_knob_text(config, knob, text, AXIS_TEXT);
}

struct report_value axis_value(size_t axis, const char *text)
{
	struct report_value value = {.text = text, .missing = *text == '\0'};
	if (axes[axis].type != REPORT_TEXT && !value.missing)
		config_parse_number(text, true, &value.count);
	return value;
}
