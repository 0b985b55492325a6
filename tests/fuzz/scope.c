/* SPDX-License-Identifier: MIT */
/* scope.c - see scope.h. One thread. */
#include "scope.h"

#include "fuzz.h"

#include <setjmp.h>
#include <stdarg.h>

enum kind { HEAP, MAPPING, DESCRIPTOR, ELF };

static struct note {
	enum kind kind;
	void *p;
	size_t n; /* size of a mapping; number of a descriptor */
} * notes;
static size_t held, room;

static jmp_buf *back; /* where exit goes */

static void note(enum kind kind, void *p, size_t n)
{
	if (held == room) {
		room = room ? 2 * room : 64;
		notes = realloc(notes, room * sizeof(*notes));
		FUZZ_CHECK(notes);
	}
	notes[held++] = (struct note){kind, p, n};
}

/* What was noted last is dropped first, mostly. */
static void drop(enum kind kind, const void *p, size_t n)
{
	size_t i = held;

	while (i-- > 0)
		if (notes[i].kind == kind && notes[i].p == p && notes[i].n == n) {
			memmove(&notes[i], &notes[i + 1], (held - i - 1) * sizeof(*notes));
			held--;
			return;
		}
	FUZZ_CHECK(!"given back what was not taken");
}

static void give_back(const struct note *note)
{
	switch (note->kind) {
	case HEAP:
		free(note->p);
		break;
	case MAPPING:
		munmap(note->p, note->n);
		break;
	case DESCRIPTOR:
		close((int)note->n);
		break;
	case ELF:
#ifdef HAVE_LIBELF
		elf_end(note->p);
#endif
		break;
	}
}

void scope_clear(void)
{
	while (held > 0)
		give_back(&notes[--held]);
	free(notes);
	notes = NULL;
	room = 0;
}

size_t scope_held(void)
{
	return held;
}

bool scope_run(void (*fn)(void *arg), void *arg)
{
	jmp_buf here;
	bool done;

	back = &here;
	done = setjmp(here) == 0;
	if (done)
		fn(arg);
	else
		scope_clear();
	back = NULL;
	return done;
}

void scope_exit(int code)
{
	FUZZ_CHECK(back && code == 1);
	longjmp(*back, 1);
}

void *scope_malloc(size_t size)
{
	void *p = malloc(size);

	if (p)
		note(HEAP, p, 0);
	return p;
}

void *scope_calloc(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (p)
		note(HEAP, p, 0);
	return p;
}

void *scope_realloc(void *p, size_t size)
{
	void *q;

	if (p)
		drop(HEAP, p, 0);
	q = realloc(p, size);
	if (q)
		note(HEAP, q, 0);
	return q;
}

void scope_free(void *p)
{
	if (p)
		drop(HEAP, p, 0);
	free(p);
}

void *scope_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	void *p = mmap(at, size, protection, flags, fd, offset);

	if (p != MAP_FAILED)
		note(MAPPING, p, size);
	return p;
}

int scope_munmap(void *p, size_t size)
{
	drop(MAPPING, p, size);
	return munmap(p, size);
}

int scope_open(const char *path, int flags, ...)
{
	int mode = 0, fd;
	va_list args;

	if (flags & O_CREAT) {
		va_start(args, flags);
		mode = va_arg(args, int);
		va_end(args);
	}
	fd = open(path, flags, mode);
	if (fd >= 0)
		note(DESCRIPTOR, NULL, (size_t)fd);
	return fd;
}

int scope_close(int fd)
{
	drop(DESCRIPTOR, NULL, (size_t)fd);
	return close(fd);
}

/* The text is there once the stream is closed; then its address is still good. */
static struct stream {
	FILE *f;
	char **text;
} stream;

FILE *scope_open_memstream(char **text, size_t *size)
{
	FUZZ_CHECK(!stream.f);
	stream.f = open_memstream(text, size);
	stream.text = text;
	return stream.f;
}

int scope_fclose(FILE *f)
{
	int failed;

	FUZZ_CHECK(f == stream.f);
	stream.f = NULL;
	failed = fclose(f);
	note(HEAP, *stream.text, 0);
	return failed;
}

#ifdef HAVE_LIBELF

Elf *scope_elf_begin(int fd, Elf_Cmd command, Elf *whole)
{
	Elf *elf = elf_begin(fd, command, whole);

	if (elf)
		note(ELF, elf, 0);
	return elf;
}

int scope_elf_end(Elf *elf)
{
	if (elf)
		drop(ELF, elf, 0);
	return elf_end(elf);
}

#endif
