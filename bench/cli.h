/* SPDX-License-Identifier: MIT */
/*
 * cli.h - what the command lines of all benches have in common: messages, numbers, lists, the
 * options for corpus, engine settings and output, and the part of --help that lists the knobs.
 *
 * Every complaint is one line, "program: message" or "program: file:line: message". Exit codes: 2
 * for a command line that cannot be understood, 1 for anything that fails later.
 */
#ifndef BENCH_CLI_H
#define BENCH_CLI_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cistern.h"
#include "corpus.h"
#include "engine.h"
#include "report.h"

enum { CLI_FAILURE = 1, CLI_USAGE = 2 };

/* The name in front of every message. Set by cli_start. */
extern const char *cli_program;

/* A line on stderr; the two that do not return exit with 1 and with 2. */
void cli_warn(const char *format, ...) CISTERN_PRINTF(1, 2);
_Noreturn void cli_fail(const char *format, ...) CISTERN_PRINTF(1, 2);
_Noreturn void cli_usage(const char *format, ...) CISTERN_PRINTF(1, 2);

/*
 * The number of an option, read as the library reads sizes (digits and perhaps K, M or G), or a
 * usage error that names the option and what it accepts.
 */
uint64_t cli_number_option(const char *option, const char *text, uint64_t min, uint64_t max);

/* The parts of "a,b,c". An empty part is a usage error. */
struct cli_list {
	char **items;
	size_t n;
};
struct cli_list cli_list_parse(const char *option, const char *text);
void cli_list_free(struct cli_list *list);

/* "1,2" and the number of processors where that is more. */
const char *cli_usual_threads(void);

/* Sets a knob, or ends the program with one line that says what the knob accepts. */
void cli_knob(cistern_config *config, const char *option, const char *key, const char *value);

/* Sets a knob from "key=value". */
void cli_knob_pair(cistern_config *config, const char *option, const char *pair);

/* Makes a folder and those above it where they are missing, or ends the program, also where nothing
 * can be written to it. */
void cli_folder(const char *path);

/* A random number from 0 on up to 2^64 - 1 needs a state; the same on every machine. */
uint64_t cli_random(uint64_t *state);

/* What every bench that reads a corpus understands. */
struct cli_common {
	struct corpus_request corpus;
	cistern_config config; /* with the --set options */
	const char **sets;     /* those, as given */
	size_t nsets;
	struct report_output output;
};

enum {
	CLI_CORPUS = 0x1000,
	CLI_ELF,
	CLI_GENERATE,
	CLI_COUNT,
	CLI_SEED,
	CLI_DISTINCT,
	CLI_SET,
	CLI_CLOCK,
	CLI_FORMAT,
	CLI_SAVE,
	CLI_HELP,
	CLI_VERSION,
	CLI_OWN /* first number free for a bench's own options */
};

/* The short options, for getopt_long. */
#define CLI_SHORT ":h"

/* What every bench understands, and what those that work on a corpus do besides. */
#define CLI_OUTPUT_OPTIONS                                                                         \
	{"set", required_argument, NULL, CLI_SET}, {"clock", required_argument, NULL, CLI_CLOCK},  \
	    {"format", required_argument, NULL, CLI_FORMAT},                                       \
	    {"save", required_argument, NULL, CLI_SAVE}, {"help", no_argument, NULL, CLI_HELP},    \
	{                                                                                          \
		"version", no_argument, NULL, CLI_VERSION                                          \
	}
#define CLI_COMMON_OPTIONS                                                                         \
	{"corpus", required_argument, NULL, CLI_CORPUS},                                           \
	    {"elf", required_argument, NULL, CLI_ELF},                                             \
	    {"generate", required_argument, NULL, CLI_GENERATE},                                   \
	    {"count", required_argument, NULL, CLI_COUNT},                                         \
	    {"seed", required_argument, NULL, CLI_SEED},                                           \
	    {"distinct-random", no_argument, NULL, CLI_DISTINCT}, CLI_OUTPUT_OPTIONS

/* Names the program for messages, sets the defaults and notes the load of the machine. */
void cli_start(struct cli_common *common, const char *argv0);

/*
 * Handles one answer of getopt_long. False where it is none of the common options. help prints what
 * the bench itself understands. Unknown options end the program.
 */
bool cli_common_option(struct cli_common *common, int option, char **argv, void (*help)(FILE *f));

/* The value that --set has for a knob, or NULL. */
const char *cli_set_value(const struct cli_common *common, const char *key);

/* The settings of one engine: the library's defaults, then the engine's, then the --set options. */
void cli_engine_config(const struct cli_common *common, const struct engine *engine,
		       cistern_config *out);

/* Takes what is left of the command line: more files for --elf, or a usage error. Then makes the
 * folder of --save, and sees to it that no file can take the place of a closed standard stream. */
void cli_common_rest(struct cli_common *common, int argc, char **argv);

/* The parts of --help that are the same everywhere. */
void cli_help_common(FILE *f); /* both of */
void cli_help_corpus(FILE *f);
void cli_help_output(FILE *f);
void cli_help_engines(FILE *f);
void cli_help_knobs(FILE *f);

void cli_end(struct cli_common *common);

/* Ends the program where stdout could not be written. Call it last. */
int cli_finish(void);

#endif /* BENCH_CLI_H */
