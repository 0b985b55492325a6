/* SPDX-License-Identifier: MIT */
/*
 * ids.c - numbers of strings, and telling strings from other pointers and numbers. cistern_owns and
 * cistern_id_valid have to be right for anything, so a small interner is asked about every pointer
 * into its range and every number there can be.
 */
#include "cases.h"
#include "figures.h"
#include "meminfo.h"
#include "support.h"
#include "tools.h"
#include "variants.h"
#include "words.h"

#include <cistern.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static cistern *create(const cistern_config *config)
{
	cistern *c = cistern_create(config);

	if (!c)
		ck_abort_msg("cistern_create: %s", strerror(errno));
	return c;
}

/* Interns random strings until the set holds count of them. */
static void grow(cistern *c, struct words *set, support_rng *rng, size_t count)
{
	char data[300];

	while (set->count < count) {
		size_t len = random_word(rng, data, sizeof(data));
		struct word *word = words_put(set, data, len, NULL);

		if (!word->kept)
			word->kept = cistern_intern(c, data, len);
		ck_assert_ptr_nonnull(word->kept);
	}
}

START_TEST(id_and_string_lead_to_each_other)
{
	cistern *c = variant_create(_i);
	support_rng rng = support_rng_start(0);
	struct words set, ids;
	size_t i;

	words_init(&set);
	words_init(&ids);
	grow(c, &set, &rng, support_scaled(10000));
	for (i = 0; i < set.count; i++) {
		const char *str = set.items[i]->kept;
		cistern_id id = cistern_id_of(c, str);
		bool is_new;

		ck_assert_uint_ne(id, 0);
		ck_assert_ptr_eq(cistern_str(c, id), str);
		words_put(&ids, (const char *)&id, sizeof(id), &is_new);
		ck_assert_msg(is_new, "id %u stands for two strings", id);
	}
	for (i = 0; i < set.count; i += 7) {
		ck_assert(cistern_owns(c, set.items[i]->kept));
		ck_assert(cistern_id_valid(c, cistern_id_of(c, set.items[i]->kept)));
	}
	words_free(&ids);
	words_free(&set);
	cistern_destroy(c);
}
END_TEST

START_TEST(ids_of_nothing_are_nothing)
{
	cistern *c = create(NULL);

	ck_assert_uint_eq(cistern_id_of(c, NULL), 0);
	ck_assert_ptr_null(cistern_str(c, 0));
	ck_assert(!cistern_id_valid(c, 0));
	ck_assert(!cistern_owns(c, NULL));
	ck_assert_ptr_nonnull(cistern_intern_cstr(c, "one"));
	ck_assert_uint_eq(cistern_id_of(c, NULL), 0);
	ck_assert_ptr_null(cistern_str(c, 0));
	ck_assert(!cistern_id_valid(c, 0));
	ck_assert(!cistern_owns(c, NULL));
	cistern_destroy(c);
}
END_TEST

START_TEST(ids_beyond_what_is_committed_give_null)
{
	static const cistern_id ids[] = {UINT32_MAX, UINT32_MAX - 1, UINT32_C(1) << 31,
					 UINT32_C(3) << 30};
	cistern *c = variant_create(_i);
	size_t i;

	for (i = 0; i < COUNT(ids); i++) {
		ck_assert_ptr_null(cistern_str(c, ids[i]));
		ck_assert(!cistern_id_valid(c, ids[i]));
	}
	ck_assert_ptr_nonnull(cistern_intern_cstr(c, "one"));
	for (i = 0; i < COUNT(ids); i++) {
		ck_assert_ptr_null(cistern_str(c, ids[i]));
		ck_assert(!cistern_id_valid(c, ids[i]));
	}
	cistern_destroy(c);
}
END_TEST

