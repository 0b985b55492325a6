/* SPDX-License-Identifier: MIT */
/* report_facts.c - the facts that many benches state: machine, corpus, knobs. See report.h. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "config.h"
#include "harness.h"
#include "report.h"

/* What stands behind a key in a file of lines "key : value" or of one line (key NULL). */
static bool line_of(const char *path, const char *key, char *out, size_t size)
{
	FILE *f = fopen(path, "r");
	bool found = false;
	if (!f)
		return false;
	while (!found && fgets(out, (int)size, f)) {
		out[strcspn(out, "\n")] = '\0';
		if (key && strncmp(out, key, strlen(key)) != 0)
			continue;
		char *value = key ? strchr(out, ':') : out;
		if (!value)
			continue;
		value += key ? 1 + strspn(value + 1, " \t") : 0;
		memmove(out, value, strlen(value) + 1);
		found = true;
	}
	fclose(f);
	return found;
}

static void one_fact(void *arg, const char *key, const char *text)
{
	report_fact(arg, key, "%s", text);
}

void report_machine(struct report *r)
{
	double parallel = harness_parallel();
	report_machine_facts(one_fact, r);
	if (!isnan(parallel))
		report_fact(r, "parallel", "%.2f", parallel);
	if (!isnan(harness_load_at_start()))
		report_fact(r, "load", "%.2f", harness_load_at_start());
}

void report_machine_facts(report_fact_fn *fn, void *arg)
{
	struct utsname system;
	char line[512];
	snprintf(line, sizeof line, "cistern %s", cistern_version());
	fn(arg, "version", line);
	fn(arg, "commit", report_commit);
#ifdef __VERSION__
#ifdef __clang__
	fn(arg, "compiler", __VERSION__);
#else
	fn(arg, "compiler", "gcc " __VERSION__);
#endif
#endif
	if (line_of("/proc/cpuinfo", "model name", line, sizeof line))
		fn(arg, "processor", line);
	snprintf(line, sizeof line, "%u", harness_cpus());
	fn(arg, "processors", line);
	if (uname(&system) == 0) {
		snprintf(line, sizeof line, "%.100s %.100s %.100s", system.sysname, system.release,
			 system.machine);
		fn(arg, "kernel", line);
	}
	if (harness_clock_used() == HARNESS_CPU)
		fn(arg, "clock", "processor time of the slowest thread, not time on the wall");
	if (line_of("/sys/kernel/mm/transparent_hugepage/enabled", NULL, line, sizeof line))
		fn(arg, "transparent_hugepages", line);
}

void report_corpus(struct report *r, const struct corpus *c)
{
	report_fact(r, "corpus",
		    "%s: %zu strings of mean length %.1f, %zu distinct of mean length %.1f, hash "
		    "%016" PRIx64,
		    c->name, c->n, (double)c->payload / (double)c->n, c->ndistinct,
		    (double)c->distinct_payload / (double)c->ndistinct, c->hash);
}

void report_knobs(struct report *r, const char *label, const struct engine *engine,
		  const cistern_config *config)
{
	char text[1024], value[32];
	size_t used = 0;
	const struct config_knob *knob;
	for (size_t i = 0; (knob = config_knob_at(i)) != NULL && used < sizeof text; i++) {
		if (!engine_heeds(engine, knob->key))
			continue;
		config_knob_text(config, i, value, sizeof value);
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%s",
					 used ? " " : "", knob->key, value);
	}
	report_fact(r, label, "%s", text);
}
