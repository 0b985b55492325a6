/* SPDX-License-Identifier: MIT */
/*
 * report.c - the three output formats. See report.h.
 *
 * A report goes to one or several sinks, each of a format of its own: standard output, and with
 * --save two files. A table is aligned, so its rows are kept until the report closes; CSV and JSON
 * rows go out at once. Numbers are printed in the C locale, which the benches never leave.
 */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

struct sink {
	enum report_format format;
	FILE *out;
	char path[4096]; /* of a file; empty: standard output */
};

struct report {
	const char *bench;
	const struct report_column *columns;
	size_t ncolumns;
	struct sink sinks[5];
	size_t nsinks;
	size_t nfacts, nrows, nnotes;
	bool facts_over, rows_over, notes_only;
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

/* How many bytes of well-formed UTF-8 (RFC 3629) the character at s has; 0: it is none. */
static size_t utf8_length(const unsigned char *s)
{
	/* The second byte rules out long forms, surrogates, and what is beyond U+10FFFF. */
	unsigned char low = s[0] == 0xE0 ? 0xA0 : s[0] == 0xF0 ? 0x90 : 0x80;
	unsigned char high = s[0] == 0xED ? 0x9F : s[0] == 0xF4 ? 0x8F : 0xBF;
	size_t length = s[0] < 0x80    ? 1
			: s[0] < 0xC2  ? 0
			: s[0] < 0xE0  ? 2
			: s[0] < 0xF0  ? 3
			: s[0] <= 0xF4 ? 4
				       : 0;
	if (length > 1 && (s[1] < low || s[1] > high))
		return 0;
	for (size_t i = 2; i < length; i++)
		if ((s[i] & 0xC0) != 0x80)
			return 0;
	return length;
}

/* A JSON string. Strings here come from file names and knobs: any byte can occur. What is no UTF-8
 * becomes the replacement character. */
static void put_json(FILE *out, const char *s)
{
	putc('"', out);
	for (size_t length; *s; s += length ? length : 1) {
		unsigned char ch = (unsigned char)*s;
		length = utf8_length((const unsigned char *)s);
		if (ch == '"' || ch == '\\')
			fprintf(out, "\\%c", ch);
		else if (length == 0)
			fputs("\\ufffd", out);
		else if (ch < 0x20 || ch == 0x7F)
			fprintf(out, "\\u%04x", ch);
		else
			fwrite(s, 1, length, out);
	}
	putc('"', out);
}

static void put_csv(FILE *out, const char *s)
{
	if (!strpbrk(s, ",\"\r\n")) {
		fputs(s, out);
		return;
	}
	putc('"', out);
	for (; *s; s++) {
		if (*s == '"')
			putc('"', out);
		putc(*s, out);
	}
	putc('"', out);
}

/* A comment of CSV: one line, whatever the text holds. */
static void put_comment(FILE *out, const char *key, const char *text)
{
	/* A note may be a comment already, for a shell. */
	if (*key || *text != '#')
		fprintf(out, "# %s%s", key, *key ? ": " : "");
	for (; *text; text++)
		putc(*text == '\n' || *text == '\r' ? ' ' : *text, out);
	putc('\n', out);
}

static void add_sink(struct report *r, enum report_format format, const char *folder,
		     const char *ending)
{
	struct sink *sink = &r->sinks[r->nsinks++];
	sink->format = format;
	sink->out = stdout;
	if (folder) {
		snprintf(sink->path, sizeof sink->path, "%s/%s.%s", folder, r->bench, ending);
		sink->out = fopen(sink->path, "w");
		if (!sink->out)
			cli_fail("%s: %s", sink->path, strerror(errno));
	}
	if (format == REPORT_JSON) {
		fputs("{\"bench\": ", sink->out);
		put_json(sink->out, r->bench);
		fputs(", \"facts\": {", sink->out);
	}
}

struct report *report_open(const struct report_output *output, const char *bench,
			   const struct report_column *columns, size_t ncolumns)
{
	struct report *r = calloc(1, sizeof *r);
	if (!r)
		cli_fail("out of memory");
	r->bench = bench;
	r->columns = columns;
	r->ncolumns = ncolumns;
	r->notes_only = output->notes_only;
	add_sink(r, output->format, NULL, NULL);
	const char *folders[] = {output->folder, output->page};
	for (size_t i = 0; i < 2; i++) {
		if (!folders[i] || (i > 0 && folders[0] && strcmp(folders[0], folders[1]) == 0))
			continue;
		cli_folder(folders[i]);
		add_sink(r, REPORT_CSV, folders[i], "csv");
		add_sink(r, REPORT_JSON, folders[i], "json");
	}
	return r;
}

void report_fact(struct report *r, const char *key, const char *format, ...)
{
	char text[2048];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	for (const struct sink *sink = r->sinks; sink < r->sinks + r->nsinks; sink++) {
		if (sink->format == REPORT_JSON) {
			fputs(r->nfacts ? ", " : "", sink->out);
			put_json(sink->out, key);
			fputs(": ", sink->out);
			put_json(sink->out, text);
		} else if (sink->format == REPORT_CSV) {
			put_comment(sink->out, key, text);
		} else {
			fprintf(stderr, "%s: %s\n", key, text);
		}
	}
	r->nfacts++;
}

static void facts_end(struct report *r)
{
	if (r->facts_over)
		return;
	r->facts_over = true;
	for (const struct sink *sink = r->sinks; sink < r->sinks + r->nsinks; sink++) {
		if (sink->format == REPORT_JSON)
			fputs("}, \"results\": [", sink->out);
		for (size_t i = 0; i < r->ncolumns && sink->format == REPORT_CSV; i++)
			fprintf(sink->out, "%s%s", r->columns[i].name,
				i + 1 < r->ncolumns ? "," : "\n");
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

const char *report_bytes(char text[REPORT_BYTES_TEXT], double bytes)
{
	if (bytes >= 1048576)
		snprintf(text, REPORT_BYTES_TEXT, "%.2f MiB", bytes / 1048576);
	else if (bytes >= 1024)
		snprintf(text, REPORT_BYTES_TEXT, "%.0f KiB", bytes / 1024);
	else
		snprintf(text, REPORT_BYTES_TEXT, "%.0f B", bytes);
	return text;
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
			report_bytes(text, (double)values[i].count);
		else
			plain(text, sizeof text, r->columns[i].type, &values[i]);
		r->cells[r->nrows * r->ncolumns + i] = copy_text(text);
	}
}

static void csv_row(const struct report *r, FILE *out, const struct report_value *values)
{
	char text[512];
	for (size_t i = 0; i < r->ncolumns; i++) {
		fputs(i ? "," : "", out);
		if (values[i].missing)
			continue;
		plain(text, sizeof text, r->columns[i].type, &values[i]);
		put_csv(out, text);
	}
	putc('\n', out);
}

static void json_row(const struct report *r, FILE *out, const struct report_value *values)
{
	char text[512];
	fputs(r->nrows ? ",\n{" : "\n{", out);
	for (size_t i = 0; i < r->ncolumns; i++) {
		plain(text, sizeof text, r->columns[i].type, &values[i]);
		fputs(i ? ", " : "", out);
		put_json(out, r->columns[i].name);
		fputs(": ", out);
		if (values[i].missing)
			fputs("null", out);
		else if (r->columns[i].type == REPORT_TEXT)
			put_json(out, text);
		else
			fputs(text, out);
	}
	putc('}', out);
}

static bool is_quartile(const char *column)
{
	const char *last = strrchr(column, '_');
	last = last ? last + 1 : column;
	return strcmp(last, "q1") == 0 || strcmp(last, "q3") == 0;
}

/* A row without the quartiles of a single measurement. */
static struct report_value *without_quartiles(const struct report *r,
					      const struct report_value *values)
{
	struct report_value *row = malloc(r->ncolumns * sizeof *row);
	bool single = false;
	if (!row)
		cli_fail("out of memory");
	for (size_t i = 0; i < r->ncolumns; i++) {
		const char *name = r->columns[i].name;
		single |= (strcmp(name, "rounds") == 0 || strcmp(name, "processes") == 0) &&
			  values[i].count == 1;
	}
	for (size_t i = 0; i < r->ncolumns; i++) {
		row[i] = values[i];
		row[i].missing |= single && is_quartile(r->columns[i].name);
	}
	return row;
}

void report_row(struct report *r, const struct report_value *cells)
{
	struct report_value *values = without_quartiles(r, cells);
	facts_end(r);
	for (const struct sink *sink = r->sinks; sink < r->sinks + r->nsinks; sink++) {
		if (sink->format == REPORT_TABLE)
			table_row(r, values);
		else if (sink->format == REPORT_CSV)
			csv_row(r, sink->out, values);
		else
			json_row(r, sink->out, values);
		fflush(sink->out);
	}
	free(values);
	r->nrows++;
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
	for (const struct sink *sink = r->sinks; sink < r->sinks + r->nsinks; sink++) {
		if (sink->format == REPORT_TABLE && !r->notes_only)
			table_print(r);
		else if (sink->format == REPORT_JSON)
			fputs("\n], \"notes\": [", sink->out);
	}
}

void report_note(struct report *r, const char *format, ...)
{
	char text[1024];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	rows_end(r);
	for (const struct sink *sink = r->sinks; sink < r->sinks + r->nsinks; sink++) {
		if (sink->format == REPORT_JSON) {
			fputs(r->nnotes ? ",\n" : "\n", sink->out);
			put_json(sink->out, text);
		} else if (sink->format == REPORT_CSV) {
			put_comment(sink->out, "", text);
		} else {
			fprintf(sink->out, "%s%s\n", r->nnotes || r->notes_only ? "" : "\n", text);
		}
	}
	r->nnotes++;
}

void report_close(struct report *r)
{
	rows_end(r);
	for (struct sink *sink = r->sinks; sink < r->sinks + r->nsinks; sink++) {
		if (sink->format == REPORT_JSON)
			fputs("]}\n", sink->out);
		if (!*sink->path)
			continue; /* cli_finish looks after standard output */
		bool failed = ferror(sink->out) != 0;
		if (fclose(sink->out) != 0 || failed)
			cli_fail("%s: cannot write the results: %s", sink->path, strerror(errno));
	}
	for (size_t i = 0; r->cells && i < r->nrows * r->ncolumns; i++)
		free(r->cells[i]);
	free(r->cells);
	free(r);
}
