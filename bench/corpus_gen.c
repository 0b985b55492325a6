/* SPDX-License-Identifier: MIT */
/*
 * corpus_gen.c - strings for those who have no corpus at hand: mangled C++ names, and identifiers.
 *
 * What matters to an interner is how long strings are, what they have in common, and how often they
 * come again. The first two come from a small grammar over real-looking words. The third is Zipf's
 * law (Mandelbrot's form): a string is new with a fixed probability, and otherwise repeats the r-th
 * of those that came before with a probability that falls as 1 / (r + offset). The weights are
 * integers and libm is not used, so that the strings are the same on every machine. bench/README.md
 * compares them with real symbols.
 *
 * A string is made from the number of its kind and the seed, so nothing but numbers is kept. A
 * change here changes the hashes that tests/bench pins, and the figures of everyone who did not
 * name a corpus.
 */
#include "corpus.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "harness.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const char *const namespaces[] = {
    "llvm",     "clang",  "std",     "detail", "internal", "core",  "ui",       "net",
    "storage",  "render", "audio",   "codec",  "physics",  "proto", "parser",   "runtime",
    "analysis", "object", "support", "cl",     "sys",      "dwarf", "codeview", "itanium_demangle",
};

/* First letters are capitals where a name is written in one, small where parts are joined by '_'.
 */
static const char *const words[] = {
    "symbol",     "module",   "type",     "value",     "target",   "machine", "function", "block",
    "instr",      "operand",  "register", "pass",      "manager",  "info",    "context",  "builder",
    "visitor",    "handler",  "stream",   "buffer",    "reader",   "writer",  "loader",   "cache",
    "table",      "entry",    "index",    "range",     "iterator", "list",    "map",      "set",
    "node",       "graph",    "tree",     "edge",      "path",     "file",    "line",     "section",
    "segment",    "header",   "string",   "name",      "scope",    "unit",    "abbrev",   "form",
    "attr",       "tag",      "frame",    "stack",     "slot",     "lane",    "vector",   "scalar",
    "constant",   "global",   "local",    "alias",     "load",     "store",   "call",     "branch",
    "switch",     "phi",      "select",   "cast",      "compare",  "shift",   "add",      "mul",
    "get",        "make",     "is",       "has",       "emit",     "lower",   "select",   "expand",
    "legalize",   "combine",  "schedule", "allocate",  "spill",    "rewrite", "verify",   "print",
    "dump",       "parse",    "lex",      "match",     "replace",  "insert",  "remove",   "update",
    "resolve",    "relocate", "link",     "merge",     "split",    "sort",    "hash",     "find",
    "x86",        "arm",      "mips",     "ppc",       "riscv",    "wasm",    "debug",    "error",
    "diagnostic", "option",   "argument", "parameter", "result",   "state",   "event",    "thread",
};

/* What C programs repeat most. */
static const char *const common[] = {
    "int",   "define",   "if",      "struct",   "static", "inline",  "return", "const",
    "char",  "endif",    "void",    "extern",   "n",      "x",       "i",      "size_t",
    "else",  "unsigned", "typedef", "uint32_t", "the",    "to",      "of",     "include",
    "a",     "is",       "T",       "h",        "s",      "uint8_t", "b",      "long",
    "ifdef", "union",    "enum",    "u32",      "p",      "len",     "ctx",    "flags",
};

/* Types as they stand in a parameter list. */
static const char *const parameters[] = {
    "i", "j",  "m",   "b",   "PKc",  "Pv",   "RKSs",  "PKv",
    "l", "S_", "S1_", "S2_", "RS0_", "PS1_", "PKS2_", "z",
};

/* A name being put together. Longer names than this are cut, which no seed has been seen to need.
 */
struct text {
	char data[1024];
	size_t len;
};

static void add(struct text *t, const char *s)
{
	size_t len = strlen(s);
	if (len > sizeof t->data - t->len)
		len = sizeof t->data - t->len;
	memcpy(t->data + t->len, s, len);
	t->len += len;
}

static void add_number(struct text *t, uint64_t n)
{
	char digits[24];
	snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
	add(t, digits);
}

/* A number from 0 to n - 1. */
static uint64_t below(uint64_t *state, uint64_t n)
{
	return (cli_random(state) >> 11) % n;
}

static bool chance(uint64_t *state, unsigned percent)
{
	return below(state, 100) < percent;
}

static const char *pick(uint64_t *state, const char *const *from, size_t n)
{
	return from[below(state, n)];
}

/* Words in one, as in C++: emitBlockInfo, or BlockInfo. */
static void camel(struct text *t, uint64_t *state, unsigned n, bool capital)
{
	for (unsigned i = 0; i < n; i++) {
		size_t at = t->len;
		add(t, pick(state, words, COUNT_OF(words)));
		if ((i > 0 || capital) && at < t->len && t->data[at] >= 'a' && t->data[at] <= 'z')
			t->data[at] = (char)(t->data[at] - 'a' + 'A');
	}
}

/* A source name: its length, then the name. */
static void source_name(struct text *t, uint64_t *state, unsigned n, bool capital)
{
	struct text name = {.len = 0};
	camel(&name, state, n, capital);
	if (chance(state, 3))
		add_number(&name, below(state, 64));
	add_number(t, name.len);
	name.data[name.len] = '\0';
	add(t, name.data);
}

static void scope(struct text *t, uint64_t *state)
{
	const char *name = pick(state, namespaces, COUNT_OF(namespaces));
	add_number(t, strlen(name));
	add(t, name);
}

