/* SPDX-License-Identifier: MIT */
/*
 * memory.c - what loads return and which accesses race.
 *
 * Every step of a thread has a number. A clock says of each thread how many steps are known; step e
 * of thread t happened before whoever has clock.at[t] >= e.
 *
 *   atomic variables  each keeps its last stores, each with what its thread let it carry: its clock
 *                     for a release, nothing for a relaxed store. A load may return any store that
 *                     is not older than one the thread knows of, by having seen it, or by knowing a
 *                     step of another thread that saw it (coherence). An acquire load learns what
 *                     the store carried. An operation that replaces a value reads the last one and
 *                     hands on what that carried.
 *   plain data        each byte keeps its last write and last reads. Whoever accesses it must know
 *                     of those that conflict, else it is a data race.
 *
 * What gcc's and clang's memory_order numbers mean is fixed by their ABI. seq_cst is taken for
 * acquire and release of the last value. Tables are of fixed size; a scenario that needs more is
 * told so.
 */
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RELAXED, CONSUME, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST };

enum { STORES = 16, SIGHTS = 16, VARIABLES = 1 << 14, LINES = 1 << 13, LINE = 64, SPANS = 16 };

struct store {
	uint64_t value;
	struct clock carried;
};

/* At that step the thread saw store number `number` of the variable, or made it. */
struct sight {
	uint32_t step;
	uint32_t number;
};

struct variable {
	uintptr_t at;
	uint32_t count; /* stores so far, the value it began with included; 0: nothing is known */
	uint8_t size;
	struct store stores[STORES]; /* store n is at n % STORES */
	uint8_t sights[MACHINE_THREADS];
	struct sight sight[MACHINE_THREADS][SIGHTS]; /* oldest first */
};

struct line {
	uintptr_t at;
	uint8_t writer[LINE];
	uint32_t written[LINE]; /* step of the writer; 0: never */
	uint32_t read[MACHINE_THREADS][LINE];
	uint8_t variables; /* bit i: there may be one in bytes 8i to 8i + 7 */
};

static struct {
	struct clock clocks[MACHINE_THREADS];

	struct variable *variables;
	uint32_t variable_of[2 * VARIABLES]; /* hash table of indices, plus 1 */
	uint32_t nvariables;

	struct line *lines;
	uint32_t line_of[2 * LINES];
	uint32_t nlines;

	struct {
		uintptr_t from, to;
	} watched[SPANS];
	unsigned nwatched;

	struct {
		uintptr_t from, to;
		uint32_t step;
		unsigned by;
	} commits[256];
	unsigned ncommits;
} memory;

static void *room(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p) {
		fprintf(stderr, "no memory for the machine\n");
		abort();
	}
	return p;
}

void memory_reset(void)
{
	if (!memory.variables) {
		memory.variables = room(VARIABLES, sizeof(*memory.variables));
		memory.lines = room(LINES, sizeof(*memory.lines));
	}
	memset(memory.clocks, 0, sizeof(memory.clocks));
	for (unsigned t = 0; t < MACHINE_THREADS; t++)
		memory.clocks[t].at[t] = 1; /* 0 is before everything */
	memset(memory.variable_of, 0, sizeof(memory.variable_of));
	memset(memory.line_of, 0, sizeof(memory.line_of));
	memory.nvariables = memory.nlines = 0;
	memory.nwatched = memory.ncommits = 0;
}

/* Index for an address in a hash table of indices, made where it is missing; *is_new says so. */
static uint32_t place(uint32_t *table, size_t slots, uint32_t *count, uintptr_t at,
		      uintptr_t (*key)(uint32_t index), bool make, bool *is_new)
{
	size_t slot = (size_t)((uint64_t)at * UINT64_C(0x9e3779b97f4a7c15) >> 32) % slots;

	for (; table[slot]; slot = (slot + 1) % slots)
		if (key(table[slot] - 1) == at)
			return table[slot] - 1;
	*is_new = true;
	if (!make)
		return 0;
	if (*count == slots / 2) {
		fprintf(stderr, "the scenario is too large for the machine\n");
		abort();
	}
	table[slot] = ++*count;
	return *count - 1;
}

