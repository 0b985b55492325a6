/* SPDX-License-Identifier: MIT */
/*
 * soak.c - a long life: a mixed load in a hundred portions, SOAK_OPS calls in all, and in the end
 * the process takes no more memory, address space or mappings than after the first tenth. Three
 * interners: one that has all its strings from the start; one that is full, so that each new string
 * is refused; and one a portion, made and destroyed, in which threads race for the same strings.
 * Threads, too, last for a portion only, and make interners of their own.
 *
 * "make soak" makes a billion calls; by itself it is a short one. Each answer is checked.
 */
#include "figures.h"
#include "maps.h"
#include "meminfo.h"
#include "support.h"
#include "tools.h"
#include "variants.h"
#include "words.h"

#include <cistern.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	PORTIONS = 100,
	THREADS = 2,
	KEYS = 200000,
	LARGE_EVERY = 2000, /* one key in so many has LARGE bytes */
	LARGE = 5000,
	BATCH = 32,
	SHORT_SOAK = 20000000,
	SEEN_LATE = 1 << 20, /* what the rest of the process may take on the way: stdio, stacks */
};

static struct {
	cistern *kept, *full, *passing;
	const char **pointers; /* of kept */
	uint64_t calls;        /* of a portion and a thread */
} soak;

static uint64_t calls_wanted(void)
{
	const char *text = getenv("SOAK_OPS");

	return text ? strtoull(text, NULL, 10) : support_scaled(SHORT_SOAK);
}

/* By hand, since snprintf would be most of the load. */
static size_t key(char data[LARGE], char kind, uint64_t i)
{
	static const char hex[] = "0123456789abcdef";
	size_t len = 0, n;

	data[len++] = kind;
	for (n = 0; n < 12; n++)
		data[len++] = hex[i >> 4 * n & 15];
	n = i % LARGE_EVERY == 7 ? LARGE : len + i % 50;
	memset(data + len, 's', n - len);
	return n;
}

static bool make_kept(void)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	char data[LARGE];
	size_t i;

	config.value_size = 8;
	config.links = true;
	soak.kept = cistern_create(&config);
	soak.pointers = need(calloc(KEYS, sizeof(*soak.pointers)));
	for (i = 0; soak.kept && i < KEYS; i++) {
		soak.pointers[i] = cistern_intern(soak.kept, data, key(data, 'k', i));
		if (!soak.pointers[i])
			return false;
	}
	return soak.kept != NULL;
}

/* Long strings are copied before they are refused, and the copies given back. */
static bool make_full(void)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	char data[LARGE];
	uint64_t i;

	config.max_bytes = 1 << 20;
	config.memory_limit = 1 << 20;
	soak.full = cistern_create(&config);
	for (i = 0; soak.full && i < 100000; i++)
		cistern_intern(soak.full, data, key(data, 'f', i));
	return soak.full && figures(soak.full).strings < 50000;
}

/* ---------------------------------------------------------------- the load */

static bool batch(support_rng *rng, char (*data)[LARGE])
{
	cistern_span in[BATCH];
	const char *out[BATCH], *expected[BATCH];
	size_t i;

	for (i = 0; i < BATCH; i++) {
		size_t k = support_rng_below(rng, KEYS);

		in[i].data = data[i];
		in[i].len = key(data[i], 'k', k);
		expected[i] = soak.pointers[k];
	}
	return (support_rng_below(rng, 2)
		    ? cistern_intern_batch(soak.kept, in, out, BATCH)
		    : cistern_find_batch(soak.kept, in, out, BATCH)) == BATCH &&
	       memcmp(out, expected, sizeof(out)) == 0;
}

static bool in_pieces(size_t k, char *data)
{
	size_t len = key(data, 'k', k);
	cistern_span parts[2] = {{data, len / 2}, {data + len / 2, len - len / 2}};
	char storage[32];
	cistern_buf buf;
	bool good;

	cistern_buf_init_fixed(&buf, storage, sizeof(storage));
	good = cistern_buf_add(&buf, data, len / 2) &&
	       cistern_buf_add(&buf, data + len / 2, len - len / 2) &&
	       cistern_buf_intern(soak.kept, &buf) == soak.pointers[k];
	cistern_buf_release(&buf);
	return good && cistern_internv(soak.kept, parts, 2) == soak.pointers[k];
}

static bool properties(size_t k)
{
	const char *str = soak.pointers[k], *next = soak.pointers[(k + 1) % KEYS];
	uint64_t value = cistern_value(soak.kept, str);

	cistern_cas_value(soak.kept, str, &value, value + 1);
	return cistern_set_value(soak.kept, str, k) == 0 &&
	       cistern_link(soak.kept, str, str) == 0 && cistern_linked(soak.kept, str) == str &&
	       cistern_owns(soak.kept, str) &&
	       cistern_str(soak.kept, cistern_id_of(soak.kept, str)) == str &&
	       cistern_compare(str, next) != 0;
}

/*
 * The full one: what is there is found; what is not is refused, be it short or long, unless it is
 * so short that it fits into the last unused end of a slab.
 */
static bool try_full(support_rng *rng, char *data)
{
	uint64_t i = UINT64_C(1) << 32 | support_rng_below(rng, 1 << 20);
	size_t len =
	    key(data, 'f', support_rng_below(rng, 8) ? i : i / LARGE_EVERY * LARGE_EVERY + 7);

	const char *str;

	errno = 0;
	str = cistern_intern(soak.full, data, len);
	return (str || errno == ENOSPC) && cistern_find(soak.full, data, len) == str &&
	       cistern_find(soak.full, data, key(data, 'f', 1));
}

