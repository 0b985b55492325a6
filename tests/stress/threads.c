/* SPDX-License-Identifier: MIT */
/*
 * threads.c - whose turn it is on the machine.
 *
 * Workers are real threads, of which one runs and the others wait for their turn; so what they keep
 * in thread-local storage is their own. The one that runs comes here before each atomic access,
 * lock and system call, and hands its turn on where the schedule says so.
 *
 * Two kinds of schedule, both drawn from the seed: at random with a rate of its own; or by
 * priorities that drop at a few random points (Burckhardt, Kothari, Musuvathi, Nagarakatte: A
 * randomized scheduler with probabilistic guarantees of finding bugs, ASPLOS 2010), which keeps a
 * thread asleep for long where the first one never would. How often loads return older values is
 * drawn, too: never, now and then, or half the time.
 */
#include "threads.h"

#include "memory.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOCKS = 256, DROPS = 3, STEPS_MAX = 4000000 };

struct thread {
	support_worker worker;
	void (*fn)(support_worker *worker);
	pthread_t id;
	sem_t turn;
	const void *waits_for; /* a lock */
	bool running;          /* has begun and not ended */
	unsigned priority;
};

struct lock {
	const void *at;
	bool taken;
	struct clock released;
};

static struct {
	bool watched;
	size_t number; /* of the schedule */
	char failure[400];
	support_rng rng;

	/* how this schedule goes */
	unsigned switch_one_in; /* 0: by priorities */
	unsigned stale_one_in;  /* 0: never */
	uint64_t drops[DROPS];  /* steps at which the running thread drops below the others */
	unsigned dropped;

	uint64_t steps;
	unsigned count; /* workers; 0: only the scenario's own thread runs */
	struct thread threads[MACHINE_THREADS];
	struct lock locks[LOCKS];
	unsigned nlocks;
} machine;

static _Thread_local unsigned self_number;

static bool handlers_before; /* the library installed its fork handlers before this scenario */

/* ---------------------------------------------------------------- failures */

static void say_schedule(FILE *f)
{
	fprintf(f, "schedule failed, repeat with TEST_SEED=%llu TEST_SCHEDULE=%zu: ",
		(unsigned long long)support_seed(), machine.number);
}

void machine_fail(const char *format, ...)
{
	va_list args;

	if (machine.failure[0])
		return;
	va_start(args, format);
	vsnprintf(machine.failure, sizeof(machine.failure), format, args);
	va_end(args);
}

bool machine_failed(void)
{
	return machine.failure[0] != '\0';
}

/* What leaves threads nowhere to go ends the process. */
static void give_up(const char *what)
{
	say_schedule(stderr);
	machine.watched = false;
	fprintf(stderr, "%s%s%s\n", machine.failure, machine.failure[0] ? "; then " : "", what);
	abort();
}

/* An assertion of the library's or a crash says nothing of schedules. */
static void say_and_die(int number)
{
	if (machine.watched)
		say_schedule(stderr);
	signal(number, SIG_DFL);
	raise(number);
}

