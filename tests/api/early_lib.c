/* SPDX-License-Identifier: MIT */
/*
 * early_lib.c - a library as others write them: its constructor interns, before main and before the
 * program's own constructors; its destructor does, when the process ends or the library is
 * unloaded. Used by early.c, which is linked with it, and by unload.c, which loads it.
 */
#include "early.h"

#include <cistern.h>

#include <stdlib.h>

static const char *constructed;

const char *early_string(void)
{
	return constructed;
}

__attribute__((constructor)) static void construct(void)
{
	constructed = cistern_intern_cstr(cistern_default(), EARLY_STRING);
}

/* It ends the process where something is wrong, for there is nobody to tell. */
__attribute__((destructor)) static void destruct(void)
{
	cistern *c = cistern_default();
	const char *str = cistern_intern_cstr(c, "from its destructor");

	if (!str || cistern_find_cstr(c, "from its destructor") != str ||
	    cistern_find_cstr(c, EARLY_STRING) != constructed)
		abort();
	if (getenv("EARLY_SPEAKS"))
		puts("a destructor interned");
}
