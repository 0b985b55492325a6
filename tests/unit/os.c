/* SPDX-License-Identifier: MIT */
/* os.c - tests of lib/os.c: memory, limits, random bytes, the environment, with and without the system's help. */
#include "unit.h"

#include "meminfo.h"
#include "os.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whether the system can read a byte there, without trying ourselves. */
static bool readable(const char *p)
{
	int ends[2];
	bool answer;

	ck_assert_int_eq(pipe(ends), 0);
	answer = write(ends[1], p, 1) == 1;
	ck_assert(answer || errno == EFAULT);
	close(ends[0]);
	close(ends[1]);
	return answer;
}

START_TEST(page_size_is_a_power_of_two)
{
	size_t page = os_page_size();

	ck_assert_uint_ge(page, 4096);
	ck_assert_uint_eq(page & (page - 1), 0);
	ck_assert_uint_eq(page, os_page_size());
}
END_TEST

START_TEST(cpu_count_is_not_zero)
{
	ck_assert_uint_ge(os_cpu_count(), 1);
}
END_TEST

START_TEST(reserved_memory_cannot_be_read_until_it_is_committed)
{
	size_t page = os_page_size();
	char *p = os_reserve(4 * page);

	ck_assert_ptr_nonnull(p);
	ck_assert(!readable(p));
	ck_assert(os_commit(p + page, 2 * page));
	ck_assert(!readable(p));
	ck_assert(readable(p + page));
	ck_assert(readable(p + 3 * page - 1));
	ck_assert(!readable(p + 3 * page));
	os_release(p, 4 * page);
}
END_TEST

START_TEST(released_memory_is_gone)
{
	size_t page = os_page_size();
	char *p = os_reserve(page);

	ck_assert(os_commit(p, page));
	ck_assert(readable(p));
	os_release(p, page);
	ck_assert(!readable(p));
}
END_TEST

START_TEST(committed_memory_reads_as_zeros)
{
	size_t size = 16 * os_page_size();
	char *p = os_reserve(size);

	ck_assert(os_commit(p, size));
	for (size_t i = 0; i < size; i++)
		ck_assert_msg(p[i] == 0, "byte %zu", i);
	os_release(p, size);
}
END_TEST

START_TEST(populating_and_huge_page_advice_change_no_byte)
{
	size_t size = 2 * OS_HUGE_PAGE;
	char *p = os_reserve(size);

	ck_assert(os_commit(p, size));
	p[0] = p[size - 1] = 'x';
	os_populate(p, size);
	os_advise_huge(p, size, true);
	os_advise_huge(p, size, false);
	os_populate(p, size);
	ck_assert_int_eq(p[0], 'x');
	ck_assert_int_eq(p[size - 1], 'x');
	ck_assert_int_eq(p[size / 2], 0);
	os_release(p, size);
}
END_TEST

START_TEST(discarded_memory_reads_as_zeros_where_that_is_promised)
{
	size_t page = os_page_size();
	char *p = os_reserve(3 * page);
	bool discarded;

	ck_assert(os_commit(p, 3 * page));
	memset(p, 'x', 3 * page);
	discarded = os_discard(p + page, page);
#ifdef __linux__
	ck_assert(discarded);
#endif
	for (size_t i = 0; i < 3 * page; i++)
		ck_assert_int_eq(p[i], discarded && i / page == 1 ? 0 : 'x');
	os_release(p, 3 * page);
}
END_TEST

START_TEST(a_discard_that_fails_keeps_the_bytes)
{
	size_t page = os_page_size();
	char *p = os_reserve(page);

	ck_assert(os_commit(p, page));
	memset(p, 'x', page);
	faults_plan(&(struct fault_plan){.kinds = FAULT_BIT(DISCARD), .times = FAULTS_FOR_GOOD});
	ck_assert(!os_discard(p, page));
	faults_plan(NULL);
	ck_assert_int_eq(p[0], 'x');
	os_release(p, page);
}
END_TEST

/* It may come between a failure and who is told of it. */
START_TEST(advice_that_is_refused_leaves_errno_alone)
{
	size_t page = os_page_size();
	char *p = os_reserve(page);

	faults_plan(&(struct fault_plan){.kinds = FAULTS_HINTS, .times = FAULTS_FOR_GOOD});
	errno = ENOMEM;
	os_populate(p, page);
	ck_assert_int_eq(errno, ENOMEM);
	os_advise_huge(p, page, true);
	os_advise_huge(p, page, false);
	ck_assert_int_eq(errno, ENOMEM);
	ck_assert(!os_discard(p, page));
	ck_assert_int_eq(errno, ENOMEM);
	faults_plan(NULL);
	os_release(p, page);
}
END_TEST

START_TEST(an_impossible_reservation_gives_enomem)
{
	errno = 0;
	ck_assert_ptr_null(os_reserve((SIZE_MAX - (SIZE_MAX >> 4)) & ~(os_page_size() - 1)));
	ck_assert_int_eq(errno, ENOMEM);
}
END_TEST

