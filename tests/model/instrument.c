/* SPDX-License-Identifier: MIT */
/*
 * instrument.c - plain accesses, as the compiler reports them. There are no functions for atomics
 * here: those go through c11/stdatomic.h, so one that did not would not link.
 */
#include "accesses.h"

#include "model.h"

static void look_at(const void *p, size_t size, bool write)
{
	if (write)
		model_write((void *)p, size);
	else
		model_read(p, size);
}
