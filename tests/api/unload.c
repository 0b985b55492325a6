/* SPDX-License-Identifier: MIT */
/*
 * unload.c - G10: a program that loads the shared library, uses it and lets it go, many times,
 * while a thread that used it lives on. Not linked with the library, so it is no Check suite; it
 * speaks TAP by itself. CISTERN_SO is the library's path; without a shared library there is nothing
 * to test.
 */
#include <cistern.h>

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
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
 * LeakSanitizer's own crash, not ours: its search for leaks at the end now and then dies in a process that has unloaded
 * libraries. What leaks is looked for in the other suites.
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

int main(void)
{
	const char *wrong = NULL;
	int round;

	if (access(CISTERN_SO, R_OK) != 0) {
		puts("1..0 # SKIP no shared library");
		return 0;
	}
	sem_init(&interned, 0, 0);
	sem_init(&unloaded, 0, 0);
	for (round = 0; round < 100 && !wrong; round++)
		wrong = one_round(round);
	puts("1..1");
	printf("%sok 1 - the_library_may_be_unloaded_and_loaded_again\n", wrong ? "not " : "");
	if (wrong)
		printf("# round %d: %s (%s)\n", round, wrong, dlerror());
	return wrong != NULL;
}
