/* SPDX-License-Identifier: MIT */
/*
 * load.c - fifty million strings in one interner, five to six gigabytes: two threads intern them
 * and meet in the middle, each finds what the other brought, ids lead back, a walk meets all, and
 * memory is what README's formula says. LOAD_STRINGS is another number of them. Takes a minute or
 * two, and is left out where there is not enough memory.
 */
#include "figures.h"
#include "meminfo.h"
#include "support.h"
#include "tools.h"

#include <cistern.h>

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	STRINGS = 50000000,
	THREADS = 2,
	SHORTEST = 40,
	LONGEST = 160,
	MEAN = (SHORTEST + LONGEST) / 2,
	ENTRY = 5, /* header and NUL */
	BATCH = 64
};

static struct {
	cistern *c;
	size_t strings;
	_Atomic cistern_id *ids;
} load;

static size_t strings_wanted(void)
{
	const char *text = getenv("LOAD_STRINGS");

	if (text)
		return (size_t)strtoull(text, NULL, 10);
	/* whose shadow memory is several times as large as what it watches */
	return support_scaled(STRINGS) / (UNDER_TSAN ? 50 : UNDER_ASAN ? 10 : 1);
}

/* splitmix64, which gives each number another one: so the first eight bytes tell strings apart. */
static uint64_t mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static size_t length(size_t i)
{
	return SHORTEST + (uint32_t)(mix(~(uint64_t)i) >> 32) % (LONGEST - SHORTEST + 1);
}

static size_t key(char data[LONGEST + 8], size_t i)
{
	uint64_t word = mix(i);
	size_t len = length(i), at;

	for (at = 0; at < len; at += sizeof(word)) {
		memcpy(data + at, &word, sizeof(word));
		word = (word ^ at) * UINT64_C(0x2545f4914f6cdd1d);
	}
	return len;
}

/* ---------------------------------------------------------------- interning */

/* Notes the id, or compares it where the other thread was first. */
static bool note(size_t i, const char *str, size_t len)
{
	cistern_id id = cistern_id_of(load.c, str), none = 0;

	return str && id != 0 && cistern_len(str) == len &&
	       (atomic_compare_exchange_strong(&load.ids[i], &none, id) || none == id);
}

static bool intern_batch(size_t from, size_t n)
{
	char data[BATCH][LONGEST + 8];
	cistern_span in[BATCH] = {{NULL, 0}};
	const char *out[BATCH];
	bool good = true;
	size_t k;

	for (k = 0; k < n; k++) {
		in[k].data = data[k];
		in[k].len = key(data[k], from + k);
	}
	good &= cistern_intern_batch(load.c, in, out, n) == n;
	for (k = 0; k < n && good; k++)
		good &= note(from + k, out[k], in[k].len);
	return good;
}

/* One upwards in single calls, one downwards in batches; the last tenth of each is the other's,
 * too. */
static void intern_half(support_worker *worker)
{
	size_t n = load.strings, part = n / 2 + n / 20 + 1, i;
	char data[LONGEST + 8];

	if (part > n)
		part = n;
	if (worker->index == 0) {
		for (i = 0; i < part; i++) {
			size_t len = key(data, i);

			if (!support_expect(worker,
					    note(i, cistern_intern(load.c, data, len), len)))
				return;
		}
		return;
	}
	for (i = n; i > n - part;) {
		size_t count = i - (n - part) < BATCH ? i - (n - part) : BATCH;

		i -= count;
		if (!support_expect(worker, intern_batch(i, count)))
			return;
	}
}

/* ---------------------------------------------------------------- finding */

/* The half that the other thread brought. */
static void find_other_half(support_worker *worker)
{
	size_t n = load.strings, i = worker->index == 0 ? n / 2 : 0;
	size_t end = worker->index == 0 ? n : n / 2;
	char data[LONGEST + 8];

	for (; i < end; i++) {
		size_t len = key(data, i);
		cistern_id id = atomic_load(&load.ids[i]);
		const char *str = cistern_find(load.c, data, len);

		if (!support_expect(worker, str && cistern_id_of(load.c, str) == id) ||
		    !support_expect(worker, cistern_str(load.c, id) == str) ||
		    !support_expect(worker, cistern_len(str) == len && str[len] == '\0'))
			return;
	}
}

static void find_absent(support_worker *worker)
{
	size_t i, absent = load.strings / 10 + 1;
	char data[LONGEST + 8];

	for (i = worker->index; i < absent; i += worker->count) {
		size_t len = key(data, load.strings + i);

		if (!support_expect(worker, !cistern_find(load.c, data, len)))
			return;
	}
}

struct walked {
	uint64_t count, bytes;
};

static int walk(const char *str, size_t len, void *arg)
{
	struct walked *walked = arg;

	walked->count++;
	walked->bytes += len;
	return str[len] != '\0';
}

