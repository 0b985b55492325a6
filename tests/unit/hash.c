/* SPDX-License-Identifier: MIT */
/* hash.c - tests of lib/hash.[ch]: pieces, secrets, and which bit serves what. */
#include "unit.h"

static struct secret secret_of(uint64_t seed)
{
	struct secret secret;

	secret_from_seed(&secret, seed);
	return secret;
}

static void fill_random(char *bytes, size_t len, uint64_t stream)
{
	support_rng rng = support_rng_start(stream);

	for (size_t i = 0; i < len; i++)
		bytes[i] = (char)support_rng_next(&rng);
}

START_TEST(two_pieces_hash_as_the_whole_at_every_split)
{
	const struct secret secret = secret_of(support_seed());
	char bytes[600];

	fill_random(bytes, sizeof bytes, 1);
	for (size_t len = 0; len <= sizeof bytes; len++) {
		char *copy = support_guarded(bytes, len);
		uint64_t whole = hash_bytes(&secret, copy, len);

		for (size_t at = 0; at <= len; at++) {
			cistern_span parts[] = {{copy, at}, {copy + at, len - at}};

			ck_assert(hash_parts(&secret, parts, 2) == whole);
		}
		support_guarded_free(copy, len);
	}
}
END_TEST

START_TEST(the_inline_hash_of_short_strings_is_the_same)
{
	const struct secret secret = secret_of(support_seed());
	char bytes[HASH_SHORT];

	fill_random(bytes, sizeof bytes, 8);
	for (size_t len = 0; len <= sizeof bytes; len++) {
		char *copy = support_guarded(bytes, len);

		ck_assert_uint_eq(hash_short_bytes(&secret, copy, len), hash_bytes(&secret, copy, len));
		support_guarded_free(copy, len);
	}
}
END_TEST

START_TEST(many_pieces_hash_as_the_whole)
{
	const struct secret secret = secret_of(support_seed());
	support_rng rng = support_rng_start(2);
	char bytes[5000];

	fill_random(bytes, sizeof bytes, 3);
	for (size_t round = 0; round < support_scaled(2000); round++) {
		size_t len = (size_t)support_rng_below(&rng, sizeof bytes + 1), at = 0, n = 0;
		cistern_span parts[32];

		while (n < 31) {
			size_t piece = (size_t)support_rng_below(&rng, (len - at) / 4 + 2);

			if (piece > len - at)
				piece = len - at;
			parts[n++] = piece ? (cistern_span){bytes + at, piece} : (cistern_span){NULL, 0};
			at += piece;
		}
		parts[n++] = (cistern_span){bytes + at, len - at};
		ck_assert_uint_eq(hash_parts(&secret, parts, n), hash_bytes(&secret, bytes, len));
	}
	ck_assert_uint_eq(hash_parts(&secret, NULL, 0), hash_bytes(&secret, "", 0));
}
END_TEST

START_TEST(bytes_read_one_by_one_hash_the_same)
{
	const struct secret secret = secret_of(support_seed());
	char bytes[3000];

	fill_random(bytes, sizeof bytes, 4);
	for (size_t len = 0; len <= sizeof bytes; len += len < 1100 ? 1 : 97) {
		char *copy = support_guarded(bytes, len);

		ck_assert_uint_eq(hash_racing_bytes(&secret, copy, len), hash_bytes(&secret, copy, len));
		support_guarded_free(copy, len);
	}
}
END_TEST

START_TEST(bytes_read_one_by_one_are_copied_exactly)
{
	char from[64], to[66];

	fill_random(from, sizeof from, 5);
	for (size_t len = 0; len <= sizeof from; len++) {
		memset(to, 'x', sizeof to);
		hash_copy_racing(to + 1, from, len);
		ck_assert_int_eq(memcmp(to + 1, from, len), 0);
		ck_assert_int_eq(to[0], 'x');
		ck_assert_int_eq(to[len + 1], 'x');
	}
}
END_TEST

START_TEST(a_seed_gives_the_same_secret_on_every_machine)
{
	/* the first outputs of SplitMix64 for these seeds, as its authors' code prints them */
	static const struct {
		uint64_t seed;
		uint64_t words[5];
	} known[] = {
	    {0, {UINT64_C(0xe220a8397b1dcdaf), UINT64_C(0x6e789e6aa1b965f4),
	         UINT64_C(0x06c45d188009454f), UINT64_C(0xf88bb8a8724c81ec),
	         UINT64_C(0x1b39896a51a8749b)}},
	    {1234567, {UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),
	               UINT64_C(9817491932198370423), UINT64_C(4593380528125082431),
	               UINT64_C(16408922859458223821)}},
	};

	for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
		const struct secret secret = secret_of(known[k].seed);

		for (size_t i = 0; i < 40; i++)
			ck_assert_uint_eq(secret.bytes[i], known[k].words[i / 8] >> i % 8 * 8 & 0xFF);
	}
}
END_TEST

