/* SPDX-License-Identifier: MIT */
/*
 * ways.c - the ways and the names. See ways.h.
 *
 * The ways are written as a user of the library would write them: storage of the caller's is an
 * array of fixed size, what comes from the heap goes back to it before the next name. Ways that
 * need the length beforehand add the lengths up themselves, in the time that is measured.
 *
 * To add one: a function, and a line in ways[].
 */
#include "ways.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "harness.h"

/* ---- names */

static const struct ways_length lengths[] = {{"short", 1, 8}, {"long", 32, 96}};

const struct ways_length *ways_length_at(size_t i)
{
	return i < sizeof lengths / sizeof *lengths ? &lengths[i] : NULL;
}

/* Digits of the number in a name: so many names that they never run out in a bench. */
enum { DIGITS = 8 };

/* Long enough that processors cannot learn the lengths, short enough for the second-level cache. */
enum { PIECES_IN_ALL = 2000, NAMES_LEAST = 4 };

_Static_assert(WAYS_ROOM > WAYS_PIECES_MAX * 96 + DIGITS, "the longest name fits");

/* The strings of the corpus without gaps, over again until there are size bytes. */
static void fill_text(char *text, size_t size, const struct corpus *corpus)
{
	size_t used = 0;
	for (size_t i = 0; used < size; i = (i + 1) % corpus->ndistinct) {
		const cistern_span *s = &corpus->distinct[i];
		size_t take = s->len < size - used ? s->len : size - used;
		memcpy(text + used, s->data, take);
		used += take;
	}
}

void ways_set_make(struct ways_set *set, const struct corpus *corpus, size_t pieces,
		   const struct ways_length *length, uint64_t seed)
{
	size_t names = PIECES_IN_ALL / pieces < NAMES_LEAST ? NAMES_LEAST : PIECES_IN_ALL / pieces;
	size_t parts = names * pieces, text = parts * length->most;
	*set = (struct ways_set){.names = names, .pieces = pieces};
	set->size = parts * sizeof(cistern_span) + text + names * DIGITS;
	set->memory = harness_pages(set->size);
	cistern_span *at = (cistern_span *)(void *)set->memory;
	char *cut = set->memory + parts * sizeof(cistern_span);
	set->parts = at;
	set->numbers = cut + text;
	fill_text(cut, text, corpus);
	for (size_t k = 0; k < names; k++) {
		size_t len = DIGITS;
		at[k * pieces] = (cistern_span){set->numbers + k * DIGITS, DIGITS};
		for (size_t i = 1; i < pieces; i++) {
			uint64_t range = length->most - length->least + 1;
			size_t size = length->least + (size_t)(cli_random(&seed) % range);
			at[k * pieces + i] =
			    (cistern_span){cut + (k * pieces + i) * length->most, size};
			len += size;
		}
		set->bytes += len;
		set->longest = len > set->longest ? len : set->longest;
	}
	ways_renumber(set, 0);
}

void ways_set_free(struct ways_set *set)
{
	harness_pages_free(set->memory, set->size);
}

void ways_renumber(struct ways_set *set, uint64_t first)
{
	for (size_t k = 0; k < set->names; k++) {
		uint64_t number = first + k;
		for (size_t digit = DIGITS; digit-- > 0; number /= 10)
			set->numbers[k * DIGITS + digit] = (char)('0' + number % 10);
	}
}

/* Puts a name together by nothing but memcpy. */
static inline size_t join(char *to, const cistern_span *parts, size_t pieces)
{
	char *at = to;
	for (size_t i = 0; i < pieces; i++) {
		memcpy(at, parts[i].data, parts[i].len);
		at += parts[i].len;
	}
	*at = '\0';
	return (size_t)(at - to);
}

size_t ways_join(const struct ways_set *set, size_t k, char *out)
{
	return join(out, set->parts + k * set->pieces, set->pieces);
}

/* ---- putting together */

static inline size_t length_of(const cistern_span *parts, size_t pieces)
{
	size_t len = 0;
	for (size_t i = 0; i < pieces; i++)
		len += parts[i].len;
	return len;
}

/* One check at the end: a failure sticks. */
static inline const char *add_all(cistern_buf *b, const cistern_span *parts, size_t pieces)
{
	for (size_t i = 0; i < pieces; i++)
		cistern_buf_add(b, parts[i].data, parts[i].len);
	return cistern_buf_failed(b) ? NULL : cistern_buf_span(b).data;
}

