// SPDX-License-Identifier: MIT
/*
 * emptied.cc - a reader in a table that is replaced and emptied under it, in all executions that C11 allows.
 *
 * The protocol of lib/table.c and lib/interner.c once more, with one string, one slot and two tables, for Relacy, whose
 * loads return every older value that the memory model permits: what no run on x86 shows. The string is in both
 * tables all the time, so the reader has to find it. First with the orders that the library uses; then each one
 * that matters weakened, and the model has to notice. Speaks TAP by itself.
 */
#include <relacy/relacy.hpp>

#include <cstdio>
#include <ostream>

namespace
{

constexpr unsigned TAG = 9, REF = 7;

/* What the library does: see "Publication" and "Why a miss can be believed" in doc/ARCHITECTURE.md. */
struct protocol {
	const char *what;
	rl::memory_order tag_load = rl::mo_acquire;        /* A1 */
	rl::memory_order ref_load = rl::mo_acquire;        /* in a search, not in the first look */
	rl::memory_order word_store = rl::mo_release;      /* B1 */
	rl::memory_order word_load = rl::mo_acquire;       /* B1 */
	bool looks_again = true;
	bool emptied_later = true; /* madvise is a full barrier behind the store of the word */
};

protocol now;

struct emptied : rl::test_suite<emptied, 2> {
	rl::atomic<unsigned> word, tags[2], refs[2];

	void before()
	{
		word.store(0, rl::mo_relaxed, $);
		for (unsigned i = 0; i < 2; i++) {
			tags[i].store(i == 0 ? TAG : 0, rl::mo_relaxed, $);
			refs[i].store(i == 0 ? REF : 0, rl::mo_relaxed, $);
		}
	}

	void replace()
	{
		refs[1].store(REF, rl::mo_relaxed, $);
		tags[1].store(TAG, rl::mo_release, $);
		word.store(1, now.word_store, $);
		if (now.emptied_later)
			rl::atomic_thread_fence(rl::mo_seq_cst, $);
		tags[0].store(0, rl::mo_relaxed, $);
		refs[0].store(0, rl::mo_relaxed, $);
	}

	void find()
	{
		unsigned at = word.load(now.word_load, $), before, found = 0;

		do {
			if (tags[at].load(now.tag_load, $) == TAG)
				found = refs[at].load(now.ref_load, $);
			if (found)
				break;
			before = at;
			at = word.load(now.word_load, $);
		} while (at != before && now.looks_again);
		RL_ASSERT(found == REF);
	}

	void thread(unsigned index)
	{
		if (index == 0)
			replace();
		else
			find();
	}
};

int failed, ran;

void expect(const protocol &protocol, bool holds)
{
	std::ostream nowhere(nullptr); /* Relacy has a delete of its own: no other stream comes out well */
	rl::test_params params;

	now = protocol;
	params.search_type = rl::fair_full_search_scheduler_type;
	params.output_stream = &nowhere;
	params.progress_stream = &nowhere;
	bool good = rl::simulate<emptied>(params) == holds;
	std::printf("%sok %d - %s\n", good ? "" : "not ", ++ran, protocol.what);
	failed += !good;
}

protocol weakened(const char *what, rl::memory_order protocol::*order)
{
	protocol weaker{what};

	weaker.*order = rl::mo_relaxed;
	return weaker;
}

} // namespace

int main()
{
	expect(protocol{"a_string_is_found_while_its_table_is_replaced_and_emptied"}, true);
	expect(weakened("relaxed_loads_of_tags_are_noticed", &protocol::tag_load), false);
	expect(weakened("relaxed_loads_of_references_are_noticed", &protocol::ref_load), false);
	expect(weakened("a_relaxed_store_of_the_word_is_noticed", &protocol::word_store), false);
	expect(weakened("relaxed_loads_of_the_word_are_noticed", &protocol::word_load), false);
	protocol once{"believing_a_miss_at_once_is_noticed"}, early{"emptying_before_the_word_is_noticed"};
	once.looks_again = false;
	early.emptied_later = false;
	expect(once, false);
	expect(early, false);
	std::printf("1..%d\n", ran);
	return failed != 0;
}
