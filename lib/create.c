/* SPDX-License-Identifier: MIT */
/*
 * create.c - making and freeing interners: reserves the two ranges, decides what the configuration leaves open or
 * asks too much of, and lays the interner out at the start of its own tables range.
 *
 * Nothing here runs while others use the interner, except cistern_reserve, which goes shard by shard under each
 * one's lock. What create cannot finish it takes back whole.
 */
#include "config.h"
#include "interner.h"
#include "os.h"

#include <errno.h>

#define RANGE_LEAST ((size_t)1 << 20) /* a reservation is not halved below that */

#define STRINGIFY(x) #x
#define VERSION(major, minor, patch) STRINGIFY(major) "." STRINGIFY(minor) "." STRINGIFY(patch)

const char *cistern_version(void)
{
	return VERSION(CISTERN_VERSION_MAJOR, CISTERN_VERSION_MINOR, CISTERN_VERSION_PATCH);
}

/* Address space for a range, aligned for huge pages where it is large enough to have them. */
struct space {
	void *map;
	size_t map_size;
	char *base;
	size_t size;
};

static size_t space_alignment(size_t size)
{
	return size >= 8 * OS_HUGE_PAGE ? OS_HUGE_PAGE : 0;
}

static bool space_reserve(struct space *space, size_t size)
{
	size_t align = space_alignment(size);

	space->map_size = size + align;
	space->map = os_reserve(space->map_size);
	if (!space->map)
		return false;
	space->size = size;
	space->base = space->map;
	if (align)
		space->base += -(uintptr_t)space->map & (align - 1);
	return true;
}

static void space_release(const struct space *space)
{
	os_release(space->map, space->map_size);
}

static size_t page_up(size_t n)
{
	return (n + os_page_size() - 1) & ~(os_page_size() - 1);
}

/* How large the tables range is for strings of that many bytes, control apart. */
static size_t tables_size(size_t strings)
{
	return page_up(sizeof(void *) >= 8 ? strings : strings / 2);
}

/*
 * Reserves both ranges, halving what is asked for until it is at most an eighth of the address space that the
 * process may have, and until the system agrees. control comes on top.
 */
static bool reserve_both(struct space *strings, struct space *tables, uint64_t max_bytes,
                         size_t control)
{
	size_t limit = os_address_limit() / 8;
	size_t want = page_up(max_bytes > SIZE_MAX / 4 ? SIZE_MAX / 4 : (size_t)max_bytes);

	for (;; want = page_up(want / 2)) {
		size_t all = want + space_alignment(want) + tables_size(want) + control +
		             space_alignment(tables_size(want) + control);

		if (all > limit && want > RANGE_LEAST)
			continue;
		if (space_reserve(strings, want)) {
			if (space_reserve(tables, tables_size(want) + control))
				return true;
			space_release(strings);
		}
		if (want <= RANGE_LEAST)
			return false;
	}
}

/* The smallest shift with which 32 bits reach the whole range. */
static unsigned reference_shift(size_t capacity)
{
	unsigned shift = 0;

	while ((uint64_t)capacity >> shift > UINT64_C(1) << 32)
		shift++;
	return shift;
}

static uint32_t automatic_shards(void)
{
	unsigned wanted = 4 * os_cpu_count();
	uint32_t shards = 16;

	while (shards < wanted && shards < 256)
		shards *= 2;
	return shards;
}

/* Keeps shards x slab_size within a quarter of the range: smaller slabs first, then fewer shards. */
static void fit_shards(cistern_config *config, uint64_t capacity)
{
	while (config->slab_size >= 512 && config->slab_size * config->shards > capacity / 4)
		config->slab_size = (config->slab_size / 2 + 63) & ~UINT64_C(63);
	while (config->shards > 1 && config->slab_size * config->shards > capacity / 4)
		config->shards /= 2;
}

/* Where the parts of an interner lie in its control block. */
struct control {
	size_t shards, empty, directory, size;
};

static struct control control_layout(uint32_t shards)
{
	struct control at;

	at.shards = (sizeof(struct cistern) + 63) & ~(size_t)63;
	at.empty = (at.shards + shards * sizeof(struct shard) + 63) & ~(size_t)63;
	at.directory = at.empty + BUCKET_BYTES;
	at.size = (at.directory + shards * sizeof(directory_word) + 63) & ~(size_t)63;
	return at;
}

static void advise_huge(const struct space *strings, const struct space *tables,
                        cistern_hugepages hugepages)
{
	const size_t small = (size_t)32 << 20; /* auto: a range this large is worth huge pages */
	bool always = hugepages == CISTERN_HUGEPAGES_ALWAYS;

	os_advise_huge(strings->base, strings->size, always);
	os_advise_huge(tables->base, tables->size, always);
	if (hugepages == CISTERN_HUGEPAGES_AUTO && strings->size > small)
		os_advise_huge(strings->base + small, strings->size - small, true);
}

