/* SPDX-License-Identifier: MIT */
/*
 * shard.c - inserting: under the shard's lock look again, make room in the table, lay the string into a slab,
 * place its reference. Finding without the lock is interner.c's and table.h's.
 *
 *   a table's life   take fresh memory -> fill it by walking the slabs -> publish it with one release store
 *                    of the directory word (B1) -> replaced -> retired: its pages are emptied, its place
 *                    is never used again
 *
 * A reader loads the directory word with acquire and hence sees a filled table. One that is still inside
 * a retired table finds right strings or misses; before it believes a miss it loads the word again.
 *
 * Order of an insert, chosen so that nothing has to be taken back: (1) grow the table if it is at 7/8,
 * (2) take the entry's memory, (3) write the entry, (4) place the reference, (5) link the slab that it has to itself,
 * if it has one. 1 may fail while the table is below 15/16: inserting goes on. 2 may fail: the caller gets the
 * error. The rest cannot.
 *
 * Re-keying: an insert that would look at more than 64 buckets is taken for a flood. The table is built
 * anew under a fresh random secret, at most once for each size of the table, so that readers meet a bounded
 * number of tables. Where that fails or does not help, the long probe is accepted and shows in max_probe.
 *
 * Strings of 4 KiB and more are copied before the lock is taken, into a slab that is linked only when
 * they turn out to be new.
 *
 * Takes the shard's lock, and within it a range's. Knows nothing of other shards.
 */
#include "shard.h"

#include "order.h"
#include "os.h"

#include <assert.h>
#include <errno.h>
#ifdef CISTERN_DEBUG
#include <stdio.h>
#include <stdlib.h>
#endif

#ifndef PROBE_LIMIT /* a test may have smaller floods */
#define PROBE_LIMIT   64u            /* buckets; honest keys stay below 30 at full load */
#endif
#define LARGE_STRING  ((size_t)4096) /* copied before the lock is taken */
#define SMALL_TABLE   4096u          /* bytes; below, tables grow fourfold */

#ifdef CISTERN_DEBUG
/* Holds: shard lock. Walks the whole table now and then only, so that debug builds stay usable. */
static void check(const struct shard *shard, const struct shard_common *common)
{
	uintptr_t word =
	    atomic_load_explicit(&common->directory[shard->index], memory_order_relaxed);
	struct table table = shard_table(common, word);

	assert(shard->slots == 0 || shard->slots == table_slots((uint64_t)table.mask + 1));
	assert(shard->strings <= table_hard_limit((uint64_t)table.mask + 1));
	assert(shard->slabs.heads + shard->slabs.abandoned + shard->slabs.room <= shard->slabs.bytes);
	if ((shard->strings & (shard->strings - 1)) == 0)
		assert(table_check(&table, shard->strings));
}

void shard_check_string(const struct shard_common *common, uint32_t index, const char *str,
                        size_t len)
{
	uint64_t hash;

	/* a length that was overwritten, too, may lead anywhere */
	if (len < common->strings.capacity &&
	    range_contains(&common->strings, (uintptr_t)str, len + 1) && str[len] == '\0') {
		hash = hash_bytes(&common->secret, str, len);
		if (entry_load_header(str) == entry_header(len, hash_byte(hash)) &&
		    (hash_shard(hash) & common->shard_mask) == index)
			return;
	}
	fprintf(stderr, "cistern: the string at %p is not as it was interned: overwritten, or the hash was another's\n",
	        (const void *)str);
	abort();
}
#else
static void check(const struct shard *shard, const struct shard_common *common)
{
	(void)shard;
	(void)common;
}
#endif

void shard_open(struct shard *shard, struct shard_common *common, uint32_t index,
                cistern_lock policy, uintptr_t empty)
{
	/* the memory is fresh, all counters are 0 */
	lock_init(&shard->lock, policy, LOCK_RANK_SHARD + index);
	shard->index = index;
	atomic_init(&common->directory[index], empty);
}

void shard_close(struct shard *shard)
{
	lock_destroy(&shard->lock);
}

uint64_t shard_own_hash(const struct table *table, const struct wanted *wanted)
{
	const struct secret *secret = shard_own_secret(table);

	if (wanted->parts)
		return hash_parts(secret, wanted->parts, wanted->nparts);
	return hash_bytes(secret, wanted->s, wanted->len);
}

const char *shard_find(const struct shard_common *common, uintptr_t word,
                       const struct wanted *wanted, uint64_t hash)
{
	struct table table = shard_table(common, word);

	if (word & DIRECTORY_OWN_SECRET)
		hash = shard_own_hash(&table, wanted);
	return table_find(&table, &common->layout, wanted, hash);
}

