/* SPDX-License-Identifier: MIT */
/*
 * identity.c - G1 to G3: equal bytes give one pointer, other bytes another; the pointer stays; the
 * string is NUL-terminated and knows its length. Through every call that interns or finds.
 */
#include "cases.h"
#include "support.h"
#include "variants.h"
#include "words.h"

#include <cistern.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static cistern *c;

static void setup(void)
{
	c = cistern_create(NULL);
	ck_assert_ptr_nonnull(c);
}

static void teardown(void)
{
	cistern_destroy(c);
}

static void assert_holds(const char *str, const char *data, size_t len)
{
	ck_assert_ptr_nonnull(str);
	ck_assert_uint_eq(cistern_len(str), len);
	ck_assert(len == 0 || memcmp(str, data, len) == 0);
	ck_assert_int_eq(str[len], '\0');
}

START_TEST(intern_equal_bytes_gives_same_pointer)
{
	char one[] = "same", two[] = "same";

	ck_assert_ptr_nonnull(cistern_intern(c, one, 4));
	ck_assert_ptr_eq(cistern_intern(c, one, 4), cistern_intern(c, two, 4));
	ck_assert_ptr_eq(cistern_intern(c, one, 4), cistern_intern_cstr(c, "same"));
}
END_TEST

START_TEST(intern_different_bytes_gives_different_pointers)
{
	const char *same = cistern_intern(c, "same", 4);

	ck_assert_ptr_ne(same, cistern_intern(c, "sane", 4));
	ck_assert_ptr_ne(same, cistern_intern(c, "Same", 4));
	ck_assert_ptr_ne(same, cistern_intern(c, "sam", 3));
	ck_assert_ptr_ne(same, cistern_intern(c, "same ", 5));
}
END_TEST

START_TEST(intern_copies_the_bytes)
{
	char source[] = "before";
	const char *str = cistern_intern(c, source, 6);

	memcpy(source, "after!", 6);
	assert_holds(str, "before", 6);
	ck_assert_ptr_ne(cistern_intern(c, source, 6), str);
	ck_assert(str < source || str > source + sizeof(source));
}
END_TEST

START_TEST(intern_needs_no_nul_behind_the_bytes)
{
	assert_holds(cistern_intern(c, "abcdef", 3), "abc", 3);
	ck_assert_ptr_eq(cistern_intern(c, "abcxyz", 3), cistern_intern_cstr(c, "abc"));
}
END_TEST

START_TEST(embedded_nul_counts)
{
	const char *a = cistern_intern(c, "a\0b", 3);

	assert_holds(a, "a\0b", 3);
	ck_assert_ptr_ne(a, cistern_intern(c, "a\0c", 3));
	ck_assert_ptr_ne(a, cistern_intern(c, "a", 1));
	ck_assert_ptr_ne(a, cistern_intern_cstr(c, "a\0b"));
	ck_assert_ptr_eq(a, cistern_intern(c, "a\0b", 3));
}
END_TEST

START_TEST(trailing_nul_makes_another_string)
{
	const char *a = cistern_intern(c, "a", 1);
	const char *a0 = cistern_intern(c, "a\0", 2);
	const char *a00 = cistern_intern(c, "a\0\0", 3);

	assert_holds(a, "a", 1);
	assert_holds(a0, "a\0", 2);
	assert_holds(a00, "a\0\0", 3);
	ck_assert_ptr_ne(a, a0);
	ck_assert_ptr_ne(a0, a00);
	ck_assert_ptr_ne(cistern_intern(c, "\0", 1), cistern_intern(c, "", 0));
}
END_TEST

