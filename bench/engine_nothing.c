/* SPDX-License-Identifier: MIT */
/*
 * engine_nothing.c - no interner: every string comes back as it was handed in. Timing it tells what
 * the benches themselves take. It keeps nothing, counts nothing and finds everything.
 */
#include "engine_loop.h"


/* A call that is not inlined, as for every engine. */
__attribute__((noinline)) static const char *give_back(void *e, const char *s, size_t len)
{
	(void)e;
	(void)len;
	return s;
}

ENGINE_LOOPS(nothing, void, give_back, give_back)

static void *create(const cistern_config *config)
{
	static char nothing;
	(void)config;
	return &nothing;
}

static void destroy(void *e)
{
	(void)e;
}

static void stats(void *e, cistern_stats *out)
{
	(void)e;
	engine_stats_begin(out, 0);
}

const struct engine engine_nothing = {
    .name = "none",
    .about = "no interning: the string in the mapped file is taken",
    .knobs = "",
    .create = create,
    .destroy = destroy,
    .intern = nothing_intern_loop,
    .find = nothing_find_loop,
    .stats = stats,
};
