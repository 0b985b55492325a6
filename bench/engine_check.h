/* SPDX-License-Identifier: MIT */
/*
 * engine_check.h - what every bench asks of an engine: that it can be made, that it counts right
 * and that answers have the bytes they should. Each ends the program with one line where it is not
 * so.
 */
#ifndef BENCH_ENGINE_CHECK_H
#define BENCH_ENGINE_CHECK_H

#include "engine.h"

void *engine_make(const struct engine *engine, const cistern_config *config);

/* stats: where to leave what the engine tells of itself, or NULL. */
void engine_expect_count(const struct engine *engine, void *e, uint64_t strings,
			 cistern_stats *stats);

/* number: which string it was, for the message. */
void engine_expect_string(const struct engine *engine, size_t number, const cistern_span *string,
			  const char *answer);

#endif /* BENCH_ENGINE_CHECK_H */
