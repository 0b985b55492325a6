/* SPDX-License-Identifier: MIT */
/*
 * startup.h - what cistern-startup measures, in two kinds of process.
 *
 *   executed  the bench executed anew, from before posix_spawn to when the strings are interned.
 * All contenders are in one binary, so that loading and linking it costs everyone the same; what
 * that is, a process without an engine tells. forked    a child of a process that has all its code
 * mapped: the interner alone.
 *
 * System calls are counted in one more process, executed under ptrace, whose time nobody looks at.
 */
#ifndef BENCH_STARTUP_H
#define BENCH_STARTUP_H

#include "engine.h"

enum { STARTUP_STRINGS = 100 };

enum startup_measure {
	/* executed */
	STARTUP_PROCESS_WALL,
	STARTUP_PROCESS_CPU,
	STARTUP_PROCESS_RSS,
	STARTUP_PROCESS_ALLOCATIONS,
	STARTUP_PROCESS_ALLOCATED,
	STARTUP_PROCESS_SYSCALLS,
	/* forked */
	STARTUP_CREATE,
	STARTUP_WARM_CREATE,
	STARTUP_INTERN,
	STARTUP_CREATE_RSS,
	STARTUP_ADDED_RSS,
	STARTUP_ALLOCATIONS,
	STARTUP_ALLOCATED,
	STARTUP_MEASURES
};

struct startup_figures {
	double value[STARTUP_MEASURES];
	bool known[STARTUP_MEASURES];
};

static inline void startup_know(struct startup_figures *f, enum startup_measure m, double value)
{
	f->value[m] = value;
	f->known[m] = true;
}

/* Who interns what. */
struct startup_subject {
	const struct engine *engine; /* NULL: nobody */
	cistern_config config;
	const cistern_span *strings;
	size_t n;  /* at most STARTUP_STRINGS */
	int order; /* a file that tells an executed process all this; see startup_order */
};

/* Writes a subject into a file without a name, and returns its descriptor. */
int startup_order(const struct startup_subject *s);

/* The forked measures, for harness_child: takes a subject and adds to figures. */
void startup_forked(void *subject, void *figures);

/* The executed ones but for system calls. False after one line on stderr. */
bool startup_executed(const struct startup_subject *s, struct startup_figures *figures);

/* The system calls; not known where tracing is not permitted. False after one line on stderr. */
bool startup_traced(const struct startup_subject *s, struct startup_figures *figures);

/* What an executed process does, which is started as "program --child ENGINE [trap]". */
int startup_child(char **argv);

/* Where it finds its order and where it reports; what the traced one ends with. */
enum { STARTUP_ORDER_FD = 3, STARTUP_REPORT_FD = 4 };
#define STARTUP_NOBODY "none"
#define STARTUP_TRAP   "trap"

struct startup_report {
	uint64_t ended; /* harness_now when the strings were interned */
	uint64_t cpu;   /* nanoseconds of all threads until then */
	uint64_t rss;
	uint64_t calls, bytes; /* heap allocations until then */
	bool counted;
};

#endif /* BENCH_STARTUP_H */
