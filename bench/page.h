/* SPDX-License-Identifier: MIT */
/*
 * page.h - a self-contained HTML page: no scripts, nothing from elsewhere, light or dark as the
 * reader has it.
 *
 * All text is escaped. In headings, paragraphs and captions, what stands between two backquotes is
 * set as code.
 */
#ifndef BENCH_PAGE_H
#define BENCH_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "cistern.h"

struct page;

/* Text as HTML has it, in elements and in quoted attributes. */
void page_escape(FILE *out, const char *text);

/* Makes the file, or ends the program. lead is the paragraph under the title. */
struct page *page_open(const char *path, const char *title, const char *lead);
void page_close(struct page *p);

/* A section with a heading, and an anchor by which the list at the top reaches it. */
struct page_section {
	const char *id, *heading;
};
void page_contents(struct page *p, const struct page_section *sections, size_t n);
void page_section(struct page *p, const struct page_section *section);

void page_heading(struct page *p, const char *text);
void page_paragraph(struct page *p, const char *format, ...) CISTERN_PRINTF(2, 3);
/* A box that stands out: what a reader has to know first. */
void page_box(struct page *p, const char *text);
void page_code(struct page *p, const char *text);

/* Some figures that stand out: page_tile between the two others. */
void page_tiles_begin(struct page *p);
void page_tile(struct page *p, const char *name, const char *value, const char *beside);
void page_tiles_end(struct page *p);

/* Names and what they stand for. */
void page_list_begin(struct page *p);
void page_item(struct page *p, const char *name, const char *text);
void page_list_end(struct page *p);

/* A table that scrolls by itself where it is wide. A unit stands under its column's name. */
struct page_column {
	const char *name, *unit;
	bool number;   /* to the right */
	unsigned part; /* the part of a bar that it is the figure of, from 1 on; 0: none */
};
void page_table_begin(struct page *p, const char *caption, const struct page_column *columns,
		      size_t n);
enum page_row { PAGE_PLAIN, PAGE_MARKED, PAGE_GREY };
void page_row_begin(struct page *p, enum page_row kind);
void page_cell(struct page *p, const char *format, ...) CISTERN_PRINTF(2, 3);
void page_cell_named(struct page *p, const char *name,
		     const char *beneath); /* a name, and small text under it */
void page_cell_bar(struct page *p, const double *parts, size_t n); /* parts of a whole of 1 */
void page_row_end(struct page *p);
void page_table_end(struct page *p);

/* What is out of the way until someone opens it. */
void page_fold_begin(struct page *p, const char *summary);
void page_fold_end(struct page *p);

/* How the parts of a figure stand: one over the whole width, two and two, a wide one and a small
 * one, or one of three figures beside each other. Where there is no room, beneath each other. */
enum page_layout { PAGE_WIDE, PAGE_PAIRS, PAGE_THREE_TO_TWO, PAGE_THIRD };

struct page_picture {
	char file[160]; /* in the folder, without ending */
	char panel[64]; /* what it is among the parts of its figure; may be empty */
};

/* Pictures of a folder, drawn into the page. */
void page_figures_begin(struct page *p);
void page_figure(struct page *p, const char *folder, const struct page_picture *parts, size_t n,
		 const char *title, const char *caption, enum page_layout layout);
void page_figures_end(struct page *p);

#endif /* BENCH_PAGE_H */
