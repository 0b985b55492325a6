/* SPDX-License-Identifier: MIT */
/*
 * order.h - the publication table of doc/ARCHITECTURE.md as code: a name for each end of each pair
 * of release and acquire, and for each look that is repeated before it is believed.
 *
 * Whoever reads or writes without a lock names its order from here, so that a tool can weaken one
 * at a time and see who notices: with -DCISTERN_MUTANT=A1_TAG_STORE that one is relaxed, with
 * -DCISTERN_MUTANT=RECHECK_B1_FIND that look is not repeated, and a name that is not here does not
 * compile. Without CISTERN_MUTANT all are constants, and the code is what it would be with the
 * orders written out.
 *
 * Grows by a line in one of the lists and its row in ARCHITECTURE. The models of tests/model
 * include this file, also as C++, and say with ORDER_OF(name, order) what their own orders are.
 */
#ifndef CISTERN_LIB_ORDER_H
#define CISTERN_LIB_ORDER_H

#ifndef ORDER_OF
#include <stdatomic.h>
#define ORDER_OF(name, order) memory_order_##order
#endif

/* X(name, order, what is accessed): label, who, and which end. */
#define ORDER_SITES(X)                                                                             \
	X(A1_FILTER_STORE, release, "table_put: filter of a full bucket passed")                   \
	X(A1_TAG_STORE, release, "table_put: tag")                                                 \
	X(A1_FIND_WORD0, acquire, "table_find: tags 0 to 7")                                       \
	X(A1_FIND_WORD1, acquire, "table_find: tags 8 to 11 and filter")                           \
	X(A1_HOLDS_WORD0, acquire, "table_holds: tags 0 to 7")                                     \
	X(A1_HOLDS_WORD1, acquire, "table_holds: tags 8 to 11 and filter")                         \
	X(A1_PEEK_WORD0, acquire, "bucket_candidate: tags 0 to 7")                                 \
	X(A1_PEEK_WORD1, acquire, "bucket_candidate: tags 8 to 11")                                \
	X(B1_WORD_STORE, release, "replace_table: directory word")                                 \
	X(B1_PEEK_LOAD, acquire, "shard_first_bucket: directory word")                             \
	X(B1_FIND_LOAD, acquire, "search: directory word")                                         \
	X(B1_FIND_RELOAD, acquire, "search: directory word after a miss")                          \
	X(B1_FIND_REF, acquire, "table_find: reference, before a miss loads the word again")       \
	X(B1_ENTRY_LOAD, acquire, "is_entry: directory word")                                      \
	X(B1_ENTRY_RELOAD, acquire, "is_entry: directory word after a miss")                       \
	X(B1_HOLDS_REF, acquire, "table_holds: reference, before a miss loads the word again")     \
	X(C1_END_STORE, release, "commit_to: committed end")                                       \
	X(C1_END_LOAD, acquire, "range_contains: committed end")                                   \
	X(D1_NEXT_STORE, release, "slab_link: next of the current slab")                           \
	X(D1_NEXT_LOAD, acquire, "slab_walk_next: next")                                           \
	X(E1_VALUE_STORE, release, "cistern_set_value: value")                                     \
	X(E1_VALUE_LOAD, acquire, "cistern_value: value")                                          \
	X(E1_CAS_RELEASE, release, "cistern_cas_value: value, as it writes")                       \
	X(E1_CAS_ACQUIRE, acquire, "cistern_cas_value: value, as it reads")                        \
	X(E1_CAS_FAILED, acquire, "cistern_cas_value: value, another one")                         \
	X(F1_LINK_STORE, release, "cistern_link: link of the first string")                        \
	X(F1_BACK_STORE, release, "cistern_link: link of the second string")                       \
	X(F1_LINK_LOAD, acquire, "cistern_linked: link")                                           \
	X(G1_DEFAULT_STORE, release, "cistern_default: the interner")                              \
	X(G1_DEFAULT_LOAD, acquire, "default_interner: the interner")                              \
	X(H1_READY_STORE, release, "registry_ready: handlers installed")                           \
	X(H1_READY_LOAD, acquire, "registry_ready: handlers installed")

/* X(name, what is looked at again): a condition that is true unless it is the mutant. */
#define ORDER_RECHECKS(X)                                                                          \
	X(RECHECK_A1_FIND, "table_find: a reference of 0 is none, its page was emptied")           \
	X(RECHECK_A1_PEEK, "shard_peek: a reference of 0 is none, its page was emptied")           \
	X(RECHECK_A1_PLACE, "table_find_place: the string, under the lock")                        \
	X(RECHECK_B1_FIND, "search: directory word after a miss")                                  \
	X(RECHECK_B1_ENTRY, "is_entry: directory word after a miss")                               \
	X(RECHECK_G1_DEFAULT, "cistern_default: the interner, under the lock")

enum order_mutant {
	MUTANT_NONE,
#define ORDER_MUTANT(name, ...) MUTANT_##name,
	ORDER_SITES(ORDER_MUTANT) ORDER_RECHECKS(ORDER_MUTANT)
#undef ORDER_MUTANT
};

#define ORDER_JOINED(a, b)    a##b
#define ORDER_MUTANT_OF(name) ORDER_JOINED(MUTANT_, name)
#ifdef CISTERN_MUTANT
#define ORDER_IS_MUTANT(name) (MUTANT_##name == ORDER_MUTANT_OF(CISTERN_MUTANT))
#else
#define ORDER_IS_MUTANT(name) 0
#endif

enum order {
#define ORDER_SITE(name, order, where)                                                             \
	ORDER_##name =                                                                             \
	    ORDER_IS_MUTANT(name) ? (int)ORDER_OF(name, relaxed) : (int)ORDER_OF(name, order),
	ORDER_SITES(ORDER_SITE)
#undef ORDER_SITE
	/* one operation with two ends */
	ORDER_E1_CAS = ORDER_IS_MUTANT(E1_CAS_RELEASE)   ? (int)ORDER_OF(E1_CAS_ACQUIRE, acquire)
		       : ORDER_IS_MUTANT(E1_CAS_ACQUIRE) ? (int)ORDER_OF(E1_CAS_RELEASE, release)
							 : (int)ORDER_OF(E1_CAS_RELEASE, acq_rel)
};

enum order_recheck {
#define ORDER_RECHECK(name, where) name = !ORDER_IS_MUTANT(name),
	ORDER_RECHECKS(ORDER_RECHECK)
#undef ORDER_RECHECK
};

#endif
