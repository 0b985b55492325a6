/* SPDX-License-Identifier: MIT */
/*
 * ends.c - threads that end: through destructors of thread-local storage that intern, through
 * cancellation that is pending in every call or comes at any moment, and the main thread before
 * the others. Whoever ends holds no lock and leaves nothing half-made.
 */
#include "cases.h"
#include "child.h"
#include "figures.h"
#include "support.h"
#include "tools.h"
#include "variants.h"
#include "words.h"

#include <cistern.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if !defined(__STDC_NO_THREADS__)
#include <threads.h>
#endif

enum { LENGTHY = 5000 };

/* For the main thread: every shard's lock is to be had, and the figures are right. */
static void assert_alive(cistern *c, const char *prefix)
{
	int i;

	for (i = 0; i < 400; i++) {
		char data[64];
		size_t len = (size_t)snprintf(data, sizeof(data), "%s %d", prefix, i);
		const char *str = cistern_intern(c, data, len);

		ck_assert_ptr_nonnull(str);
		ck_assert_ptr_eq(cistern_find(c, data, len), str);
	}
	figures_check(c);
}

/* ---------------------------------------------------------------- destructors of threads */

static pthread_key_t posix_key;
static cistern *left_to;
static atomic_ulong destructions, destructions_wrong;

static void intern_in_destructor(void *arg)
{
	char data[LENGTHY];
	unsigned long n = atomic_fetch_add(&destructions, 1);
	size_t len = (size_t)snprintf(data, sizeof(data), "left behind %lu", n);
	const char *str;

	if (n % 16 == 0) {
		memset(data + len, 'l', sizeof(data) - len);
		len = sizeof(data);
	}
	str = cistern_intern(left_to, data, len);
	if (!str || cistern_find(left_to, data, len) != str ||
	    cistern_intern_cstr(left_to, "common") != arg || !CISTERN_LIT("in a destructor"))
		atomic_fetch_add(&destructions_wrong, 1);
}

/* Sets the key again, as destructors of other libraries do: it runs once more, after the others. */
static void intern_in_destructor_twice(void *arg)
{
	intern_in_destructor(arg);
	if (atomic_load(&destructions) % 2)
		pthread_setspecific(posix_key, arg);
}

/* The threads have interned before: so what the library might keep for them would be there, or
 * gone. */
static void *end_with_values(void *arg)
{
	cistern_intern_cstr(left_to, "common");
	pthread_setspecific(posix_key, arg);
	return NULL;
}

static void make_and_end(support_worker *worker)
{
	size_t i, rounds = support_scaled(300);
	const char *common = cistern_find_cstr(left_to, "common");

	for (i = 0; i < rounds; i++) {
		pthread_t thread;

		if (!support_expect(worker, pthread_create(&thread, NULL, end_with_values,
							   (void *)(uintptr_t)common) == 0))
			return;
		support_expect(worker, pthread_join(thread, NULL) == 0);
	}
	pthread_setspecific(posix_key, common); /* and once for this thread itself */
}

START_TEST(destructors_of_threads_may_intern)
{
	left_to = crowd_create(_i);
	atomic_store(&destructions, 0);
	ck_assert_ptr_nonnull(cistern_intern_cstr(left_to, "common"));
	ck_assert_int_eq(pthread_key_create(&posix_key, intern_in_destructor_twice), 0);
	support_run(4, make_and_end, NULL);
	ck_assert_uint_ge(atomic_load(&destructions), 4 * support_scaled(300) + 4);
	ck_assert_uint_eq(atomic_load(&destructions_wrong), 0);
	ck_assert_uint_eq(figures(left_to).strings, atomic_load(&destructions) + 1);
	pthread_key_delete(posix_key);
	assert_alive(left_to, "after destructors");
	cistern_destroy(left_to);
}
END_TEST

#if !defined(__STDC_NO_THREADS__) && !UNDER_TSAN /* which does not know the threads of C11 */

static tss_t c11_key;

static int end_with_values_of_c11(void *arg)
{
	cistern_intern_cstr(left_to, "common");
	return tss_set(c11_key, arg) == thrd_success ? 0 : 1;
}

