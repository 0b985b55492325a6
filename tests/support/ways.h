/* SPDX-License-Identifier: MIT */
/* ways.h - the calls that intern one string, by number: for what must be so whichever is taken. */
#ifndef TESTS_SUPPORT_WAYS_H
#define TESTS_SUPPORT_WAYS_H

#include <cistern.h>

#include <stddef.h>

enum way { WAY_PLAIN, WAY_NEW, WAY_HASHED, WAY_PIECES, WAY_BATCH, WAY_BUILDER, WAYS };

/* Interns at least two bytes in one of the ways; NULL and errno where that call fails. */
const char *way_intern(cistern *c, enum way way, const char *data, size_t len);

#endif
