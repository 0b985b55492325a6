/* SPDX-License-Identifier: MIT */
/*
 * readers.c - see readers.h. Stands in for those parts of bench/cli.c and bench/harness.c that the
 * readers call; the message of cli_fail goes to a buffer.
 */
#include "readers.h"

#include "../../bench/cli.h"
#include "../../bench/harness.h"
#include "support.h"

#include <stdarg.h>
#include <sys/stat.h>

char reader_complaint[1024];

static int file = -1;

const char *reader_file(const void *data, size_t size)
{
	static char path[64];

	if (file < 0) {
		file = memfd_create("input", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	}
	FUZZ_CHECK(file >= 0 && ftruncate(file, 0) == 0);
	FUZZ_CHECK(pwrite(file, data, size, 0) == (ssize_t)size);
	return path;
}

char *reader_file_bytes(size_t *size)
{
	struct stat info;
	char *bytes;

	FUZZ_CHECK(fstat(file, &info) == 0);
	*size = (size_t)info.st_size;
	bytes = malloc(*size + 1);
	FUZZ_CHECK(bytes && pread(file, bytes, *size, 0) == (ssize_t)*size);
	bytes[*size] = '\0';
	return bytes;
}

bool reader_run(void (*fn)(void *arg), void *arg)
{
	bool done;

	*reader_complaint = '\0';
	done = scope_run(fn, arg);
	FUZZ_CHECK(done ? !*reader_complaint
			: *reader_complaint && !strchr(reader_complaint, '\n'));
	return done;
}

const char *cli_program = "fuzz";

void cli_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(reader_complaint, sizeof(reader_complaint), format, args);
	va_end(args);
	scope_exit(CLI_FAILURE);
}

uint64_t cli_random(uint64_t *state)
{
	support_rng rng = {*state};
	uint64_t number = support_rng_next(&rng);

	*state = rng.state;
	return number;
}

void *harness_pages(size_t size)
{
	void *p = scope_calloc(1, size ? size : 1);

	FUZZ_CHECK(p);
	return p;
}

void harness_pages_free(void *p, size_t size)
{
	(void)size;
	scope_free(p);
}
