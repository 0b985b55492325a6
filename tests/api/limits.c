/* SPDX-License-Identifier: MIT */
/*
 * limits.c - lengths where the inside changes its way, lengths that are refused, input that ends at
 * an unreadable page, and interners that are full. G6: a refusal changes nothing.
 */
#include "cases.h"
#include "child.h"
#include "figures.h"
#include "meminfo.h"
#include "support.h"
#include "variants.h"
#include "words.h"

#include <cistern.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static cistern *create(const cistern_config *config)
{
	cistern *c = cistern_create(config);

	if (!c)
		ck_abort_msg("cistern_create: %s", strerror(errno));
	return c;
}

static void assert_holds(const char *str, const char *data, size_t len)
{
	if (!str || cistern_len(str) != len || memcmp(str, data, len) != 0 || str[len] != '\0')
		ck_abort_msg("a string of %zu bytes is not what was interned (errno %d)", len,
			     errno);
}

/* Everything in the set is still there, unharmed, for each of the ways to ask. */
static void assert_all_there(cistern *c, const struct words *set)
{
	size_t i;

	for (i = 0; i < set->count; i++) {
		const struct word *word = set->items[i];

		assert_holds(word->kept, word->data, word->len);
		if (cistern_find(c, word->data, word->len) != word->kept ||
		    cistern_intern(c, word->data, word->len) != word->kept)
			ck_abort_msg("string %zu of %zu bytes is lost", i, word->len);
	}
	ck_assert_uint_eq(figures(c).strings, set->count);
}

/* ---------------------------------------------------------------- lengths */

static void intern_around(cistern *c, struct words *set, char *data, size_t middle)
{
	size_t len;

	for (len = middle > 40 ? middle - 40 : 0; len <= middle + 40; len++) {
		char small[16];
		struct word *word;
		bool is_new;

		/* a small string between, so that the current slab goes on being used */
		word =
		    words_put(set, small,
			      (size_t)snprintf(small, sizeof(small), "s%zu", set->count), &is_new);
		if (is_new)
			word->kept = cistern_intern(c, word->data, word->len);
		word = words_put(set, data, len, &is_new);
		if (is_new)
			word->kept = cistern_intern(c, data, len);
		assert_holds(word->kept, data, len);
	}
}

START_TEST(lengths_around_the_slab_size_are_kept)
{
	static const uint64_t sizes[] = {256, 320, 1024, 4096, 16384, 65536};
	support_rng rng = support_rng_start(0);
	char *data = need(malloc(3 * 65536));
	size_t i;

	random_bytes(&rng, data, 3 * 65536);
	for (i = 0; i < COUNT(sizes); i++) {
		cistern_config config = variant(_i);
		struct words set;
		cistern *c;

		config.slab_size = sizes[i];
		c = create(&config);
		words_init(&set);
		intern_around(c, &set, data, sizes[i] / 4);
		intern_around(c, &set, data, sizes[i] / 2);
		intern_around(c, &set, data, sizes[i]);
		intern_around(c, &set, data, sizes[i] * 2);
		intern_around(c, &set, data, 4096);
		assert_all_there(c, &set);
		figures_check(c);
		words_free(&set);
		cistern_destroy(c);
	}
	free(data);
}
END_TEST

START_TEST(lengths_around_the_header_limit_are_kept)
{
	enum { LIMIT = 1 << 24 };
	cistern *c = variant_create(_i);
	char *data = need(malloc(LIMIT + 2));
	const char *kept[5], *other;
	size_t i;

	memset(data, 'h', LIMIT + 2);
	for (i = 0; i < COUNT(kept); i++) {
		size_t len = LIMIT - 3 + i;
		bool is_new = false;

		ck_assert_ptr_null(cistern_find(c, data, len));
		kept[i] = cistern_intern_new(c, data, len, &is_new);
		ck_assert(is_new);
		assert_holds(kept[i], data, len);
		ck_assert_ptr_eq(cistern_find(c, data, len), kept[i]);
	}
	/* equal but for the first or the last byte */
	for (i = 0; i < 2; i++) {
		size_t at = i ? LIMIT : 0;

		data[at] = 'x';
		ck_assert_ptr_null(cistern_find(c, data, LIMIT + 1));
		other = cistern_intern(c, data, LIMIT + 1);
		assert_holds(other, data, LIMIT + 1);
		ck_assert_ptr_ne(other, kept[4]);
		data[at] = 'h';
	}
	for (i = 0; i < COUNT(kept); i++) {
		size_t len = LIMIT - 3 + i;

		assert_holds(kept[i], data, len);
		ck_assert_ptr_eq(cistern_intern(c, data, len), kept[i]);
		ck_assert_ptr_eq(cistern_str(c, cistern_id_of(c, kept[i])), kept[i]);
		ck_assert(cistern_owns(c, kept[i]));
		ck_assert(!cistern_owns(c, kept[i] + 1));
	}
	ck_assert_uint_eq(figures(c).strings, 7);
	figures_check(c);
	free(data);
	cistern_destroy(c);
}
END_TEST

