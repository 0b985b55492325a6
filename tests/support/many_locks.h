/* SPDX-License-Identifier: MIT */
/*
 * many_locks.h - for suites that fork while several interners exist: ThreadSanitizer's search for deadlocks has room for 64
 * locks that one thread holds, and before a fork a thread holds that of each shard. So it is switched off here; the order of
 * locks is asserted in --enable-debug builds. Included by one file of a program.
 */
#ifndef TESTS_SUPPORT_MANY_LOCKS_H
#define TESTS_SUPPORT_MANY_LOCKS_H

const char *__tsan_default_options(void);
__attribute__((__visibility__("default"))) const char *__tsan_default_options(void)
{
	return "detect_deadlocks=0";
}

#endif