/* ---------------------------------------------------------------- memory */

/* Bytes that all strings take for themselves: 4 + n + 1, rounded up to the unit of ids. */
static uint64_t entries(uint64_t unit, uint64_t *payload)
{
	uint64_t sum = 0;
	size_t i;

	*payload = 0;
	for (i = 0; i < load.strings; i++) {
		size_t len = length(i);

		*payload += len;
		sum += (ENTRY + len + unit - 1) / unit * unit;
	}
	return sum;
}

/* a is b, give or take so many percent of b. */
static bool about(uint64_t a, uint64_t b, uint64_t percent)
{
	return a <= b + b / 100 * percent && a >= b - b / 100 * percent;
}

static void assert_memory(uint64_t resident)
{
	cistern_stats s = figures(load.c);
	uint64_t payload, formula = entries(UINT64_C(1) << s.reference_shift, &payload);
	uint64_t table = s.table_bytes / load.strings, live = s.committed_bytes - s.emptied_bytes;

	printf("# %" PRIu64 " strings, %" PRIu64 " bytes; committed %" PRIu64
	       ", of which emptied %" PRIu64 "; resident %" PRIu64 "\n",
	       s.strings, s.payload_bytes, s.committed_bytes, s.emptied_bytes, resident);
	printf("# beyond its length a string takes %.2f bytes, of which table %.2f, unused %.2f\n",
	       (double)(live - payload) / (double)load.strings,
	       (double)s.table_bytes / (double)load.strings,
	       (double)(s.slack_bytes + s.free_bytes + s.retired_bytes - s.emptied_bytes) /
		   (double)load.strings);
	ck_assert_uint_eq(s.strings, load.strings);
	ck_assert_uint_eq(s.payload_bytes, payload);
	ck_assert_uint_eq(s.rekeys, 0);
	figures_check(load.c);
	if (load.strings < 1000000)
		return; /* "from some ten thousand strings on"; a margin for sixteen times the
			   shards */
	/* the entries as the formula says; on top only the headers of slabs */
	ck_assert_uint_ge(s.payload_bytes + s.overhead_bytes, formula);
	ck_assert_uint_le(s.payload_bytes + s.overhead_bytes - formula, 32 * s.slabs);
	ck_assert_uint_ge(table, 6);
	ck_assert_uint_le(table, 12);
	ck_assert_uint_le(s.retired_bytes, s.table_bytes + s.table_bytes / 8);
	/* and all of it, "a few percent for unused ends" */
	ck_assert_msg(about(live, formula + s.table_bytes, 3), "%" PRIu64 " against %" PRIu64, live,
		      formula + s.table_bytes);
	if (resident && !UNDER_ASAN && !UNDER_TSAN && !UNDER_VALGRIND)
		ck_assert_msg(about(resident, live, 3), "%" PRIu64 " against %" PRIu64, resident,
			      live);
}

START_TEST(fifty_million_strings_are_kept_and_cost_what_the_formula_says)
{
	struct walked walked = {0, 0};
	uint64_t before, payload;
	size_t bytes;

	load.strings = strings_wanted();
	bytes = load.strings * sizeof(*load.ids);
	load.ids = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	ck_assert_ptr_ne(load.ids, MAP_FAILED);
	memset((void *)load.ids, 0, bytes); /* so that it is resident before */
	load.c = cistern_create(NULL);
	ck_assert_ptr_nonnull(load.c);
	before = meminfo_resident();
	support_run(THREADS, intern_half, NULL);
	assert_memory(meminfo_resident() - before);
	support_run(THREADS, find_other_half, NULL);
	support_run(THREADS, find_absent, NULL);
	ck_assert_int_eq(cistern_foreach(load.c, walk, &walked), 0);
	ck_assert_uint_eq(walked.count, load.strings);
	entries(1, &payload);
	ck_assert_uint_eq(walked.bytes, payload);
	cistern_destroy(load.c);
	if (before && load.strings >= 1000000 && !UNDER_TSAN)
		ck_assert_uint_lt(meminfo_resident(), before + payload / 50);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("load");

	support_add_slow(s, fifty_million_strings_are_kept_and_cost_what_the_formula_says, 3600);
	return s;
}

int main(int argc, char **argv)
{
	if (sizeof(void *) < 8 && !getenv("LOAD_STRINGS")) {
		puts("1..0 # SKIP no address space for so many strings here");
		return 0;
	}
	/* 12 bytes for the table, 4 for the id, and a tenth for the rest of the machine */
	if (!meminfo_suffices((uint64_t)strings_wanted() * (MEAN + ENTRY + 2 + 12 + 4) / 10 * 11))
		return 0;
	return support_main(argc, argv, "load", make);
}