static void assert_refused(cistern *c, const char *s, size_t len, int error)
{
	cistern_span span = {s, len}, spans[2] = {{"first", 5}, {s, len}};
	const char *out[2] = {"kept", "kept"};
	bool is_new = true;
	int call;

	for (call = 0; call < 4; call++) {
		const char *str = NULL;

		errno = 0;
		switch (call) {
		case 0:
			str = cistern_intern(c, s, len);
			break;
		case 1:
			str = cistern_intern_new(c, s, len, &is_new);
			break;
		case 2:
			str = cistern_internv(c, &span, 1);
			break;
		default:
			str = cistern_intern_hashed(c, s, len, 99);
		}
		ck_assert_ptr_null(str);
		ck_assert_msg(errno == error, "call %d, %zu bytes: errno %d, not %d", call, len,
			      errno, error);
	}
	ck_assert_msg(is_new, "is_new was touched by a failure");
	errno = 0;
	ck_assert_uint_eq(cistern_intern_batch(c, spans, out, 2), 1);
	ck_assert_msg(errno == error, "batch, %zu bytes: errno %d, not %d", len, errno, error);
	ck_assert_ptr_eq(out[0], cistern_find(c, "first", 5));
	ck_assert_ptr_null(out[1]);
}

START_TEST(a_length_that_no_object_has_overflows_before_reading)
{
	static const size_t lengths[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 15, SIZE_MAX - 64,
					 (size_t)PTRDIFF_MAX + 1};
	cistern *c = create(NULL);
	char *one = support_guarded("x", 1);
	size_t i;

	for (i = 0; i < COUNT(lengths); i++)
		assert_refused(c, one, lengths[i], EOVERFLOW);
	ck_assert_uint_eq(figures(c).strings, 1);
	support_guarded_free(one, 1);
	cistern_destroy(c);
}
END_TEST

START_TEST(a_string_longer_than_the_range_is_too_big_before_reading)
{
	static const uint64_t ranges[] = {65536, 1 << 20, 100000, UINT64_C(1) << 30};
	char *one = support_guarded("x", 1);
	size_t i;

	for (i = 0; i < COUNT(ranges); i++) {
		cistern_config config = CISTERN_CONFIG_INIT;
		uint64_t capacity;
		cistern *c;

		config.max_bytes = ranges[i];
		config.shards = 1;
		c = create(&config);
		capacity = figures(c).capacity_bytes;
		ck_assert_uint_le(capacity, ranges[i] + 65536);
		assert_refused(c, one, capacity, E2BIG);
		assert_refused(c, one, capacity + 1, E2BIG);
		assert_refused(c, one, capacity * 2, E2BIG);
		assert_refused(c, one, PTRDIFF_MAX, E2BIG);
		ck_assert_uint_eq(figures(c).strings, 1);
		cistern_destroy(c);
	}
	support_guarded_free(one, 1);
}
END_TEST

