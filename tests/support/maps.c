/* SPDX-License-Identifier: MIT */
/* maps.c - see maps.h. Static buffers: for one thread at a time. */
#include "maps.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char text[MAPS_MAX * 128];
static struct maps now;

static size_t read_all(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n;

	if (fd < 0)
		return 0;
	while (len < sizeof(text) && (n = read(fd, text + len, sizeof(text) - len)) > 0)
		len += (size_t)n;
	close(fd);
	return len < sizeof(text) ? len : 0;
}

static uintptr_t hex(const char **p)
{
	uintptr_t number = 0;

	for (;; ++*p) {
		char ch = **p;

		if (ch >= '0' && ch <= '9')
			number = number * 16 + (uintptr_t)(ch - '0');
		else if (ch >= 'a' && ch <= 'f')
			number = number * 16 + (uintptr_t)(ch - 'a') + 10;
		else
			return number;
	}
}

bool maps_read(struct maps *maps)
{
	size_t len = read_all("/proc/self/maps");
	const char *p = text, *end = text + len;

	maps->count = 0;
	while (p < end) {
		if (maps->count == MAPS_MAX)
			return false;
		maps->ranges[maps->count].from = hex(&p);
		p++;
		maps->ranges[maps->count].to = hex(&p);
		p++;
		maps->ranges[maps->count].writable = p[1] == 'w';
		maps->count++;
		while (p < end && *p++ != '\n')
			;
	}
	return len != 0;
}

/* The number behind "name:" at the beginning of a line, in bytes; 0 where the line is another. */
static size_t kilobytes(const char *line, const char *name)
{
	size_t n = strlen(name);

	return strncmp(line, name, n) == 0 ? strtoul(line + n, NULL, 10) * 1024 : 0;
}

bool maps_resident(uintptr_t from, uintptr_t to, size_t *bytes)
{
	size_t len = read_all("/proc/self/smaps");
	const char *p = text, *end = text + len;
	bool inside = false;

	*bytes = 0;
	while (p < end) {
		/* a mapping's first line begins with its address, the others with an upper-case letter */
		if (*p < 'A' || *p > 'Z') {
			uintptr_t low = hex(&p), high;

			p++;
			high = hex(&p);
			inside = low >= from && high <= to;
			if (!inside && low < to && high > from && strncmp(p + 1, "---", 3) != 0)
				return false;
		} else if (inside) {
			*bytes += kilobytes(p, "Rss:") + kilobytes(p, "Swap:");
		}
		while (p < end && *p++ != '\n')
			;
	}
	return len != 0;
}

size_t maps_protect_since(const struct maps *before)
{
	size_t taken = 0, i, b = 0;

	if (!maps_read(&now))
		return 0;
	for (i = 0; i < now.count; i++) {
		uintptr_t at = now.ranges[i].from, to = now.ranges[i].to;

		if (!now.ranges[i].writable)
			continue;
		/* Both lists ascend. A new mapping may have merged with an old neighbour: leave
		 * that part out. */
		while (at < to) {
			uintptr_t stop = to, next = to;

			while (b < before->count && before->ranges[b].to <= at)
				b++;
			if (b < before->count && before->ranges[b].from < to) {
				stop = before->ranges[b].from > at ? before->ranges[b].from : at;
				next = before->ranges[b].to;
			}
			if (stop > at && mprotect((void *)at, stop - at, PROT_READ) == 0)
				taken += stop - at;
			at = next;
		}
	}
	return taken;
}