static void say_before_dying(int number)
{
	struct sigaction now;

	/* sanitizers have handlers of their own */
	if (sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
		signal(number, say_and_die);
}

/* ---------------------------------------------------------------- turns */

bool threads_watched(void)
{
	return machine.watched;
}

unsigned threads_self(void)
{
	return self_number;
}

void threads_access(const void *p, size_t size, bool write)
{
	if (machine.watched)
		memory_access(self_number, p, size, write);
}

uint64_t machine_random(uint64_t bound)
{
	return support_rng_below(&machine.rng, bound);
}

bool machine_stale(void)
{
	return machine.count > 0 && machine.stale_one_in > 0 &&
	       machine_random(machine.stale_one_in) == 0;
}

static bool ready(const struct thread *thread)
{
	return thread->running && !(thread->waits_for && threads_locked(thread->waits_for));
}

/* One of the threads that can go on, without one where there are others; 0: there is none. */
static unsigned any_ready(unsigned without)
{
	unsigned list[MACHINE_THREADS], n = 0;

	for (unsigned t = 1; t <= machine.count; t++)
		if (t != without && ready(&machine.threads[t]))
			list[n++] = t;
	if (n > 0)
		return list[machine_random(n)];
	return without > 0 && ready(&machine.threads[without]) ? without : 0;
}

static unsigned first_ready(void)
{
	unsigned first = 0;

	for (unsigned t = 1; t <= machine.count; t++)
		if (ready(&machine.threads[t]) &&
		    (first == 0 || machine.threads[t].priority > machine.threads[first].priority))
			first = t;
	return first;
}

/* self may be 0 while the workers are begun, and one that has ended or waits. */
static unsigned choose(unsigned self)
{
	bool can_stay = self > 0 && ready(&machine.threads[self]);

	if (machine.switch_one_in == 0)
		return first_ready();
	if (can_stay && machine_random(machine.switch_one_in) > 0)
		return self;
	return any_ready(self);
}

static void hand_on(unsigned self, unsigned next)
{
	if (next == self)
		return;
	sem_post(&machine.threads[next].turn);
	if (self == 0 || machine.threads[self].running)
		while (sem_wait(&machine.threads[self].turn) != 0)
			;
}

/* Below all others. */
static void drop(unsigned self)
{
	for (unsigned t = 1; t <= machine.count; t++)
		machine.threads[t].priority += machine.count;
	machine.threads[self].priority = 0;
}

static void next_turn(unsigned self)
{
	unsigned next;

	if (++machine.steps > STEPS_MAX)
		give_up("no end in sight");
	for (unsigned i = 0; i < DROPS; i++)
		if (machine.drops[i] == machine.steps)
			drop(self);
	next = choose(self);
	if (next == 0)
		give_up("all threads wait for locks");
	hand_on(self, next);
}

void threads_point(void)
{
	if (machine.count > 0)
		next_turn(self_number);
}

void machine_yield(void)
{
	if (machine.count == 0)
		return;
	drop(self_number);
	if (++machine.steps > STEPS_MAX)
		give_up("no end in sight");
	hand_on(self_number, machine.switch_one_in ? any_ready(self_number) : first_ready());
}

/* ---------------------------------------------------------------- locks */

static struct lock *lock_at(const void *at)
{
	for (unsigned i = 0; i < machine.nlocks; i++)
		if (machine.locks[i].at == at)
			return &machine.locks[i];
	if (machine.nlocks == LOCKS)
		give_up("the scenario has too many locks for the machine");
	machine.locks[machine.nlocks] = (struct lock){.at = at};
	return &machine.locks[machine.nlocks++];
}

bool threads_locked(const void *at)
{
	return lock_at(at)->taken;
}

void threads_install(void)
{
	if (machine.watched)
		memory_commit(self_number, &handlers_before, sizeof(handlers_before));
	else
		handlers_before = true;
}

void threads_lock(const void *at)
{
	struct lock *lock = lock_at(at);

	if (lock->taken)
		give_up("a lock is taken twice");
	if (!handlers_before && !memory_committed(self_number, &handlers_before))
		machine_fail("thread %u takes a lock and knows of no fork handlers", self_number);
	lock->taken = true;
	memory_learn(self_number, &lock->released);
}

void threads_unlock(const void *at)
{
	struct lock *lock = lock_at(at);

	if (!lock->taken)
		give_up("a lock is given back that nobody had");
	lock->taken = false;
	memory_tell(self_number, &lock->released);
}

void threads_wait(const void *at)
{
	if (machine.count == 0)
		return;
	machine.threads[self_number].waits_for = at;
	while (threads_locked(at))
		next_turn(self_number);
	machine.threads[self_number].waits_for = NULL;
}

/* ---------------------------------------------------------------- workers */

static void *worker_main(void *arg)
{
	struct thread *thread = arg;
	unsigned next;

	self_number = (unsigned)(thread - machine.threads);
	while (sem_wait(&thread->turn) != 0)
		;
	thread->fn(&thread->worker);
	thread->running = false;
	next = machine.switch_one_in ? any_ready(0) : first_ready();
	if (next == 0)
		for (unsigned t = 1; t <= machine.count; t++)
			if (machine.threads[t].running)
				give_up("all threads wait for locks");
	sem_post(&machine.threads[next].turn); /* 0: that of the scenario goes on */
	return NULL;
}

static void draw_priorities(unsigned count)
{
	for (unsigned t = 1; t <= count; t++) {
		unsigned other = 1 + (unsigned)machine_random(t);

		machine.threads[t].priority = machine.threads[other].priority;
		machine.threads[other].priority = t;
	}
}

void machine_run(unsigned count, void (*fn)(support_worker *worker), void *arg)
{
	if (count >= MACHINE_THREADS || !machine.watched || machine.count > 0)
		give_up("machine_run: too many workers, or not in a scenario");
	for (unsigned t = 0; t <= count; t++) {
		struct thread *thread = &machine.threads[t];

		memset(thread, 0, sizeof(*thread));
		thread->worker = (support_worker){.index = t - 1,
						  .count = count,
						  .arg = arg,
						  .rng = {machine_random(UINT64_MAX)}};
		thread->fn = fn;
		if (sem_init(&thread->turn, 0, 0) != 0)
			give_up("no semaphore");
		memory_learn(t, memory_clock(0));
	}
	memory_tell(0, &(struct clock){{0}}); /* what comes later is not known to them */
	draw_priorities(count);
	for (unsigned t = 1; t <= count; t++) {
		machine.threads[t].running = true;
		if (pthread_create(&machine.threads[t].id, NULL, worker_main,
				   &machine.threads[t]) != 0)
			give_up("no thread");
	}
	machine.count = count;
	hand_on(0, choose(0));
	machine.count = 0;
	for (unsigned t = 1; t <= count; t++) {
		struct thread *thread = &machine.threads[t];

		pthread_join(thread->id, NULL);
		memory_learn(0, memory_clock(t));
		if (thread->worker.failed)
			machine_fail("%s", thread->worker.failure);
	}
	for (unsigned t = 0; t <= count; t++)
		sem_destroy(&machine.threads[t].turn);
}

/* ---------------------------------------------------------------- schedules */

static void draw_schedule(size_t number)
{
	static const unsigned switches[] = {2, 4, 10, 30, 0, 0, 0, 0}, stale[] = {0, 2, 4, 16};

	machine.number = number;
	machine.rng = support_rng_start(UINT64_C(0x5c4ed01e00000000) + number);
	machine.failure[0] = '\0';
	machine.steps = 0;
	machine.nlocks = 0;
	machine.switch_one_in = switches[machine_random(8)];
	machine.stale_one_in = stale[machine_random(4)];
	for (unsigned i = 0; i < DROPS; i++)
		machine.drops[i] = 1 + machine_random(UINT64_C(1) << (4 + machine_random(10)));
}

const char *machine_try(size_t number, void (*scenario)(void *arg), void *arg)
{
	say_before_dying(SIGABRT);
	say_before_dying(SIGSEGV);
	draw_schedule(number);
	memory_reset();
	machine.watched = true;
	scenario(arg);
	machine.watched = false;
	handlers_before |= memory_committed(0, &handlers_before);
	return machine_failed() ? machine.failure : NULL;
}

/* One schedule of an exploration. */
static void explore_one(size_t number, void (*scenario)(void *arg), void *arg)
{
	const char *failure = machine_try(number, scenario, arg);

	if (!failure)
		return;
	say_schedule(stderr);
	fprintf(stderr, "%s\n", failure);
	ck_abort_msg("schedule %zu: %s", number, failure);
}

/* The schedules of an exploration: TEST_SCHEDULE wants only one. */
static void choose_schedules(size_t schedules, size_t *from, size_t *to)
{
	const char *only = getenv("TEST_SCHEDULE");

	*from = only ? (size_t)strtoull(only, NULL, 10) : 0;
	*to = only ? *from + 1 : schedules;
}

void machine_explore(size_t schedules, void (*scenario)(void *arg), void *arg)
{
	size_t from, to;

	choose_schedules(schedules, &from, &to);
	for (size_t i = from; i < to; i++)
		explore_one(i, scenario, arg);
}

void machine_explore_apart(size_t schedules, void (*scenario)(void *arg), void *arg)
{
	size_t from, to;

	choose_schedules(schedules, &from, &to);
	for (size_t i = from; i < to; i++) {
		int status = 0;
		pid_t child = fork();

		if (child == 0) {
			const char *failure = machine_try(i, scenario, arg);

			if (failure) {
				say_schedule(stderr);
				fprintf(stderr, "%s\n", failure);
			}
			_exit(failure != NULL);
		}
		if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
			ck_abort_msg("schedule %zu ended with %d", i, status);
	}
}

/* ---------------------------------------------------------------- what scenarios ask */

void machine_track(const void *p, size_t size)
{
	memory_watch(p, size);
}

void machine_read(const void *p, size_t size)
{
	threads_access(p, size, false);
}

bool machine_committed(const void *p)
{
	return memory_committed(self_number, p);
}

uint64_t machine_now(void)
{
	return memory_clock(self_number)->at[self_number];
}

void machine_known(uint64_t known[MACHINE_THREADS])
{
	for (unsigned t = 0; t < MACHINE_THREADS; t++)
		known[t] = memory_clock(self_number)->at[t];
}