/* A fresh small interner takes any single string up to some length, of at least half the range. */
START_TEST(one_string_may_take_most_of_the_range)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	char *data = need(calloc(1, 65536));
	size_t low = 32768, high = 65536;

	config.max_bytes = 65536;
	config.shards = 1;
	while (high - low > 1) {
		size_t len = low + (high - low) / 2;
		cistern *c = create(&config);
		const char *str;

		errno = 0;
		str = cistern_intern(c, data, len);
		if (str) {
			assert_holds(str, data, len);
			low = len;
		} else {
			ck_assert_msg(errno == E2BIG || errno == ENOSPC, "%zu bytes: errno %d", len,
				      errno);
			high = len;
		}
		ck_assert_uint_eq(figures(c).strings, str != NULL);
		/* where the long one was refused, all the room is there for others */
		if (!str)
			ck_assert_ptr_nonnull(cistern_intern(c, data, 32000));
		figures_check(c);
		cistern_destroy(c);
	}
	ck_assert_uint_gt(low, 49152);
	free(data);
}
END_TEST

START_TEST(max_len_bounds_every_interning_call)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	cistern_span parts[3] = {{"0123456789", 10}, {NULL, 0}, {"abcdef", 6}};
	cistern_buf buf;
	const char *sixteen;
	char *one = support_guarded("x", 1);
	cistern *c;

	config.max_len = 16;
	c = create(&config);
	sixteen = cistern_intern_cstr(c, "0123456789abcdef");
	ck_assert_ptr_nonnull(sixteen);
	ck_assert_ptr_eq(cistern_internv(c, parts, 3), sixteen);
	errno = 0;
	ck_assert_ptr_null(cistern_intern_cstr(c, "0123456789abcdefg"));
	ck_assert_int_eq(errno, E2BIG);
	parts[1].data = "-";
	parts[1].len = 1;
	errno = 0;
	ck_assert_ptr_null(cistern_internv(c, parts, 3));
	ck_assert_int_eq(errno, E2BIG);
	assert_refused(c, one, 17, E2BIG);
	assert_refused(c, one, 1 << 24, E2BIG);
	ck_assert_ptr_null(cistern_find_cstr(c, "0123456789abcdefg"));
	cistern_buf_init(&buf);
	ck_assert(cistern_buf_add(&buf, "0123456789abcdefg", 17));
	errno = 0;
	ck_assert_ptr_null(cistern_buf_intern(c, &buf));
	ck_assert_int_eq(errno, E2BIG);
	cistern_buf_release(&buf);
	ck_assert_uint_eq(figures(c).strings, 2);
	support_guarded_free(one, 1);
	cistern_destroy(c);
}
END_TEST

/* ---------------------------------------------------------------- unreadable neighbours */

