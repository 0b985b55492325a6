/* SPDX-License-Identifier: MIT */
/* unit.c - see unit.h. */
#include "unit.h"

#include "os.h"
#include "tools.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define VISIBLE __attribute__((visibility("default")))

_Atomic unsigned unit_processors;

/* The allocation of an impossible size is a test here, not a mistake. */
VISIBLE const char *__asan_default_options(void);
VISIBLE const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

VISIBLE const char *__tsan_default_options(void);
VISIBLE const char *__tsan_default_options(void)
{
	return "allocator_may_return_null=1";
}

#ifdef __GLIBC__
/* The C library's own name for what is replaced here. */
extern long __sysconf(int name);

UNWATCHED VISIBLE long sysconf(int name)
{
	if (name == _SC_NPROCESSORS_ONLN && unit_processors > 0)
		return unit_processors;
	return __sysconf(name);
}
#endif

void unit_commits_fail(const struct range *range)
{
	const struct fault_plan plan = {.kinds = FAULT_BIT(COMMIT),
	                                .times = FAULTS_FOR_GOOD,
	                                .from = (uintptr_t)range->base,
	                                .to = (uintptr_t)range->base + range->capacity};

	faults_plan(&plan);
}

void unit_commits_work(void)
{
	faults_plan(NULL);
}

void unit_random_fails(void)
{
	const struct fault_plan plan = {.kinds = FAULTS_RANDOM, .times = FAULTS_FOR_GOOD};

	faults_plan(&plan);
}

void unit_random_works(void)
{
	faults_plan(NULL);
}

int unit_child(int (*fn)(void *arg), void *arg)
{
	int status;
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		/* sanitizers report a signal and exit; here dying by it is what is asked for */
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		signal(SIGABRT, SIG_DFL);
		_exit(fn(arg));
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return status;
}

void unit_space_open(struct unit_space *s, size_t size, uint64_t limit,
                     const struct range_config *config)
{
	static const struct range_config plain = {.hugepages = CISTERN_HUGEPAGES_NEVER};

	s->size = size;
	s->base = os_reserve(size);
	ck_assert_ptr_nonnull(s->base);
	s->budget.limit = limit;
	atomic_init(&s->budget.committed, 0);
	range_open(&s->range, s->base, size, 0, &s->budget, config ? config : &plain,
	           LOCK_RANK_RANGE);
}

void unit_space_close(struct unit_space *s)
{
	range_close(&s->range);
	os_release(s->base, s->size);
}

size_t unit_committed(const struct unit_space *s)
{
	return atomic_load(&((struct unit_space *)s)->range.committed);
}

void unit_use_up(struct range *range)
{
	size_t committed = atomic_load(&range->committed);

	range->skipped_bytes += committed - range->used;
	range->used = committed;
}

void unit_provide(struct range *range, size_t size)
{
	void *block = range_take(range, size, 4096);

	ck_assert_ptr_nonnull(block);
	range_give(range, block, size);
}

cistern *unit_interner(uint32_t shards, uint64_t memory_limit)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	cistern *c;

	config.shards = shards;
	config.seed = support_seed();
	config.max_bytes = UINT64_C(1) << 30;
	config.memory_limit = memory_limit;
	config.hugepages = CISTERN_HUGEPAGES_NEVER;
	c = cistern_create(&config);
	ck_assert_ptr_nonnull(c);
	return c;
}

struct table unit_table(const cistern *c, uint32_t shard, uintptr_t *word)
{
	*word = atomic_load(&c->common.directory[shard]);
	return shard_table(&c->common, *word);
}

const struct secret *unit_secret(const cistern *c, uint32_t shard)
{
	uintptr_t word;
	struct table table = unit_table(c, shard, &word);

	return word & DIRECTORY_OWN_SECRET ? shard_own_secret(&table) : &c->common.secret;
}

void unit_check_accounts(const cistern *c)
{
	uint64_t committed = figures(c).committed_bytes;

	figures_check(c);
	ck_assert_uint_eq(committed, atomic_load(&((cistern *)c)->budget.committed));
	ck_assert_uint_le(committed, c->budget.limit);
}
