/* SPDX-License-Identifier: MIT */
/* early.h - a shared library that interns when it is loaded and when it is let go. See early_lib.c.
 */
#ifndef TESTS_API_EARLY_H
#define TESTS_API_EARLY_H

#define EARLY_STRING "from the constructor of another library"

/* What its constructor got for EARLY_STRING in the default interner. */
__attribute__((visibility("default"))) const char *early_string(void);

#endif
