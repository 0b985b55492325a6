/* SPDX-License-Identifier: MIT */
/*
 * script.c - see script.h. The steps reach every way in which the library asks the system for
 * something: making an interner, slabs small, regular and single, the first table of a shard,
 * growth, reserving, re-keying (the forged strings are made with the interner's own secret),
 * batches, pieces. And what must go on working while the system says no: hits, values, links,
 * statistics, walks, fork.
 *
 * A call that was added to the library, and that may fail for want of memory, gets a step here.
 */
#include "script.h"

#include "faults.h"
#include "figures.h"
#include "forge.h"
#include "support.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { GIANT = ENTRY_ESCAPE }; /* the shortest that is escaped */

static void configure(struct script *s, int number)
{
	cistern_config *config = &s->config;

	cistern_config_init(config);
	config->shards = 2;
	config->max_bytes = UINT64_C(1) << 30;
	s->floods = number % 5 == 1;
	switch (number) {
	case 1: /* as many commits as can be, none ahead; no hints */
		config->commit_chunk = 4096;
		config->prefault = false;
		config->hugepages = CISTERN_HUGEPAGES_NEVER;
		break;
	case 2:
		config->hugepages = CISTERN_HUGEPAGES_ALWAYS;
		config->shards = 1;
		break;
	case 3: /* all fields; slabs that double */
		config->value_size = 8;
		config->links = true;
		config->lock = CISTERN_LOCK_SPIN;
		config->slab_size = 256;
		config->growth_interval = 1;
		config->commit_chunk = 4096;
		break;
	case 4: /* a range that is soon full: one reservation is all that is tried */
		config->max_bytes = 192 << 10;
		config->links = true;
		s->limited = true;
		break;
	case 5: /* a limit that is soon reached */
		config->memory_limit = 200 << 10;
		config->commit_chunk = 8192;
		s->limited = true;
		break;
	case 6: /* a large shift: much padding */
		config->max_bytes = UINT64_C(1) << 38;
		config->value_size = 4;
		config->shards = 16;
		break;
	case 7: /* create makes tables, and may fail among them */
		config->capacity = 6000;
		config->shards = 4;
		config->commit_chunk = 4096;
		break;
	case 8: /* tables that are worth huge pages */
		config->capacity = 200000;
		config->shards = 1;
		break;
	case 9: /* few small slabs: most strings of some length have one to themselves */
		config->slab_size = 256;
		config->slab_max = 256;
		config->growth_interval = 0;
		config->value_size = 4;
		config->links = true;
		config->shards = 8;
		break;
	case SCRIPT_GIANT:
		config->shards = 1;
		config->value_size = 8;
		config->links = true;
		s->giant = true;
		break;
	default:
		break;
	}
}

void script_open(struct script *s, int number)
{
	memset(s, 0, sizeof *s);
	configure(s, number);
	words_init(&s->set);
	s->mappings = faults.mappings;
	s->mapped = faults.mapped;
}

void script_close(struct script *s)
{
	faults_plan(NULL);
	cistern_destroy(s->c);
	words_free(&s->set);
	ck_assert_uint_eq(faults.mappings, s->mappings);
	ck_assert_uint_eq(faults.mapped, s->mapped);
}

void script_note(struct script *s, const char *data, size_t len, const char *str)
{
	struct word *word = words_put(&s->set, data, len, NULL);

	if (word->kept && word->kept != str)
		ck_abort_msg("a string of %zu bytes has two pointers", len);
	word->kept = str;
}

static bool refuse(struct script *s, const char *data, size_t len)
{
	s->refused = data;
	s->refused_len = len;
	return false;
}

/* Interns one string and notes it. */
static bool put(struct script *s, const char *data, size_t len)
{
	bool known = words_get(&s->set, data, len) != NULL, is_new = known;
	const char *str = cistern_intern_new(s->c, data, len, &is_new);

	if (!str) {
		ck_assert_int_eq(is_new, known); /* as it was */
		return refuse(s, data, len);
	}
	ck_assert_int_eq(is_new, !known);
	script_note(s, data, len, str);
	return true;
}

