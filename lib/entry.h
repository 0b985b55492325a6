/* SPDX-License-Identifier: MIT */
/*
 * entry.h - how a string lies in memory.
 *
 *   start                                             the pointer handed out
 *   |                                                 |
 *   [value 0/4/8] [link 0/4] [length u64, escaped] [header u32] bytes ... NUL [pad to align]
 *   `---- prefix, without the escaped length ---------------'
 *
 *   header   31          24 23                        0
 *           +--------------+---------------------------+
 *           | hash byte    | length; 0xFFFFFF: escaped |
 *           +--------------+---------------------------+
 *
 * The header stands right before the bytes, so that the length is found without knowing which interner a
 * string belongs to; one comparison of the whole word tells length and eight hash bits apart before any
 * byte is read. Strings of 16 MiB - 1 and more say "escaped" there and keep their length in front of it;
 * each has a slab to itself, so that walking a slab never has to guess.
 *
 * An entry's reference is (str - prefix - base) >> shift: one number that is at once the public id and what
 * the tables hold. All but value and link is immutable once the entry is in a table.
 */
#ifndef CISTERN_LIB_ENTRY_H
#define CISTERN_LIB_ENTRY_H

#include "cistern.h"
#include "compiler.h"

#include <stdatomic.h>
#include <string.h>

#define ENTRY_ESCAPE   0xFFFFFFu /* in the header's length bits */
#define ENTRY_HEADER   4u
#define ENTRY_LONG_LEN 8u

struct entry_layout {
	char *origin;        /* base of the range + prefix: where reference 0 would put its string */
	uint8_t shift;       /* references count units of 1 << shift bytes */
	uint8_t prefix;      /* value, link and header, in bytes */
	uint8_t value_size;  /* 0, 4 or 8 */
	uint8_t link_size;   /* 0 or 4 */
	uint32_t align;      /* entries start at multiples of it; at least 1 << shift */
};

static inline void entry_layout_init(struct entry_layout *layout, char *base, unsigned shift,
                                     unsigned value_size, bool links)
{
	layout->shift = (uint8_t)shift;
	layout->value_size = (uint8_t)value_size;
	layout->link_size = links ? 4 : 0;
	layout->prefix = (uint8_t)(ENTRY_HEADER + layout->link_size + value_size);
	layout->align = 1u << shift;
	if (layout->align < layout->link_size)
		layout->align = layout->link_size;
	if (layout->align < value_size)
		layout->align = value_size;
	layout->origin = base + layout->prefix;
}

static inline bool entry_escaped(size_t len)
{
	return len >= ENTRY_ESCAPE;
}

static inline uint32_t entry_header(size_t len, uint8_t hash_byte)
{
	return (entry_escaped(len) ? ENTRY_ESCAPE : (uint32_t)len) | (uint32_t)hash_byte << 24;
}

/* Bytes from the start of an entry to its end, padding included. len is far from SIZE_MAX. */
static inline size_t entry_size(const struct entry_layout *layout, size_t len)
{
	size_t size = layout->prefix + (entry_escaped(len) ? ENTRY_LONG_LEN : 0) + len + 1;

	return (size + layout->align - 1) & ~(size_t)(layout->align - 1);
}

static inline uint32_t entry_load_header(const char *str)
{
	uint32_t header;

	memcpy(&header, str - ENTRY_HEADER, sizeof header);
	return header;
}

static inline size_t entry_len(const char *str)
{
	uint32_t len = entry_load_header(str) & ENTRY_ESCAPE;
	uint64_t long_len;

	if (len != ENTRY_ESCAPE)
		return len;
	memcpy(&long_len, str - ENTRY_HEADER - ENTRY_LONG_LEN, sizeof long_len);
	return (size_t)long_len;
}

static inline const char *entry_str(const struct entry_layout *layout, uint32_t ref)
{
	return layout->origin + ((size_t)ref << layout->shift);
}

/*
 * The same for any number, as an address. On 32 bits it may come round to what is before the range's first string:
 * then it is not above origin.
 */
static inline uintptr_t entry_address(const struct entry_layout *layout, uint32_t ref)
{
	return (uintptr_t)layout->origin + ((uintptr_t)ref << layout->shift);
}

static inline uint32_t entry_ref(const struct entry_layout *layout, const char *str)
{
	return (uint32_t)((size_t)(str - layout->origin) >> layout->shift);
}

