/* SPDX-License-Identifier: MIT */
/*
 * unload.c - G10: a program that loads the shared library, uses it and lets it go, many times,
 * while threads that used it live on, and while they go on using it; and one that does so with
 * another library, whose constructor and destructor use this one. Not linked with the library, so
 * it is no Check suite; it speaks TAP by itself. CISTERN_SO is the library's path, EARLY_SO the
 * other's; without a shared library there is nothing to test.
 */
#include "early.h"

#include <cistern.h>

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct calls {
	cistern *(*create)(const cistern_config *config);
	void (*destroy)(cistern *c);
	cistern *(*standard)(void);
	const char *(*intern)(cistern *c, const char *s, size_t len);
	const char *(*find)(const cistern *c, const char *s, size_t len);
	size_t (*len)(const char *str);
};

/*
 * LeakSanitizer's own crash, not ours: its search for leaks at the end now and then dies in a
 * process that has unloaded libraries. What leaks is looked for in the other suites.
 */
int __lsan_is_turned_off(void);

int __lsan_is_turned_off(void)
{
	return 1;
}

static sem_t interned, unloaded;
static struct calls calls;
static const char *from_thread;

/* dlsym gives an object pointer; C has no cast from there to a function. */
static bool resolve(void *library, const char *name, void *function)
{
	void *symbol = dlsym(library, name);

	memcpy(function, &symbol, sizeof(symbol));
	return symbol != NULL;
}

static bool load(void **library)
{
	*library = dlopen(CISTERN_SO, RTLD_NOW | RTLD_LOCAL);
	return *library && resolve(*library, "cistern_create", &calls.create) &&
	       resolve(*library, "cistern_destroy", &calls.destroy) &&
	       resolve(*library, "cistern_default", &calls.standard) &&
	       resolve(*library, "cistern_intern", &calls.intern) &&
	       resolve(*library, "cistern_find", &calls.find) &&
	       resolve(*library, "cistern_len", &calls.len);
}

/* Interns while the library is loaded, and ends after it was unloaded. */
static void *outlive(void *arg)
{
	from_thread = calls.intern(calls.standard(), "from a thread", 13);
	sem_post(&interned);
	sem_wait(&unloaded);
	return arg;
}

static const char *one_round(int round)
{
	static const char *first;
	char name[32];
	size_t len = (size_t)snprintf(name, sizeof(name), "round %d", round);
	pthread_t thread;
	void *library;
	cistern *c;
	const char *str;

	if (!load(&library))
		return "loading";
	c = calls.create(NULL);
	if (!c)
		return "create";
	str = calls.intern(c, name, len);
	if (!str || calls.find(c, name, len) != str || calls.len(str) != len)
		return "interning";
	calls.destroy(c);
	if (pthread_create(&thread, NULL, outlive, NULL) != 0)
		return "starting a thread";
	sem_wait(&interned);
	if (!first)
		first = from_thread;
	/* the default interner is never destroyed, so it is the same one in each round */
	if (!from_thread || from_thread != first)
		return "the default interner's string";
	if (dlclose(library) != 0)
		return "dlclose";
	if (strcmp(first, "from a thread") != 0)
		return "the string after unloading";
	sem_post(&unloaded);
	if (pthread_join(thread, NULL) != 0)
		return "the thread's end after unloading";
	return NULL;
}

/* ---------------------------------------------------------------- threads that go on */

enum { RESIDENTS = 2 };

static struct calls resident_calls; /* looked up once; valid for good */
static cistern *resident_interner;
static atomic_bool leave;
static atomic_uint residents_wrong;
static atomic_ulong residents_steps;

static void *reside(void *arg)
{
	cistern *c = resident_interner;
	unsigned i;

	for (i = 0; !atomic_load(&leave); i = (i + 1) % 5000) {
		char name[32];
		size_t len =
		    (size_t)snprintf(name, sizeof(name), "resident %u", i + (arg ? 2500 : 0));
		const char *str = resident_calls.intern(c, name, len);

		if (!str || resident_calls.find(c, name, len) != str ||
		    resident_calls.len(str) != len)
			atomic_fetch_add(&residents_wrong, 1);
		atomic_fetch_add(&residents_steps, 1);
	}
	return NULL;
}

static const char *all_rounds(const char *(*round)(int), int count)
{
	const char *wrong = NULL;
	int i;

	for (i = 0; i < count && !wrong; i++)
		wrong = round(i);
	return wrong;
}

static const char *with_residents(void)
{
	pthread_t threads[RESIDENTS];
	const char *wrong;
	unsigned long steps;
	void *library;
	int i;

	if (!load(&library))
		return "loading";
	resident_calls = calls;
	resident_interner = calls.create(NULL);
	if (!resident_interner || dlclose(library) != 0)
		return "create";
	for (i = 0; i < RESIDENTS; i++)
		if (pthread_create(&threads[i], NULL, reside, i ? &threads : NULL) != 0)
			return "starting a thread";
	wrong = all_rounds(one_round, 100);
	/* and some steps with nothing loaded by anybody */
	steps = atomic_load(&residents_steps);
	while (!wrong && atomic_load(&residents_steps) < steps + 10000)
		sched_yield();
	atomic_store(&leave, true);
	for (i = 0; i < RESIDENTS; i++)
		pthread_join(threads[i], NULL);
	resident_calls.destroy(resident_interner);
	return atomic_load(&residents_wrong) ? "a thread that went on" : wrong;
}

/* ---------------------------------------------------------------- another library's constructor */

static const char *early_round(int round)
{
	const char *(*string)(void);
	static const char *first;
	void *library = dlopen(EARLY_SO, RTLD_NOW | RTLD_LOCAL);

	if (!library || !resolve(library, "early_string", &string))
		return "loading the library that interns";
	if (!string() || strcmp(string(), EARLY_STRING) != 0)
		return "interning from its constructor";
	if (round == 0)
		first = string();
	if (string() != first)
		return "the same string in each round";
	/* its destructor interns now, and ends the process where that fails */
	if (dlclose(library) != 0)
		return "unloading it";
	return strcmp(first, EARLY_STRING) == 0 ? NULL : "the string after unloading";
}

/* ---------------------------------------------------------------- TAP */

static int number, failed;

static void report(const char *name, const char *wrong)
{
	printf("%sok %d - %s\n", wrong ? "not " : "", ++number, name);
	if (wrong)
		printf("# %s (%s)\n", wrong, dlerror());
	failed += wrong != NULL;
}

int main(void)
{
	if (access(CISTERN_SO, R_OK) != 0) {
		puts("1..0 # SKIP no shared library");
		return 0;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("1..3");
	sem_init(&interned, 0, 0);
	sem_init(&unloaded, 0, 0);
	report("the_library_may_be_unloaded_and_loaded_again", all_rounds(one_round, 100));
	report("threads_may_go_on_using_the_library_while_it_is_unloaded", with_residents());
	report("a_library_that_interns_in_its_constructor_may_be_unloaded",
	       all_rounds(early_round, 100));
	return failed != 0;
}