START_TEST(null_with_length_zero_is_the_empty_string)
{
	cistern_span none = {NULL, 0};
	const char *out = NULL;
	const char *empty = cistern_intern(c, NULL, 0);
	bool is_new = true;

	assert_holds(empty, "", 0);
	ck_assert_ptr_eq(empty, cistern_intern(c, "", 0));
	ck_assert_ptr_eq(empty, cistern_intern(c, "x", 0));
	ck_assert_ptr_eq(empty, cistern_intern_cstr(c, ""));
	ck_assert_ptr_eq(empty, cistern_intern_new(c, NULL, 0, &is_new));
	ck_assert(!is_new);
	ck_assert_ptr_eq(empty, cistern_find(c, NULL, 0));
	ck_assert_ptr_eq(empty, cistern_find_cstr(c, ""));
	ck_assert_uint_eq(cistern_hash(c, NULL, 0), cistern_hash(c, "", 0));
	ck_assert_ptr_eq(empty, cistern_intern_hashed(c, NULL, 0, cistern_hash(c, NULL, 0)));
	ck_assert_ptr_eq(empty, cistern_find_hashed(c, NULL, 0, cistern_hash(c, NULL, 0)));
	ck_assert_ptr_eq(empty, cistern_internv(c, NULL, 0));
	ck_assert_ptr_eq(empty, cistern_internv(c, &none, 1));
	ck_assert_uint_eq(cistern_intern_batch(c, &none, &out, 1), 1);
	ck_assert_ptr_eq(out, empty);
	out = NULL;
	ck_assert_uint_eq(cistern_find_batch(c, &none, &out, 1), 1);
	ck_assert_ptr_eq(out, empty);
}
END_TEST

START_TEST(empty_string_is_not_there_before_it_is_interned)
{
	ck_assert_ptr_null(cistern_find(c, NULL, 0));
	ck_assert_ptr_null(cistern_find_cstr(c, ""));
}
END_TEST

START_TEST(null_cstr_gives_null_and_keeps_errno)
{
	errno = 1234;
	ck_assert_ptr_null(cistern_intern_cstr(c, NULL));
	ck_assert_int_eq(errno, 1234);
	ck_assert_ptr_null(cistern_find_cstr(c, NULL));
	ck_assert_int_eq(errno, 1234);
}
END_TEST

START_TEST(null_with_a_length_is_invalid)
{
	cistern_span parts[2] = {{"a", 1}, {NULL, 1}};
	bool is_new = true;
	int i;

	for (i = 0; i < 5; i++) {
		const char *str = NULL;

		errno = 0;
		switch (i) {
		case 0:
			str = cistern_intern(c, NULL, 1);
			break;
		case 1:
			str = cistern_intern_new(c, NULL, 1, &is_new);
			break;
		case 2:
			str = cistern_internv(c, parts, 2);
			break;
		case 3:
			str = cistern_internv(c, NULL, 1);
			break;
		default:
			str = cistern_intern_hashed(c, NULL, 1, 7);
		}
		ck_assert_ptr_null(str);
		ck_assert_msg(errno == EINVAL, "call %d gave errno %d", i, errno);
	}
	ck_assert_msg(is_new, "is_new was touched by a failure");
	ck_assert_ptr_null(cistern_find(c, "a", 1));
}
END_TEST

START_TEST(null_interner_is_invalid)
{
	cistern_span part = {"a", 1};
	const char *out = "kept";
	bool is_new = true;
	int i;

	for (i = 0; i < 6; i++) {
		const char *str = NULL;

		errno = 0;
		switch (i) {
		case 0:
			str = cistern_intern(NULL, "a", 1);
			break;
		case 1:
			str = cistern_intern_cstr(NULL, "a");
			break;
		case 2:
			str = cistern_intern_new(NULL, "a", 1, &is_new);
			break;
		case 3:
			str = cistern_internv(NULL, &part, 1);
			break;
		case 4:
			str = cistern_intern_hashed(NULL, "a", 1, 7);
			break;
		default:
			ck_assert_uint_eq(cistern_intern_batch(NULL, &part, &out, 1), 0);
		}
		ck_assert_ptr_null(str);
		ck_assert_msg(errno == EINVAL, "call %d gave errno %d", i, errno);
	}
	ck_assert(is_new);
}
END_TEST

