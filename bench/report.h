/* SPDX-License-Identifier: MIT */
/*
 * report.h - results on stdout: an aligned table for people, CSV, or one JSON document.
 *
 * A report is a fixed list of columns and any number of rows; each row is one line in every format.
 * JSON is
 * {"bench":..., "facts":{...}, "results":[ one object a line ], "notes":[ strings ]}. CSV has facts
 * and notes as comments, "# key: value". The table is for people: facts go to stderr, notes follow
 * it.
 */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cistern.h"
#include "corpus.h"
#include "engine.h"

enum report_format { REPORT_TABLE, REPORT_CSV, REPORT_JSON };

/* Where a report goes: standard output in that format and, where there is a folder, the files
 * BENCH.csv and BENCH.json in it. */
struct report_output {
	enum report_format format;
	const char *folder;
	const char *page; /* another folder for the same files, beside a page */
	bool notes_only;  /* no table on standard output, only what follows it */
};

enum report_type {
	REPORT_TEXT,
	REPORT_COUNT,  /* an integer */
	REPORT_BYTES,  /* an integer; a table shows it as report_bytes does */
	REPORT_NUMBER, /* two decimals or more */
	REPORT_RATIO   /* three decimals */
};

struct report_column {
	const char *name;
	enum report_type type;
	bool wide; /* left out of tables, which have little room */
};

/* Bytes for people, always with the unit: "256 B", "64 KiB", "13.37 MiB". */
enum { REPORT_BYTES_TEXT = 32 };
const char *report_bytes(char text[REPORT_BYTES_TEXT], double bytes);

struct report_value {
	const char *text;
	uint64_t count;
	double number;
	bool missing; /* an engine that has no such figure */
};

/* Of the sources that this was built from, as git describes it. Made by the makefile. */
extern const char report_commit[];

struct report;

/* columns must outlive the report. bench names it in JSON and names its files. */
struct report *report_open(const struct report_output *output, const char *bench,
			   const struct report_column *columns, size_t ncolumns);

/* Facts that hold for all rows, before the first row. */
void report_fact(struct report *r, const char *key, const char *format, ...) CISTERN_PRINTF(3, 4);

/* The facts that every bench states: version, commit, compiler, processors, kernel, huge-page
 * setting, and the load of the machine when the bench began. */
void report_machine(struct report *r);

/* The same for others than a report, but for the load, which is of the moment. */
typedef void report_fact_fn(void *arg, const char *key, const char *text);
void report_machine_facts(report_fact_fn *fn, void *arg);

/* The facts of a corpus, its hash among them. */
void report_corpus(struct report *r, const struct corpus *c);

/* The knobs of a configuration that an engine heeds, as one fact. */
void report_knobs(struct report *r, const char *label, const struct engine *engine,
		  const cistern_config *config);

/*
 * One row. Columns called q1 and q3, or NAME_q1 and NAME_q3, hold quartiles, which a single
 * measurement does not have: they are missing where the column rounds (or processes) says 1.
 */
void report_row(struct report *r, const struct report_value *values);

/* A closing line. */
void report_note(struct report *r, const char *format, ...) CISTERN_PRINTF(2, 3);

void report_close(struct report *r);

#endif /* BENCH_REPORT_H */
