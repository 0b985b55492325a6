/* SPDX-License-Identifier: MIT */
/*
 * validate.c - says what is wrong with JSON or CSV on standard input; says nothing where all is
 *right.
 *
 *	validate json        one JSON value and white space
 *	validate csv COLUMN...   rows as wide as the header, numbers where the header's columns are
 *                           named; lines that begin with # are comments
 *
 * Strict and small, so that the tests of the benches need no other program.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[1 << 22];
static const char *at;
static unsigned depth;

static bool value(void);

static void blank(void)
{
	at += strspn(at, " \t\r\n");
}

static bool take(char ch)
{
	blank();
	if (*at != ch)
		return false;
	at++;
	return true;
}

static bool digits(void)
{
	size_t n = strspn(at, "0123456789");
	at += n;
	return n > 0;
}

static bool number(void)
{
	at += *at == '-';
	if (*at == '0')
		at++;
	else if (!digits())
		return false;
	if (*at == '.') {
		at++;
		if (!digits())
			return false;
	}
	if (*at == 'e' || *at == 'E') {
		at++;
		at += *at == '+' || *at == '-';
		return digits();
	}
	return true;
}

static bool string(void)
{
	if (!take('"'))
		return false;
	for (; *at != '"'; at++) {
		if ((unsigned char)*at < 0x20)
			return false; /* the end, too */
		if (*at != '\\')
			continue;
		at++;
		if (*at == 'u') {
			if (strspn(at + 1, "0123456789abcdefABCDEF") < 4)
				return false;
			at += 4;
		} else if (!*at || !strchr("\"\\/bfnrt", *at)) {
			return false;
		}
	}
	at++;
	return true;
}

static bool members(char end, bool named)
{
	if (take(end))
		return true;
	do {
		if (named && !(string() && take(':')))
			return false;
		if (!value())
			return false;
	} while (take(','));
	return take(end);
}

static bool value(void)
{
	bool good;
	if (++depth > 100)
		return false;
	blank();
	if (*at == '{' || *at == '[') {
		bool named = *at++ == '{';
		good = members(named ? '}' : ']', named);
	} else if (*at == '"') {
		good = string();
	} else if (strncmp(at, "true", 4) == 0 || strncmp(at, "null", 4) == 0) {
		at += 4;
		good = true;
	} else if (strncmp(at, "false", 5) == 0) {
		at += 5;
		good = true;
	} else {
		good = number();
	}
	depth--;
	return good;
}

/* Cells end at commas; the benches quote none that these tests ask for. */
static unsigned cells(char *line, char **out, unsigned room)
{
	unsigned n = 0;
	for (char *cell = line; cell; n++) {
		char *comma = strchr(cell, ',');
		if (comma)
			*comma++ = '\0';
		if (n < room)
			out[n] = cell;
		cell = comma;
	}
	return n;
}

static int csv(int columns, char **names)
{
	enum { ROOM = 128 };
	char *header[ROOM], *row[ROOM];
	unsigned width = 0, rows = 0;
	for (char *line = text, *next; line && *line; line = next) {
		next = strchr(line, '\n');
		if (!next)
			return puts("the last line has no end"), 1;
		*next++ = '\0';
		if (*line == '#')
			continue;
		if (width == 0) {
			width = cells(line, header, ROOM);
			continue;
		}
		unsigned n = cells(line, row, ROOM);
		rows++;
		if (n != width || n > ROOM)
			return printf("row %u has %u cells, the header %u\n", rows, n, width), 1;
		for (int k = 0; k < columns; k++) {
			unsigned c = 0;
			while (c < width && strcmp(header[c], names[k]) != 0)
				c++;
			if (c == width)
				return printf("no column %s\n", names[k]), 1;
			char *end;
			if (strtod(row[c], &end) <= 0 || *end)
				return printf("row %u: %s is '%s'\n", rows, names[k], row[c]), 1;
		}
	}
	if (rows == 0)
		return puts("no rows"), 1;
	return 0;
}

int main(int argc, char **argv)
{
	size_t n = fread(text, 1, sizeof text - 1, stdin);
	text[n] = '\0';
	if (argc >= 2 && strcmp(argv[1], "csv") == 0)
		return csv(argc - 2, argv + 2);
	at = text;
	if (value() && (blank(), *at == '\0') && strlen(text) == n)
		return 0;
	printf("not JSON from byte %td on: %.40s\n", at - text, at);
	return 1;
}
