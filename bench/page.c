/* SPDX-License-Identifier: MIT */
/*
 * page.c - writes HTML. See page.h.
 *
 * The colours are those of plot.c, as custom properties, so that pictures and text change together.
 * It grows by a function for each kind of thing that a page can hold; what a page says belongs to
 * the bench.
 */
#include "page.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "page_style.h"
#include "plot.h"
#include "svg.h"

struct page {
	FILE *f;
	char *path;
	const struct page_column *columns; /* of the table that is being written */
	size_t ncolumns, cell;
	size_t figures;
	bool section;
};

void page_escape(FILE *out, const char *text)
{
	for (; *text; text++) {
		unsigned char ch = (unsigned char)*text;
		if (ch == '&')
			fputs("&amp;", out);
		else if (ch == '<')
			fputs("&lt;", out);
		else if (ch == '>')
			fputs("&gt;", out);
		else if (ch == '"')
			fputs("&quot;", out);
		else if (ch == '\'')
			fputs("&#39;", out);
		else if (ch < 0x20 && ch != '\n' && ch != '\t')
			fputs("\xEF\xBF\xBD",
			      out); /* not allowed in HTML: the replacement character */
		else
			putc(ch, out);
	}
}

/* Escaped, with code between backquotes. */
static void rich(FILE *out, const char *text)
{
	for (bool code = false; *text; code = !code) {
		size_t length = strcspn(text, "`");
		char *part = strndup(text, length);
		if (!part)
			cli_fail("out of memory");
		fputs(code ? "<code>" : "", out);
		page_escape(out, part);
		fputs(code ? "</code>" : "", out);
		free(part);
		text += length;
		text += *text == '`';
	}
}

/* Escaped, without the backquotes: attributes have no code. */
static void plain(FILE *out, const char *text)
{
	char *copy = strdup(text), *to = copy;
	if (!copy)
		cli_fail("out of memory");
	for (const char *at = copy; *at; at++)
		if (*at != '`')
			*to++ = *at;
	*to = '\0';
	page_escape(out, copy);
	free(copy);
}

static void formatted(FILE *out, const char *format, va_list args)
{
	char text[2048];
	vsnprintf(text, sizeof text, format, args);
	rich(out, text);
}

static void put_colors(FILE *f, bool dark)
{
	for (size_t i = 0; i < PLOT_COLORS; i++)
		fprintf(f, "--%s:#%06x;", plot_colors[i].name,
			dark ? plot_colors[i].dark : plot_colors[i].light);
}

struct page *page_open(const char *path, const char *title, const char *lead)
{
	struct page *p = calloc(1, sizeof *p);
	if (!p || !(p->path = strdup(path)))
		cli_fail("out of memory");
	p->f = fopen(path, "w");
	if (!p->f)
		cli_fail("%s: %s", path, strerror(errno));
	fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
	      p->f);
	page_escape(p->f, title);
	fputs("</title>\n<style>\n:root{color-scheme:light dark;", p->f);
	put_colors(p->f, false);
	fputs("}\n@media (prefers-color-scheme:dark){:root{", p->f);
	put_colors(p->f, true);
	fputs("}}\n", p->f);
	fputs(page_style, p->f);
	fputs("</style>\n</head>\n<body>\n<main>\n<header>\n<h1>", p->f);
	rich(p->f, title);
	fputs("</h1>\n<p class=\"lead\">", p->f);
	rich(p->f, lead);
	fputs("</p>\n</header>\n", p->f);
	return p;
}

void page_close(struct page *p)
{
	fputs(p->section ? "</section>\n</main>\n</body>\n</html>\n"
			 : "</main>\n</body>\n</html>\n",
	      p->f);
	bool failed = ferror(p->f) != 0;
	if (fclose(p->f) != 0 || failed)
		cli_fail("%s: cannot write the page: %s", p->path, strerror(errno));
	free(p->path);
	free(p);
}

void page_contents(struct page *p, const struct page_section *sections, size_t n)
{
	fputs("<nav><ol>\n", p->f);
	for (size_t i = 0; i < n; i++) {
		fprintf(p->f, "<li><a href=\"#%s\">", sections[i].id);
		rich(p->f, sections[i].heading);
		fputs("</a></li>\n", p->f);
	}
	fputs("</ol></nav>\n", p->f);
}

void page_section(struct page *p, const struct page_section *section)
{
	fprintf(p->f, "%s<section id=\"%s\">\n<h2>", p->section ? "</section>\n" : "", section->id);
	rich(p->f, section->heading);
	fputs("</h2>\n", p->f);
	p->section = true;
}

void page_heading(struct page *p, const char *text)
{
	fputs("<h3>", p->f);
	rich(p->f, text);
	fputs("</h3>\n", p->f);
}

void page_paragraph(struct page *p, const char *format, ...)
{
	va_list args;
	fputs("<p>", p->f);
	va_start(args, format);
	formatted(p->f, format, args);
	va_end(args);
	fputs("</p>\n", p->f);
}

void page_box(struct page *p, const char *text)
{
	fputs("<p class=\"box\">", p->f);
	rich(p->f, text);
	fputs("</p>\n", p->f);
}

void page_code(struct page *p, const char *text)
{
	fputs("<pre><code>", p->f);
	page_escape(p->f, text);
	fputs("</code></pre>\n", p->f);
}

void page_tiles_begin(struct page *p)
{
	fputs("<div class=\"tiles\">\n", p->f);
}

