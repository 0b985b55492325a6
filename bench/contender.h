/* SPDX-License-Identifier: MIT */
/*
 * contender.h - who takes part in a bench that sets cistern beside other interners: cistern in one
 * or more variants, and engines of the build.
 */
#ifndef BENCH_CONTENDER_H
#define BENCH_CONTENDER_H

#include "cli.h"
#include "engine.h"

struct contender {
	const struct engine *engine;
	char label[80];
	cistern_config config;
};

struct contender_list {
	struct contender *items;
	size_t n;
};

/* One more, with the settings of the command line. */
struct contender *contender_add(struct contender_list *list, const struct cli_common *common,
				const struct engine *engine, const char *label);

/* cistern with the knobs of "key=value[,key=value]..." besides. */
void contender_add_variant(struct contender_list *list, const struct cli_common *common,
			   const char *text);

/* The engines beside cistern that "a,b,c" names, none of them for "none"; NULL: all of the build.
 */
void contender_add_engines(struct contender_list *list, const struct cli_common *common,
			   const char *names);

/* Which one ratios are taken over: name, which must take part, or (NULL) stringmap, or else
 * conststring, which is made after the same design; n where neither does. */
size_t contender_baseline(const struct contender_list *list, const char *name);

/* The facts of all: what each is, and its knobs. */
void contender_facts(struct report *r, const struct contender_list *list);

#endif /* BENCH_CONTENDER_H */