START_TEST(find_takes_bad_arguments_as_a_miss_and_keeps_errno)
{
	cistern_span bad = {NULL, 5};
	const char *out = "kept";

	errno = 1234;
	ck_assert_ptr_null(cistern_find(c, NULL, 1));
	ck_assert_ptr_null(cistern_find(NULL, "a", 1));
	ck_assert_ptr_null(cistern_find_cstr(NULL, "a"));
	ck_assert_ptr_null(cistern_find_hashed(c, NULL, 1, 7));
	ck_assert_ptr_null(cistern_find_hashed(NULL, "a", 1, 7));
	ck_assert_ptr_null(cistern_find(c, "a", SIZE_MAX));
	ck_assert_uint_eq(cistern_find_batch(c, &bad, &out, 1), 0);
	ck_assert_ptr_null(out);
	ck_assert_uint_eq(cistern_hash(NULL, "a", 1), 0);
	ck_assert_uint_eq(cistern_hash(c, NULL, 1), 0);
	ck_assert_int_eq(errno, 1234);
}
END_TEST

START_TEST(find_gives_what_intern_gave_and_adds_nothing)
{
	cistern_stats stats = {.size = sizeof(stats)};
	const char *str;

	ck_assert_ptr_null(cistern_find(c, "absent", 6));
	ck_assert_ptr_null(cistern_find_cstr(c, "absent"));
	ck_assert_ptr_null(cistern_find_hashed(c, "absent", 6, cistern_hash(c, "absent", 6)));
	ck_assert_int_eq(cistern_stats_get(c, &stats), 0);
	ck_assert_uint_eq(stats.strings, 0);
	str = cistern_intern(c, "absent", 6);
	errno = 1234;
	ck_assert_ptr_eq(cistern_find(c, "absent", 6), str);
	ck_assert_ptr_eq(cistern_find_cstr(c, "absent"), str);
	ck_assert_ptr_null(cistern_find(c, "absent", 5));
	ck_assert_ptr_null(cistern_find(c, "absent\0", 7));
	ck_assert_int_eq(errno, 1234);
}
END_TEST

START_TEST(intern_new_tells_the_first_time_only)
{
	bool is_new = false;
	const char *str = cistern_intern_new(c, "first", 5, &is_new);

	ck_assert(is_new);
	ck_assert_ptr_eq(cistern_intern_new(c, "first", 5, &is_new), str);
	ck_assert(!is_new);
	ck_assert_ptr_eq(cistern_intern_new(c, "first", 5, NULL), str);
	ck_assert_ptr_nonnull(cistern_intern_new(c, "second", 6, NULL));
	is_new = true;
	ck_assert_ptr_nonnull(cistern_intern_new(c, "second", 6, &is_new));
	ck_assert(!is_new);
}
END_TEST

START_TEST(interning_an_interned_pointer_gives_it_back)
{
	const char *str = cistern_intern(c, "itself", 6);

	ck_assert_ptr_eq(cistern_intern(c, str, cistern_len(str)), str);
	ck_assert_ptr_ne(cistern_intern(c, str + 1, 5), str + 1);
	assert_holds(cistern_intern(c, str + 1, 5), "tself", 5);
}
END_TEST

START_TEST(interners_are_apart)
{
	cistern *other = cistern_create(NULL);
	const char *a = cistern_intern(c, "both", 4);
	const char *b;

	ck_assert_ptr_nonnull(other);
	ck_assert_ptr_null(cistern_find(other, "both", 4));
	b = cistern_intern(other, "both", 4);
	ck_assert_ptr_ne(a, b);
	ck_assert_ptr_eq(cistern_intern(c, b, 4), a);
	/* each has a secret of its own: one chance in 2^64 that this is equal */
	ck_assert_uint_ne(cistern_hash(c, "both", 4), cistern_hash(other, "both", 4));
	cistern_destroy(other);
	ck_assert_ptr_eq(cistern_find(c, "both", 4), a);
}
END_TEST

START_TEST(a_fixed_seed_gives_the_same_hashes_and_another_seed_others)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	cistern *one, *two, *three;
	uint64_t hash;

	config.seed = 7;
	one = cistern_create(&config);
	two = cistern_create(&config);
	config.seed = 8;
	three = cistern_create(&config);
	ck_assert(one && two && three);
	hash = cistern_hash(one, "seeded", 6);
	ck_assert_uint_eq(hash, cistern_hash(two, "seeded", 6));
	ck_assert_uint_ne(hash, cistern_hash(three, "seeded", 6));
	cistern_destroy(one);
	cistern_destroy(two);
	cistern_destroy(three);
}
END_TEST