/* The table in use and its word. Holds: shard lock. */
static struct table current_table(const struct shard *shard, const struct shard_common *common,
                                  uintptr_t *word)
{
	/* relaxed: written under the lock that we hold */
	*word = atomic_load_explicit(&common->directory[shard->index], memory_order_relaxed);
	return shard_table(common, *word);
}

/*
 * Fills a table that nobody else sees yet with all strings of the shard. FLATTEN: the hash of short strings is inlined,
 * too. Holds: shard lock.
 */
static FLATTEN void fill(const struct shard *shard, const struct shard_common *common,
                 const struct table *table, const struct secret *secret)
{
	struct slab_walk walk;
	const char *str;
	size_t len;

	slab_walk_begin(&walk, &shard->slabs, &common->layout);
	while ((str = slab_walk_next(&walk, &common->layout, &len)) != NULL) {
		uint64_t hash = len <= HASH_SHORT ? hash_short_bytes(secret, str, len)
		                                  : hash_bytes(secret, str, len);

		shard_check_string(common, shard->index, str, len);
		table_add(table, hash, entry_ref(&common->layout, str));
	}
}

/*
 * Gives the pages of a replaced table back, where it has whole ones; but not that of an own secret: it is plain data, and
 * a reader who hashed with zeros would look in the wrong bucket, where no acquire orders what comes next (B1). Holds:
 * shard lock.
 */
static void retire(struct shard *shard, const struct shard_common *common, uintptr_t word)
{
	struct table table = shard_table(common, word);
	size_t page = common->tables.page;
	size_t secret = word & DIRECTORY_OWN_SECRET ? HASH_SECRET_SIZE : 0;
	uintptr_t start = (uintptr_t)table.buckets - secret;
	uintptr_t end = (uintptr_t)(table.buckets + table.mask + 1);
	uintptr_t from = ((uintptr_t)table.buckets + page - 1) & ~(uintptr_t)(page - 1);
	uintptr_t to = end & ~(uintptr_t)(page - 1);

	shard->retired_bytes += end - start;
	if (to > from && os_discard(common->tables_base + (from - (uintptr_t)common->tables_base),
	                            to - from))
		shard->emptied_bytes += to - from;
}

/*
 * Replaces the table by one of 1 << log2 buckets, keyed with own, or with the interner's secret where that is
 * NULL. False with ENOSPC or ENOMEM: the old table stays. Holds: shard lock.
 */
static bool replace_table(struct shard *shard, struct shard_common *common, unsigned log2,
                          const struct secret *own)
{
	size_t secret_bytes = own ? sizeof *own : 0;
	size_t page = common->tables.page;
	struct table table;
	uintptr_t old, word;
	uint64_t limit;
	size_t bytes;
	char *memory;

	if (log2 > DIRECTORY_LOG2_MAX || ((size_t)BUCKET_BYTES << log2) >> log2 != BUCKET_BYTES) {
		errno = ENOSPC;
		return false;
	}
	bytes = ((size_t)BUCKET_BYTES << log2) + secret_bytes;
	/* whole pages can be emptied one day */
	memory = range_take(&common->tables, bytes, bytes >= page ? page : BUCKET_BYTES);
	if (!memory)
		return false;
	if (common->huge_tables && bytes >= OS_HUGE_PAGE)
		os_advise_huge(memory, bytes & ~(page - 1), true);
	range_populate(&common->tables);
	if (own)
		memcpy(memory, own, sizeof *own);
	table.buckets = (struct bucket *)(void *)(memory + secret_bytes);
	table.mask = (uint32_t)((UINT64_C(1) << log2) - 1);
	fill(shard, common, &table, own ? own : &common->secret);

	old = atomic_load_explicit(&common->directory[shard->index], memory_order_relaxed);
	word = (uintptr_t)((char *)table.buckets - common->tables_base) |
	       (uintptr_t)log2 << DIRECTORY_LOG2_SHIFT | (own ? DIRECTORY_OWN_SECRET : 0);
	/* B1: pairs with the acquire loads of interner.c; the filled table and its secret come first */
	atomic_store_explicit(&common->directory[shard->index], word, ORDER_B1_WORD_STORE);

	if (shard->slots > 0) /* the shared empty bucket is nobody's to retire */
		retire(shard, common, old);
	shard->slots = table_slots((uint64_t)table.mask + 1);
	limit = table_load_limit((uint64_t)table.mask + 1);
	shard->limit = limit < UINT32_MAX ? (uint32_t)limit : UINT32_MAX;
	shard->table_bytes = bytes;
	return true;
}

