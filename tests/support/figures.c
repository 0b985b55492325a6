/* SPDX-License-Identifier: MIT */
/* figures.c - see figures.h. */
#include "figures.h"

#include "support.h"

#include <inttypes.h>
#include <string.h>

cistern_stats figures(const cistern *c)
{
	cistern_stats stats;

	memset(&stats, 0, sizeof(stats));
	stats.size = sizeof(stats);
	ck_assert_int_eq(cistern_stats_get(c, &stats), 0);
	return stats;
}

bool figures_balance(const cistern_stats *s)
{
	uint64_t sum = s->payload_bytes + s->overhead_bytes + s->slack_bytes + s->table_bytes +
		       s->retired_bytes + s->free_bytes + s->control_bytes;

	if (sum == s->committed_bytes && s->emptied_bytes <= s->retired_bytes)
		return true;
	fprintf(stderr,
		"payload %" PRIu64 " overhead %" PRIu64 " slack %" PRIu64 " table %" PRIu64
		" retired %" PRIu64 " (emptied %" PRIu64 ") free %" PRIu64 " control %" PRIu64
		": sum %" PRIu64 ", committed %" PRIu64 "\n",
		s->payload_bytes, s->overhead_bytes, s->slack_bytes, s->table_bytes,
		s->retired_bytes, s->emptied_bytes, s->free_bytes, s->control_bytes, sum,
		s->committed_bytes);
	return false;
}

static void add(cistern_shard_stats *sum, const cistern_shard_stats *one)
{
	sum->strings += one->strings;
	sum->payload_bytes += one->payload_bytes;
	sum->overhead_bytes += one->overhead_bytes;
	sum->slack_bytes += one->slack_bytes;
	sum->table_bytes += one->table_bytes;
	sum->retired_bytes += one->retired_bytes;
	sum->emptied_bytes += one->emptied_bytes;
	sum->slots += one->slots;
	sum->slabs += one->slabs;
	sum->growths += one->growths;
	sum->rekeys += one->rekeys;
	sum->lock_waits += one->lock_waits;
	if (one->max_probe > sum->max_probe)
		sum->max_probe = one->max_probe;
}

void figures_check(const cistern *c)
{
	cistern_stats stats = figures(c);
	cistern_config config = CISTERN_CONFIG_INIT;
	cistern_shard_stats sum, one;
	unsigned i;

	ck_assert(figures_balance(&stats));
	ck_assert_int_eq(cistern_config_of(c, &config), 0);
	if (config.memory_limit)
		ck_assert_uint_le(stats.committed_bytes, config.memory_limit);
	ck_assert_uint_eq(config.shards, stats.shards);
	memset(&sum, 0, sizeof(sum));
	for (i = 0; i < stats.shards; i++) {
		memset(&one, 0, sizeof(one));
		one.size = sizeof(one);
		ck_assert_int_eq(cistern_shard_stats_get(c, i, &one), 0);
		ck_assert_uint_le(one.strings, one.slots);
		add(&sum, &one);
	}
	ck_assert_uint_eq(sum.strings, stats.strings);
	ck_assert_uint_eq(sum.payload_bytes, stats.payload_bytes);
	ck_assert_uint_eq(sum.overhead_bytes, stats.overhead_bytes);
	ck_assert_uint_eq(sum.slack_bytes, stats.slack_bytes);
	ck_assert_uint_eq(sum.table_bytes, stats.table_bytes);
	ck_assert_uint_eq(sum.retired_bytes, stats.retired_bytes);
	ck_assert_uint_eq(sum.emptied_bytes, stats.emptied_bytes);
	ck_assert_uint_eq(sum.slots, stats.slots);
	ck_assert_uint_eq(sum.slabs, stats.slabs);
	ck_assert_uint_eq(sum.growths, stats.growths);
	ck_assert_uint_eq(sum.rekeys, stats.rekeys);
	ck_assert_uint_eq(sum.lock_waits, stats.lock_waits);
	ck_assert_uint_eq(sum.max_probe, stats.max_probe);
}

void figures_check_alive(cistern *c, const char *prefix)
{
	int i;

	for (i = 0; i < 400; i++) {
		char data[64];
		size_t len = (size_t)snprintf(data, sizeof(data), "%s %d", prefix, i);
		const char *str = cistern_intern(c, data, len);

		ck_assert_ptr_nonnull(str);
		ck_assert_ptr_eq(cistern_find(c, data, len), str);
	}
	figures_check(c);
}
