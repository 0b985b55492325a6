/* SPDX-License-Identifier: MIT */
/*
 * readers.h - what the targets for the readers of the benches share: input as a file, and
 * complaints as an outcome.
 */
#ifndef TESTS_FUZZ_READERS_H
#define TESTS_FUZZ_READERS_H

#include "fuzz.h"
#include "scope.h"

struct corpus;

/* The path of a file with these bytes. There is one such file, with one name. */
const char *reader_file(const void *data, size_t size);

/* The bytes of that file as of now, a NUL behind them. The caller frees them. */
char *reader_file_bytes(size_t *size);

/* What the last cli_fail said: one line. "" where there was none since the last reader_run. */
extern char reader_complaint[1024];

/* As scope_run; where it gives false there is a complaint. */
bool reader_run(void (*fn)(void *arg), void *arg);

#endif
