/* SPDX-License-Identifier: MIT */
/*
 * ordinals.c - counts the words on standard input, with dense ordinals and a side table.
 *
 * Ids are offsets into the interner's memory: good handles, but useless as array indices. Here each
 * word gets an ordinal 1, 2, 3, ... when some thread first meets it. The ordinal is kept with the
 * string as its value, so that finding it again is one load, and it is the index of the word's
 * entry in a side table that any number of threads share without a lock.
 *
 * Prints each word with its count, in the order of bytes.
 */
#include <cistern.h>

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 2

/* An entry of the side table. Counting here keeps the line of the string itself clean. */
struct entry {
	const char *word; /* published by the ordinal */
	atomic_size_t times;
};

struct counter {
	cistern *words;
	struct entry *side;         /* ordinal n has side[n - 1] */
	atomic_uint_least64_t last; /* ordinal handed out last */
};

struct worker {
	pthread_t thread;
	struct counter *counter;
	const cistern_span *in;
	size_t n;
	uint64_t spare; /* an ordinal that lost the race for its word; 0: none */
	int error;      /* errno of what stopped it, or 0 */
};

/*
 * The ordinal of an interned word, or 0 with errno. When two threads meet a new word at once, both
 * bring an ordinal and one of them wins. The other keeps its own for its next word: so ordinals are
 * dense but for at most one a thread.
 */
static uint64_t ordinal(struct worker *worker, const char *word)
{
	struct counter *counter = worker->counter;
	uint64_t number = cistern_value(counter->words, word);

	if (number)
		return number;
	if (!worker->spare)
		worker->spare = atomic_fetch_add(&counter->last, 1) + 1;
	/* The entry is filled first: who sees the ordinal sees the entry too. */
	counter->side[worker->spare - 1].word = word;
	if (!cistern_cas_value(counter->words, word, &number, worker->spare)) {
		counter->side[worker->spare - 1].word = NULL;
		return number; /* the winner's, or still 0 after a failure */
	}
	number = worker->spare;
	worker->spare = 0;
	return number;
}

static void *count_words(void *arg)
{
	struct worker *worker = arg;

	for (size_t i = 0; i < worker->n; i++) {
		const cistern_span *in = &worker->in[i];
		const char *word = cistern_intern(worker->counter->words, in->data, in->len);
		uint64_t number = word ? ordinal(worker, word) : 0;

		if (!number) {
			worker->error = errno;
			break;
		}
		atomic_fetch_add(&worker->counter->side[number - 1].times, 1);
	}
	return NULL;
}

/* All of standard input, or NULL with errno. */
static char *read_input(size_t *len)
{
	size_t size = 0;
	char *text = NULL;

	*len = 0;
	do {
		if (*len == size) {
			char *larger = realloc(text, size = size ? 2 * size : 65536);

			if (!larger) {
				free(text);
				return NULL;
			}
			text = larger;
		}
		*len += fread(text + *len, 1, size - *len, stdin);
	} while (!feof(stdin) && !ferror(stdin));
	if (ferror(stdin)) {
		free(text);
		return NULL;
	}
	return text;
}

/* Stores where the words are; returns how many. */
static size_t split(const char *text, size_t len, cistern_span *out)
{
	size_t n = 0, at = 0;

	while (at < len) {
		size_t start;

		while (at < len && isspace((unsigned char)text[at]))
			at++;
		start = at;
		while (at < len && !isspace((unsigned char)text[at]))
			at++;
		if (at > start)
			out[n++] = (cistern_span){text + start, at - start};
	}
	return n;
}

static int by_word(const void *a, const void *b)
{
	return cistern_compare(((const struct entry *)a)->word, ((const struct entry *)b)->word);
}

/* Returns 0, or the errno of the first worker that failed. */
static int run_workers(struct counter *counter, const cistern_span *in, size_t n)
{
	struct worker workers[THREADS];
	int error = 0;

	for (int i = 0; i < THREADS; i++) {
		size_t first = n / THREADS * i;
		size_t end = i + 1 < THREADS ? n / THREADS * (i + 1) : n;

		workers[i] = (struct worker){.counter = counter};
		workers[i].in = in + first;
		workers[i].n = end - first;
		if (pthread_create(&workers[i].thread, NULL, count_words, &workers[i]) != 0) {
			fputs("ordinals: no thread\n", stderr);
			exit(1);
		}
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		if (!error)
			error = workers[i].error;
	}
	return error;
}

int main(void)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	struct counter counter = {0};
	cistern_span *in = NULL;
	size_t len, n;
	uint64_t last;
	char *text;
	int error;

	config.value_size = 4;
	counter.words = cistern_create(&config);
	text = read_input(&len);
	if (text)
		in = malloc((len / 2 + 1) * sizeof(in[0]));
	if (!counter.words || !in) {
		perror("ordinals");
		return 1;
	}
	n = split(text, len, in);
	/* No thread can ask for more ordinals than there are words, and a spare one each. */
	counter.side = calloc(n + THREADS, sizeof(counter.side[0]));
	error = counter.side ? run_workers(&counter, in, n) : errno;
	if (error) {
		fprintf(stderr, "ordinals: %s\n", strerror(error));
		return 1;
	}

	/* The workers are done; entries of spare ordinals have no word and come first. */
	last = atomic_load(&counter.last);
	qsort(counter.side, last, sizeof(counter.side[0]), by_word);
	for (struct entry *entry = counter.side; entry < counter.side + last; entry++) {
		if (entry->word)
			printf("%zu %s\n", atomic_load(&entry->times), entry->word);
	}

	free(counter.side);
	free(in);
	free(text);
	cistern_destroy(counter.words);
	return fflush(stdout) == 0 ? 0 : 1;
}