START_TEST(every_length_to_600_is_kept_byte_for_byte)
{
	cistern *v = variant_create(_i);
	const char *kept[601];
	char data[601];
	support_rng rng = support_rng_start(0);
	size_t len;

	random_bytes(&rng, data, sizeof(data));
	for (len = 0; len <= 600; len++) {
		ck_assert_ptr_null(cistern_find(v, data, len));
		kept[len] = cistern_intern(v, data, len);
		assert_holds(kept[len], data, len);
	}
	for (len = 0; len <= 600; len++) {
		assert_holds(kept[len], data, len);
		ck_assert_ptr_eq(cistern_intern(v, data, len), kept[len]);
		ck_assert_ptr_eq(cistern_find(v, data, len), kept[len]);
	}
	cistern_destroy(v);
}
END_TEST

/*
 * With a hash that is not the string's a look-up may miss, but it may never give other bytes. So
 * one hash for all makes the comparison of bytes decide alone, for every length and every bit.
 */
START_TEST(bytes_are_compared_whatever_the_hash_says)
{
	static const size_t lengths[] = {500, 1000, 4095, 4096, 5000};
	support_rng rng = support_rng_start(0);
	size_t round, bit, found = 0;
	char data[5001];

	random_bytes(&rng, data, sizeof(data));
	for (round = 0; round < 301 + sizeof(lengths) / sizeof(lengths[0]); round++) {
		size_t len = round <= 300 ? round : lengths[round - 301], step = len > 300 ? 61 : 1;
		cistern_config config = CISTERN_CONFIG_INIT;
		const char *str, *other;
		uint64_t hash;
		cistern *one;

		config.shards = 1; /* a table of one bucket */
		one = cistern_create(&config);
		ck_assert_ptr_nonnull(one);
		hash = cistern_hash(one, data, len);
		str = cistern_intern(one, data, len);
		assert_holds(str, data, len);
		for (bit = 0; bit < len * 8; bit += step) {
			data[bit / 8] ^= (char)(1 << bit % 8);
			other = cistern_find_hashed(one, data, len, hash);
			ck_assert_msg(!other, "length %zu, bit %zu", len, bit);
			data[bit / 8] ^= (char)(1 << bit % 8);
		}
		found += cistern_find_hashed(one, data, len, hash) == str;
		/* and neither a longer nor a shorter one */
		ck_assert_ptr_null(cistern_find_hashed(one, data, len + 1, hash));
		if (len)
			ck_assert_ptr_null(cistern_find_hashed(one, data, len - 1, hash));
#ifndef CISTERN_DEBUG /* which ends a program that passes another string's hash */
		/* a few that are interned under that hash stay apart */
		for (bit = 0; bit < len * 8 && bit < 8; bit++) {
			data[len - 1] ^= (char)(1 << bit);
			other = cistern_intern_hashed(one, data, len, hash);
			assert_holds(other, data, len);
			ck_assert_ptr_ne(other, str);
			data[len - 1] ^= (char)(1 << bit);
		}
#endif
		cistern_destroy(one);
	}
	ck_assert_uint_eq(found, round);
}
END_TEST

/* One bit changed anywhere in a string makes another string, for lengths where comparison changes
 * its way. */
START_TEST(every_bit_of_a_string_counts)
{
	static const size_t lengths[] = {1,  2,  3,  4,  7,  8,  9,   15,  16, 17,
					 31, 32, 33, 63, 64, 65, 129, 241, 300};
	size_t i, bit;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		char data[300];
		const char *plain;
		size_t len = lengths[i];

		memset(data, 'q', len);
		plain = cistern_intern(c, data, len);
		for (bit = 0; bit < len * 8; bit++) {
			const char *flipped;

			data[bit / 8] ^= (char)(1 << bit % 8);
			ck_assert_ptr_null(cistern_find(c, data, len));
			flipped = cistern_intern(c, data, len);
			assert_holds(flipped, data, len);
			ck_assert_ptr_ne(flipped, plain);
			data[bit / 8] ^= (char)(1 << bit % 8);
		}
		ck_assert_ptr_eq(cistern_intern(c, data, len), plain);
	}
}
END_TEST

