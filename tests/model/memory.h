// SPDX-License-Identifier: MIT
/*
 * memory.h - Relacy without the names that it takes from others, and what memory.cc, atomics.cc and
 * explore.cc want of each other. In a scene's beginning there is no Relacy: accesses are then what
 * they say.
 */
#ifndef TESTS_MODEL_MEMORY_H
#define TESTS_MODEL_MEMORY_H

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include <relacy/relacy.hpp>
#undef memory_order_relaxed
#undef memory_order_consume
#undef memory_order_acquire
#undef memory_order_release
#undef memory_order_acq_rel
#undef memory_order_seq_cst
#undef new
#undef delete
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef assert
#undef errno

#define ORDER_OF(name, order) 0
#include "order.h"

#include "model.h"

/* ---- memory.cc: scenes begin and end, executions begin, and end well or are left ---- */

/* What a scene writes from now on has happened before all executions. */
void memory_begin(int mutant);

/* Memory is what it was at the end of the scene's beginning. */
void memory_enter(void (*make_initial)(rl::atomic_data *data));
void memory_leave();
void memory_left();

/* Memory is what it was before the scene. */
void memory_end();

extern bool memory_running; /* an execution */
extern int memory_mutant;

/* Whether the thread that runs holds a lock; whether nobody is interested in what happens there. */
bool memory_locked();
bool memory_quiet(const volatile void *p);

/* Before a write: what was there is kept, to be put back. */
void memory_remember(volatile void *p, size_t size);

/* An atomic access: its thread must know of the memory, and of plain writes there. */
void memory_touch(const volatile void *p, size_t size, rl::debug_info_param where);

/* For people: where it is. */
unsigned long memory_number(const volatile void *p);

/* ---- atomics.cc ---- */

void atomics_begin();
void atomics_enter(void (*make_initial)(rl::atomic_data *data));
void atomics_leave();

/* A plain write ends the atomics there. */
void atomics_forget(const volatile void *p, size_t size);

/* The name of a mutant, or NULL. */
const char *mutant_name(int mutant);

/* ---- what both are made of ---- */

inline rl::thread_info_base &self()
{
	return *rl::ctx().threadx_;
}

[[noreturn]] inline void too_large(const char *what)
{
	std::fprintf(stderr, "the scene is too large for the model: %s\n", what);
	std::abort();
}

/* A line in the history of an execution that failed. */
__attribute__((format(printf, 2, 3))) inline void note(rl::debug_info_param where,
						       const char *format, ...)
{
	char line[160];
	va_list args;

	if (!rl::ctx().collecting_history())
		return;
	va_start(args, format);
	std::vsnprintf(line, sizeof line, format, args);
	va_end(args);
	rl::user_msg_event event = {line};
	rl::ctx().exec_log(where, event);
}

/* What is known of some addresses. Forgets all at once. */
template <class T> class by_address
{
	struct entry {
		uintptr_t at;
		unsigned generation;
		T item;
	};
	static constexpr size_t size = 1 << 15;
	entry entries[size];
	entry *used[size / 2];
	size_t count;
	unsigned generation; /* plus 1, so that constructors of the library find it empty */

	entry &slot(const volatile void *p)
	{
		uintptr_t at = (uintptr_t)p;
		size_t i = (at ^ at >> 15) % size;

		while (entries[i].generation == generation + 1 && entries[i].at != at)
			i = (i + 1) % size;
		return entries[i];
	}

      public:
	T *find(const volatile void *p)
	{
		entry &found = slot(p);

		return found.generation == generation + 1 ? &found.item : nullptr;
	}
	/* The item there; an empty one where there was none. */
	T &get(const volatile void *p)
	{
		entry &found = slot(p);

		if (found.generation != generation + 1) {
			if (count == size / 2)
				too_large("addresses");
			found.at = (uintptr_t)p;
			found.generation = generation + 1;
			found.item = T();
			used[count++] = &found;
		}
		return found.item;
	}
	template <class F> void each(F act)
	{
		for (size_t i = 0; i < count; i++)
			act(used[i]->item);
	}
	void clear()
	{
		generation++;
		count = 0;
	}
};

/* Makes the value that lay there before the execution known to all threads, as the first store. */
template <rl::thread_id_t threads> void make_initial(rl::atomic_data *data)
{
	auto *all = static_cast<rl::atomic_data_impl<threads> *>(data);
	auto &first = all->history_[0];

	for (auto &record : all->history_)
		record.busy_ = false;
	all->current_index_ =
	    rl::atomic_history_size; /* the place of 0, but there is one before it */
	first.busy_ = true;
	first.seq_cst_ = false;
	first.thread_id_ = 0;
	first.acq_rel_timestamp_ = 0;
	for (rl::thread_id_t i = 0; i < threads; i++) {
		first.acq_rel_order_[i] = 0;
		first.first_seen_order_[i] = static_cast<rl::timestamp_t>(-1);
	}
}

#endif