/* One readable page between two that are not: nothing may be read on either side of a string. */
static char *island(size_t *page)
{
	char *base;

	*page = (size_t)sysconf(_SC_PAGESIZE);
	base = mmap(NULL, 3 * *page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (base == MAP_FAILED || mprotect(base + *page, *page, PROT_READ | PROT_WRITE) != 0)
		ck_abort_msg("no island: %s", strerror(errno));
	return base + *page;
}

/* One string at every call that reads it, absent at first and present then. */
static void ask_everything(cistern *c, const char *s, size_t len)
{
	cistern_span span = {s, len}, parts[2] = {{s, len / 3}, {s + len / 3, len - len / 3}};
	cistern_span *spans = (cistern_span *)(void *)support_guarded(&span, sizeof(span));
	const char *none = NULL, *str;
	const char **out = (const char **)(void *)support_guarded(&none, sizeof(none));

	str = cistern_find(c, s, len);
	ck_assert_ptr_null(str);
	ck_assert_uint_eq(cistern_find_batch(c, spans, out, 1), 0);
	ck_assert_ptr_null(*out);
	switch (len % 4) {
	case 0:
		str = cistern_intern(c, s, len);
		break;
	case 1:
		str = cistern_internv(c, parts, 2);
		break;
	case 2:
		ck_assert_uint_eq(cistern_intern_batch(c, spans, out, 1), 1);
		str = *out;
		break;
	default:
		str = cistern_intern_hashed(c, s, len, cistern_hash(c, s, len));
	}
	assert_holds(str, s, len);
	ck_assert_ptr_eq(cistern_intern(c, s, len), str);
	ck_assert_ptr_eq(cistern_find(c, s, len), str);
	ck_assert_ptr_eq(cistern_find_hashed(c, s, len, cistern_hash(c, s, len)), str);
	ck_assert_ptr_eq(cistern_internv(c, parts, 2), str);
	*out = NULL;
	ck_assert_uint_eq(cistern_find_batch(c, spans, out, 1), 1);
	ck_assert_ptr_eq(*out, str);
	*out = NULL;
	ck_assert_uint_eq(cistern_intern_batch(c, spans, out, 1), 1);
	ck_assert_ptr_eq(*out, str);
	support_guarded_free((char *)spans, sizeof(span));
	support_guarded_free((char *)out, sizeof(none));
}

START_TEST(nothing_outside_a_string_is_read)
{
	cistern *c = variant_create(_i);
	support_rng rng = support_rng_start(0);
	size_t page, len;
	char *data = island(&page), *at;

	for (len = 0; len <= 300; len++) {
		at = data + page - len;
		random_bytes(&rng, at, len);
		if (len)
			*at = 'e'; /* and 's' below, so that no two are equal */
		ask_everything(c, at, len);
		if (!len)
			continue;
		random_bytes(&rng, data, len);
		*data = 's';
		ask_everything(c, data, len);
	}
	munmap(data - page, 3 * page);
	cistern_destroy(c);
}
END_TEST

/* The same where a stored string of equal length and equal beginning invites a comparison. */
START_TEST(nothing_behind_a_string_is_read_when_another_begins_alike)
{
	cistern *c = create(NULL);
	size_t page, len;
	char *data = island(&page);

	for (len = 1; len <= 300; len++) {
		char *at = data + page - len;
		const char *str;

		memset(at, 'm', len);
		str = cistern_intern(c, at, len);
		assert_holds(str, at, len);
		at[len - 1] = 'n';
		ck_assert_ptr_null(cistern_find(c, at, len));
		ck_assert_ptr_ne(cistern_intern(c, at, len), str);
	}
	munmap(data - page, 3 * page);
	cistern_destroy(c);
}
END_TEST

START_TEST(intern_cstr_reads_nothing_behind_the_nul)
{
	cistern *c = create(NULL);
	size_t page, len;
	char *data = island(&page);

	for (len = 0; len < 300; len++) {
		char *at = data + page - len - 1;
		const char *str;

		memset(at, 'c', len);
		at[len] = '\0';
		ck_assert_ptr_null(cistern_find_cstr(c, at));
		str = cistern_intern_cstr(c, at);
		assert_holds(str, at, len);
		ck_assert_ptr_eq(cistern_find_cstr(c, at), str);
	}
	munmap(data - page, 3 * page);
	cistern_destroy(c);
}
END_TEST

/* ---------------------------------------------------------------- full interners */

/*
 * Interns numbered strings of 8 to 48 bytes until one is refused, and returns the errno; 0 when max
 * strings went in.
 */
static int fill(cistern *c, struct words *set, size_t max, bool watch)
{
	while (set->count < max) {
		char data[64];
		size_t len = (size_t)snprintf(data, sizeof(data), "%08zx", set->count);
		size_t wanted = 8 + set->count * 7 % 41;
		struct word *word;
		const char *str;

		memset(data + len, '.', sizeof(data) - len);
		errno = 0;
		str = cistern_intern(c, data, wanted);
		if (!str)
			return errno;
		assert_holds(str, data, wanted);
		word = words_put(set, data, wanted, NULL);
		word->kept = str;
		if (watch && set->count % 16 == 0)
			figures_check(c);
	}
	return 0;
}

static void assert_full_but_working(cistern *c, const struct words *set)
{
	char data[64];
	int i;

	memset(data, '!', sizeof(data));
	assert_all_there(c, set);
	for (i = 0; i < 100; i++) {
		const char *found;

		snprintf(data, 16, "refused %d", i);
		found = cistern_find(c, data, 48);
		ck_assert_ptr_null(found);
	}
	assert_all_there(c, set);
	figures_check(c);
}

START_TEST(a_full_range_gives_enospc_and_goes_on_serving)
{
	static const uint64_t ranges[] = {65536, 1 << 20};
	static const uint32_t shards[] = {1, 16, 256};
	static const uint64_t slabs[] = {256, 4096, 65536};
	size_t r, s, b;

	for (r = 0; r < COUNT(ranges); r++) {
		for (s = 0; s < COUNT(shards); s++) {
			for (b = 0; b < COUNT(slabs); b++) {
				cistern_config config = CISTERN_CONFIG_INIT;
				struct words set;
				cistern_stats stats;
				cistern *c;
				int error;

				config.max_bytes = ranges[r];
				config.shards = shards[s];
				config.slab_size = slabs[b];
				config.value_size = _i ? 8 : 0;
				config.links = _i != 0;
				c = create(&config);
				words_init(&set);
				error = fill(c, &set, ranges[r], false);
				stats = figures(c);
				ck_assert_msg(error == ENOSPC,
					      "%d shards of %d, range %d: errno %d", (int)shards[s],
					      (int)slabs[b], (int)ranges[r], error);
				ck_assert_msg((stats.payload_bytes + stats.overhead_bytes) * 10 >=
						  stats.capacity_bytes * 6,
					      "%d shards of %d: %" PRIu64 " of %" PRIu64
					      " bytes used",
					      (int)shards[s], (int)slabs[b],
					      stats.payload_bytes + stats.overhead_bytes,
					      stats.capacity_bytes);
				assert_full_but_working(c, &set);
				words_free(&set);
				cistern_destroy(c);
			}
		}
	}
}
END_TEST

START_TEST(a_refused_long_string_leaves_room_for_short_ones)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	char *data = need(calloc(1, 65536));
	struct words set;
	uint64_t before;
	cistern *c;
	size_t i;

	config.max_bytes = 1 << 18;
	config.shards = 4;
	c = create(&config);
	words_init(&set);
	for (i = 0;; i++) {
		struct word *word;
		const char *str;

		memcpy(data, &i, sizeof(i));
		errno = 0;
		str = cistern_intern(c, data, 30000);
		if (!str)
			break;
		word = words_put(&set, data, 30000, NULL);
		word->kept = str;
	}
	ck_assert_int_eq(errno, ENOSPC);
	ck_assert_uint_ge(set.count, 7);
	before = set.count;
	assert_all_there(c, &set);
	ck_assert_int_eq(fill(c, &set, 1 << 18, false), ENOSPC);
	ck_assert_uint_ge(set.count, before + 100);
	errno = 0;
	ck_assert_ptr_null(cistern_intern(c, data, 30000));
	ck_assert_int_eq(errno, ENOSPC);
	assert_full_but_working(c, &set);
	free(data);
	words_free(&set);
	cistern_destroy(c);
}
END_TEST