START_TEST(destructors_of_c11_threads_may_intern)
{
	size_t i, rounds = support_scaled(300);
	const char *common;

	left_to = crowd_create(_i);
	atomic_store(&destructions, 0);
	common = cistern_intern_cstr(left_to, "common");
	ck_assert_int_eq(tss_create(&c11_key, intern_in_destructor), thrd_success);
	for (i = 0; i < rounds; i++) {
		thrd_t threads[2];
		int k, result;

		for (k = 0; k < 2; k++)
			ck_assert_int_eq(thrd_create(&threads[k], end_with_values_of_c11,
						     (void *)(uintptr_t)common),
					 thrd_success);
		for (k = 0; k < 2; k++) {
			ck_assert_int_eq(thrd_join(threads[k], &result), thrd_success);
			ck_assert_int_eq(result, 0);
		}
	}
	ck_assert_uint_eq(atomic_load(&destructions), 2 * rounds);
	ck_assert_uint_eq(atomic_load(&destructions_wrong), 0);
	ck_assert_uint_eq(figures(left_to).strings, 2 * rounds + 1);
	tss_delete(c11_key);
	cistern_destroy(left_to);
}
END_TEST

#define HAVE_C11_THREADS 1
#else
#define HAVE_C11_THREADS 0
#endif

/* ---------------------------------------------------------------- the main thread ends first */

static pthread_t main_thread;

static void speak_at_exit(void)
{
	if (cistern_intern_cstr(cistern_default(), "at the exit of the last thread") &&
	    cistern_find_cstr(cistern_default(), "of the main thread"))
		puts("interned at exit");
}

static void *outlive_main(void *arg)
{
	int i;

	if (pthread_join(main_thread, NULL) != 0)
		abort();
	for (i = 0; i < 10000; i++) {
		char data[32];

		if (!cistern_intern(cistern_default(), data,
				    (size_t)snprintf(data, sizeof(data), "later %d", i)))
			abort();
	}
	return arg; /* the last one: the process exits with 0, through its handlers */
}

static int leave_main(void *arg)
{
	pthread_t thread;

	CHILD_CHECK(atexit(speak_at_exit) == 0);
	CHILD_CHECK(CISTERN_LIT("of the main thread"));
	main_thread = pthread_self();
	CHILD_CHECK(pthread_create(&thread, NULL, outlive_main, arg) == 0);
	pthread_exit(NULL);
}

START_TEST(threads_go_on_when_the_main_thread_has_ended)
{
	struct child child;

	child_run(&child, leave_main, NULL);
	ck_assert(child_ok(&child));
	ck_assert_str_eq(child.out, "interned at exit\n");
	child_free(&child);
}
END_TEST

/* ---------------------------------------------------------------- cancellation that is pending */

static int count(const char *str, size_t len, void *arg)
{
	*(size_t *)arg += str[len] == '\0';
	return 0;
}

/* Every call but the one that prints; how many of them went wrong. */
static int call_everything(cistern *c)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	cistern_stats stats = {.size = sizeof(stats)};
	cistern_shard_stats shard = {.size = sizeof(shard)};
	char data[LENGTHY], storage[8];
	cistern_span in[3] = {{data, 9}, {data, 10}, {data, LENGTHY}};
	const char *out[3], *str;
	size_t visited = 0;
	cistern_buf buf;
	cistern *own;
	uint64_t zero = 0;
	int wrong = 0, i;

	memset(data, 'c', sizeof(data));
	for (i = 0; i < 300; i++) { /* through several growths */
		int len = snprintf(data, sizeof(data), "pending %d", i);

		data[len] = 'c';
		str = cistern_intern(c, data, (size_t)len);
		wrong += !str || cistern_find(c, data, (size_t)len) != str;
		wrong += !cistern_owns(c, str) || !cistern_id_valid(c, cistern_id_of(c, str));
		wrong += cistern_str(c, cistern_id_of(c, str)) != str;
	}
	wrong += !cistern_intern(c, data, LENGTHY);
	wrong += cistern_intern_batch(c, in, out, 3) != 3;
	wrong += cistern_find_batch(c, in, out, 3) != 3;
	wrong += cistern_internv(c, in, 2) == NULL;
	wrong += cistern_set_value(c, out[0], 1) != 0 || cistern_value(c, out[0]) != 1;
	wrong += !cistern_cas_value(c, out[1], &zero, 1);
	wrong += cistern_link(c, out[0], out[1]) != 0 || cistern_linked(c, out[0]) != out[1];
	wrong += cistern_compare(out[0], out[1]) == 0 || cistern_casecompare(out[0], out[1]) == 0;
	wrong += cistern_reserve(c, 5000) != 0;
	wrong += cistern_foreach(c, count, &visited) != 0 || visited < 300;
	wrong += cistern_stats_get(c, &stats) != 0 || cistern_shard_stats_get(c, 0, &shard) != 0;
	wrong += cistern_config_set(&config, "shards", "4") != 0;
	wrong += cistern_config_from_env(&config) != 0;
	own = cistern_create(&config); /* which draws random bytes */
	wrong += !own || !cistern_intern_cstr(own, "own");
	cistern_destroy(own);
	wrong += !CISTERN_LIT("pending");
	cistern_buf_init_fixed(&buf, storage, sizeof(storage));
	wrong += !cistern_buf_addf(&buf, "%s", "longer than the storage");
	wrong += !cistern_buf_intern(c, &buf);
	cistern_buf_release(&buf);
	return wrong;
}

