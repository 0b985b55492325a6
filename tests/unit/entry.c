/* SPDX-License-Identifier: MIT */
/* entry.c - tests of lib/entry.h: every layout, the escape at 2^24 - 1, comparing bytes at the edge of memory. */
#include "unit.h"

#include <stdlib.h>

static const unsigned value_sizes[] = {0, 4, 8};

/* Calls fn for every layout that there can be, on 4096-aligned memory. */
static void each_layout(void (*fn)(const struct entry_layout *layout, char *base))
{
	static _Alignas(4096) char base[1 << 16];

	for (unsigned shift = 0; shift <= 8; shift++)
		for (unsigned v = 0; v < 3; v++)
			for (int links = 0; links <= 1; links++) {
				struct entry_layout layout;

				entry_layout_init(&layout, base, shift, value_sizes[v], links);
				fn(&layout, base);
			}
}

static void check_layout(const struct entry_layout *layout, char *base)
{
	unsigned extras = layout->link_size + layout->value_size;

	ck_assert_uint_eq(layout->prefix, 4 + extras);
	ck_assert_uint_ge(layout->align, UINT32_C(1) << layout->shift);
	ck_assert_uint_eq(layout->align & (layout->align - 1), 0);
	ck_assert_uint_ge(layout->align, layout->value_size);
	ck_assert_uint_ge(layout->align, layout->link_size);
	ck_assert(layout->align == UINT32_C(1) << layout->shift || layout->align == layout->value_size ||
	          layout->align == layout->link_size);
	ck_assert_ptr_eq(layout->origin, base + layout->prefix);
}

START_TEST(alignment_serves_reference_value_and_link)
{
	each_layout(check_layout);
}
END_TEST

static void check_places(const struct entry_layout *layout, char *base)
{
	memset(base, 'x', 1 << 16);
	for (size_t start = layout->align; start < 40 * (size_t)layout->align; start += layout->align) {
		char *str = base + start + layout->prefix;
		char *value = entry_value(layout, str), *link = (char *)entry_link(str);

		entry_frame(layout, str, 5, 0xA5);
		if (layout->value_size) {
			ck_assert_uint_eq((uintptr_t)value % layout->value_size, 0);
			ck_assert_ptr_eq(value, base + start);
		}
		if (layout->link_size) {
			ck_assert_uint_eq((uintptr_t)link % 4, 0);
			ck_assert_ptr_eq(link, base + start + layout->value_size);
		}
		for (char *p = base + start; p < str - ENTRY_HEADER; p++)
			ck_assert(*p == 0);
		ck_assert_int_eq(base[start - 1], 'x');
		ck_assert_uint_eq(entry_load_header(str), 5 | 0xA5u << 24);
		ck_assert_int_eq(str[0], 'x');
		ck_assert_int_eq(str[4], 'x');
		ck_assert_int_eq(str[5], '\0');
		ck_assert_int_eq(str[6], 'x');
		memset(base + start, 'x', layout->prefix + 6u);
	}
}

START_TEST(value_link_and_header_stand_aligned_before_the_bytes)
{
	each_layout(check_places);
}
END_TEST

static void check_sizes(const struct entry_layout *layout, char *base)
{
	(void)base;
	for (size_t len = 0; len < 2000; len++) {
		size_t size = entry_size(layout, len), least = layout->prefix + len + 1;

		ck_assert(size % layout->align == 0 && size >= least && size - least < layout->align);
	}
	for (size_t len = ENTRY_ESCAPE - 3; len < ENTRY_ESCAPE + 3; len++) {
		size_t least = layout->prefix + len + 1 + (len >= ENTRY_ESCAPE ? 8 : 0);

		ck_assert_uint_ge(entry_size(layout, len), least);
		ck_assert_uint_lt(entry_size(layout, len) - least, layout->align);
	}
}

START_TEST(sizes_hold_the_entry_and_hardly_more)
{
	each_layout(check_sizes);
}
END_TEST

