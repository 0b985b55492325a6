/* SPDX-License-Identifier: MIT */
/*
 * engine_glib.c - GLib's interned strings: g_intern_string, one table a process behind one lock.
 *
 * There is nothing to set and no other way to use it. A look-up that does not intern goes through
 * the number that GLib gives to each string (g_quark_try_string).
 *
 * GLib takes C strings. Every corpus ends its strings with a NUL; one inside would cut a string
 * short, and benches refuse such a corpus for this engine. To check here would make GLib read each
 * string twice.
 *
 * The table cannot be emptied, and holds what GLib and others put into it before. Strings are
 * counted from create on, by the number that a new one gets.
 */
#include "engine_loop.h"

#include <glib.h>
#include <stdio.h>

struct table {
	unsigned first;  /* the number of the newest string before */
	unsigned probes; /* strings of ours, made to learn a number */
};

static unsigned newest(struct table *t)
{
	static unsigned names;
	char name[40];
	/* No corpus has a control character and such a text. */
	snprintf(name, sizeof name, "\001cistern-bench %u", names++);
	t->probes++;
	return g_quark_from_string(name);
}

__attribute__((noinline)) static const char *find_string(struct table *t, const char *s, size_t len)
{
	(void)t;
	(void)len;
	return g_quark_to_string(g_quark_try_string(s)); /* NULL for no number */
}

__attribute__((noinline)) static const char *intern_string(struct table *t, const char *s,
							   size_t len)
{
	(void)t;
	(void)len;
	return g_intern_string(s);
}

ENGINE_LOOPS(glib, struct table, intern_string, find_string)

static void *create(const cistern_config *config)
{
	static struct table table;
	(void)config;
	table.probes = 0;
	table.first = newest(&table);
	return &table;
}

/* There is one, and it stays. */
static void destroy(void *e)
{
	(void)e;
}

static void stats(void *e, cistern_stats *out)
{
	struct table *t = e;
	engine_stats_begin(out, 1);
	unsigned now = newest(t);
	out->strings = now - t->first - (t->probes - 1);
}

const struct engine engine_glib = {
    .name = "glib",
    .about = "GLib " PEER_VERSION_GLIB " g_intern_string: one table and one lock, 33-times hash",
    .knobs = "",
    .create = create,
    .destroy = destroy,
    .intern = glib_intern_loop,
    .find = glib_find_loop,
    .stats = stats,
    .c_strings = true,
};
