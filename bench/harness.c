/* SPDX-License-Identifier: MIT */
/*
 * harness.c - the measuring itself. See harness.h.
 *
 * A measurement runs in a forked child. The parent is kept clean for that: it has one thread, no
 * interner was ever made in it, and its corpus lies in mappings, so that the heap that the child
 * inherits is as good as new (cli.c trims it once the corpus is read). Forking rather than
 * executing again saves reading the corpus for every measurement; the pages of the corpus are
 * shared and counted on both sides of "after minus before".
 *
 * It grows by new ways to look at a process; what is measured does not belong here.
 */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#ifdef __linux__
#include <link.h>
#endif
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

uint64_t harness_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

unsigned harness_cpus(void)
{
#ifdef CPU_COUNT
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof set, &set) == 0)
		return (unsigned)CPU_COUNT(&set);
#endif
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	return n > 0 ? (unsigned)n : 1;
}

static double load_at_start = NAN;

double harness_load(void)
{
	double load;
	return getloadavg(&load, 1) == 1 ? load : NAN;
}

void harness_note_load(void)
{
	load_at_start = harness_load();
}

double harness_load_at_start(void)
{
	return load_at_start;
}

/* ---- memory */

/* Reads a file of /proc into buf without stdio, whose buffer would come from the heap that is
 * measured. */
static bool read_small(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	size_t used = 0;
	ssize_t got;
	while (used + 1 < size && (got = read(fd, buf + used, size - 1 - used)) > 0)
		used += (size_t)got;
	close(fd);
	buf[used] = '\0';
	return used > 0;
}

/* The number of kB behind a name, in bytes. */
static uint64_t field_of(const char *text, const char *name)
{
	const char *at = strstr(text, name);
	return at ? strtoull(at + strlen(name), NULL, 10) * 1024 : 0;
}

void harness_memory_read(struct harness_memory *m)
{
	static char text[8192];
	static const char status[] = "/proc/self/status";
	memset(m, 0, sizeof *m);
	if (!read_small(status, text, sizeof text))
		cli_fail("%s: memory cannot be read: %s", status, strerror(errno));
	m->peak = field_of(text, "\nVmHWM:");
	m->rss = field_of(text, "\nVmRSS:");
	if (!read_small("/proc/self/smaps_rollup", text, sizeof text))
		return; /* older than Linux 4.14: at least the resident size is known */
	m->rss = field_of(text, "\nRss:");
	m->pss = field_of(text, "\nPss:");
	m->huge = field_of(text, "\nAnonHugePages:");
}

