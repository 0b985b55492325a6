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
	/* cut where no word of memory ends; of the shortest strings some pieces are empty */
	const size_t first = len > 0, second = (len - first) / 2;
	cistern_span whole = {s, len}, pieces[3] = {{s, first},
						    {s + first, second},
						    {s + first + second, len - first - second}};
	const char *str = NULL;

	switch (way) {
	case WAY_HASHED:
		return cistern_intern_hashed(c, s, len, cistern_hash(c, s, len));
	case WAY_BATCH:
		return cistern_intern_batch(c, &whole, &str, 1) == 1 ? str : NULL;
	case WAY_PIECES:
		return cistern_internv(c, pieces, 3);
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
