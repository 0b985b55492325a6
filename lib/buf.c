/* SPDX-License-Identifier: MIT */
/*
 * buf.c - a string under construction. It begins in the caller's storage, if there is some, and allocates only
 * when that is full; a failure sticks, so that a chain of additions needs one check.
 *
 * Invariants: data == NULL or data[len] == '\0' and len < size; heap says whose data is. A builder
 * belongs to one thread.
 */
#include "cistern.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void cistern_buf_init(cistern_buf *b)
{
	cistern_buf_init_fixed(b, NULL, 0);
}

void cistern_buf_init_fixed(cistern_buf *b, char *storage, size_t size)
{
	b->private_data = size > 0 ? storage : NULL;
	b->private_size = storage ? size : 0;
	b->private_len = 0;
	b->private_heap = false;
	b->private_failed = false;
	if (b->private_data)
		b->private_data[0] = '\0';
}

static bool fail(cistern_buf *b, int error)
{
	b->private_failed = true;
	errno = error;
	return false;
}

/* Storage for len bytes and the NUL. Grows by half at least, so that adding is linear in all. */
static bool make_room(cistern_buf *b, size_t len)
{
	size_t size = b->private_size + b->private_size / 2;
	char *data;

	if (len < b->private_size)
		return true;
	if (len == SIZE_MAX)
		return fail(b, EOVERFLOW);
	if (size < len + 1)
		size = len + 1;
	if (size < 64)
		size = 64;
	data = realloc(b->private_heap ? b->private_data : NULL, size);
	if (!data)
		return fail(b, ENOMEM);
	if (!b->private_heap && b->private_data)
		memcpy(data, b->private_data, b->private_len);
	data[b->private_len] = '\0';
	b->private_data = data;
	b->private_size = size;
	b->private_heap = true;
	return true;
}

bool cistern_buf_reserve(cistern_buf *b, size_t size)
{
	if (b->private_failed)
		return fail(b, ENOMEM);
	return make_room(b, size);
}

bool cistern_buf_add(cistern_buf *b, const char *s, size_t len)
{
	size_t offset = 0;
	bool inside;

	if (b->private_failed)
		return fail(b, ENOMEM);
	if (!s && len > 0)
		return fail(b, EINVAL);
	if (len > SIZE_MAX - b->private_len)
		return fail(b, EOVERFLOW);
	if (len == 0)
		return true;
	/* a piece of the builder itself may move with it */
	inside = b->private_data && (uintptr_t)s >= (uintptr_t)b->private_data &&
	         (uintptr_t)s <= (uintptr_t)b->private_data + b->private_len;
	if (inside)
		offset = (size_t)(s - b->private_data);
	if (!make_room(b, b->private_len + len))
		return false;
	/* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): there is data now */
	memmove(b->private_data + b->private_len, inside ? b->private_data + offset : s, len);
	b->private_len += len;
	b->private_data[b->private_len] = '\0';
	return true;
}

bool cistern_buf_addch(cistern_buf *b, char ch)
{
	return cistern_buf_add(b, &ch, 1);
}

bool cistern_buf_addf(cistern_buf *b, const char *format, ...)
{
	size_t room = b->private_size - b->private_len;
	va_list args;
	int len;

	if (b->private_failed)
		return fail(b, ENOMEM);
	if (!format)
		return fail(b, EINVAL);
	va_start(args, format);
	len = vsnprintf(room ? b->private_data + b->private_len : NULL, room, format, args);
	va_end(args);
	if (len >= 0 && (size_t)len < room) {
		b->private_len += (size_t)len;
		return true;
	}
	if (room) /* nothing is added by halves */
		b->private_data[b->private_len] = '\0';
	if (len < 0)
		return fail(b, errno == ENOMEM ? ENOMEM : errno == EILSEQ ? EILSEQ : EOVERFLOW);
	if ((size_t)len > SIZE_MAX - b->private_len)
		return fail(b, EOVERFLOW);
	if (!make_room(b, b->private_len + (size_t)len))
		return false;
	va_start(args, format);
	vsnprintf(b->private_data + b->private_len, (size_t)len + 1, format, args);
	va_end(args);
	b->private_len += (size_t)len;
	return true;
}

bool cistern_buf_failed(const cistern_buf *b)
{
	return b->private_failed;
}

cistern_span cistern_buf_span(const cistern_buf *b)
{
	return (cistern_span){b->private_data ? b->private_data : "", b->private_len};
}

const char *cistern_buf_intern(cistern *c, const cistern_buf *b)
{
	if (b->private_failed) {
		errno = ENOMEM;
		return NULL;
	}
	return cistern_intern(c, b->private_data, b->private_len);
}

void cistern_buf_reset(cistern_buf *b)
{
	b->private_len = 0;
	b->private_failed = false;
	if (b->private_data)
		b->private_data[0] = '\0';
}

void cistern_buf_release(cistern_buf *b)
{
	if (b->private_heap)
		free(b->private_data);
	cistern_buf_init(b);
}