START_TEST(memory_limit_is_never_passed)
{
	static const uint64_t limits[] = {131072, 300000, 1 << 20, 3 << 20};
	static const uint32_t shards[] = {1, 16, 64};
	size_t l, s;

	for (l = 0; l < COUNT(limits); l++) {
		for (s = 0; s < COUNT(shards); s++) {
			cistern_config config = CISTERN_CONFIG_INIT;
			struct words set;
			cistern_stats stats;
			cistern *c;
			int error;

			config.memory_limit = limits[l];
			config.shards = shards[s];
			config.commit_chunk = _i ? 4096 : 0;
			c = create(&config);
			ck_assert_uint_le(figures(c).committed_bytes, limits[l]);
			words_init(&set);
			error = fill(c, &set, limits[l], true);
			stats = figures(c);
			ck_assert_msg(error == ENOSPC, "limit %d, %d shards: errno %d",
				      (int)limits[l], (int)shards[s], error);
			ck_assert_msg(stats.committed_bytes * 2 >= limits[l],
				      "limit %d, %d shards: %" PRIu64 " committed at the end",
				      (int)limits[l], (int)shards[s], stats.committed_bytes);
			assert_full_but_working(c, &set);
			words_free(&set);
			cistern_destroy(c);
		}
	}
}
END_TEST

