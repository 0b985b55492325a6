/* SPDX-License-Identifier: MIT */
/*
 * interner.c - the facade: checks arguments, answers hits without a lock and sends misses to their shard.
 *
 * A hit is: hash, load the shard's directory word (acquire, pairs with B1), search that table, done. It writes
 * nothing, anywhere. A miss means nothing yet if the directory word has changed meanwhile: the table searched
 * may have been replaced and emptied. So the word is loaded again; changed, the search is repeated, which can
 * happen only as often as the shard replaces its table: once a doubling and once a re-key for each size.
 * Tags and references were loaded with acquire, so the second load of the word cannot have come before them.
 *
 * A short string is looked for inline, with shard_peek; what that does not find, and what is long or looks wrong,
 * goes to a function apart. So the way of a hit has no call and keeps everything in registers. FLATTEN: the
 * hash is inlined, too.
 *
 * Never touches a slab; takes no lock itself.
 */
#include "interner.h"
#include "order.h"

#include <errno.h>

/* ---- finding ---- */

/* Looks until it finds the string or has searched a table that is still in use afterwards. */
ALWAYS_INLINE const char *search(const struct shard_common *common, const struct wanted *wanted,
                                 uint64_t hash)
{
	directory_word *at = shard_word(common, hash);
	/* acquire, both: pair with B1 */
	uintptr_t word = atomic_load_explicit(at, ORDER_B1_FIND_LOAD);

	for (;;) {
		const char *str = shard_find(common, word, wanted, hash);
		uintptr_t before = word;

		if (str)
			return str;
		word = atomic_load_explicit(at, ORDER_B1_FIND_RELOAD);
		if (word == before || !RECHECK_B1_FIND)
			return NULL;
	}
}

NOINLINE const char *interner_find(const cistern *c, const char *s, size_t len, uint64_t hash)
{
	struct shard_key key;

	shard_key_init(&key, s, len, hash);
	return search(&c->common, &key.wanted, hash);
}

static NOINLINE const char *find_any(const cistern *c, const char *s, size_t len)
{
	if (!interner_findable(c, s, len))
		return NULL;
	return interner_find(c, s, len, hash_bytes(&c->common.secret, s, len));
}

FLATTEN const char *cistern_find(const cistern *c, const char *s, size_t len)
{
	const char *str;
	uint64_t hash;

	if (UNLIKELY(!interner_short(c, s, len)))
		return find_any(c, s, len);
	hash = hash_short_bytes(&c->common.secret, s, len);
	str = shard_peek(&c->common, s, len, hash);
	return LIKELY(str) ? str : interner_find(c, s, len, hash);
}

const char *cistern_find_cstr(const cistern *c, const char *s)
{
	return s ? cistern_find(c, s, strlen(s)) : NULL;
}

const char *cistern_find_hashed(const cistern *c, const char *s, size_t len, uint64_t hash)
{
	return interner_findable(c, s, len) ? interner_find(c, s, len, hash) : NULL;
}

uint64_t cistern_hash(const cistern *c, const char *s, size_t len)
{
	return interner_findable(c, s, len) ? hash_bytes(&c->common.secret, s, len) : 0;
}

/* ---- interning ---- */

/*
 * Looks without the lock, then inserts under it. Inserting looks again, and yet a miss is not believed at once: a
 * string that is there must not wait for the lock nor, being large, fail for want of memory for a copy. The key is
 * filled in where it lies and never copied: to load a struct whose parts were just stored, the processor waits
 * for all stores before them, and those of inserting miss the cache.
 */
static const char *intern_key(cistern *c, struct shard_key *key, bool *is_new)
{
	struct shard *shard = &c->shards[hash_shard(key->hash) & c->common.shard_mask];

	key->is_new = false;
	key->str = search(&c->common, &key->wanted, key->hash);
	if (!key->str && !shard_intern(shard, &c->common, key))
		return NULL;
	if (is_new)
		*is_new = key->is_new;
	return key->str;
}

static NOINLINE const char *intern(cistern *c, const char *s, size_t len, uint64_t hash,
                                   bool *is_new)
{
	struct shard_key key;

	shard_key_init(&key, s, len, hash);
	return intern_key(c, &key, is_new);
}

static NOINLINE const char *intern_any(cistern *c, const char *s, size_t len,
                                                        bool *is_new)
{
	if (!interner_acceptable(c, s, len))
		return NULL;
	return intern(c, s, len, hash_bytes(&c->common.secret, s, len), is_new);
}

FLATTEN const char *cistern_intern(cistern *c, const char *s, size_t len)
{
	const char *str;
	uint64_t hash;

	if (UNLIKELY(!interner_short(c, s, len)))
		return intern_any(c, s, len, NULL);
	hash = hash_short_bytes(&c->common.secret, s, len);
	str = shard_peek(&c->common, s, len, hash);
	return LIKELY(str) ? str : intern(c, s, len, hash, NULL);
}

const char *cistern_intern_cstr(cistern *c, const char *s)
{
	return s ? cistern_intern(c, s, strlen(s)) : NULL;
}

const char *cistern_intern_new(cistern *c, const char *s, size_t len, bool *is_new)
{
	return intern_any(c, s, len, is_new);
}

