/* SPDX-License-Identifier: MIT */
/* ways.h - all calls that intern or find one string, to be taken in turn or at random. */
#ifndef TESTS_SUPPORT_WAYS_H
#define TESTS_SUPPORT_WAYS_H

#include <cistern.h>

#include <stdbool.h>
#include <stddef.h>

/* Pieces and builders are no calls that find, and WAY_NEW is none: there they are cistern_find. */
enum way { WAY_HASHED, WAY_BATCH, WAY_PIECES, WAY_PLAIN, WAY_NEW, WAY_BUILDER, WAYS };

/* The string, or NULL with errno. *is_new is written by WAY_NEW alone, and may be NULL. */
const char *way_intern(cistern *c, enum way way, const char *s, size_t len, bool *is_new);

/* The string, or NULL. */
const char *way_find(const cistern *c, enum way way, const char *s, size_t len);

#endif
