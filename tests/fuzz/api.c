/* SPDX-License-Identifier: MIT */
/*
 * api.c - fuzz target: the bytes are a program of calls on one interner after another, and a plain
 * set next to it (model.h) knows each answer.
 *
 *   configuration, then operations: a byte that chooses, then what the operation takes
 *
 * A string is an operand of several kinds: bytes of the input, a string that is there already or
 * nearly so, a number, a long run of one byte, or one of those that collide under the interner's
 * secret, which follows from a fixed seed: so tables grow, fill and are re-keyed by inputs of some
 * bytes (api_text.c). To add an operation: a function in the part where its like are (api.h), and
 * its line in operations[].
 */
#include "api.h"

#include "faults.h"
#include "json.h"
#include "tools.h"

#include <errno.h>

const char fuzz_target[] = "api";

enum {
	SEED = 7,
	OPERATIONS = 256, /* in one input */
	MANY = 20000,     /* strings of op_many in one input */
	BUDGET = 1 << 17  /* bytes of long strings in one input */
};

/* ---------------------------------------------------------------- configuration */

static cistern_config take_config(struct run *r)
{
	static const uint32_t shards[] = {1, 1, 2, 4, 16, 64, 256, 0};
	static const uint64_t slab_sizes[] = {256, 512, 4096, 65536};
	static const uint32_t intervals[] = {0, 1, 4, 32};
	static const uint64_t sizes[] = {65536,
					 131072,
					 1 << 20,
					 4 << 20,
					 UINT64_C(1) << 28,
					 UINT64_C(1) << 32,
					 UINT64_C(1) << 34,
					 UINT64_C(1) << 36};
	static const uint64_t limits[] = {0, 0, 0, 65536, 98304, 131072, 262144, 1 << 20};
	static const uint64_t longest[] = {0, 0, 0, 0, 1, 16, 129, 5000};
	static const uint64_t capacities[] = {0, 0, 100, 5000};
	static const uint64_t chunks[] = {0, 0, 4096, 65536};
	static const uint32_t values[] = {0, 4, 8, 8};
	static const cistern_hugepages huge[] = {CISTERN_HUGEPAGES_NEVER, CISTERN_HUGEPAGES_AUTO,
						 CISTERN_HUGEPAGES_NEVER, CISTERN_HUGEPAGES_ALWAYS};
	unsigned a = fuzz_byte(&r->in), b = fuzz_byte(&r->in), c = fuzz_byte(&r->in),
		 d = fuzz_byte(&r->in);
	cistern_config config = CISTERN_CONFIG_INIT;

	config.shards = shards[a & 7];
	config.slab_size = slab_sizes[a >> 3 & 3];
	config.growth_interval = intervals[a >> 5 & 3];
	if (a >> 7)
		config.slab_max = config.slab_size;
	/* ThreadSanitizer clears its shadow of the ranges each time */
	config.max_bytes = sizes[UNDER_TSAN ? b & 3 : b & 7];
	config.value_size = values[b >> 3 & 3];
	config.links = b >> 5 & 1;
	config.lock = b >> 6 & 1 ? CISTERN_LOCK_SPIN : CISTERN_LOCK_MUTEX;
	config.prefault = b >> 7;
	config.memory_limit = limits[c & 7];
	config.max_len = longest[c >> 3 & 7];
	config.capacity = capacities[c >> 6];
	config.commit_chunk = chunks[d & 3];
	config.hugepages = huge[d >> 2 & 3];
	r->giants = d >> 4 == 15;
	config.seed = SEED;
	return config;
}

/* ---------------------------------------------------------------- the interner as a whole */

static void op_reserve(struct run *r)
{
	unsigned how = fuzz_byte(&r->in);
	size_t n = fuzz_number(&r->in);

	if (how == 0)
		n = SIZE_MAX;
	else if (how == 1 && r->m.in_effect.max_bytes <= 4 << 20) /* elsewhere it might be there */
		n = UINT32_MAX;
	errno = 0;
	if (cistern_reserve(r->m.c, n) != 0)
		FUZZ_CHECK(errno == ENOSPC || (errno == EOVERFLOW && n > UINT32_MAX) ||
			   (errno == ENOMEM && model_was_refused(&r->m)));
	else
		FUZZ_CHECK(n <= UINT32_MAX);
}