START_TEST(random_strings_agree_with_a_reference_set)
{
	cistern *v = variant_create(_i);
	support_rng rng = support_rng_start(0);
	cistern_stats stats = {.size = sizeof(stats)};
	struct words set;
	char data[400];
	size_t round, rounds = support_scaled(30000);
	size_t i;

	words_init(&set);
	for (round = 0; round < rounds; round++) {
		size_t len = random_word(&rng, data, sizeof(data));
		bool expect_new, is_new;
		struct word *word = words_put(&set, data, len, &expect_new);
		const char *str;

		str = cistern_find(v, data, len);
		ck_assert_ptr_eq(str, expect_new ? NULL : word->kept);
		str = cistern_intern_new(v, data, len, &is_new);
		assert_holds(str, data, len);
		ck_assert_int_eq(is_new, expect_new);
		if (expect_new)
			word->kept = str;
		ck_assert_ptr_eq(str, word->kept);
	}
	for (i = 0; i < set.count; i++) {
		struct word *word = set.items[i];

		assert_holds(word->kept, word->data, word->len);
		ck_assert_ptr_eq(cistern_find(v, word->data, word->len), word->kept);
		ck_assert_ptr_eq(cistern_intern(v, word->data, word->len), word->kept);
	}
	ck_assert_int_eq(cistern_stats_get(v, &stats), 0);
	ck_assert_uint_eq(stats.strings, set.count);
	ck_assert_uint_eq(stats.payload_bytes, set.payload);
	words_free(&set);
	cistern_destroy(v);
}
END_TEST

START_TEST(pointers_stay_while_the_interner_grows)
{
	cistern *v = variant_create(_i);
	const char *kept[100];
	char data[32];
	int i, many = (int)support_scaled(60000);

	for (i = 0; i < 100; i++)
		kept[i] =
		    cistern_intern(v, data, (size_t)snprintf(data, sizeof(data), "stays %d", i));
	for (i = 0; i < many; i++) {
		int len = snprintf(data, sizeof(data), "fills %d", i);

		ck_assert_ptr_nonnull(cistern_intern(v, data, (size_t)len));
	}
	for (i = 0; i < 100; i++) {
		int len = snprintf(data, sizeof(data), "stays %d", i);

		assert_holds(kept[i], data, (size_t)len);
		ck_assert_ptr_eq(cistern_intern(v, data, (size_t)len), kept[i]);
	}
	cistern_destroy(v);
}
END_TEST

START_TEST(hashed_calls_agree_with_plain_calls)
{
	cistern *v = variant_create(_i);
	support_rng rng = support_rng_start(0);
	struct words set;
	char data[300];
	size_t round, rounds = support_scaled(5000);

	words_init(&set);
	for (round = 0; round < rounds; round++) {
		size_t len = random_word(&rng, data, sizeof(data));
		struct word *word = words_put(&set, data, len, NULL);
		uint64_t hash = cistern_hash(v, data, len);

		/* mark holds the first hash: it must not change when tables grow */
		if (!word->kept) {
			word->mark = hash;
			ck_assert_ptr_null(cistern_find_hashed(v, data, len, hash));
			word->kept = round % 2 ? cistern_intern(v, data, len)
					       : cistern_intern_hashed(v, data, len, hash);
		}
		ck_assert_uint_eq(hash, word->mark);
		ck_assert_ptr_eq(cistern_find_hashed(v, data, len, hash), word->kept);
		ck_assert_ptr_eq(cistern_intern_hashed(v, data, len, hash), word->kept);
		ck_assert_ptr_eq(cistern_find(v, data, len), word->kept);
		ck_assert_ptr_eq(cistern_intern(v, data, len), word->kept);
	}
	words_free(&set);
	cistern_destroy(v);
}
END_TEST

