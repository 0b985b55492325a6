/* SPDX-License-Identifier: MIT */
/*
 * load.c - loading the symbols of ELF files. See load.h.
 *
 * All of it runs in the child that harness_child makes. A symbol has its place in the vector of its
 * file before names are interned, so that chunks of one file can be read by several threads without
 * a lock; unnamed symbols leave holes, which the last step closes.
 *
 * What is verified, after everything was timed: each symbol and each string has the bytes of the
 * file and a NUL; the pointers, sorted, are as many as there are distinct strings, so that no
 * string has two; the engine counts as many; vectors are sorted; the index finds every name.
 */
#include "load.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "elf_file.h"
#include "engine_check.h"

/* What a thread takes at a time: symbols, and bytes of strings for each symbol. */
enum { CHUNK = 4096, CHUNK_BYTES = 32 };

struct symbol {
	uint64_t address, size;
	const char *name;
	uint64_t ordinal; /* its place in the file, as debuggers keep it */
};

struct module {
	struct elf_file file;
	struct symbol *symbols;
	size_t n; /* places, and in the end symbols */
	/* From a name to a symbol that has it: open addressing by the pointer, numbers + 1. */
	uint32_t *index;
	size_t mask;
};

struct chunk {
	struct module *module;
	const struct elf_table *table;     /* symbols from..to of it, or */
	const struct elf_strings *strings; /* strings that begin at bytes from..to */
	size_t from, to;
	size_t base;        /* place of the table's first symbol in the module's vector */
	const char **names; /* of the strings */
	size_t n;
};

struct loading {
	const struct load *l;
	void *engine;
	struct module *modules;
	struct chunk *chunks;
	size_t nchunks;
	/* Relaxed, both: threads are started and joined around each step. */
	atomic_size_t next;  /* file or chunk to take */
	atomic_bool refused; /* a string could not be interned */
};

static void *allocate(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);
	if (!p)
		cli_fail("out of memory");
	return p;
}

static size_t take(struct loading *g)
{
	return atomic_fetch_add_explicit(&g->next, 1, memory_order_relaxed);
}

/* ---- the three steps */

static void open_thread(unsigned thread, void *arg)
{
	struct loading *g = arg;
	(void)thread;
	for (size_t i; (i = take(g)) < g->l->npaths;) {
		struct module *m = &g->modules[i];
		elf_file_open(&m->file, g->l->paths[i], true);
		for (size_t t = 0; t < m->file.ntables; t++)
			m->n += m->file.tables[t].count;
		m->symbols = allocate(m->n, sizeof *m->symbols);
	}
}

/* Cuts [0, end) into chunks like c. With chunks == NULL they are counted only. */
static size_t cut(struct chunk *chunks, struct chunk c, size_t end, size_t step)
{
	size_t n = 0;
	for (size_t from = 0; from < end; from += step, n++) {
		c.from = from;
		c.to = end - from < step ? end : from + step;
		if (chunks)
			chunks[n] = c;
	}
	return n;
}

static size_t list_chunks(const struct loading *g, struct chunk *chunks)
{
	size_t n = 0, size = g->l->chunk ? g->l->chunk : CHUNK;
	for (size_t i = 0; i < g->l->npaths; i++) {
		struct chunk c = {.module = &g->modules[i]};
		const struct elf_file *f = &g->modules[i].file;
		for (size_t t = 0; t < f->ntables; t++) {
			c.table = &f->tables[t];
			n += cut(chunks ? chunks + n : NULL, c, c.table->count, size);
			c.base += c.table->count;
		}
		c.table = NULL;
		for (size_t t = 0; t < f->nstrings; t++) {
			c.strings = &f->strings[t];
			n +=
			    cut(chunks ? chunks + n : NULL, c, c.strings->size, size * CHUNK_BYTES);
		}
	}
	return n;
}

static const char *intern(struct loading *g, const char *s, size_t len)
{
	cistern_span span = {s, len};
	struct engine_sum sum = g->l->engine->intern(g->engine, &span, 1, NULL);
	if (!sum.found)
		atomic_store_explicit(&g->refused, true, memory_order_relaxed);
	return (const char *)(uintptr_t)sum.pointers;
}

static void read_symbols(struct loading *g, struct chunk *c)
{
	struct symbol *out = c->module->symbols + c->base;
	for (size_t i = c->from; i < c->to; i++) {
		struct elf_symbol symbol;
		elf_file_symbol(&c->module->file, c->table, i, &symbol);
		if (symbol.len == 0)
			continue;
		out[i] = (struct symbol){symbol.address, symbol.size,
					 intern(g, symbol.name, symbol.len), c->base + i};
	}
}

