/* SPDX-License-Identifier: MIT */
/*
 * value.c - what a program keeps with a string: a number, and a link to a counterpart. Both lie in front of the
 * string's header and are the only parts of an entry that change after it is published, hence atomics.
 * No locks. A value is published as the program's own data (E1), a link as a string (F1).
 */
#include "interner.h"
#include "order.h"

#include <errno.h>

static bool fits(const cistern *c, const char *str, uint64_t value)
{
	if (!c || !str) {
		errno = EINVAL;
		return false;
	}
	if (c->common.layout.value_size == 0) {
		errno = ENOTSUP;
		return false;
	}
	if (c->common.layout.value_size == 4 && value > UINT32_MAX) {
		errno = ERANGE;
		return false;
	}
	return true;
}

uint64_t cistern_value(const cistern *c, const char *str)
{
	void *at;

	if (!c || !str || c->common.layout.value_size == 0)
		return 0;
	at = entry_value(&c->common.layout, str);
	/* acquire: pairs with E1 */
	if (c->common.layout.value_size == 4)
		return atomic_load_explicit((_Atomic uint32_t *)at, ORDER_E1_VALUE_LOAD);
	return atomic_load_explicit((_Atomic uint64_t *)at, ORDER_E1_VALUE_LOAD);
}

int cistern_set_value(cistern *c, const char *str, uint64_t value)
{
	void *at;

	if (!fits(c, str, value))
		return -1;
	at = entry_value(&c->common.layout, str);
	/* E1: pairs with the acquire of cistern_value and cistern_cas_value */
	if (c->common.layout.value_size == 4)
		atomic_store_explicit((_Atomic uint32_t *)at, (uint32_t)value,
		                      ORDER_E1_VALUE_STORE);
	else
		atomic_store_explicit((_Atomic uint64_t *)at, value, ORDER_E1_VALUE_STORE);
	return 0;
}

bool cistern_cas_value(cistern *c, const char *str, uint64_t *expected, uint64_t desired)
{
	void *at;
	uint32_t narrow;
	bool done;

	if (!expected) {
		errno = EINVAL;
		return false;
	}
	if (!fits(c, str, desired))
		return false;
	at = entry_value(&c->common.layout, str);
	/* E1, on both sides */
	if (c->common.layout.value_size == 8)
		return atomic_compare_exchange_strong_explicit((_Atomic uint64_t *)at, expected,
		                                               desired, ORDER_E1_CAS,
		                                               ORDER_E1_CAS_FAILED);
	if (*expected > UINT32_MAX) { /* no value can equal it */
		*expected = cistern_value(c, str);
		return false;
	}
	narrow = (uint32_t)*expected;
	done = atomic_compare_exchange_strong_explicit((_Atomic uint32_t *)at, &narrow,
	                                               (uint32_t)desired, ORDER_E1_CAS,
	                                               ORDER_E1_CAS_FAILED);
	if (!done)
		*expected = narrow;
	return done;
}

int cistern_link(cistern *c, const char *a, const char *b)
{
	if (!c || !a || !b) {
		errno = EINVAL;
		return -1;
	}
	if (c->common.layout.link_size == 0) {
		errno = ENOTSUP;
		return -1;
	}
	/* F1: pairs with the acquire of cistern_linked, which thus sees the counterpart's entry */
	atomic_store_explicit(entry_link(a), entry_ref(&c->common.layout, b), ORDER_F1_LINK_STORE);
	atomic_store_explicit(entry_link(b), entry_ref(&c->common.layout, a), ORDER_F1_BACK_STORE);
	return 0;
}

const char *cistern_linked(const cistern *c, const char *str)
{
	uint32_t ref;

	if (!c || !str || c->common.layout.link_size == 0)
		return NULL;
	/* acquire: pairs with F1 */
	ref = atomic_load_explicit(entry_link(str), ORDER_F1_LINK_LOAD);
	return ref ? entry_str(&c->common.layout, ref) : NULL;
}
