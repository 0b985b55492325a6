/* SPDX-License-Identifier: MIT */
/*
 * engine_loop.h - the loops that call an engine, the same for all of them.
 *
 * ENGINE_LOOPS(prefix, TYPE, INTERN, FIND) defines prefix_intern_loop and prefix_find_loop for
 * struct engine from two functions of the form const char *(TYPE *, const char *, size_t).
 * ENGINE_BATCH_LOOPS does the same for two of the form size_t (TYPE *, const cistern_span *, const
 * char **, size_t). C and C++.
 */
#ifndef BENCH_ENGINE_LOOP_H
#define BENCH_ENGINE_LOOP_H

#include "engine.h"

#define ENGINE_LOOPS(prefix, TYPE, INTERN, FIND)                                                   \
	static struct engine_sum prefix##_intern_loop(void *e, const cistern_span *in, size_t n,   \
						      const char **out)                            \
	{                                                                                          \
		TYPE *engine = (TYPE *)e;                                                          \
		struct engine_sum sum = {0, 0};                                                    \
		for (size_t i = 0; i < n; i++) {                                                   \
			const char *p = INTERN(engine, in[i].data, in[i].len);                     \
			sum.pointers += (uintptr_t)p;                                              \
			sum.found += p != NULL;                                                    \
			if (out)                                                                   \
				out[i] = p;                                                        \
		}                                                                                  \
		return sum;                                                                        \
	}                                                                                          \
	static struct engine_sum prefix##_find_loop(void *e, const cistern_span *in, size_t n)     \
	{                                                                                          \
		TYPE *engine = (TYPE *)e;                                                          \
		struct engine_sum sum = {0, 0};                                                    \
		for (size_t i = 0; i < n; i++) {                                                   \
			const char *p = FIND(engine, in[i].data, in[i].len);                       \
			sum.pointers += (uintptr_t)p;                                              \
			sum.found += p != NULL;                                                    \
		}                                                                                  \
		return sum;                                                                        \
	}

#define ENGINE_BATCH_LOOP_(name, PARAMETERS, TYPE, CALL, OUT)                                      \
	static struct engine_sum name PARAMETERS {                                                 \
		TYPE *engine = (TYPE *)e;                                                          \
		const char *group[ENGINE_GROUP], **all = (OUT);                                    \
		struct engine_sum sum = {0, 0};                                                    \
		for (size_t i = 0; i < n; i += ENGINE_GROUP) {                                     \
			size_t some = n - i < ENGINE_GROUP ? n - i : ENGINE_GROUP;                 \
			const char **to = all ? all + i : group;                                   \
			sum.found += CALL(engine, in + i, to, some);                               \
			for (size_t k = 0; k < some; k++)                                          \
				sum.pointers += (uintptr_t)to[k];                                  \
		}                                                                                  \
		return sum;                                                                        \
	}

#define ENGINE_BATCH_LOOPS(prefix, TYPE, INTERN, FIND)                                             \
	ENGINE_BATCH_LOOP_(prefix##_intern_batch_loop,                                             \
			   (void *e, const cistern_span *in, size_t n, const char **out), TYPE,    \
			   INTERN, out)                                                            \
	ENGINE_BATCH_LOOP_(prefix##_find_batch_loop, (void *e, const cistern_span *in, size_t n),  \
			   TYPE, FIND, (const char **)NULL)

#endif /* BENCH_ENGINE_LOOP_H */