/* A short string, of a length that varies. */
static size_t name(char out[128], const char *kind, size_t i)
{
	static const char tail[] = "::a_part_of_a_name_that_differs_in_nothing_but_its_length";
	size_t len = (size_t)sprintf(out, "%s %zu", kind, i);

	memcpy(out + len, tail, i * 7 % sizeof tail);
	return len + i * 7 % sizeof tail;
}

static bool put_names(struct script *s, const char *kind, size_t count)
{
	static char data[128]; /* what was refused is looked at after we have returned */

	for (; s->at < (s->giant ? 10 : count); s->at++)
		if (!put(s, data, name(data, kind, s->at)))
			return false;
	return true;
}

/* ---------------------------------------------------------------- steps */

static bool create(struct script *s)
{
	cistern_config given = s->config;
	bool made;

	s->c = cistern_create(&s->config);
	made = s->c != NULL;
	ck_assert_int_eq(memcmp(&given, &s->config, sizeof given), 0);
	if (made)
		return true;
	ck_assert_uint_eq(faults.mappings, s->mappings); /* at once, not only in the end */
	ck_assert_uint_eq(faults.mapped, s->mapped);
	return refuse(s, NULL, 0);
}

static bool empty(struct script *s)
{
	return put(s, "", 0);
}

static bool names(struct script *s)
{
	return put_names(s, "name", 700);
}

static char bytes[9000]; /* for long strings; their first bytes tell them apart */

static bool long_strings(struct script *s)
{
	static const size_t lengths[] = {60,   61,   200,  300,  700,  1100,
					 2000, 4095, 4096, 4097, 4098, 9000};

	for (; s->at < 2 * COUNT(lengths); s->at++) {
		size_t len = lengths[s->at / 2];

		memset(bytes, 0, 16);
		sprintf(bytes, "long %zu", s->at);
		if (!put(s, bytes, len))
			return false;
	}
	return true;
}

/* The first string that is escaped, put together from pieces; its bytes are all the same. */
static bool giant(struct script *s)
{
	static char *piece;
	cistern_span parts[4];

	if (!s->giant)
		return true;
	if (!piece)
		piece = need(calloc(1, GIANT / 3));
	for (size_t i = 0; i < 3; i++)
		parts[i] = (cistern_span){piece, GIANT / 3};
	parts[3] = (cistern_span){NULL, 0};
	s->giant_str = cistern_internv(s->c, parts, 4);
	ck_assert(!s->giant_str || cistern_len(s->giant_str) == GIANT);
	return s->giant_str ? true : refuse(s, NULL, 0);
}
_Static_assert(GIANT % 3 == 0, "three pieces make a giant");

static bool pieces(struct script *s)
{
	static const size_t lengths[] = {0, 1, 40, 300, 1200, 4095, 4096, 4097, 8000};

	for (; s->at < COUNT(lengths); s->at++) {
		size_t len = lengths[s->at], third = len / 3;
		cistern_span parts[] = {{bytes, third},
					{NULL, 0},
					{bytes + third, third},
					{bytes + 2 * third, len - 2 * third}};
		const char *str;

		memset(bytes, 0, 16);
		sprintf(bytes, "pieces %zu", s->at);
		str = cistern_internv(s->c, parts, COUNT(parts));
		if (!str)
			return refuse(s, bytes, len);
		script_note(s, bytes, len, str);
	}
	return true;
}

/*
 * Several groups of short strings, large ones and duplicates. What follows the first refused one
 * may be interned or not: the set follows the interner there.
 */
static bool batch(struct script *s)
{
	enum { N = 300 };
	static char names[N][128], large[4][5000];
	cistern_span in[N];
	const char *out[N];
	size_t done;

	for (size_t i = 0; i < N; i++)
		in[i] = (cistern_span){names[i], name(names[i], "in a batch", i - i % 9 / 8)};
	for (size_t i = 0; i < 4; i++) {
		sprintf(large[i], "large in a batch %zu", i);
		in[70 * i + 20] = (cistern_span){large[i], sizeof large[i] - i};
	}
	memset(out, 1, sizeof out);
	done = cistern_intern_batch(s->c, in, out, N);
	for (size_t i = 0; i < done; i++)
		script_note(s, in[i].data, in[i].len, out[i]);
	for (size_t i = done; i < N; i++) {
		const char *str = cistern_find(s->c, in[i].data, in[i].len);

		ck_assert_ptr_null(out[i]);
		if (str)
			script_note(s, in[i].data, in[i].len, str);
	}
	return done == N ? true : refuse(s, in[done].data, in[done].len);
}