static uintptr_t variable_key(uint32_t index)
{
	return memory.variables[index].at;
}

static uintptr_t line_key(uint32_t index)
{
	return memory.lines[index].at;
}

/* ---------------------------------------------------------------- clocks */

static bool knows(unsigned self, unsigned other, uint32_t step)
{
	return memory.clocks[self].at[other] >= step;
}

static uint32_t now(unsigned self)
{
	return memory.clocks[self].at[self];
}

/* What self does from here on is a step of its own. */
static void step(unsigned self)
{
	memory.clocks[self].at[self]++;
}

const struct clock *memory_clock(unsigned self)
{
	return &memory.clocks[self];
}

static void join(struct clock *into, const struct clock *from)
{
	for (unsigned t = 0; t < MACHINE_THREADS; t++)
		if (into->at[t] < from->at[t])
			into->at[t] = from->at[t];
}

void memory_learn(unsigned self, const struct clock *from)
{
	join(&memory.clocks[self], from);
}

void memory_tell(unsigned self, struct clock *into)
{
	join(into, &memory.clocks[self]);
	step(self);
}

/* ---------------------------------------------------------------- plain data */

static bool watched(uintptr_t at)
{
	for (unsigned i = 0; i < memory.nwatched; i++)
		if (at >= memory.watched[i].from && at < memory.watched[i].to)
			return true;
	return false;
}

static struct line *line_at(uintptr_t at, bool make)
{
	static uint32_t last;
	bool is_new = false;
	uint32_t index;

	at &= ~(uintptr_t)(LINE - 1);
	if (last < memory.nlines && memory.lines[last].at == at)
		return &memory.lines[last];
	index = place(memory.line_of, 2 * LINES, &memory.nlines, at, line_key, make, &is_new);
	if (is_new && !make)
		return NULL;
	last = index;
	if (is_new) {
		memset(&memory.lines[index], 0, sizeof(*memory.lines));
		memory.lines[index].at = at;
	}
	return &memory.lines[index];
}

static void race(unsigned self, uintptr_t at, const char *what, unsigned other, const char *before)
{
	for (unsigned i = 0; i < memory.nwatched; i++)
		if (at >= memory.watched[i].from && at < memory.watched[i].to) {
			machine_fail(
			    "data race: thread %u %s byte %zu of range %u, which thread %u %s",
			    self, what, (size_t)(at - memory.watched[i].from), i, other, before);
			return;
		}
}

/* Whether a write there is known to self. */
static bool written_before(unsigned self, const struct line *line, unsigned i)
{
	return line->written[i] == 0 || knows(self, line->writer[i], line->written[i]);
}

/* A plain write forgets the variable; what follows must know of the write, which is checked. */
static void overwrite(unsigned self, const struct line *line, unsigned cell)
{
	for (unsigned offset = 0; offset < 8; offset += 4) {
		bool none = false;
		uintptr_t at = line->at + 8 * cell + offset;
		uint32_t index = place(memory.variable_of, 2 * VARIABLES, &memory.nvariables, at,
				       variable_key, false, &none);
		struct variable *variable = &memory.variables[index];

		if (none || variable->count == 0)
			continue;
		for (unsigned t = 0; t < MACHINE_THREADS; t++) {
			unsigned n = variable->sights[t];

			if (n > 0 && !knows(self, t, variable->sight[t][n - 1].step))
				race(self, at, "writes", t, "accessed as an atomic");
		}
		variable->count = 0;
	}
}

