/* SPDX-License-Identifier: MIT */
/* tools.h - what the test was compiled for or runs under: some tools change what a process may do.
 */
#ifndef TESTS_SUPPORT_TOOLS_H
#define TESTS_SUPPORT_TOOLS_H

#if !defined(__has_feature)
#define __has_feature(feature) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define UNDER_ASAN 1
#else
#define UNDER_ASAN 0
#endif

#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#else
#define UNDER_TSAN 0
#endif

/*
 * For functions that take the place of the C library's: ThreadSanitizer calls some before it is ready
 * for functions that report to it. Clang's no_sanitize leaves the report of entering a function.
 */
#if !UNDER_TSAN
#define UNWATCHED
#elif defined(__clang__)
#define UNWATCHED __attribute__((disable_sanitizer_instrumentation))
#else
#define UNWATCHED __attribute__((no_sanitize("thread")))
#endif

/* Valgrind is met at run time; where its header is missing nobody is likely to use it. */
#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#define UNDER_VALGRIND (RUNNING_ON_VALGRIND != 0)
#endif
#endif
#ifndef UNDER_VALGRIND
#define UNDER_VALGRIND 0
#endif

#endif
