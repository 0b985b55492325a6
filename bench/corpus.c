/* SPDX-License-Identifier: MIT */
/*
 * corpus.c - keeping, sealing and reading corpora. See corpus.h.
 *
 * While strings are added, a span holds an offset in place of its pointer, since the bytes may
 * still move. Sealing turns offsets into pointers, numbers the distinct strings, makes strings that
 * are absent, and computes the hash. The hash and the order of everything depend on the strings
 * alone, not on the machine.
 */
#include "corpus.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* Looking up strings that miss needs no more of them than this; strings of the hot set. */
enum { ABSENT_MAX = 1 << 20, HOT = 64 };

/* ---- regions */

static char *map(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		cli_fail("no memory for a corpus of %zu bytes: %s", size, strerror(errno));
	return p;
}

static char *region_add(struct corpus_region *r, size_t size)
{
	if (r->size - r->used < size) {
		size_t larger = r->size ? r->size : (size_t)1 << 16;
		while (larger - r->used < size)
			larger *= 2;
		char *base = map(larger);
		if (r->base) {
			memcpy(base, r->base, r->used);
			munmap(r->base, r->size);
		}
		r->base = base;
		r->size = larger;
	}
	r->used += size;
	return r->base + r->used - size;
}

static void region_free(struct corpus_region *r)
{
	if (r->base)
		munmap(r->base, r->size);
	*r = (struct corpus_region){NULL, 0, 0};
}

/* ---- adding */

void corpus_open(struct corpus *c)
{
	memset(c, 0, sizeof *c);
}

void corpus_add(struct corpus *c, const char *s, size_t len)
{
	if (c->n >= UINT32_MAX - 1)
		cli_fail("a corpus holds at most %" PRIu32 " strings", UINT32_MAX - 1);
	char *to = region_add(&c->bytes_region, len + 1);
	memcpy(to, s, len);
	to[len] = '\0'; /* for engines that take C strings */
	cistern_span span = {(const char *)(uintptr_t)(to - c->bytes_region.base), len};
	memcpy(region_add(&c->all_region, sizeof span), &span, sizeof span);
	c->n++;
}

/* ---- sealing */

