/* SPDX-License-Identifier: MIT */
/*
 * cli.c - command lines of the benches. See cli.h.
 *
 * The list of knobs is the library's own table (lib/config.h), so that --help cannot fall behind;
 * numbers are read by the library's own parser, so that 4K means the same on both sides of --set.
 */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "harness.h"

const char *cli_program = "bench";

static void say(const char *format, va_list args)
{
	char text[1024];
	vsnprintf(text, sizeof text, format, args);
	/* One call, so that lines of parent and child cannot mix. */
	fprintf(stderr, "%s: %s\n", cli_program, text);
}

void cli_warn(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	say(format, args);
	va_end(args);
}

void cli_fail(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	say(format, args);
	va_end(args);
	exit(CLI_FAILURE);
}

void cli_usage(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	say(format, args);
	va_end(args);
	exit(CLI_USAGE);
}

uint64_t cli_number_option(const char *option, const char *text, uint64_t min, uint64_t max)
{
	uint64_t n;
	if (config_parse_number(text, true, &n) != 0 || n < min || n > max)
		cli_usage("%s: '%.80s' is not a number from %" PRIu64 " to %" PRIu64, option, text,
			  min, max);
	return n;
}

struct cli_list cli_list_parse(const char *option, const char *text)
{
	struct cli_list list = {NULL, 1};
	for (const char *at = text; *at; at++)
		list.n += *at == ',';
	/* The copies of the parts lie behind the pointers to them. */
	size_t pointers = list.n * sizeof *list.items;
	list.items = malloc(pointers + strlen(text) + 1);
	if (!list.items)
		cli_fail("out of memory");
	char *at = strcpy((char *)list.items + pointers, text);
	for (size_t i = 0; i < list.n; i++) {
		size_t length = strcspn(at, ",");
		if (length == 0)
			cli_usage("%s: '%.80s' has an empty part", option, text);
		list.items[i] = at;
		at[length] = '\0';
		at += length + 1;
	}
	return list;
}

void cli_list_free(struct cli_list *list)
{
	free(list->items);
	*list = (struct cli_list){NULL, 0};
}

const char *cli_usual_threads(void)
{
	static char list[32] = "1,2";
	unsigned cpus = harness_cpus();
	if (cpus > 2)
		snprintf(list, sizeof list, "1,2,%u", cpus);
	return list;
}

void cli_knob(cistern_config *config, const char *option, const char *key, const char *value)
{
	if (cistern_config_set(config, key, value) == 0)
		return;
	if (errno == ENOENT)
		cli_usage("%s: there is no knob called '%.80s' (--help lists them)", option, key);
	const struct config_knob *knob = config_knob_at(config_knob_named(key));
	cli_usage("%s: %s does not accept '%.80s'%s%s", option, key, value,
		  knob ? "; it accepts " : "", knob ? knob->accepts : "");
}

void cli_knob_pair(cistern_config *config, const char *option, const char *pair)
{
	char key[64];
	const char *equals = strchr(pair, '=');
	if (!equals || equals == pair || (size_t)(equals - pair) >= sizeof key)
		cli_usage("%s: '%.80s' is not of the form key=value", option, pair);
	memcpy(key, pair, (size_t)(equals - pair));
	key[equals - pair] = '\0';
	cli_knob(config, option, key, equals + 1);
}

