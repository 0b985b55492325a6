/* SPDX-License-Identifier: MIT */
/*
 * growth.c - tests of how tables grow, through whole interners: sizes, retired tables and readers still in them, reserving,
 * and growth that is refused.
 */
#include "unit.h"

#include "meminfo.h"
#include "os.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static const char *intern_number(cistern *c, uint64_t number)
{
	return cistern_intern(c, (const char *)&number, sizeof number);
}

static const char *find_number(const cistern *c, uint64_t number)
{
	return cistern_find(c, (const char *)&number, sizeof number);
}

/* All of 0 .. n - 1 are there, and n is not. */
static void check_numbers(const cistern *c, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		const char *str = find_number(c, i);

		if (!str || memcmp(str, &i, sizeof i) != 0 || cistern_len(str) != sizeof i)
			ck_abort_msg("number %llu of %llu is lost", (unsigned long long)i,
			             (unsigned long long)n);
	}
	ck_assert_ptr_null(find_number(c, n));
}

START_TEST(tables_grow_fourfold_below_4_kib_and_double_from_there)
{
	static const uint64_t buckets[] = {1, 4, 16, 64, 128, 256, 512, 1024, 2048, 4096};
	cistern *c = unit_interner(1, 0);
	uint64_t n = 0;

	ck_assert_uint_eq(figures(c).slots, 0);
	ck_assert_uint_eq(figures(c).table_bytes, 0);
	for (size_t i = 0; i < sizeof buckets / sizeof *buckets; i++) {
		uintptr_t word;

		/* not one string too early, not one too late */
		for (uint64_t limit = i ? table_load_limit(buckets[i - 1]) : 0; n < limit; n++) {
			ck_assert(intern_number(c, n));
			ck_assert(c->shards[0].slots == table_slots(buckets[i - 1]));
		}
		ck_assert(intern_number(c, n));
		n++;
		ck_assert_uint_eq(c->shards[0].slots, table_slots(buckets[i]));
		ck_assert_uint_eq(unit_table(c, 0, &word).mask + 1, buckets[i]);
		ck_assert_uint_eq(figures(c).table_bytes, buckets[i] * BUCKET_BYTES);
		ck_assert_uint_eq(figures(c).growths, i); /* the first table replaces none */
		ck_assert_uint_eq(figures(c).strings, n);
	}
	check_numbers(c, n);
	cistern_destroy(c);
}
END_TEST

START_TEST(a_directory_word_never_recurs)
{
	enum { MOST = 64 };
	cistern *c = unit_interner(1, 0);
	uintptr_t words[MOST], word;
	size_t count = 0;

	for (uint64_t n = 0; n < 100000; n++) {
		unit_table(c, 0, &word);
		if (count == 0 || word != words[count - 1]) {
			for (size_t i = 0; i < count; i++)
				ck_assert_uint_ne(words[i], word);
			ck_assert_uint_lt(count, MOST);
			words[count++] = word;
		}
		ck_assert(intern_number(c, n));
	}
	ck_assert_uint_ge(count, 12);
	for (size_t i = 1; i + 1 < count; i++) { /* nor do two tables overlap */
		struct table a = shard_table(&c->common, words[i]);

		for (size_t k = i + 1; k < count; k++) {
			struct table b = shard_table(&c->common, words[k]);

			ck_assert(a.buckets + a.mask < b.buckets || b.buckets + b.mask < a.buckets);
		}
	}
	cistern_destroy(c);
}
END_TEST

START_TEST(empty_shards_share_one_bucket_of_zeros)
{
	cistern *c = unit_interner(256, 0);
	uintptr_t first, word;

	unit_table(c, 0, &first);
	for (uint32_t i = 0; i < 256; i++) {
		struct table table = unit_table(c, i, &word);

		ck_assert_uint_eq(word, first);
		ck_assert_uint_eq(table.mask, 0);
		ck_assert(table_check(&table, 0));
	}
	ck_assert(cistern_intern(c, "a", 1));
	for (uint32_t i = 0, changed = 0; i < 256; i++) {
		struct table table = unit_table(c, i, &word);

		changed += word != first;
		ck_assert_uint_le(changed, 1);
		ck_assert(table_check(&table, word != first));
	}
	cistern_destroy(c);
}
END_TEST

