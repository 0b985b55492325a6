/* SPDX-License-Identifier: MIT */
/*
 * trust.c - remarks on how far to trust figures. See trust.h.
 *
 * It knows numbers only, so that tests can put any into it. A remark is a function of struct trust,
 * and a line in trust_remark.
 */
#include "trust.h"

#include <math.h>
#include <stdio.h>

/* Comparisons with NaN are false: what is not known gives no remark. */
static bool busy(const struct trust *t, char *out, size_t size)
{
	unsigned own = t->threads > t->processors ? t->threads : t->processors;
	bool loaded = t->before > t->processors + 1.0 || t->after > own + 1.0;
	bool scattered = t->spread > 0.10;
	double load = t->after > t->before || isnan(t->before) ? t->after : t->before;
	char where[64], spread[64];
	snprintf(where, sizeof where, "load %.*f on %u CPU%s", load < 10 ? 1 : 0, load,
		 t->processors, t->processors == 1 ? "" : "s");
	snprintf(spread, sizeof spread, "peeds differ by %.0f%% between rounds", 100 * t->spread);
	if (loaded)
		snprintf(out, size,
			 "The machine was busy (%s)%s%s. Memory figures hold; repeat for speeds.",
			 where, scattered ? "; s" : "", scattered ? spread : "");
	else if (scattered)
		snprintf(out, size, "S%s%s%s%s. Memory figures hold; repeat for speeds.", spread,
			 isnan(load) ? "" : " (", isnan(load) ? "" : where, isnan(load) ? "" : ")");
	return loaded || scattered;
}

static bool few(const struct trust *t, char *out, size_t size)
{
	if (t->strings >= 10000)
		return false;
	snprintf(out, size, "%zu string%s: too few to choose by speed.", t->strings,
		 t->strings == 1 ? "" : "s");
	return true;
}

bool trust_remark(const struct trust *t, size_t i, char *out, size_t size)
{
	bool (*const remarks[])(const struct trust *, char *, size_t) = {busy, few};
	for (size_t k = 0; k < sizeof remarks / sizeof *remarks; k++)
		if (remarks[k](t, out, size) && i-- == 0)
			return true;
	return false;
}
