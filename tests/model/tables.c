/* SPDX-License-Identifier: MIT */
/*
 * tables.c - scenes of tables that are replaced and emptied while others look: B1, and what of A1
 * is there for it.
 */
#include "scene.h"

static void with_own_secret(void)
{
	with_known();
	model_expect(model_rekey(set->shards, &set->common));
}

/* The string that looks like what is at reference 0, where none is: empty, and with a hash byte of
 * 0. */
static void with_likeness_of_none(void)
{
	struct secret secret;
	uint64_t seed = 0;

	do
		secret_from_seed(&secret, ++seed);
	while (hash_byte(hash_bytes(&secret, "", 0)) != 0);
	make_with(seed, 0, false);
	known = insert("");
}

/* ---------------------------------------------------------------- what threads do */

static void rekey(void)
{
	model_expect(model_rekey(set->shards, &set->common));
}

static void insert_and_rekey(void)
{
	insert("new");
	rekey();
}

static void find_known(void)
{
	const char *str = cistern_find(set, "known", 5);

	model_expect(str == known);
	expect_whole(str, "known");
}

static void search_known(void)
{
	const char *str = cistern_find_hashed(set, "known", 5, hash_of("known"));

	model_expect(str == known);
	expect_whole(str, "known");
}

static void find_known_in_batch(void)
{
	const cistern_span span = {"known", 5};
	const char *str;

	model_expect(cistern_find_batch(set, &span, &str, 1) == 1 && str == known);
}

static void find_empty_string(void)
{
	model_expect(cistern_find(set, "", 0) == known);
}

static void search_empty_string(void)
{
	model_expect(cistern_find_hashed(set, "", 0, hash_of("")) == known);
}

static void validate_known(void)
{
	model_expect(cistern_owns(set, known));
}

/* ---------------------------------------------------------------- one finds and tells another */

static _Atomic uint32_t told;

static void find_new_and_tell(void)
{
	if (cistern_find(set, "new", 3))
		atomic_store_explicit(&told, 1, memory_order_release);
}

static void search_what_was_told(void)
{
	if (atomic_load_explicit(&told, memory_order_acquire))
		model_expect(cistern_find_hashed(set, "new", 3, hash_of("new")));
}

static const struct scene scenes[] = {
    {.name = "strings_are_found_while_the_table_grows",
     .begin = with_known,
     .threads = {grow, find_known},
     .notices = {M(B1_WORD_STORE), M(B1_FIND_LOAD), M(B1_FIND_REF), M(A1_FIND_WORD0),
		 M(RECHECK_B1_FIND), MODEL_NO_BARRIER}},
    {.name = "strings_are_searched_while_the_table_grows",
     .begin = with_known,
     .threads = {grow, search_known},
     .notices = {M(B1_WORD_STORE), M(B1_FIND_LOAD), M(B1_FIND_REF), M(A1_FIND_WORD0),
		 M(RECHECK_B1_FIND), MODEL_NO_BARRIER}},
    {.name = "new_strings_are_whole_in_a_larger_table",
     .begin = with_slab,
     .threads = {insert_and_grow, find_new},
     .notices = {M(B1_WORD_STORE), M(B1_PEEK_LOAD)}},
    {.name = "new_strings_are_searched_whole_in_a_larger_table",
     .begin = with_slab,
     .threads = {insert_and_grow, search_new},
     .notices = {M(B1_WORD_STORE), M(B1_FIND_LOAD), M(B1_FIND_RELOAD)}},
    {.name = "strings_are_found_while_the_table_is_rekeyed",
     .begin = with_known,
     .threads = {rekey, find_known},
     .notices = {M(B1_WORD_STORE), M(B1_FIND_LOAD), M(RECHECK_B1_FIND), MODEL_NO_BARRIER}},
    {.name = "strings_are_found_while_a_rekeyed_table_grows",
     .begin = with_own_secret,
     .threads = {grow, find_known},
     .notices = {M(B1_WORD_STORE), M(B1_FIND_LOAD), M(B1_FIND_REF), M(RECHECK_B1_FIND),
		 MODEL_NO_BARRIER}},
    {.name = "pointers_are_owned_while_a_rekeyed_table_grows",
     .begin = with_own_secret,
     .threads = {grow, validate_known},
     .notices = {M(B1_WORD_STORE), M(B1_ENTRY_LOAD), M(B1_HOLDS_REF), M(RECHECK_B1_ENTRY),
		 MODEL_NO_BARRIER}},
    {.name = "strings_are_found_in_batches_while_the_table_grows",
     .begin = with_known,
     .threads = {grow, find_known_in_batch},
     .notices = {M(B1_WORD_STORE), M(B1_FIND_LOAD), M(RECHECK_B1_FIND)}},
    {.name = "strings_of_others_are_whole_in_a_larger_table",
     .begin = with_slab,
     .threads = {insert_new, grow, find_new},
     .switches = 3,
     .notices = {M(A1_TAG_STORE), M(A1_PEEK_WORD0), M(B1_WORD_STORE), M(B1_PEEK_LOAD)}},
    {.name = "strings_of_others_are_searched_whole_in_a_larger_table",
     .begin = with_slab,
     .threads = {insert_new, grow, search_new},
     .switches = 3,
     .notices = {M(A1_TAG_STORE), M(A1_FIND_WORD0), M(B1_WORD_STORE), M(B1_FIND_LOAD),
		 M(B1_FIND_RELOAD)}},
    {.name = "what_one_has_found_another_finds",
     .begin = with_slab,
     .threads = {insert_and_grow, find_new_and_tell, search_what_was_told},
     .switches = 3,
     .notices = {M(A1_TAG_STORE), M(A1_FIND_WORD0), M(B1_WORD_STORE), M(B1_FIND_LOAD),
		 M(B1_FIND_RELOAD), M(B1_FIND_REF), M(RECHECK_B1_FIND), MODEL_NO_BARRIER}},
    {.name = "the_empty_string_is_found_while_the_table_grows",
     .begin = with_likeness_of_none,
     .threads = {grow, find_empty_string},
     .notices = {M(RECHECK_A1_PEEK)}},
    {.name = "the_empty_string_is_searched_while_the_table_grows",
     .begin = with_likeness_of_none,
     .threads = {grow, search_empty_string},
     .notices = {M(RECHECK_A1_FIND)}},
    {.name = "pointers_are_owned_while_the_table_grows",
     .begin = with_known,
     .threads = {grow, validate_known},
     .notices = {M(B1_WORD_STORE), M(B1_HOLDS_REF), M(A1_HOLDS_WORD0), M(RECHECK_B1_ENTRY),
		 MODEL_NO_BARRIER}},
    {.name = "valid_ids_name_whole_entries_in_a_larger_table",
     .begin = with_slab_and_next_id,
     .threads = {insert_and_grow, validate_next},
     .notices = {M(B1_WORD_STORE), M(B1_ENTRY_LOAD), M(B1_ENTRY_RELOAD)}},
    {.name = "valid_ids_name_whole_entries_in_a_rekeyed_table",
     .begin = with_slab_and_next_id,
     .threads = {insert_and_rekey, validate_next},
     .notices = {M(B1_WORD_STORE), M(B1_ENTRY_LOAD), M(B1_ENTRY_RELOAD)}},
    {0},
};

int main(int argc, char **argv)
{
	return model_main(argc, argv, scenes);
}
