/* SPDX-License-Identifier: MIT */
/*
 * faults.c - see faults.h. In a program that links the library's objects, a function defined here
 * is the one that lib/os.c calls. What is not the library's, or is not to fail, goes on to the
 * system. A further call of lib/os.c gets a kind in faults.h and a function here.
 */
#include "faults.h"

#include "tools.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#ifdef HAVE_SYS_RANDOM_H
#include <sys/random.h>
#endif
#include <sys/syscall.h>
#include <unistd.h>

#define REPLACES UNWATCHED __attribute__((visibility("default")))

struct faults faults;

/*
 * The plan. Atomic, because threads may call while another one changes it between two of its own
 * calls.
 */
static struct {
	_Atomic unsigned kinds;
	_Atomic uint64_t after, times;
	_Atomic uintptr_t from, to;
	_Atomic int error;
	_Atomic unsigned chance;
	_Atomic uint64_t random; /* state of a generator */
} plan;

void faults_plan(const struct fault_plan *wanted)
{
	plan.kinds = 0;
	if (!wanted)
		return;
	plan.after = wanted->after;
	plan.times = wanted->times;
	plan.from = wanted->from;
	plan.to = wanted->to;
	plan.error = wanted->error;
	plan.chance = wanted->chance;
	plan.random = wanted->seed;
	plan.kinds = wanted->kinds;
}

unsigned faults_pause(void)
{
	return atomic_exchange(&plan.kinds, 0);
}

void faults_resume(unsigned kinds)
{
	plan.kinds = kinds;
}

uint64_t faults_failed(unsigned kinds)
{
	uint64_t sum = 0;

	for (unsigned kind = 0; kind < FAULT_KINDS; kind++)
		if (kinds & 1u << kind)
			sum += faults.failed[kind];
	return sum;
}

/* Takes one from a count, unless it is 0 already. */
static bool take(_Atomic uint64_t *count)
{
	uint64_t left = *count;

	while (left > 0)
		if (atomic_compare_exchange_weak(count, &left,
						 left == FAULTS_FOR_GOOD ? left : left - 1))
			return true;
	return false;
}

/*
 * Whether chance lets this call through: the high bits of a linear congruential generator (Knuth's
 * MMIX constants).
 */
static bool spared(void)
{
	uint64_t now, next;

	if (plan.chance == 0)
		return false;
	now = plan.random;
	do
		next = now * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	while (!atomic_compare_exchange_weak(&plan.random, &now, next));
	return next >> 56 >= plan.chance;
}

static int usual_error(enum fault_kind kind)
{
	if (1u << kind & FAULTS_MEMORY)
		return ENOMEM;
	return 1u << kind & FAULTS_HINTS ? EINVAL : ENOSYS;
}

/* Whether this call is to fail, about memory at p where it is about memory; sets errno. */
static bool fails(enum fault_kind kind, const void *p)
{
	uintptr_t to = plan.to;

	if (!(plan.kinds & 1u << kind) ||
	    (to && ((uintptr_t)p < plan.from || (uintptr_t)p >= to)) || spared() ||
	    take(&plan.after) || !take(&plan.times))
		return false;
	faults.failed[kind]++;
	errno = plan.error ? plan.error : usual_error(kind);
	return true;
}

/* ---------------------------------------------------------------- memory */

/* Reservations that exist. A free place has size 0. */
static struct {
	_Atomic uintptr_t at;
	_Atomic size_t size;
} reservations[512];

static void reservation_made(uintptr_t at, size_t size)
{
	for (size_t i = 0; i < sizeof reservations / sizeof *reservations; i++) {
		size_t none = 0;

		if (!atomic_compare_exchange_strong(&reservations[i].size, &none, size))
			continue;
		reservations[i].at = at;
		break;
	}
	faults.mappings++;
	faults.mapped += size;
}

static void reservation_gone(uintptr_t at, size_t size)
{
	for (size_t i = 0; i < sizeof reservations / sizeof *reservations; i++)
		if (reservations[i].at == at && reservations[i].size == size) {
			reservations[i].at = 0;
			reservations[i].size = 0;
			faults.mappings--;
			faults.mapped -= size;
			return;
		}
}

