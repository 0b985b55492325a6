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
 * Batches do the same in stages for a group of strings, so that the cache misses of the whole group overlap.
 *
 * Never touches a slab; takes no lock itself.
 */
#include "interner.h"

#include <errno.h>

#define GROUP 64u /* strings of a batch that are in flight together */

/* ---- finding ---- */

/*
 * A short string is looked for inline, with shard_peek; what that does not find, and what is long or looks wrong, goes
 * to a function apart. So the way of a hit has no call and keeps everything in registers. flatten: the hash is
 * inlined, too.
 */
ALWAYS_INLINE bool is_short(const cistern *c, const char *s, size_t len)
{
	return c && s && len <= c->common.short_len;
}

/* Looks until it finds the string or has searched a table that is still in use afterwards. */
ALWAYS_INLINE const char *search(const struct shard_common *common, const struct wanted *wanted,
                                 uint64_t hash)
{
	directory_word *at = shard_word(common, hash);
	/* acquire, both: pair with B1 */
	uintptr_t word = atomic_load_explicit(at, memory_order_acquire);

	for (;;) {
		const char *str = shard_find(common, word, wanted, hash);
		uintptr_t before = word;

		if (str)
			return str;
		word = atomic_load_explicit(at, memory_order_acquire);
		if (word == before)
			return NULL;
	}
}

static NOINLINE const char *find(const cistern *c, const char *s, size_t len, uint64_t hash)
{
	struct shard_key key;

	shard_key_init(&key, s, len, hash);
	return search(&c->common, &key.wanted, hash);
}

static bool findable(const cistern *c, const char *s, size_t len)
{
	return c && (s || len == 0) && len <= c->common.max_len;
}

static NOINLINE const char *find_any(const cistern *c, const char *s, size_t len)
{
	if (!findable(c, s, len))
		return NULL;
	return find(c, s, len, hash_bytes(&c->common.secret, s, len));
}

FLATTEN const char *cistern_find(const cistern *c, const char *s, size_t len)
{
	const char *str;
	uint64_t hash;

	if (UNLIKELY(!is_short(c, s, len)))
		return find_any(c, s, len);
	hash = hash_short_bytes(&c->common.secret, s, len);
	str = shard_peek(&c->common, s, len, hash);
	return LIKELY(str) ? str : find(c, s, len, hash);
}

const char *cistern_find_cstr(const cistern *c, const char *s)
{
	return s ? cistern_find(c, s, strlen(s)) : NULL;
}

const char *cistern_find_hashed(const cistern *c, const char *s, size_t len, uint64_t hash)
{
	return findable(c, s, len) ? find(c, s, len, hash) : NULL;
}

uint64_t cistern_hash(const cistern *c, const char *s, size_t len)
{
	return findable(c, s, len) ? hash_bytes(&c->common.secret, s, len) : 0;
}

/* ---- interning ---- */

/* Whether the string may be interned; decided without reading it. */
static bool acceptable(const cistern *c, const char *s, size_t len)
{
	if (!c || (!s && len > 0)) {
		errno = EINVAL;
		return false;
	}
	if (len > c->common.max_len) {
		errno = len > PTRDIFF_MAX ? EOVERFLOW : E2BIG;
		return false;
	}
	return true;
}

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

static NOINLINE const char *intern(cistern *c, const char *s, size_t len,
                                                    uint64_t hash, bool *is_new)
{
	struct shard_key key;

	shard_key_init(&key, s, len, hash);
	return intern_key(c, &key, is_new);
}

static NOINLINE const char *intern_any(cistern *c, const char *s, size_t len,
                                                        bool *is_new)
{
	if (!acceptable(c, s, len))
		return NULL;
	return intern(c, s, len, hash_bytes(&c->common.secret, s, len), is_new);
}

