/* SPDX-License-Identifier: MIT */
/* buf.c - tests of lib/buf.c: the caller's storage first, then the heap; failures stick; additions are whole. */
#include "unit.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <wchar.h>

static void check_invariants(const cistern_buf *b)
{
	cistern_span span = cistern_buf_span(b);

	ck_assert(span.data && span.data[span.len] == '\0');
	ck_assert(!b->private_data || b->private_len < b->private_size);
	ck_assert(b->private_data || b->private_len == 0);
}

START_TEST(an_empty_builder_is_the_empty_string)
{
	cistern_buf b;
	char storage[8] = "xxxxxxx";

	cistern_buf_init(&b);
	ck_assert_uint_eq(cistern_buf_span(&b).len, 0);
	ck_assert_str_eq(cistern_buf_span(&b).data, "");
	cistern_buf_init_fixed(&b, storage, sizeof storage);
	ck_assert_str_eq(cistern_buf_span(&b).data, "");
	ck_assert_ptr_eq(cistern_buf_span(&b).data, storage);
	cistern_buf_init_fixed(&b, storage, 0);
	ck_assert_str_eq(cistern_buf_span(&b).data, "");
	cistern_buf_init_fixed(&b, NULL, 100);
	check_invariants(&b);
	ck_assert(cistern_buf_add(&b, "a", 1));
	cistern_buf_release(&b);
}
END_TEST

START_TEST(storage_serves_until_it_is_full_to_the_last_byte)
{
	for (size_t size = 1; size < 40; size++) {
		char *storage = malloc(size);
		cistern_buf b;

		cistern_buf_init_fixed(&b, storage, size);
		for (size_t i = 0; i + 1 < size; i++)
			ck_assert(cistern_buf_addch(&b, (char)('a' + i % 26)));
		ck_assert_ptr_eq(cistern_buf_span(&b).data, storage);
		ck_assert(!b.private_heap);
		check_invariants(&b);
		ck_assert(cistern_buf_addch(&b, '!'));
		ck_assert(b.private_heap);
		check_invariants(&b);
		ck_assert_uint_eq(cistern_buf_span(&b).len, size);
		for (size_t i = 0; i + 1 < size; i++)
			ck_assert_int_eq(cistern_buf_span(&b).data[i], 'a' + (int)(i % 26));
		ck_assert_int_eq(cistern_buf_span(&b).data[size - 1], '!');
		cistern_buf_release(&b);
		check_invariants(&b);
		free(storage);
	}
}
END_TEST

START_TEST(random_additions_agree_with_a_plain_array)
{
	support_rng rng = support_rng_start(1);
	static char model[200000];

	for (size_t round = 0; round < support_scaled(200); round++) {
		char storage[64];
		size_t len = 0;
		cistern_buf b;

		if (round % 2)
			cistern_buf_init(&b);
		else
			cistern_buf_init_fixed(&b, storage, (size_t)support_rng_below(&rng, sizeof storage + 1));
		for (int i = 0; i < 200; i++) {
			char piece[300];
			size_t n = (size_t)support_rng_below(&rng, 4) ? (size_t)support_rng_below(&rng, 20)
			                                              : (size_t)support_rng_below(&rng, 300);
			int wrote;

			for (size_t k = 0; k < n; k++)
				piece[k] = (char)support_rng_next(&rng);
			switch (support_rng_below(&rng, 5)) {
			case 0:
				wrote = sprintf(model + len, "%d/%.*s", i, 17, "a format with text");
				ck_assert(cistern_buf_addf(&b, "%d/%.*s", i, 17, "a format with text"));
				len += (size_t)wrote;
				break;
			case 1:
				ck_assert(cistern_buf_addch(&b, (char)i));
				model[len++] = (char)i;
				break;
			case 2: /* a piece of itself */
				n = len ? (size_t)support_rng_below(&rng, len < 200 ? len : 200) : 0;
				ck_assert(cistern_buf_add(&b, cistern_buf_span(&b).data + (len - n) / 2, n));
				memcpy(model + len, model + (len - n) / 2, n);
				len += n;
				break;
			case 3:
				ck_assert(cistern_buf_reserve(&b, n));
				break;
			default:
				ck_assert(cistern_buf_add(&b, piece, n));
				memcpy(model + len, piece, n);
				len += n;
				break;
			}
			check_invariants(&b);
			ck_assert(cistern_buf_span(&b).len == len);
			ck_assert(memcmp(cistern_buf_span(&b).data, model, len) == 0);
		}
		ck_assert(!cistern_buf_failed(&b));
		cistern_buf_release(&b);
	}
}
END_TEST

