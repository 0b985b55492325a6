/* SPDX-License-Identifier: MIT */
/* tools.h - which tool the test was compiled for: some change what a process may do. */
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

#endif
