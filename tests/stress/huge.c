/* SPDX-License-Identifier: MIT */
/*
 * huge.c - strings of three and of five gigabytes: the length needs its long form, and then more
 * than 32 bits. The input is untouched pages, which cost none; the copy takes what it takes, so the
 * suite is left out where there is not enough memory.
 */
#include "figures.h"
#include "meminfo.h"
#include "support.h"
#include "tools.h"
#include "variants.h"

#include <cistern.h>

#include <string.h>
#include <sys/mman.h>

#define GIB ((uint64_t)1 << 30)

static const struct huge {
	uint64_t len;
	int variant; /* of the configuration: the defaults, and one with all fields */
} huge[] = {{3 * GIB, 0}, {5 * GIB + 1, 6}};

static void keep(const struct huge *wanted)
{
	size_t len = (size_t)wanted->len;
	char *data = mmap(NULL, len, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	cistern *c = variant_create(wanted->variant);
	cistern_span whole = {data, len}, parts[3];
	const char *str, *out = NULL;
	bool is_new = false;

	ck_assert_ptr_ne(data, MAP_FAILED);
	data[0] = 'f';
	data[len / 2] = 'm';
	data[len - 1] = 'l';
	str = cistern_intern_new(c, data, len, &is_new);
	ck_assert_ptr_nonnull(str);
	ck_assert(is_new);
	ck_assert_uint_eq(cistern_len(str), len);
	ck_assert_int_eq(str[len], '\0');
	ck_assert_int_eq(memcmp(str, data, len), 0);
	ck_assert_ptr_eq(cistern_intern(c, data, len), str);
	ck_assert_uint_eq(cistern_find_batch(c, &whole, &out, 1), 1);
	ck_assert_ptr_eq(out, str);
	/* in pieces, one of which is longer than 32 bits say, where there is one */
	parts[0] = (cistern_span){data, 10};
	parts[1] = (cistern_span){data + 10, len - 30};
	parts[2] = (cistern_span){data + len - 20, 20};
	ck_assert_ptr_eq(cistern_internv(c, parts, 3), str);
	ck_assert_ptr_eq(cistern_str(c, cistern_id_of(c, str)), str);
	ck_assert(cistern_owns(c, str));
	if (wanted->variant) {
		ck_assert_int_eq(cistern_set_value(c, str, UINT64_MAX), 0);
		ck_assert_int_eq(cistern_link(c, str, str), 0);
		ck_assert_uint_eq(cistern_value(c, str), UINT64_MAX);
		ck_assert_ptr_eq(cistern_linked(c, str), str);
		ck_assert_uint_eq(cistern_len(str), len);
	}
	/* no other length and no other byte is this string; its length is no length modulo 2^32 */
	data[len - 1] = 'k';
	ck_assert_ptr_null(cistern_find(c, data, len));
	ck_assert_ptr_null(cistern_find(c, data, len - 1));
	ck_assert_ptr_null(cistern_find(c, data, (uint32_t)len));
	ck_assert_ptr_nonnull(cistern_intern_cstr(c, "a short one behind it"));
	ck_assert_uint_eq(figures(c).strings, 2);
	ck_assert_uint_ge(figures(c).payload_bytes, len);
	figures_check(c);
	munmap(data, len);
	cistern_destroy(c);
}

START_TEST(strings_of_gigabytes_are_kept)
{
	size_t i;

	for (i = 0; i < sizeof(huge) / sizeof(huge[0]); i++)
		keep(&huge[i]);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("huge");

	support_add_slow(s, strings_of_gigabytes_are_kept, 1800);
	return s;
}

int main(int argc, char **argv)
{
	if (sizeof(void *) < 8 || UNDER_TSAN || UNDER_VALGRIND) {
		puts("1..0 # SKIP no room for strings of gigabytes here");
		return 0;
	}
	if (!meminfo_suffices(7 * GIB))
		return 0;
	return support_main(argc, argv, "huge", make);
}
