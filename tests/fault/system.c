/* SPDX-License-Identifier: MIT */
/*
 * system.c - the system itself says no, by limits that a process may set for itself: of writable
 * memory, page by page; of locked memory; of the number of mappings. Limits of address space are in
 * tests/api/limits.c, and injected errors in strace.sh. Each case is a process of its own.
 */
#include "child.h"
#include "faults.h"
#include "figures.h"
#include "meminfo.h"
#include "support.h"
#include "tools.h"

#include <cistern.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LARGE = 5000 };

/* The string with that number: most are short. */
static cistern_span string(uint64_t n)
{
	static char data[LARGE];

	memcpy(data, &n, sizeof(n));
	return (cistern_span){data, n % 50 == 49 ? LARGE : 24};
}

static const char *intern(cistern *c, uint64_t n)
{
	cistern_span s = string(n);

	return cistern_intern(c, s.data, s.len);
}

static const char *find(const cistern *c, uint64_t n)
{
	cistern_span s = string(n);

	return cistern_find(c, s.data, s.len);
}

/* Whether the strings below n are there, no other, and the accounts are right. */
static bool holds(const cistern *c, uint64_t n)
{
	cistern_stats stats = {.size = sizeof(stats)};

	for (uint64_t i = 0; i < n; i++)
		if (!find(c, i))
			return false;
	return !find(c, n) && cistern_stats_get(c, &stats) == 0 && stats.strings == n &&
	       figures_balance(&stats);
}

/* Interns strings from `from` to `to` - 1; returns where it ended, with the errno. */
static uint64_t fill(cistern *c, uint64_t from, uint64_t to)
{
	while (from < to && intern(c, from))
		from++;
	return from;
}

enum { NOT_HERE = 77 }; /* the system does not have this limit, or not for us */

static void run(int (*fn)(void *arg), void *arg)
{
	struct child child;

	child_run(&child, fn, arg);
	if (child.exited && child.code == NOT_HERE)
		puts("# part of this case is left out: the limit does not hold here");
	else
		ck_assert(child_ok(&child));
	child_free(&child);
}

/* ---------------------------------------------------------------- writable memory */

/* Sets a limit, as far as this process may; returns what it is now. */
static rlim_t set_limit(int resource, rlim_t most)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) == 0) {
		limit.rlim_cur = most < limit.rlim_max ? most : limit.rlim_max;
		setrlimit(resource, &limit);
	}
	return getrlimit(resource, &limit) == 0 ? limit.rlim_cur : 0;
}

/* Whether there is writable memory to be had that the limit of now does not allow. */
static bool limit_is_ignored(void)
{
	const size_t size = 1 << 20;
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p != MAP_FAILED && munmap(p, size) == 0;
}

enum { STRINGS = 3000 };

/* With a few pages more each time: mprotect is refused at another place. */
static int live_with_little_data(void *arg)
{
	const cistern_config *config = arg;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), used, step = page * support_stride();
	unsigned not_made = 0, cut_off = 0, whole = 0;

	meminfo_data(); /* stdio takes its own memory before it is counted */
	used = meminfo_data();
	if (!used || set_limit(RLIMIT_DATA, used) > used) /* emulators agree and do nothing */
		return NOT_HERE;
	if (limit_is_ignored()) /* some systems are told to count and not to refuse */
		return NOT_HERE;
	for (uint64_t room = 0; whole == 0; room += step) {
		uint64_t mappings = faults.mappings, n;
		cistern *c;

		CHILD_CHECK(room < 64 << 20);
		CHILD_CHECK(set_limit(RLIMIT_DATA, used + room) == used + room);
		errno = 0;
		c = cistern_create(config);
		if (!c) {
			CHILD_CHECK(errno == ENOMEM && faults.mappings == mappings);
			not_made++;
			continue;
		}
		n = fill(c, 0, STRINGS);
		cut_off += n < STRINGS;
		whole += n == STRINGS;
		CHILD_CHECK(n == STRINGS || errno == ENOMEM);
		for (int i = 0; n < STRINGS && i < 10; i++) {
			errno = 0;
			CHILD_CHECK(!intern(c, n) && errno == ENOMEM);
		}
		CHILD_CHECK(holds(c, n));
		CHILD_CHECK(fill(c, 0, n) == n);
		CHILD_CHECK(set_limit(RLIMIT_DATA, RLIM_INFINITY) > used + (64 << 20));
		CHILD_CHECK(fill(c, n, STRINGS) == STRINGS);
		CHILD_CHECK(holds(c, STRINGS));
		cistern_destroy(c);
		CHILD_CHECK(faults.mappings == mappings);
	}
	CHILD_CHECK(not_made > 0 && cut_off * step > 20 * page);
	return 0;
}

START_TEST(writable_memory_runs_out_anywhere)
{
	static const uint64_t chunks[] = {4096, 0, 65536};
	cistern_config config = CISTERN_CONFIG_INIT;

	for (size_t i = 0; i < 3; i++) {
		config.shards = 2;
		config.commit_chunk = chunks[i];
		config.prefault = i != 2;
		config.value_size = i ? 0 : 8;
		run(live_with_little_data, &config);
	}
}
END_TEST

