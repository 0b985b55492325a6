/* SPDX-License-Identifier: MIT */
/*
 * report.c - the three output formats. See report.h.
 *
 * A table is aligned, so its rows are kept until the report closes; CSV and JSON rows go out at
 * once. Numbers are printed in the C locale, which the benches never leave.
 */
#include "report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "cli.h"
#include "harness.h"

struct report {
	enum report_format format;
	const char *bench;
	const struct report_column *columns;
	size_t ncolumns;
	size_t nfacts, nrows, nnotes;
	bool facts_over, rows_over;
	char **cells; /* table: nrows x ncolumns */
	size_t cell_room;
};

static char *copy_text(const char *s)
{
	char *copy = strdup(s);
	if (!copy)
		cli_fail("out of memory");
	return copy;
}

/* A JSON string. Strings here come from file names and knobs: any byte can occur. */
static void put_json(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		unsigned char ch = (unsigned char)*s;
		if (ch == '"' || ch == '\\')
			printf("\\%c", ch);
		else if (ch < 0x20 || ch >= 0x7F)
			printf("\\u%04x", ch);
		else
			putchar(ch);
	}
	putchar('"');
}

static void put_csv(const char *s)
{
	if (!strpbrk(s, ",\"\r\n")) {
		fputs(s, stdout);
		return;
	}
	putchar('"');
	for (; *s; s++) {
		if (*s == '"')
			putchar('"');
		putchar(*s);
	}
	putchar('"');
}

struct report *report_open(enum report_format format, const char *bench,
			   const struct report_column *columns, size_t ncolumns)
{
	struct report *r = calloc(1, sizeof *r);
	if (!r)
		cli_fail("out of memory");
	r->format = format;
	r->bench = bench;
	r->columns = columns;
	r->ncolumns = ncolumns;
	if (format == REPORT_JSON) {
		fputs("{\"bench\": ", stdout);
		put_json(bench);
		fputs(", \"facts\": {", stdout);
	}
	return r;
}

void report_fact(struct report *r, const char *key, const char *format, ...)
{
	char text[512];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (r->format == REPORT_JSON) {
		fputs(r->nfacts++ ? ", " : "", stdout);
		put_json(key);
		fputs(": ", stdout);
		put_json(text);
	} else {
		fprintf(stderr, "%s: %s\n", key, text);
	}
}

void report_machine(struct report *r)
{
	struct utsname system;
	report_fact(r, "version", "cistern %s", cistern_version());
#ifdef __VERSION__
#ifdef __clang__
	report_fact(r, "compiler", "%s", __VERSION__);
#else
	report_fact(r, "compiler", "gcc %s", __VERSION__);
#endif
#endif
	report_fact(r, "processors", "%u", harness_cpus());
	if (uname(&system) == 0)
		report_fact(r, "kernel", "%s %s %s", system.sysname, system.release,
			    system.machine);
	if (harness_clock_used() == HARNESS_CPU)
		report_fact(r, "clock",
			    "processor time of the slowest thread, not time on the wall");
	FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
	if (f) {
		char line[128] = "";
		if (fgets(line, sizeof line, f))
			report_fact(r, "transparent_hugepages", "%.*s", (int)strcspn(line, "\n"),
				    line);
		fclose(f);
	}
}

void report_corpus(struct report *r, const struct corpus *c)
{
	report_fact(r, "corpus",
		    "%s: %zu strings of mean length %.1f, %zu distinct of mean length %.1f, hash "
		    "%016" PRIx64,
		    c->name, c->n, (double)c->payload / (double)c->n, c->ndistinct,
		    (double)c->distinct_payload / (double)c->ndistinct, c->hash);
}

static void facts_end(struct report *r)
{
	if (r->facts_over)
		return;
	r->facts_over = true;
	if (r->format == REPORT_JSON) {
		fputs("}, \"results\": [", stdout);
	} else if (r->format == REPORT_CSV) {
		for (size_t i = 0; i < r->ncolumns; i++)
			printf("%s%s", i ? "," : "", r->columns[i].name);
		putchar('\n');
	}
}

/* The plain text of a value, as CSV and JSON have it. */
static void plain(char *out, size_t size, enum report_type type, const struct report_value *v)
{
	switch (type) {
	case REPORT_TEXT:
		snprintf(out, size, "%s", v->text ? v->text : "");
		break;
	case REPORT_COUNT:
	case REPORT_BYTES:
		snprintf(out, size, "%" PRIu64, v->count);
		break;
	case REPORT_NUMBER:
		snprintf(out, size, v->number < 10 ? "%.3f" : "%.2f", v->number);
		break;
	case REPORT_RATIO:
		snprintf(out, size, "%.3f", v->number);
		break;
	}
}

