// SPDX-License-Identifier: MIT
/*
 * memory.cc - memory in a scene, but for atomics: what came before, plain data, pages, locks.
 *
 * The library finds its data where it is, so all executions play in the same memory, with the
 * newest values in place; beside it lies what Relacy knows of it, made at the first access and
 * dropped at the end. All writes, those of static data included, are kept in a list and undone: so
 * one beginning of a scene, which may be long, serves all its executions.
 *
 * - plain data: of each byte, who read and wrote it last. Whoever accesses it must know of those
 *   that conflict, else this is a data race and ends the execution. So there are no older values
 *   of plain data. Atomic accesses count as reads.
 * - pages: who committed them. Whoever accesses them must know of that.
 * - locks: Relacy's. A thread may lose its turn before it takes one; not before it gives one back,
 *   from which nothing would come that a moment earlier or later does not bring.
 */
#include "memory.h"

extern "C" char __data_start[], _end[]; /* the program's data, by the C library and the linker */

bool memory_running;
int memory_mutant;

namespace
{

bool started; /* main */

/* ---------------------------------------------------------------- undoing */

struct written {
	char *at;
	uint64_t was;
};
written list[1 << 15];
size_t list_length, list_begun; /* in all, and at the end of the scene's beginning */

void undo(size_t to)
{
	while (list_length > to) {
		list_length--;
		std::memcpy(list[list_length].at, &list[list_length].was, 8);
	}
}

/* ---------------------------------------------------------------- pages */

struct pages {
	const char *from, *to;
	rl::var_data *commit; /* NULL: before all executions */

	bool have(const volatile void *p) const
	{
		return (const volatile char *)p >= from && (const volatile char *)p < to;
	}
};
pages reserved[4], committed[32], quiet;
size_t reserved_count, reserved_begun, committed_count, committed_begun;

void reach(const volatile void *p, rl::debug_info_param where)
{
	bool is_reserved = false;

	for (size_t i = 0; i < reserved_count; i++)
		is_reserved |= reserved[i].have(p);
	for (size_t i = 0; is_reserved && i < committed_count; i++)
		if (committed[i].have(p)) {
			if (!committed[i].commit || committed[i].commit->load(self()))
				return;
			rl::ctx().fail_test("memory not known to be there",
					    rl::test_result_access_to_freed_memory, where);
		}
	if (is_reserved)
		rl::ctx().fail_test("no memory there", rl::test_result_access_to_freed_memory,
				    where);
}

/* ---------------------------------------------------------------- plain data */

by_address<rl::var_data *> bytes;

rl::var_data &byte_at(const volatile void *p, size_t i)
{
	rl::var_data *&byte = bytes.get((const volatile char *)p + i);

	if (!byte)
		byte = rl::ctx().var_ctor();
	return *byte;
}

void race(const volatile void *p, const char *what, rl::debug_info_param where)
{
	note(where, "%s at %#lx", what, memory_number(p));
	rl::ctx().fail_test("", rl::test_result_data_race, where);
}

/* Stacks are each thread's own and not looked at. */
bool is_shared(const void *p)
{
	return p >= static_cast<void *>(__data_start) && p < static_cast<void *>(_end);
}

void access(const void *p, size_t size, bool write)
{
	const rl::debug_info where("plain", "library", 0);

	if (size == 0 || !is_shared(p))
		return;
	if (write)
		memory_remember(const_cast<void *>(p), size);
	if (!memory_running)
		return;
	reach(p, where);
	for (size_t i = 0; i < size; i++) {
		rl::var_data &byte = byte_at(p, i);

		if (!(write ? byte.store(self()) : byte.load(self())))
			race(static_cast<const char *>(p) + i, write ? "write" : "read", where);
	}
	if (write)
		atomics_forget(p, size);
}

/* ---------------------------------------------------------------- locks */

struct mutex {
	const void *lock;
	rl::generic_mutex_data *data;
};
mutex mutexes[16];
size_t mutexes_count;
unsigned held[MODEL_THREADS]; /* locks, by thread */

rl::generic_mutex_data &mutex_of(const void *lock)
{
	for (size_t i = 0; i < mutexes_count; i++)
		if (mutexes[i].lock == lock)
			return *mutexes[i].data;
	if (mutexes_count == sizeof mutexes / sizeof *mutexes)
		too_large("locks");
	mutexes[mutexes_count] = {lock, rl::ctx().mutex_ctor(false, false, false, false)};
	return *mutexes[mutexes_count++].data;
}

} // namespace

/* ---------------------------------------------------------------- for atomics.cc */

bool memory_locked()
{
	return held[self().index_] > 0;
}

bool memory_quiet(const volatile void *p)
{
	return quiet.have(p);
}

