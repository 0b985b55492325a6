/* SPDX-License-Identifier: MIT */
/* contender.c - the list of those who take part. See contender.h. */
#include "contender.h"

#include <stdlib.h>
#include <string.h>

bool contender_option(struct contender_request *request, int option)
{
	switch (option) {
	case CONTENDER_VARIANT:
		request->variants = realloc(request->variants,
					    (request->nvariants + 1) * sizeof *request->variants);
		if (!request->variants)
			cli_fail("out of memory");
		request->variants[request->nvariants++] = optarg;
		return true;
	case CONTENDER_ENGINES:
		request->engines = optarg;
		return true;
	case CONTENDER_BASELINE:
		request->baseline = optarg;
		return true;
	default:
		return false;
	}
}

struct contender *contender_add(struct contender_list *list, const struct cli_common *common,
				const struct engine *engine, const char *label)
{
	list->items = realloc(list->items, (list->n + 1) * sizeof *list->items);
	if (!list->items)
		cli_fail("out of memory");
	struct contender *new = &list->items[list->n++];
	*new = (struct contender){.engine = engine};
	cli_engine_config(common, engine, &new->config);
	snprintf(new->label, sizeof new->label, "%s", label);
	return new;
}

void contender_add_variant(struct contender_list *list, const struct cli_common *common,
			   const char *text)
{
	char label[80];
	struct cli_list pairs = cli_list_parse("--variant", text);
	/* In a CSV cell a comma would need quotes. */
	snprintf(label, sizeof label, "cistern %s", text);
	for (char *comma; (comma = strchr(label, ',')) != NULL;)
		*comma = ' ';
	struct contender *new = contender_add(list, common, &engine_cistern, label);
	for (size_t i = 0; i < pairs.n; i++)
		cli_knob_pair(&new->config, "--variant", pairs.items[i]);
	cli_list_free(&pairs);
}

void contender_add_engines(struct contender_list *list, const struct cli_common *common,
			   const char *names)
{
	if (!names) {
		for (size_t i = 1; engine_at(i); i++)
			contender_add(list, common, engine_at(i), engine_at(i)->name);
		return;
	}
	if (strcmp(names, "none") == 0)
		return;
	struct cli_list parts = cli_list_parse("--engines", names);
	for (size_t i = 0; i < parts.n; i++) {
		const struct engine *engine = engine_named(parts.items[i]);
		if (!engine)
			cli_usage("--engines: this build has no '%.80s' (--help lists them)",
				  parts.items[i]);
		if (engine != &engine_cistern)
			contender_add(list, common, engine, engine->name);
	}
	cli_list_free(&parts);
}

static size_t position(const struct contender_list *list, const char *name)
{
	size_t i = 0;
	while (i < list->n && strcmp(list->items[i].engine->name, name) != 0)
		i++;
	return i;
}

size_t contender_baseline(const struct contender_list *list, const char *name, const char *usual)
{
	size_t i = position(list, name ? name : usual);
	if (i == list->n && name)
		cli_usage("--baseline: '%.80s' does not take part", name);
	if (i < list->n)
		return i;
	return position(list, strcmp(usual, "stringmap") == 0 ? "conststring" : "stringmap");
}

void contender_facts(struct report *r, const struct contender_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		report_fact(r, list->items[i].label, "%s", list->items[i].engine->about);
	for (size_t i = 0; i < list->n; i++) {
		const struct contender *c = &list->items[i];
		char label[100];
		snprintf(label, sizeof label, "knobs of %s", c->label);
		if (!c->engine->knobs || *c->engine->knobs)
			report_knobs(r, label, c->engine, &c->config);
	}
}