/* Eight bytes as the number they are on a little-endian machine. */
static uint64_t load64(const unsigned char *p)
{
	return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 |
	       (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 |
	       (uint64_t)p[7] << 56;
}

static uint64_t mix(uint64_t h)
{
	h ^= h >> 32;
	h *= UINT64_C(0xD6E8FEB86659FD93);
	h ^= h >> 29;
	h *= UINT64_C(0xA0761D6478BD642F);
	return h ^ (h >> 32);
}

static uint64_t hash_bytes(const char *s, size_t len)
{
	const unsigned char *p = (const unsigned char *)s;
	unsigned char tail[8] = {0};
	uint64_t h = mix(len + 1);
	for (; len >= 8; p += 8, len -= 8)
		h = mix(h ^ load64(p));
	memcpy(tail, p, len);
	return mix(h ^ load64(tail));
}

/* An index of distinct strings: open addressing over numbers + 1. Lives while sealing only. */
struct index {
	uint32_t *slots;
	size_t mask;
};

static bool same(const cistern_span *a, const char *s, size_t len)
{
	return a->len == len && memcmp(a->data, s, len) == 0;
}

static uint32_t *index_slot(const struct index *x, const cistern_span *distinct, const char *s,
			    size_t len, uint64_t hash)
{
	size_t at = (size_t)hash & x->mask;
	while (x->slots[at] && !same(&distinct[x->slots[at] - 1], s, len))
		at = (at + 1) & x->mask;
	return &x->slots[at];
}

static struct index index_make(size_t n)
{
	struct index x = {NULL, 1};
	while (x.mask < 2 * n)
		x.mask *= 2;
	x.slots = (uint32_t *)(void *)map(x.mask * sizeof *x.slots);
	x.mask -= 1;
	return x;
}

static void index_free(struct index *x)
{
	munmap(x->slots, (x->mask + 1) * sizeof *x->slots);
}

/* Strings like those of the corpus, each with one byte changed, that are not in it; all different.
 */
static void make_absent(struct corpus *c, const struct index *x)
{
	size_t most = c->ndistinct < ABSENT_MAX ? c->ndistinct : ABSENT_MAX, bytes = 0;
	for (size_t i = 0; i < most; i++)
		bytes += c->distinct[i].len + 2;
	char *to = region_add(&c->absent_bytes_region, bytes);
	cistern_span *spans =
	    (cistern_span *)(void *)region_add(&c->absent_region, most * sizeof *spans);
	struct index own = index_make(most);

	for (size_t i = 0; i < most; i++) {
		const cistern_span *from = &c->distinct[i];
		size_t len = from->len ? from->len : 1;
		memcpy(to, from->data, from->len);
		to[from->len] = to[len] = '\0';
		char *change = &to[(hash_bytes(from->data, from->len) >> 40) % len];
		*change =
		    (char)(*change ^ 0x80); /* names are ASCII, so this nearly always suffices */
		uint64_t hash = hash_bytes(to, len);
		uint32_t *slot = index_slot(&own, spans, to, len, hash);
		if (*slot || *index_slot(x, c->distinct, to, len, hash))
			continue;
		spans[c->nabsent] = (cistern_span){to, len};
		*slot = (uint32_t)++c->nabsent;
		to += len + 1;
	}
	index_free(&own);
	c->absent = spans;
}

void corpus_seal(struct corpus *c)
{
	if (c->n == 0)
		cli_fail("the corpus has no strings");
	cistern_span *spans = (cistern_span *)(void *)c->all_region.base;
	uint32_t *kinds = (uint32_t *)(void *)region_add(&c->kind_region, c->n * sizeof *kinds);
	struct index x = index_make(c->n);

	for (size_t i = 0; i < c->n; i++) {
		spans[i].data = c->bytes_region.base + (uintptr_t)spans[i].data;
		uint64_t hash = hash_bytes(spans[i].data, spans[i].len);
		c->hash = mix(c->hash + hash);
		c->payload += spans[i].len;
		const cistern_span *distinct =
		    (const cistern_span *)(void *)c->distinct_region.base;
		uint32_t *slot = index_slot(&x, distinct, spans[i].data, spans[i].len, hash);
		if (!*slot) {
			memcpy(region_add(&c->distinct_region, sizeof *spans), &spans[i],
			       sizeof *spans);
			c->distinct_payload += spans[i].len;
			*slot = (uint32_t)++c->ndistinct;
		}
		kinds[i] = *slot - 1;
	}
	c->all = spans;
	c->kind = kinds;
	c->distinct = (const cistern_span *)(void *)c->distinct_region.base;
	make_absent(c, &x);
	index_free(&x);
	/* What readers freed must not serve the engines. */
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

void corpus_touch(const cistern_span *in, size_t n)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += (unsigned char)in[i].data[in[i].len / 2] + in[i].len;
	*(volatile uint64_t *)&sum = sum; /* so that it is not left out */
}

size_t corpus_hot(uint64_t *state, size_t n)
{
	size_t set = n < HOT ? n : HOT;
	return (size_t)(cli_random(state) % set) * (n / set);
}

void corpus_unload(struct corpus *c)
{
	region_free(&c->bytes_region);
	region_free(&c->all_region);
	region_free(&c->kind_region);
	region_free(&c->distinct_region);
	region_free(&c->absent_region);
	region_free(&c->absent_bytes_region);
	memset(c, 0, sizeof *c);
}

void corpus_shuffle_distinct(struct corpus *c, uint64_t seed)
{
	struct corpus out;
	corpus_open(&out);
	size_t size = c->ndistinct * sizeof(uint32_t);
	uint32_t *order = (uint32_t *)(void *)map(size);
	for (size_t i = 0; i < c->ndistinct; i++)
		order[i] = (uint32_t)i;
	for (size_t i = c->ndistinct; i > 1; i--) {
		size_t other = (size_t)(cli_random(&seed) % i);
		uint32_t kept = order[i - 1];
		order[i - 1] = order[other];
		order[other] = kept;
	}
	/* The bytes are laid in the new order too: the engines are compared, not the reading of
	 * input. */
	for (size_t i = 0; i < c->ndistinct; i++)
		corpus_add(&out, c->distinct[order[i]].data, c->distinct[order[i]].len);
	munmap(order, size);
	memcpy(out.name, c->name, sizeof out.name);
	corpus_unload(c);
	*c = out;
	corpus_seal(c);
}

/* ---- files of lines */

void corpus_read_lines(struct corpus *c, const char *path, uint64_t max)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat info;
	if (fd < 0 || fstat(fd, &info) != 0)
		cli_fail("%s: %s", path, strerror(errno));
	if (S_ISDIR(info.st_mode))
		cli_fail("%s: is a directory", path);

	/* Pipes have no size, so that the file is read rather than mapped. */
	struct corpus_region text = {NULL, 0, 0};
	ssize_t got;
	do {
		char *to = region_add(&text, 1 << 20);
		got = read(fd, to, 1 << 20);
		text.used -= (1 << 20) - (size_t)(got > 0 ? got : 0);
	} while (got > 0 || (got < 0 && errno == EINTR));
	if (got < 0)
		cli_fail("%s: %s", path, strerror(errno));
	close(fd);

	uint64_t line = 0;
	const char *end = text.base + text.used;
	for (const char *at = text.base; at < end && (!max || line < max);) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((stop ? stop : end) - at);
		line++;
		if (memchr(at, '\0', len))
			cli_fail("%s:%" PRIu64 ": a NUL byte; a corpus is lines of text", path,
				 line);
		corpus_add(c, at, len);
		at += len + 1;
	}
	region_free(&text);
	if (line == 0)
		cli_fail("%s: holds no strings", path);
}

/* ---- what was asked for */

void corpus_load(struct corpus *c, const struct corpus_request *request)
{
	corpus_open(c);
	for (size_t i = 0; i < request->nsources; i++) {
		const struct corpus_source *source = &request->sources[i];
		uint64_t left = request->count ? request->count - c->n : 0;
		if (request->count && left == 0)
			break;
		if (source->kind == CORPUS_ELF)
			corpus_read_elf(c, source->path, left);
		else
			corpus_read_lines(c, source->path, left);
	}
	uint64_t count = request->count ? request->count : 200000;
	if (request->nsources == 0 && request->generate == CORPUS_SYMBOLS)
		corpus_generate_symbols(c, count, request->seed);
	else if (request->nsources == 0)
		corpus_generate_identifiers(c, count, request->seed);

	if (request->nsources) {
		const char *slash = strrchr(request->sources[0].path, '/');
		const char *base = slash ? slash + 1 : request->sources[0].path;
		snprintf(c->name, sizeof c->name,
			 request->nsources > 1 ? "%.100s and %zu more" : "%.100s", base,
			 request->nsources - 1);
	} else {
		snprintf(c->name, sizeof c->name, "generated %s, seed %" PRIu64,
			 request->generate == CORPUS_SYMBOLS ? "symbols" : "identifiers",
			 request->seed);
	}
	corpus_seal(c);
	if (request->distinct_random) {
		size_t used = strlen(c->name);
		snprintf(c->name + used, sizeof c->name - used, ", distinct in random order");
		corpus_shuffle_distinct(c, request->seed);
	}
}
