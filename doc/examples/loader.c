/* SPDX-License-Identifier: MIT */
/*
 * loader.c - interns the symbol names of an ELF file with several threads.
 *
 *   loader FILE [THREADS]
 *
 * The main thread opens the file and finds its symbol table: .symtab, or .dynsym where the file is
 * stripped. The workers take symbols in groups of BATCH, intern the names of a group by one call,
 * and note the interned pointer of each symbol. In the end the main thread prints how many there
 * were.
 *
 * Exits with 0, with 1 after a line on stderr when the file is no good or memory runs out, with 2
 * when the command line is wrong.
 */
#include <cistern.h>

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BATCH       256
#define THREADS_MAX 64
#define BAD_NAME    (-1) /* beside errno numbers */

struct load {
	/* set before the workers start */
	const char *file;
	int fd;
	Elf *elf;
	cistern *names;
	const char *kind; /* ".symtab" or ".dynsym" */
	Elf_Data *symbols;
	const char *strings; /* the string table, which ends with a NUL */
	size_t strings_size;
	size_t count;
	const char **name; /* count entries: each worker writes those of its groups */

	atomic_size_t next; /* first symbol that no worker has taken */
};

struct worker {
	pthread_t thread;
	struct load *load;
	size_t named; /* symbols with a name */
	int error;    /* errno of what stopped it, or BAD_NAME, or 0 */
};

static void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("loader: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(1);
}

static const char *explain(int error)
{
	return error == BAD_NAME ? "a symbol's name lies outside of the string table"
				 : strerror(error);
}

/* The name of a symbol, of length 0 where it has none. False when the file is broken. */
static bool symbol_name(const struct load *load, size_t i, cistern_span *name)
{
	GElf_Sym symbol;

	if (!gelf_getsym(load->symbols, (int)i, &symbol) || symbol.st_name >= load->strings_size)
		return false;
	name->data = load->strings + symbol.st_name;
	name->len = strlen(name->data);
	return true;
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	struct load *load = worker->load;
	cistern_span in[BATCH];
	const char *out[BATCH];
	size_t symbol[BATCH]; /* where out[i] belongs */

	for (;;) {
		size_t first = atomic_fetch_add_explicit(&load->next, BATCH, memory_order_relaxed);
		size_t n = 0;

		if (first >= load->count)
			return NULL;
		for (size_t i = first; i < first + BATCH && i < load->count; i++) {
			if (!symbol_name(load, i, &in[n])) {
				worker->error = BAD_NAME;
				return NULL;
			}
			if (in[n].len > 0)
				symbol[n++] = i;
		}
		if (cistern_intern_batch(load->names, in, out, n) < n) {
			worker->error = errno;
			return NULL;
		}
		for (size_t i = 0; i < n; i++)
			load->name[symbol[i]] = out[i];
		worker->named += n;
	}
}

static void close_file(struct load *load)
{
	elf_end(load->elf);
	close(load->fd);
}

static void refuse(struct load *load, const char *why)
{
	close_file(load);
	fail("%s: %s", load->file, why);
}

/* Notes the symbol table in a section, unless there is a better one. NULL, or what is wrong. */
static const char *use_section(struct load *load, Elf_Scn *section)
{
	GElf_Shdr header;
	Elf_Data *symbols, *strings;

	if (!gelf_getshdr(section, &header))
		return elf_errmsg(-1);
	if (header.sh_type != SHT_SYMTAB && (header.sh_type != SHT_DYNSYM || load->symbols))
		return NULL;
	symbols = elf_getdata(section, NULL);
	strings = elf_getdata(elf_getscn(load->elf, header.sh_link), NULL);
	if (!symbols || !strings)
		return elf_errmsg(-1);
	/* Names are read up to their NUL, so the table has to end with one. */
	if (!symbols->d_buf || !strings->d_buf || strings->d_size == 0 ||
	    ((const char *)strings->d_buf)[strings->d_size - 1] != '\0')
		return "damaged symbol table";
	load->kind = header.sh_type == SHT_SYMTAB ? ".symtab" : ".dynsym";
	load->symbols = symbols;
	load->strings = strings->d_buf;
	load->strings_size = strings->d_size;
	load->count = symbols->d_size / gelf_fsize(load->elf, ELF_T_SYM, 1, EV_CURRENT);
	return NULL;
}

static void open_file(struct load *load)
{
	Elf_Scn *section = NULL;

	load->fd = open(load->file, O_RDONLY);
	if (load->fd < 0)
		fail("%s: %s", load->file, strerror(errno));
	elf_version(EV_CURRENT);
	load->elf = elf_begin(load->fd, ELF_C_READ, NULL);
	if (!load->elf || elf_kind(load->elf) != ELF_K_ELF)
		refuse(load, "not an ELF file");
	while ((section = elf_nextscn(load->elf, section))) {
		const char *wrong = use_section(load, section);

		if (wrong)
			refuse(load, wrong);
	}
	if (!load->symbols)
		refuse(load, "no symbol table");
	if (load->count > INT_MAX)
		refuse(load, "more symbols than libelf can number");
}

/* Returns the number of symbols that have a name. */
static size_t run_workers(struct load *load, unsigned threads)
{
	struct worker workers[THREADS_MAX];
	size_t named = 0;

	for (unsigned i = 0; i < threads; i++) {
		int error;

		workers[i] = (struct worker){.load = load};
		error = pthread_create(&workers[i].thread, NULL, work, &workers[i]);
		if (error)
			fail("thread %u: %s", i + 1, strerror(error));
	}
	for (unsigned i = 0; i < threads; i++) {
		pthread_join(workers[i].thread, NULL);
		if (workers[i].error)
			fail("%s: %s", load->file, explain(workers[i].error));
		named += workers[i].named;
	}
	return named;
}

/* 1 to THREADS_MAX, or 0 when the text says something else. */
static unsigned parse_threads(const char *text)
{
	char *end;
	long threads;

	errno = 0;
	threads = strtol(text, &end, 10);
	if (errno || end == text || *end || threads < 1 || threads > THREADS_MAX)
		return 0;
	return (unsigned)threads;
}

int main(int argc, char **argv)
{
	struct load load = {.file = argc > 1 ? argv[1] : NULL};
	unsigned threads = argc > 2 ? parse_threads(argv[2]) : 2;
	cistern_stats stats = {.size = sizeof(stats)};
	size_t named;

	if (argc < 2 || argc > 3 || threads == 0) {
		fprintf(stderr, "usage: loader FILE [THREADS, 1 to %d]\n", THREADS_MAX);
		return 2;
	}
	open_file(&load);
	load.names = cistern_create(NULL);
	load.name = calloc(load.count ? load.count : 1, sizeof(load.name[0]));
	if (!load.names || !load.name)
		fail("%s", strerror(errno));

	named = run_workers(&load, threads);
	if (cistern_stats_get(load.names, &stats) != 0)
		fail("%s", strerror(errno));
	printf("%s %s: %zu symbols, %zu names, %llu distinct, %llu bytes\n", load.file, load.kind,
	       load.count, named, (unsigned long long)stats.strings,
	       (unsigned long long)stats.payload_bytes);

	free(load.name);
	cistern_destroy(load.names);
	close_file(&load);
	return fflush(stdout) == 0 ? 0 : 1;
}