void cli_folder(const char *path)
{
	char *part = strdup(path);
	if (!part)
		cli_fail("out of memory");
	for (char *slash = part + (*part != '\0'); (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		mkdir(part, 0777); /* the last one tells whether they are there */
		*slash = '/';
	}
	free(part);
	struct stat info;
	if (mkdir(path, 0777) == 0)
		return;
	if (errno != EEXIST || stat(path, &info) != 0)
		cli_fail("%s: %s", path, strerror(errno));
	if (!S_ISDIR(info.st_mode))
		cli_fail("%s: %s", path, strerror(ENOTDIR));
	if (access(path, W_OK | X_OK) != 0)
		cli_fail("%s: %s", path, strerror(errno));
}

/* splitmix64: every state is good, and it is integer arithmetic only. */
uint64_t cli_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

void cli_start(struct cli_common *common, const char *argv0)
{
	const char *slash = strrchr(argv0, '/');
	cli_program = slash ? slash + 1 : argv0;
	if (strncmp(cli_program, "lt-", 3) == 0)
		cli_program += 3; /* libtool's name for a program that is not installed */
	harness_note_load();
	memset(common, 0, sizeof *common);
	cistern_config_init(&common->config);
	common->corpus.generate = CORPUS_SYMBOLS;
	common->corpus.seed = 1;
	common->output.format = REPORT_TABLE;
}

static void add_source(struct cli_common *common, enum corpus_kind kind, const char *path)
{
	struct corpus_request *request = &common->corpus;
	request->sources =
	    realloc(request->sources, (request->nsources + 1) * sizeof *request->sources);
	if (!request->sources)
		cli_fail("out of memory");
	request->sources[request->nsources++] = (struct corpus_source){kind, path};
}

static enum corpus_kind generator(const char *name)
{
	if (strcmp(name, "symbols") == 0)
		return CORPUS_SYMBOLS;
	if (strcmp(name, "identifiers") == 0)
		return CORPUS_IDENTIFIERS;
	cli_usage("--generate: '%.80s' is neither symbols nor identifiers", name);
}

static enum report_format format_named(const char *name)
{
	static const char *const names[] = {"table", "csv", "json"};
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(name, names[i]) == 0)
			return (enum report_format)i;
	cli_usage("--format: '%.80s' is none of table, csv, json", name);
}

bool cli_common_option(struct cli_common *common, int option, char **argv, void (*help)(FILE *f))
{
	switch (option) {
	case CLI_CORPUS:
		add_source(common, CORPUS_FILE, optarg);
		return true;
	case CLI_ELF:
		add_source(common, CORPUS_ELF, optarg);
		return true;
	case CLI_GENERATE:
		common->corpus.generate = generator(optarg);
		return true;
	case CLI_COUNT:
		common->corpus.count = cli_number_option("--count", optarg, 1, UINT32_MAX - 1);
		return true;
	case CLI_SEED:
		common->corpus.seed = cli_number_option("--seed", optarg, 0, UINT64_MAX);
		return true;
	case CLI_DISTINCT:
		common->corpus.distinct_random = true;
		return true;
	case CLI_SET:
		cli_knob_pair(&common->config, "--set", optarg);
		common->sets = realloc(common->sets, (common->nsets + 1) * sizeof *common->sets);
		if (!common->sets)
			cli_fail("out of memory");
		common->sets[common->nsets++] = optarg;
		return true;
	case CLI_CLOCK:
		if (strcmp(optarg, "wall") != 0 && strcmp(optarg, "cpu") != 0)
			cli_usage("--clock: '%.80s' is neither wall nor cpu", optarg);
		harness_use_clock(*optarg == 'c' ? HARNESS_CPU : HARNESS_WALL);
		return true;
	case CLI_FORMAT:
		common->output.format = format_named(optarg);
		return true;
	case CLI_SAVE:
		common->output.folder = optarg;
		return true;
	case 'h':
	case CLI_HELP:
		help(stdout);
		exit(cli_finish());
	case CLI_VERSION:
		printf("%s %s\n", cli_program, cistern_version());
		exit(cli_finish());
	case '?':
	case ':':
		/* opterr is off, because getopt's own messages differ between C libraries. */
		if (option == ':')
			cli_usage("option '%.80s' needs a value (--help lists the options)",
				  argv[optind - 1]);
		cli_usage("unknown option '%.80s' (--help lists the options)", argv[optind - 1]);
	default:
		return false;
	}
}