FLATTEN const char *cistern_intern(cistern *c, const char *s, size_t len)
{
	const char *str;
	uint64_t hash;

	if (UNLIKELY(!is_short(c, s, len)))
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
	return acceptable(c, s, len) ? intern(c, s, len, hash, NULL) : NULL;
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
	if (!acceptable(c, "", len))
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

/* ---- batches ---- */

/*
 * Short strings of changing length make the processor guess wrong at the branches of hashing and comparing, each
 * time for as long as half a hit takes. So where most are short, a group is gone through by class of length, for
 * which those branches are settled beforehand. Longer ones hide wrong guesses behind their own work, and
 * sorting them costs more than it gains.
 */
enum length_class { UP_TO_3, UP_TO_8, UP_TO_16, LONGER, LENGTH_CLASSES };

static const uint8_t length_class[] = {[4 ... 8] = UP_TO_8, [9 ... 16] = UP_TO_16, [17] = LONGER};

/* A group in flight. */
struct group {
	uint64_t hash[GROUP];
	struct bucket *bucket[GROUP]; /* NULL for what cannot be looked for */
	bool by_class;                /* the group before had mostly short strings */
	uint8_t of_class[LENGTH_CLASSES][GROUP]; /* indices */
	unsigned count[LENGTH_CLASSES];
};
_Static_assert(GROUP <= 256, "of_class[] counts to there");

static inline void sort_group(struct group *group, const cistern_span *in, size_t n)
{
	memset(group->count, 0, sizeof group->count);
	for (size_t i = 0; i < n; i++) {
		enum length_class class = length_class[in[i].len < 17 ? in[i].len : 17];

		group->of_class[class][group->count[class]++] = (uint8_t)i;
	}
}

/* Hashes string i and has its bucket fetched. */
ALWAYS_INLINE void start(const cistern *c, struct group *group, const cistern_span *in, size_t i)
{
	const char *s = in[i].data;
	size_t len = in[i].len;

	group->bucket[i] = NULL;
	if (LIKELY(is_short(c, s, len)))
		group->hash[i] = hash_short_bytes(&c->common.secret, s, len);
	else if (findable(c, s, len))
		group->hash[i] = hash_bytes(&c->common.secret, s, len);
	else
		return;
	group->bucket[i] = shard_first_bucket(&c->common, group->hash[i]);
	PREFETCH_READ(group->bucket[i]);
}

/* Compares string i with its candidate in out[i]; looks for it by itself where that is another. */
ALWAYS_INLINE void finish(const cistern *c, const struct group *group, const cistern_span *in,
                          const char **out, size_t i)
{
	const char *s = in[i].data;
	size_t len = in[i].len;
	uint64_t hash = group->hash[i];

	if (UNLIKELY(!out[i]) ||
	    UNLIKELY(!entry_equal(out[i], entry_header(len, hash_byte(hash)), s, len)))
		out[i] = group->bucket[i] ? find(c, s, len, hash) : NULL;
}

/* The same for all strings of a class, whose bounds are constants. */
#define FOR_CLASS(class, least, most, action)                                                     \
	for (unsigned k_ = 0; k_ < group->count[class]; k_++) {                                   \
		size_t i = group->of_class[class][k_];                                            \
                                                                                                  \
		if (in[i].len - (least) > (most) - (least))                                       \
			__builtin_unreachable();                                                  \
		action;                                                                           \
	}

ALWAYS_INLINE void start_by_class(const cistern *c, struct group *group, const cistern_span *in)
{
	FOR_CLASS(UP_TO_3, 0, 3, start(c, group, in, i))
	FOR_CLASS(UP_TO_8, 4, 8, start(c, group, in, i))
	FOR_CLASS(UP_TO_16, 9, 16, start(c, group, in, i))
	FOR_CLASS(LONGER, 17, SIZE_MAX, start(c, group, in, i))
}

ALWAYS_INLINE void finish_by_class(const cistern *c, const struct group *group,
                                   const cistern_span *in, const char **out)
{
	FOR_CLASS(UP_TO_3, 0, 3, finish(c, group, in, out, i))
	FOR_CLASS(UP_TO_8, 4, 8, finish(c, group, in, out, i))
	FOR_CLASS(UP_TO_16, 9, 16, finish(c, group, in, out, i))
	FOR_CLASS(LONGER, 17, SIZE_MAX, finish(c, group, in, out, i))
}

/* Reads the buckets; has the entries of the candidates fetched, and the strings of the next group. */
ALWAYS_INLINE void look_into_buckets(const cistern *c, struct group *group, const cistern_span *in,
                                     const char **out, size_t n, size_t left)
{
	size_t nshort = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t ref = 0;

		if (LIKELY(group->bucket[i]))
			ref = bucket_candidate(group->bucket[i], group->hash[i]);
		out[i] = NULL;
		if (LIKELY(ref)) {
			out[i] = entry_str(&c->common.layout, ref);
			PREFETCH_READ(out[i] - ENTRY_HEADER);
			PREFETCH_READ(out[i] + in[i].len / 2);
			PREFETCH_READ(out[i] + in[i].len);
		}
		if (LIKELY(i + GROUP < left))
			PREFETCH_READ(in[i + GROUP].data);
		nshort += in[i].len <= 16;
	}
	group->by_class = nshort > n / 2;
}