/* Sets up an interner in the committed start of its tables range. */
static void open_interner(struct cistern *c, const cistern_config *config,
                          const struct control *at, const struct space *strings,
                          const struct space *tables, const struct secret *secret)
{
	struct shard_common *common = &c->common;
	const struct range_config range_config = {config->commit_chunk, config->hugepages,
	                                          config->prefault};
	unsigned shift = reference_shift(strings->size);
	size_t first;

	entry_layout_init(&common->layout, strings->base, shift, config->value_size,
	                  config->links);
	/* the first unit stays unused: reference 0 means none */
	first = common->layout.align > 16 ? common->layout.align : 16;
	c->budget.limit = config->memory_limit ? config->memory_limit : UINT64_MAX;
	atomic_init(&c->budget.committed, page_up(at->size));
	range_open(&common->strings, strings->base, strings->size, 0, &c->budget, &range_config,
	           LOCK_RANK_RANGE);
	common->strings.used = c->strings_head = first;
	range_open(&common->tables, tables->base, tables->size, at->size, &c->budget,
	           &range_config, LOCK_RANK_RANGE + 1);

	common->directory = (directory_word *)(void *)(tables->base + at->directory);
	common->tables_base = tables->base;
	common->shard_mask = config->shards - 1;
	common->secret = *secret;
	common->slab_policy.slab_size = (size_t)config->slab_size;
	common->slab_policy.slab_max = (size_t)config->slab_max;
	common->slab_policy.growth_interval = config->growth_interval;
	common->huge_tables = config->hugepages == CISTERN_HUGEPAGES_AUTO;

	c->shards = (struct shard *)(void *)(tables->base + at->shards);
	for (uint32_t i = 0; i < config->shards; i++)
		shard_open(&c->shards[i], common, i, config->lock, at->empty);

	c->longest = shard_longest(common);
	c->common.max_len = c->longest;
	if (config->max_len && config->max_len < c->longest)
		c->common.max_len = (size_t)config->max_len;
	c->common.short_len = c->common.max_len < ENTRY_SHORT ? c->common.max_len : ENTRY_SHORT;
	c->control_bytes = at->size;
	c->strings_map = strings->map;
	c->strings_map_size = strings->map_size;
	c->tables_map = tables->map;
	c->tables_map_size = tables->map_size;
	c->config = *config;
	c->config.max_bytes = strings->size;
}

static void unmap(struct cistern *c)
{
	const struct space strings = {.map = c->strings_map, .map_size = c->strings_map_size};
	const struct space tables = {.map = c->tables_map, .map_size = c->tables_map_size};

	for (uint32_t i = 0; i < interner_shards(c); i++)
		shard_close(&c->shards[i]);
	range_close(&c->common.strings);
	range_close(&c->common.tables);
	space_release(&strings);
	space_release(&tables); /* c itself lies there */
}

cistern *cistern_create(const cistern_config *given)
{
	struct space strings, tables;
	struct secret secret;
	struct control at;
	cistern_config config;
	cistern *c;

	if (!config_normalize(given, &config) || !registry_ready())
		return NULL;
	if (config.shards == 0)
		config.shards = automatic_shards();
	if (config.seed != CISTERN_SEED_RANDOM)
		secret_from_seed(&secret, config.seed);
	else if (!secret_draw(&secret))
		return NULL;
	if (!reserve_both(&strings, &tables, config.max_bytes,
	                  page_up(control_layout(config.shards).size)))
		return NULL;
	fit_shards(&config, strings.size);
	at = control_layout(config.shards);
	if (config.memory_limit && page_up(at.size) > config.memory_limit) {
		errno = EINVAL;
		goto release;
	}
	advise_huge(&strings, &tables, config.hugepages);
	if (!os_commit(tables.base, page_up(at.size)))
		goto release;
	if (config.prefault)
		os_populate(tables.base, page_up(at.size));
	c = (cistern *)(void *)tables.base;
	open_interner(c, &config, &at, &strings, &tables, &secret);
	if (config.capacity && cistern_reserve(c, config.capacity) != 0) {
		int error = errno;

		unmap(c);
		errno = error;
		return NULL;
	}
	registry_add(c);
	return c;
release:
	space_release(&strings);
	space_release(&tables);
	return NULL;
}

#ifdef CISTERN_DEBUG
static int checked(const char *str, size_t len, void *arg)
{
	(void)str;
	(void)len;
	(void)arg;
	return 0;
}
#endif

void cistern_destroy(cistern *c)
{
	if (!c || c == default_interner())
		return;
	registry_remove(c);
#ifdef CISTERN_DEBUG
	cistern_foreach(c, checked, NULL); /* looks at every string */
#endif
	unmap(c);
}

int cistern_reserve(cistern *c, size_t strings)
{
	uint64_t mean, spread = 0;

	if (!c) {
		errno = EINVAL;
		return -1;
	}
	if (strings > UINT32_MAX) {
		errno = EOVERFLOW;
		return -1;
	}
	/* shards get strings by chance: four standard deviations above the mean, sqrt(mean) each */
	mean = strings / interner_shards(c) + 1;
	while (spread * spread < mean)
		spread++;
	if (interner_shards(c) > 1)
		mean += 4 * spread;
	/* what cannot fit is refused before memory is spent on a part of it */
	if (shard_table_bytes(mean) > c->common.tables.capacity / interner_shards(c) ||
	    shard_table_bytes(mean) > c->budget.limit / interner_shards(c)) {
		errno = ENOSPC;
		return -1;
	}
	for (uint32_t i = 0; i < interner_shards(c); i++)
		if (!shard_reserve(&c->shards[i], &c->common, mean))
			return -1;
	return 0;
}

int cistern_config_of(const cistern *c, cistern_config *out)
{
	if (!c || !out) {
		errno = EINVAL;
		return -1;
	}
	return config_hand_out(out, out->size, &c->config, sizeof c->config) ? 0 : -1;
}
