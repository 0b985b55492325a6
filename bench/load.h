/* SPDX-License-Identifier: MIT */
/*
 * load.h - loading the symbols of ELF files as a debugger does, with one engine, in a process of
 * its own, with every answer verified.
 *
 *   open     each file is mapped and its symbol tables and strings are listed, a file at a time
 *   read     each symbol is decoded, its name interned, and {address, size, name} written to the
 *            symbol vector of its file; each string of .debug_str is interned and its pointer kept;
 *            a chunk at a time
 *   finish   the vector of a file is sorted by address, and an index from name to symbols is made,
 *            a file at a time
 *
 * Threads take files and chunks from a counter, and wait for each other between the steps.
 */
#ifndef BENCH_LOAD_H
#define BENCH_LOAD_H

#include "corpus.h"
#include "engine.h"
#include "harness.h"

struct load {
	const struct engine *engine;
	cistern_config config;
	unsigned threads;
	const char *const *paths;
	size_t npaths;
	size_t chunk; /* symbols, or 32 bytes of strings each, to take at a time; 0: 4096 */
	uint64_t strings, distinct; /* as load_survey counts them, for verifying */
	size_t bytes;               /* of the distinct strings, about */
};

struct load_result {
	double open_ms, read_ms, finish_ms;
	struct harness_memory before, after;
};

/* Runs it. False after one line on stderr: the engine failed, or gave a wrong answer. */
bool load_run(const struct load *l, struct load_result *result);

/*
 * Reads the files into a corpus that is not open yet: named symbols first and then the strings of
 * .debug_str, how many of which goes to debug_strings. Returns how many of all are distinct,
 * counted by sorting. Ends the program where a file cannot be read or none has a string.
 */
uint64_t load_survey(const char *const *paths, size_t npaths, struct corpus *c,
		     uint64_t *debug_strings);

#endif /* BENCH_LOAD_H */
