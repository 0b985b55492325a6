/* SPDX-License-Identifier: MIT */
/*
 * scope.h - lets code run many times in one process that was written to end the process where its
 * input is bad, and to leave it to the system then to give back what it took: the readers of the
 * benches.
 *
 * The makefile puts this header in front of their sources, with SCOPE_NAMES: what they take by the
 * names below is noted, and exit() becomes a jump back to scope_run. Further calls that take
 * something get a line below and a function in scope.c.
 */
#ifndef TESTS_FUZZ_SCOPE_H
#define TESTS_FUZZ_SCOPE_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef HAVE_LIBELF
#include <libelf.h>
#endif

/* Calls fn(arg). False where it wanted to exit: then all that is noted has been given back. */
bool scope_run(void (*fn)(void *arg), void *arg);

/* How many things are noted. */
size_t scope_held(void);

/* Gives back all that is noted. */
void scope_clear(void);

void *scope_malloc(size_t size);
void *scope_calloc(size_t n, size_t size);
void *scope_realloc(void *p, size_t size);
void scope_free(void *p);
void *scope_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
int scope_munmap(void *p, size_t size);
int scope_open(const char *path, int flags, ...);
int scope_close(int fd);
FILE *scope_open_memstream(char **text, size_t *size);
int scope_fclose(FILE *f); /* of such a stream; its text is noted */
_Noreturn void scope_exit(int code);
#ifdef HAVE_LIBELF
Elf *scope_elf_begin(int fd, Elf_Cmd command, Elf *whole);
int scope_elf_end(Elf *elf);
#endif

#ifdef SCOPE_NAMES
#define malloc         scope_malloc
#define calloc         scope_calloc
#define realloc        scope_realloc
#define free           scope_free
#define mmap           scope_mmap
#define munmap         scope_munmap
#define open           scope_open
#define close          scope_close
#define open_memstream scope_open_memstream
#define fclose         scope_fclose
#define exit           scope_exit
#define elf_begin      scope_elf_begin
#define elf_end        scope_elf_end
#endif

#endif
