/* SPDX-License-Identifier: MIT */
/*
 * api.h - what the parts of the fuzz target for the interface share (api.c): where a run is, the
 * strings that its operations take, and the operations. Each takes its operands from the input,
 * calls, and asks the model.
 */
#ifndef TESTS_FUZZ_API_H
#define TESTS_FUZZ_API_H

#include "fuzz.h"

#include "hash.h"
#include "model.h"

struct run {
	struct model m;
	struct fuzz_bytes in;
	struct secret secret;
	size_t budget; /* bytes that are left of BUDGET */
	unsigned many; /* strings that are left of MANY */
	bool giants;   /* one string of 16 MiB, whose length is escaped */
};

/* ---------------------------------------------------------------- api_text.c */

struct text {
	char *data; /* of that very size; NULL: the empty string without an address */
	size_t len;
};

struct text number_text(unsigned number);

/* One of those that collide: of the same hash, or only of one shard, tag and bucket. */
struct text forged_text(struct run *r, unsigned number, bool same);

/* An operand. Whoever takes it frees its data. */
struct text take_text(struct run *r);

/* ---------------------------------------------------------------- api_intern.c */

void op_intern(struct run *r);
void op_intern_new(struct run *r);
void op_internv(struct run *r);
void op_intern_hashed(struct run *r);
void op_find(struct run *r);
void op_cstr(struct run *r);
void op_many(struct run *r);
void op_find_batch(struct run *r);
void op_intern_batch(struct run *r);

/* ---------------------------------------------------------------- api_strings.c */

void op_value(struct run *r);
void op_cas_value(struct run *r);
void op_link(struct run *r);
void op_id(struct run *r);
void op_owns(struct run *r);
void op_compare(struct run *r);

/* ---------------------------------------------------------------- api_buf.c */

void op_buf(struct run *r);

#endif