START_TEST(a_seed_gives_the_same_hash_on_every_machine)
{
	const struct secret secret = secret_of(42);
	char bytes[400];

	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (char)(i * 7);
	ck_assert_uint_eq(hash_bytes(&secret, "", 0), UINT64_C(0xe89cde0de9282c31));
	ck_assert_uint_eq(hash_bytes(&secret, "cistern", 7), UINT64_C(0xfe14ee3aa750210b));
	ck_assert_uint_eq(hash_bytes(&secret, bytes, 100), UINT64_C(0x1f866c1299e78a35));
	ck_assert_uint_eq(hash_bytes(&secret, bytes, 400), UINT64_C(0x1556072b970a31a7));
}
END_TEST

START_TEST(seeds_next_to_each_other_give_unrelated_secrets)
{
	for (uint64_t seed = 0; seed < 64; seed++) {
		const struct secret a = secret_of(seed), b = secret_of(seed + 1);
		unsigned equal = 0;

		for (size_t i = 0; i < sizeof a.bytes; i++)
			equal += a.bytes[i] == b.bytes[i];
		ck_assert_uint_lt(equal, 16);
		ck_assert_uint_ne(hash_bytes(&a, "key", 3), hash_bytes(&b, "key", 3));
	}
}
END_TEST

START_TEST(drawn_secrets_differ)
{
	struct secret a, b;

	ck_assert(secret_draw(&a));
	ck_assert(secret_draw(&b));
	ck_assert_int_ne(memcmp(a.bytes, b.bytes, sizeof a.bytes), 0);
	ck_assert_uint_ne(hash_bytes(&a, "key", 3), hash_bytes(&b, "key", 3));
}
END_TEST

START_TEST(every_byte_of_the_string_and_its_length_count)
{
	const struct secret secret = secret_of(support_seed());
	char bytes[400];

	fill_random(bytes, sizeof bytes, 6);
	for (size_t len = 1; len <= sizeof bytes; len += 1 + len / 8) {
		uint64_t hash = hash_bytes(&secret, bytes, len);

		ck_assert_uint_ne(hash, hash_bytes(&secret, bytes, len - 1));
		for (size_t i = 0; i < len; i++) {
			bytes[i] ^= 0x40;
			ck_assert(hash != hash_bytes(&secret, bytes, len));
			bytes[i] ^= 0x40;
		}
	}
}
END_TEST

START_TEST(each_hash_bit_serves_one_purpose)
{
	support_rng rng = support_rng_start(7);

	for (int round = 0; round < 1000; round++) {
		uint64_t hash = support_rng_next(&rng) | UINT64_C(6) << 40; /* no tag becomes 0 */

		for (unsigned bit = 0; bit < 64; bit++) {
			uint64_t other = hash ^ UINT64_C(1) << bit;

			ck_assert((hash_shard(hash) != hash_shard(other)) == (bit >= 48));
			ck_assert((hash_tag(hash) != hash_tag(other)) == (bit >= 40 && bit < 48));
			ck_assert((hash_byte(hash) != hash_byte(other)) == (bit >= 32 && bit < 40));
			ck_assert((hash_bucket(hash) != hash_bucket(other)) == (bit < 32));
			ck_assert((hash_filter_bit(hash) != hash_filter_bit(other)) ==
			          (bit >= 32 && bit < 37));
		}
	}
}
END_TEST

START_TEST(accessors_return_the_bits_of_the_picture)
{
	uint64_t hash = UINT64_C(0x1234567890abcdef);

	ck_assert_uint_eq(hash_shard(hash), 0x1234);
	ck_assert_uint_eq(hash_tag(hash), 0x56);
	ck_assert_uint_eq(hash_byte(hash), 0x78);
	ck_assert_uint_eq(hash_filter_bit(hash), 0x78 & 31);
	ck_assert_uint_eq(hash_bucket(hash), 0x90abcdef);
}
END_TEST

START_TEST(no_tag_is_zero)
{
	for (uint64_t byte = 0; byte < 256; byte++) {
		uint8_t tag = hash_tag(byte << 40 | UINT64_C(0xFFFF00FFFFFFFFFF));

		ck_assert_uint_eq(tag, byte ? byte : 1);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("hash");

	support_add(s, two_pieces_hash_as_the_whole_at_every_split);
	support_add(s, the_inline_hash_of_short_strings_is_the_same);
	support_add(s, many_pieces_hash_as_the_whole);
	support_add(s, bytes_read_one_by_one_hash_the_same);
	support_add(s, bytes_read_one_by_one_are_copied_exactly);
	support_add(s, a_seed_gives_the_same_secret_on_every_machine);
	support_add(s, a_seed_gives_the_same_hash_on_every_machine);
	support_add(s, seeds_next_to_each_other_give_unrelated_secrets);
	support_add(s, drawn_secrets_differ);
	support_add(s, every_byte_of_the_string_and_its_length_count);
	support_add(s, each_hash_bit_serves_one_purpose);
	support_add(s, accessors_return_the_bits_of_the_picture);
	support_add(s, no_tag_is_zero);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "hash", make);
}
