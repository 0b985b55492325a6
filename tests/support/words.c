/* SPDX-License-Identifier: MIT */
/* words.c - see words.h. Single-threaded; each test has its own set. */
#include "words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *need(void *memory)
{
	if (!memory) {
		fputs("tests: no memory\n", stderr);
		abort();
	}
	return memory;
}

void random_bytes(support_rng *rng, char *data, size_t len)
{
	size_t i = 0;

	while (i < len) {
		uint64_t bits = support_rng_next(rng);
		size_t n = len - i < sizeof(bits) ? len - i : sizeof(bits);

		memcpy(data + i, &bits, n);
		i += n;
	}
}

size_t random_word(support_rng *rng, char *data, size_t max)
{
	size_t shape = support_rng_below(rng, 6);
	size_t len = support_rng_below(rng, (shape < 4 && max > 24 ? 24 : max) + 1);
	size_t i;

	switch (shape) {
	case 0: /* few letters, so that many come twice */
		for (i = 0; i < len; i++)
			data[i] = (char)('a' + support_rng_below(rng, 2));
		break;
	case 1: /* prefixes of one another */
		memset(data, 'p', len);
		break;
	case 2: /* NULs at the ends */
		memset(data, 0, len);
		if (len)
			data[support_rng_below(rng, len)] = 'n';
		break;
	case 3: /* nothing but high bytes */
		for (i = 0; i < len; i++)
			data[i] = (char)(0x80 + support_rng_below(rng, 0x80));
		break;
	default:
		random_bytes(rng, data, len);
	}
	return len;
}

/* FNV-1a: the set must not share a hash with what it checks. */
static uint64_t fnv(const char *data, size_t len)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	size_t i;

	for (i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)data[i]) * UINT64_C(0x100000001b3);
	return hash ^ (hash >> 32);
}

void words_init(struct words *set)
{
	memset(set, 0, sizeof(*set));
	set->nchains = 1024;
	set->chains = need(calloc(set->nchains, sizeof(*set->chains)));
}

void words_free(struct words *set)
{
	size_t i;

	for (i = 0; i < set->count; i++) {
		free(set->items[i]->data);
		free(set->items[i]);
	}
	free(set->items);
	free(set->chains);
	memset(set, 0, sizeof(*set));
}

struct word *words_get(const struct words *set, const char *data, size_t len)
{
	struct word *word = set->chains[fnv(data, len) % set->nchains];

	while (word && (word->len != len || (len && memcmp(word->data, data, len) != 0)))
		word = word->next_in_chain;
	return word;
}

static void words_rechain(struct words *set)
{
	size_t i;

	free(set->chains);
	set->nchains *= 4;
	set->chains = need(calloc(set->nchains, sizeof(*set->chains)));
	for (i = 0; i < set->count; i++) {
		struct word *word = set->items[i];
		struct word **chain = &set->chains[fnv(word->data, word->len) % set->nchains];

		word->next_in_chain = *chain;
		*chain = word;
	}
}

struct word *words_put(struct words *set, const char *data, size_t len, bool *is_new)
{
	struct word *word = words_get(set, data, len);
	struct word **chain;

	if (is_new)
		*is_new = !word;
	if (word)
		return word;
	if (set->count == set->room) {
		set->room = set->room ? set->room * 2 : 256;
		set->items = need(realloc(set->items, set->room * sizeof(*set->items)));
	}
	if (set->count >= set->nchains)
		words_rechain(set);
	word = need(calloc(1, sizeof(*word)));
	word->data = need(malloc(len + 1));
	if (len)
		memcpy(word->data, data, len);
	word->data[len] = '\0';
	word->len = len;
	chain = &set->chains[fnv(data, len) % set->nchains];
	word->next_in_chain = *chain;
	*chain = word;
	set->items[set->count++] = word;
	set->payload += len;
	return word;
}