/*
 * Finds the first strings of in[0..left-1], as many as a group holds; out[i] is NULL where one is absent. Three
 * passes: hash all and have their buckets fetched; read the buckets and have the entries fetched; compare.
 * Returns how many were found. A group is taken to be like the one before it.
 */
static FLATTEN size_t find_group(const cistern *c, struct group *group, const cistern_span *in,
                                 const char **out, size_t left)
{
	const bool by_class = group->by_class;
	size_t n = left < GROUP ? left : GROUP, found = 0;

	if (by_class) {
		sort_group(group, in, n);
		start_by_class(c, group, in);
	} else {
		for (size_t i = 0; i < n; i++)
			start(c, group, in, i);
	}
	look_into_buckets(c, group, in, out, n, left);
	if (by_class) {
		finish_by_class(c, group, in, out);
	} else {
		for (size_t i = 0; i < n; i++)
			finish(c, group, in, out, i);
	}
	for (size_t i = 0; i < n; i++)
		found += out[i] != NULL;
	return found;
}

size_t cistern_find_batch(const cistern *c, const cistern_span *in, const char **out, size_t n)
{
	struct group group;
	size_t found = 0;

	if (!c || !in || !out) {
		for (size_t i = 0; out && i < n; i++)
			out[i] = NULL;
		return 0;
	}
	group.by_class = false;
	for (size_t start = 0; start < n; start += GROUP)
		found += find_group(c, &group, in + start, out + start, n - start);
	return found;
}

/*
 * Interns the strings of a group that find_group did not find, shard by shard, so that each shard's lock is taken
 * once. Returns how many of the group's first strings are interned.
 */
static size_t insert_group(cistern *c, const struct group *group, const cistern_span *in,
                           const char **out, size_t n)
{
	struct shard_key keys[GROUP];
	struct shard_key *of_shard[GROUP];
	uint32_t missing[GROUP];
	size_t nmissing = 0, good = n;
	int error = 0;

	for (size_t i = 0; i < good; i++) {
		if (out[i])
			continue;
		if (acceptable(c, in[i].data, in[i].len)) {
			missing[nmissing++] = (uint32_t)i;
		} else {
			good = i;
			error = errno;
		}
	}
	while (nmissing > 0) {
		uint32_t index = hash_shard(group->hash[missing[0]]) & c->common.shard_mask;
		size_t count = 0, left = 0, done;

		for (size_t i = 0; i < nmissing; i++) {
			uint32_t at = missing[i];
			uint64_t hash = group->hash[at];

			if ((hash_shard(hash) & c->common.shard_mask) != index) {
				missing[left++] = at;
				continue;
			}
			shard_key_init(&keys[at], in[at].data, in[at].len, hash);
			of_shard[count++] = &keys[at];
		}
		nmissing = left;
		done = shard_intern_group(&c->shards[index], &c->common, of_shard, count);
		for (size_t i = 0; i < done; i++)
			out[of_shard[i] - keys] = of_shard[i]->str;
		if (done < count && (size_t)(of_shard[done] - keys) < good) {
			good = (size_t)(of_shard[done] - keys);
			error = errno;
		}
	}
	if (good < n)
		errno = error;
	return good;
}

size_t cistern_intern_batch(cistern *c, const cistern_span *in, const char **out, size_t n)
{
	struct group group;
	size_t done = 0;

	if (!c || (n > 0 && (!in || !out))) {
		for (size_t i = 0; out && i < n; i++)
			out[i] = NULL;
		errno = EINVAL;
		return 0;
	}
	group.by_class = false;
	while (done < n) {
		size_t count = n - done < GROUP ? n - done : GROUP, good = count;

		if (find_group(c, &group, in + done, out + done, n - done) < count)
			good = insert_group(c, &group, in + done, out + done, count);
		done += good;
		if (good < count)
			break;
	}
	for (size_t i = done; i < n; i++)
		out[i] = NULL;
	return done;
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
	word = atomic_load_explicit(shard, memory_order_acquire);
	do {
		struct table table = shard_table(common, word);
		uint64_t table_hash = hash;

		if (word & DIRECTORY_OWN_SECRET)
			table_hash = hash_racing_bytes(shard_own_secret(&table), str, len);
		if (table_holds(&table, ref, table_hash))
			return true;
		before = word;
		word = atomic_load_explicit(shard, memory_order_acquire);
	} while (word != before);
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
