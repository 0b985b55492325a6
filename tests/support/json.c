/* SPDX-License-Identifier: MIT */
/* json.c - see json.h. A recursive descent over the text; each step returns where it ends, or NULL.
 */
#include "json.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 32

static const char *value(const char *p, int depth);

static const char *space(const char *p)
{
	return p + strspn(p, " \t\r\n");
}

static bool digit(char ch)
{
	return ch >= '0' && ch <= '9';
}

static const char *digits(const char *p)
{
	if (!digit(*p))
		return NULL;
	while (digit(*p))
		p++;
	return p;
}

static const char *number(const char *p)
{
	if (*p == '-')
		p++;
	p = *p == '0' ? p + 1 : digits(p);
	if (p && *p == '.')
		p = digits(p + 1);
	if (p && (*p == 'e' || *p == 'E')) {
		p++;
		if (*p == '+' || *p == '-')
			p++;
		p = digits(p);
	}
	return p;
}

static const char *string(const char *p)
{
	if (*p++ != '"')
		return NULL;
	while (*p != '"') {
		if ((unsigned char)*p < 0x20)
			return NULL;
		if (*p++ != '\\')
			continue;
		if (*p == 'u') {
			if (strspn(p + 1, "0123456789abcdefABCDEF") < 4)
				return NULL;
			p += 5;
		} else if (*p && strchr("\"\\/bfnrt", *p)) {
			p++;
		} else {
			return NULL;
		}
	}
	return p + 1;
}

/* The members of an object or the elements of an array, after the bracket that opens it. */
static const char *list(const char *p, bool object, int depth)
{
	char end = object ? '}' : ']';

	p = space(p);
	if (*p == end)
		return p + 1;
	for (;;) {
		if (object) {
			p = string(space(p));
			p = p ? space(p) : NULL;
			if (!p || *p++ != ':')
				return NULL;
		}
		p = value(p, depth);
		if (!p)
			return NULL;
		if (*p == end)
			return p + 1;
		if (*p++ != ',')
			return NULL;
	}
}

static const char *value(const char *p, int depth)
{
	p = space(p);
	if (depth > DEPTH)
		return NULL;
	if (*p == '{' || *p == '[')
		p = list(p + 1, *p == '{', depth + 1);
	else if (*p == '"')
		p = string(p);
	else if (strncmp(p, "true", 4) == 0 || strncmp(p, "null", 4) == 0)
		p += 4;
	else if (strncmp(p, "false", 5) == 0)
		p += 5;
	else
		p = number(p);
	return p ? space(p) : NULL;
}

bool json_valid(const char *text)
{
	const char *end = value(text, 0);

	return end && *end == '\0';
}

bool json_number(const char *text, const char *key, uint64_t *out)
{
	const char *p = space(text);
	size_t len = strlen(key);
	int found = 0;

	if (!json_valid(text) || *p++ != '{')
		return false;
	p = space(p);
	while (*p != '}') {
		const char *name = p, *name_end = string(p), *at = space(space(name_end) + 1),
			   *end = value(at, 0);

		if ((size_t)(name_end - name) == len + 2 && memcmp(name + 1, key, len) == 0) {
			char *number_end;

			errno = 0;
			*out = strtoull(at, &number_end, 10);
			if (!digit(*at) || errno != 0 || space(number_end) != end || found++)
				return false;
		}
		p = *end == ',' ? space(end + 1) : end;
	}
	return found == 1;
}
