// SPDX-License-Identifier: MIT
/*
 * atomics.cc - atomic accesses in a scene: what loads return and what stores make known, by Relacy.
 *
 * Beside each variable lie its last values. What it had before the execution counts as a store that
 * everybody knows. A plain write ends the variable; the next atomic access begins another.
 *
 * A thread may lose its turn before each access, except where nothing would come of it: before a
 * relaxed store, since who loads there in the meantime may just as well get an older value
 * afterwards; before a relaxed load under a lock, which guards what is loaded, as is checked; and
 * before relaxed accesses of what the scene calls quiet.
 */
#include "memory.h"

namespace
{

/* ---------------------------------------------------------------- orders */

const char *const names[] = {"relaxed",
#define NAME(name, ...) #name,
			     ORDER_SITES(NAME) ORDER_RECHECKS(NAME)
#undef NAME
};
constexpr int names_count = sizeof names / sizeof *names;

const char *name_of(int code)
{
	return names[code >> MODEL_ORDER_BITS];
}

int order_of(int code)
{
	int order = code & ((1 << MODEL_ORDER_BITS) - 1), name = code >> MODEL_ORDER_BITS;

	if (name == MUTANT_NONE)
		return order;
	if (order == rl::mo_acq_rel) { /* the one operation with two ends */
		if (memory_mutant == MUTANT_E1_CAS_RELEASE)
			return rl::mo_acquire;
		return memory_mutant == MUTANT_E1_CAS_ACQUIRE ? rl::mo_release : order;
	}
	return name == memory_mutant ? (int)rl::mo_relaxed : order;
}

/* ---------------------------------------------------------------- variables */

/* What one access is about: where, how much, by which line. */
struct item {
	volatile void *p;
	size_t size;
	rl::debug_info where;

	uint64_t now() const
	{
		uint64_t value = 0;

		std::memcpy(&value, const_cast<void *>(p), size);
		return value;
	}
	void set(uint64_t value) const
	{
		memory_remember(p, size);
		std::memcpy(const_cast<void *>(p), &value, size);
	}
	unsigned long number() const
	{
		return memory_number(p);
	}
};

struct variable {
	rl::atomic_data *data;
	size_t size;
	uint64_t values[rl::atomic_history_size];
};

by_address<variable> variables;
by_address<size_t> early; /* sizes of those that the scene's beginning accessed */
void (*initial)(rl::atomic_data *data);

variable &variable_of(const item &item)
{
	variable &v = variables.get(item.p);

	if (!v.data) {
		v.data = rl::ctx().atomic_ctor(nullptr);
		initial(v.data);
		v.size = item.size;
		v.values[0] = item.now();
	}
	if (v.size != item.size)
		rl::ctx().fail_test("an atomic in two sizes", rl::test_result_user_assert_failed,
				    item.where);
	return v;
}

/* A turn may end before an access. */
void point(const item &item, int code, bool is_store)
{
	if (code != rl::mo_relaxed || !(is_store || memory_locked() || memory_quiet(item.p)))
		rl::ctx().sched();
}

variable &access(const item &item)
{
	memory_touch(item.p, item.size, item.where);
	return variable_of(item);
}

uint64_t load(variable &v, int order)
{
	switch (order) {
	case rl::mo_relaxed:
		return v.values[self().atomic_load_relaxed(v.data)];
	case rl::mo_acquire:
		return v.values[self().atomic_load_acquire(v.data)];
	default:
		return v.values[self().atomic_load_seq_cst(v.data)];
	}
}

void store(const item &item, variable &v, uint64_t value, int order)
{
	unsigned i = order == rl::mo_relaxed   ? self().atomic_store_relaxed(v.data)
		     : order == rl::mo_release ? self().atomic_store_release(v.data)
					       : self().atomic_store_seq_cst(v.data);

	v.values[i] = value;
	item.set(value);
}

unsigned replace_at(rl::atomic_data *data, int order)
{
	bool ignored;

	switch (order) {
	case rl::mo_relaxed:
		return self().atomic_rmw_relaxed(data, ignored);
	case rl::mo_acquire:
		return self().atomic_rmw_acquire(data, ignored);
	case rl::mo_release:
		return self().atomic_rmw_release(data, ignored);
	case rl::mo_acq_rel:
		return self().atomic_rmw_acq_rel(data, ignored);
	default:
		return self().atomic_rmw_seq_cst(data, ignored);
	}
}

void replace(const item &item, variable &v, uint64_t value, int order)
{
	v.values[replace_at(v.data, order)] = value;
	item.set(value);
}

/* In a scene's beginning: what is there. */
uint64_t begin_with(const item &item)
{
	if (model_started())
		early.get(item.p) = item.size;
	return item.now();
}

/* Replaces the last value by itself plus `value`, or by `value`; gives it. */
uint64_t change(const item &item, uint64_t value, int code, bool add)
{
	if (!memory_running) {
		uint64_t was = begin_with(item);

		item.set(add ? was + value : value);
		return was;
	}
	point(item, code, false);

	variable &v = access(item);
	uint64_t was = item.now(), with = add ? was + value : value;

	note(item.where, "change %s at %#lx: %#llx to %#llx", name_of(code), item.number(),
	     (unsigned long long)was, (unsigned long long)with);
	replace(item, v, with, order_of(code));
	return was;
}

} // namespace