/* Cuts data into pieces at random places, some of them empty and some of those NULL. */
static size_t cut(support_rng *rng, const char *data, size_t len, cistern_span *parts, size_t max)
{
	size_t n = 0, done = 0;

	while (n < max - 1 && (done < len || support_rng_below(rng, 2))) {
		size_t piece =
		    support_rng_below(rng, 4) ? support_rng_below(rng, (len - done) / 2 + 2) : 0;

		if (piece > len - done)
			piece = len - done;
		parts[n].data = piece || support_rng_below(rng, 2) ? data + done : NULL;
		parts[n++].len = piece;
		done += piece;
	}
	parts[n].data = data + done;
	parts[n++].len = len - done;
	return n;
}

START_TEST(internv_interns_the_concatenation)
{
	cistern *v = variant_create(_i);
	support_rng rng = support_rng_start(0);
	struct words set;
	cistern_span parts[20];
	char data[400];
	size_t round, rounds = support_scaled(10000);

	words_init(&set);
	for (round = 0; round < rounds; round++) {
		size_t len = random_word(&rng, data, sizeof(data));
		struct word *word = words_put(&set, data, len, NULL);
		size_t n = cut(&rng, data, len, parts, sizeof(parts) / sizeof(parts[0]));
		const char *str = cistern_internv(v, parts, n);

		assert_holds(str, data, len);
		if (!word->kept)
			word->kept = str;
		ck_assert_ptr_eq(str, word->kept);
		ck_assert_ptr_eq(str, cistern_intern(v, data, len));
	}
	words_free(&set);
	cistern_destroy(v);
}
END_TEST

START_TEST(internv_takes_long_totals)
{
	static const size_t totals[] = {500,   1000,   1024,   4000,    4090,   4091,  4092,
					4093,  4094,   4095,   4096,    4097,   4100,  8191,
					8192,  8193,   65530,  65535,   65536,  65537, 65540,
					70000, 131072, 200000, 1048576, 3000000};
	size_t i, max = 3000000;
	cistern_span parts[40];
	char *data = need(malloc(max));
	support_rng rng = support_rng_start(0);
	cistern *v = variant_create(_i);

	for (i = 0; i < sizeof(totals) / sizeof(totals[0]); i++) {
		size_t len = totals[i], n;
		const char *str;

		random_bytes(&rng, data, len);
		n = cut(&rng, data, len, parts, sizeof(parts) / sizeof(parts[0]));
		str = cistern_internv(v, parts, n);
		assert_holds(str, data, len);
		ck_assert_ptr_eq(cistern_find(v, data, len), str);
		n = cut(&rng, data, len, parts, sizeof(parts) / sizeof(parts[0]));
		ck_assert_ptr_eq(cistern_internv(v, parts, n), str);
		data[len - 1] ^= 1;
		ck_assert_ptr_ne(cistern_internv(v, parts, n), str);
	}
	free(data);
	cistern_destroy(v);
}
END_TEST

START_TEST(internv_takes_many_pieces)
{
	enum { PIECES = 70000 };
	cistern_span *parts = need(malloc(PIECES * sizeof(*parts)));
	char *data = need(malloc(PIECES));
	size_t i;
	const char *str;

	for (i = 0; i < PIECES; i++) {
		data[i] = (char)('a' + i % 26);
		parts[i].data = data + i;
		parts[i].len = 1;
	}
	str = cistern_internv(c, parts, PIECES);
	assert_holds(str, data, PIECES);
	ck_assert_ptr_eq(cistern_intern(c, data, PIECES), str);
	free(data);
	free(parts);
}
END_TEST

START_TEST(internv_of_lengths_that_are_no_size_overflows)
{
	cistern_span parts[3] = {{"a", SIZE_MAX / 2}, {"b", SIZE_MAX / 2}, {"c", 10}};

	errno = 0;
	ck_assert_ptr_null(cistern_internv(c, parts, 3));
	ck_assert_int_eq(errno, EOVERFLOW);
	parts[0].len = SIZE_MAX;
	errno = 0;
	ck_assert_ptr_null(cistern_internv(c, parts, 2));
	ck_assert_int_eq(errno, EOVERFLOW);
	errno = 0;
	ck_assert_ptr_null(cistern_internv(c, parts, 1));
	ck_assert_int_eq(errno, EOVERFLOW);
}
END_TEST

