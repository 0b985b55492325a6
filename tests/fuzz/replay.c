/* SPDX-License-Identifier: MIT */
/*
 * replay.c - runs a fuzz target without a fuzzer: in "make check", under whatever compiler and
 * sanitizers the build has, on the seeds of the target and on pseudo-random mutations of them. The
 * mutations follow from TEST_SEED, and there are as many as TEST_SCALE says.
 *
 *	NAME [CASE]           as any suite
 *	NAME --run FILE...    one input a file, as fuzzers leave them
 *	NAME --unpack DIR     the seeds as files, for fuzzers to start from
 *	NAME --pack DIR       the files of a folder as lines of a file of seeds
 *
 * An input is in a file while it runs, fuzz-NAME.input in the current folder; where it crashes the
 * target, the file stays.
 *
 * A file of seeds has one input a line: printable characters stand for themselves, other bytes and
 * the backslash are \xHH. Lines that begin with # and empty ones say nothing.
 */
#include "fuzz.h"

#include "support.h"
#include "words.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

/* Inputs longer than this come from nowhere, and mutations do not get longer. */
enum { INPUT_MAX = 1 << 16, MUTATIONS = 2000 };

struct input {
	uint8_t *data;
	size_t size;
};

struct inputs {
	struct input *items;
	size_t count;
};

static _Noreturn void give_up(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(2);
}

static void add(struct inputs *inputs, const uint8_t *data, size_t size)
{
	struct input *item;

	inputs->items = need(realloc(inputs->items, (inputs->count + 1) * sizeof(*item)));
	item = &inputs->items[inputs->count++];
	item->data = need(malloc(size ? size : 1));
	item->size = size;
	if (size)
		memcpy(item->data, data, size);
}

static void drop(struct inputs *inputs)
{
	size_t i;

	for (i = 0; i < inputs->count; i++)
		free(inputs->items[i].data);
	free(inputs->items);
	*inputs = (struct inputs){NULL, 0};
}

/* ---------------------------------------------------------------- seeds as text */

static int hex_digit(char ch)
{
	const char *digits = "0123456789abcdef", *at = ch ? strchr(digits, ch) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* The bytes of a line, in its place; false where it is not of the form. */
static bool decode(char *line, size_t *size)
{
	const char *from = line;
	char *to = line;

	while (*from) {
		int high, low;

		if (*from != '\\') {
			*to++ = *from++;
			continue;
		}
		high = from[1] == 'x' ? hex_digit(from[2]) : -1;
		low = high < 0 ? -1 : hex_digit(from[3]);
		if (low < 0)
			return false;
		*to++ = (char)(high << 4 | low);
		from += 4;
	}
	*size = (size_t)(to - line);
	return true;
}

static void encode(const struct input *input, FILE *f)
{
	size_t i;

	for (i = 0; i < input->size; i++) {
		uint8_t byte = input->data[i];

		if (isprint(byte) && byte < 0x80 && byte != '\\' && !(i == 0 && byte == '#'))
			putc(byte, f);
		else
			fprintf(f, "\\x%02x", byte);
	}
	putc('\n', f);
}

static void read_seeds(struct inputs *inputs)
{
	char path[4096], *line = NULL;
	size_t room = 0;
	ssize_t len;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.seeds", FUZZ_SEEDS, fuzz_target);
	f = fopen(path, "r");
	if (!f)
		give_up(path);
	while ((len = getline(&line, &room, f)) > 0) {
		size_t size = 0;

		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		if (*line == '#' || *line == '\0')
			continue;
		if (!decode(line, &size)) {
			errno = EINVAL;
			give_up(path);
		}
		add(inputs, (const uint8_t *)line, size);
	}
	free(line);
	fclose(f);
}

/* ---------------------------------------------------------------- inputs as files */

static void read_file(struct inputs *inputs, const char *path)
{
	static uint8_t data[INPUT_MAX];
	FILE *f = fopen(path, "r");
	size_t size;

	if (!f)
		give_up(path);
	size = fread(data, 1, sizeof(data), f);
	if (ferror(f))
		give_up(path);
	fclose(f);
	add(inputs, data, size);
}

static void write_file(const char *path, const struct input *input)
{
	FILE *f = fopen(path, "w");

	if (!f || fwrite(input->data, 1, input->size, f) != input->size || fclose(f) != 0)
		give_up(path);
}

static int unpack(const char *folder)
{
	struct inputs seeds = {NULL, 0};
	char path[4096];
	size_t i;

	read_seeds(&seeds);
	if (mkdir(folder, 0777) != 0 && errno != EEXIST)
		give_up(folder);
	for (i = 0; i < seeds.count; i++) {
		snprintf(path, sizeof(path), "%s/seed-%03zu", folder, i);
		write_file(path, &seeds.items[i]);
	}
	drop(&seeds);
	return 0;
}

static int pack(const char *folder)
{
	struct inputs inputs = {NULL, 0};
	struct dirent **names;
	char path[4096];
	int n = scandir(folder, &names, NULL, alphasort), i;
	size_t k;

	if (n < 0)
		give_up(folder);
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]->d_name);
		if (names[i]->d_name[0] != '.')
			read_file(&inputs, path);
		free(names[i]);
	}
	free(names);
	for (k = 0; k < inputs.count; k++)
		encode(&inputs.items[k], stdout);
	drop(&inputs);
	return fflush(stdout) == 0 ? 0 : 1;
}

/* ---------------------------------------------------------------- running */