static void check_refs(const struct entry_layout *layout, char *base)
{
	static const uint32_t refs[] = {1, 2, 3, 63, 64, 65535, 65536, 0x7FFFFFFF, 0x80000000,
	                                0xFFFFFFFE, 0xFFFFFFFF};

	for (size_t i = 0; i < sizeof refs / sizeof *refs; i++) {
		const char *str = entry_str(layout, refs[i]);

		if ((uint64_t)refs[i] << layout->shift > SIZE_MAX - layout->prefix)
			continue; /* on 32 bits no range is as large */
		ck_assert_uint_eq((uintptr_t)str - (uintptr_t)base,
		                  ((uint64_t)refs[i] << layout->shift) + layout->prefix);
		ck_assert_uint_eq(entry_ref(layout, str), refs[i]);
	}
}

START_TEST(references_go_there_and_back)
{
	each_layout(check_refs);
}
END_TEST

/* As on 32 bits, where 2^32 references reach round the whole address space and up to the range's first bytes. */
START_TEST(addresses_that_come_round_are_not_above_the_origin)
{
	for (unsigned shift = 0; shift <= 8; shift++) {
		struct entry_layout layout;
		uintptr_t base = UINTPTR_MAX - ((uintptr_t)1 << 20) + 1;

		entry_layout_init(&layout, (char *)base, shift, 8, true);
		for (uint32_t ref = 1; ref < 2000; ref++)
			ck_assert_uint_eq(entry_address(&layout, ref),
			                  base + layout.prefix + ((uintptr_t)ref << shift));
		for (uint32_t ref = (1u << 20) >> shift; ref < (1u << 20) >> shift << 1; ref++)
			ck_assert(entry_address(&layout, ref) <= (uintptr_t)layout.origin);
	}
}
END_TEST

START_TEST(header_holds_length_and_hash_byte)
{
	static const uint8_t bytes[] = {0, 1, 0x7F, 0x80, 0xFF};

	for (size_t i = 0; i < sizeof bytes; i++) {
		uint32_t high = (uint32_t)bytes[i] << 24;

		ck_assert_uint_eq(entry_header(0, bytes[i]), high);
		ck_assert_uint_eq(entry_header(1, bytes[i]), high | 1);
		ck_assert_uint_eq(entry_header(0xFFFFFE, bytes[i]), high | 0xFFFFFE);
		ck_assert_uint_eq(entry_header(0xFFFFFF, bytes[i]), high | 0xFFFFFF);
		ck_assert_uint_eq(entry_header(0x1000000, bytes[i]), high | 0xFFFFFF);
		ck_assert_uint_eq(entry_header((size_t)5 << 30, bytes[i]), high | 0xFFFFFF);
	}
}
END_TEST

START_TEST(lengths_around_2_to_24_are_kept)
{
	enum { LEAST = (1 << 24) - 2, MOST = 1 << 24 };
	char *memory = calloc(1, MOST + 4096);

	ck_assert_ptr_nonnull(memory);
	for (size_t len = LEAST; len <= MOST; len++)
		for (unsigned v = 0; v < 3; v++)
			for (int links = 0; links <= 1; links++) {
				struct entry_layout layout;
				char *str;

				entry_layout_init(&layout, memory, 3, value_sizes[v], links);
				memset(memory, 'x', 256);
				str = memory + 128 + layout.prefix;
				memset(str + len, 'x', 8);
				entry_frame(&layout, str, len, 7);
				ck_assert_uint_eq(entry_len(str), len);
				ck_assert_int_eq(entry_escaped(len), len >= (1 << 24) - 1);
				ck_assert_int_eq(str[len], '\0');
				ck_assert_int_eq(str[len + 1], 'x');
				if (v)
					ck_assert_uint_eq(entry_load32(entry_value(&layout, str)), 0);
				if (links)
					ck_assert_uint_eq(atomic_load(entry_link(str)), 0);
				ck_assert_uint_eq((uintptr_t)entry_value(&layout, str) % 4, 0);
				/* the escaped length pushes everything before it forward by its own size */
				ck_assert_int_eq(memory[127 - (entry_escaped(len) ? 8 : 0)], 'x');
			}
	free(memory);
}
END_TEST

