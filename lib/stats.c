/* SPDX-License-Identifier: MIT */
/*
 * stats.c - what an interner holds and how it does. Figures are collected under each shard's lock in turn, then
 * under each range's; nothing is printed under a lock.
 *
 * While nobody interns, committed = payload + overhead + slack + table + retired + free + control, to the byte:
 *
 *   strings range   control (the unused first unit) | slabs: overhead, payload, slack | free
 *   tables range    control (the interner itself)   | tables: table, retired          | free
 *
 * A figure is added as a field at the end of cistern_stats and a row in the table below; the three
 * formats, the man page's test and the struct's size follow.
 */
#include "config.h"
#include "interner.h"

#include <errno.h>
#include <inttypes.h>

static const struct field {
	const char *name;
	const char *help;
	size_t offset;
	bool counter; /* only ever grows */
} fields[] = {
#define ROW(name, counter, help) {#name, help, offsetof(cistern_stats, name), counter}
    ROW(strings, true, "distinct strings"),
    ROW(payload_bytes, true, "lengths of the strings"),
    ROW(overhead_bytes, true, "headers, NULs, padding, values, links, slab headers"),
    ROW(slack_bytes, false, "unused ends of slabs"),
    ROW(table_bytes, false, "tables in use"),
    ROW(retired_bytes, true, "tables that were replaced"),
    ROW(free_bytes, false, "committed but not handed out"),
    ROW(control_bytes, false, "the interner's own structures"),
    ROW(committed_bytes, true, "committed in all"),
    ROW(emptied_bytes, true, "part of retired whose pages went back to the system"),
    ROW(reserved_bytes, false, "address space reserved"),
    ROW(capacity_bytes, false, "address range for strings"),
    ROW(reference_shift, false, "an id counts units of 1 << reference_shift bytes"),
    ROW(shards, false, "shards"),
    ROW(slots, false, "places in the tables"),
    ROW(slabs, true, "slabs handed to shards"),
    ROW(growths, true, "tables replaced by larger ones"),
    ROW(rekeys, true, "tables that got a hash secret of their own"),
    ROW(lock_waits, true, "times a shard's lock was busy"),
    ROW(max_probe, false, "buckets the longest insert looked at"),
    ROW(seed_fixed, false, "1 when the hash seed is fixed"),
#undef ROW
};
#define NFIELDS (sizeof fields / sizeof *fields)

_Static_assert(sizeof(cistern_stats) == (NFIELDS + 1) * sizeof(uint64_t) || sizeof(size_t) != 8,
               "every field of cistern_stats has a row");

/* Adds a range's free and control bytes. Takes the range's lock. */
static void add_range(struct range *range, size_t control, cistern_stats *out)
{
	uint64_t committed, used;

	lock_acquire(&range->lock);
	/* relaxed: written under the lock that we hold */
	committed = atomic_load_explicit(&range->committed, memory_order_relaxed);
	used = range->used < committed ? range->used : committed;
	out->committed_bytes += committed;
	out->free_bytes += committed - used + range->returned_bytes + range->skipped_bytes;
	out->control_bytes += control < used ? control : used;
	lock_release(&range->lock);
}

void interner_settle(struct cistern *c)
{
	struct range *strings = &c->common.strings;
	uint64_t slabs = 0;

	for (uint32_t i = 0; i < interner_shards(c); i++)
		slabs += c->shards[i].slabs.bytes;
	strings->skipped_bytes =
	    strings->used - c->strings_head - strings->returned_bytes - (size_t)slabs;
}

