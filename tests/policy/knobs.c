/* SPDX-License-Identifier: MIT */
/* knobs.c - prints the library's table of knobs for knobs.sh: key and default. */
#include "config.h"

int main(void)
{
	const struct config_knob *knob;

	for (size_t i = 0; (knob = config_knob_at(i)) != NULL; i++)
		printf("%s %s\n", knob->key, knob->default_text);
	return 0;
}