/* Replaces the table by a larger one with the same secret. Holds: shard lock. */
static bool grow(struct shard *shard, struct shard_common *common, unsigned log2)
{
	uintptr_t word;
	struct table table = current_table(shard, common, &word);
	bool first = shard->slots == 0; /* the shared empty bucket is not counted as a table */

	if (!replace_table(shard, common, log2,
	                   word & DIRECTORY_OWN_SECRET ? shard_own_secret(&table) : NULL))
		return false;
	shard->growths += !first;
	return true;
}

/* log2 of buckets of the next larger table. Holds: shard lock. */
static unsigned next_log2(const struct shard *shard, const struct table *table)
{
	unsigned log2 = 0;

	if (shard->slots == 0)
		return 0;
	while (log2 < DIRECTORY_LOG2_MAX && (UINT64_C(1) << log2) <= table->mask)
		log2++;
	return shard->table_bytes < SMALL_TABLE ? log2 + 2 : log2 + 1;
}

/* Gives the table a fresh secret, once for each size. Holds: shard lock. */
static bool rekey(struct shard *shard, struct shard_common *common, uintptr_t word)
{
	unsigned log2 = (unsigned)(word >> DIRECTORY_LOG2_SHIFT & 31);
	struct secret fresh;

	if (shard->rekeyed_log2 == log2 + 1)
		return false;
	shard->rekeyed_log2 = log2 + 1;
	if (!secret_draw(&fresh) || !replace_table(shard, common, log2, &fresh))
		return false;
	shard->rekeys++;
	return true;
}

/*
 * Takes the entry's memory: the slab prepared before the lock was taken, or what slab_alloc finds. Holds: shard lock.
 */
static char *take_entry(struct shard *shard, struct shard_common *common, size_t len,
                        struct slab **prepared, struct slab **own)
{
	*own = *prepared;
	*prepared = NULL;
	if (*own)
		return slab_single_str(*own);
	return slab_alloc(&shard->slabs, &common->slab_policy, &common->layout, &common->strings,
	                  len, own);
}

static void copy_bytes(char *to, const struct wanted *wanted)
{
	if (!wanted->parts) {
		if (wanted->len > 0)
			memcpy(to, wanted->s, wanted->len);
		return;
	}
	for (size_t i = 0; i < wanted->nparts; i++)
		if (wanted->parts[i].len > 0) {
			memcpy(to, wanted->parts[i].data, wanted->parts[i].len);
			to += wanted->parts[i].len;
		}
}

/*
 * Interns one string. *prepared, where there is one, holds a finished copy; it becomes NULL when it was
 * used. False with errno: nothing changed. Holds: shard lock.
 */
static bool intern_locked(struct shard *shard, struct shard_common *common, struct shard_key *key,
                          struct slab **prepared)
{
	const struct wanted *wanted = &key->wanted;
	uint64_t hash = key->hash;
	bool copied = *prepared != NULL;
	struct slab *own; /* the slab that the string has to itself */
	struct place place;
	struct table table;
	uintptr_t word;
	char *str;

	table = current_table(shard, common, &word);
	if (UNLIKELY(word & DIRECTORY_OWN_SECRET))
		hash = shard_own_hash(&table, wanted);
	key->str = table_find_place(&table, &common->layout, wanted, hash, &place);
	key->is_new = !key->str;
	if (key->str)
		return true;

	if (UNLIKELY(shard->strings >= shard->limit)) {
		if (grow(shard, common, next_log2(shard, &table))) {
			table = current_table(shard, common, &word);
			place = table_seek(&table, hash);
		} else if (shard->slots == 0 ||
		           shard->strings >= table_hard_limit((uint64_t)table.mask + 1)) {
			return false;
		}
	}
	if (UNLIKELY(place.probed > PROBE_LIMIT) && rekey(shard, common, word)) {
		table = current_table(shard, common, &word);
		hash = shard_own_hash(&table, wanted);
		place = table_seek(&table, hash);
	}
	str = take_entry(shard, common, wanted->len, prepared, &own);
	if (!str)
		return false;
	if (!copied) {
		entry_frame(&common->layout, str, wanted->len, hash_byte(key->hash));
		copy_bytes(str, wanted);
	}
	table_put(&table, &place, hash, entry_ref(&common->layout, str));
	if (UNLIKELY(own)) /* last: walks enter it without the lock, and who met a string there finds it */
		slab_link(&shard->slabs, &common->layout, own, wanted->len);
	shard->strings++;
	shard->payload += wanted->len;
	if (place.probed > shard->max_probe)
		shard->max_probe = place.probed;
	check(shard, common);
	key->str = str;
	return true;
}