START_TEST(after_reserve_the_data_stays_where_it_is)
{
	cistern_buf b;
	const char *data;

	cistern_buf_init(&b);
	ck_assert(cistern_buf_reserve(&b, 1000));
	data = cistern_buf_span(&b).data;
	for (int i = 0; i < 1000; i++)
		ck_assert(cistern_buf_addch(&b, 'r'));
	ck_assert_ptr_eq(cistern_buf_span(&b).data, data);
	ck_assert(cistern_buf_reserve(&b, 0));
	ck_assert_ptr_eq(cistern_buf_span(&b).data, data);
	cistern_buf_release(&b);
}
END_TEST

START_TEST(adding_nothing_is_fine)
{
	cistern_buf b;

	cistern_buf_init(&b);
	ck_assert(cistern_buf_add(&b, NULL, 0));
	ck_assert(cistern_buf_add(&b, "", 0));
	ck_assert(cistern_buf_addf(&b, "%s", ""));
	ck_assert_uint_eq(cistern_buf_span(&b).len, 0);
	check_invariants(&b);
	cistern_buf_release(&b);
}
END_TEST

/* The builder has "abc" and failed with that errno; it stays failed until it is reset. */
static void check_failed(cistern_buf *b, int error)
{
	ck_assert_int_eq(errno, error);
	ck_assert(cistern_buf_failed(b));
	errno = 0;
	ck_assert(!cistern_buf_add(b, "x", 1));
	ck_assert_int_eq(errno, ENOMEM);
	ck_assert(!cistern_buf_addch(b, 'x'));
	ck_assert(!cistern_buf_addf(b, "%d", 1));
	ck_assert(!cistern_buf_reserve(b, 1));
	ck_assert_str_eq(cistern_buf_span(b).data, "abc");
	ck_assert_uint_eq(cistern_buf_span(b).len, 3);
	cistern_buf_reset(b);
	ck_assert(!cistern_buf_failed(b));
	ck_assert_str_eq(cistern_buf_span(b).data, "");
	ck_assert(cistern_buf_add(b, "abc", 3));
}

/* By way of the caller, so that no compiler sees an impossible number. */
static size_t opaque(size_t n)
{
	volatile size_t hidden = n;

	return hidden;
}

START_TEST(failures_stick_and_add_nothing)
{
	char storage[8];
	cistern_buf b;

	for (int fixed = 0; fixed <= 1; fixed++) {
		cistern_buf_init_fixed(&b, fixed ? storage : NULL, sizeof storage);
		ck_assert(cistern_buf_add(&b, "abc", 3));
		errno = 0;
		ck_assert(!cistern_buf_add(&b, NULL, 5));
		check_failed(&b, EINVAL);
		ck_assert(!cistern_buf_add(&b, "abc", opaque(SIZE_MAX)));
		check_failed(&b, EOVERFLOW);
		ck_assert(!cistern_buf_reserve(&b, opaque(SIZE_MAX)));
		check_failed(&b, EOVERFLOW);
		ck_assert(!cistern_buf_reserve(&b, opaque(SIZE_MAX / 2)));
		check_failed(&b, ENOMEM);
		ck_assert(!cistern_buf_add(&b, "abc", opaque(SIZE_MAX / 2)));
		check_failed(&b, ENOMEM);
		cistern_buf_release(&b);
	}
}
END_TEST

/* Without the compiler's look at the format. */
static bool add_formatted(cistern_buf *b, const char *format, ...)
{
	va_list args;
	void *argument;

	va_start(args, format);
	argument = va_arg(args, void *);
	va_end(args);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	return cistern_buf_addf(b, format, argument);
#pragma GCC diagnostic pop
}

START_TEST(formats_that_fail_add_nothing)
{
	static const wchar_t impossible[] = {L'a', 0x7FFFFFFF, 0};
	char storage[8];
	cistern_buf b;

	for (int fixed = 0; fixed <= 1; fixed++) {
		cistern_buf_init_fixed(&b, fixed ? storage : NULL, sizeof storage);
		ck_assert(cistern_buf_add(&b, "abc", 3));
		errno = 0;
		ck_assert(!add_formatted(&b, "%ls", impossible));
		check_failed(&b, EILSEQ);
		ck_assert(!add_formatted(&b, NULL, ""));
		check_failed(&b, EINVAL);
		ck_assert(!add_formatted(&b, "%99999999999d", NULL));
		check_failed(&b, EOVERFLOW);
		cistern_buf_release(&b);
	}
}
END_TEST

