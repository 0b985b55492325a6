/* SPDX-License-Identifier: MIT */
/*
 * entries.c - scenes of strings that come while others look: A1, and with it C1 and D1.
 */
#include "scene.h"

#include <stdio.h>

static const char *const fillers[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9",
				      "A", "B", "C", "D", "E", "F", "G", "H", "I", "J",
				      "K", "L", "M", "N", "O", "P", "Q", "R", "S", "T"};
#define FILLERS (sizeof(fillers) / sizeof(*fillers))

/* ---------------------------------------------------------------- beginnings */

/* Tags 0 to 7 are taken: what comes next has its tag in word 1. */
static void with_full_word(void)
{
	empty();
	for (unsigned i = 0; i < 8; i++)
		insert(fillers[i]);
}

static void with_full_word_and_next_id(void)
{
	with_full_word();
	note_next_id();
}

/* Two buckets, and the first has one slot left, whose tag is in word 1. */
static const char *last_in, *passing;

static void with_one_slot_left(void)
{
	unsigned in_first = 0;

	empty();
	model_expect(cistern_reserve(set, 20) == 0);
	last_in = passing = NULL;
	for (unsigned i = 0; i < FILLERS && !passing; i++) {
		if (hash_bucket(hash_of(fillers[i])) & 1)
			continue;
		in_first++;
		if (in_first < BUCKET_SLOTS)
			insert(fillers[i]);
		else if (in_first == BUCKET_SLOTS)
			last_in = fillers[i];
		else
			passing = fillers[i];
	}
	model_expect(passing);
}

/*
 * A table with a secret of its own, whose first bucket is full. `lucky` passes that bucket, and yet
 * the first look finds it: that one goes by the interner's secret, and so to the second bucket, for
 * the same tag.
 */
static char lucky[8];

static void with_lucky_string(void)
{
	struct secret own;
	char next[8];
	uint64_t hash, own_hash;
	unsigned in_first = 0;

	empty();
	model_expect(cistern_reserve(set, 20) == 0 && secret_draw(&own));
	for (unsigned i = 0; in_first < BUCKET_SLOTS; i++) {
		snprintf(next, sizeof(next), "%u", i);
		if (hash_bucket(hash_bytes(&own, next, strlen(next))) & 1)
			continue;
		insert(next);
		in_first++;
	}
	model_expect(model_rekey(set->shards, &set->common));
	for (unsigned i = 1000;; i++) {
		snprintf(lucky, sizeof(lucky), "%u", i);
		hash = hash_of(lucky);
		own_hash = hash_bytes(&own, lucky, strlen(lucky));
		if (hash_tag(hash) == hash_tag(own_hash) && (hash_bucket(hash) & 1) &&
		    !(hash_bucket(own_hash) & 1))
			break;
	}
}

/* Too long for what is left of the first slab, and so for a share of one. */
static char large[250];

static void with_known_and_large(void)
{
	with_known();
	memset(large, 'l', sizeof(large) - 1);
}

/* ---------------------------------------------------------------- finding */

static void insert_last(void)
{
	insert(last_in);
}

static void insert_passing(void)
{
	insert(passing);
}

static void search_last(void)
{
	const char *str = cistern_find_hashed(set, last_in, strlen(last_in), hash_of(last_in));

	if (str)
		expect_whole(str, last_in);
}

static void insert_lucky(void)
{
	insert(lucky);
}

/* A hit does not turn into a miss. */
static void find_lucky_again(void)
{
	size_t len = strlen(lucky);

	if (cistern_find(set, lucky, len))
		model_expect(cistern_find_hashed(set, lucky, len, hash_of(lucky)));
}

/* ---------------------------------------------------------------- two that intern the same */

static const char *interned[2];

static void intern_here(void)
{
	interned[0] = insert("new");
}

static void intern_there(void)
{
	interned[1] = insert("new");
}

static void intern_here_looking_first(void)
{
	interned[0] = cistern_intern(set, "new", 3);
}