static void enter(struct shard *shard)
{
	if (lock_acquire(&shard->lock))
		shard->lock_waits++;
}

/*
 * Looks once more for a large string for which there was no memory: another call, or an earlier string of the same
 * batch, may have added it, perhaps with the last that there was. False: it is not there, errno is as it was.
 */
static bool look_again(struct shard *shard, struct shard_common *common, struct shard_key *key)
{
	int error = errno;
	uintptr_t word;

	enter(shard);
	current_table(shard, common, &word);
	key->str = shard_find(common, word, &key->wanted, key->hash);
	lock_release(&shard->lock);
	errno = error;
	return key->str != NULL;
}

bool shard_intern(struct shard *shard, struct shard_common *common, struct shard_key *key)
{
	struct slab *prepared = NULL;
	bool done;

	if (key->wanted.len >= LARGE_STRING) {
		char *str;

		prepared = slab_alloc_single(&common->layout, &common->strings, key->wanted.len);
		if (!prepared)
			return look_again(shard, common, key);
		str = slab_single_str(prepared);
		entry_frame(&common->layout, str, key->wanted.len, hash_byte(key->hash));
		copy_bytes(str, &key->wanted);
	}
	enter(shard);
	done = intern_locked(shard, common, key, &prepared);
	lock_release(&shard->lock);
	if (prepared) {
		int error = errno;

		slab_abandon(prepared, &common->layout, &common->strings, key->wanted.len);
		errno = error;
	}
	range_populate(&common->strings);
	return done;
}

size_t shard_intern_group(struct shard *shard, struct shard_common *common,
                          struct shard_key *const *keys, size_t n)
{
	size_t done = 0;

	while (done < n) {
		struct slab *none = NULL;
		bool failed = false;

		if (keys[done]->wanted.len >= LARGE_STRING) {
			if (!shard_intern(shard, common, keys[done]))
				break;
			done++;
			continue;
		}
		enter(shard);
		while (done < n && keys[done]->wanted.len < LARGE_STRING) {
			failed = !intern_locked(shard, common, keys[done], &none);
			if (failed)
				break;
			done++;
		}
		lock_release(&shard->lock);
		if (failed)
			break;
	}
	range_populate(&common->strings);
	return done;
}

/* log2 of buckets of a table for that many strings. */
static unsigned log2_for(uint64_t strings)
{
	unsigned log2 = 0;

	while (log2 <= DIRECTORY_LOG2_MAX && table_load_limit(UINT64_C(1) << log2) < strings)
		log2++;
	return log2;
}

uint64_t shard_table_bytes(uint64_t strings)
{
	return (uint64_t)BUCKET_BYTES << log2_for(strings);
}

size_t shard_longest(const struct shard_common *common)
{
	return slab_longest(&common->layout, common->strings.capacity - common->strings.used);
}

bool shard_reserve(struct shard *shard, struct shard_common *common, uint64_t strings)
{
	bool done;

	enter(shard);
	done = shard->limit >= strings || grow(shard, common, log2_for(strings));
	lock_release(&shard->lock);
	return done;
}

void shard_walk_begin(struct shard *shard, const struct shard_common *common,
                      struct slab_walk *walk)
{
	enter(shard);
	slab_walk_begin(walk, &shard->slabs, &common->layout);
	lock_release(&shard->lock);
}

void shard_stats_add(struct shard *shard, cistern_shard_stats *out)
{
	enter(shard);
	out->strings += shard->strings;
	out->payload_bytes += shard->payload;
	out->overhead_bytes +=
	    shard->slabs.heads + slab_entry_bytes(&shard->slabs) - shard->payload;
	out->slack_bytes += shard->slabs.abandoned + shard->slabs.room;
	out->table_bytes += shard->table_bytes;
	out->retired_bytes += shard->retired_bytes;
	out->emptied_bytes += shard->emptied_bytes;
	out->slots += shard->slots;
	out->slabs += shard->slabs.count;
	out->growths += shard->growths;
	out->rekeys += shard->rekeys;
	out->lock_waits += shard->lock_waits;
	if (shard->max_probe > out->max_probe)
		out->max_probe = shard->max_probe;
	lock_release(&shard->lock);
}
