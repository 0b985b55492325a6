/* SPDX-License-Identifier: MIT */
/*
 * sweep_measures.c - what is said of each measure of sweep_result.h: its column, type and text.
 * Apart from their values, for who reads files of results and measures nothing.
 */
#include "sweep_result.h"

const struct measure measures[MEASURES] = {
#define WIDE                                   MEASURE_WIDE
#define SPREAD                                 MEASURE_SPREAD
#define MAP                                    MEASURE_MAP
#define COST                                   MEASURE_COST
#define SPEED                                  MEASURE_SPEED
#define SPLIT                                  MEASURE_SPLIT
#define ENTRY(name, type, flags, value, about) {#name, REPORT_##type, flags, about},
    SWEEP_MEASURES(ENTRY)
#undef ENTRY
};