START_TEST(equal_bytes_agree_with_memcmp_at_the_edge_of_memory)
{
	support_rng rng = support_rng_start(1);
	char bytes[200];

	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (char)support_rng_next(&rng);
	for (size_t len = 0; len <= sizeof bytes; len++) {
		char *a = support_guarded(bytes, len), *b = support_guarded(bytes, len);

		ck_assert_msg(entry_bytes_equal(a, b, len), "equal, %zu", len);
		for (size_t at = 0; at < len; at++) {
			unsigned bit = (unsigned)support_rng_below(&rng, 8);

			b[at] ^= (char)(1 << bit);
			ck_assert(!entry_bytes_equal(a, b, len));
			ck_assert(!entry_bytes_equal(b, a, len));
			b[at] = bytes[at];
		}
		support_guarded_free(a, len);
		support_guarded_free(b, len);
	}
}
END_TEST

START_TEST(bytes_beyond_the_length_do_not_count)
{
	char a[256], b[256];

	memset(a, 'a', sizeof a);
	memset(b, 'b', sizeof b);
	for (size_t len = 0; len <= 200; len++) {
		memset(b + 8, 'a', len);
		memset(a + 8 + len, 'a', 1);
		ck_assert(entry_bytes_equal(a + 8, b + 8, len));
		if (len)
			ck_assert(!entry_bytes_equal(a + 8, b + 8, len + 1));
		ck_assert(!entry_bytes_equal(a + 7, b + 7, len + 1));
	}
}
END_TEST

START_TEST(an_entry_equals_only_its_own_length_hash_byte_and_bytes)
{
	struct entry_layout layout;
	static _Alignas(16) char memory[64];
	char *str;

	entry_layout_init(&layout, memory, 2, 0, false);
	str = memory + 16 + layout.prefix;
	memcpy(str, "a\0b", 3);
	entry_frame(&layout, str, 3, 0x42);
	ck_assert(entry_equal(str, entry_header(3, 0x42), "a\0b", 3));
	ck_assert(!entry_equal(str, entry_header(3, 0x43), "a\0b", 3));
	ck_assert(!entry_equal(str, entry_header(2, 0x42), "a\0b", 2));
	ck_assert(!entry_equal(str, entry_header(3, 0x42), "a\0c", 3));
}
END_TEST

START_TEST(escaped_entries_are_told_apart_by_their_real_length)
{
	enum { LEN = 1 << 24 };
	char *memory = calloc(1, LEN + 64), *s = calloc(1, LEN + 2);
	struct entry_layout layout;
	char *str;

	ck_assert(memory && s);
	entry_layout_init(&layout, memory, 0, 0, false);
	str = memory + 16 + layout.prefix;
	entry_frame(&layout, str, LEN, 1);
	ck_assert(entry_equal(str, entry_header(LEN, 1), s, LEN));
	ck_assert(!entry_equal(str, entry_header(LEN + 1, 1), s, LEN + 1));
	ck_assert(!entry_equal(str, entry_header(LEN - 1, 1), s, LEN - 1));
	s[LEN - 1] = 1;
	ck_assert(!entry_equal(str, entry_header(LEN, 1), s, LEN));
	free(memory);
	free(s);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("entry");

	support_add(s, alignment_serves_reference_value_and_link);
	support_add(s, value_link_and_header_stand_aligned_before_the_bytes);
	support_add(s, sizes_hold_the_entry_and_hardly_more);
	support_add(s, references_go_there_and_back);
	support_add(s, addresses_that_come_round_are_not_above_the_origin);
	support_add(s, header_holds_length_and_hash_byte);
	support_add(s, lengths_around_2_to_24_are_kept);
	support_add(s, equal_bytes_agree_with_memcmp_at_the_edge_of_memory);
	support_add(s, bytes_beyond_the_length_do_not_count);
	support_add(s, an_entry_equals_only_its_own_length_hash_byte_and_bytes);
	support_add(s, escaped_entries_are_told_apart_by_their_real_length);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "entry", make);
}
