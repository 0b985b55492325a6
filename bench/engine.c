/* SPDX-License-Identifier: MIT */
/* engine.c - the list of engines that this build has. The first one is cistern. */
#include "engine.h"

#include <string.h>

static const struct engine *const engines[] = {
    &engine_cistern,
#ifdef HAVE_LLVM
    &engine_stringmap,
#endif
    &engine_conststring,
#ifdef HAVE_CK_HS
    &engine_ck_hs,
#endif
#ifdef HAVE_GLIB
    &engine_glib,
#endif
#ifdef HAVE_OIIO
    &engine_oiio,
#endif
#ifdef HAVE_TBB
    &engine_tbb_set,
    &engine_tbb_map,
#endif
#ifdef HAVE_BOOST_FLAT
    &engine_boost_flat,
#endif
#ifdef HAVE_ABSL
    &engine_absl,
#endif
#ifdef HAVE_URCU
    &engine_urcu,
#endif
    NULL,
};

const struct engine *engine_at(size_t i)
{
	return i < sizeof engines / sizeof *engines ? engines[i] : NULL;
}

const struct engine *engine_named(const char *name)
{
	for (size_t i = 0; engines[i]; i++)
		if (strcmp(engines[i]->name, name) == 0)
			return engines[i];
	return NULL;
}

bool engine_heeds(const struct engine *engine, const char *key)
{
	size_t length = strlen(key);
	const char *at = engine->knobs;
	if (!at)
		return true;
	for (; (at = strstr(at, key)) != NULL; at += length)
		if ((at == engine->knobs || at[-1] == ' ') &&
		    (at[length] == ' ' || at[length] == '\0'))
			return true;
	return false;
}
