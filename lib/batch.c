/* SPDX-License-Identifier: MIT */
/*
 * batch.c - finding and interning many strings at a time: the same as single calls, but in passes over a group, so that
 * the cache misses of the whole group overlap.
 *
 *   start    hash each string and have its bucket fetched
 *   look     read the buckets and have the entries of the candidates fetched, and the next group's strings
 *   finish   compare; what was not the first candidate is looked for by itself
 *   insert   what is absent, shard by shard, each shard's lock once a group
 *
 * Lengths come at random, and a processor that guesses wrong at the branches of hashing and comparing loses as much
 * time as half a hit takes. So a group is gone through by class of length: each class has a loop of its own, in
 * which those branches are settled beforehand.
 *
 * Takes no lock itself; never touches a slab. All state is on the stack.
 */
#include "interner.h"

#include <errno.h>

#define GROUP 128u /* strings that are in flight together */

/* Lengths for which hashing and comparing take the same branches: those of XXH3, see entry_short_equal. */
enum length_class {
	UP_TO_3,
	UP_TO_8,
	UP_TO_16,
	UP_TO_32,
	UP_TO_64,
	UP_TO_96,
	UP_TO_128,
	LONGER,
	LENGTH_CLASSES
};

static const uint8_t length_class[] = {
    [4 ... 8] = UP_TO_8,    [9 ... 16] = UP_TO_16,  [17 ... 32] = UP_TO_32,
    [33 ... 64] = UP_TO_64, [65 ... 96] = UP_TO_96, [97 ... 128] = UP_TO_128,
    [129] = LONGER,
};

/* A group in flight. */
struct group {
	uint64_t hash[GROUP];
	struct bucket *bucket[GROUP]; /* NULL for what cannot be looked for */
	uint8_t of_class[LENGTH_CLASSES][GROUP]; /* indices */
	unsigned count[LENGTH_CLASSES];
};
_Static_assert(GROUP <= 256, "of_class[] counts to there");

static inline void sort_group(struct group *group, const cistern_span *in, size_t n)
{
	memset(group->count, 0, sizeof group->count);
	for (size_t i = 0; i < n; i++) {
		enum length_class class = length_class[in[i].len < 129 ? in[i].len : 129];

		group->of_class[class][group->count[class]++] = (uint8_t)i;
	}
}

/* Hashes string i and has its bucket fetched. */
ALWAYS_INLINE void start(const cistern *c, struct group *group, const cistern_span *in, size_t i)
{
	const char *s = in[i].data;
	size_t len = in[i].len;

	group->bucket[i] = NULL;
	if (LIKELY(interner_short(c, s, len)))
		group->hash[i] = hash_short_bytes(&c->common.secret, s, len);
	else if (interner_findable(c, s, len))
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
		out[i] = group->bucket[i] ? interner_find(c, s, len, hash) : NULL;
}

/* Does that with all strings of a class, whose bounds are constants: the compiler drops what they settle. */
#define FOR_CLASS(class, least, most, action)                                                     \
	for (unsigned k_ = 0; k_ < group->count[class]; k_++) {                                   \
		size_t i = group->of_class[class][k_];                                            \
                                                                                                  \
		if (in[i].len - (least) > (most) - (least))                                       \
			__builtin_unreachable();                                                  \
		action;                                                                           \
	}

#define FOR_EACH_CLASS(action)                                                                    \
	FOR_CLASS(UP_TO_3, 0, 3, action)                                                          \
	FOR_CLASS(UP_TO_8, 4, 8, action)                                                          \
	FOR_CLASS(UP_TO_16, 9, 16, action)                                                        \
	FOR_CLASS(UP_TO_32, 17, 32, action)                                                       \
	FOR_CLASS(UP_TO_64, 33, 64, action)                                                       \
	FOR_CLASS(UP_TO_96, 65, 96, action)                                                       \
	FOR_CLASS(UP_TO_128, 97, 128, action)                                                     \
	FOR_CLASS(LONGER, 129, SIZE_MAX, action)

/* Reads the buckets; has the entries of the candidates fetched, and the strings of the next group. */
ALWAYS_INLINE void look_into_buckets(const cistern *c, struct group *group, const cistern_span *in,
                                     const char **out, size_t n, size_t left)
{
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
	}
}

/*
 * Finds the first strings of in[0..left-1], as many as a group holds; out[i] is NULL where one is absent. Returns
 * how many were found.
 */
static FLATTEN size_t find_group(const cistern *c, struct group *group, const cistern_span *in,
                                 const char **out, size_t left)
{
	size_t n = left < GROUP ? left : GROUP, found = 0;

	sort_group(group, in, n);
	FOR_EACH_CLASS(start(c, group, in, i))
	look_into_buckets(c, group, in, out, n, left);
	FOR_EACH_CLASS(finish(c, group, in, out, i))
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
		if (interner_acceptable(c, in[i].data, in[i].len)) {
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