/* Bytes with a unit where that loses nothing or the number is long. */
static void pretty_bytes(char *out, size_t size, uint64_t n)
{
	if (n >= UINT64_C(10) << 20)
		snprintf(out, size, "%.1fM", (double)n / 1048576);
	else if (n >= 1024 && n % 1024 == 0 && n < UINT64_C(1) << 20)
		snprintf(out, size, "%" PRIu64 "K", n >> 10);
	else if (n >= UINT64_C(1) << 20)
		snprintf(out, size, n % (1 << 20) ? "%.2fM" : "%.0fM", (double)n / 1048576);
	else
		snprintf(out, size, "%" PRIu64, n);
}

static void table_row(struct report *r, const struct report_value *values)
{
	if (r->nrows * r->ncolumns >= r->cell_room) {
		r->cell_room = r->cell_room ? 2 * r->cell_room : 64 * r->ncolumns;
		r->cells = realloc(r->cells, r->cell_room * sizeof *r->cells);
		if (!r->cells)
			cli_fail("out of memory");
	}
	for (size_t i = 0; i < r->ncolumns; i++) {
		char text[512];
		if (values[i].missing)
			snprintf(text, sizeof text, "-");
		else if (r->columns[i].type == REPORT_BYTES)
			pretty_bytes(text, sizeof text, values[i].count);
		else
			plain(text, sizeof text, r->columns[i].type, &values[i]);
		r->cells[r->nrows * r->ncolumns + i] = copy_text(text);
	}
}

void report_row(struct report *r, const struct report_value *values)
{
	facts_end(r);
	if (r->format == REPORT_TABLE)
		table_row(r, values);
	else if (r->format == REPORT_JSON)
		fputs(r->nrows ? ",\n{" : "\n{", stdout);
	for (size_t i = 0; i < r->ncolumns && r->format != REPORT_TABLE; i++) {
		char text[512];
		plain(text, sizeof text, r->columns[i].type, &values[i]);
		fputs(i ? (r->format == REPORT_JSON ? ", " : ",") : "", stdout);
		if (r->format == REPORT_CSV) {
			if (!values[i].missing)
				put_csv(text);
			continue;
		}
		put_json(r->columns[i].name);
		fputs(": ", stdout);
		if (values[i].missing)
			fputs("null", stdout);
		else if (r->columns[i].type == REPORT_TEXT)
			put_json(text);
		else
			fputs(text, stdout);
	}
	if (r->format == REPORT_JSON)
		putchar('}');
	else if (r->format == REPORT_CSV)
		putchar('\n');
	r->nrows++;
	fflush(stdout);
}

static void table_print(struct report *r)
{
	for (size_t row = 0; row <= r->nrows; row++) {
		bool first = true;
		for (size_t i = 0; i < r->ncolumns; i++) {
			const struct report_column *column = &r->columns[i];
			if (column->wide)
				continue;
			size_t width = strlen(column->name);
			for (size_t k = 0; k < r->nrows; k++) {
				size_t length = strlen(r->cells[k * r->ncolumns + i]);
				width = length > width ? length : width;
			}
			const char *text =
			    row ? r->cells[(row - 1) * r->ncolumns + i] : column->name;
			int pad = (int)width;
			/* Text to the left, numbers to the right. */
			printf("%s%*s", first ? "" : "  ", column->type == REPORT_TEXT ? -pad : pad,
			       text);
			first = false;
		}
		putchar('\n');
	}
}

/* Ends the rows: a table is printed, an array closed. */
static void rows_end(struct report *r)
{
	if (r->rows_over)
		return;
	facts_end(r);
	r->rows_over = true;
	if (r->format == REPORT_TABLE)
		table_print(r);
	else if (r->format == REPORT_JSON)
		fputs("\n], \"notes\": [", stdout);
}

void report_note(struct report *r, const char *format, ...)
{
	char text[1024];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	rows_end(r);
	if (r->format == REPORT_JSON) {
		fputs(r->nnotes ? ",\n" : "\n", stdout);
		put_json(text);
	} else if (r->format == REPORT_CSV) {
		fprintf(stderr, "%s\n", text);
	} else {
		printf("%s%s\n", r->nnotes ? "" : "\n", text);
	}
	r->nnotes++;
}

void report_close(struct report *r)
{
	rows_end(r);
	if (r->format == REPORT_JSON)
		fputs("]}\n", stdout);
	for (size_t i = 0; r->cells && i < r->nrows * r->ncolumns; i++)
		free(r->cells[i]);
	free(r->cells);
	free(r);
}