static atomic_int went_wrong;

static void *call_with_cancellation_pending(void *arg)
{
	atomic_store(&went_wrong, -1);
	pthread_cancel(pthread_self()); /* deferred: to the next cancellation point */
	atomic_store(&went_wrong, call_everything(arg));
	pthread_testcancel();
	return NULL;
}

START_TEST(a_pending_cancellation_acts_in_no_call)
{
	cistern *c = crowd_create(_i);
	pthread_t thread;
	void *result;

	ck_assert_int_eq(pthread_create(&thread, NULL, call_with_cancellation_pending, c), 0);
	ck_assert_int_eq(pthread_join(thread, &result), 0);
	ck_assert_int_eq(atomic_load(&went_wrong), 0); /* -1: it ended within a call */
	ck_assert(result == PTHREAD_CANCELED);
	assert_alive(c, "after a cancellation");
	cistern_destroy(c);
}
END_TEST

static int end_in_callback(const char *str, size_t len, void *arg)
{
	(void)str;
	(void)len;
	(void)arg;
	pthread_testcancel();
	return 0;
}

static void *iterate_with_cancellation_pending(void *arg)
{
	pthread_cancel(pthread_self());
	cistern_foreach(arg, end_in_callback, NULL);
	return NULL;
}

START_TEST(a_thread_may_end_in_a_callback)
{
	cistern *c = crowd_create(_i);
	pthread_t thread;
	void *result;

	assert_alive(c, "before the callback");
	ck_assert_int_eq(pthread_create(&thread, NULL, iterate_with_cancellation_pending, c), 0);
	ck_assert_int_eq(pthread_join(thread, &result), 0);
	ck_assert(result == PTHREAD_CANCELED);
	assert_alive(c, "after the callback");
	cistern_destroy(c);
}
END_TEST

/* Blocks in the midst of printing, until it is cancelled: nobody reads from the pipe. */
static void *print_into_a_full_pipe(void *arg)
{
	cistern_stats_print(left_to, arg, CISTERN_FORMAT_TEXT);
	return NULL;
}

static void fill_pipe(int fd)
{
	static const char bytes[4096];
	int flags = fcntl(fd, F_GETFL);

	ck_assert_int_eq(fcntl(fd, F_SETFL, flags | O_NONBLOCK), 0);
	while (write(fd, bytes, sizeof(bytes)) > 0)
		;
	while (write(fd, bytes, 1) > 0)
		;
	ck_assert_int_eq(fcntl(fd, F_SETFL, flags), 0);
}

START_TEST(a_thread_may_end_while_it_prints)
{
	pthread_t thread;
	int fds[2];
	void *result;
	FILE *f;

	left_to = crowd_create(_i);
	assert_alive(left_to, "before it is printed");
	ck_assert_int_eq(pipe(fds), 0);
	fill_pipe(fds[1]);
	f = fdopen(fds[1], "w");
	ck_assert_ptr_nonnull(f);
	setvbuf(f, NULL, _IONBF, 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, print_into_a_full_pipe, f), 0);
	usleep(20000);
	assert_alive(left_to, "while it is printed");
	ck_assert_int_eq(pthread_cancel(thread), 0);
	ck_assert_int_eq(pthread_join(thread, &result), 0);
	ck_assert(result == PTHREAD_CANCELED);
	assert_alive(left_to, "after it was printed");
	cistern_destroy(left_to);
	close(fds[0]); /* the stream stays: its lock may have gone with the thread */
}
END_TEST

/* ---------------------------------------------------------------- at any moment */

static struct {
	cistern *c;
	const char *known[64];
	atomic_bool done;
	atomic_ulong steps; /* of the victims */
	atomic_uint wrong;
} shared;