/* Whether all buckets of a table are zeros. */
static bool is_empty(const struct table *table)
{
	const unsigned char *bytes = (const unsigned char *)table->buckets;

	for (size_t i = 0; i < ((size_t)table->mask + 1) * BUCKET_BYTES; i++)
		if (bytes[i])
			return false;
	return true;
}

START_TEST(retired_tables_of_whole_pages_are_emptied)
{
	cistern *c = unit_interner(1, 0);
	uint64_t retired = 0, emptied = 0;
	uintptr_t before, after;

	for (uint64_t n = 0; n < 50000; n++) {
		struct table old = unit_table(c, 0, &before);
		size_t bytes = ((size_t)old.mask + 1) * BUCKET_BYTES;

		ck_assert(intern_number(c, n));
		unit_table(c, 0, &after);
		if (after == before || n == 0)
			continue;
		retired += bytes;
#ifdef __linux__
		if (bytes >= os_page_size())
			emptied += bytes;
		ck_assert_int_eq(is_empty(&old), bytes >= os_page_size());
#endif
		ck_assert_uint_eq(figures(c).retired_bytes, retired);
		ck_assert_uint_eq(figures(c).emptied_bytes, emptied);
	}
	ck_assert_uint_gt(retired, 100000);
	unit_check_accounts(c);
	cistern_destroy(c);
}
END_TEST

START_TEST(a_retired_table_that_cannot_be_emptied_is_kept_and_counted)
{
	cistern *c = unit_interner(1, 0);

	faults_plan(&(struct fault_plan){.kinds = FAULT_BIT(DISCARD), .times = FAULTS_FOR_GOOD});
	for (uint64_t n = 0; n < 5000; n++)
		ck_assert(intern_number(c, n));
	faults_plan(NULL);
	ck_assert_uint_ge(figures(c).retired_bytes, (1 + 4 + 16 + 64 + 128 + 256) * BUCKET_BYTES);
	ck_assert_uint_eq(figures(c).emptied_bytes, 0);
	check_numbers(c, 5000);
	unit_check_accounts(c);
	cistern_destroy(c);
}
END_TEST

/* ---------------------------------------------------------------- readers left behind */

/* Looks number up in the very table that word describes, as a reader who loaded it long ago would. */
static const char *find_in(const cistern *c, uintptr_t word, uint64_t number)
{
	struct table table = shard_table(&c->common, word);
	uint64_t hash = hash_bytes(&c->common.secret, (const char *)&number, sizeof number);
	const struct wanted wanted = {.s = (const char *)&number, .len = sizeof number,
	                              .header = entry_header(sizeof number, hash_byte(hash))};

	if (word & DIRECTORY_OWN_SECRET)
		hash = shard_own_hash(&table, &wanted);
	return table_find(&table, &c->common.layout, &wanted, hash);
}

/* FAULTS 24. */
START_TEST(a_reader_in_a_retired_table_finds_what_is_right_or_nothing)
{
	for (unsigned hold = 0; hold < 8; hold++) {
		cistern *c = unit_interner(1, 0);
		uint64_t n = 0, there;
		struct table held;
		uintptr_t word;
		bool emptied;

		while (c->shards[0].growths < hold)
			ck_assert(intern_number(c, n++));
		held = unit_table(c, 0, &word);
		there = n;
		emptied = ((size_t)held.mask + 1) * BUCKET_BYTES >= os_page_size();
		while (c->shards[0].growths < hold + 3)
			ck_assert(intern_number(c, n++));
		for (uint64_t i = 0; i < n + 10; i++) {
			const char *str = find_in(c, word, i);

			if (str)
				ck_assert(str == find_number(c, i));
			if (i < there && !emptied)
				ck_assert(str); /* it held this one */
#ifdef __linux__
			if (emptied)
				ck_assert(!str);
#endif
			ck_assert(!table_holds(&held, 12345678, i * UINT64_C(0x9e3779b97f4a7c15)));
		}
		cistern_destroy(c);
	}
}
END_TEST

