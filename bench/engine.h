/* SPDX-License-Identifier: MIT */
/*
 * engine.h - what a bench needs to know of an interner, so that every bench runs every engine.
 *
 * An engine is a table of functions. Each works on a run of strings, so that the indirect call is
 * paid once for thousands of operations; the loops over single strings are written once, in
 * engine_loop.h, and compiled into the engine's own file, where the compiler sees what it sees in a
 * real program.
 *
 * To add an engine: a file engine_NAME.c or .cc that ends with its table, and a line in engine.c.
 */
#ifndef BENCH_ENGINE_H
#define BENCH_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cistern.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What came out of a run: the sum of the pointers, which is the same for every run over the same
 * strings, and how many were not NULL. Summing keeps the compiler from dropping a call and checks
 * every answer, and it costs one addition where an array of answers would cost memory traffic.
 */
struct engine_sum {
	uint64_t pointers;
	uint64_t found;
};

struct engine {
	const char *name;
	const char *about; /* one line, with the version of what is wrapped */

	/* The keys that create heeds, with blanks between; "" for none, NULL for all of them. */
	const char *knobs;
	/* What the engine has by itself where that differs from the library's defaults. May be
	 * NULL. */
	void (*defaults)(cistern_config *config);

	/* Takes from config what it has a use for. NULL with errno where it cannot be made. */
	void *(*create)(const cistern_config *config);
	void (*destroy)(void *e);

	/* Interns each string by itself. A NUL stands behind each, as in a corpus. out may be NULL.
	 */
	struct engine_sum (*intern)(void *e, const cistern_span *in, size_t n, const char **out);
	/* Looks each string up by itself, without interning it. NULL where the engine cannot. */
	struct engine_sum (*find)(void *e, const cistern_span *in, size_t n);

	/* The same in groups. NULL where the engine has no such call; benches use the single calls
	 * then. */
	struct engine_sum (*intern_batch)(void *e, const cistern_span *in, size_t n,
					  const char **out);
	struct engine_sum (*find_batch)(void *e, const cistern_span *in, size_t n);

	/* Fills in what the engine can tell; strings always. The rest stays 0. Nobody interns
	 * meanwhile. */
	void (*stats)(void *e, cistern_stats *out);

	/* Whether it takes C strings: a NUL behind each, as in every corpus, and none inside. */
	bool c_strings;
};

/* Strings that are handed to a batch call at a time. */
enum { ENGINE_GROUP = 1024 };

/* An empty answer of stats, of an engine with so many locked parts. */
static inline void engine_stats_begin(cistern_stats *out, uint64_t shards)
{
	memset(out, 0, sizeof *out);
	out->size = sizeof *out;
	out->shards = shards;
}

/* Whether the engine has a use for a knob. */
bool engine_heeds(const struct engine *engine, const char *key);

/* By name, or NULL; and one after another, NULL behind the last. */
const struct engine *engine_named(const char *name);
const struct engine *engine_at(size_t i);

extern const struct engine engine_cistern;
extern const struct engine engine_conststring;
/* Where configure found what they wrap, and HAVE_... is defined: engine.c. */
extern const struct engine engine_stringmap, engine_ck_hs, engine_glib, engine_oiio, engine_tbb_set,
    engine_tbb_map, engine_boost_flat, engine_absl, engine_urcu;
/* Gives every string back as it was handed in, and is not in the list: what remains of a
 * measurement without an interner. */
extern const struct engine engine_nothing;

#ifdef __cplusplus
}
#endif

#endif /* BENCH_ENGINE_H */