START_TEST(ids_and_ownership_leave_errno_alone)
{
	cistern *c = create(NULL);
	const char *str = cistern_intern_cstr(c, "errno");

	errno = 1234;
	ck_assert_ptr_eq(cistern_str(c, cistern_id_of(c, str)), str);
	ck_assert_ptr_null(cistern_str(c, UINT32_MAX));
	ck_assert_uint_eq(cistern_len(str), 5);
	ck_assert_uint_eq(cistern_value(c, str), 0);
	ck_assert_ptr_null(cistern_linked(c, str));
	ck_assert_int_eq(cistern_compare(str, str), 0);
	ck_assert_int_eq(cistern_casecompare(str, NULL) > 0, 1);
	ck_assert_int_eq(errno, 1234);
	cistern_destroy(c);
}
END_TEST

/* ---------------------------------------------------------------- every pointer, every number */

struct layout {
	uint64_t max_bytes;
	uint32_t value_size;
	bool links;
	uint32_t shards;
};

static const struct layout layouts[] = {
    {65536, 0, false, 1},
    {65536, 8, true, 1},
    {65536, 4, false, 4},
    {UINT64_C(1) << 32, 0, false, 2},
    {UINT64_C(1) << 34, 0, true, 1},
    {UINT64_C(1) << 38, 4, false, 1},
    {UINT64_C(1) << 40, 8, true, 2},
};

/*
 * Strings that look like interned strings inside: a length of three bytes, any hash byte, the bytes
 * and a NUL. Some of these bytes are interned too, so that the look-up finds them, elsewhere.
 */
static void add_forgeries(cistern *c, struct words *set)
{
	int hash_byte, at;

	for (hash_byte = 0; hash_byte < 256; hash_byte += 5) {
		for (at = 0; at < 8; at++) {
			char data[40];
			struct word *word;

			memset(data, 'x', sizeof(data));
			memcpy(data + at, "\3\0\0", 3);
			data[at + 3] = (char)hash_byte;
			memcpy(data + at + 4, at % 2 ? "in\0" : "abc", 3);
			data[at + 7] = '\0';
			word = words_put(set, data, sizeof(data), NULL);
			word->kept = cistern_intern(c, data, sizeof(data));
			ck_assert_ptr_nonnull(word->kept);
		}
	}
	words_put(set, "abc", 3, NULL)->kept = cistern_intern(c, "abc", 3);
}

START_TEST(owns_and_id_valid_are_exact)
{
	const struct layout *layout = &layouts[_i];
	cistern_config config = CISTERN_CONFIG_INIT;
	support_rng rng = support_rng_start(0);
	struct words set, addresses;
	cistern_stats stats;
	const char *base, *p;
	uint64_t id, ids, wrong = 0, owned = 0, valid = 0;
	size_t i;
	cistern *c;

	config.max_bytes = layout->max_bytes;
	config.value_size = layout->value_size;
	config.links = layout->links;
	config.shards = layout->shards;
	config.slab_size = 1024;
	config.hugepages =
	    CISTERN_HUGEPAGES_NEVER; /* commits little, so that there is an end to see */
	c = create(&config);
	words_init(&set);
	words_init(&addresses);
	add_forgeries(c, &set);
	grow(c, &set, &rng, 500);
	stats = figures(c);
	for (i = 0; i < set.count; i++)
		words_put(&addresses, (const char *)&set.items[i]->kept, sizeof(char *), NULL);
	base = set.items[0]->kept -
	       ((uint64_t)cistern_id_of(c, set.items[0]->kept) << stats.reference_shift);

	/* every pointer from before the range to behind what this little interner has committed */
	for (p = base - 5000; p < base + 300000; p++) {
		bool expect = words_get(&addresses, (const char *)&p, sizeof(p)) != NULL;

		owned += expect;
		wrong += cistern_owns(c, p) != expect;
	}
	ck_assert_uint_eq(wrong, 0);
	ck_assert_uint_eq(owned, set.count);

	/* and every number */
	ids = 300000 >> stats.reference_shift;
	for (id = 0; id < ids; id++) {
		bool expect;

		p = base + (id << stats.reference_shift);
		expect = words_get(&addresses, (const char *)&p, sizeof(p)) != NULL;
		valid += expect;
		wrong += cistern_id_valid(c, (cistern_id)id) != expect;
	}
	ck_assert_uint_eq(wrong, 0);
	ck_assert_uint_eq(valid, set.count);
	words_free(&addresses);
	words_free(&set);
	cistern_destroy(c);
}
END_TEST