const char *cli_set_value(const struct cli_common *common, const char *key)
{
	size_t length = strlen(key);
	/* The last one counts. */
	for (size_t i = common->nsets; i-- > 0;)
		if (strncmp(common->sets[i], key, length) == 0 && common->sets[i][length] == '=')
			return common->sets[i] + length + 1;
	return NULL;
}

void cli_engine_config(const struct cli_common *common, const struct engine *engine,
		       cistern_config *out)
{
	cistern_config_init(out);
	if (engine->defaults)
		engine->defaults(out);
	for (size_t i = 0; i < common->nsets; i++)
		cli_knob_pair(out, "--set", common->sets[i]);
}

/* A file that is opened later must not get the number of a standard stream that whoever started the
 * program had closed, for reports and messages would go into it. Read only: writing still fails. */
static void keep_standard_streams(void)
{
	int fd;
	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

void cli_common_rest(struct cli_common *common, int argc, char **argv)
{
	keep_standard_streams();
	struct corpus_request *request = &common->corpus;
	bool elf =
	    request->nsources > 0 && request->sources[request->nsources - 1].kind == CORPUS_ELF;
	for (; optind < argc; optind++) {
		if (!elf)
			cli_usage("'%.80s' is no option (files follow --elf or --corpus)",
				  argv[optind]);
		add_source(common, CORPUS_ELF, argv[optind]);
	}
	/* Rather now than when all is measured. */
	if (common->output.folder)
		cli_folder(common->output.folder);
}

void cli_help_corpus(FILE *f)
{
	fputs(
	    "\nThe strings (generated symbols where no file is named):\n"
	    "  --corpus FILE        a string a line; may be given more than once\n"
	    "  --elf FILE...        the symbol names of ELF files and of static archives of them\n"
	    "  --generate WHAT      symbols (C++-like mangled names) or identifiers (short, much "
	    "repeated)\n"
	    "  --count N            how many strings to generate, or to take from the files at "
	    "most\n"
	    "  --seed N             seed of the generator and of shuffling (1)\n"
	    "  --distinct-random    each string once, in random order\n",
	    f);
}

void cli_help_output(FILE *f)
{
	fputs(
	    "\nOthers:\n"
	    "  --set KEY=VALUE      fix a knob of cistern and of engines that support it; may "
	    "be given more "
	    "than once\n"
	    "  --clock CLOCK        wall (default), or cpu: the processor time of the slowest "
	    "thread, for\n"
	    "                       machines that others use meanwhile; it leaves out waiting for "
	    "locks\n"
	    "  --format FORMAT      table (default), csv or json\n"
	    "  --save DIR           write the results to DIR as CSV and JSON, too\n"
	    "  -h, --help\n"
	    "  --version\n",
	    f);
}

void cli_help_common(FILE *f)
{
	cli_help_corpus(f);
	cli_help_output(f);
}

void cli_help_engines(FILE *f)
{
	fputs("\nEngines of this build:\n", f);
	for (size_t i = 0; engine_at(i); i++)
		fprintf(f, "  %-20s %s\n", engine_at(i)->name, engine_at(i)->about);
}

void cli_help_knobs(FILE *f)
{
	fputs("\nKnobs of cistern for --set, each also an environment variable CISTERN_<KEY> of "
	      "the default\n"
	      "interner. Sizes take K, M and G.\n",
	      f);
	const struct config_knob *knob;
	for (size_t i = 0; (knob = config_knob_at(i)) != NULL; i++)
		fprintf(f, "  %-16s %s\n%19sdefault %s; accepts %s\n", knob->key, knob->help, "",
			knob->default_text, knob->accepts);
}

void cli_end(struct cli_common *common)
{
	free(common->corpus.sources);
	free(common->sets);
	common->corpus.sources = NULL;
	common->sets = NULL;
}

int cli_finish(void)
{
	if (fflush(stdout) != 0 || ferror(stdout))
		cli_fail("cannot write the results: %s", strerror(errno));
	return 0;
}
