/* SPDX-License-Identifier: MIT */
/*
 * corpus.c - tests of the corpora: what they hold, that generators give the same strings
 * everywhere, and that a sealed corpus keeps its promises. How readers refuse bad files is tested
 * in commands.sh.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sealed.h"
#include "support.h"

static void check_sealed(const struct corpus *c)
{
	const char *fault = sealed_fault(c);
	ck_assert_msg(!fault, "%s", fault);
}

START_TEST(generated_symbols_are_the_same_everywhere)
{
	struct corpus c;
	corpus_load(
	    &c, &(struct corpus_request){.generate = CORPUS_SYMBOLS, .count = 20000, .seed = 1});
	check_sealed(&c);
	ck_assert_uint_eq(c.n, 20000);
	ck_assert_uint_eq(c.hash, UINT64_C(0x69f5824d2f70ef01));
	/* The shape that bench/README.md states. */
	ck_assert_uint_ge(c.payload / c.n, 60);
	ck_assert_uint_le(c.payload / c.n, 80);
	ck_assert_uint_ge(c.ndistinct * 100 / c.n, 30);
	ck_assert_uint_le(c.ndistinct * 100 / c.n, 36);
	corpus_unload(&c);
}
END_TEST

START_TEST(generated_identifiers_are_the_same_everywhere)
{
	struct corpus c;
	corpus_load(&c, &(struct corpus_request){
			    .generate = CORPUS_IDENTIFIERS, .count = 20000, .seed = 1});
	check_sealed(&c);
	ck_assert_uint_eq(c.hash, UINT64_C(0xe048feee6864d13d));
	corpus_unload(&c);
}
END_TEST

START_TEST(another_seed_gives_other_strings)
{
	struct corpus a, b;
	corpus_load(&a,
		    &(struct corpus_request){.generate = CORPUS_SYMBOLS, .count = 1000, .seed = 1});
	corpus_load(&b,
		    &(struct corpus_request){.generate = CORPUS_SYMBOLS, .count = 1000, .seed = 2});
	ck_assert_uint_ne(a.hash, b.hash);
	corpus_unload(&a);
	corpus_unload(&b);
}
END_TEST

START_TEST(random_strings_make_a_right_corpus)
{
	support_rng rng = support_rng_start(1);
	struct corpus c;
	corpus_open(&c);
	for (size_t i = 0; i < support_scaled(20000); i++) {
		char s[6];
		size_t len = (size_t)support_rng_below(&rng, sizeof s);
		for (size_t k = 0; k < len; k++)
			s[k] =
			    (char)(support_rng_below(&rng, 3) - 1); /* NULs, and bytes over 127 */
		corpus_add(&c, s, len);
	}
	corpus_seal(&c);
	check_sealed(&c);
	corpus_shuffle_distinct(&c, 7);
	check_sealed(&c);
	ck_assert_uint_eq(c.n, c.ndistinct);
	corpus_unload(&c);
}
END_TEST

START_TEST(shuffling_keeps_the_strings_and_depends_on_the_seed)
{
	struct corpus c[2];
	uint64_t distinct = 0;
	for (int i = 0; i < 2; i++) {
		struct corpus_request request = {
		    .generate = CORPUS_SYMBOLS, .count = 3000, .seed = 5};
		corpus_load(&c[i], &request);
		distinct = c[i].ndistinct;
		corpus_shuffle_distinct(&c[i], (uint64_t)i);
		check_sealed(&c[i]);
		ck_assert_uint_eq(c[i].n, distinct);
	}
	ck_assert_uint_eq(c[0].payload, c[1].payload);
	ck_assert_uint_ne(c[0].hash, c[1].hash);
	corpus_unload(&c[0]);
	corpus_unload(&c[1]);
}
END_TEST

START_TEST(lines_become_strings)
{
	char path[] = "bench-corpus-XXXXXX";
	int fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	static const char lines[] = "first\n\nsecond line\r\nfirst\nlast";
	ck_assert_int_eq(write(fd, lines, sizeof lines - 1), sizeof lines - 1);
	close(fd);

	struct corpus_source source = {CORPUS_FILE, path};
	struct corpus c;
	corpus_load(&c, &(struct corpus_request){.sources = &source, .nsources = 1});
	check_sealed(&c);
	ck_assert_uint_eq(c.n, 5);
	ck_assert_uint_eq(c.ndistinct, 4);
	ck_assert_uint_eq(c.all[1].len, 0);
	ck_assert_str_eq(c.all[2].data, "second line\r");
	ck_assert_str_eq(c.all[4].data, "last");
	corpus_unload(&c);

	corpus_load(&c, &(struct corpus_request){.sources = &source, .nsources = 1, .count = 2});
	ck_assert_uint_eq(c.n, 2);
	corpus_unload(&c);
	unlink(path);
}
END_TEST

static Suite *make(void)
{
	Suite *s = suite_create("bench/corpus");
	support_add(s, generated_symbols_are_the_same_everywhere);
	support_add(s, generated_identifiers_are_the_same_everywhere);
	support_add(s, another_seed_gives_other_strings);
	support_add(s, random_strings_make_a_right_corpus);
	support_add(s, shuffling_keeps_the_strings_and_depends_on_the_seed);
	support_add(s, lines_become_strings);
	return s;
}

int main(int argc, char **argv)
{
	return support_main(argc, argv, "bench/corpus", make);
}