static bool builder(struct script *s)
{
	char storage[300];
	static char kept[300];
	cistern_span span;
	const char *str;
	cistern_buf b;

	cistern_buf_init_fixed(&b, storage, sizeof storage);
	cistern_buf_addf(&b, "built from %d", 1);
	cistern_buf_add(&b, bytes + 100, 250);
	span = cistern_buf_span(&b);
	str = cistern_buf_intern(s->c, &b);
	memcpy(kept, span.data, span.len);
	if (!str)
		return refuse(s, kept, span.len);
	script_note(s, kept, span.len, str);
	return true;
}

static bool reserve(struct script *s)
{
	if (!s->giant && cistern_reserve(s->c, 2 * s->set.count) != 0)
		return refuse(s, NULL, 0);
	return true;
}

/*
 * Strings of one hash: more of them than may be in the way of one, so that the shard's table is
 * keyed anew.
 */
static bool flood(struct script *s)
{
	static char data[FORGED];

	for (; s->at < (s->floods ? 850 : 0); s->at++) {
		uint64_t hash;
		const char *str;

		forge(&s->c->common.secret, s->at, data);
		hash = cistern_hash(s->c, data, FORGED);
		str = cistern_intern_hashed(s->c, data, FORGED, hash);
		if (!str)
			return refuse(s, data, FORGED);
		script_note(s, data, FORGED, str);
	}
	return true;
}

static bool more_names(struct script *s)
{
	return put_names(s, "one name more", 800);
}

/* Whatever is there is found and interned without asking for anything: so this cannot fail. */
static bool again(struct script *s)
{
	for (size_t i = 0; i < s->set.count; i++) {
		const struct word *word = s->set.items[i];

		if (cistern_intern(s->c, word->data, word->len) != word->kept)
			ck_abort_msg("a string of %zu bytes is not interned again: errno %d",
				     word->len, errno);
	}
	return true;
}

/* Nor can these. */
static bool keep_values(struct script *s)
{
	for (size_t i = 0; i + 1 < s->set.count; i += 2) {
		struct word *a = s->set.items[i], *b = s->set.items[i + 1];

		if (s->config.value_size) {
			a->mark = i + 1;
			ck_assert_int_eq(cistern_set_value(s->c, a->kept, a->mark), 0);
		}
		if (s->config.links) {
			ck_assert_int_eq(cistern_link(s->c, a->kept, b->kept), 0);
			ck_assert_ptr_eq(cistern_linked(s->c, b->kept), a->kept);
		}
	}
	return true;
}

static bool tell(struct script *s)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	FILE *f = fopen("/dev/null", "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(cistern_stats_print(s->c, f, CISTERN_FORMAT_JSON), 0);
	fclose(f);
	ck_assert_int_eq(cistern_config_of(s->c, &config), 0);
	return true;
}

static int work_in_child(const struct script *s)
{
	const struct word *word = s->set.count ? s->set.items[s->set.count / 2] : NULL;
	cistern_stats stats = {.size = sizeof stats};

	if (word && cistern_find(s->c, word->data, word->len) != word->kept)
		return 1;
	if (!cistern_intern_cstr(s->c, "the child's")) {
		if (errno != ENOMEM && !(script_limited(s) && errno == ENOSPC))
			return 2;
		faults_plan(NULL);
		if (!cistern_intern_cstr(s->c, "the child's") &&
		    !(script_limited(s) && errno == ENOSPC))
			return 3;
	}
	return cistern_stats_get(s->c, &stats) == 0 && figures_balance(&stats) ? 0 : 4;
}

static bool fork_a_child(struct script *s)
{
	int status = 0;
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (child == 0)
		_exit(work_in_child(s));
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	return true;
}

const struct step script_steps[] = {
    {"create", create},   {"empty", empty},     {"names", names},        {"long", long_strings},
    {"giant", giant},     {"pieces", pieces},   {"values", keep_values}, {"batch", batch},
    {"builder", builder}, {"reserve", reserve}, {"flood", flood},        {"fork", fork_a_child},
    {"more", more_names}, {"again", again},     {"tell", tell},
};
const size_t script_nsteps = COUNT(script_steps);