void memory_remember(volatile void *p, size_t size)
{
	char *from = (char *)p - (uintptr_t)p % 8, *end = (char *)p + size;

	for (char *at = from; started && at < end; at += 8) {
		if (list_length == sizeof list / sizeof *list)
			too_large("writes");
		list[list_length].at = at;
		std::memcpy(&list[list_length++].was, at, 8);
	}
}

void memory_touch(const volatile void *p, size_t size, rl::debug_info_param where)
{
	reach(p, where);
	for (size_t i = 0; i < size; i++)
		if (!byte_at(p, i).load(self()))
			race(p, "atomic access", where);
}

unsigned long memory_number(const volatile void *p)
{
	const char *from = reserved_count > 0 ? reserved[0].from : __data_start;

	return (unsigned long)((const volatile char *)p - from);
}

/* ---------------------------------------------------------------- for the library's code */

void model_read(const void *p, size_t size)
{
	access(p, size, false);
}

void model_write(void *p, size_t size)
{
	access(p, size, true);
}

void *model_copy(void *to, const void *from, size_t size)
{
	access(from, size, false);
	access(to, size, true);
	return std::memcpy(to, from, size);
}

void *model_set(void *p, int byte, size_t size)
{
	access(p, size, true);
	return std::memset(p, byte, size);
}

int model_compare(const void *a, const void *b, size_t size)
{
	access(a, size, false);
	access(b, size, false);
	return std::memcmp(a, b, size);
}

void model_lock(const void *lock)
{
	if (!memory_running)
		return;
	if (quiet.have(lock)) {
		rl::preemption_disabler disabler(rl::ctx());

		mutex_of(lock).lock_exclusive(false, {"lock", "library", 0});
	} else {
		mutex_of(lock).lock_exclusive(false, {"lock", "library", 0});
	}
	self().last_yield_ = 0; /* to have waited is no reason for seeing newer values of others */
	held[self().index_]++;
}

void model_unlock(const void *lock)
{
	if (!memory_running)
		return;

	rl::preemption_disabler disabler(rl::ctx());

	held[self().index_]--;
	mutex_of(lock).unlock_exclusive({"unlock", "library", 0});
}

void model_reserve(void *p, size_t size)
{
	if (reserved_count == sizeof reserved / sizeof *reserved)
		too_large("reservations");
	reserved[reserved_count++] = {static_cast<char *>(p), static_cast<char *>(p) + size,
				      nullptr};
}

void model_commit(void *p, size_t size)
{
	if (committed_count == sizeof committed / sizeof *committed)
		too_large("commits");

	pages &pages = committed[committed_count++];

	pages = {static_cast<char *>(p), static_cast<char *>(p) + size, nullptr};
	if (memory_running) {
		pages.commit = rl::ctx().var_ctor();
		pages.commit->store(self());
		note({"commit", "library", 0}, "commit from %#lx", memory_number(p));
	}
}

bool model_started()
{
	return started;
}

/* ---------------------------------------------------------------- for scenes */

void model_reach(const void *p)
{
	if (memory_running)
		reach(p, {"reach", "scene", 0});
}

void model_quiet(const void *p, size_t size)
{
	quiet = {static_cast<const char *>(p), static_cast<const char *>(p) + size, nullptr};
}

void model_expect_at(bool condition, const char *what, const char *file, int line)
{
	if (condition)
		return;
	if (!memory_running) {
		std::fprintf(stderr, "%s:%d: %s\n", file, line, what);
		std::abort();
	}
	rl::ctx().fail_test(what, rl::test_result_user_assert_failed,
			    {"expect", file, (unsigned)line});
}

/* ---------------------------------------------------------------- for explore.cc */

void memory_begin(int mutant)
{
	started = true;
	memory_running = false;
	memory_mutant = mutant;
	reserved_count = committed_count = reserved_begun = committed_begun = 0;
	quiet = {};
	list_begun = 0;
	atomics_begin();
}

void memory_enter(void (*make_initial)(rl::atomic_data *data))
{
	if (list_begun == 0) { /* the first one */
		list_begun = list_length;
		reserved_begun = reserved_count;
		committed_begun = committed_count;
	}
	undo(list_begun);
	reserved_count = reserved_begun;
	committed_count = committed_begun;
	mutexes_count = 0;
	bytes.clear();
	std::memset(held, 0, sizeof held);
	atomics_enter(make_initial);
	memory_running = true;
}

void memory_left()
{
	memory_running = false;
}

void memory_leave()
{
	memory_left();
	atomics_leave();
	bytes.each([](rl::var_data *byte) { rl::ctx().var_dtor(byte); });
	for (size_t i = committed_begun; i < committed_count; i++)
		rl::ctx().var_dtor(committed[i].commit);
	for (size_t i = 0; i < mutexes_count; i++)
		rl::ctx().mutex_dtor(mutexes[i].data);
}

void memory_end()
{
	undo(0);
}
