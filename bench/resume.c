/* SPDX-License-Identifier: MIT */
/*
 * resume.c - reads and continues a file of --resume. See resume.h.
 *
 * The columns are those of axes[] and of the measures, so that nothing is to be done here when
 * either grows. The file is locked by a record lock, which children do not inherit: a sweep that
 * was killed leaves none behind.
 */
#include "resume.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

enum { ROW = AXES_MAX * AXIS_TEXT + MEASURES * 32 };

struct resume {
	const char *path;
	int fd;
	char *text; /* what was there, its lines ended by NULs */
	char **rows;
	size_t n;
};

void resume_fact(void *arg, const char *key, const char *text)
{
	struct resume_facts *facts = arg;
	size_t room = sizeof facts->text - facts->used;
	int length = snprintf(facts->text + facts->used, room, "# %s: %s", key, text);
	if (length < 0 || (size_t)length + 2 > room)
		cli_fail("--resume: more facts than there is room for");
	/* One line, whatever a file name holds. */
	for (char *at = facts->text + facts->used; *at; at++)
		*at = *at == '\n' ? ' ' : *at;
	facts->used += (size_t)length;
	facts->text[facts->used++] = '\n';
	facts->text[facts->used] = '\0';
}

/* All that comes before the rows. */
static char *header_of(const struct resume_facts *facts)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	if (!f)
		cli_fail("out of memory");
	fprintf(f, "# cistern-sweep --resume\n%sround", facts->text);
	for (size_t a = 0; a < axes_n; a++)
		fprintf(f, ",%s", axes[a].key);
	for (unsigned m = 0; m < MEASURES; m++)
		fprintf(f, ",%s", measures[m].name);
	putc('\n', f);
	if (fclose(f) != 0)
		cli_fail("out of memory");
	return text;
}

/* The whole file, with a NUL behind it. */
static char *read_all(const struct resume *r, size_t *size)
{
	struct stat info;
	if (fstat(r->fd, &info) != 0)
		cli_fail("%s: %s", r->path, strerror(errno));
	if (!S_ISREG(info.st_mode))
		cli_fail("%s: not a file", r->path);
	char *text = malloc((size_t)info.st_size + 1);
	if (!text)
		cli_fail("out of memory");
	for (*size = 0; *size < (size_t)info.st_size;) {
		ssize_t got = read(r->fd, text + *size, (size_t)info.st_size - *size);
		if (got < 0)
			cli_fail("%s: %s", r->path, strerror(errno));
		if (got == 0)
			break;
		*size += (size_t)got;
	}
	text[*size] = '\0';
	return text;
}

static void write_all(const struct resume *r, const char *text)
{
	for (size_t left = strlen(text); left > 0;) {
		ssize_t done = write(r->fd, text, left);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			cli_fail("%s: cannot be written: %s", r->path, strerror(errno));
		text += done;
		left -= (size_t)done;
	}
}

/* Says how a line of the header differs from what it has to be. */
static _Noreturn void differs(const struct resume *r, size_t line, const char *there,
			      const char *here)
{
	size_t key = strcspn(here, ":");
	if (line == 1)
		cli_fail("%s:1: not a file of --resume", r->path);
	if (*here != '#' || strncmp(there, here, key + 2) != 0) /* colon and blank too */
		cli_fail("%s:%zu: written by another version of this program", r->path, line);
	cli_fail("%s:%zu: of another %.*s: '%.200s' there, '%.200s' here", r->path, line,
		 (int)key - 2, here + 2, there + key + 2, here + key + 2);
}

/* Whether a line of the header is as it has to be. The name of a corpus is for people: its hash in
 * front of that decides. */
static bool same_line(const char *there, const char *here)
{
	static const char corpus[] = "# corpus: 0123456789abcdef";
	if (strncmp(here, corpus, strlen("# corpus: ")) == 0)
		return strncmp(there, here, strlen(corpus)) == 0;
	return strcmp(there, here) == 0;
}

/* Ends the line and returns what follows; NULL where it has no end. */
static char *end_line(char *line)
{
	char *end = strchr(line, '\n');
	if (!end)
		return NULL;
	*end = '\0';
	return end + 1;
}

