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

/* What the command line says of those who take part: --variant, --engines and --baseline. */
struct contender_request {
	const char **variants;
	size_t nvariants;
	const char *engines, *baseline;
};

/* Between the common options and a bench's own. */
enum { CONTENDER_VARIANT = CLI_OWN, CONTENDER_ENGINES, CONTENDER_BASELINE, CONTENDER_OWN };

#define CONTENDER_OPTIONS                                                                          \
	{"variant", required_argument, NULL, CONTENDER_VARIANT},                                   \
	    {"engines", required_argument, NULL, CONTENDER_ENGINES},                               \
	{                                                                                          \
		"baseline", required_argument, NULL, CONTENDER_BASELINE                            \
	}

/* Notes one answer of getopt_long. False where it is none of these. The variants wait until all of
 * the line is read, since --set applies to all of them; free is theirs. */
bool contender_option(struct contender_request *request, int option);

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

/* Which one ratios are taken over: name, which must take part, or (NULL) usual, which is stringmap
 * or conststring, made after the same design, or else the other one; n where neither does. */
size_t contender_baseline(const struct contender_list *list, const char *name, const char *usual);

/* The facts of all: what each is, and its knobs. */
void contender_facts(struct report *r, const struct contender_list *list);

#endif /* BENCH_CONTENDER_H */