static void collect(const cistern *c, cistern_stats *out)
{
	/* const says that the set of strings stays as it is; the locks are taken all the same */
	struct cistern *mutable = (struct cistern *)c;
	cistern_shard_stats sum = {.size = sizeof sum};

	for (uint32_t i = 0; i < interner_shards(c); i++)
		shard_stats_add(interner_shard(c, i), &sum);
	*out = (cistern_stats){
	    .size = sizeof *out,
	    .strings = sum.strings,
	    .payload_bytes = sum.payload_bytes,
	    .overhead_bytes = sum.overhead_bytes,
	    .slack_bytes = sum.slack_bytes,
	    .table_bytes = sum.table_bytes,
	    .retired_bytes = sum.retired_bytes,
	    .emptied_bytes = sum.emptied_bytes,
	    .reserved_bytes = c->strings_map_size + c->tables_map_size,
	    .capacity_bytes = c->common.strings.capacity,
	    .reference_shift = c->common.layout.shift,
	    .shards = interner_shards(c),
	    .slots = sum.slots,
	    .slabs = sum.slabs,
	    .growths = sum.growths,
	    .rekeys = sum.rekeys,
	    .lock_waits = sum.lock_waits,
	    .max_probe = sum.max_probe,
	    .seed_fixed = c->config.seed != CISTERN_SEED_RANDOM,
	};
	add_range(&mutable->common.strings, c->strings_head, out);
	add_range(&mutable->common.tables, c->control_bytes, out);
}

int cistern_stats_get(const cistern *c, cistern_stats *out)
{
	cistern_stats stats;

	if (!c || !out) {
		errno = EINVAL;
		return -1;
	}
	collect(c, &stats);
	return config_hand_out(out, out->size, &stats, sizeof stats) ? 0 : -1;
}

int cistern_shard_stats_get(const cistern *c, unsigned shard, cistern_shard_stats *out)
{
	cistern_shard_stats stats = {.size = sizeof stats};

	if (!c || !out || shard >= interner_shards(c)) {
		errno = EINVAL;
		return -1;
	}
	shard_stats_add(interner_shard(c, shard), &stats);
	return config_hand_out(out, out->size, &stats, sizeof stats) ? 0 : -1;
}

static uint64_t value(const cistern_stats *stats, const struct field *field)
{
	uint64_t number;

	memcpy(&number, (const char *)stats + field->offset, sizeof number);
	return number;
}

/* Each says whether all could be written. The stream's error flag does not: it may be an old one. */
static bool print_text(const cistern_stats *stats, FILE *f)
{
	bool good = true;

	for (size_t i = 0; i < NFIELDS; i++)
		good &= fprintf(f, "%-16s %20" PRIu64 "  %s\n", fields[i].name,
		                value(stats, &fields[i]), fields[i].help) >= 0;
	return good;
}

static bool print_json(const cistern_stats *stats, FILE *f)
{
	bool good = true;

	for (size_t i = 0; i < NFIELDS; i++)
		good &= fprintf(f, "%s\"%s\": %" PRIu64, i ? ", " : "{", fields[i].name,
		                value(stats, &fields[i])) >= 0;
	return good & (fputs("}\n", f) >= 0);
}

/* https://prometheus.io/docs/instrumenting/exposition_formats/ */
static bool print_prometheus(const cistern_stats *stats, FILE *f)
{
	bool good = true;

	for (size_t i = 0; i < NFIELDS; i++) {
		const char *total = fields[i].counter ? "_total" : "";

		good &= fprintf(f, "# HELP cistern_%s%s %s\n# TYPE cistern_%s%s %s\ncistern_%s%s %" PRIu64 "\n",
		                fields[i].name, total, fields[i].help, fields[i].name, total,
		                fields[i].counter ? "counter" : "gauge", fields[i].name, total,
		                value(stats, &fields[i])) >= 0;
	}
	return good;
}

int cistern_stats_print(const cistern *c, FILE *f, cistern_format format)
{
	cistern_stats stats;
	bool good;

	if (!c || !f) {
		errno = EINVAL;
		return -1;
	}
	collect(c, &stats);
	switch (format) {
	case CISTERN_FORMAT_TEXT:
		good = print_text(&stats, f);
		break;
	case CISTERN_FORMAT_JSON:
		good = print_json(&stats, f);
		break;
	case CISTERN_FORMAT_PROMETHEUS:
		good = print_prometheus(&stats, f);
		break;
	default:
		errno = EINVAL;
		return -1;
	}
	return fflush(f) == 0 && good ? 0 : -1;
}
