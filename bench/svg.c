/* SPDX-License-Identifier: MIT */
/*
 * svg.c - rewrites the SVG of gnuplot for a page. See svg.h.
 *
 * It is no XML parser: it knows what gnuplot 5 and 6 write, attribute by attribute, and leaves
 * alone what it does not know. Text was escaped by gnuplot.
 */
#include "svg.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "page.h"
#include "plot.h"

static char *read_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	size_t room = 1 << 16, used = 0, got;
	if (!f)
		return NULL;
	char *text = malloc(room);
	while (text && (got = fread(text + used, 1, room - used - 1, f)) > 0) {
		used += got;
		if (room - used < 2)
			text = realloc(text, room *= 2);
	}
	if (!text)
		cli_fail("out of memory");
	text[used] = '\0';
	fclose(f);
	return text;
}

/* An element that is dropped with all it holds; NULL where at begins none. */
static const char *behind_dropped(const char *at)
{
	static const char *const dropped[] = {"title", "desc", "filter", "script", NULL};
	for (size_t i = 0; dropped[i]; i++) {
		size_t length = strlen(dropped[i]);
		char end[16];
		if (strncmp(at + 1, dropped[i], length) != 0 ||
		    (at[1 + length] != '>' && at[1 + length] != ' '))
			continue;
		snprintf(end, sizeof end, "</%s>", dropped[i]);
		const char *close = strstr(at, end);
		return close ? close + strlen(end) : NULL;
	}
	return NULL;
}

/* Reads "rgb( 1, 22,333)", "#0A0B0C" or "black"; returns what is behind it, or NULL. */
static const char *read_color(const char *at, unsigned *color)
{
	unsigned r, g, b;
	int length = 0;
	if (sscanf(at, "rgb(%u ,%u ,%u )%n", &r, &g, &b, &length) == 3 && length > 0) {
		*color = r << 16 | g << 8 | b;
		return at + length;
	}
	if (*at == '#' && strspn(at + 1, "0123456789abcdefABCDEF") == 6) {
		*color = (unsigned)strtoul(at + 1, NULL, 16);
		return at + 7;
	}
	if (strncmp(at, "black", 5) == 0 && !isalnum((unsigned char)at[5])) {
		*color = plot_colors[PLOT_INK].light;
		return at + 5;
	}
	return NULL;
}

/* The value of an attribute: a colour, or a reference inside the picture. */
static void put_value(FILE *out, const char *at, const char *end, const char *prefix)
{
	while (at < end) {
		unsigned color;
		const char *behind = read_color(at, &color);
		size_t i = 0;
		while (behind && i < PLOT_COLORS && plot_colors[i].light != color)
			i++;
		if (behind && i < PLOT_COLORS) {
			fprintf(out, "var(--%s)", plot_colors[i].name);
			at = behind;
		} else if (strncmp(at, "url(#", 5) == 0) {
			fprintf(out, "url(#%s", prefix);
			at += 5;
		} else {
			putc(*at++, out);
		}
	}
}

/* One tag, from its < on; returns what is behind its >. */
static const char *put_tag(FILE *out, const char *at, const char *prefix)
{
	while (*at && *at != '>') {
		if (!isspace((unsigned char)*at)) {
			putc(*at++, out);
			continue;
		}
		putc(' ', out);
		at += strspn(at, " \t\r\n");
		const char *name = at;
		size_t length = strcspn(at, "= \t\r\n>");
		const char *value = at + length + strspn(at + length, " \t\r\n");
		if (*value != '=')
			continue;
		value += 1 + strspn(value + 1, " \t\r\n");
		const char *end = *value ? strchr(value + 1, *value) : NULL;
		if (!end)
			continue;
		bool reference = length == 10 && strncmp(name, "xlink:href", 10) == 0;
		bool id = length == 2 && strncmp(name, "id", 2) == 0;
		if (reference)
			fprintf(out, "href=%c#%s", *value, prefix);
		else
			fprintf(out, "%.*s=%c%s", (int)length, name, *value, id ? prefix : "");
		value += reference && value[1] == '#';
		put_value(out, value + 1, end, prefix);
		putc(*end, out);
		at = end + 1;
	}
	if (*at)
		putc(*at++, out);
	return at;
}

bool svg_inline(FILE *out, const char *path, const char *prefix, const char *label)
{
	char *text = read_file(path);
	const char *at = text ? strstr(text, "<svg") : NULL;
	const char *end = at ? strstr(at, "</svg>") : NULL;
	const char *box = at ? strstr(at, "viewBox=\"") : NULL;
	at = at ? strchr(at, '>') : NULL;
	if (!end || !box || box > at) {
		free(text);
		return false;
	}
	box += strlen("viewBox=\"");
	/* Hardly larger than it was drawn, so that its text is about as large as the page's. */
	double width = 0;
	sscanf(box, "%*f %*f %lf", &width);
	fprintf(out, "<svg viewBox=\"%.*s\" style=\"max-width:%.0fpx\" role=\"img\" aria-label=\"",
		(int)strcspn(box, "\""), box, 1.15 * width);
	page_escape(out, label);
	fputs("\">", out);
	for (at++; at < end;) {
		const char *behind = *at == '<' ? behind_dropped(at) : NULL;
		if (behind)
			at = behind;
		else if (*at == '<')
			at = put_tag(out, at, prefix);
		else if (isspace((unsigned char)*at) && isspace((unsigned char)at[1]))
			at++; /* a third of what gnuplot writes */
		else
			putc(*at++, out);
	}
	fputs("</svg>\n", out);
	free(text);
	return true;
}