const char *cistern_intern_hashed(cistern *c, const char *s, size_t len, uint64_t hash)
{
	return interner_acceptable(c, s, len) ? intern(c, s, len, hash, NULL) : NULL;
}

/* The concatenation of pieces that are too long to be put together first. */
static const char *intern_parts(cistern *c, const cistern_span *parts, size_t nparts, size_t len)
{
	struct shard_key key;

	shard_key_init(&key, NULL, len, hash_parts(&c->common.secret, parts, nparts));
	key.wanted.parts = parts;
	key.wanted.nparts = nparts;
	return intern_key(c, &key, NULL);
}

const char *cistern_internv(cistern *c, const cistern_span *parts, size_t nparts)
{
	char joined[4096];
	char *at = joined;
	size_t len = 0;

	if (!c || (!parts && nparts > 0)) {
		errno = EINVAL;
		return NULL;
	}
	for (size_t i = 0; i < nparts; i++) {
		if (!parts[i].data && parts[i].len > 0) {
			errno = EINVAL;
			return NULL;
		}
		if (parts[i].len > SIZE_MAX - len) {
			errno = EOVERFLOW;
			return NULL;
		}
		len += parts[i].len;
	}
	if (!interner_acceptable(c, "", len))
		return NULL;
	if (len > sizeof joined)
		return intern_parts(c, parts, nparts, len);
	/* short ones are put together here: cheaper than hashing and comparing in pieces */
	for (size_t i = 0; i < nparts; i++)
		if (parts[i].len > 0) {
			memcpy(at, parts[i].data, parts[i].len);
			at += parts[i].len;
		}
	return cistern_intern(c, joined, len);
}

/* ---- properties ---- */

size_t cistern_len(const char *str)
{
	return str ? entry_len(str) : 0;
}

cistern_id cistern_id_of(const cistern *c, const char *str)
{
	return c && str ? entry_ref(&c->common.layout, str) : 0;
}

const char *cistern_str(const cistern *c, cistern_id id)
{
	const struct entry_layout *layout;
	uintptr_t at;

	if (!c || id == 0)
		return NULL;
	layout = &c->common.layout;
	at = entry_address(layout, id);
	return at > (uintptr_t)layout->origin && range_contains(&c->common.strings, at, 1)
	           ? entry_str(layout, id)
	           : NULL;
}

/*
 * Whether an entry with that reference is in its table. What looks like an entry gives bytes to hash; only if
 * the table then holds this very reference it is one. Nothing read on the way is trusted.
 */
static bool is_entry(const cistern *c, uint32_t ref)
{
	const struct shard_common *common = &c->common;
	uintptr_t at = entry_address(&common->layout, ref);
	const char *str;
	directory_word *shard;
	uintptr_t word, before;
	uint32_t header;
	uint64_t long_len, hash;
	size_t len;
	char end;

	if (at <= (uintptr_t)common->layout.origin ||
	    !range_contains(&common->strings, at - ENTRY_HEADER, ENTRY_HEADER + 1))
		return false;
	str = entry_str(&common->layout, ref);
	hash_copy_racing(&header, str - ENTRY_HEADER, sizeof header);
	len = header & ENTRY_ESCAPE;
	if (len == ENTRY_ESCAPE) {
		if (!range_contains(&common->strings, at - ENTRY_HEADER - ENTRY_LONG_LEN,
		                    ENTRY_LONG_LEN))
			return false;
		hash_copy_racing(&long_len, str - ENTRY_HEADER - ENTRY_LONG_LEN, sizeof long_len);
		if (long_len < ENTRY_ESCAPE || long_len > c->longest)
			return false;
		len = (size_t)long_len;
	}
	if (!range_contains(&common->strings, at, len + 1))
		return false;
	hash_copy_racing(&end, str + len, 1);
	if (end != '\0')
		return false;
	hash = hash_racing_bytes(&common->secret, str, len);
	if (hash_byte(hash) != header >> 24)
		return false;
	shard = shard_word(common, hash);
	/* acquire, both: pair with B1; repeated as in find */
	word = atomic_load_explicit(shard, ORDER_B1_ENTRY_LOAD);
	do {
		struct table table = shard_table(common, word);
		uint64_t table_hash = hash;

		if (word & DIRECTORY_OWN_SECRET)
			table_hash = hash_racing_bytes(shard_own_secret(&table), str, len);
		if (table_holds(&table, ref, table_hash))
			return true;
		before = word;
		word = atomic_load_explicit(shard, ORDER_B1_ENTRY_RELOAD);
	} while (word != before && RECHECK_B1_ENTRY);
	return false;
}

bool cistern_owns(const cistern *c, const void *p)
{
	uintptr_t at = (uintptr_t)p, first;

	if (!c || !p)
		return false;
	first = (uintptr_t)c->common.layout.origin;
	if (at < first || !range_contains(&c->common.strings, at, 1) ||
	    (at - first) & (((uintptr_t)1 << c->common.layout.shift) - 1))
		return false;
	return is_entry(c, (uint32_t)((at - first) >> c->common.layout.shift));
}

bool cistern_id_valid(const cistern *c, cistern_id id)
{
	return c && is_entry(c, id);
}
