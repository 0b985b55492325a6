/* SPDX-License-Identifier: MIT */
/* json.h - checks that a text is one JSON value, and reads numbers of a JSON object. */
#ifndef TESTS_SUPPORT_JSON_H
#define TESTS_SUPPORT_JSON_H

#include <stdbool.h>
#include <stdint.h>

/* Whether text is exactly one JSON value (RFC 8259), with white space around it at most. */
bool json_valid(const char *text);

/*
 * Stores the whole number that the object text has directly under key. False when text is no valid
 * object, or has no such key, or has it twice, or with another kind of value.
 */
bool json_number(const char *text, const char *key, uint64_t *number);

#endif