struct old_race {
	cistern *c;
	_Atomic uintptr_t word;
	_Atomic uint64_t n;
	uint64_t most;
};

/* Worker 0 grows; the others search in whatever table they were last told of, while it is emptied. */
static void grow_and_search(support_worker *worker)
{
	struct old_race *race = worker->arg;
	const char *str;

	if (worker->index == 0) {
		for (uint64_t i = race->n; i < race->most; i++) {
			uintptr_t word;

			if (i % 4096 == 0) {
				unit_table(race->c, 0, &word);
				atomic_store(&race->word, word);
			}
			if (!support_expect(worker, intern_number(race->c, i) != NULL))
				break;
			race->n = i + 1;
		}
		race->n = race->most;
		return;
	}
	while (race->n < race->most && !worker->failed) {
		uintptr_t word = atomic_load(&race->word);

		for (int k = 0; k < 256; k++) {
			uint64_t number = support_rng_below(&worker->rng, race->n);

			str = find_in(race->c, word, number);
			if (str)
				support_expect(worker, memcmp(str, &number, sizeof number) == 0 &&
				                           str == find_number(race->c, number));
			support_expect(worker, find_number(race->c, number) != NULL);
		}
	}
}

START_TEST(readers_stay_right_while_their_table_is_emptied_under_them)
{
	struct old_race race = {.c = unit_interner(1, 0), .most = support_scaled(400000)};
	uintptr_t word;

	if (race.most < 10000)
		race.most = 10000;
	for (; race.n < 2000; race.n++)
		ck_assert(intern_number(race.c, race.n));
	unit_table(race.c, 0, &word);
	atomic_store(&race.word, word);
	support_run(3, grow_and_search, &race);
	check_numbers(race.c, race.most);
	unit_check_accounts(race.c);
	cistern_destroy(race.c);
}
END_TEST

/*
 * A reader is stopped between loading the directory word and reading the table, by taking the table's pages away:
 * the handler of the fault gives them back and has the table grow, so that the reader goes on in an emptied one.
 */
static struct interruption {
	cistern *c;
	struct table table;
	uint64_t n;
	bool hold; /* grow by cistern_reserve, which takes no memory for strings, and keep the shard locked */
	volatile sig_atomic_t times;
} interruption;

static int protect(const struct table *table, int protection)
{
	return mprotect((void *)table->buckets, ((size_t)table->mask + 1) * BUCKET_BYTES, protection);
}

static void grow_under_reader(int signo)
{
	uint64_t growths = interruption.c->shards[0].growths;
	int error = errno;

	if (interruption.times++ || protect(&interruption.table, PROT_READ | PROT_WRITE) != 0) {
		signal(signo, SIG_DFL);
	} else if (interruption.hold) {
		cistern_reserve(interruption.c, 2 * interruption.c->shards[0].limit);
		lock_acquire(&interruption.c->shards[0].lock);
	} else {
		while (interruption.c->shards[0].growths == growths &&
		       intern_number(interruption.c, interruption.n))
			interruption.n++;
	}
	errno = error;
}

static const char *look_up(const cistern *c, int how, uint64_t number, const char *want)
{
	cistern_span in = {(const char *)&number, sizeof number};
	const char *out = NULL;

	switch (how) {
	case 0:
		return cistern_find(c, in.data, in.len);
	case 1:
		return cistern_find_hashed(c, in.data, in.len, cistern_hash(c, in.data, in.len));
	case 2:
		cistern_find_batch(c, &in, &out, 1);
		return out;
	case 3:
		return cistern_owns(c, want) ? want : NULL;
	case 4:
		return cistern_id_valid(c, cistern_id_of(c, want)) ? want : NULL;
	case 5:
		return cistern_intern((cistern *)c, in.data, in.len);
	default:
		cistern_intern_batch((cistern *)c, &in, &out, 1);
		return out;
	}
}