/* ---------------------------------------------------------------- for the library's code */

uint64_t model_load(const volatile void *p, size_t size, const char *file, int line, int code)
{
	const item item = {const_cast<volatile void *>(p), size, {"load", file, (unsigned)line}};

	if (!memory_running)
		return begin_with(item);
	point(item, code, false);

	uint64_t value = load(access(item), order_of(code));
	bool old = value != item.now();

	note(item.where, "load %s at %#lx: %#llx%s", name_of(code), item.number(),
	     (unsigned long long)value, old ? ", an older one" : "");
	if (old && code == rl::mo_relaxed && memory_locked() && !memory_quiet(p))
		rl::ctx().fail_test("under a lock an older value",
				    rl::test_result_user_assert_failed, item.where);
	return value;
}

void model_store(volatile void *p, size_t size, const char *file, int line, uint64_t value,
		 int code)
{
	const item item = {p, size, {"store", file, (unsigned)line}};

	if (!memory_running) {
		begin_with(item);
		item.set(value);
		return;
	}
	point(item, code, true);
	note(item.where, "store %s at %#lx: %#llx", name_of(code), item.number(),
	     (unsigned long long)value);
	store(item, access(item), value, order_of(code));
}

uint64_t model_exchange(volatile void *p, size_t size, const char *file, int line, uint64_t value,
			int code)
{
	return change({p, size, {"exchange", file, (unsigned)line}}, value, code, false);
}

uint64_t model_add(volatile void *p, size_t size, const char *file, int line, uint64_t value,
		   int code)
{
	return change({p, size, {"add", file, (unsigned)line}}, value, code, true);
}

bool model_compare_exchange(volatile void *p, size_t size, const char *file, int line,
			    void *expected, uint64_t value, int code, int failed)
{
	const item item = {p, size, {"compare_exchange", file, (unsigned)line}};
	uint64_t wanted = 0, was;
	bool equal;

	std::memcpy(&wanted, expected, size);
	if (memory_running)
		point(item, code, false);
	was = memory_running ? item.now() : begin_with(item);
	equal = was == wanted;
	if (memory_running) {
		variable &v = access(item);

		note(item.where, "exchange %s at %#lx: %#llx, %s", name_of(code), item.number(),
		     (unsigned long long)was, equal ? "done" : "not done");
		if (equal)
			replace(item, v, value, order_of(code));
		else if (order_of(failed) == rl::mo_relaxed)
			self().atomic_load_relaxed_rmw(v.data);
		else
			self().atomic_load_acquire_rmw(v.data);
	} else if (equal) {
		item.set(value);
	}
	if (!equal)
		std::memcpy(expected, &was, size);
	return equal;
}

bool model_looks(int recheck)
{
	return recheck != memory_mutant;
}

void model_discard(void *p, size_t size)
{
	char *start = static_cast<char *>(p);

	if (!memory_running) {
		model_set(p, 0, size);
		return;
	}
	if (memory_mutant != MODEL_NO_BARRIER)
		rl::ctx().atomic_thread_fence_seq_cst();
	for (size_t i = 0; i < size; i += 4) {
		variable *v = variables.find(start + i);
		size_t *before = early.find(start + i);
		size_t width = v && v->data ? v->size : before ? *before : 0;
		const item item = {start + i, width > 0 ? width : 4, {"zero", "system", 0}};

		if (item.now() == 0)
			continue;
		note(item.where, "zero at %#lx", item.number());
		if (width > 0)
			store(item, variable_of(item), 0, rl::mo_relaxed);
		else
			model_set(start + i, 0, 4); /* plain data: nobody may be reading it */
	}
}

/* ---------------------------------------------------------------- for memory.cc and explore.cc */

void atomics_begin()
{
	early.clear();
}

void atomics_enter(void (*make_initial)(rl::atomic_data *data))
{
	variables.clear();
	initial = make_initial;
}

void atomics_leave()
{
	variables.each([](variable &v) {
		if (v.data)
			rl::ctx().atomic_dtor(v.data);
	});
}

void atomics_forget(const volatile void *p, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		variable *v = variables.find((const volatile char *)p + i);

		if (v && v->data) {
			rl::ctx().atomic_dtor(v->data);
			v->data = nullptr;
		}
	}
}

const char *mutant_name(int mutant)
{
	if (mutant == MODEL_NO_BARRIER)
		return "NO_BARRIER";
	return mutant >= 0 && mutant < names_count ? names[mutant] : nullptr;
}