/*
 * Where the link and the value are: before the header, and before the escaped length where there is one.
 * Both are aligned, because entries are and because all that stands behind them is a multiple of their
 * size (an 8-byte value is followed by 8 or 16 bytes with a link, and stands first without).
 */
static inline char *entry_extras_end(const char *str)
{
	bool escaped = (entry_load_header(str) & ENTRY_ESCAPE) == ENTRY_ESCAPE;

	return (char *)str - ENTRY_HEADER - (escaped ? ENTRY_LONG_LEN : 0);
}

static inline _Atomic uint32_t *entry_link(const char *str)
{
	return (_Atomic uint32_t *)(void *)(entry_extras_end(str) - 4);
}

static inline void *entry_value(const struct entry_layout *layout, const char *str)
{
	return entry_extras_end(str) - layout->link_size - layout->value_size;
}

/* Lays out everything but the bytes, and the NUL. Value and link read as 0, the memory may be used. */
static inline void entry_frame(const struct entry_layout *layout, char *str, size_t len,
                               uint8_t hash_byte)
{
	uint32_t header = entry_header(len, hash_byte);
	uint64_t long_len = len;

	memcpy(str - ENTRY_HEADER, &header, sizeof header);
	if (entry_escaped(len))
		memcpy(str - ENTRY_HEADER - ENTRY_LONG_LEN, &long_len, sizeof long_len);
	memset(entry_value(layout, str), 0, layout->value_size + layout->link_size);
	str[len] = '\0';
}

static inline uint64_t entry_load64(const char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof word);
	return word;
}

static inline uint32_t entry_load32(const char *p)
{
	uint32_t word;

	memcpy(&word, p, sizeof word);
	return word;
}

/* Two words at a time, in a vector register where the machine has them: GNU C. */
typedef uint64_t entry_pair __attribute__((vector_size(16)));

static inline entry_pair entry_differ16(const char *a, const char *b)
{
	entry_pair x, y;

	memcpy(&x, a, sizeof x);
	memcpy(&y, b, sizeof y);
	return x ^ y;
}

/*
 * Whether len bytes are equal, len up to ENTRY_SHORT. Inline, since a call of memcmp costs more than the comparison;
 * never reads beyond len, as the caller's string may end at an unreadable page. The branches are those of
 * XXH3 for the same length, which the processor has just seen: having guessed there, it predicts them here.
 */
#define ENTRY_SHORT 128

static inline bool entry_short_equal(const char *a, const char *b, size_t len)
{
	const char *a_end, *b_end;
	entry_pair differ;

	if (len == 0) /* b may be NULL */
		return true;
	a_end = a + len;
	b_end = b + len;
	if (len <= 16) {
		if (len > 8)
			return ((entry_load64(a) ^ entry_load64(b)) |
			        (entry_load64(a_end - 8) ^ entry_load64(b_end - 8))) == 0;
		if (len >= 4)
			return ((entry_load32(a) ^ entry_load32(b)) |
			        (entry_load32(a_end - 4) ^ entry_load32(b_end - 4))) == 0;
		return ((a[0] ^ b[0]) | (a[len >> 1] ^ b[len >> 1]) | (a_end[-1] ^ b_end[-1])) == 0;
	}
	differ = entry_differ16(a, b) | entry_differ16(a_end - 16, b_end - 16);
	if (len > 32) {
		if (len > 64) {
			if (len > 96)
				differ |= entry_differ16(a + 48, b + 48) |
				          entry_differ16(a_end - 64, b_end - 64);
			differ |= entry_differ16(a + 32, b + 32) |
			          entry_differ16(a_end - 48, b_end - 48);
		}
		differ |= entry_differ16(a + 16, b + 16) | entry_differ16(a_end - 32, b_end - 32);
	}
	return (differ[0] | differ[1]) == 0;
}

static inline bool entry_bytes_equal(const char *a, const char *b, size_t len)
{
	return len <= ENTRY_SHORT ? entry_short_equal(a, b, len) : memcmp(a, b, len) == 0;
}

/* Whether str holds exactly these bytes; header is what entry_header says of them. */
static inline bool entry_equal(const char *str, uint32_t header, const char *s, size_t len)
{
	if (entry_load_header(str) != header)
		return false;
	if (len <= ENTRY_SHORT)
		return entry_short_equal(str, s, len);
	return entry_len(str) == len && memcmp(str, s, len) == 0;
}

#endif