static int count(const char *str, size_t len, void *arg)
{
	*(uint64_t *)arg += str[len] == '\0';
	return 0;
}

/* An interner of the thread's own, of another configuration each time. */
static bool own_interner(support_rng *rng, char *data)
{
	cistern_config config = variant((int)support_rng_below(rng, VARIANTS));
	uint64_t visited = 0;
	cistern *c;
	int i, many = 300;

	config.capacity = support_rng_below(rng, 2) * 1000;
	c = cistern_create(&config);
	if (!c)
		return false;
	for (i = 0; i < many; i++)
		if (!cistern_intern(c, data, key(data, 'o', (uint64_t)i)))
			return false;
	cistern_foreach(c, count, &visited);
	cistern_destroy(c);
	return visited == (uint64_t)many;
}

/* One step of the load; how many calls it made, or 0 where an answer was wrong. */
static unsigned step(support_rng *rng, uint64_t n, char (*data)[LARGE])
{
	size_t k = support_rng_below(rng, KEYS);
	cistern_stats stats = {.size = sizeof(stats)};
	uint64_t visited = 0;
	size_t len;

	if (n % (1 << 16) == 77)
		return own_interner(rng, data[0]) ? 300 : 0;
	if (n % (1 << 20) == 5)
		return cistern_foreach(soak.kept, count, &visited) == 0 && visited == KEYS ? KEYS
											   : 0;
	if (n % 4096 == 9)
		return cistern_stats_get(soak.kept, &stats) == 0 && stats.strings == KEYS ? 1 : 0;
	switch (support_rng_below(rng, 32)) {
	case 0:
	case 1:
	case 2:
		return batch(rng, data) ? BATCH : 0;
	case 3:
		return in_pieces(k, data[0]) ? 3 : 0;
	case 4:
		return properties(k) ? 8 : 0;
	case 5:
		return try_full(rng, data[0]) ? 3 : 0;
	case 6: /* both threads go through the same ones at about the same time */
		len = key(data[0], 'p', n / 64);
		return cistern_intern(soak.passing, data[0], len) ? 1 : 0;
	case 7:
	case 8:
	case 9:
		return !cistern_find(soak.kept, data[0], key(data[0], 'a', k)) ? 1 : 0;
	case 10:
	case 11:
	case 12:
	case 13:
		return cistern_find(soak.kept, data[0], key(data[0], 'k', k)) == soak.pointers[k]
			   ? 1
			   : 0;
	default:
		return cistern_intern(soak.kept, data[0], key(data[0], 'k', k)) == soak.pointers[k]
			   ? 1
			   : 0;
	}
}

static void go_on(support_worker *worker)
{
	char(*data)[LARGE] = malloc(BATCH * sizeof(*data));
	support_rng rng = support_rng_start(*(uint64_t *)worker->arg << 8 | worker->index);
	uint64_t calls = 0, n;

	for (n = 0; data && calls < soak.calls; n++) {
		unsigned made = step(&rng, n, data);

		if (!support_expect(worker, made > 0))
			break;
		calls += made;
	}
	free(data);
}

/* ---------------------------------------------------------------- what it takes */

static struct sample {
	uint64_t committed, resident, mapped, mappings;
} first, last;

static void raise(uint64_t *most, uint64_t value)
{
	if (value > *most)
		*most = value;
}

static void take_sample(struct sample *most)
{
	static struct maps maps;

	raise(&most->committed, figures(soak.kept).committed_bytes);
	raise(&most->resident, meminfo_resident());
	raise(&most->mapped, meminfo_mapped());
	if (maps_read(&maps))
		raise(&most->mappings, maps.count);
}

static void tell(const char *when, const struct sample *sample)
{
	printf("# %s: committed %" PRIu64 ", resident %" PRIu64 ", mapped %" PRIu64 ", %" PRIu64
	       " mappings\n",
	       when, sample->committed, sample->resident, sample->mapped, sample->mappings);
}

START_TEST(a_long_life_takes_no_more_than_its_first_tenth)
{
	uint64_t portion;

	soak.calls = calls_wanted() / PORTIONS / THREADS + 1;
	ck_assert(make_kept());
	ck_assert(make_full());
	for (portion = 0; portion < PORTIONS; portion++) {
		soak.passing = crowd_create((int)(portion % CROWDS));
		support_run(THREADS, go_on, &portion);
		figures_check(soak.passing);
		cistern_destroy(soak.passing);
		if (portion < PORTIONS / 10)
			take_sample(&first);
		if (portion >= PORTIONS - PORTIONS / 10)
			take_sample(&last);
	}
	tell("first tenth", &first);
	tell("last tenth", &last);
	figures_check(soak.kept);
	figures_check(soak.full);
	ck_assert_uint_eq(figures(soak.kept).strings, KEYS);
	ck_assert_uint_eq(last.committed, first.committed);
	if (UNDER_ASAN || UNDER_TSAN || UNDER_VALGRIND)
		return; /* they keep what was freed, and notes of what happened */
	ck_assert_uint_le(last.resident, first.resident + first.resident / 100 + SEEN_LATE);
	ck_assert_uint_le(last.mapped, first.mapped + SEEN_LATE);
	ck_assert_uint_le(last.mappings, first.mappings + 2);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("soak");

	support_add_slow(s, a_long_life_takes_no_more_than_its_first_tenth, 24 * 3600);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "soak", make);
}
