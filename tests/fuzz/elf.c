/* SPDX-License-Identifier: MIT */
/*
 * elf.c - fuzz target: the bytes are an ELF file or an archive of them, whose symbols and strings
 * are read into a corpus by bench/corpus_elf.c and, as cistern-loader does it, loaded by
 * bench/load.c.
 *
 *   one byte: size of the chunks that load.c takes; then the file
 *
 * The harness is replaced by calls without threads and children. What can be surveyed must load,
 * and pass the bench's own verification.
 */
#include "readers.h"

#include "../../bench/cli.h"
#include "../../bench/harness.h"
#include "../../bench/load.h"
#include "../bench/sealed.h"

const char fuzz_target[] = "elf";

/* ---------------------------------------------------------------- in place of bench/harness.c */

uint64_t harness_clock_now(void)
{
	return 0;
}

void harness_memory_read(struct harness_memory *m)
{
	memset(m, 0, sizeof(*m));
}

uint64_t harness_threads(unsigned n, void (*fn)(unsigned thread, void *arg), void *arg)
{
	for (unsigned i = 0; i < n; i++)
		fn(i, arg);
	return 0;
}

void harness_threads_leave(unsigned n)
{
	(void)n;
}

void harness_warm(size_t more)
{
	(void)more;
}

bool harness_child(void (*fn)(void *arg, void *result), void *arg, void *result, size_t size)
{
	(void)size;
	fn(arg, result);
	return true;
}

/* ---------------------------------------------------------------- the engine */

/* Children end with their interner; here it is to be destroyed. */
static cistern *made;

static void *create(const cistern_config *config)
{
	cistern_config small = *config;

	small.max_bytes = 4 << 20;
	small.shards = 1;
	return made = cistern_create(&small);
}

static struct engine engine;

/* ---------------------------------------------------------------- reading */

struct reading {
	const char *paths[2];
	struct corpus corpus;
	uint64_t distinct, debug_strings;
	struct load load;
};

static void survey(void *arg)
{
	struct reading *r = arg;

	r->distinct = load_survey(r->paths, 1, &r->corpus, &r->debug_strings);
}

static void load(void *arg)
{
	struct reading *r = arg;
	struct load_result result;

	FUZZ_CHECK(load_run(&r->load, &result));
}

static void read_symbols(void *arg)
{
	struct reading *r = arg;

	corpus_open(&r->corpus);
	corpus_read_elf(&r->corpus, r->paths[0], 0);
	corpus_seal(&r->corpus);
}

static void unload(void *arg)
{
	struct reading *r = arg;

	corpus_unload(&r->corpus);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes in = {data, data + size};
	struct reading r = {.load = {.engine = &engine, .threads = 1, .npaths = 2}};
	uint64_t strings, debug_strings = 0;
	bool symbols;

	engine = engine_cistern;
	engine.create = create;
	cistern_config_init(&r.load.config);
	r.load.chunk = fuzz_byte(&in) % 8; /* 0: what the bench takes */
	r.paths[0] = r.paths[1] = reader_file(in.at, fuzz_left(&in));
	r.load.paths = r.paths;

	if (!reader_run(survey, &r))
		return 0;
	FUZZ_CHECK(!sealed_fault(&r.corpus) && r.distinct == r.corpus.ndistinct);
	r.load.distinct = r.distinct;
	r.load.strings = 2 * r.corpus.n;
	strings = r.corpus.n;
	debug_strings = r.debug_strings;
	/* nothing is left behind but the corpus */
	FUZZ_CHECK(reader_run(unload, &r) && scope_held() == 0);

	made = NULL;
	FUZZ_CHECK(reader_run(load, &r));
	cistern_destroy(made);
	scope_clear(); /* what a child leaves to the system */

	symbols = reader_run(read_symbols, &r);
	FUZZ_CHECK(symbols == (strings > debug_strings));
	if (symbols) {
		FUZZ_CHECK(r.corpus.n == strings - debug_strings && !sealed_fault(&r.corpus));
		FUZZ_CHECK(reader_run(unload, &r) && scope_held() == 0);
	}
	return 0;
}
