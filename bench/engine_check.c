/* SPDX-License-Identifier: MIT */
/* engine_check.c - the checks, and what is said where one fails. See engine_check.h. */
#include "engine_check.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli.h"

void *engine_make(const struct engine *engine, const cistern_config *config)
{
	void *e = engine->create(config);
	if (!e)
		cli_fail("%s: cannot be made: %s", engine->name, strerror(errno));
	return e;
}

void engine_expect_count(const struct engine *engine, void *e, uint64_t strings,
			 cistern_stats *stats)
{
	cistern_stats own;
	stats = stats ? stats : &own;
	engine->stats(e, stats);
	if (stats->strings != strings)
		cli_fail("%s: wrong answer: it counts %" PRIu64 " strings where %" PRIu64
			 " are right",
			 engine->name, stats->strings, strings);
}

void engine_expect_string(const struct engine *engine, size_t number, const cistern_span *string,
			  const char *answer)
{
	if (!answer)
		cli_fail("%s: string %zu could not be interned", engine->name, number);
	if (memcmp(answer, string->data, string->len) != 0 || answer[string->len] != '\0')
		cli_fail("%s: wrong answer: string %zu came back with other bytes", engine->name,
			 number);
}
