/* SPDX-License-Identifier: MIT */
/*
 * scene.c - what scenes share. Threads that insert go to the shard at once: looking without the
 * lock first would show nothing that finding does not, and multiply the executions.
 */
#include "scene.h"

cistern *set;
const char *known;
cistern_id next_id;

uint64_t hash_of(const char *s)
{
	return cistern_hash(set, s, strlen(s));
}

const char *insert(const char *s)
{
	struct shard_key key;

	shard_key_init(&key, s, strlen(s), hash_of(s));
	model_expect(shard_intern(set->shards, &set->common, &key));
	return key.str;
}

void expect_whole(const char *str, const char *s)
{
	model_read(str - ENTRY_HEADER, ENTRY_HEADER + strlen(s) + 1);
	model_expect(cistern_len(str) == strlen(s) && memcmp(str, s, strlen(s) + 1) == 0);
}

cistern_config small(uint64_t seed, unsigned value_size, bool links)
{
	cistern_config config = CISTERN_CONFIG_INIT;

	config.shards = 1;
	config.slab_size = 256;
	config.max_bytes = 65536;
	config.commit_chunk = 4096;
	config.hugepages = CISTERN_HUGEPAGES_NEVER;
	config.prefault = false;
	config.seed = seed;
	config.value_size = value_size;
	config.links = links;
	return config;
}

/* The table apart. */
static void make(uint64_t seed, unsigned value_size, bool links)
{
	cistern_config config = small(seed, value_size, links);

	model_system();
	set = cistern_create(&config);
	model_expect(set);
	model_quiet(set, sizeof(*set)); /* budget, populated and needed are sums and hints */
}

void make_with(uint64_t seed, unsigned value_size, bool links)
{
	make(seed, value_size, links);
	model_expect(cistern_reserve(set, 1) == 0);
}

void bare(void)
{
	make(1, 0, false);
}

void empty(void)
{
	make_with(1, 0, false);
}

void with_slab(void)
{
	empty();
	insert("first");
}

void with_known(void)
{
	empty();
	known = insert("known");
}

void note_next_id(void)
{
	next_id =
	    entry_ref(&set->common.layout, set->shards[0].slabs.cursor + set->common.layout.prefix);
}

void with_slab_and_next_id(void)
{
	with_slab();
	note_next_id();
}

void insert_new(void)
{
	insert("new");
}

void grow(void)
{
	model_expect(cistern_reserve(set, 11) == 0);
}

void insert_and_grow(void)
{
	insert("new");
	grow();
}

void find_new(void)
{
	const char *str = cistern_find(set, "new", 3);

	if (str)
		expect_whole(str, "new");
}

void search_new(void)
{
	const char *str = cistern_find_hashed(set, "new", 3, hash_of("new"));

	if (str)
		expect_whole(str, "new");
}

void validate_next(void)
{
	if (cistern_id_valid(set, next_id))
		expect_whole(entry_str(&set->common.layout, next_id), "new");
}