START_TEST(a_miss_in_a_table_that_was_emptied_meanwhile_is_looked_for_again)
{
	struct sigaction action = {.sa_handler = grow_under_reader};
	cistern *c = unit_interner(1, 0);
	uintptr_t word;

	ck_assert_int_eq(sigaction(SIGSEGV, &action, NULL), 0);
	interruption.c = c;
	for (interruption.n = 0; interruption.n < 3000; interruption.n++)
		ck_assert(intern_number(c, interruption.n));
	for (int how = 0; how <= 6; how++) {
		uint64_t number = 100 + (uint64_t)how;
		const char *want = find_number(c, number), *str;
		uint64_t n = interruption.n;

		interruption.table = unit_table(c, 0, &word);
		interruption.times = 0;
		ck_assert_int_eq(protect(&interruption.table, PROT_NONE), 0);
		str = look_up(c, how, number, want);
		ck_assert_int_eq(interruption.times, 1);
		ck_assert_msg(str == want, "way %d", how);
		ck_assert_uint_eq(figures(c).strings, interruption.n);
		ck_assert_uint_gt(interruption.n, n);
	}
	signal(SIGSEGV, SIG_DFL);
	check_numbers(c, interruption.n);
	cistern_destroy(c);
}
END_TEST

static const char *intern_present(cistern *c, int how, const char *s, size_t len)
{
	cistern_span in = {s, len}, halves[] = {{s, len / 2}, {s + len / 2, len - len / 2}};
	const char *out = NULL;

	switch (how) {
	case 0:
		return cistern_intern(c, s, len);
	case 1:
		return cistern_intern_new(c, s, len, NULL);
	case 2:
		return cistern_intern_hashed(c, s, len, cistern_hash(c, s, len));
	case 3:
		return cistern_internv(c, halves, 2);
	default:
		cistern_intern_batch(c, &in, &out, 1);
		return out;
	}
}

/* The lock stays taken, so who waits for it waits for ever; and there is no memory for a copy of a large string. */
START_TEST(a_hit_whose_table_is_emptied_meanwhile_needs_neither_lock_nor_memory)
{
	static const size_t lengths[] = {20, 129, 4095, 4096, 5000, 100000};
	static char bytes[100000];
	struct sigaction action = {.sa_handler = grow_under_reader};
	cistern *c = unit_interner(1, 0);
	const char *want[6];
	uintptr_t word;

	ck_assert_int_eq(sigaction(SIGSEGV, &action, NULL), 0);
	for (size_t i = 0; i < 6; i++)
		ck_assert_ptr_nonnull(want[i] = cistern_intern(c, bytes, lengths[i]));
	for (uint64_t i = 0; i < 1000; i++)
		ck_assert(intern_number(c, i));
	unit_use_up(&c->common.strings);
	unit_commits_fail(&c->common.strings);
	interruption.c = c;
	interruption.hold = true;
	for (int how = 0; how < 5; how++) {
		size_t i = how == 3 ? 5 : (size_t)how;
		const char *str;

		interruption.table = unit_table(c, 0, &word);
		interruption.times = 0;
		ck_assert_int_eq(protect(&interruption.table, PROT_NONE), 0);
		str = intern_present(c, how, bytes, lengths[i]);
		ck_assert_int_eq(interruption.times, 1);
		lock_release(&c->shards[0].lock);
		ck_assert_msg(str == want[i], "way %d", how);
	}
	unit_commits_work();
	signal(SIGSEGV, SIG_DFL);
	cistern_destroy(c);
}
END_TEST

/* ---------------------------------------------------------------- reserving */

