/* SPDX-License-Identifier: MIT */
/*
 * cancel.c - threads that are cancelled: while that is pending in every call, in a callback, in the
 * midst of printing, and at any moment. Whoever ends holds no lock and leaves nothing half-made.
 */
#include "cases.h"
#include "figures.h"
#include "support.h"
#include "tools.h"
#include "variants.h"

#include <cistern.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { LENGTHY = 5000 };

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
	figures_check_alive(c, "after a cancellation");
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

	figures_check_alive(c, "before the callback");
	ck_assert_int_eq(pthread_create(&thread, NULL, iterate_with_cancellation_pending, c), 0);
	ck_assert_int_eq(pthread_join(thread, &result), 0);
	ck_assert(result == PTHREAD_CANCELED);
	figures_check_alive(c, "after the callback");
	cistern_destroy(c);
}
END_TEST

struct printing {
	cistern *c;
	FILE *f;
};

/* Blocks in the midst of it, until it is cancelled: nobody reads from the pipe. */
static void *print_into_a_full_pipe(void *arg)
{
	struct printing *printing = arg;

	cistern_stats_print(printing->c, printing->f, CISTERN_FORMAT_TEXT);
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
	struct printing printing = {.c = crowd_create(_i)};
	pthread_t thread;
	int fds[2];
	void *result;

	figures_check_alive(printing.c, "before it is printed");
	ck_assert_int_eq(pipe(fds), 0);
	fill_pipe(fds[1]);
	printing.f = fdopen(fds[1], "w");
	ck_assert_ptr_nonnull(printing.f);
	setvbuf(printing.f, NULL, _IONBF, 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, print_into_a_full_pipe, &printing), 0);
	usleep(20000);
	figures_check_alive(printing.c, "while it is printed");
	ck_assert_int_eq(pthread_cancel(thread), 0);
	ck_assert_int_eq(pthread_join(thread, &result), 0);
	ck_assert(result == PTHREAD_CANCELED);
	figures_check_alive(printing.c, "after it was printed");
	cistern_destroy(printing.c);
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
	figures_check_alive(shared.c, "after cancellations");
	cistern_destroy(shared.c);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("cancel");

	cases_add_loop(s, a_pending_cancellation_acts_in_no_call, CROWDS);
	cases_add_loop(s, a_thread_may_end_in_a_callback, CROWDS);
	/* AddressSanitizer goes on guarding the frames that end with the thread */
	if (!UNDER_ASAN)
		cases_add_loop(s, a_thread_may_end_while_it_prints, CROWDS);
	cases_add_loop(s, threads_may_be_cancelled_at_any_moment, CROWDS);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "cancel", make);
}
