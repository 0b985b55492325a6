/* SPDX-License-Identifier: MIT */
/*
 * startup_child.c - what the measured processes of cistern-startup do. See startup.h.
 *
 * Both kinds make one interner, intern the strings, and look at themselves; an answer that is wrong
 * ends the process with one line. An executed one reads nothing but its order, which lies in a
 * file, so that no corpus is read or made in it; it leaves without running destructors.
 */
#include "startup.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "allocations.h"
#include "cli.h"
#include "engine_check.h"
#include "harness.h"

enum { WARM = 64 };

static void verify(const struct startup_subject *s, void *e, const char **out)
{
	engine_expect_count(s->engine, e, s->n, NULL);
	for (size_t i = 0; i < s->n; i++)
		engine_expect_string(s->engine, i, &s->strings[i], out[i]);
}

static double kib_between(uint64_t before, uint64_t after)
{
	return after > before ? (double)(after - before) / 1024 : 0;
}

void startup_forked(void *subject, void *figures)
{
	const struct startup_subject *s = subject;
	struct startup_figures *f = figures;
	struct harness_memory before, made, filled;
	struct allocations first, last;
	const char *out[STARTUP_STRINGS];

	/* Twice, so that what reading memory touches itself is there already. */
	harness_memory_read(&before);
	harness_memory_read(&before);
	bool counted = allocations_so_far(&first);
	uint64_t t0 = harness_clock_now();
	void *e = engine_make(s->engine, &s->config);
	uint64_t t1 = harness_clock_now();
	harness_memory_read(&made);
	uint64_t t2 = harness_clock_now();
	s->engine->intern(e, s->strings, s->n, out);
	uint64_t t3 = harness_clock_now();
	harness_memory_read(&filled);
	allocations_so_far(&last);
	verify(s, e, out);
	s->engine->destroy(e);

	double warm[WARM];
	for (int i = 0; i < WARM; i++) {
		uint64_t began = harness_clock_now();
		e = engine_make(s->engine, &s->config);
		warm[i] = (double)(harness_clock_now() - began) / 1e3;
		s->engine->destroy(e);
	}
	startup_know(f, STARTUP_CREATE, (double)(t1 - t0) / 1e3);
	startup_know(f, STARTUP_WARM_CREATE, harness_spread_of(warm, WARM).median);
	startup_know(f, STARTUP_INTERN, (double)(t3 - t2) / 1e3);
	startup_know(f, STARTUP_CREATE_RSS, kib_between(before.rss, made.rss));
	startup_know(f, STARTUP_ADDED_RSS, kib_between(before.rss, filled.rss));
	if (counted) {
		startup_know(f, STARTUP_ALLOCATIONS, (double)(last.calls - first.calls));
		startup_know(f, STARTUP_ALLOCATED, kib_between(first.bytes, last.bytes));
	}
}

/* ---- executed */

/* The order: this, and the bytes of all strings, a NUL behind each as in any corpus. */
struct order {
	cistern_config config;
	uint64_t n;
	uint64_t lengths[STARTUP_STRINGS];
};

int startup_order(const struct startup_subject *s)
{
	struct order order = {.config = s->config, .n = s->n};
	FILE *f = tmpfile();
	if (!f)
		cli_fail("cannot make a file: %s", strerror(errno));
	for (size_t i = 0; i < s->n; i++)
		order.lengths[i] = s->strings[i].len;
	fwrite(&order, sizeof order, 1, f);
	for (size_t i = 0; i < s->n; i++)
		fwrite(s->strings[i].data, 1, s->strings[i].len + 1, f);
	int fd = fflush(f) == 0 && !ferror(f) ? harness_descriptor(fileno(f)) : -1;
	if (fd < 0)
		cli_fail("cannot write a file: %s", strerror(errno));
	fclose(f);
	return fd;
}

static void read_order(struct startup_subject *s, cistern_span *spans)
{
	struct stat info;
	const struct order *order = MAP_FAILED;
	if (fstat(STARTUP_ORDER_FD, &info) == 0 && (size_t)info.st_size >= sizeof *order)
		order =
		    mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, STARTUP_ORDER_FD, 0);
	if (order == MAP_FAILED)
		cli_fail("--child is for the bench itself: there is no order");
	const char *at = (const char *)(order + 1);
	s->config = order->config;
	s->strings = spans;
	s->n = (size_t)order->n;
	for (size_t i = 0; i < s->n; i++) {
		spans[i] = (cistern_span){at, (size_t)order->lengths[i]};
		at += order->lengths[i] + 1;
	}
}

static uint64_t cpu_so_far(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return ((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * 1000000000 +
	       ((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * 1000;
}

int startup_child(char **argv)
{
	struct cli_common common;
	struct startup_subject s = {.engine = NULL};
	cistern_span spans[STARTUP_STRINGS];
	const char *out[STARTUP_STRINGS];
	void *e = NULL;
	cli_start(&common, argv[0]);
	if (strcmp(argv[2], STARTUP_NOBODY) != 0 && !(s.engine = engine_named(argv[2])))
		cli_usage("--child: this build has no '%.80s'", argv[2]);
	read_order(&s, spans);
	if (s.engine) {
		e = engine_make(s.engine, &s.config);
		s.engine->intern(e, s.strings, s.n, out);
	}
	/* An instruction that is none ends what is traced: it takes no system call. */
	if (argv[3] && strcmp(argv[3], STARTUP_TRAP) == 0)
		__builtin_trap();

	struct startup_report report = {.ended = harness_now(), .cpu = cpu_so_far()};
	struct allocations heap;
	struct harness_memory memory;
	report.counted = allocations_so_far(&heap);
	report.calls = heap.calls;
	report.bytes = heap.bytes;
	harness_memory_read(&memory);
	report.rss = memory.rss;
	if (s.engine)
		verify(&s, e, out);
	if (write(STARTUP_REPORT_FD, &report, sizeof report) != (ssize_t)sizeof report)
		cli_fail("--child is for the bench itself: nobody takes the report");
	_exit(0);
}
