/* SPDX-License-Identifier: MIT */
/* model.c - see model.h. */
#include "model.h"

#include "faults.h"
#include "figures.h"
#include "fuzz.h"

#include <errno.h>

bool model_open(struct model *m, const cistern_config *config)
{
	memset(m, 0, sizeof(*m));
	m->config = *config;
	m->refusals = faults_failed(FAULTS_MEMORY);
	m->c = cistern_create(config);
	if (!m->c) {
		/* memory_limit may be too little for shards or capacity, max_bytes for capacity */
		FUZZ_CHECK((errno == EINVAL && config->memory_limit) ||
			   (errno == ENOSPC && config->capacity) ||
			   (errno == ENOMEM && model_was_refused(m)));
		return false;
	}
	m->in_effect.size = sizeof(m->in_effect);
	FUZZ_CHECK(cistern_config_of(m->c, &m->in_effect) == 0);
	words_init(&m->set);
	return true;
}

void model_close(struct model *m)
{
	cistern_destroy(m->c);
	words_free(&m->set);
	free(m->extras);
	memset(m, 0, sizeof(*m));
}

int model_refuses(const struct model *m, size_t len)
{
	if (len > PTRDIFF_MAX)
		return EOVERFLOW;
	if ((m->config.max_len && len > m->config.max_len) || len > m->in_effect.max_bytes)
		return E2BIG;
	return 0;
}

bool model_was_refused(struct model *m)
{
	uint64_t before = m->refusals;

	m->refusals = faults_failed(FAULTS_MEMORY);
	return m->refusals > before;
}

struct extra *model_extra(const struct model *m, const struct word *word)
{
	return &m->extras[word->mark];
}

struct word *model_word(const struct model *m, unsigned number)
{
	return m->set.count ? m->set.items[number % m->set.count] : NULL;
}

const struct word *model_owner(const struct model *m, const void *p)
{
	size_t i;

	for (i = 0; i < m->set.count; i++)
		if (m->set.items[i]->kept == p)
			return m->set.items[i];
	return NULL;
}

static void check_bytes(const struct word *word)
{
	FUZZ_CHECK(cistern_len(word->kept) == word->len);
	FUZZ_CHECK(memcmp(word->kept, word->data, word->len) == 0);
	FUZZ_CHECK(word->kept[word->len] == '\0');
}

/* A string that is not there and within max_len could not be interned. */
static void check_refusal(struct model *m, size_t len, int error)
{
	/* what stands around a string in its slab is less than a page */
	if (error == E2BIG)
		FUZZ_CHECK(len + 4096 > m->in_effect.max_bytes);
	else
		FUZZ_CHECK(error == ENOSPC || (error == ENOMEM && model_was_refused(m)));
	/* slabs that double may leave a large part of a small range to one shard */
	if (error == ENOSPC && !m->config.memory_limit)
		FUZZ_CHECK(len + m->set.payload + 64 * m->set.count > m->in_effect.max_bytes / 16);
}

struct word *model_interned(struct model *m, const char *s, size_t len, const char *got, int error)
{
	int refused = model_refuses(m, len);
	struct word *word = words_get(&m->set, s, len);

	if (refused) {
		FUZZ_CHECK(!got && error == refused);
		return NULL;
	}
	if (word) {
		FUZZ_CHECK(got == word->kept);
		return word;
	}
	if (!got) {
		check_refusal(m, len, error);
		FUZZ_CHECK(!cistern_find(m->c, s, len));
		return NULL;
	}
	word = words_put(&m->set, s, len, NULL);
	word->kept = got;
	word->mark = m->set.count - 1;
	check_bytes(word);
	if (m->set.count > m->room) {
		m->room = m->room ? 2 * m->room : 64;
		m->extras = need(realloc(m->extras, m->room * sizeof(*m->extras)));
	}
	*model_extra(m, word) = (struct extra){0, NULL};
	FUZZ_CHECK(cistern_value(m->c, got) == 0 && !cistern_linked(m->c, got));
	return word;
}

void model_found(const struct model *m, const char *s, size_t len, const char *got)
{
	const struct word *word = words_get(&m->set, s, len);

	FUZZ_CHECK(got == (word ? word->kept : NULL));
}

/* ---------------------------------------------------------------- the whole */

static int by_pointer(const void *a, const void *b)
{
	const struct word *const *x = a, *const *y = b;

	return ((*x)->kept > (*y)->kept) - ((*x)->kept < (*y)->kept);
}

struct visit {
	struct word **sorted;
	bool *seen;
	size_t count, met;
};

static int visit(const char *str, size_t len, void *arg)
{
	struct visit *v = arg;
	const struct word key = {.kept = str}, *at = &key;
	struct word **found = bsearch(&at, v->sorted, v->count, sizeof(*v->sorted), by_pointer);

	FUZZ_CHECK(found && !v->seen[found - v->sorted] && (*found)->len == len);
	v->seen[found - v->sorted] = true;
	v->met++;
	return 0;
}

/* Strings lie apart, and iteration meets each once. */
static void check_places(const struct model *m)
{
	struct visit v = {.count = m->set.count};
	size_t i;

	v.sorted = need(malloc((v.count + 1) * sizeof(*v.sorted)));
	v.seen = need(calloc(v.count + 1, sizeof(*v.seen)));
	for (i = 0; i < v.count; i++)
		v.sorted[i] = m->set.items[i];
	qsort(v.sorted, v.count, sizeof(*v.sorted), by_pointer);
	for (i = 1; i < v.count; i++)
		FUZZ_CHECK(v.sorted[i - 1]->kept + v.sorted[i - 1]->len < v.sorted[i]->kept);
	FUZZ_CHECK(cistern_foreach(m->c, visit, &v) == 0 && v.met == v.count);
	free(v.sorted);
	free(v.seen);
}

static void check_figures(const struct model *m)
{
	cistern_stats stats = {.size = sizeof(stats)};
	cistern_shard_stats one = {.size = sizeof(one)};
	uint64_t strings = 0;
	unsigned i;

	FUZZ_CHECK(cistern_stats_get(m->c, &stats) == 0);
	FUZZ_CHECK(figures_balance(&stats));
	FUZZ_CHECK(stats.strings == m->set.count && stats.payload_bytes == m->set.payload);
	FUZZ_CHECK(!m->config.memory_limit || stats.committed_bytes <= m->config.memory_limit);
	FUZZ_CHECK(stats.strings <= stats.slots);
	for (i = 0; i < stats.shards; i++) {
		FUZZ_CHECK(cistern_shard_stats_get(m->c, i, &one) == 0);
		strings += one.strings;
	}
	FUZZ_CHECK(strings == stats.strings);
}

void model_check(const struct model *m)
{
	size_t i;

	for (i = 0; i < m->set.count; i++) {
		const struct word *word = m->set.items[i];
		const struct extra *extra = model_extra(m, word);
		cistern_id id = cistern_id_of(m->c, word->kept);

		check_bytes(word);
		FUZZ_CHECK(cistern_find(m->c, word->data, word->len) == word->kept);
		FUZZ_CHECK(id != 0 && cistern_str(m->c, id) == word->kept);
		FUZZ_CHECK(cistern_id_valid(m->c, id) && cistern_owns(m->c, word->kept));
		FUZZ_CHECK(cistern_value(m->c, word->kept) == extra->value);
		FUZZ_CHECK(cistern_linked(m->c, word->kept) ==
			   (extra->link ? extra->link->kept : NULL));
	}
	check_places(m);
	check_figures(m);
}