START_TEST(internv_accepts_pieces_of_interned_strings)
{
	const char *a = cistern_intern_cstr(c, "std::");
	const char *b = cistern_intern_cstr(c, "vector");
	cistern_span parts[2] = {{a, cistern_len(a)}, {b, cistern_len(b)}};

	ck_assert_ptr_eq(cistern_internv(c, parts, 2), cistern_intern_cstr(c, "std::vector"));
	parts[1].len = 0;
	ck_assert_ptr_eq(cistern_internv(c, parts, 2), a);
}
END_TEST

START_TEST(len_of_null_is_zero)
{
	ck_assert_uint_eq(cistern_len(NULL), 0);
}
END_TEST

START_TEST(version_is_that_of_the_header)
{
	char expect[64];

	snprintf(expect, sizeof(expect), "%d.%d.%d", CISTERN_VERSION_MAJOR, CISTERN_VERSION_MINOR,
		 CISTERN_VERSION_PATCH);
	ck_assert_str_eq(cistern_version(), expect);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("identity");

	cases_add_fixture(s, intern_equal_bytes_gives_same_pointer, setup, teardown);
	cases_add_fixture(s, intern_different_bytes_gives_different_pointers, setup, teardown);
	cases_add_fixture(s, intern_copies_the_bytes, setup, teardown);
	cases_add_fixture(s, intern_needs_no_nul_behind_the_bytes, setup, teardown);
	cases_add_fixture(s, embedded_nul_counts, setup, teardown);
	cases_add_fixture(s, trailing_nul_makes_another_string, setup, teardown);
	cases_add_fixture(s, null_with_length_zero_is_the_empty_string, setup, teardown);
	cases_add_fixture(s, empty_string_is_not_there_before_it_is_interned, setup, teardown);
	cases_add_fixture(s, null_cstr_gives_null_and_keeps_errno, setup, teardown);
	cases_add_fixture(s, null_with_a_length_is_invalid, setup, teardown);
	cases_add_fixture(s, null_interner_is_invalid, setup, teardown);
	cases_add_fixture(s, find_takes_bad_arguments_as_a_miss_and_keeps_errno, setup, teardown);
	cases_add_fixture(s, find_gives_what_intern_gave_and_adds_nothing, setup, teardown);
	cases_add_fixture(s, intern_new_tells_the_first_time_only, setup, teardown);
	cases_add_fixture(s, interning_an_interned_pointer_gives_it_back, setup, teardown);
	cases_add_fixture(s, interners_are_apart, setup, teardown);
	cases_add_fixture(s, a_fixed_seed_gives_the_same_hashes_and_another_seed_others, setup,
			  teardown);
	cases_add_fixture(s, every_bit_of_a_string_counts, setup, teardown);
	support_add(s, bytes_are_compared_whatever_the_hash_says);
	cases_add_fixture(s, internv_takes_many_pieces, setup, teardown);
	cases_add_fixture(s, internv_of_lengths_that_are_no_size_overflows, setup, teardown);
	cases_add_fixture(s, internv_accepts_pieces_of_interned_strings, setup, teardown);
	cases_add_fixture(s, len_of_null_is_zero, setup, teardown);
	cases_add_fixture(s, version_is_that_of_the_header, setup, teardown);
	cases_add_loop(s, every_length_to_600_is_kept_byte_for_byte, VARIANTS);
	cases_add_loop(s, random_strings_agree_with_a_reference_set, VARIANTS);
	cases_add_loop(s, pointers_stay_while_the_interner_grows, VARIANTS);
	cases_add_loop(s, hashed_calls_agree_with_plain_calls, VARIANTS);
	cases_add_loop(s, internv_interns_the_concatenation, VARIANTS);
	cases_add_loop(s, internv_takes_long_totals, FEW);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "identity", make);
}
