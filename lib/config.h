/* SPDX-License-Identifier: MIT */
/*
 * config.h - the table of knobs, which drives parsing, the environment, checks and every list of knobs.
 */
#ifndef CISTERN_LIB_CONFIG_H
#define CISTERN_LIB_CONFIG_H

#include "cistern.h"

struct config_knob {
	const char *key;
	const char *default_text; /* as cistern_config_set would take it */
	const char *accepts;
	const char *help;
};

/* Knob i, or NULL beyond the last. */
const struct config_knob *config_knob_at(size_t i);

/* The number of the knob with that key, or one beyond the last. */
size_t config_knob_named(const char *key);

/* The environment variable of a knob: "slab_size" is CISTERN_SLAB_SIZE. */
#define CONFIG_VARIABLE_MAX 64
void config_variable(char name[CONFIG_VARIABLE_MAX], const char *key);

/*
 * The value of knob i as cistern_config_set would take it, NUL-terminated; a value that the knob does not have comes out
 * as a number. For the reports of the benches.
 */
void config_knob_text(const cistern_config *config, size_t i, char *out, size_t size);

/*
 * Decimal digits and, for sizes, K, M or G behind them; nothing else. 0, or EINVAL where the text is no such number, or
 * ERANGE where 64 bits do not hold it: out is untouched then. The benches read their own numbers with it.
 */
int config_parse_number(const char *text, bool size, uint64_t *out);

/* As cistern_config_from_env; what is refused is reported only where loudly says so. */
int config_read_environment(cistern_config *config, bool loudly);

/*
 * A caller's config, of whatever version, as one of ours with every field in range and rounded as documented.
 * False with EINVAL or E2BIG: out is untouched. NULL stands for the defaults.
 */
bool config_normalize(const cistern_config *in, cistern_config *out);

/*
 * Whether a caller's struct of `size` bytes can serve as one of ours of `ours` bytes: at least the first
 * version's, and zero where we know no field. False with EINVAL or E2BIG.
 */
bool config_struct_fits(const void *theirs, size_t size, size_t least, size_t ours);

/*
 * Fills a caller's struct that begins with its size from one of ours, as far as it goes; its size stays. False
 * with EINVAL or E2BIG as config_struct_fits.
 */
bool config_hand_out(void *theirs, size_t size, const void *ours, size_t ours_size);

#endif