/* The first string that begins in a chunk, or its end. */
static const char *first_string(const struct chunk *c)
{
	const char *data = c->strings->data;
	if (c->from == 0)
		return data;
	/* Behind the NUL of the one that comes before; the section ends with a NUL. */
	const char *end = memchr(data + c->from - 1, '\0', c->strings->size - c->from + 1);
	return end + 1;
}

static void read_strings(struct loading *g, struct chunk *c)
{
	const char *end = c->strings->data + c->to;
	size_t room = 0;
	for (const char *s = first_string(c); s < end;) {
		size_t len = strlen(s);
		if (len && c->n == room) {
			room = room ? 2 * room : 1024;
			c->names = realloc(c->names, room * sizeof *c->names);
			if (!c->names)
				cli_fail("out of memory");
		}
		if (len)
			c->names[c->n++] = intern(g, s, len);
		s += len + 1;
	}
}

static void read_thread(unsigned thread, void *arg)
{
	struct loading *g = arg;
	(void)thread;
	for (size_t i; (i = take(g)) < g->nchunks;) {
		if (g->chunks[i].table)
			read_symbols(g, &g->chunks[i]);
		else
			read_strings(g, &g->chunks[i]);
	}
}

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;
	if (x->address != y->address)
		return x->address > y->address ? 1 : -1;
	return (x->ordinal > y->ordinal) - (x->ordinal < y->ordinal);
}

/* The slot of a name, or the empty one where it belongs. That names can be told apart by their
 * pointers is what they are interned for. */
static uint32_t *index_slot(const struct module *m, const char *name)
{
	uint64_t hash = (uint64_t)(uintptr_t)name * UINT64_C(0x9E3779B97F4A7C15);
	size_t at = (size_t)(hash >> 32) & m->mask;
	while (m->index[at] && m->symbols[m->index[at] - 1].name != name)
		at = (at + 1) & m->mask;
	return &m->index[at];
}

static void finish_module(struct module *m)
{
	size_t n = 0;
	for (size_t i = 0; i < m->n; i++)
		if (m->symbols[i].name)
			m->symbols[n++] = m->symbols[i];
	m->n = n;
	qsort(m->symbols, n, sizeof *m->symbols, by_address);
	m->mask = 1;
	while (m->mask < 2 * n)
		m->mask *= 2;
	m->index = allocate(m->mask, sizeof *m->index);
	m->mask -= 1;
	for (size_t i = 0; i < n; i++) {
		uint32_t *slot = index_slot(m, m->symbols[i].name);
		if (!*slot)
			*slot = (uint32_t)i + 1;
	}
}

static void finish_thread(unsigned thread, void *arg)
{
	struct loading *g = arg;
	(void)thread;
	for (size_t i; (i = take(g)) < g->l->npaths;)
		finish_module(&g->modules[i]);
}

/* ---- verifying */

static int by_pointer(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;
	return (*x > *y) - (*x < *y);
}

/* Where pointers of checked names are gathered. */
struct gathered {
	const char *engine;
	const char **names;
	size_t n;
};

static void check_name(struct gathered *all, const char *name, const char *s, size_t len)
{
	if (!name || memcmp(name, s, len) != 0 || name[len] != '\0')
		cli_fail("%s: wrong answer: '%.80s' came back with other bytes", all->engine, s);
	all->names[all->n++] = name;
}

static void check_module(const struct module *m, struct gathered *all)
{
	size_t places = 0, base = 0;
	for (size_t t = 0; t < m->file.ntables; t++)
		places += m->file.tables[t].count;
	const char **names = harness_pages(places * sizeof *names);
	for (size_t i = 0; i < m->n; i++) {
		const struct symbol *s = &m->symbols[i];
		names[s->ordinal] = s->name;
		if (i && by_address(s - 1, s) >= 0)
			cli_fail("%s: the symbols of %s are out of order", all->engine,
				 m->file.path);
		uint32_t slot = *index_slot(m, s->name);
		if (slot == 0 || m->symbols[slot - 1].name != s->name)
			cli_fail("%s: the index of %s lacks a name", all->engine, m->file.path);
	}
	for (size_t t = 0; t < m->file.ntables; t++) {
		for (size_t i = 0; i < m->file.tables[t].count; i++) {
			struct elf_symbol symbol;
			elf_file_symbol(&m->file, &m->file.tables[t], i, &symbol);
			if (symbol.len)
				check_name(all, names[base + i], symbol.name, symbol.len);
		}
		base += m->file.tables[t].count;
	}
	harness_pages_free(names, places * sizeof *names);
}

static void check_strings(const struct chunk *c, struct gathered *all)
{
	size_t k = 0;
	for (const char *s = first_string(c); s < c->strings->data + c->to; s += strlen(s) + 1)
		if (*s)
			check_name(all, c->names[k++], s, strlen(s));
}