START_TEST(after_reserve_nothing_grows)
{
	static const uint32_t shards[] = {1, 16, 256};

	for (size_t k = 0; k < 3; k++) {
		cistern *c = unit_interner(shards[k], 0);
		size_t n = support_scaled(100000);
		uint64_t growths;

		ck_assert_int_eq(cistern_reserve(c, n), 0);
		growths = figures(c).growths;
		ck_assert_uint_eq(growths, 0);
		for (uint64_t i = 0; i < n; i++)
			ck_assert(intern_number(c, i));
		ck_assert_uint_eq(figures(c).growths, growths);
		ck_assert_int_eq(cistern_reserve(c, n / 2), 0); /* no less than there is */
		ck_assert_uint_eq(figures(c).growths, growths);
		unit_check_accounts(c);
		cistern_destroy(c);
	}
}
END_TEST

START_TEST(reserving_more_than_fits_fails_and_harms_nothing)
{
	cistern *c = unit_interner(4, UINT64_C(4) << 20);

	for (uint64_t i = 0; i < 1000; i++)
		ck_assert(intern_number(c, i));
	errno = 0;
	ck_assert_int_eq(cistern_reserve(c, 100000000), -1);
	ck_assert_int_eq(errno, ENOSPC);
	ck_assert_int_eq(cistern_reserve(c, UINT32_MAX), -1);
	ck_assert_int_eq(errno, ENOSPC);
#if SIZE_MAX > UINT32_MAX
	ck_assert_int_eq(cistern_reserve(c, (size_t)UINT32_MAX + 1), -1);
	ck_assert_int_eq(errno, EOVERFLOW);
#endif
	ck_assert_int_eq(cistern_reserve(NULL, 1), -1);
	ck_assert_int_eq(errno, EINVAL);
	check_numbers(c, 1000);
	unit_check_accounts(c);
	cistern_destroy(c);
}
END_TEST

START_TEST(more_buckets_than_a_word_can_say_are_refused)
{
	cistern *c = unit_interner(1, 0);

	errno = 0;
	ck_assert(!shard_reserve(&c->shards[0], &c->common, UINT64_MAX));
	ck_assert_int_eq(errno, ENOSPC);
	ck_assert_uint_eq(figures(c).slots, 0);
	ck_assert(intern_number(c, 1));
	cistern_destroy(c);
}
END_TEST

/* ---------------------------------------------------------------- growth that is refused */

START_TEST(refused_growth_lets_inserting_go_on_to_the_hard_limit)
{
	cistern *c = unit_interner(1, 0);
	uint64_t n = 0, buckets = 256;

	while (c->shards[0].slots < table_slots(buckets))
		ck_assert(intern_number(c, n++));
	unit_use_up(&c->common.tables);
	unit_commits_fail(&c->common.tables);
	while (intern_number(c, n))
		n++;
	ck_assert_int_eq(errno, ENOMEM);
	ck_assert_uint_eq(n, table_hard_limit(buckets));
	ck_assert_uint_eq(c->shards[0].slots, table_slots(buckets));
	check_numbers(c, n);
	for (uint64_t i = 0; i < n; i++) /* hits need no room */
		ck_assert(intern_number(c, i));
	for (int i = 0; i < 100; i++) {
		errno = 0;
		ck_assert_ptr_null(intern_number(c, n));
		ck_assert_int_eq(errno, ENOMEM);
	}
	ck_assert_uint_eq(figures(c).strings, n);
	unit_check_accounts(c);

	unit_commits_work();
	for (uint64_t i = n; i < 3 * n; i++)
		ck_assert(intern_number(c, i));
	check_numbers(c, 3 * n);
	unit_check_accounts(c);
	cistern_destroy(c);
}
END_TEST

START_TEST(the_first_table_is_needed)
{
	cistern *c = unit_interner(1, 0);

	unit_use_up(&c->common.tables);
	unit_commits_fail(&c->common.tables);
	ck_assert_ptr_null(intern_number(c, 1));
	ck_assert_int_eq(errno, ENOMEM);
	ck_assert_uint_eq(figures(c).strings, 0);
	ck_assert_uint_eq(figures(c).payload_bytes, 0);
	unit_commits_work();
	ck_assert(intern_number(c, 1));
	cistern_destroy(c);
}
END_TEST

