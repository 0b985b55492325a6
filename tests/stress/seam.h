/* SPDX-License-Identifier: MIT */
/*
 * seam.h - put in front of every file of the library that is compiled for the machine: its locks,
 * its system calls and the functions that touch memory out of the compiler's sight go to seam.c.
 * See machine.h.
 */
#ifndef TESTS_STRESS_SEAM_H
#define TESTS_STRESS_SEAM_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef HAVE_SYS_RANDOM_H
#include <sys/random.h>
#endif

int seam_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes);
int seam_mutex_destroy(pthread_mutex_t *mutex);
int seam_mutex_lock(pthread_mutex_t *mutex);
int seam_mutex_trylock(pthread_mutex_t *mutex);
int seam_mutex_unlock(pthread_mutex_t *mutex);
int seam_atfork(void (*before)(void), void (*parent)(void), void (*child)(void));
#define pthread_atfork        seam_atfork
#define pthread_mutex_init    seam_mutex_init
#define pthread_mutex_destroy seam_mutex_destroy
#define pthread_mutex_lock    seam_mutex_lock
#define pthread_mutex_trylock seam_mutex_trylock
#define pthread_mutex_unlock  seam_mutex_unlock

void *seam_mmap(void *p, size_t size, int protection, int flags, int fd, off_t offset);
int seam_munmap(void *p, size_t size);
int seam_mprotect(void *p, size_t size, int protection);
int seam_madvise(void *p, size_t size, int advice);
long seam_sysconf(int name);
ssize_t seam_getrandom(void *buf, size_t size, unsigned flags);
#define mmap      seam_mmap
#define munmap    seam_munmap
#define mprotect  seam_mprotect
#define madvise   seam_madvise
#define sysconf   seam_sysconf
#define getrandom seam_getrandom

/* Those that the compiler replaces by loads and stores it reports itself. */
void *seam_memcpy(void *to, const void *from, size_t size);
void *seam_memset(void *to, int byte, size_t size);
int seam_memcmp(const void *a, const void *b, size_t size);
#undef memcpy
#undef memset
#define memcpy(to, from, size)                                                                     \
	(__builtin_constant_p(size) && (size) <= 16 ? __builtin_memcpy(to, from, size)             \
						    : seam_memcpy(to, from, size))
#define memset seam_memset
#define memcmp seam_memcmp

#endif
