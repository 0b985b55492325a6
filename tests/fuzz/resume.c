/* SPDX-License-Identifier: MIT */
/*
 * resume.c - fuzz target: the bytes are a file of cistern-sweep --resume, which is opened, asked,
 * added to and opened again.
 *
 *   one byte: even for a file as it is, odd for one that begins with the right header; then the
 * file
 */
#include "readers.h"

#include "../../bench/resume.h"

#include <math.h>

const char fuzz_target[] = "resume";

struct reading {
	const char *path;
	struct resume_facts facts;
	struct resume *resume;
	struct plan_point point;
	unsigned round;
	double values[MEASURES];
	bool found;
};

static void open_file(void *arg)
{
	struct reading *r = arg;

	r->resume = resume_open(r->path, &r->facts);
}

static void find(void *arg)
{
	struct reading *r = arg;

	r->found = resume_find(r->resume, &r->point, r->round, r->values);
}

static void add(void *arg)
{
	struct reading *r = arg;

	resume_add(r->resume, &r->point, r->round, r->values);
}

static void close_file(void *arg)
{
	struct reading *r = arg;

	resume_close(r->resume);
}

/* What a file without rows holds. */
static char *fresh_file(struct reading *r, size_t *size)
{
	r->path = reader_file("", 0);
	FUZZ_CHECK(reader_run(open_file, r) && resume_rows(r->resume) == 0);
	FUZZ_CHECK(reader_run(close_file, r) && scope_held() == 0);
	return reader_file_bytes(size);
}

/* A point that no input knows of, since its text has a control character. */
static void make_point(struct reading *r)
{
	size_t a;

	memset(&r->point, 0, sizeof(r->point));
	for (a = 0; a < axes_n; a++)
		snprintf(r->point.at[a], AXIS_TEXT, "\x01%zu", a);
	for (a = 0; a < MEASURES; a++)
		r->values[a] = a % 3 ? 1.0 / (double)(a + 1) : NAN;
}

/* A good file takes a row, and has it when it is opened again, with all its digits. */
static void go_on(struct reading *r)
{
	size_t rows = resume_rows(r->resume), i;

	make_point(r);
	FUZZ_CHECK(reader_run(find, r) && !r->found);
	FUZZ_CHECK(reader_run(add, r) && reader_run(close_file, r) && scope_held() == 0);
	FUZZ_CHECK(reader_run(open_file, r) && resume_rows(r->resume) == rows + 1);
	memset(r->values, 0, sizeof(r->values));
	FUZZ_CHECK(reader_run(find, r) && r->found);
	for (i = 0; i < MEASURES; i++)
		FUZZ_CHECK(i % 3 ? r->values[i] == 1.0 / (double)(i + 1) : isnan(r->values[i]));
	FUZZ_CHECK(reader_run(close_file, r) && scope_held() == 0);
}

/* A bad file is left as it was, but for a last line without an end. */
static void check_untouched(const char *text, size_t size)
{
	size_t now;
	char *bytes = reader_file_bytes(&now);

	FUZZ_CHECK(now == size && memcmp(bytes, text, now) == 0);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes in = {data, data + size};
	struct reading *r = calloc(1, sizeof(*r));
	bool with_header = fuzz_byte(&in) % 2;
	size_t header_size, left = fuzz_left(&in);
	char *header, *text;

	FUZZ_CHECK(r);
	resume_fact(&r->facts, "commit", "0123456789ab");
	resume_fact(&r->facts, "corpus", "0123456789abcdef names");
	header = fresh_file(r, &header_size);
	text = malloc(header_size + left + 1);
	FUZZ_CHECK(text);
	if (!with_header)
		header_size = 0;
	memcpy(text, header, header_size);
	if (left)
		memcpy(text + header_size, in.at, left);
	size = header_size + left;
	r->path = reader_file(text, size);
	if (reader_run(open_file, r))
		go_on(r);
	else
		check_untouched(text, size);
	free(text);
	free(header);
	free(r);
	return 0;
}