START_TEST(a_string_over_the_memory_limit_is_refused_and_nothing_changes)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	char *data = need(calloc(1, 1 << 21));
	cistern_stats before, after;
	cistern *c;
	int i;

	config.memory_limit = 1 << 20;
	c = create(&config);
	ck_assert_ptr_nonnull(cistern_intern_cstr(c, "before"));
	before = figures(c);
	for (i = 0; i < 50; i++) {
		errno = 0;
		ck_assert_ptr_null(cistern_intern(c, data, 1 << 21));
		ck_assert_int_eq(errno, ENOSPC);
	}
	after = figures(c);
	ck_assert_uint_eq(after.strings, before.strings);
	ck_assert_uint_eq(after.payload_bytes, before.payload_bytes);
	ck_assert_uint_eq(after.overhead_bytes, before.overhead_bytes);
	ck_assert_ptr_null(cistern_find(c, data, 1 << 21));
	ck_assert_ptr_nonnull(cistern_intern(c, data, 100000));
	figures_check(c);
	free(data);
	cistern_destroy(c);
}
END_TEST

START_TEST(reserve_refuses_what_the_limits_cannot_hold)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	struct words set;
	cistern *c;

	errno = 0;
	ck_assert_int_eq(cistern_reserve(NULL, 1), -1);
	ck_assert_int_eq(errno, EINVAL);
	config.memory_limit = 1 << 20;
	c = create(&config);
	errno = 0;
	ck_assert_int_eq(cistern_reserve(c, 10000000), -1);
	ck_assert_int_eq(errno, ENOSPC);
	errno = 0;
	ck_assert_int_eq(cistern_reserve(c, SIZE_MAX), -1);
	ck_assert_int_eq(errno, SIZE_MAX > UINT32_MAX ? EOVERFLOW : ENOSPC);
	figures_check(c);
	words_init(&set);
	ck_assert_int_eq(fill(c, &set, 1000, true), 0);
	assert_all_there(c, &set);
	words_free(&set);
	cistern_destroy(c);
}
END_TEST

START_TEST(reserved_tables_need_no_growth)
{
	enum { MANY = 50000 };
	cistern_config config = CISTERN_CONFIG_INIT;
	cistern *c;
	uint64_t growths;
	int i;

	config.shards = _i ? 16 : 1;
	c = create(&config);
	ck_assert_ptr_nonnull(cistern_intern_cstr(c, "there before"));
	ck_assert_int_eq(cistern_reserve(c, MANY), 0);
	growths = figures(c).growths;
	for (i = 0; i < MANY; i++) {
		char data[32];

		ck_assert_ptr_nonnull(
		    cistern_intern(c, data, (size_t)snprintf(data, sizeof(data), "%d", i)));
	}
	ck_assert_uint_eq(figures(c).growths, growths);
	ck_assert_ptr_nonnull(cistern_find_cstr(c, "there before"));
	ck_assert_int_eq(cistern_reserve(c, 10), 0);
	ck_assert_uint_eq(figures(c).growths, growths);
	cistern_destroy(c);
}
END_TEST

START_TEST(capacity_presizes_the_tables)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	uint64_t growths;
	cistern *c;
	int i;

	config.capacity = 50000;
	c = create(&config);
	ck_assert_uint_ge(figures(c).slots, 50000);
	growths = figures(c).growths;
	for (i = 0; i < 50000; i++) {
		char data[32];

		ck_assert_ptr_nonnull(
		    cistern_intern(c, data, (size_t)snprintf(data, sizeof(data), "%d", i)));
	}
	ck_assert_uint_eq(figures(c).growths, growths);
	cistern_destroy(c);
}
END_TEST

/* ---------------------------------------------------------------- address space */

static int live_in(uint64_t bytes)
{
	struct rlimit limit = {bytes, RLIM_INFINITY};
	cistern_stats stats = {.size = sizeof(stats)};
	cistern *c;
	int i;

	CHILD_CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
	limit.rlim_cur = bytes;
	CHILD_CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
	c = cistern_create(NULL);
	CHILD_CHECK(c);
	CHILD_CHECK(cistern_stats_get(c, &stats) == 0);
	CHILD_CHECK(stats.capacity_bytes >= 1 << 20);
	CHILD_CHECK(stats.reserved_bytes <= bytes / 8 + (1 << 20));
	for (i = 0; i < 10000; i++) {
		char data[32];
		size_t len = (size_t)snprintf(data, sizeof(data), "little room %d", i);

		CHILD_CHECK(cistern_intern(c, data, len));
		CHILD_CHECK(cistern_find(c, data, len));
	}
	CHILD_CHECK(cistern_stats_get(c, &stats) == 0 && stats.strings == 10000);
	CHILD_CHECK(stats.payload_bytes + stats.overhead_bytes + stats.slack_bytes +
			stats.table_bytes + stats.retired_bytes + stats.free_bytes +
			stats.control_bytes ==
		    stats.committed_bytes);
	cistern_destroy(c);
	return 0;
}

