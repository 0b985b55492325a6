/* SPDX-License-Identifier: MIT */
/* ways.c - see ways.h. */
#include "ways.h"

#include <errno.h>

static const char *intern_built(cistern *c, const char *s, size_t len)
{
	const char *str;
	cistern_buf buf;
	int error;

	cistern_buf_init(&buf);
	cistern_buf_add(&buf, s, len);
	str = cistern_buf_intern(c, &buf);
	error = errno;
	cistern_buf_release(&buf);
	errno = error;
	return str;
}

const char *way_intern(cistern *c, enum way way, const char *s, size_t len, bool *is_new)
{
	cistern_span whole = {s, len}, halves[2] = {{s, len / 2}, {s + len / 2, len - len / 2}};
	const char *str = NULL;

	switch (way) {
	case WAY_HASHED:
		return cistern_intern_hashed(c, s, len, cistern_hash(c, s, len));
	case WAY_BATCH:
		return cistern_intern_batch(c, &whole, &str, 1) == 1 ? str : NULL;
	case WAY_PIECES:
		return cistern_internv(c, halves, 2);
	case WAY_NEW:
		return cistern_intern_new(c, s, len, is_new);
	case WAY_BUILDER:
		return intern_built(c, s, len);
	default:
		return cistern_intern(c, s, len);
	}
}

const char *way_find(const cistern *c, enum way way, const char *s, size_t len)
{
	cistern_span whole = {s, len};
	const char *str = NULL;

	switch (way) {
	case WAY_HASHED:
		return cistern_find_hashed(c, s, len, cistern_hash(c, s, len));
	case WAY_BATCH:
		return cistern_find_batch(c, &whole, &str, 1) == 1 ? str : NULL;
	default:
		return cistern_find(c, s, len);
	}
}
