/* SPDX-License-Identifier: MIT */
/*
 * labels.c - the labels of the publication table as scenes, each in all its executions. By hand:
 *
 *	tests/model/labels                                       all of them, as TAP
 *	tests/model/labels find_sees_whole_entries               one, as the library is
 *	tests/model/labels find_sees_whole_entries A1_TAG_STORE  with that order relaxed: the
 *execution that fails is printed
 *
 * Grows by scenes in entries.c, tables.c and others.c. A name in lib/order.h without a scene that
 *fails with it is a failure.
 */
#include "scene.h"

int main(int argc, char **argv)
{
	static const struct scene *const lists[] = {entry_scenes, table_scenes, other_scenes, NULL};

	return model_main(argc, argv, lists);
}