/* Only what is async-signal-safe may be cancelled asynchronously. */
static void look_up(support_rng *rng)
{
	const char *str = shared.known[support_rng_below(rng, 64)], *out;
	cistern_span span = {str, cistern_len(str)};

	if (cistern_find(shared.c, span.data, span.len) != str ||
	    cistern_find_batch(shared.c, &span, &out, 1) != 1 || out != str ||
	    cistern_str(shared.c, cistern_id_of(shared.c, str)) != str ||
	    cistern_compare(str, str) != 0 || cistern_find_cstr(shared.c, "absent"))
		atomic_fetch_add(&shared.wrong, 1);
}

/* One at a time. Its frame has nothing to be unwound, nor to be left behind. */
static struct {
	support_rng rng;
	char data[LENGTHY];
} victim;

static void *look_up_until_cancelled(void *arg)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;) {
		look_up(&victim.rng);
		atomic_fetch_add(&shared.steps, 1);
	}
	return arg;
}

static void intern_one(void)
{
	size_t len = support_rng_below(&victim.rng, 40) ? 8 : sizeof(victim.data);
	uint64_t n = support_rng_below(&victim.rng, 4000);

	memcpy(victim.data, &n, sizeof(n));
	if (!cistern_intern(shared.c, victim.data, len))
		atomic_fetch_add(&shared.wrong, 1);
}

static void *intern_until_cancelled(void *arg)
{
	for (;;) {
		intern_one();
		atomic_fetch_add(&shared.steps, 1);
		pthread_testcancel();
	}
	return arg;
}

static void cancel_threads(support_worker *worker)
{
	size_t i, rounds = support_scaled(400);

	for (i = 0; i < rounds; i++) {
		/* of which sanitizers learn nothing: their books of frames and locks are wrong then
		 */
		bool asynchronous = i % 2 && !UNDER_ASAN && !UNDER_TSAN;
		unsigned long steps;
		pthread_t thread;
		volatile size_t wait;
		void *result = NULL;

		victim.rng = support_rng_start(i);
		steps = atomic_load(&shared.steps);
		if (!support_expect(worker, pthread_create(&thread, NULL,
							   asynchronous ? look_up_until_cancelled
									: intern_until_cancelled,
							   NULL) == 0))
			break;
		/* at another moment each time */
		while (atomic_load(&shared.steps) == steps)
			usleep(10);
		for (wait = support_rng_below(&worker->rng, 20000); wait; wait--)
			;
		support_expect(worker, pthread_cancel(thread) == 0);
		support_expect(worker, pthread_join(thread, &result) == 0);
		support_expect(worker, result == PTHREAD_CANCELED);
	}
	atomic_store(&shared.done, true);
}

static void cancel_or_intern(support_worker *worker)
{
	uint64_t n;

	if (worker->index == 0) {
		cancel_threads(worker);
		return;
	}
	for (n = 0; !atomic_load(&shared.done); n = (n + 1) % 20000) {
		uint64_t key = n << 8 | worker->index;
		const char *str = cistern_intern(shared.c, (const char *)&key, sizeof(key));

		support_expect(
		    worker, str && cistern_find(shared.c, (const char *)&key, sizeof(key)) == str);
	}
}

START_TEST(threads_may_be_cancelled_at_any_moment)
{
	int i;

	shared.c = crowd_create(_i);
	atomic_store(&shared.done, false);
	atomic_store(&shared.wrong, 0);
	for (i = 0; i < 64; i++) {
		char data[32];

		shared.known[i] = cistern_intern(
		    shared.c, data, (size_t)snprintf(data, sizeof(data), "known %d", i));
	}
	support_run(2, cancel_or_intern, NULL);
	ck_assert_uint_eq(atomic_load(&shared.wrong), 0);
	assert_alive(shared.c, "after cancellations");
	cistern_destroy(shared.c);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("ends");

	cases_add_loop(s, destructors_of_threads_may_intern, CROWDS);
#if HAVE_C11_THREADS
	cases_add_loop(s, destructors_of_c11_threads_may_intern, CROWDS);
#endif
	/* LeakSanitizer no longer sees what the main thread's stack refers to, and ThreadSanitizer
	 * does not know it as a thread to wait for */
	if (!UNDER_ASAN && !UNDER_TSAN)
		support_add(s, threads_go_on_when_the_main_thread_has_ended);
	cases_add_loop(s, a_pending_cancellation_acts_in_no_call, CROWDS);
	cases_add_loop(s, a_thread_may_end_in_a_callback, CROWDS);
	cases_add_loop(s, a_thread_may_end_while_it_prints, CROWDS);
	cases_add_loop(s, threads_may_be_cancelled_at_any_moment, CROWDS);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "ends", make);
}