START_TEST(a_format_longer_than_the_storage_is_written_whole)
{
	for (size_t size = 0; size < 30; size++) {
		char storage[30];
		cistern_buf b;

		cistern_buf_init_fixed(&b, storage, size);
		ck_assert(cistern_buf_addf(&b, "%s-%d-%s", "one", 22, "three"));
		ck_assert_str_eq(cistern_buf_span(&b).data, "one-22-three");
		ck_assert_int_eq(b.private_heap, size < 13);
		ck_assert(cistern_buf_addf(&b, "%s", "|and more than thirty characters on top"));
		ck_assert_str_eq(cistern_buf_span(&b).data,
		                 "one-22-three|and more than thirty characters on top");
		cistern_buf_release(&b);
	}
}
END_TEST

START_TEST(there_is_always_room_for_the_nul)
{
	static const char bytes[600];

	for (size_t first = 1; first < 200; first++)
		for (size_t more = 0; more < 300; more++) {
			cistern_buf b;

			cistern_buf_init(&b);
			ck_assert(cistern_buf_add(&b, bytes, first));
			ck_assert(cistern_buf_add(&b, bytes, more));
			check_invariants(&b);
			cistern_buf_release(&b);
		}
}
END_TEST

START_TEST(growing_is_linear_in_all)
{
	cistern_buf b;
	size_t moves = 0, size = 0;

	cistern_buf_init(&b);
	for (size_t i = 0; i < 1000000; i++) {
		ck_assert(cistern_buf_addch(&b, 'g'));
		moves += b.private_size != size;
		size = b.private_size;
	}
	ck_assert_uint_le(moves, 30);
	cistern_buf_release(&b);
}
END_TEST

START_TEST(reset_keeps_the_storage_and_release_gives_it_up)
{
	cistern_buf b;
	size_t size;

	cistern_buf_init(&b);
	ck_assert(cistern_buf_reserve(&b, 5000));
	size = b.private_size;
	ck_assert(cistern_buf_add(&b, "some", 4));
	cistern_buf_reset(&b);
	ck_assert_uint_eq(b.private_size, size);
	ck_assert_str_eq(cistern_buf_span(&b).data, "");
	cistern_buf_release(&b);
	ck_assert_uint_eq(b.private_size, 0);
	cistern_buf_release(&b);
	cistern_buf_reset(&b);
	check_invariants(&b);
}
END_TEST

START_TEST(a_builder_is_interned_with_all_its_bytes)
{
	cistern *c = cistern_create(NULL);
	cistern_buf b;

	cistern_buf_init(&b);
	ck_assert_ptr_eq(cistern_buf_intern(c, &b), cistern_intern(c, "", 0));
	ck_assert(cistern_buf_add(&b, "a\0b", 3));
	ck_assert(cistern_buf_addf(&b, "%03d", 7));
	ck_assert_ptr_eq(cistern_buf_intern(c, &b), cistern_intern(c, "a\0b007", 6));
	ck_assert(!cistern_buf_add(&b, NULL, 1));
	errno = 0;
	ck_assert_ptr_null(cistern_buf_intern(c, &b));
	ck_assert_int_eq(errno, ENOMEM);
	cistern_buf_reset(&b);
	errno = 0;
	ck_assert_ptr_null(cistern_buf_intern(NULL, &b));
	ck_assert_int_eq(errno, EINVAL);
	unit_check_accounts(c);
	cistern_buf_release(&b);
	cistern_destroy(c);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("buf");

	support_add(s, an_empty_builder_is_the_empty_string);
	support_add(s, storage_serves_until_it_is_full_to_the_last_byte);
	support_add(s, random_additions_agree_with_a_plain_array);
	support_add(s, after_reserve_the_data_stays_where_it_is);
	support_add(s, adding_nothing_is_fine);
	support_add(s, failures_stick_and_add_nothing);
	support_add(s, formats_that_fail_add_nothing);
	support_add(s, a_format_longer_than_the_storage_is_written_whole);
	support_add(s, there_is_always_room_for_the_nul);
	support_add(s, growing_is_linear_in_all);
	support_add(s, reset_keeps_the_storage_and_release_gives_it_up);
	support_add(s, a_builder_is_interned_with_all_its_bytes);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "buf", make);
}
