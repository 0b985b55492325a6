/* SPDX-License-Identifier: MIT */
/* meminfo.c - see meminfo.h. */
#include "meminfo.h"

#include "tools.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The number behind "name:" in a file of /proc that gives it in kilobytes; in bytes, 0 where there
 * is none. */
static uint64_t kilobytes(const char *path, const char *name)
{
	FILE *f = fopen(path, "r");
	char line[256];
	size_t len = strlen(name);
	uint64_t kib = 0;

	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, name, len) == 0 &&
		    sscanf(line + len, ": %" SCNu64 " kB", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib * 1024;
}

uint64_t meminfo_available(void)
{
	return kilobytes("/proc/meminfo", "MemAvailable");
}

uint64_t meminfo_data(void)
{
	return kilobytes("/proc/self/status", "VmData");
}

/* The field of /proc/self/statm with that number: 0 size, 1 resident. */
static uint64_t statm(int field)
{
	FILE *f = fopen("/proc/self/statm", "r");
	uint64_t pages[2] = {0, 0};

	if (!f)
		return 0;
	if (fscanf(f, "%" SCNu64 " %" SCNu64, &pages[0], &pages[1]) != 2)
		pages[0] = pages[1] = 0;
	fclose(f);
	return pages[field] * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t meminfo_mapped(void)
{
	return statm(0);
}

uint64_t meminfo_resident(void)
{
	return statm(1);
}

uint64_t meminfo_space(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return limit.rlim_cur;
}

bool meminfo_space_can_be_limited(void)
{
	struct rlimit before, less;

	if (UNDER_ASAN || UNDER_TSAN || UNDER_VALGRIND || getrlimit(RLIMIT_AS, &before) != 0)
		return false;
	less = before;
	less.rlim_cur = before.rlim_cur == RLIM_INFINITY ? SIZE_MAX / 2 : before.rlim_cur - 4096;
	if (setrlimit(RLIMIT_AS, &less) != 0)
		return false;
	return meminfo_space() == less.rlim_cur && setrlimit(RLIMIT_AS, &before) == 0;
}

bool meminfo_suffices(uint64_t bytes)
{
	uint64_t available = meminfo_available();

	if (available >= bytes)
		return true;
	printf("1..0 # SKIP takes %" PRIu64 " MiB of memory, and %" PRIu64 " MiB are available\n",
	       bytes >> 20, available >> 20);
	return false;
}
