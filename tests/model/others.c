/* SPDX-License-Identifier: MIT */
/*
 * others.c - scenes of what a program keeps with strings, and of what there is once a process: E1,
 * F1, G1, H1.
 */
#include "scene.h"

static void with_values(void)
{
	make_with(1, 8, false);
	known = insert("known");
}

static void with_narrow_values(void)
{
	make_with(1, 4, false);
	known = insert("known");
}

static void with_links(void)
{
	make_with(1, 0, true);
	known = insert("known");
}

/* ---------------------------------------------------------------- values and links */

static int data; /* the program's */

static void set_value(void)
{
	model_write(&data, sizeof(data));
	model_expect(cistern_set_value(set, known, 1) == 0);
}

static void swap_value(void)
{
	uint64_t expected = 0;

	model_write(&data, sizeof(data));
	model_expect(cistern_cas_value(set, known, &expected, 1));
}

static void load_value(void)
{
	if (cistern_value(set, known) == 1)
		model_read(&data, sizeof(data));
}

static void swap_after_value(void)
{
	uint64_t expected = 1;

	if (cistern_cas_value(set, known, &expected, 2))
		model_read(&data, sizeof(data));
}

static void fail_to_swap(void)
{
	uint64_t expected = 3;

	model_expect(!cistern_cas_value(set, known, &expected, 2));
	if (expected == 1)
		model_read(&data, sizeof(data));
}

static void link_known_to_new(void)
{
	model_expect(cistern_link(set, known, insert("new")) == 0);
}

static void link_new_to_known(void)
{
	model_expect(cistern_link(set, insert("new"), known) == 0);
}

static void follow_link(void)
{
	const char *str = cistern_linked(set, known);

	if (str)
		expect_whole(str, "new");
}

/* ---------------------------------------------------------------- once a process */

static cistern *defaults[2];

static void nothing(void)
{
	model_system();
}

static void with_configuration(void)
{
	cistern_config config = small(1, 0, false);

	model_system();
	model_expect(cistern_default_configure(&config) == 0);
}

static void use_default(cistern **where)
{
	*where = cistern_default();
	model_expect(*where);
	model_expect(!cistern_find(*where, "none", 4));
}

static void use_default_here(void)
{
	use_default(&defaults[0]);
}

static void use_default_there(void)
{
	use_default(&defaults[1]);
}

static void expect_one_default(void)
{
	model_expect(defaults[0] == defaults[1]);
}

static void install(void)
{
	model_expect(registry_ready());
	model_read(&model_handlers, sizeof(model_handlers));
}

static const struct scene scenes[] = {
    {.name = "a_value_hands_on_what_came_before_it",
     .begin = with_values,
     .threads = {set_value, load_value},
     .notices = {M(E1_VALUE_STORE), M(E1_VALUE_LOAD)}},
    {.name = "a_value_swapped_in_hands_on_what_came_before_it",
     .begin = with_values,
     .threads = {swap_value, load_value},
     .notices = {M(E1_CAS_RELEASE), M(E1_VALUE_LOAD)}},
    {.name = "who_swaps_a_value_sees_what_came_before_it",
     .begin = with_values,
     .threads = {set_value, swap_after_value},
     .notices = {M(E1_VALUE_STORE), M(E1_CAS_ACQUIRE)}},
    {.name = "who_fails_to_swap_a_value_sees_what_came_before_it",
     .begin = with_values,
     .threads = {set_value, fail_to_swap},
     .notices = {M(E1_VALUE_STORE), M(E1_CAS_FAILED)}},
    {.name = "a_narrow_value_hands_on_what_came_before_it",
     .begin = with_narrow_values,
     .threads = {set_value, load_value},
     .notices = {M(E1_VALUE_STORE), M(E1_VALUE_LOAD)}},
    {.name = "a_narrow_value_swapped_in_hands_on_what_came_before_it",
     .begin = with_narrow_values,
     .threads = {swap_value, swap_after_value},
     .notices = {M(E1_CAS_RELEASE), M(E1_CAS_ACQUIRE)}},
    {.name = "a_link_leads_to_a_whole_entry",
     .begin = with_links,
     .threads = {link_known_to_new, follow_link},
     .notices = {M(F1_LINK_STORE), M(F1_LINK_LOAD)}},
    {.name = "a_link_back_leads_to_a_whole_entry",
     .begin = with_links,
     .threads = {link_new_to_known, follow_link},
     .notices = {M(F1_BACK_STORE), M(F1_LINK_LOAD)}},
    {.name = "there_is_one_default_interner",
     .begin = with_configuration,
     .threads = {use_default_here, use_default_there},
     .end = expect_one_default,
     .switches = 2,
     .notices = {M(G1_DEFAULT_STORE), M(G1_DEFAULT_LOAD), M(RECHECK_G1_DEFAULT)}},
    {.name = "who_is_ready_has_fork_handlers",
     .begin = nothing,
     .threads = {install, install},
     .notices = {M(H1_READY_STORE), M(H1_READY_LOAD)}},
    {0},
};

int main(int argc, char **argv)
{
	return model_main(argc, argv, scenes);
}