static void verify(const struct loading *g)
{
	struct gathered all = {.engine = g->l->engine->name};
	size_t most = 0, different = 0;
	for (size_t i = 0; i < g->l->npaths; i++)
		most += g->modules[i].n;
	for (size_t i = 0; i < g->nchunks; i++)
		most += g->chunks[i].n;
	all.names = harness_pages(most * sizeof *all.names);
	for (size_t i = 0; i < g->l->npaths; i++)
		check_module(&g->modules[i], &all);
	for (size_t i = 0; i < g->nchunks; i++)
		if (g->chunks[i].strings)
			check_strings(&g->chunks[i], &all);
	if (all.n != g->l->strings)
		cli_fail("%s: %zu strings were read of %" PRIu64, all.engine, all.n, g->l->strings);
	if (g->l->engine == &engine_nothing)
		return;

	qsort(all.names, all.n, sizeof *all.names, by_pointer);
	for (size_t i = 0; i < all.n; i++)
		different += i == 0 || all.names[i] != all.names[i - 1];
	if (different != g->l->distinct)
		cli_fail("%s: wrong answer: %zu pointers for %" PRIu64 " distinct strings",
			 all.engine, different, g->l->distinct);
	engine_expect_count(g->l->engine, g->engine, g->l->distinct, NULL);
	harness_pages_free(all.names, most * sizeof *all.names);
}

/* ---- one process */

static double step(struct loading *g, void (*fn)(unsigned, void *))
{
	atomic_store_explicit(&g->next, 0, memory_order_relaxed);
	double ms = (double)harness_threads(g->l->threads, fn, g) / 1e6;
	if (atomic_load_explicit(&g->refused, memory_order_relaxed))
		cli_fail("%s: a string could not be interned", g->l->engine->name);
	return ms;
}

static void measure(void *arg, void *out)
{
	const struct load *l = arg;
	struct load_result *result = out;
	struct loading g = {.l = l};

	g.modules = allocate(l->npaths, sizeof *g.modules);
	harness_threads_leave(l->threads);
	harness_memory_read(&result->before);
	g.engine = engine_make(l->engine, &l->config);

	result->open_ms = step(&g, open_thread);
	uint64_t start = harness_clock_now();
	g.nchunks = list_chunks(&g, NULL);
	g.chunks = allocate(g.nchunks, sizeof *g.chunks);
	list_chunks(&g, g.chunks);
	result->open_ms += (double)(harness_clock_now() - start) / 1e6;
	result->read_ms = step(&g, read_thread);
	result->finish_ms = step(&g, finish_thread);
	harness_memory_read(&result->after);
	verify(&g);
}

bool load_run(const struct load *l, struct load_result *result)
{
	memset(result, 0, sizeof *result);
	harness_warm(4 * l->bytes);
	return harness_child(measure, (void *)(uintptr_t)l, result, sizeof *result);
}

/* ---- what there is to load */

static int by_bytes(const void *a, const void *b)
{
	const cistern_span *x = a, *y = b;
	int order = memcmp(x->data, y->data, x->len < y->len ? x->len : y->len);
	return order ? order : (x->len > y->len) - (x->len < y->len);
}

static uint64_t count_distinct(const struct corpus *c)
{
	cistern_span *sorted = harness_pages(c->n * sizeof *sorted);
	uint64_t n = 0;
	memcpy(sorted, c->all, c->n * sizeof *sorted);
	qsort(sorted, c->n, sizeof *sorted, by_bytes);
	for (size_t i = 0; i < c->n; i++)
		n += i == 0 || by_bytes(&sorted[i - 1], &sorted[i]) != 0;
	harness_pages_free(sorted, c->n * sizeof *sorted);
	return n;
}

uint64_t load_survey(const char *const *paths, size_t npaths, struct corpus *c,
		     uint64_t *debug_strings)
{
	corpus_open(c);
	*debug_strings = 0;
	for (size_t i = 0; i < npaths; i++) {
		struct elf_file f;
		elf_file_open(&f, paths[i], true);
		for (size_t t = 0; t < f.ntables; t++) {
			for (size_t k = 0; k < f.tables[t].count; k++) {
				struct elf_symbol symbol;
				elf_file_symbol(&f, &f.tables[t], k, &symbol);
				if (symbol.len)
					corpus_add(c, symbol.name, symbol.len);
			}
		}
		for (size_t t = 0; t < f.nstrings; t++) {
			const char *end = f.strings[t].data + f.strings[t].size;
			for (const char *s = f.strings[t].data; s < end; s += strlen(s) + 1) {
				if (!*s)
					continue;
				corpus_add(c, s, strlen(s));
				++*debug_strings;
			}
		}
		elf_file_close(&f);
	}
	if (c->n == 0)
		cli_fail("%s%s: no symbols and no strings", paths[0],
			 npaths > 1 ? " and the others" : "");
	corpus_seal(c);
	return count_distinct(c);
}
