/* SPDX-License-Identifier: MIT */
/* buf.c - the builder: storage of the caller's, the move to the heap, failures that stick. */
#include "allocs.h"
#include "cases.h"
#include "support.h"
#include "tools.h"
#include "words.h"

#include <cistern.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Sanitizers end the program on a request that malloc must refuse, unless they are told not to. */
#if UNDER_ASAN
const char *__asan_default_options(void);
__attribute__((__visibility__("default"))) const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}
#endif
#if UNDER_TSAN
const char *__tsan_default_options(void);
__attribute__((__visibility__("default"))) const char *__tsan_default_options(void)
{
	return "allocator_may_return_null=1";
}
#endif

static cistern_buf b;
static char storage[32];

static void setup(void)
{
	memset(storage, '#', sizeof(storage));
	cistern_buf_init_fixed(&b, storage, sizeof(storage));
}

static void teardown(void)
{
	cistern_buf_release(&b);
}

static void assert_text(const cistern_buf *buf, const char *data, size_t len)
{
	cistern_span span = cistern_buf_span(buf);

	ck_assert_uint_eq(span.len, len);
	ck_assert_ptr_nonnull(span.data);
	ck_assert(len == 0 || memcmp(span.data, data, len) == 0);
	ck_assert_int_eq(span.data[len], '\0');
}

START_TEST(a_new_builder_is_empty)
{
	cistern_buf plain;

	assert_text(&b, "", 0);
	ck_assert(!cistern_buf_failed(&b));
	cistern_buf_init(&plain);
	assert_text(&plain, "", 0);
	ck_assert(!cistern_buf_failed(&plain));
	cistern_buf_release(&plain);
	assert_text(&plain, "", 0);
}
END_TEST

START_TEST(pieces_are_put_together)
{
	ck_assert(cistern_buf_add(&b, "std::", 5));
	ck_assert(cistern_buf_addch(&b, 'm'));
	ck_assert(cistern_buf_add(&b, "", 0));
	ck_assert(cistern_buf_add(&b, NULL, 0));
	ck_assert(cistern_buf_addf(&b, "ap<%s, %d>", "int", 42));
	assert_text(&b, "std::map<int, 42>", 17);
	ck_assert(cistern_buf_addch(&b, '\0'));
	ck_assert(cistern_buf_add(&b, "a\0b", 3));
	assert_text(&b, "std::map<int, 42>\0a\0b", 21);
}
END_TEST

START_TEST(storage_is_used_to_its_last_byte)
{
	size_t i;

	for (i = 0; i < sizeof(storage) - 1; i++) {
		ck_assert(cistern_buf_addch(&b, (char)('a' + i % 26)));
		ck_assert_ptr_eq(cistern_buf_span(&b).data, storage);
		ck_assert_uint_eq(cistern_buf_span(&b).len, i + 1);
		ck_assert_int_eq(storage[i + 1], '\0');
	}
	ck_assert(cistern_buf_addch(&b, '!'));
	ck_assert_ptr_ne(cistern_buf_span(&b).data, storage);
	assert_text(&b, "abcdefghijklmnopqrstuvwxyzabcde!", 32);
}
END_TEST

START_TEST(nothing_is_allocated_until_storage_is_full)
{
	unsigned long before;
	int i;

	if (!allocs_counted())
		return;
	before = allocs_calls();
	for (i = 0; i < 1000; i++) {
		cistern_buf_reset(&b);
		cistern_buf_add(&b, "0123456789", 10);
		cistern_buf_addch(&b, 'x');
		cistern_buf_addf(&b, "%s-%d", "formatted", 12345);
		cistern_buf_reserve(&b, sizeof(storage) - 1);
		cistern_buf_add(&b, "1234", 4);
	}
	ck_assert_uint_eq(allocs_calls(), before);
	ck_assert(!cistern_buf_failed(&b));
	ck_assert_uint_eq(cistern_buf_span(&b).len, 30);
	ck_assert_ptr_eq(cistern_buf_span(&b).data, storage);
	cistern_buf_add(&b, "yz", 2);
	ck_assert_uint_gt(allocs_calls(), before);
}
END_TEST

START_TEST(a_formatted_piece_may_fill_storage_exactly)
{
	int len;

	for (len = 25; len < 40; len++) {
		char expect[64];

		memset(expect, 'f', sizeof(expect));
		cistern_buf_release(&b);
		cistern_buf_init_fixed(&b, storage, sizeof(storage));
		ck_assert(cistern_buf_addf(&b, "%.*s", len,
					   "ffffffffffffffffffffffffffffffffffffffffffffffff"));
		assert_text(&b, expect, (size_t)len);
		ck_assert_int_eq(cistern_buf_span(&b).data == storage, len < (int)sizeof(storage));
	}
}
END_TEST