START_TEST(memory_limit_ends_inserting_and_is_never_passed)
{
	static const uint64_t limits[] = {128 << 10, 300000, 1 << 20, 5 << 20};

	for (size_t k = 0; k < sizeof limits / sizeof *limits; k++)
		for (uint32_t shards = 1; shards <= 64; shards *= 8) {
			cistern *c = unit_interner(shards, limits[k]);
			uint64_t n = 0;

			while (intern_number(c, n)) {
				n++;
				if (n % 64 == 0)
					ck_assert_uint_le(atomic_load(&c->budget.committed), limits[k]);
			}
			ck_assert_int_eq(errno, ENOSPC);
			ck_assert_uint_ge(n, 500);
			check_numbers(c, n);
			for (int i = 0; i < 10; i++)
				ck_assert_ptr_null(intern_number(c, n));
			ck_assert_uint_eq(figures(c).strings, n);
			unit_check_accounts(c);
			cistern_destroy(c);
		}
}
END_TEST

/* Each commit of a growing interner fails once; whatever fails can be repeated. */
START_TEST(any_single_commit_may_fail)
{
	uint64_t commits;
	cistern *c = unit_interner(2, 0);

	commits = faults.calls[FAULT_COMMIT];
	for (uint64_t i = 0; i < 20000; i++)
		ck_assert(intern_number(c, i));
	commits = faults.calls[FAULT_COMMIT] - commits;
	cistern_destroy(c);
	ck_assert_uint_ge(commits, 10);
	for (uint64_t fail = 0; fail < commits; fail++) {
		c = unit_interner(2, 0);
		faults_plan(&(struct fault_plan){
		    .kinds = FAULT_BIT(COMMIT), .after = fail, .times = FAULTS_FOR_GOOD});
		for (uint64_t i = 0; i < 20000; i++) {
			if (intern_number(c, i))
				continue;
			ck_assert_int_eq(errno, ENOMEM);
			ck_assert_ptr_null(find_number(c, i));
			ck_assert_uint_eq(figures(c).strings, i);
			unit_check_accounts(c);
			unit_commits_work();
			ck_assert(intern_number(c, i));
		}
		unit_commits_work();
		check_numbers(c, 20000);
		unit_check_accounts(c);
		cistern_destroy(c);
	}
}
END_TEST

START_TEST(creating_fails_cleanly_at_each_commit)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	cistern *c = NULL;

	config.capacity = 100000;
	for (uint64_t works = 0; !c; works++) {
		faults_plan(&(struct fault_plan){
		    .kinds = FAULT_BIT(COMMIT), .after = works, .times = FAULTS_FOR_GOOD});
		errno = 0;
		c = cistern_create(&config);
		if (!c)
			ck_assert_int_eq(errno, ENOMEM);
		ck_assert_uint_lt(works, 1000);
		if (works == 0)
			ck_assert_ptr_null(c);
	}
	unit_commits_work();
	ck_assert(intern_number(c, 1));
	cistern_destroy(c);

	config.capacity = 100000000;
	config.memory_limit = 1 << 20;
	ck_assert_ptr_null(cistern_create(&config));
	ck_assert_int_eq(errno, ENOSPC);
	config.capacity = 0;
	config.shards = 65536;
	ck_assert_ptr_null(cistern_create(&config)); /* its own structures do not fit */
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST

START_TEST(creating_without_random_bytes_fails)
{
	cistern *c;

	unit_random_fails();
	errno = 0;
	c = cistern_create(NULL);
	unit_random_works();
	ck_assert_ptr_null(c);
	ck_assert_int_eq(errno, EIO);
}
END_TEST

#ifdef __GLIBC__ /* see unit.c */
/* DESIGN 10: the next power of two from four a processor on, 16 to 256. */
START_TEST(automatic_shards_follow_the_processors)
{
	static const struct {
		unsigned processors, shards;
	} cases[] = {{1, 16}, {4, 16}, {5, 32}, {8, 32}, {16, 64}, {48, 256}, {64, 256}, {500, 256}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		cistern_config out = CISTERN_CONFIG_INIT;
		cistern *c;

		unit_processors = cases[i].processors;
		c = cistern_create(NULL);
		ck_assert_ptr_nonnull(c);
		ck_assert_int_eq(cistern_config_of(c, &out), 0);
		ck_assert_uint_eq(out.shards, cases[i].shards);
		cistern_destroy(c);
	}
	unit_processors = 0;
}
END_TEST
#endif