/* A round, a text for each axis, and a finite number or nothing for each measure. */
static bool row_is_good(const char *row)
{
	size_t commas = 0;
	for (const char *at = row; *at; at++) {
		if (*at != ',' || ++commas <= axes_n || at[1] == ',' || at[1] == '\0')
			continue;
		char *end;
		double value = strtod(at + 1, &end);
		if (end == at + 1 || (*end != ',' && *end != '\0') || !isfinite(value))
			return false;
	}
	return commas == axes_n + MEASURES && *row >= '0' && *row <= '9';
}

/* Checks the header and finds the rows; returns how long the file is without a torn line. */
static size_t read_rows(struct resume *r, size_t size, char *header)
{
	size_t line = 1, room = 0;
	char *at = r->text;
	if (strlen(r->text) != size)
		cli_fail("%s: not a file of --resume: it has NUL bytes", r->path);
	for (char *here = header, *after; *here; here = after, line++) {
		char *next = end_line(at);
		after = end_line(here);
		if (!next || !same_line(at, here))
			differs(r, line, at, here);
		at = next;
	}
	for (char *next; (next = end_line(at)) != NULL; at = next, line++) {
		if (!row_is_good(at))
			cli_fail("%s:%zu: not a row of this sweep", r->path, line);
		if (r->n == room) {
			room = room ? 2 * room : 256;
			r->rows = realloc(r->rows, room * sizeof *r->rows);
			if (!r->rows)
				cli_fail("out of memory");
		}
		r->rows[r->n++] = at;
	}
	return (size_t)(at - r->text);
}

struct resume *resume_open(const char *path, const struct resume_facts *facts)
{
	struct resume *r = calloc(1, sizeof *r);
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	if (!r)
		cli_fail("out of memory");
	r->path = path;
	r->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (r->fd < 0)
		cli_fail("%s: %s", path, strerror(errno));
	if (fcntl(r->fd, F_SETLK, &lock) != 0 && (errno == EAGAIN || errno == EACCES))
		cli_fail("%s: another sweep is writing to it", path);

	char *header = header_of(facts);
	size_t size, whole = 0;
	r->text = read_all(r, &size);
	/* What was killed while it wrote its header has measured nothing. */
	bool fresh = size < strlen(header) && strncmp(r->text, header, size) == 0;
	if (!fresh)
		whole = read_rows(r, size, header);
	if (whole < size && ftruncate(r->fd, (off_t)whole) != 0)
		cli_fail("%s: %s", path, strerror(errno));
	if (fresh)
		write_all(r, header);
	free(header);
	return r;
}

size_t resume_rows(const struct resume *r)
{
	return r->n;
}

/* The part of a row that says what it is of. */
static size_t row_key(char *out, size_t size, const struct plan_point *point, unsigned round)
{
	size_t used = (size_t)snprintf(out, size, "%u,", round);
	for (size_t a = 0; a < axes_n; a++)
		used += (size_t)snprintf(out + used, size - used, "%s,", point->at[a]);
	return used;
}

bool resume_find(const struct resume *r, const struct plan_point *point, unsigned round,
		 double values[MEASURES])
{
	char key[ROW];
	size_t length = row_key(key, sizeof key, point, round);
	for (size_t i = 0; i < r->n; i++) {
		if (strncmp(r->rows[i], key, length) != 0)
			continue;
		const char *at = r->rows[i] + length;
		for (unsigned m = 0; m < MEASURES; m++) {
			values[m] = *at == ',' || *at == '\0' ? NAN : strtod(at, NULL);
			at += strcspn(at, ",");
			at += *at == ',';
		}
		return true;
	}
	return false;
}

void resume_add(struct resume *r, const struct plan_point *point, unsigned round,
		const double values[MEASURES])
{
	char row[ROW];
	size_t used = row_key(row, sizeof row, point, round) - 1;
	for (unsigned m = 0; m < MEASURES; m++)
		used += (size_t)(isnan(values[m]) ? snprintf(row + used, sizeof row - used, ",")
						  : snprintf(row + used, sizeof row - used,
							     ",%.17g", values[m]));
	snprintf(row + used, sizeof row - used, "\n");
	write_all(r, row);
}

void resume_close(struct resume *r)
{
	close(r->fd);
	free(r->rows);
	free(r->text);
	free(r);
}
