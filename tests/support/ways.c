/* SPDX-License-Identifier: MIT */
/* ways.c - see ways.h. */
#include "ways.h"

#include <errno.h>

static const char *intern_built(cistern *c, const char *data, size_t len)
{
	const char *str;
	cistern_buf buf;
	int error;

	cistern_buf_init(&buf);
	cistern_buf_add(&buf, data, len);
	str = cistern_buf_intern(c, &buf);
	error = errno;
	cistern_buf_release(&buf);
	errno = error;
	return str;
}

const char *way_intern(cistern *c, enum way way, const char *data, size_t len)
{
	cistern_span whole = {data, len}, pieces[3] = {{data, 1},
						       {data + 1, len / 2},
						       {data + 1 + len / 2, len - 1 - len / 2}};
	const char *out = NULL;

	switch (way) {
	case WAY_NEW:
		return cistern_intern_new(c, data, len, NULL);
	case WAY_HASHED:
		return cistern_intern_hashed(c, data, len, cistern_hash(c, data, len));
	case WAY_PIECES:
		return cistern_internv(c, pieces, 3);
	case WAY_BATCH:
		return cistern_intern_batch(c, &whole, &out, 1) == 1 ? out : NULL;
	case WAY_BUILDER:
		return intern_built(c, data, len);
	default:
		return cistern_intern(c, data, len);
	}
}
