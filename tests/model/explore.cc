// SPDX-License-Identifier: MIT
/*
 * explore.cc - plays scenes in all executions that Relacy finds, right and with each mutant that
 * they have to notice. Speaks TAP by itself.
 *
 * Relacy's search through all interleavings offers one older value a load. Its random search offers
 * as many as it keeps, so it is told that it is one: what it then asks at random is searched
 * through.
 */
#include "memory.h"

namespace
{

const scene *now;
unsigned long executions;

template <rl::thread_id_t threads> struct execution : rl::test_suite<execution<threads>, threads> {
	void before()
	{
		executions++;
		memory_enter(make_initial<threads>);
	}
	void thread(unsigned index)
	{
		now->threads[index]();
	}
	void after()
	{
		if (now->end)
			now->end();
		memory_leave();
	}
};

template <rl::thread_id_t threads, class scheduler> bool search(rl::test_params &params, bool show)
{
	rl::ostringstream state, again;
	bool good = rl::run_test<execution<threads>, scheduler>(params, state, false) ==
		    rl::test_result_success;

	memory_left();
	if (!good && show) { /* the same execution, with its history */
		params.initial_state = state.str();
		params.collect_history = true;
		rl::run_test<execution<threads>, scheduler>(params, again, true);
		memory_left();
	}
	return good;
}

template <rl::thread_id_t threads> bool search_for(rl::test_params &params, bool show)
{
	if (now->switches == 0)
		return search<threads, rl::full_search_scheduler<threads>>(params, show);
	return search<threads, rl::context_bound_scheduler<threads>>(params, show);
}

/* Whether nothing fails in any execution. */
bool holds(const scene &scene, int mutant, bool show)
{
	std::ostream nowhere(
	    nullptr); /* Relacy has a delete of its own: no other stream comes out well */
	rl::test_params params;
	bool good;

	params.search_type = rl::random_scheduler_type;
	params.context_bound = scene.switches;
	params.output_stream = show ? &std::cout : &nowhere;
	params.progress_stream = &nowhere;
	now = &scene;
	executions = 0;
	memory_begin(mutant);
	scene.begin();
	good = scene.threads[2] ? search_for<3>(params, show) : search_for<2>(params, show);
	memory_end();
	return good;
}

int failed, cases;

__attribute__((format(printf, 2, 3))) void say(bool good, const char *format, ...)
{
	va_list args;

	std::printf("%sok %d - ", good ? "" : "not ", ++cases);
	va_start(args, format);
	std::vprintf(format, args);
	va_end(args);
	std::putchar('\n');
	std::fflush(stdout);
	failed += !good;
}

void play(const scene &scene)
{
	say(holds(scene, MUTANT_NONE, false), "%s", scene.name);
	std::printf("# %lu executions\n", executions);
	for (const int *mutant = scene.notices; *mutant != 0; mutant++)
		say(!holds(scene, *mutant, false), "%s_fails_with_%s", scene.name,
		    mutant_name(*mutant));
}

int mutant_called(const char *name)
{
	for (int mutant = MODEL_NO_BARRIER; mutant_name(mutant); mutant++)
		if (std::strcmp(name, mutant_name(mutant)) == 0)
			return mutant;
	std::fprintf(stderr, "lib/order.h has no %s\n", name);
	std::exit(2);
}

} // namespace

int model_main(int argc, char **argv, const scene *scenes)
{
	const scene *wanted = scenes;

	if (argc < 2) {
		for (; scenes->name; scenes++)
			play(*scenes);
		std::printf("1..%d\n", cases);
		return failed != 0;
	}
	while (wanted->name && std::strcmp(wanted->name, argv[1]) != 0)
		wanted++;
	if (!wanted->name || argc > 3) {
		std::fprintf(stderr, "usage: %s [scene [mutant]]\n", argv[0]);
		return 2;
	}
	say(holds(*wanted, argc > 2 ? mutant_called(argv[2]) : MUTANT_NONE, true), "%s",
	    wanted->name);
	std::printf("# %lu executions\n1..1\n", executions);
	return failed != 0;
}