void memory_access(unsigned self, const void *p, size_t size, bool write)
{
	uintptr_t at = (uintptr_t)p, end = at + size;

	if (!watched(at))
		return;
	for (; at < end; at++) {
		struct line *line = line_at(at, true);
		unsigned i = at & (LINE - 1);

		if (write && line->variables >> i / 8 & 1 && (at % 8 == 0 || at == (uintptr_t)p))
			overwrite(self, line, i / 8);
		if (!written_before(self, line, i))
			race(self, at, write ? "writes" : "reads", line->writer[i], "wrote");
		if (!write) {
			line->read[self][i] = now(self);
			continue;
		}
		for (unsigned t = 0; t < MACHINE_THREADS; t++)
			if (!knows(self, t, line->read[t][i]))
				race(self, at, "writes", t, "read");
		line->writer[i] = (uint8_t)self;
		line->written[i] = now(self);
	}
}

/* ---------------------------------------------------------------- atomic variables */

static uint64_t get(const void *p, size_t size)
{
	uint64_t value = 0;

	memcpy(&value, p, size); /* in the low bytes: only compared and put back */
	return value;
}

/* The variable at p. Whoever accesses it must know of plain writes there, such as its first. */
static struct variable *variable_at(unsigned self, const void *p, size_t size)
{
	uintptr_t at = (uintptr_t)p;
	bool is_new = false;
	uint32_t index = place(memory.variable_of, 2 * VARIABLES, &memory.nvariables, at,
			       variable_key, true, &is_new);
	struct variable *variable = &memory.variables[index];

	if (watched(at)) {
		struct line *line = line_at(at, true);

		line->variables |= (uint8_t)(1u << (at & (LINE - 1)) / 8);
		for (unsigned i = 0; i < size; i++)
			if (!written_before(self, line, (unsigned)(at & (LINE - 1)) + i)) {
				race(self, at, "accesses as an atomic",
				     line->writer[at & (LINE - 1)], "wrote as plain data");
				break;
			}
	}
	if (is_new || variable->count == 0) {
		variable->at = at;
		variable->size = (uint8_t)size;
		variable->count = 1;
		variable->stores[0] = (struct store){.value = get(p, size)};
		memset(variable->sights, 0, sizeof(variable->sights));
	}
	return variable;
}

static void see(unsigned self, struct variable *variable, uint32_t number)
{
	uint8_t *n = &variable->sights[self];
	struct sight *sight = variable->sight[self];

	if (*n > 0 && sight[*n - 1].number == number)
		return; /* the older step says more */
	if (*n ==
	    SIGHTS) { /* drop the oldest; the next one counts from its step on, which allows less */
		sight[1].step = sight[0].step;
		memmove(sight, sight + 1, (SIGHTS - 1) * sizeof(*sight));
		--*n;
	}
	sight[(*n)++] = (struct sight){now(self), number};
}

/* The oldest store that self may still see. */
static uint32_t oldest(unsigned self, const struct variable *variable)
{
	uint32_t least = variable->count > STORES ? variable->count - STORES : 0;

	for (unsigned t = 0; t < MACHINE_THREADS; t++)
		for (unsigned n = variable->sights[t]; n-- > 0;)
			if (knows(self, t, variable->sight[t][n].step)) {
				if (least < variable->sight[t][n].number)
					least = variable->sight[t][n].number;
				break;
			}
	return least;
}

static bool acquires(int order)
{
	return order != RELAXED && order != RELEASE;
}

static bool releases(int order)
{
	return order >= RELEASE;
}

static uint64_t take(unsigned self, struct variable *variable, uint32_t number, int order)
{
	struct store *store = &variable->stores[number % STORES];

	see(self, variable, number);
	step(self);
	if (acquires(order))
		memory_learn(self, &store->carried);
	return store->value;
}

uint64_t memory_load(unsigned self, void *p, size_t size, int order)
{
	struct variable *variable = variable_at(self, p, size);
	uint32_t last = variable->count - 1,
		 least = order == SEQ_CST ? last : oldest(self, variable);

	if (least < last && machine_stale())
		last = least + (uint32_t)machine_random(last - least);
	return take(self, variable, last, order);
}

uint64_t memory_fetch(unsigned self, void *p, size_t size, int order)
{
	struct variable *variable = variable_at(self, p, size);

	return take(self, variable, variable->count - 1, order);
}