/* Runs with so much more address space than the process has now. */
static int in_little_space(void *arg)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	struct rlimit limit = {*(const rlim_t *)arg, *(const rlim_t *)arg};
	cistern_stats s = {.size = sizeof s};
	cistern *c;

	if (setrlimit(RLIMIT_AS, &limit) != 0)
		return 1;
	c = cistern_create(&config);
	if (!c)
		return errno == ENOMEM ? 10 : 2;
	if (cistern_stats_get(c, &s) != 0 || s.capacity_bytes >= config.max_bytes ||
	    s.reserved_bytes > limit.rlim_cur / 8 + (5 << 20)) /* aligned for huge pages, and control */
		return 3;
	for (uint64_t i = 0; i < 5000; i++)
		if (!intern_number(c, i) || !find_number(c, i))
			return 4;
	cistern_destroy(c);
	return 0;
}

/* FAULTS 6. */
START_TEST(little_address_space_gives_a_smaller_range)
{
	rlim_t some = 64 << 20, none = 1 << 20;

	if (!meminfo_space_can_be_limited())
		return;
	ck_assert_int_eq(unit_child(in_little_space, &some), 0);
	ck_assert_int_eq(unit_child(in_little_space, &none) >> 8, 10);
}
END_TEST

/* ---------------------------------------------------------------- everything at once */

START_TEST(large_tables_and_strings_take_every_huge_page_policy)
{
	for (int policy = CISTERN_HUGEPAGES_NEVER; policy <= CISTERN_HUGEPAGES_ALWAYS; policy++) {
		cistern_config config = CISTERN_CONFIG_INIT;
		size_t n = support_scaled(400000);
		cistern *c;

		config.shards = 1;
		config.hugepages = (cistern_hugepages)policy;
		config.value_size = 8;
		config.links = true;
		c = cistern_create(&config);
		ck_assert_ptr_nonnull(c);
		for (uint64_t i = 0; i < n; i++)
			ck_assert(intern_number(c, i));
		check_numbers(c, n);
		unit_check_accounts(c);
		cistern_destroy(c);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("growth");

	support_add(s, tables_grow_fourfold_below_4_kib_and_double_from_there);
	support_add(s, a_directory_word_never_recurs);
	support_add(s, empty_shards_share_one_bucket_of_zeros);
	support_add(s, retired_tables_of_whole_pages_are_emptied);
	support_add(s, a_retired_table_that_cannot_be_emptied_is_kept_and_counted);
	support_add(s, a_reader_in_a_retired_table_finds_what_is_right_or_nothing);
	support_add(s, readers_stay_right_while_their_table_is_emptied_under_them);
	support_add(s, a_miss_in_a_table_that_was_emptied_meanwhile_is_looked_for_again);
	support_add(s, a_hit_whose_table_is_emptied_meanwhile_needs_neither_lock_nor_memory);
	support_add(s, after_reserve_nothing_grows);
	support_add(s, reserving_more_than_fits_fails_and_harms_nothing);
	support_add(s, more_buckets_than_a_word_can_say_are_refused);
	support_add(s, refused_growth_lets_inserting_go_on_to_the_hard_limit);
	support_add(s, the_first_table_is_needed);
	support_add(s, memory_limit_ends_inserting_and_is_never_passed);
	support_add(s, any_single_commit_may_fail);
	support_add(s, creating_fails_cleanly_at_each_commit);
	support_add(s, creating_without_random_bytes_fails);
#ifdef __GLIBC__
	support_add(s, automatic_shards_follow_the_processors);
#endif
	support_add(s, little_address_space_gives_a_smaller_range);
	support_add(s, large_tables_and_strings_take_every_huge_page_policy);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "growth", make);
}