static int live_in_64_mib(void *arg)
{
	(void)arg;
	return live_in(UINT64_C(64) << 20);
}

static int live_in_a_gib(void *arg)
{
	(void)arg;
	return live_in(UINT64_C(1) << 30);
}

START_TEST(little_address_space_gives_a_smaller_range)
{
	struct child child;

	child_run(&child, _i ? live_in_a_gib : live_in_64_mib, NULL);
	ck_assert(child_ok(&child));
	child_free(&child);
}
END_TEST

/* Pages of address space in use. */
static uint64_t address_space(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	unsigned long pages = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%lu", &pages) != 1)
		pages = 0;
	fclose(f);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/*
 * Creating needs two address ranges. With more room at each step, first none fits, then the first one
 * without the second: it must be given back. Until both do.
 */
static int create_with_more_and_more_room(void *arg)
{
	uint64_t step = 256 << 10, used, room;
	struct rlimit limit, tight;
	cistern *c = NULL;

	(void)arg;
	address_space(); /* stdio takes its own memory before it is counted */
	used = address_space();
	if (!used)
		return 0;
	CHILD_CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
	tight = limit;
	for (room = step; !c; room += step) {
		CHILD_CHECK(room < 64 << 20);
		tight.rlim_cur = used + room;
		CHILD_CHECK(setrlimit(RLIMIT_AS, &tight) == 0);
		errno = 0;
		c = cistern_create(NULL);
		if (!c) {
			CHILD_CHECK(errno == ENOMEM);
			CHILD_CHECK(address_space() == used);
		}
	}
	CHILD_CHECK(room > 2 * step);
	CHILD_CHECK(cistern_intern_cstr(c, "little room"));
	cistern_destroy(c);
	CHILD_CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
	c = cistern_create(NULL);
	CHILD_CHECK(c && cistern_intern_cstr(c, "room again"));
	cistern_destroy(c);
	return 0;
}

START_TEST(no_address_space_is_enomem_and_passes)
{
	struct child child;

	child_run(&child, create_with_more_and_more_room, NULL);
	ck_assert(child_ok(&child));
	child_free(&child);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("limits");

	cases_add_loop(s, lengths_around_the_slab_size_are_kept, FEW);
	cases_add_loop(s, lengths_around_the_header_limit_are_kept, FEW);
	support_add(s, a_length_that_no_object_has_overflows_before_reading);
	support_add(s, a_string_longer_than_the_range_is_too_big_before_reading);
	support_add(s, one_string_may_take_most_of_the_range);
	support_add(s, max_len_bounds_every_interning_call);
	cases_add_loop(s, nothing_outside_a_string_is_read, VARIANTS);
	support_add(s, nothing_behind_a_string_is_read_when_another_begins_alike);
	support_add(s, intern_cstr_reads_nothing_behind_the_nul);
	cases_add_loop(s, a_full_range_gives_enospc_and_goes_on_serving, 2);
	support_add(s, a_refused_long_string_leaves_room_for_short_ones);
	cases_add_loop(s, memory_limit_is_never_passed, 2);
	support_add(s, a_string_over_the_memory_limit_is_refused_and_nothing_changes);
	support_add(s, reserve_refuses_what_the_limits_cannot_hold);
	cases_add_loop(s, reserved_tables_need_no_growth, 2);
	support_add(s, capacity_presizes_the_tables);
	if (meminfo_space_can_be_limited()) {
		cases_add_loop(s, little_address_space_gives_a_smaller_range, 2);
		support_add(s, no_address_space_is_enomem_and_passes);
	}
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "limits", make);
}