static void put(unsigned self, struct variable *variable, void *p, size_t size, uint64_t value,
		const struct clock *carried)
{
	variable->stores[variable->count % STORES] = (struct store){value, *carried};
	see(self, variable, variable->count++);
	memcpy(p, &value, size);
	step(self);
}

void memory_store(unsigned self, void *p, size_t size, uint64_t value, int order)
{
	static const struct clock nothing;

	put(self, variable_at(self, p, size), p, size, value,
	    releases(order) ? memory_clock(self) : &nothing);
}

void memory_replace(unsigned self, void *p, size_t size, uint64_t value, int order)
{
	struct variable *variable = variable_at(self, p, size);
	struct clock carried = variable->stores[(variable->count - 1) % STORES].carried;

	if (releases(order))
		join(&carried, memory_clock(self));
	put(self, variable, p, size, value, &carried);
}

/* ---------------------------------------------------------------- the system's part */

/* Whatever lay there before is gone. */
static void forget(uintptr_t from, uintptr_t to)
{
	for (uint32_t i = 0; i < memory.nvariables; i++)
		if (memory.variables[i].at >= from && memory.variables[i].at < to)
			memory.variables[i].count = 0;
	for (uint32_t i = 0; i < memory.nlines; i++)
		if (memory.lines[i].at >= from && memory.lines[i].at < to) {
			uintptr_t at = memory.lines[i].at;

			memset(&memory.lines[i], 0, sizeof(*memory.lines));
			memory.lines[i].at = at;
		}
	for (unsigned i = 0; i < memory.ncommits; i++)
		if (memory.commits[i].from >= from && memory.commits[i].from < to)
			memory.commits[i].to = memory.commits[i].from;
}

void memory_watch(const void *p, size_t size)
{
	unsigned i = memory.nwatched;

	for (unsigned j = 0; j < memory.nwatched; j++)
		if (memory.watched[j].to == memory.watched[j].from)
			i = j; /* one that was ignored meanwhile */
	if (i == SPANS) {
		fprintf(stderr, "too many ranges for the machine\n");
		abort();
	}
	memory.watched[i].from = (uintptr_t)p;
	memory.watched[i].to = (uintptr_t)p + size;
	memory.nwatched += i == memory.nwatched;
	forget((uintptr_t)p, (uintptr_t)p + size);
}

void memory_ignore(const void *p)
{
	for (unsigned i = 0; i < memory.nwatched; i++)
		if (memory.watched[i].from == (uintptr_t)p)
			memory.watched[i].to = memory.watched[i].from;
}

void memory_commit(unsigned self, const void *p, size_t size)
{
	unsigned i = memory.ncommits;

	if (i == sizeof(memory.commits) / sizeof(*memory.commits)) {
		fprintf(stderr, "too many commits for the machine\n");
		abort();
	}
	memory.commits[i].from = (uintptr_t)p;
	memory.commits[i].to = (uintptr_t)p + size;
	memory.commits[i].by = self;
	memory.commits[i].step = now(self);
	memory.ncommits++;
	step(self);
}

bool memory_committed(unsigned self, const void *p)
{
	uintptr_t at = (uintptr_t)p;

	for (unsigned i = 0; i < memory.ncommits; i++)
		if (at >= memory.commits[i].from && at < memory.commits[i].to &&
		    knows(self, memory.commits[i].by, memory.commits[i].step))
			return true;
	return false;
}

void memory_empty(unsigned self, void *p, size_t size)
{
	char *at = p;

	memset(p, 0, size);
	for (size_t i = 0; i < size; i += 4) {
		bool none = false;
		uint32_t index = place(memory.variable_of, 2 * VARIABLES, &memory.nvariables,
				       (uintptr_t)at + i, variable_key, false, &none);

		if (!none && memory.variables[index].count > 0)
			put(self, &memory.variables[index], at + i, memory.variables[index].size, 0,
			    memory_clock(self));
	}
}