static void run_array(const struct ways_set *set, cistern *c, ways_take *take, void *arg)
{
	char array[WAYS_ROOM];
	(void)c;
	for (size_t k = 0; k < set->names; k++) {
		join(array, set->parts + k * set->pieces, set->pieces);
		take(arg, k, array);
	}
}

static void run_malloc(const struct ways_set *set, cistern *c, ways_take *take, void *arg)
{
	(void)c;
	for (size_t k = 0; k < set->names; k++) {
		const cistern_span *parts = set->parts + k * set->pieces;
		char *str = malloc(length_of(parts, set->pieces) + 1);
		if (str)
			join(str, parts, set->pieces);
		take(arg, k, str);
		free(str);
	}
}

static void run_growing(const struct ways_set *set, cistern *c, ways_take *take, void *arg)
{
	(void)c;
	for (size_t k = 0; k < set->names; k++) {
		cistern_buf b;
		cistern_buf_init(&b);
		take(arg, k, add_all(&b, set->parts + k * set->pieces, set->pieces));
		cistern_buf_release(&b);
	}
}

static void run_presized(const struct ways_set *set, cistern *c, ways_take *take, void *arg)
{
	(void)c;
	for (size_t k = 0; k < set->names; k++) {
		const cistern_span *parts = set->parts + k * set->pieces;
		cistern_buf b;
		cistern_buf_init(&b);
		cistern_buf_reserve(&b, length_of(parts, set->pieces));
		take(arg, k, add_all(&b, parts, set->pieces));
		cistern_buf_release(&b);
	}
}

static void run_fixed(const struct ways_set *set, cistern *c, ways_take *take, void *arg)
{
	char storage[WAYS_ROOM];
	(void)c;
	for (size_t k = 0; k < set->names; k++) {
		cistern_buf b;
		cistern_buf_init_fixed(&b, storage, sizeof storage);
		take(arg, k, add_all(&b, set->parts + k * set->pieces, set->pieces));
		cistern_buf_release(&b);
	}
}

/* ---- interning */

static void run_copy(const struct ways_set *set, cistern *c, ways_take *take, void *arg)
{
	char array[WAYS_ROOM];
	for (size_t k = 0; k < set->names; k++) {
		size_t len = join(array, set->parts + k * set->pieces, set->pieces);
		take(arg, k, cistern_intern(c, array, len));
	}
}

static void run_builder(const struct ways_set *set, cistern *c, ways_take *take, void *arg)
{
	char storage[WAYS_ROOM];
	for (size_t k = 0; k < set->names; k++) {
		cistern_buf b;
		cistern_buf_init_fixed(&b, storage, sizeof storage);
		add_all(&b, set->parts + k * set->pieces, set->pieces);
		take(arg, k, cistern_buf_intern(c, &b));
		cistern_buf_release(&b);
	}
}

static void run_internv(const struct ways_set *set, cistern *c, ways_take *take, void *arg)
{
	for (size_t k = 0; k < set->names; k++)
		take(arg, k, cistern_internv(c, set->parts + k * set->pieces, set->pieces));
}

/* The first of each part is what the others of that part are set against. */
static const struct way ways[] = {
    {"array", "memcpy into an array of the caller's", WAYS_BUILD, run_array},
    {"malloc", "one malloc of the right size, memcpy", WAYS_BUILD, run_malloc},
    {"growing", "cistern_buf without storage", WAYS_BUILD, run_growing},
    {"presized", "cistern_buf after cistern_buf_reserve", WAYS_BUILD, run_presized},
    {"fixed", "cistern_buf in an array of the caller's", WAYS_BUILD, run_fixed},
    {"new-copy", "array, then cistern_intern: a new string", WAYS_NEW, run_copy},
    {"new-builder", "fixed, then cistern_buf_intern: a new string", WAYS_NEW, run_builder},
    {"new-internv", "cistern_internv: a new string", WAYS_NEW, run_internv},
    {"hit-copy", "array, then cistern_intern: a known string", WAYS_HIT, run_copy},
    {"hit-builder", "fixed, then cistern_buf_intern: a known string", WAYS_HIT, run_builder},
    {"hit-internv", "cistern_internv: a known string", WAYS_HIT, run_internv},
};

const struct way *way_at(size_t i)
{
	return i < sizeof ways / sizeof *ways ? &ways[i] : NULL;
}

const char *ways_part_name(enum ways_part part)
{
	static const char *const names[] = {"build", "new", "hit"};
	return names[part];
}