START_TEST(the_heap_grows_in_few_steps)
{
	unsigned long before = allocs_calls(), calls;
	size_t i, wrong = 0;

	for (i = 0; i < 100000; i++)
		wrong += !cistern_buf_addch(&b, (char)i);
	calls = allocs_calls() - before;
	ck_assert_uint_eq(wrong, 0);
	ck_assert_uint_eq(cistern_buf_span(&b).len, 100000);
	for (i = 0; i < 100000; i++)
		wrong += cistern_buf_span(&b).data[i] != (char)i;
	ck_assert_uint_eq(wrong, 0);
	ck_assert_uint_lt(calls, 100);
}
END_TEST

START_TEST(storage_of_no_size_is_no_storage)
{
	static const size_t sizes[] = {0, 1, 2};
	size_t i;

	for (i = 0; i < 2 * COUNT(sizes); i++) {
		size_t size = sizes[i / 2];
		char *end = support_guarded("##", size);
		cistern_buf small;

		/* a NULL is storage of no size too */
		cistern_buf_init_fixed(&small, i % 2 && !size ? NULL : end, size);
		assert_text(&small, "", 0);
		ck_assert(cistern_buf_add(&small, "", 0));
		assert_text(&small, "", 0);
		ck_assert(cistern_buf_addch(&small, 'a'));
		assert_text(&small, "a", 1);
		ck_assert(cistern_buf_add(&small, "bcdef", 5));
		assert_text(&small, "abcdef", 6);
		cistern_buf_reset(&small);
		assert_text(&small, "", 0);
		cistern_buf_release(&small);
		support_guarded_free(end, size);
	}
}
END_TEST

START_TEST(nothing_behind_storage_is_written)
{
	size_t size;

	for (size = 1; size < 70; size++) {
		char zeros[70] = {0};
		char *end = support_guarded(zeros, size);
		cistern_buf small;
		size_t i;

		cistern_buf_init_fixed(&small, end, size);
		for (i = 0; i < 80; i++)
			ck_assert(i % 2 ? cistern_buf_addch(&small, 'g')
					: cistern_buf_addf(&small, "%c", 'g'));
		ck_assert_uint_eq(cistern_buf_span(&small).len, 80);
		cistern_buf_release(&small);
		support_guarded_free(end, size);
	}
}
END_TEST

START_TEST(reserve_makes_room_and_keeps_the_text)
{
	const char *data;
	int i;

	ck_assert(cistern_buf_add(&b, "kept", 4));
	ck_assert(cistern_buf_reserve(&b, 0));
	ck_assert(cistern_buf_reserve(&b, 10));
	ck_assert_ptr_eq(cistern_buf_span(&b).data, storage);
	ck_assert(cistern_buf_reserve(&b, 5000));
	assert_text(&b, "kept", 4);
	data = cistern_buf_span(&b).data;
	for (i = 4; i < 5000; i++)
		ck_assert(cistern_buf_addch(&b, 'r'));
	ck_assert_ptr_eq(cistern_buf_span(&b).data, data);
	ck_assert_uint_eq(cistern_buf_span(&b).len, 5000);
}
END_TEST

START_TEST(reset_keeps_storage_and_release_drops_it)
{
	const char *heap;

	ck_assert(cistern_buf_add(&b, "short", 5));
	cistern_buf_reset(&b);
	assert_text(&b, "", 0);
	ck_assert_ptr_eq(cistern_buf_span(&b).data, storage);
	ck_assert(cistern_buf_reserve(&b, 1000));
	heap = cistern_buf_span(&b).data;
	ck_assert(cistern_buf_add(&b, "longer", 6));
	cistern_buf_reset(&b);
	assert_text(&b, "", 0);
	ck_assert(cistern_buf_reserve(&b, 1000));
	ck_assert_ptr_eq(cistern_buf_span(&b).data, heap);
	cistern_buf_release(&b);
	assert_text(&b, "", 0);
	ck_assert_ptr_ne(cistern_buf_span(&b).data, storage);
	/* usable again, without storage; and released twice in a row */
	ck_assert(cistern_buf_add(&b, "again", 5));
	assert_text(&b, "again", 5);
	ck_assert_ptr_ne(cistern_buf_span(&b).data, storage);
	cistern_buf_release(&b);
	cistern_buf_release(&b);
	assert_text(&b, "", 0);
}
END_TEST

