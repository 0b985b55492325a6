/* SPDX-License-Identifier: MIT */
/*
 * lines.c - fuzz target: bench/corpus.c reads the bytes as a file of lines, seals the corpus and
 * shuffles it.
 *
 *   one byte: how many lines at most, 0 for all; then the file
 */
#include "readers.h"

#include "../bench/sealed.h"

const char fuzz_target[] = "lines";

struct reading {
	struct corpus corpus;
	const char *path;
	uint64_t max;
};

static void read_lines(void *arg)
{
	struct reading *r = arg;

	corpus_open(&r->corpus);
	corpus_read_lines(&r->corpus, r->path, r->max);
	corpus_seal(&r->corpus);
}

static void shuffle(void *arg)
{
	struct reading *r = arg;

	corpus_shuffle_distinct(&r->corpus, r->max);
}

static void unload(void *arg)
{
	struct reading *r = arg;

	corpus_unload(&r->corpus);
}

/* The lines of the text are the strings of the corpus; or it has none, or a NUL. */
static void compare(const struct reading *r, bool done, const char *text, size_t size)
{
	const char *at = text, *end = text + size;
	uint64_t n = 0;

	while (at < end && !(r->max && n == r->max)) {
		const char *stop = at;

		while (stop < end && *stop != '\n' && *stop != '\0')
			stop++;
		if (stop < end && *stop == '\0') {
			FUZZ_CHECK(!done);
			return;
		}
		if (done) {
			const cistern_span *string = &r->corpus.all[n];

			FUZZ_CHECK(n < r->corpus.n && string->len == (size_t)(stop - at));
			FUZZ_CHECK(memcmp(string->data, at, string->len) == 0);
		}
		n++;
		at = stop + 1;
	}
	FUZZ_CHECK(done == (n > 0) && (!done || r->corpus.n == n));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes in = {data, data + size};
	struct reading r = {.max = fuzz_byte(&in)};
	const char *text = (const char *)in.at;
	size_t left = fuzz_left(&in);
	bool done;

	r.path = reader_file(text, left);
	done = reader_run(read_lines, &r);
	compare(&r, done, text, left);
	if (!done)
		return 0;
	FUZZ_CHECK(!sealed_fault(&r.corpus));
	FUZZ_CHECK(reader_run(shuffle, &r));
	FUZZ_CHECK(!sealed_fault(&r.corpus) && r.corpus.n == r.corpus.ndistinct);
	FUZZ_CHECK(reader_run(unload, &r) && scope_held() == 0);
	return 0;
}
