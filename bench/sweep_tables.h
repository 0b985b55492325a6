/* SPDX-License-Identifier: MIT */
/*
 * sweep_tables.h - the tables on the page of a sweep, and what they share with the rest of it.
 */
#ifndef BENCH_SWEEP_TABLES_H
#define BENCH_SWEEP_TABLES_H

#include "page.h"
#include "sweep_page.h"

/* The most threads that settings are compared with. */
unsigned tables_threads(const struct plan *plan);

/* NaN where there is no such point (SIZE_MAX), or it has no such figure. */
double tables_median(const struct results *r, size_t point, unsigned measure);

/* A figure, and the two quartiles of so many rounds; a dash where there is none. */
void tables_cell(struct page *p, double value, int digits);
void tables_cell_bytes(struct page *p, double bytes);
void tables_cell_quartiles(struct page *p, const struct harness_spread *s, unsigned rounds);

/* Each knob by itself; where the memory is; engines with their defaults; every point. */
void tables_knobs(struct page *p, const struct sweep_page *s);
void tables_memory(struct page *p, const struct sweep_page *s);
void tables_engines(struct page *p, const struct sweep_page *s);
void tables_all(struct page *p, const struct sweep_page *s);

#endif /* BENCH_SWEEP_TABLES_H */