START_TEST(a_builder_may_add_its_own_text)
{
	size_t len = 3;
	int i;

	ck_assert(cistern_buf_add(&b, "abc", 3));
	/* in storage, across the move to the heap, and on the heap */
	for (i = 0; i < 12; i++) {
		cistern_span span = cistern_buf_span(&b);
		size_t k;

		ck_assert(cistern_buf_add(&b, span.data, span.len));
		len *= 2;
		span = cistern_buf_span(&b);
		ck_assert_uint_eq(span.len, len);
		for (k = 0; k < len; k++)
			ck_assert_int_eq(span.data[k], "abc"[k % 3]);
		ck_assert_int_eq(span.data[len], '\0');
	}
	/* a part of it, from the middle */
	ck_assert(cistern_buf_add(&b, cistern_buf_span(&b).data + 1, 2));
	ck_assert_int_eq(memcmp(cistern_buf_span(&b).data + len, "bc", 2), 0);
}
END_TEST

/* ---------------------------------------------------------------- failure */

static void assert_stuck(cistern_buf *buf, const char *data, size_t len)
{
	cistern *c = cistern_create(NULL);

	ck_assert(cistern_buf_failed(buf));
	assert_text(buf, data, len);
	ck_assert(!cistern_buf_add(buf, "x", 1));
	ck_assert(!cistern_buf_add(buf, "", 0));
	ck_assert(!cistern_buf_addch(buf, 'x'));
	ck_assert(!cistern_buf_addf(buf, "%d", 1));
	ck_assert(!cistern_buf_reserve(buf, 1));
	ck_assert(cistern_buf_failed(buf));
	assert_text(buf, data, len);
	ck_assert_ptr_nonnull(c);
	errno = 0;
	ck_assert_ptr_null(cistern_buf_intern(c, buf));
	ck_assert_int_eq(errno, ENOMEM);
	cistern_destroy(c);
	cistern_buf_reset(buf);
	ck_assert(!cistern_buf_failed(buf));
	assert_text(buf, "", 0);
	ck_assert(cistern_buf_add(buf, "works", 5));
	assert_text(buf, "works", 5);
}

START_TEST(null_with_a_length_fails_and_sticks)
{
	ck_assert(cistern_buf_add(&b, "before", 6));
	errno = 0;
	ck_assert(!cistern_buf_add(&b, NULL, 3));
	ck_assert_int_eq(errno, EINVAL);
	assert_stuck(&b, "before", 6);
}
END_TEST

START_TEST(a_length_that_is_no_size_overflows_and_sticks)
{
	static const size_t lengths[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 5};
	size_t i;

	for (i = 0; i < COUNT(lengths); i++) {
		cistern_buf_reset(&b);
		ck_assert(cistern_buf_add(&b, "before", 6));
		errno = 0;
		ck_assert(!cistern_buf_add(&b, "x", lengths[i]));
		ck_assert_int_eq(errno, EOVERFLOW);
		assert_stuck(&b, "before", 6);
	}
	cistern_buf_reset(&b);
	errno = 0;
	ck_assert(!cistern_buf_reserve(&b, SIZE_MAX));
	ck_assert_int_eq(errno, EOVERFLOW);
	assert_stuck(&b, "", 0);
}
END_TEST

START_TEST(more_than_there_is_memory_fails_and_sticks)
{
	ck_assert(cistern_buf_add(&b, "before", 6));
	errno = 0;
	ck_assert(!cistern_buf_reserve(&b, SIZE_MAX - SIZE_MAX / 16));
	ck_assert_int_eq(errno, ENOMEM);
	assert_stuck(&b, "before", 6);
}
END_TEST

START_TEST(a_refused_allocation_fails_and_sticks)
{
	bool answers[4];
	int error, i;

	if (!allocs_can_fail())
		return;
	for (i = 0; i < 4; i++) {
		cistern_buf_release(&b);
		cistern_buf_init_fixed(&b, storage, sizeof(storage));
		ck_assert(cistern_buf_add(&b, "0123456789012345678901234567890", 31));
		allocs_fail_after(0);
		errno = 0;
		switch (i) {
		case 0:
			answers[i] = cistern_buf_add(&b, "x", 1);
			break;
		case 1:
			answers[i] = cistern_buf_addch(&b, 'x');
			break;
		case 2:
			answers[i] = cistern_buf_addf(&b, "%d", 7);
			break;
		default:
			answers[i] = cistern_buf_reserve(&b, 100);
		}
		error = errno;
		allocs_fail_after(-1);
		ck_assert_msg(!answers[i] && error == ENOMEM, "call %d: errno %d", i, error);
		assert_stuck(&b, "0123456789012345678901234567890", 31);
		/* the heap's own growth */
		cistern_buf_release(&b);
		ck_assert(cistern_buf_reserve(&b, 100));
		ck_assert(cistern_buf_add(&b, "on the heap", 11));
		allocs_fail_after(0);
		answers[i] = cistern_buf_reserve(&b, 100000);
		allocs_fail_after(-1);
		ck_assert(!answers[i]);
		assert_stuck(&b, "on the heap", 11);
	}
}
END_TEST