REPLACES void *mmap(void *p, size_t size, int protection, int flags, int fd, off_t offset)
{
	bool reserves = protection == PROT_NONE && fd < 0;
	long at;

	if (reserves && fails(FAULT_RESERVE, p))
		return MAP_FAILED;
#ifdef SYS_mmap2
	at = syscall(SYS_mmap2, p, size, protection, flags, fd, (long)(offset >> 12));
#else
	at = syscall(SYS_mmap, p, size, protection, flags, fd, offset);
#endif
	if (at == -1)
		return MAP_FAILED;
	if (reserves) {
		faults.calls[FAULT_RESERVE]++;
		reservation_made((uintptr_t)at, size);
	}
	return (void *)at;
}

REPLACES int munmap(void *p, size_t size)
{
	reservation_gone((uintptr_t)p, size); /* before another thread gets the place */
	return (int)syscall(SYS_munmap, p, size);
}

REPLACES int mprotect(void *p, size_t size, int protection)
{
	if (fails(FAULT_COMMIT, p) || syscall(SYS_mprotect, p, size, protection) != 0)
		return -1;
	faults.calls[FAULT_COMMIT]++;
	return 0;
}

static enum fault_kind kind_of_advice(int advice)
{
	switch (advice) {
#ifdef MADV_POPULATE_WRITE
	case MADV_POPULATE_WRITE:
		return FAULT_POPULATE;
#endif
	case MADV_DONTNEED:
		return FAULT_DISCARD;
	default:
		return FAULT_HUGE;
	}
}

REPLACES int madvise(void *p, size_t size, int advice)
{
	enum fault_kind kind = kind_of_advice(advice);

	if (kind == FAULT_POPULATE) {
		uint64_t most = faults.populate_max;

		faults.populated += size;
		while (most < size &&
		       !atomic_compare_exchange_weak(&faults.populate_max, &most, size))
			;
	}
	if (fails(kind, p) || syscall(SYS_madvise, p, size, advice) != 0)
		return -1;
	faults.calls[kind]++;
	return 0;
}

/* ---------------------------------------------------------------- random bytes */

/* In turn an interruption and a short answer, while the test wants that. */
static bool interrupted(size_t *size)
{
	unsigned left = faults.random_short;

	while (left > 0)
		if (atomic_compare_exchange_weak(&faults.random_short, &left, left - 1)) {
			*size = *size ? 1 : 0;
			errno = EINTR;
			return left % 2 == 0;
		}
	return false;
}

#ifdef HAVE_SYS_RANDOM_H
REPLACES ssize_t getrandom(void *buf, size_t size, unsigned flags)
{
	if (fails(FAULT_RANDOM, NULL))
		return plan.error == FAULTS_NO_BYTES ? 0 : -1;
	if (interrupted(&size))
		return -1;
	faults.calls[FAULT_RANDOM]++;
	return syscall(SYS_getrandom, buf, size, flags);
}
#endif

static _Atomic int device = -1; /* the descriptor it was opened as last */

/* No strcmp, which ThreadSanitizer may not be ready for. */
static UNWATCHED bool is_device(const char *path)
{
	static const char name[] = "/dev/urandom";
	size_t i = 0;

	while (i < sizeof name && path[i] == name[i])
		if (name[i++] == '\0')
			return true;
	return false;
}

REPLACES int open(const char *path, int flags, ...)
{
	bool random = is_device(path);
	mode_t mode = 0;
	va_list args;
	int fd;

	va_start(args, flags);
	if (flags & O_CREAT)
		mode = (mode_t)va_arg(args, unsigned);
	va_end(args);
	if (random && fails(FAULT_DEVICE, NULL))
		return -1;
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
	if (random && fd >= 0) {
		device = fd;
		faults.calls[FAULT_DEVICE]++;
	}
	return fd;
}

REPLACES ssize_t read(int fd, void *buf, size_t size)
{
	if (fd >= 0 && fd == device) {
		if (fails(FAULT_READ, NULL))
			return plan.error == FAULTS_NO_BYTES ? 0 : -1;
		if (interrupted(&size))
			return -1;
		faults.calls[FAULT_READ]++;
	}
	return syscall(SYS_read, fd, buf, size);
}
