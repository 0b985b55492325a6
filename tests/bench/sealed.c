/* SPDX-License-Identifier: MIT */
/* sealed.c - see sealed.h. */
#include "sealed.h"

#include <stdlib.h>
#include <string.h>

static int compare_spans(const void *a, const void *b)
{
	const cistern_span *x = a, *y = b;
	size_t least = x->len < y->len ? x->len : y->len;
	int order = memcmp(x->data, y->data, least);
	return order ? order : (x->len > y->len) - (x->len < y->len);
}

static const char *strings_fault(const struct corpus *c)
{
	uint64_t payload = 0;
	size_t next = 0;
	if (c->n == 0)
		return "it is empty";
	for (size_t i = 0; i < c->n; i++) {
		if (c->kind[i] >= c->ndistinct)
			return "a string is of no kind";
		if (compare_spans(&c->all[i], &c->distinct[c->kind[i]]) != 0)
			return "a string differs from its kind";
		if (c->all[i].data[c->all[i].len] != '\0')
			return "a string has no NUL behind it";
		/* Kinds are numbered by first appearance. */
		if (c->kind[i] > next)
			return "a kind comes before an earlier one";
		next += c->kind[i] == next;
		payload += c->all[i].len;
	}
	if (next != c->ndistinct)
		return "a kind has no string";
	return payload == c->payload ? NULL : "the lengths do not add up";
}

const char *sealed_fault(const struct corpus *c)
{
	const char *fault = strings_fault(c);
	if (fault)
		return fault;
	cistern_span *sorted = malloc(c->ndistinct * sizeof *sorted);
	if (!sorted)
		return "no memory to check it";
	memcpy(sorted, c->distinct, c->ndistinct * sizeof *sorted);
	qsort(sorted, c->ndistinct, sizeof *sorted, compare_spans);
	for (size_t i = 1; i < c->ndistinct; i++)
		if (compare_spans(&sorted[i - 1], &sorted[i]) >= 0)
			fault = "two kinds are equal";
	for (size_t i = 0; i < c->nabsent; i++)
		if (bsearch(&c->absent[i], sorted, c->ndistinct, sizeof *sorted, compare_spans))
			fault = "an absent string is there";
	free(sorted);
	return fault;
}
