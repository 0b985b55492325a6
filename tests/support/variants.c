/* SPDX-License-Identifier: MIT */
/* variants.c - see variants.h. */
#include "variants.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

cistern_config variant(int number)
{
	cistern_config config = CISTERN_CONFIG_INIT;

	switch (number) {
	case 1: /* one shard: everything meets in one table */
		config.shards = 1;
		break;
	case 2: /* small slabs that never grow: many refills, and most strings alone in a slab */
		config.shards = 2;
		config.slab_size = 256;
		config.growth_interval = 0;
		break;
	case 3: /* slabs that double each time */
		config.shards = 1;
		config.slab_size = 256;
		config.growth_interval = 1;
		config.slab_max = 65536;
		break;
	case 4: /* shift 0: no padding */
		config.max_bytes = UINT64_C(1) << 28;
		config.lock = CISTERN_LOCK_SPIN;
		break;
	case 5: /* a value and no link */
		config.value_size = 4;
		config.max_bytes = UINT64_C(1) << 28;
		break;
	case 6: /* all fields */
		config.value_size = 8;
		config.links = true;
		break;
	case 7: /* a large shift */
		config.max_bytes = UINT64_C(1) << 38;
		config.links = true;
		config.shards = 4;
		break;
	case 8: /* a fixed seed, small commits, no populating */
		config.seed = 42;
		config.commit_chunk = 4096;
		config.prefault = false;
		config.hugepages = CISTERN_HUGEPAGES_NEVER;
		break;
	case 9: /* many shards, huge pages */
		config.shards = 1024;
		config.hugepages = CISTERN_HUGEPAGES_ALWAYS;
		break;
	default:
		break;
	}
	return config;
}

static cistern *create(const cistern_config *config)
{
	cistern *c = cistern_create(config);

	if (!c) {
		fprintf(stderr, "cistern_create: %s\n", strerror(errno));
		abort();
	}
	return c;
}

cistern *variant_create(int number)
{
	cistern_config config = variant(number);

	return create(&config);
}

cistern *crowd_create(int number)
{
	cistern_config config = CISTERN_CONFIG_INIT;

	config.shards = number / 2 ? 16 : 1;
	config.lock = number % 2 ? CISTERN_LOCK_SPIN : CISTERN_LOCK_MUTEX;
	config.value_size = 8;
	config.links = true;
	return create(&config);
}
