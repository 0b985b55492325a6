/* SPDX-License-Identifier: MIT */
/* ways.h - all calls that intern or find one string, to be taken in turn or at random. */
#ifndef TESTS_SUPPORT_WAYS_H
#define TESTS_SUPPORT_WAYS_H

#include <cistern.h>

#include <stdbool.h>
#include <stddef.h>

/* WAY_HALVES is no call that finds, and WAY_NEW none: there they are cistern_find. */
enum way { WAY_HASHED, WAY_BATCH, WAY_HALVES, WAY_PLAIN, WAY_NEW, WAY_COUNT };

/* The string, or NULL with errno. *is_new is written by WAY_NEW alone, and may be NULL. */
const char *way_intern(cistern *c, enum way way, const char *s, size_t len, bool *is_new);

/* The string, or NULL. */
const char *way_find(const cistern *c, enum way way, const char *s, size_t len);

#endif