void *harness_pages(size_t size)
{
	void *p =
	    mmap(NULL, size ? size : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		cli_fail("no memory for %zu bytes: %s", size, strerror(errno));
	memset(p, 0, size ? size : 1); /* resident before anything is compared */
	return p;
}

void harness_pages_free(void *p, size_t size)
{
	munmap(p, size ? size : 1);
}

void harness_warm(size_t more)
{
	size_t size = ((size_t)64 << 20) + more;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return; /* then there is nothing to be warmed */
#ifdef MADV_HUGEPAGE
	madvise(p, size, MADV_HUGEPAGE);
#endif
	for (size_t i = 0; i < size; i += 4096)
		p[i] = 1;
	munmap(p, size);
}

/* ---- threads */

struct worker {
	pthread_t handle;
	unsigned number;
	void (*fn)(unsigned, void *);
	void *arg;
	pthread_barrier_t *start;
	uint64_t began, ended;
	uint64_t cpu;
};

static enum harness_clock measured_clock = HARNESS_WALL;

void harness_use_clock(enum harness_clock clock)
{
	measured_clock = clock;
}

enum harness_clock harness_clock_used(void)
{
	return measured_clock;
}

static uint64_t thread_cpu(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

uint64_t harness_clock_now(void)
{
	return measured_clock == HARNESS_CPU ? thread_cpu() : harness_now();
}

void harness_events_read(struct harness_events *e)
{
	struct rusage usage = {0};
#ifdef RUSAGE_THREAD
	getrusage(RUSAGE_THREAD, &usage);
#else
	getrusage(RUSAGE_SELF, &usage);
#endif
	e->switches = (uint64_t)usage.ru_nivcsw;
	e->faults = (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	pthread_barrier_wait(w->start);
	uint64_t cpu = thread_cpu();
	w->began = harness_now();
	w->fn(w->number, w->arg);
	w->ended = harness_now();
	w->cpu = thread_cpu() - cpu;
	return NULL;
}

uint64_t harness_threads(unsigned n, void (*fn)(unsigned thread, void *arg), void *arg)
{
	pthread_barrier_t start;
	size_t size = n * sizeof(struct worker);
	struct worker *workers = harness_pages(size); /* not the heap: that is the engine's */

	pthread_barrier_init(&start, NULL, n);
	for (unsigned i = 0; i < n; i++) {
		workers[i] = (struct worker){.number = i, .fn = fn, .arg = arg, .start = &start};
		int error = pthread_create(&workers[i].handle, NULL, worker_main, &workers[i]);
		if (error)
			cli_fail("cannot start thread %u of %u: %s", i + 1, n, strerror(error));
	}
	uint64_t began = UINT64_MAX, ended = 0, cpu = 1;
	for (unsigned i = 0; i < n; i++) {
		pthread_join(workers[i].handle, NULL);
		if (workers[i].began < began)
			began = workers[i].began;
		if (workers[i].ended > ended)
			ended = workers[i].ended;
		if (workers[i].cpu > cpu)
			cpu = workers[i].cpu;
	}
	pthread_barrier_destroy(&start);
	harness_pages_free(workers, size);
	if (measured_clock == HARNESS_CPU)
		return cpu;
	return ended > began ? ended - began : 1; /* rates divide by it */
}

static void nothing(unsigned thread, void *arg)
{
	(void)thread;
	(void)arg;
}

void harness_threads_leave(unsigned n)
{
	harness_threads(n, nothing, NULL);
}

/* ---- a process of its own */

/* Copies size bytes through fd; false at the end of the pipe or an error. */
static bool transfer(int fd, char *data, size_t size, bool out)
{
	for (size_t done = 0; done < size;) {
		ssize_t got =
		    out ? write(fd, data + done, size - done) : read(fd, data + done, size - done);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

/*
 * Maps the pages of all code and constants. A forked child has none of them in its page tables, so
 * the first calls into an engine would add some hundred kilobytes of page cache to its resident
 * memory. Kernels before 5.14 cannot; there the figures are that much higher, for every engine.
 */
#if defined(__linux__) && defined(MADV_POPULATE_READ)
static int map_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	uintptr_t page = *(uintptr_t *)arg;
	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		if (segment->p_type != PT_LOAD)
			continue;
		uintptr_t start = info->dlpi_addr + segment->p_vaddr;
		uintptr_t end = start + segment->p_memsz;
		start &= ~(page - 1);
		madvise((void *)start, end - start, MADV_POPULATE_READ);
	}
	return 0;
}

static void map_code(void)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	dl_iterate_phdr(map_object, &page);
}
#else
static void map_code(void)
{
}
#endif

bool harness_child(void (*fn)(void *arg, void *result), void *arg, void *result, size_t size)
{
	int ends[2];
	/* What is buffered would be printed by the child as well. */
	fflush(NULL);
	if (pipe(ends) != 0)
		cli_fail("cannot make a pipe: %s", strerror(errno));
	pid_t pid = fork();
	if (pid < 0)
		cli_fail("cannot start a process: %s", strerror(errno));
	if (pid == 0) {
		close(ends[0]);
		map_code();
		fn(arg, result);
		_exit(transfer(ends[1], result, size, true) ? 0 : CLI_FAILURE);
	}
	close(ends[1]);
	bool whole = transfer(ends[0], result, size, false);
	close(ends[0]);

	int status = 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status)) {
		cli_warn("a measurement was ended by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
		return false;
	}
	return whole && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int harness_descriptor(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, 10);
}

/* A fixed piece of arithmetic, some milliseconds of it, that fits into registers. */
static void arithmetic(unsigned thread, void *arg)
{
	volatile uint64_t *sink = arg;
	uint64_t x = thread;
	for (unsigned i = 0; i < 4000000; i++)
		x = x * UINT64_C(6364136223846793005) + 1;
	sink[thread] = x;
}

static void measure_parallel(void *arg, void *result)
{
	double *out = result, ratios[3];
	unsigned n = harness_cpus();
	uint64_t *sink = harness_pages(n * sizeof *sink);
	(void)arg;
	for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++) {
		uint64_t start = harness_now();
		harness_threads(1, arithmetic, sink);
		uint64_t one = harness_now() - start;
		start = harness_now();
		harness_threads(n, arithmetic, sink);
		ratios[i] = (double)n * (double)one / (double)(harness_now() - start);
	}
	*out = harness_spread_of(ratios, sizeof ratios / sizeof *ratios).median;
}