START_TEST(committing_what_is_not_reserved_gives_enomem)
{
	size_t page = os_page_size();
	char *p = os_reserve(3 * page);

	os_release(p + page, page);
	errno = 0;
	ck_assert(!os_commit(p + page, page));
	ck_assert_int_eq(errno, ENOMEM);
	os_release(p, page);
	os_release(p + 2 * page, page);
}
END_TEST

static int limit_is_seen(void *arg)
{
	struct rlimit limit;

	(void)arg;
	if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_max != RLIM_INFINITY)
		return limit.rlim_cur == os_address_limit() ? 0 : 3;
	limit.rlim_cur = RLIM_INFINITY;
	if (setrlimit(RLIMIT_AS, &limit) != 0 || os_address_limit() != SIZE_MAX)
		return 1;
	limit.rlim_cur = (rlim_t)3 << 30;
	return setrlimit(RLIMIT_AS, &limit) == 0 && os_address_limit() == (size_t)3 << 30 ? 0 : 2;
}

START_TEST(address_limit_follows_setrlimit)
{
	if (!meminfo_space_can_be_limited())
		return;
	ck_assert_int_eq(unit_child(limit_is_seen, NULL), 0);
}
END_TEST

/* That many bytes, drawn twice, are all different from each other's and not left as they were. */
static void check_random(size_t size)
{
	static const unsigned char nothing[8];
	unsigned char a[4096] = {0}, b[4096] = {0};
	size_t zeros = 0;

	ck_assert(os_random(a, size));
	ck_assert(os_random(b, size));
	ck_assert_int_ne(memcmp(a, b, size), 0);
	for (size_t i = 0; i < size; i++)
		zeros += a[i] == 0;
	ck_assert_uint_lt(zeros, size / 8);
	for (size_t i = 0; i < size; i += 8) /* no part of it is left out */
		ck_assert_int_ne(memcmp(a + i, nothing, 8), 0);
	for (size_t i = size; i < sizeof a; i++)
		ck_assert_int_eq(a[i], 0);
}

START_TEST(random_bytes_differ)
{
	check_random(192);
	check_random(4000);
}
END_TEST

START_TEST(random_bytes_come_in_pieces_and_after_interruptions)
{
	faults.random_short = 21;
	check_random(192);
}
END_TEST

START_TEST(random_bytes_come_from_the_device_where_the_call_is_missing)
{
	faults_plan(&(struct fault_plan){.kinds = FAULT_BIT(RANDOM), .times = 2});
	check_random(192);
	ck_assert_uint_eq(faults_failed(FAULT_BIT(RANDOM)), 2);
	faults_plan(&(struct fault_plan){.kinds = FAULT_BIT(RANDOM), .times = 1});
	faults.random_short = 9;
	check_random(192);
}
END_TEST

START_TEST(no_random_bytes_give_eio)
{
	unsigned char bytes[192] = {0};
	bool drawn;

	unit_random_fails();
	errno = 0;
	drawn = os_random(bytes, sizeof bytes);
	unit_random_works();
	ck_assert(!drawn);
	ck_assert_int_eq(errno, EIO);
	check_random(192);
}
END_TEST

START_TEST(environment_is_read)
{
	setenv("CISTERN_UNIT_TEST", "some value", 1);
#if defined(HAVE_SECURE_GETENV) || defined(HAVE_GETAUXVAL)
	ck_assert_str_eq(os_getenv("CISTERN_UNIT_TEST"), "some value");
#endif
	unsetenv("CISTERN_UNIT_TEST");
	ck_assert_ptr_null(os_getenv("CISTERN_UNIT_TEST"));
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("os");

	support_add(s, page_size_is_a_power_of_two);
	support_add(s, cpu_count_is_not_zero);
	support_add(s, reserved_memory_cannot_be_read_until_it_is_committed);
	support_add(s, released_memory_is_gone);
	support_add(s, committed_memory_reads_as_zeros);
	support_add(s, populating_and_huge_page_advice_change_no_byte);
	support_add(s, discarded_memory_reads_as_zeros_where_that_is_promised);
	support_add(s, a_discard_that_fails_keeps_the_bytes);
	support_add(s, advice_that_is_refused_leaves_errno_alone);
	support_add(s, an_impossible_reservation_gives_enomem);
	support_add(s, committing_what_is_not_reserved_gives_enomem);
	support_add(s, address_limit_follows_setrlimit);
	support_add(s, random_bytes_differ);
	support_add(s, random_bytes_come_in_pieces_and_after_interruptions);
	support_add(s, random_bytes_come_from_the_device_where_the_call_is_missing);
	support_add(s, no_random_bytes_give_eio);
	support_add(s, environment_is_read);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "os", make);
}