START_TEST(owns_is_right_to_the_end_of_a_full_range)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	struct words addresses;
	cistern_stats stats;
	const char *base = NULL, *p;
	uint64_t wrong = 0, owned = 0;
	cistern *c;
	int i;

	config.max_bytes = 65536;
	config.shards = 1;
	config.slab_size = 256;
	c = create(&config);
	words_init(&addresses);
	for (i = 0;; i++) {
		char data[64];
		int len = snprintf(data, sizeof(data), "%d fills the range to its end", i);
		const char *str = cistern_intern(c, data, (size_t)(i % 3 ? len : 4));

		if (!str)
			break;
		words_put(&addresses, (const char *)&str, sizeof(str), NULL);
		if (!base)
			base =
			    str - ((uint64_t)cistern_id_of(c, str) << figures(c).reference_shift);
	}
	stats = figures(c);
	ck_assert_uint_eq(addresses.count, stats.strings);
	for (p = base - 100; p < base + stats.capacity_bytes + 100; p++) {
		bool expect = words_get(&addresses, (const char *)&p, sizeof(p)) != NULL;

		owned += expect;
		wrong += cistern_owns(c, p) != expect;
	}
	ck_assert_uint_eq(wrong, 0);
	ck_assert_uint_eq(owned, stats.strings);
	words_free(&addresses);
	cistern_destroy(c);
}
END_TEST

static int never_called(const void *p)
{
	return p != NULL;
}

START_TEST(owns_refuses_foreign_pointers)
{
	static const char fixed[] = "literal";
	int (*function)(const void *) = never_called;
	cistern *c = create(NULL), *other = create(NULL);
	const char *mine = cistern_intern_cstr(c, "literal"),
		   *theirs = cistern_intern_cstr(other, "literal");
	char *heap = need(strdup("literal")), local[] = "literal";
	char *nothing = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const void *code;

	memcpy(&code, &function, sizeof(code));
	ck_assert_ptr_ne(nothing, MAP_FAILED);
	ck_assert(cistern_owns(c, mine));
	ck_assert(cistern_owns(other, theirs));
	ck_assert(!cistern_owns(c, theirs));
	ck_assert(!cistern_owns(other, mine));
	ck_assert(!cistern_owns(c, fixed));
	ck_assert(!cistern_owns(c, heap));
	ck_assert(!cistern_owns(c, local));
	ck_assert(!cistern_owns(c, c));
	ck_assert(!cistern_owns(c, code));
	ck_assert(!cistern_owns(c, nothing));
	ck_assert(!cistern_owns(c, (const void *)1));
	ck_assert(!cistern_owns(c, (const void *)UINTPTR_MAX));
	ck_assert(!cistern_owns(c, (const void *)(UINTPTR_MAX - 4096)));
	free(heap);
	munmap(nothing, 4096);
	cistern_destroy(other);
	cistern_destroy(c);
}
END_TEST

START_TEST(owns_knows_long_strings)
{
	static const size_t lengths[] = {1025,    4095,          4096,         10000,
					 1 << 20, (1 << 24) - 1, (1 << 24) + 5};
	cistern *c = variant_create(_i);
	char *data = need(malloc((1 << 24) + 5));
	size_t i;

	memset(data, 'L', (1 << 24) + 5);
	for (i = 0; i < COUNT(lengths); i++) {
		const char *str = cistern_intern(c, data, lengths[i]);
		size_t step;

		ck_assert_ptr_nonnull(str);
		ck_assert(cistern_owns(c, str));
		ck_assert(cistern_id_valid(c, cistern_id_of(c, str)));
		for (step = 1; step < 64; step++) {
			ck_assert(!cistern_owns(c, str + step));
			ck_assert(!cistern_owns(c, str - step));
		}
		ck_assert(!cistern_owns(c, str + lengths[i]));
	}
	free(data);
	cistern_destroy(c);
}
END_TEST