/* ---------------------------------------------------------------- locked memory */

/*
 * Whether the limit is all ours. An emulator may map a place twice before it has it, and lose what
 * it had the first time when it is refused the second.
 */
static bool all_ours(rlim_t most)
{
	size_t size = (size_t)most - (1 << 20);
	void *p;

	if (most == RLIM_INFINITY || most < 4 << 20)
		return true;
	p = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p != MAP_FAILED && munmap(p, size) == 0;
}

/*
 * Whatever is mapped is locked at once. Where that is limited, mmap says EAGAIN; madvise cannot
 * empty what is locked.
 */
static int live_with_locked_memory(void *arg)
{
	rlim_t most = set_limit(RLIMIT_MEMLOCK, *(const rlim_t *)arg);
	cistern_stats stats = {.size = sizeof(stats)};
	uint64_t mappings = faults.mappings;
	cistern *c;

	/* who may lock without limit gives that up */
	if (geteuid() == 0 && most != RLIM_INFINITY && setuid(65534) != 0)
		return NOT_HERE;
	if (mlockall(MCL_FUTURE) != 0 || !all_ours(most))
		return NOT_HERE;
	errno = 0;
	c = cistern_create(NULL);
	if (!c) {
		CHILD_CHECK(errno == ENOMEM && faults.mappings == mappings);
		munlockall();
		c = cistern_create(NULL);
		CHILD_CHECK(c && fill(c, 0, STRINGS) == STRINGS && holds(c, STRINGS));
		return most > 4 << 20;
	}
	CHILD_CHECK(most >= 2 << 20);
	CHILD_CHECK(cistern_stats_get(c, &stats) == 0);
	CHILD_CHECK(most == RLIM_INFINITY || stats.reserved_bytes <= most);
	CHILD_CHECK(fill(c, 0, STRINGS) == STRINGS && holds(c, STRINGS));
	CHILD_CHECK(cistern_reserve(c, 20000) == 0 && holds(c, STRINGS));
	CHILD_CHECK(cistern_stats_get(c, &stats) == 0);
	CHILD_CHECK(stats.retired_bytes > 8192 && stats.emptied_bytes == 0);
	cistern_destroy(c);
	CHILD_CHECK(faults.mappings == mappings);
	return 0;
}

START_TEST(locked_memory_is_limited_or_cannot_be_emptied)
{
	static const rlim_t limits[] = {65536, 3 << 20, 6 << 20, 64 << 20, RLIM_INFINITY};

	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++)
		run(live_with_locked_memory, (void *)&limits[i]);
}
END_TEST

/* ---------------------------------------------------------------- mappings */

/*
 * As many mappings as a process may have: committing the first part of a range needs one more,
 * moving the border afterwards none.
 */
static int live_with_all_mappings_taken(void *arg)
{
	enum { MOST = 200000 };
	static void *taken[MOST];
	size_t page = (size_t)sysconf(_SC_PAGESIZE), count = 0;
	uint64_t mappings = faults.mappings;
	cistern *fresh, *used;
	uint64_t n;

	(void)arg;
	fresh = cistern_create(NULL);
	used = cistern_create(NULL);
	CHILD_CHECK(fresh && used && fill(used, 0, 100) == 100);
	for (; count < MOST; count++) {
		taken[count] = mmap(NULL, page, count % 2 ? PROT_READ : PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (taken[count] == MAP_FAILED)
			break;
	}
	if (count == MOST) /* far more may be had here */
		return NOT_HERE;
	errno = 0;
	CHILD_CHECK(!cistern_create(NULL) && errno == ENOMEM);
	errno = 0;
	CHILD_CHECK(!intern(fresh, 0) && errno == ENOMEM);
	CHILD_CHECK(holds(fresh, 0));
	n = fill(used, 100, STRINGS);
	CHILD_CHECK(n == STRINGS || errno == ENOMEM);
	CHILD_CHECK(holds(used, n));
	while (count-- > 0)
		munmap(taken[count], page);
	CHILD_CHECK(fill(fresh, 0, STRINGS) == STRINGS && holds(fresh, STRINGS));
	CHILD_CHECK(fill(used, n, STRINGS) == STRINGS && holds(used, STRINGS));
	cistern_destroy(fresh);
	cistern_destroy(used);
	CHILD_CHECK(faults.mappings == mappings);
	return 0;
}

START_TEST(all_mappings_are_taken)
{
	run(live_with_all_mappings_taken, NULL);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("system");

	support_add(s, writable_memory_runs_out_anywhere);
	support_add(s, locked_memory_is_limited_or_cannot_be_emptied);
	support_add(s, all_mappings_are_taken);
	return s;
}

int main(int argc, char **argv)
{
	if (UNDER_ASAN || UNDER_TSAN || UNDER_VALGRIND) {
		puts("1..0 # SKIP sanitizers and valgrind need memory of their own at any time");
		return 0;
	}
	return support_main(argc, argv, "system", make);
}