/* ---------------------------------------------------------------- interning */

START_TEST(interning_gives_the_string_and_keeps_the_builder)
{
	cistern *c = cistern_create(NULL);
	const char *str;

	ck_assert_ptr_nonnull(c);
	ck_assert_ptr_eq(cistern_buf_intern(c, &b), cistern_intern(c, "", 0));
	ck_assert(cistern_buf_addf(&b, "a%cb", '\0'));
	str = cistern_buf_intern(c, &b);
	ck_assert_ptr_eq(str, cistern_intern(c, "a\0b", 3));
	ck_assert(str < storage || str >= storage + sizeof(storage));
	assert_text(&b, "a\0b", 3);
	ck_assert(cistern_buf_add(&b, "cdefghijklmnopqrstuvwxyz0123456789", 34));
	ck_assert_ptr_eq(cistern_buf_intern(c, &b),
			 cistern_intern(c, "a\0bcdefghijklmnopqrstuvwxyz0123456789", 37));
	errno = 0;
	ck_assert_ptr_null(cistern_buf_intern(NULL, &b));
	ck_assert_int_eq(errno, EINVAL);
	ck_assert(!cistern_buf_failed(&b));
	cistern_destroy(c);
}
END_TEST

START_TEST(random_building_agrees_with_a_reference)
{
	support_rng rng = support_rng_start(0);
	size_t round, rounds = support_scaled(2000);
	char *expect = need(malloc(1 << 16));

	for (round = 0; round < rounds; round++) {
		size_t size = support_rng_below(&rng, 100), len = 0, step;
		char *room = need(malloc(size + 1));
		cistern_buf buf;

		if (round % 5)
			cistern_buf_init_fixed(&buf, room, size);
		else
			cistern_buf_init(&buf);
		for (step = support_rng_below(&rng, 30); step; step--) {
			char data[200];
			size_t n = random_word(&rng, data, sizeof(data) - 1);

			switch (support_rng_below(&rng, 6)) {
			case 0:
				ck_assert(cistern_buf_addch(
				    &buf, data[0] = (char)support_rng_next(&rng)));
				n = 1;
				break;
			case 1:
				for (n = 0; n < 150 && support_rng_below(&rng, 50); n++)
					data[n] = (char)('A' + n % 26);
				data[n] = '\0';
				ck_assert(cistern_buf_addf(&buf, "%s", data));
				break;
			case 2:
				ck_assert(cistern_buf_reserve(&buf, support_rng_below(&rng, 300)));
				n = 0;
				break;
			case 3:
				if (support_rng_below(&rng, 8) == 0) {
					cistern_buf_reset(&buf);
					len = 0;
				}
				n = 0;
				break;
			default:
				ck_assert(cistern_buf_add(&buf, data, n));
			}
			memcpy(expect + len, data, n);
			len += n;
			assert_text(&buf, expect, len);
		}
		ck_assert(!cistern_buf_failed(&buf));
		cistern_buf_release(&buf);
		free(room);
	}
	free(expect);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("buf");

	cases_add_fixture(s, a_new_builder_is_empty, setup, teardown);
	cases_add_fixture(s, pieces_are_put_together, setup, teardown);
	cases_add_fixture(s, storage_is_used_to_its_last_byte, setup, teardown);
	cases_add_fixture(s, nothing_is_allocated_until_storage_is_full, setup, teardown);
	cases_add_fixture(s, a_formatted_piece_may_fill_storage_exactly, setup, teardown);
	cases_add_fixture(s, the_heap_grows_in_few_steps, setup, teardown);
	support_add(s, storage_of_no_size_is_no_storage);
	support_add(s, nothing_behind_storage_is_written);
	cases_add_fixture(s, reserve_makes_room_and_keeps_the_text, setup, teardown);
	cases_add_fixture(s, reset_keeps_storage_and_release_drops_it, setup, teardown);
	cases_add_fixture(s, a_builder_may_add_its_own_text, setup, teardown);
	cases_add_fixture(s, null_with_a_length_fails_and_sticks, setup, teardown);
	cases_add_fixture(s, a_length_that_is_no_size_overflows_and_sticks, setup, teardown);
	cases_add_fixture(s, more_than_there_is_memory_fails_and_sticks, setup, teardown);
	cases_add_fixture(s, a_refused_allocation_fails_and_sticks, setup, teardown);
	cases_add_fixture(s, interning_gives_the_string_and_keeps_the_builder, setup, teardown);
	support_add(s, random_building_agrees_with_a_reference);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "buf", make);
}
