/* SPDX-License-Identifier: MIT */
/*
 * stdatomic.h - what the library's code finds under this name when it is compiled for the models:
 * the operations that it uses, done by Relacy. See ../model.h.
 */
#ifndef TESTS_MODEL_STDATOMIC_H
#define TESTS_MODEL_STDATOMIC_H

#include "model.h"

/* The numbers of Relacy. Orders with a name, from lib/order.h, have its number above these bits. */
enum {
	memory_order_relaxed,
	memory_order_consume,
	memory_order_acquire,
	memory_order_release,
	memory_order_acq_rel,
	memory_order_seq_cst
};

typedef _Atomic _Bool atomic_bool;

#define MODEL_TYPE(p) __typeof__(((void)0, *(p)))
#define MODEL_ITEM(p) (p), sizeof(*(p)), __FILE__, __LINE__

/* No atomic access: it must not race with any. */
#define atomic_init(p, value) (void)(*(MODEL_TYPE(p) *)(void *)(p) = (value))

#define atomic_load_explicit(p, order) ((MODEL_TYPE(p))model_load(MODEL_ITEM(p), (order)))
#define atomic_store_explicit(p, value, order)                                                     \
	model_store(MODEL_ITEM(p), (uint64_t)(value), (order))
#define atomic_exchange_explicit(p, value, order)                                                  \
	((MODEL_TYPE(p))model_exchange(MODEL_ITEM(p), (uint64_t)(value), (order)))
#define atomic_fetch_sub_explicit(p, value, order)                                                 \
	((MODEL_TYPE(p))model_add(MODEL_ITEM(p), -(uint64_t)(value), (order)))
#define atomic_compare_exchange_strong_explicit(p, expected, value, order, failed)                 \
	model_compare_exchange(MODEL_ITEM(p), (expected), (uint64_t)(value), (order), (failed))
#define atomic_compare_exchange_weak_explicit atomic_compare_exchange_strong_explicit

#endif
