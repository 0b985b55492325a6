/* SPDX-License-Identifier: MIT */
/* engine_cistern.c - the library itself, with all its knobs, through its public interface. */
#include "engine_loop.h"

ENGINE_LOOPS(cistern, cistern, cistern_intern, cistern_find)
ENGINE_BATCH_LOOPS(cistern, cistern, cistern_intern_batch, cistern_find_batch)

static void *create(const cistern_config *config)
{
	return cistern_create(config);
}

static void destroy(void *e)
{
	cistern_destroy(e);
}

static void stats(void *e, cistern_stats *out)
{
	out->size = sizeof *out;
	cistern_stats_get(e, out);
}

const struct engine engine_cistern = {
    .name = "cistern",
    .about = "this library",
    .create = create,
    .destroy = destroy,
    .intern = cistern_intern_loop,
    .find = cistern_find_loop,
    .intern_batch = cistern_intern_batch_loop,
    .find_batch = cistern_find_batch_loop,
    .stats = stats,
};