static void op_print(struct run *r)
{
	unsigned format = fuzz_byte(&r->in) % 4;
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	int done, error;

	need(f);
	errno = 0;
	done = cistern_stats_print(r->m.c, f, (cistern_format)format);
	error = errno; /* fclose may set it, under ThreadSanitizer it does */
	FUZZ_CHECK(fclose(f) == 0);
	FUZZ_CHECK(format == 3 ? done == -1 && error == EINVAL && size == 0
			       : done == 0 && size > 0);
	if (format == CISTERN_FORMAT_JSON) {
		uint64_t strings = 0;

		FUZZ_CHECK(json_number(text, "strings", &strings) && strings == r->m.set.count);
	}
	free(text);
}

/* Arguments that are none. The set of strings must not notice. */
static void op_wrong(struct run *r)
{
	cistern *c = r->m.c;
	cistern_span parts[2] = {{"a", SIZE_MAX}, {"b", 2}};
	const char *out = "untouched";
	uint64_t number = 0;

	errno = 0;
	FUZZ_CHECK(!cistern_intern(c, NULL, 1) && errno == EINVAL);
	FUZZ_CHECK(!cistern_intern(c, "a", SIZE_MAX - fuzz_byte(&r->in)) && errno == EOVERFLOW);
	FUZZ_CHECK(!cistern_internv(c, parts, 2) && errno == EOVERFLOW);
	errno = 123;
	FUZZ_CHECK(!cistern_find(c, "a", SIZE_MAX) && !cistern_find(c, NULL, 1));
	FUZZ_CHECK(!cistern_find_hashed(c, NULL, 7, 7) && cistern_hash(c, NULL, 1) == 0);
	FUZZ_CHECK(cistern_find_batch(c, NULL, &out, 1) == 0 && !out);
	FUZZ_CHECK(!cistern_intern_cstr(c, NULL) && !cistern_find_cstr(c, NULL));
	FUZZ_CHECK(errno == 123);
	FUZZ_CHECK(cistern_intern_batch(c, NULL, &out, 1) == 0 && errno == EINVAL);
	errno = 0;
	FUZZ_CHECK(!cistern_cas_value(c, NULL, &number, 1) && errno == EINVAL);
	FUZZ_CHECK(!cistern_owns(c, NULL) && !cistern_id_valid(c, 0) && !cistern_str(c, 0));
	FUZZ_CHECK(cistern_foreach(c, NULL, NULL) == -1 && cistern_reserve(NULL, 1) == -1);
}

/* From now on the system refuses what it is asked for, once, some times or for good. */
static void op_fault(struct run *r)
{
	static const unsigned kinds[] = {0,
					 FAULT_BIT(COMMIT),
					 FAULT_BIT(COMMIT),
					 FAULTS_MEMORY,
					 FAULTS_HINTS,
					 FAULTS_RANDOM,
					 FAULTS_ALL,
					 FAULT_BIT(RESERVE)};
	unsigned how = fuzz_byte(&r->in);
	struct fault_plan plan = {.kinds = kinds[how % 8], .after = fuzz_byte(&r->in)};

	plan.times = how >= 192 ? FAULTS_FOR_GOOD : 1 + how / 8;
	faults_plan(&plan);
}

static void op_check(struct run *r)
{
	model_check(&r->m);
}

/* Makes an interner; false where there is none. */
static bool begin(struct run *r)
{
	cistern_config config = take_config(r);

	if (!model_open(&r->m, &config))
		return false;
	secret_from_seed(&r->secret, SEED);
	return true;
}

static void (*const operations[])(struct run *r) = {
    op_intern,       op_intern_new, op_internv, op_intern_hashed, op_find,  op_cstr,
    op_many,         op_find_batch, op_value,   op_cas_value,     op_link,  op_id,
    op_intern_batch, op_owns,       op_compare, op_buf,           op_print, op_reserve,
    op_wrong,        op_check,      op_fault,
};
enum { NOPERATIONS = sizeof(operations) / sizeof(operations[0]), OP_RESTART = NOPERATIONS };

/* What has failed must not have left anything behind. */
static void end(struct run *r)
{
	faults_plan(NULL);
	model_check(&r->m);
	model_close(&r->m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run r = {.in = {data, data + size}, .budget = BUDGET, .many = MANY};
	int left = OPERATIONS;

	if (!begin(&r))
		return 0;
	while (fuzz_left(&r.in) && left-- > 0) {
		unsigned op = fuzz_byte(&r.in) % (NOPERATIONS + 1);

		if (op != OP_RESTART) {
			operations[op](&r);
			continue;
		}
		end(&r);
		if (!begin(&r))
			return 0;
	}
	end(&r);
	return 0;
}