static void template_arguments(struct text *t, uint64_t *state, unsigned depth)
{
	add(t, "I");
	for (uint64_t i = 1 + below(state, 2); i > 0; i--) {
		if (depth < 4 && chance(state, 65)) {
			add(t, chance(state, 40) ? "PN" : "N");
			scope(t, state);
			source_name(t, state, 1 + (unsigned)below(state, 2), true);
			if (chance(state, 50))
				template_arguments(t, state, depth + 1);
			add(t, "E");
		} else if (chance(state, 30)) {
			add(t, "Lj");
			add_number(t, below(state, 256));
			add(t, "E");
		} else {
			add(t, pick(state, parameters, COUNT_OF(parameters)));
		}
	}
	add(t, "E");
}

/* The class part of a nested name, without N and E. */
static void class_name(struct text *t, uint64_t *state)
{
	scope(t, state);
	if (chance(state, 20))
		scope(t, state);
	source_name(t, state, 1 + (unsigned)below(state, 3), true);
	if (chance(state, 42))
		template_arguments(t, state, 0);
}

/* One symbol. number selects it: the same for the same seed, most likely different from all others.
 */
static void symbol(struct text *t, uint64_t *state, uint64_t number)
{
	uint64_t kind = below(state, 100);
	if (kind < 6) { /* local labels are the short end */
		add(t, kind < 3 ? ".L.str." : "GCC_except_table");
		add_number(t, number);
	} else if (kind < 12) { /* plain C */
		camel(t, state, 1 + (unsigned)below(state, 2), true);
		add(t, "_");
		add_number(t, number % 5000);
	} else if (kind < 20) { /* tables and type names */
		static const char *const special[] = {"_ZTVN", "_ZTIN", "_ZTSN"};
		add(t, pick(state, special, COUNT_OF(special)));
		class_name(t, state);
		add(t, "E");
	} else {
		static const char *const prefix[] = {"_ZN", "_ZN", "_ZNK", "_ZZN",
						     "_ZN12_GLOBAL__N_1"};
		add(t, pick(state, prefix, COUNT_OF(prefix)));
		class_name(t, state);
		if (chance(state, 12))
			add(t, chance(state, 50) ? "C2" : "D0");
		else
			source_name(t, state, 1 + (unsigned)below(state, 3), false);
		if (chance(state, 12))
			template_arguments(t, state, 1);
		add(t, "E");
		uint64_t n = below(state, 5);
		if (n == 0)
			add(t, "v");
		for (; n > 0; n--) {
			if (chance(state, 35)) {
				static const char *const how[] = {"RKN", "RN", "PN", "N"};
				add(t, pick(state, how, COUNT_OF(how)));
				scope(t, state);
				source_name(t, state, 1 + (unsigned)below(state, 2), true);
				add(t, "E");
			} else {
				add(t, pick(state, parameters, COUNT_OF(parameters)));
			}
		}
	}
}

static void identifier(struct text *t, uint64_t *state, uint64_t number)
{
	if (number < COUNT_OF(common)) { /* the first ones come most often, and are short */
		add(t, common[number]);
		return;
	}
	bool upper = chance(state, 40);
	if (chance(state, 20))
		add(t, chance(state, 50) ? "__" : "_");
	uint64_t n = 1 + below(state, number < 2000 ? 2 : 3);
	for (uint64_t i = 0; i < n; i++) {
		if (i > 0)
			add(t, "_");
		add(t, pick(state, words, COUNT_OF(words)));
	}
	if (number >= 2000 && chance(state, 60)) {
		add(t, "_");
		add_number(t, below(state, 1000));
	}
	if (!upper && chance(state, 10))
		add(t, "_t");
	for (size_t i = 0; upper && i < t->len; i++)
		if (t->data[i] >= 'a' && t->data[i] <= 'z')
			t->data[i] = (char)(t->data[i] - 'a' + 'A');
}

/* How often strings come again. */
struct repetition {
	unsigned fresh;  /* of 1,000 strings, how many are new */
	unsigned offset; /* the larger, the less the first ones stand out */
};

/* The first number whose sum of weights is above at. */
static uint64_t rank_at(const uint64_t *sums, uint64_t n, uint64_t at)
{
	uint64_t low = 0;
	while (n > 1) {
		uint64_t half = n / 2;
		if (sums[low + half - 1] <= at)
			low += half;
		n -= half;
	}
	return low;
}

static void generate(struct corpus *c, uint64_t count, uint64_t seed, struct repetition repeat,
		     void (*make)(struct text *, uint64_t *, uint64_t))
{
	size_t size = (size_t)count * sizeof(uint64_t);
	uint64_t *sums = harness_pages(size); /* sums[k]: weights of numbers 0 to k */
	uint64_t state = seed, kinds = 0, sum = 0;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t number;
		if (kinds < 64 || below(&state, 1000) < repeat.fresh) {
			number = kinds;
			sum += (UINT64_C(1) << 40) / (kinds + repeat.offset);
			sums[kinds++] = sum;
		} else {
			number = rank_at(sums, kinds, below(&state, sum));
		}
		/* The string's own source of randomness: its number, spread over the whole state.
		 */
		uint64_t own = seed ^ (number + 1) * UINT64_C(0x9FB21C651E98DF25);
		struct text t;
		t.len = 0;
		make(&t, &own, number);
		corpus_add(c, t.data, t.len);
	}
	harness_pages_free(sums, size);
}

void corpus_generate_symbols(struct corpus *c, uint64_t count, uint64_t seed)
{
	generate(c, count, seed, (struct repetition){325, 25}, symbol);
}

void corpus_generate_identifiers(struct corpus *c, uint64_t count, uint64_t seed)
{
	generate(c, count, seed, (struct repetition){36, 4}, identifier);
}
