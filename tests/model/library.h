/* SPDX-License-Identifier: MIT */
/*
 * library.h - put in front of every file of the library that is compiled for the models: memory
 * that it touches out of the compiler's sight, fork handlers, and the orders and looks of
 * lib/order.h go to the models. See model.h.
 */
#ifndef TESTS_MODEL_LIBRARY_H
#define TESTS_MODEL_LIBRARY_H

#include "model.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define memcpy         model_copy
#define memset         model_set
#define memcmp         model_compare
#define pthread_atfork model_atfork

/* An order is handed on with the number of its name, so that the models can weaken it while they
 * run. */
#define ORDER_OF(name, order) (MUTANT_##name << MODEL_ORDER_BITS | memory_order_##order)
#include "order.h"

#define MODEL_COUNT(...) +1
_Static_assert(0 ORDER_RECHECKS(MODEL_COUNT) == 6, "each look has its line here");
#define RECHECK_A1_FIND    (RECHECK_A1_FIND && model_looks(MUTANT_RECHECK_A1_FIND))
#define RECHECK_A1_PEEK    (RECHECK_A1_PEEK && model_looks(MUTANT_RECHECK_A1_PEEK))
#define RECHECK_A1_PLACE   (RECHECK_A1_PLACE && model_looks(MUTANT_RECHECK_A1_PLACE))
#define RECHECK_B1_FIND    (RECHECK_B1_FIND && model_looks(MUTANT_RECHECK_B1_FIND))
#define RECHECK_B1_ENTRY   (RECHECK_B1_ENTRY && model_looks(MUTANT_RECHECK_B1_ENTRY))
#define RECHECK_G1_DEFAULT (RECHECK_G1_DEFAULT && model_looks(MUTANT_RECHECK_G1_DEFAULT))

#endif