/* ---------------------------------------------------------------- shifts */

START_TEST(the_shift_is_the_smallest_that_covers_the_range)
{
	static const uint64_t ranges[] = {65536,
					  1 << 20,
					  UINT64_C(1) << 31,
					  UINT64_C(1) << 32,
					  (UINT64_C(1) << 32) + 65536,
					  UINT64_C(1) << 33,
					  UINT64_C(1) << 34,
					  UINT64_C(1) << 36,
					  UINT64_C(1) << 38,
					  UINT64_C(1) << 40};
	size_t r;

	for (r = 0; r < COUNT(ranges); r++) {
		cistern_config config = CISTERN_CONFIG_INIT;
		uint64_t shift = 0;
		cistern_stats stats;
		cistern *c;
		size_t i;

		config.max_bytes = ranges[r];
		config.shards = 2;
		c = create(&config);
		stats = figures(c);
		while (((UINT64_C(1) << 32) << shift) < stats.capacity_bytes)
			shift++;
		ck_assert_uint_eq(stats.reference_shift, shift);
		/* which leave less address space */
		if (!UNDER_ASAN && !UNDER_TSAN && !UNDER_VALGRIND && sizeof(void *) >= 8 &&
		    meminfo_space() == UINT64_MAX)
			ck_assert_uint_ge(stats.capacity_bytes, ranges[r]);
		for (i = 0; i < 200; i++) {
			char data[200];
			const char *str;

			memset(data, (int)i, sizeof(data));
			str = cistern_intern(c, data, i);
			ck_assert_ptr_nonnull(str);
			ck_assert_uint_eq(cistern_len(str), i);
			ck_assert_ptr_eq(cistern_str(c, cistern_id_of(c, str)), str);
			ck_assert(cistern_id_valid(c, cistern_id_of(c, str)));
		}
		cistern_destroy(c);
	}
}
END_TEST

/* Without padding at shift 0, and within the unit at larger shifts. */
START_TEST(padding_stays_below_one_unit)
{
	cistern *c = variant_create(_i);
	cistern_config config = variant(_i);
	cistern_stats stats;
	uint64_t unit, fields = config.value_size + (config.links ? 4 : 0);
	int i, many = 20000;

	for (i = 0; i < many; i++) {
		char data[64];
		int len = snprintf(data, sizeof(data), "%d", i * 977);

		ck_assert_ptr_nonnull(cistern_intern(c, data, (size_t)len));
	}
	stats = figures(c);
	unit = UINT64_C(1) << stats.reference_shift;
	if (unit < config.value_size)
		unit = config.value_size;
	if (unit < 4 && config.links)
		unit = 4;
	/* header and NUL, fields, padding; and a header of at most 64 bytes a slab */
	ck_assert_uint_ge(stats.overhead_bytes, (uint64_t)many * (5 + fields));
	ck_assert_uint_le(stats.overhead_bytes,
			  (uint64_t)many * (5 + fields + unit - 1) + stats.slabs * 64);
	cistern_destroy(c);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("ids");

	cases_add_loop(s, id_and_string_lead_to_each_other, VARIANTS);
	support_add(s, ids_of_nothing_are_nothing);
	cases_add_loop(s, ids_beyond_what_is_committed_give_null, VARIANTS);
	support_add(s, ids_and_ownership_leave_errno_alone);
	cases_add_loop(s, owns_and_id_valid_are_exact, COUNT(layouts));
	support_add(s, owns_is_right_to_the_end_of_a_full_range);
	support_add(s, owns_refuses_foreign_pointers);
	cases_add_loop(s, owns_knows_long_strings, FEW);
	support_add(s, the_shift_is_the_smallest_that_covers_the_range);
	cases_add_loop(s, padding_stays_below_one_unit, VARIANTS);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "ids", make);
}