void page_tile(struct page *p, const char *name, const char *value, const char *beside)
{
	fputs("<div><span class=\"name\">", p->f);
	rich(p->f, name);
	fputs("</span><span class=\"value\">", p->f);
	rich(p->f, value);
	fputs("</span><span class=\"beside\">", p->f);
	rich(p->f, beside);
	fputs("</span></div>\n", p->f);
}

void page_tiles_end(struct page *p)
{
	fputs("</div>\n", p->f);
}

void page_list_begin(struct page *p)
{
	fputs("<dl>\n", p->f);
}

void page_item(struct page *p, const char *name, const char *text)
{
	fputs("<div><dt>", p->f);
	rich(p->f, name);
	fputs("</dt><dd>", p->f);
	rich(p->f, text);
	fputs("</dd></div>\n", p->f);
}

void page_list_end(struct page *p)
{
	fputs("</dl>\n", p->f);
}

void page_table_begin(struct page *p, const char *caption, const struct page_column *columns,
		      size_t n)
{
	p->columns = columns;
	p->ncolumns = n;
	/* Those who use no mouse scroll what has the focus. */
	/* Not a caption element: that would be as wide as the table and scroll with it. */
	fputs("<p class=\"caption\">", p->f);
	rich(p->f, caption);
	fputs("</p>\n<div class=\"scroll\" tabindex=\"0\">\n<table aria-label=\"", p->f);
	plain(p->f, caption);
	fputs("\">\n<thead><tr>", p->f);
	for (size_t i = 0; i < n; i++) {
		fprintf(p->f, "<th scope=\"col\"%s>", columns[i].number ? " class=\"number\"" : "");
		if (columns[i].part)
			fprintf(p->f, "<i class=\"part-%u\"></i>", columns[i].part);
		rich(p->f, columns[i].name);
		if (columns[i].unit) {
			fputs("<small>", p->f);
			rich(p->f, columns[i].unit);
			fputs("</small>", p->f);
		}
		fputs("</th>", p->f);
	}
	fputs("</tr></thead>\n<tbody>\n", p->f);
}

void page_row_begin(struct page *p, enum page_row kind)
{
	static const char *const rows[] = {[PAGE_PLAIN] = "<tr>",
					   [PAGE_MARKED] = "<tr class=\"marked\">",
					   [PAGE_GREY] = "<tr class=\"grey\">"};
	fputs(rows[kind], p->f);
	p->cell = 0;
}

void page_cell(struct page *p, const char *format, ...)
{
	va_list args;
	bool number = p->cell < p->ncolumns && p->columns[p->cell].number;
	p->cell++;
	fputs(number ? "<td class=\"number\">" : "<td>", p->f);
	va_start(args, format);
	formatted(p->f, format, args);
	va_end(args);
	fputs("</td>", p->f);
}

void page_cell_named(struct page *p, const char *name, const char *beneath)
{
	p->cell++;
	fputs("<td>", p->f);
	rich(p->f, name);
	if (*beneath) {
		fputs("<small>", p->f);
		rich(p->f, beneath);
		fputs("</small>", p->f);
	}
	fputs("</td>", p->f);
}

void page_cell_bar(struct page *p, const double *parts, size_t n)
{
	p->cell++;
	fputs("<td class=\"bar\"><span>", p->f);
	for (size_t i = 0; i < n; i++)
		if (parts[i] > 0.0005)
			fprintf(p->f, "<i class=\"part-%zu\" style=\"width:%.2f%%\"></i>", i + 1,
				100 * parts[i]);
	fputs("</span></td>", p->f);
}

void page_row_end(struct page *p)
{
	fputs("</tr>\n", p->f);
}

void page_table_end(struct page *p)
{
	fputs("</tbody>\n</table>\n</div>\n", p->f);
}

void page_fold_begin(struct page *p, const char *summary)
{
	fputs("<details>\n<summary>", p->f);
	rich(p->f, summary);
	fputs("</summary>\n", p->f);
}

void page_fold_end(struct page *p)
{
	fputs("</details>\n", p->f);
}

void page_figures_begin(struct page *p)
{
	fputs("<div class=\"figures\">\n", p->f);
}

void page_figure(struct page *p, const char *folder, const struct page_picture *parts, size_t n,
		 const char *title, const char *caption, enum page_layout layout)
{
	static const char *const layouts[] = {[PAGE_WIDE] = "wide",
					      [PAGE_PAIRS] = "wide pairs",
					      [PAGE_THREE_TO_TWO] = "wide three-to-two",
					      [PAGE_THIRD] = "third"};
	fprintf(p->f, "<figure class=\"%s\">\n<div class=\"parts\">\n", layouts[layout]);
	for (size_t i = 0; i < n; i++) {
		char path[4096], prefix[32], label[512];
		snprintf(path, sizeof path, "%s/%s.svg", folder, parts[i].file);
		snprintf(prefix, sizeof prefix, "f%zu-", ++p->figures);
		snprintf(label, sizeof label, "%s%s%s", title, *parts[i].panel ? ": " : "",
			 parts[i].panel);
		if (!svg_inline(p->f, path, prefix, label))
			fputs("<p>This picture could not be drawn: gnuplot is missing.</p>\n",
			      p->f);
	}
	fputs("</div>\n<figcaption><b>", p->f);
	rich(p->f, title);
	fputs(*caption ? ".</b> " : "</b>", p->f);
	rich(p->f, caption);
	fputs("</figcaption>\n</figure>\n", p->f);
}

void page_figures_end(struct page *p)
{
	fputs("</div>\n", p->f);
}