/* Where the input is while it runs, written with one system call each. */
static int kept = -1;
static char kept_path[64];

static void keep_open(void)
{
	snprintf(kept_path, sizeof(kept_path), "fuzz-%s.input", fuzz_target);
	kept = open(kept_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (kept < 0)
		give_up(kept_path);
}

static void keep_close(void)
{
	close(kept);
	unlink(kept_path);
}

static void run(const struct input *input)
{
	/* the target gets memory of the very size */
	uint8_t *copy = need(malloc(input->size ? input->size : 1));

	if (input->size)
		memcpy(copy, input->data, input->size);
	if (pwrite(kept, copy, input->size, 0) != (ssize_t)input->size ||
	    ftruncate(kept, (off_t)input->size) != 0)
		give_up(kept_path);
	LLVMFuzzerTestOneInput(copy, input->size);
	free(copy);
}

static int run_files(int count, char **paths)
{
	struct inputs inputs = {NULL, 0};
	int i;

	for (i = 0; i < count; i++)
		read_file(&inputs, paths[i]);
	keep_open();
	for (i = 0; i < count; i++)
		run(&inputs.items[i]);
	keep_close();
	drop(&inputs);
	return 0;
}

/* ---------------------------------------------------------------- mutations */

static void cut(struct input *input, size_t from, size_t n)
{
	memmove(input->data + from, input->data + from + n, input->size - from - n);
	input->size -= n;
}

static void insert(struct input *input, size_t at, const uint8_t *bytes, size_t n)
{
	static uint8_t copy[INPUT_MAX]; /* the bytes may be the input's own */

	if (n > INPUT_MAX - input->size)
		n = INPUT_MAX - input->size;
	memcpy(copy, bytes, n);
	memmove(input->data + at + n, input->data + at, input->size - at);
	memcpy(input->data + at, copy, n);
	input->size += n;
}

/* One change of an input, which has room for INPUT_MAX bytes. */
static void mutate(support_rng *rng, struct input *input, const struct inputs *seeds)
{
	static const uint8_t edges[] = {0, 1, 9, 10, 32, 45, 48, 57, 127, 128, 254, 255};
	const struct input *other = &seeds->items[support_rng_below(rng, seeds->count)];
	size_t at = support_rng_below(rng, input->size + 1), n = input->size - at;
	uint8_t byte = (uint8_t)support_rng_next(rng);

	if (n > 1)
		n = 1 + support_rng_below(rng, n < 16 ? n : 16);
	switch (support_rng_below(rng, 8)) {
	case 0: /* a bit */
		if (n)
			input->data[at] ^= (uint8_t)(1u << byte % 8);
		break;
	case 1: /* a byte */
		if (n)
			input->data[at] = byte;
		break;
	case 2: /* a byte at the edge of something */
		if (n)
			input->data[at] = edges[byte % sizeof(edges)];
		break;
	case 3: /* one more or one less */
		if (n)
			input->data[at] = (uint8_t)(input->data[at] + (byte % 2 ? 1 : 255));
		break;
	case 4:
		insert(input, at, &byte, 1);
		break;
	case 5:
		cut(input, at, n);
		break;
	case 6: /* a piece of itself */
		if (n)
			insert(input, support_rng_below(rng, input->size + 1), input->data + at, n);
		break;
	default: /* the end of another */
		n = support_rng_below(rng, other->size + 1);
		insert(input, at, other->data + n, other->size - n);
		if (input->size > at + (other->size - n) && byte % 2)
			input->size = at + (other->size - n);
		break;
	}
}

START_TEST(seeds_and_nothing_run_without_fault)
{
	struct inputs seeds = {NULL, 0};
	size_t i;

	read_seeds(&seeds);
	ck_assert_uint_gt(seeds.count, 0);
	keep_open();
	run(&(struct input){NULL, 0});
	for (i = 0; i < seeds.count; i++)
		run(&seeds.items[i]);
	keep_close();
	drop(&seeds);
}
END_TEST

START_TEST(mutated_seeds_run_without_fault)
{
	struct inputs seeds = {NULL, 0};
	struct input input = {need(malloc(INPUT_MAX)), 0};
	support_rng rng = support_rng_start(1);
	size_t n = support_scaled(MUTATIONS), i;

	read_seeds(&seeds);
	keep_open();
	for (i = 0; i < n; i++) {
		const struct input *seed = &seeds.items[support_rng_below(&rng, seeds.count)];
		uint64_t changes = 1 + support_rng_below(&rng, 8);

		input.size = seed->size < INPUT_MAX ? seed->size : INPUT_MAX;
		memcpy(input.data, seed->data, input.size);
		while (changes--)
			mutate(&rng, &input, &seeds);
		run(&input);
	}
	keep_close();
	free(input.data);
	drop(&seeds);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create(fuzz_target);

	support_add(s, seeds_and_nothing_run_without_fault);
	support_add_slow(s, mutated_seeds_run_without_fault, 240);
	return s;
}

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "--run") == 0)
		return run_files(argc - 2, argv + 2);
	if (argc == 3 && strcmp(argv[1], "--unpack") == 0)
		return unpack(argv[2]);
	if (argc == 3 && strcmp(argv[1], "--pack") == 0)
		return pack(argv[2]);
	printf("# an input that crashes stays in fuzz-%s.input\n", fuzz_target);
	fflush(stdout); /* what is left there would come again from each child */
	return support_main(argc, argv, fuzz_target, make);
}