double harness_parallel(void)
{
	double parallel;
	return harness_child(measure_parallel, NULL, &parallel, sizeof parallel) ? parallel : NAN;
}

/* ---- statistics */

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* The value at a part of a sorted array, between two values where it falls there. */
static double quantile(const double *sorted, size_t n, double part)
{
	double at = part * (double)(n - 1);
	size_t low = (size_t)at;
	if (low + 1 >= n)
		return sorted[n - 1];
	return sorted[low] + (at - (double)low) * (sorted[low + 1] - sorted[low]);
}

struct harness_spread harness_spread_of(double *values, size_t n)
{
	qsort(values, n, sizeof *values, compare_doubles);
	return (struct harness_spread){quantile(values, n, 0.25), quantile(values, n, 0.5),
				       quantile(values, n, 0.75)};
}

struct harness_pair harness_pair_of(const double *own, const double *base, size_t n)
{
	double *values = malloc(2 * n * sizeof *values), *ratios = values + n;
	struct harness_pair pair = {.known = true, .paired = base != NULL};
	if (!values)
		cli_fail("out of memory");
	for (size_t i = 0; i < n; i++) {
		pair.known &= !isnan(own[i]);
		/* nothing can be said over nothing */
		pair.paired = pair.paired && pair.known && base[i] > 0;
		values[i] = own[i];
		ratios[i] = pair.paired ? own[i] / base[i] : 0;
	}
	pair.own = harness_spread_of(values, n);
	pair.ratio = harness_spread_of(ratios, n);
	free(values);
	return pair;
}

size_t harness_in_turn(size_t i, size_t n, unsigned round)
{
	return round % 2 ? n - 1 - i : i;
}

double harness_deviation(const double *values, size_t n)
{
	double sum = 0, squares = 0;
	for (size_t i = 0; i < n; i++)
		sum += values[i];
	for (size_t i = 0; i < n; i++)
		squares += (values[i] - sum / (double)n) * (values[i] - sum / (double)n);
	return n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
}

/* ---- progress */

void harness_progress_start(struct harness_progress *p, const char *what, size_t total)
{
	*p = (struct harness_progress){
	    .what = what, .total = total, .start = harness_now(), .on = isatty(STDERR_FILENO) == 1};
}

void harness_progress_step(struct harness_progress *p)
{
	uint64_t now = harness_now();
	p->done++;
	if (!p->on || now - p->shown < UINT64_C(100000000))
		return;
	p->shown = now;
	double spent = (double)(now - p->start) / 1e9;
	double left = p->done ? spent / (double)p->done * (double)(p->total - p->done) : 0;
	fprintf(stderr, "\r%s: %s %zu of %zu, about %.0f s left\033[K", cli_program, p->what,
		p->done, p->total, left);
	fflush(stderr);
}

void harness_progress_end(struct harness_progress *p)
{
	if (p->on)
		fputs("\r\033[K", stderr);
}
