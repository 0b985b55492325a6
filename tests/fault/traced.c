/* SPDX-License-Identifier: MIT */
/*
 * traced.c - a program that uses the public interface, takes no for an answer and goes on:
 * strace.sh runs it while the system refuses one thing or another. Ends with 0 if all that was
 * interned is found, all that was refused is not, the accounts add up and nothing stays behind;
 * however much was refused.
 *
 *	traced [KNOB=VALUE]...
 *
 * It asks for no memory but through the library once it has said "begin" on stderr.
 */
#include "maps.h"

#include <cistern.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NAMES = 3000, LARGE = 6000, BATCH = 64 };

static unsigned interned, refused;

/* Where a promise is broken, the program ends at once. */
#define MUST(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			dprintf(STDERR_FILENO, "%s:%d: not so: %s (errno %d)\n", __FILE__,         \
				__LINE__, #condition, errno);                                      \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

/* A number in decimal behind a word; no stdio, which may allocate. */
static cistern_span name(const char *word, unsigned number)
{
	static char text[LARGE];
	char digits[12];
	size_t len = strlen(word), n = 0;

	memcpy(text, word, len);
	do
		digits[n++] = (char)('0' + number % 10);
	while (number /= 10);
	while (n > 0)
		text[len++] = digits[--n];
	return (cistern_span){text, len};
}

static cistern_span large(unsigned number)
{
	cistern_span span = name("large ", number);

	memset((char *)span.data + span.len, '.', LARGE - span.len);
	span.len = LARGE - number % 7;
	return span;
}

/* What the documents say a refusal may be. */
static void note(const char *str)
{
	if (str) {
		interned++;
		return;
	}
	MUST(errno == ENOMEM || errno == EIO);
	refused++;
}

/* What was given is found, and only that. */
static void check(const cistern *c, const char *str, cistern_span span)
{
	MUST(cistern_find(c, span.data, span.len) == str);
	if (!str)
		return;
	MUST(cistern_len(str) == span.len && memcmp(str, span.data, span.len) == 0);
	MUST(cistern_str(c, cistern_id_of(c, str)) == str);
}

static void check_accounts(const cistern *c, uint64_t least)
{
	cistern_stats s = {.size = sizeof(s)};

	MUST(cistern_stats_get(c, &s) == 0);
	MUST(s.strings >= least);
	MUST(s.committed_bytes == s.payload_bytes + s.overhead_bytes + s.slack_bytes +
				      s.table_bytes + s.retired_bytes + s.free_bytes +
				      s.control_bytes);
}

static void use_batch(cistern *c)
{
	static char texts[BATCH][16];
	cistern_span in[BATCH];
	const char *out[BATCH];
	size_t done;

	for (unsigned i = 0; i < BATCH; i++) {
		cistern_span span = name("batch ", i);

		memcpy(texts[i], span.data, span.len);
		in[i] = (cistern_span){texts[i], span.len};
	}
	done = cistern_intern_batch(c, in, out, BATCH);
	for (size_t i = 0; i < BATCH; i++) {
		MUST((out[i] != NULL) == (i < done));
		if (out[i])
			check(c, out[i], in[i]);
	}
	if (done < BATCH)
		note(NULL);
}

static void use_in_child(cistern *c, const char *known)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		cistern_span span = name("name ", 0);

		check(c, known, span);
		note(cistern_intern_cstr(c, "the child's"));
		_exit(0);
	}
	MUST(child < 0 || (waitpid(child, &status, 0) == child && status == 0));
}

static void use(cistern *c)
{
	static const char *names[NAMES], *longs[20];
	cistern_span parts[3] = {{"put ", 4}, {"to", 2}, {"gether", 6}};

	for (unsigned i = 0; i < NAMES; i++) {
		cistern_span span = name("name ", i);

		note(names[i] = cistern_intern(c, span.data, span.len));
		check(c, names[i], span);
	}
	for (unsigned i = 0; i < 20; i++) {
		cistern_span span = large(i);

		note(longs[i] = cistern_intern(c, span.data, span.len));
	}
	note(cistern_internv(c, parts, 3));
	use_batch(c);
	if (cistern_reserve(c, 2 * NAMES) != 0)
		note(NULL);
	use_in_child(c, names[0]);
	for (unsigned i = 0; i < NAMES; i++) {
		cistern_span span = name("name ", i);

		check(c, names[i], span);
		if (names[i]) /* hits need nothing */
			MUST(cistern_intern(c, span.data, span.len) == names[i]);
	}
	for (unsigned i = 0; i < 20; i++)
		check(c, longs[i], large(i));
	check_accounts(c, 0);
}

int main(int argc, char **argv)
{
	static struct maps before, after;
	cistern_config config = CISTERN_CONFIG_INIT;
	const char *literal;
	cistern *c = NULL;
	bool told;

	for (int i = 1; i < argc; i++) {
		char *value = strchr(argv[i], '=');

		if (!value)
			return 2;
		*value++ = '\0';
		if (cistern_config_set(&config, argv[i], value) != 0)
			return 2;
	}
	MUST(cistern_default_configure(&config) == 0);
	MUST(write(STDERR_FILENO, "begin\n", 6) == 6);
	literal = CISTERN_LIT("literal");
	note(literal);
	told = maps_read(&before);
	for (int i = 0; i < 2 && !c; i++) { /* whoever fails once may try again */
		c = cistern_create(&config);
		if (!c)
			note(NULL);
	}
	if (c)
		use(c);
	cistern_destroy(c);
	MUST(!told || !maps_read(&after) || after.count == before.count);
	if (!literal)
		literal = CISTERN_LIT("literal");
	if (literal)
		check_accounts(cistern_default(), 1);
	dprintf(STDOUT_FILENO, "%u interned, %u refused\n", interned, refused);
	return 0;
}