static void intern_there_looking_first(void)
{
	interned[1] = cistern_intern(set, "new", 3);
}

static void expect_one(void)
{
	model_expect(interned[0] && interned[0] == interned[1] && set->shards[0].strings == 1);
}

/* ---------------------------------------------------------------- ends of ranges, walks */

static void reach_next(void)
{
	const char *str = cistern_str(set, 16);

	if (str)
		model_reach(str);
}

static void insert_large(void)
{
	insert(large);
}

static int expect_either(const char *str, size_t len, void *count)
{
	expect_whole(str, len == 5 ? "known" : large);
	model_expect(cistern_find_hashed(set, str, len, hash_of(str)) == str);
	++*(unsigned *)count;
	return 0;
}

static void walk(void)
{
	unsigned count = 0;

	model_expect(cistern_foreach(set, expect_either, &count) == 0);
	model_expect(count == 1 || count == 2);
}

static const struct scene scenes[] = {
    {.name = "find_sees_whole_entries",
     .begin = with_slab,
     .threads = {insert_new, find_new},
     .notices = {M(A1_TAG_STORE), M(A1_PEEK_WORD0)}},
    {.name = "find_sees_whole_entries_in_word_1",
     .begin = with_full_word,
     .threads = {insert_new, find_new},
     .notices = {M(A1_TAG_STORE), M(A1_PEEK_WORD1)}},
    {.name = "search_sees_whole_entries",
     .begin = with_slab,
     .threads = {insert_new, search_new},
     .notices = {M(A1_TAG_STORE), M(A1_FIND_WORD0)}},
    {.name = "search_sees_whole_entries_in_word_1",
     .begin = with_full_word,
     .threads = {insert_new, search_new},
     .notices = {M(A1_TAG_STORE), M(A1_FIND_WORD1)}},
    {.name = "valid_ids_name_whole_entries",
     .begin = with_slab_and_next_id,
     .threads = {insert_new, validate_next},
     .notices = {M(A1_TAG_STORE), M(A1_HOLDS_WORD0)}},
    {.name = "valid_ids_name_whole_entries_in_word_1",
     .begin = with_full_word_and_next_id,
     .threads = {insert_new, validate_next},
     .notices = {M(A1_TAG_STORE), M(A1_HOLDS_WORD1)}},
    {.name = "filter_bits_hand_on_tags_beside_them",
     .begin = with_one_slot_left,
     .threads = {insert_last, insert_passing, search_last},
     .switches = 2,
     .notices = {M(A1_FILTER_STORE)}},
    {.name = "a_hit_by_luck_is_a_hit_by_search",
     .begin = with_lucky_string,
     .threads = {insert_lucky, find_lucky_again}},
    {.name = "racing_interns_make_one_entry",
     .begin = empty,
     .threads = {intern_here, intern_there},
     .end = expect_one,
     .notices = {M(RECHECK_A1_PLACE)}},
    {.name = "racing_interns_make_one_table_and_entry",
     .begin = bare,
     .threads = {intern_here_looking_first, intern_there_looking_first},
     .end = expect_one,
     .switches = 3,
     .notices = {M(RECHECK_A1_PLACE)}},
    {.name = "strings_are_whole_in_the_first_table",
     .begin = bare,
     .threads = {insert_new, find_new},
     .notices = {M(A1_TAG_STORE), M(A1_PEEK_WORD0)}},
    {.name = "what_is_committed_can_be_reached",
     .begin = empty,
     .threads = {insert_new, reach_next},
     .notices = {M(C1_END_STORE), M(C1_END_LOAD)}},
    {.name = "walks_see_whole_entries_that_are_found",
     .begin = with_known_and_large,
     .threads = {insert_large, walk},
     .notices = {M(D1_NEXT_STORE), M(D1_NEXT_LOAD)}},
    {0},
};

int main(int argc, char **argv)
{
	return model_main(argc, argv, scenes);
}
