/* SPDX-License-Identifier: MIT */
/*
 * default.c - the one interner of a process: made on first use, configured once, never destroyed, so that it
 * serves constructors, destructors and atexit handlers alike.
 *
 * The pointer is published with release (G1) under `making`, and read with acquire without it. A failure
 * publishes NULL: the next call tries again. `making` is initialised statically, because a constructor of
 * another library may come before any of ours.
 */
#include "config.h"
#include "interner.h"
#include "order.h"

#include <errno.h>
#include <stdlib.h>

static struct lock making = LOCK_STATIC_INIT(LOCK_RANK_DEFAULT);
static _Atomic(cistern *) the_default;

/* guarded by making */
static bool configured;
static cistern_config configuration; /* what cistern_default_configure said */

static atomic_bool environment_read; /* some thread has begun to */

struct lock *default_lock(void)
{
	return &making;
}

struct cistern *default_interner(void)
{
	/* acquire: pairs with G1 */
	return atomic_load_explicit(&the_default, ORDER_G1_DEFAULT_LOAD);
}

static void report_at_exit(void)
{
	cistern *c = default_interner();

	cistern_stats_print(c, stderr,
	                    c->config.stats == CISTERN_STATS_JSON ? CISTERN_FORMAT_JSON
	                                                          : CISTERN_FORMAT_TEXT);
}

/*
 * Each thread reads for itself, so that none waits for another, which a child of fork may not have. The first reports
 * what it refuses, for all of them; not under the lock, since reporting is stdio.
 */
static void read_environment(cistern_config *config)
{
	/* relaxed: it only chooses who reports */
	bool reported = atomic_exchange_explicit(&environment_read, true, memory_order_relaxed);

	cistern_config_init(config);
	config_read_environment(config, !reported);
}

static bool is_configured(void)
{
	bool answer;

	lock_acquire(&making);
	answer = configured;
	lock_release(&making);
	return answer;
}

cistern *cistern_default(void)
{
	cistern *c = default_interner();
	cistern_config environment;
	bool report = false;

	if (c || !registry_ready())
		return c;
	if (!is_configured())
		read_environment(&environment);
	lock_acquire(&making);
	/* relaxed: written under the lock that we hold */
	c = atomic_load_explicit(&the_default, memory_order_relaxed);
	if (!c || !RECHECK_G1_DEFAULT) {
		c = cistern_create(configured ? &configuration : &environment);
		/* G1: pairs with default_interner */
		atomic_store_explicit(&the_default, c, ORDER_G1_DEFAULT_STORE);
		report = c && c->config.stats != CISTERN_STATS_OFF;
	}
	lock_release(&making);
	if (report)
		atexit(report_at_exit);
	return c;
}

int cistern_default_configure(const cistern_config *config)
{
	cistern_config normal;
	bool exists;

	if (!config) {
		errno = EINVAL;
		return -1;
	}
	if (!config_normalize(config, &normal) || !registry_ready())
		return -1;
	lock_acquire(&making);
	/* relaxed: written under the lock that we hold */
	exists = atomic_load_explicit(&the_default, memory_order_relaxed) != NULL;
	if (!exists) {
		configuration = normal;
		configured = true;
	}
	lock_release(&making);
	if (exists) {
		errno = EBUSY;
		return -1;
	}
	return 0;
}
