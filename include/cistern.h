/* SPDX-License-Identifier: MIT */
/*
 * cistern.h - the whole public interface of libcistern.
 *
 * Cistern interns strings: equal bytes give the same pointer, for as long as the interner lives.
 *
 * Words used below
 *   interner   a set of strings with memory of its own (type cistern)
 *   shard      one of the locked parts that an interner is split into
 *   slab       a piece of memory that strings are laid into, one behind another
 *   hit, miss  the string was, or was not, interned before
 *
 * What holds for every call, unless its comment says otherwise
 *   Threads    any number of threads may call anything on one interner at the same time, except
 *              cistern_destroy, which needs that nobody else uses the interner any more. A cistern_buf
 *              or a cistern_config belongs to one thread at a time.
 *   Hits       take no lock, store nothing to shared memory and allocate nothing (wait-free).
 *   Signals    cistern_find, _find_cstr, _find_hashed, _find_batch, _hash, _len, _id_of, _str, _value,
 *              _linked, _compare and _casecompare are async-signal-safe and leave errno alone.
 *              Everything else is not.
 *   Cancelling no call is a cancellation point, except cistern_stats_print and calls that report a refused
 *              variable on stderr; none holds a lock meanwhile. While a thread may be cancelled
 *              asynchronously it may make the calls that are async-signal-safe only.
 *   Failure    gives NULL, false or -1 with errno, changes nothing, leaves outputs untouched and holds
 *              no lock; a later call may succeed. Success leaves errno unspecified.
 *   Lifetime   a string pointer that an interner returned stays valid, its bytes unchanged, until
 *              cistern_destroy. To hand one to another thread, publish it as any other object
 *              (a lock, or a release store and an acquire load).
 *   Sizes      are in bytes. Lengths leave out the NUL that every interned string ends with.
 */
#ifndef CISTERN_H
#define CISTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CISTERN_VERSION_MAJOR 0
#define CISTERN_VERSION_MINOR 1
#define CISTERN_VERSION_PATCH 0

#if defined(__GNUC__)
#define CISTERN_API __attribute__((__visibility__("default")))
#define CISTERN_PRINTF(fmt, first) __attribute__((__format__(__printf__, fmt, first)))
#else
#define CISTERN_API
#define CISTERN_PRINTF(fmt, first)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- types */

/* An interner. */
typedef struct cistern cistern;

/*
 * A string's number within its interner; 0 means none. Numbers are offsets, not dense, and mean nothing
 * in another interner or another process.
 */
typedef uint32_t cistern_id;

/* Bytes that belong to the caller. NULL with length 0 is the empty string. */
typedef struct cistern_span {
	const char *data;
	size_t len;
} cistern_span;

typedef enum cistern_lock {
	CISTERN_LOCK_MUTEX = 0, /* pthread mutex */
	CISTERN_LOCK_SPIN = 1   /* spinning with back-off: unwise with more threads than processors */
} cistern_lock;

typedef enum cistern_hugepages {
	CISTERN_HUGEPAGES_NEVER = 0,
	CISTERN_HUGEPAGES_AUTO = 1,  /* once the interner is large enough to gain from them */
	CISTERN_HUGEPAGES_ALWAYS = 2 /* from the first string on: fastest, and the most memory */
} cistern_hugepages;

/* What the default interner prints to stderr when the process exits. */
typedef enum cistern_stats_exit {
	CISTERN_STATS_OFF = 0,
	CISTERN_STATS_TEXT = 1,
	CISTERN_STATS_JSON = 2
} cistern_stats_exit;

/* How cistern_stats_print writes. */
typedef enum cistern_format {
	CISTERN_FORMAT_TEXT = 0,
	CISTERN_FORMAT_JSON = 1,
	CISTERN_FORMAT_PROMETHEUS = 2
} cistern_format;

/* cistern_config.seed of an interner that is keyed with random bytes, the default. */
#define CISTERN_SEED_RANDOM UINT64_MAX

/*
 * The knobs of an interner. Start from CISTERN_CONFIG_INIT or cistern_config_init, then set fields.
 * Ranges and meanings are in cistern_config(3), "cistern-sweep --help" and README. The struct grows at
 * its end only; size tells the library which of its fields the caller knows.
 */
typedef struct cistern_config {
	size_t size;                 /* sizeof(cistern_config) */
	uint32_t shards;             /* 0: chosen from the number of processors */
	uint32_t growth_interval;    /* slabs of a shard before its slab size doubles; 0: never */
	uint64_t slab_size;          /* bytes */
	uint64_t slab_max;           /* bytes; slab size never grows beyond; its default follows slab_size */
	uint64_t max_bytes;          /* bytes of address range for strings */
	uint64_t memory_limit;       /* bytes committed at most, strings and tables together; 0: none */
	uint64_t max_len;            /* longest string accepted; 0: none */
	uint64_t capacity;           /* strings expected: the tables are sized for them at once */
	uint64_t commit_chunk;       /* bytes committed at a time; 0: 1/64 of what is committed */
	uint64_t seed;               /* CISTERN_SEED_RANDOM, or a number for reproducible runs */
	uint32_t value_size;         /* 0, 4 or 8 bytes kept with each string */
	cistern_lock lock;           /* how writers of one shard exclude each other */
	cistern_hugepages hugepages; /* policy for transparent huge pages */
	cistern_stats_exit stats;    /* default interner only: report at exit */
	bool links;                  /* room for cistern_link with each string */
	bool prefault;               /* touch fresh memory in batches before it is needed */
} cistern_config;

/* The defaults, as an initializer. */
#define CISTERN_CONFIG_INIT                                                                        \
	{                                                                                          \
		sizeof(cistern_config), 0, 32, 4096, 1048576,                                      \
		    sizeof(void *) >= 8 ? UINT64_C(17179869184) : UINT64_C(268435456), 0, 0, 0, 0, \
		    CISTERN_SEED_RANDOM, 0, CISTERN_LOCK_MUTEX, CISTERN_HUGEPAGES_AUTO,            \
		    CISTERN_STATS_OFF, false, true                                                 \
	}

/*
 * Statistics of an interner. While nobody interns,
 *   committed = payload + overhead + slack + table + retired + free + control     (in bytes)
 * holds exactly; while others do, each figure is right for some moment of the call.
 */
typedef struct cistern_stats {
	size_t size;              /* sizeof(cistern_stats), set by the caller */
	uint64_t strings;         /* distinct strings */
	uint64_t payload_bytes;   /* their lengths */
	uint64_t overhead_bytes;  /* headers, NULs, padding, values, links, slab headers */
	uint64_t slack_bytes;     /* unused ends of slabs */
	uint64_t table_bytes;     /* tables in use */
	uint64_t retired_bytes;   /* tables that growth replaced */
	uint64_t free_bytes;      /* committed but not handed out */
	uint64_t control_bytes;   /* the interner's own structures */
	uint64_t committed_bytes; /* the sum of the seven above; memory_limit bounds it */
	uint64_t emptied_bytes;   /* part of retired_bytes whose pages went back to the system */
	uint64_t reserved_bytes;  /* address space, mostly untouched */
	uint64_t capacity_bytes;  /* address range for strings that came out */
	uint64_t reference_shift; /* an id counts units of 1 << reference_shift bytes */
	uint64_t shards;          /* in effect */
	uint64_t slots;           /* places in the tables; strings / slots is the load */
	uint64_t slabs;           /* slabs handed to shards */
	uint64_t growths;         /* tables that were replaced by larger ones */
	uint64_t rekeys;          /* tables that got a hash secret of their own */
	uint64_t lock_waits;      /* times a shard's lock was busy */
	uint64_t max_probe;       /* buckets the longest insert looked at */
	uint64_t seed_fixed;      /* 1 when the seed is not random */
} cistern_stats;

/* The same for one shard. */
typedef struct cistern_shard_stats {
	size_t size; /* sizeof(cistern_shard_stats), set by the caller */
	uint64_t strings;
	uint64_t payload_bytes;
	uint64_t overhead_bytes;
	uint64_t slack_bytes;
	uint64_t table_bytes;
	uint64_t retired_bytes;
	uint64_t emptied_bytes;
	uint64_t slots;
	uint64_t slabs;
	uint64_t growths;
	uint64_t rekeys;
	uint64_t lock_waits;
	uint64_t max_probe;
} cistern_shard_stats;

/*
 * A string under construction: write pieces, then intern the result. It starts in storage of the
 * caller's, if there is some, and moves to the heap when that is full. The fields are private.
 */
typedef struct cistern_buf {
	char *private_data;
	size_t private_len;
	size_t private_size;
	bool private_heap;
	bool private_failed;
} cistern_buf;

/* ---------------------------------------------------------------- library */

/* The version of the library that is linked, as "major.minor.patch". Never fails; signal-safe. */
CISTERN_API const char *cistern_version(void);

/* ---------------------------------------------------------------- configuration */

/* Sets every field to its default, size included. config must not be NULL. */
CISTERN_API void cistern_config_init(cistern_config *config);

/*
 * Sets the knob called key from text, as environment variables do: sizes may end in K, M or G (powers of
 * 1024), switches are on or off. slab_max is held against the slab_size set so far. Returns 0, or -1 and
 * leaves config as it was:
 *   ENOENT  no knob is called key
 *   EINVAL  value is not of the knob's form, or an argument is NULL
 *   ERANGE  value is outside the knob's range
 */
CISTERN_API int cistern_config_set(cistern_config *config, const char *key, const char *value);

/*
 * Sets every knob for which the environment holds CISTERN_<KEY>. A refused value is reported in one line
 * on stderr with the range accepted, and that field stays as it was. Does nothing in a set-user-id
 * program. Returns how many values were refused, or -1 with EINVAL when config is NULL.
 */
CISTERN_API int cistern_config_from_env(cistern_config *config);

/* ---------------------------------------------------------------- life of an interner */

/*
 * Makes an interner; NULL stands for the defaults. The environment is not read. Memory is reserved,
 * and hardly any committed, until strings come. Where the address space for max_bytes is refused,
 * a smaller range is taken (see capacity_bytes in the statistics).
 *   EINVAL  a field is out of range, or memory_limit is too small for the interner's own structures
 *   E2BIG   config->size says that the struct is newer than the library, and the unknown part is set
 *   ENOMEM  no memory or address space
 *   ENOSPC  the tables for capacity do not fit into memory_limit or max_bytes
 *   EIO     the system gives no random bytes
 */
CISTERN_API cistern *cistern_create(const cistern_config *config);

/*
 * Frees an interner and all its strings. Nobody may use either any more. Nothing happens for NULL and for
 * the default interner.
 */
CISTERN_API void cistern_destroy(cistern *c);

/*
 * The default interner: one a process, configured by cistern_default_configure or else by CISTERN_*
 * variables, made by the first call and never destroyed. NULL with errno as cistern_create when it cannot
 * be made; the next call tries again.
 */
CISTERN_API cistern *cistern_default(void);

/*
 * Settles the default interner's knobs in place of the environment. Returns 0, or -1:
 *   EBUSY           it exists already
 *   EINVAL, E2BIG   as cistern_create; EINVAL for NULL, too
 *   ENOMEM          no memory for the handlers that make fork safe
 */
CISTERN_API int cistern_default_configure(const cistern_config *config);

/*
 * Stores the values in effect: automatic ones decided, sizes rounded and fitted to the range that came
 * out. out->size must be set. Returns 0, or -1 with EINVAL (NULL, or size too small) or E2BIG.
 */
CISTERN_API int cistern_config_of(const cistern *c, cistern_config *out);

/*
 * Sizes the tables for that many strings in all, so that interning them needs no growth. Returns 0, or
 * -1 with EINVAL (c is NULL), ENOMEM, ENOSPC (max_bytes or memory_limit would be passed), or EOVERFLOW
 * (more strings than there can be ids). After a failure some tables may be larger already.
 */
CISTERN_API int cistern_reserve(cistern *c, size_t strings);

/* ---------------------------------------------------------------- interning */

/*
 * The interned string with these bytes; made if it is not there yet. Bytes may include NULs and need no NUL
 * behind them. (NULL, 0) is the empty string. A hit is wait-free. A miss takes one shard's lock. All
 * interning calls fail in these ways:
 *   EINVAL     c is NULL, or s is NULL and len is not 0
 *   EOVERFLOW  len is so large that no object can be of that size
 *   E2BIG      len is over max_len, or more than the whole range could hold (decided before reading s)
 *   ENOSPC     max_bytes, memory_limit or the space of ids is used up
 *   ENOMEM     the system refused memory
 */
CISTERN_API const char *cistern_intern(cistern *c, const char *s, size_t len);

/* The same for a NUL-terminated string. NULL gives NULL and leaves errno alone. */
CISTERN_API const char *cistern_intern_cstr(cistern *c, const char *s);

/* The same; *is_new tells whether this call added the string. is_new may be NULL. */
CISTERN_API const char *cistern_intern_new(cistern *c, const char *s, size_t len, bool *is_new);

/*
 * Interns the concatenation of nparts pieces, without the caller putting them together. EOVERFLOW also
 * when the sum of the lengths is no size_t; EINVAL also when parts is NULL and nparts is not 0.
 */
CISTERN_API const char *cistern_internv(cistern *c, const cistern_span *parts, size_t nparts);

/*
 * Interns in[0..n-1] into out[0..n-1]; on large tables several times as fast as single calls, because
 * memory is fetched for many strings at once. Returns how many of the first strings are interned: n, or
 * fewer with errno as cistern_intern; then the entries of out from there on are NULL, though some of
 * those strings may be interned. EINVAL also when in or out is NULL and n is not 0. in and out must not
 * overlap.
 */
CISTERN_API size_t cistern_intern_batch(cistern *c, const cistern_span *in, const char **out, size_t n);

/*
 * The interned string with these bytes, or NULL: it was absent at some moment during the call. Wait-free.
 * Bad arguments are a miss. Never sets errno.
 */
CISTERN_API const char *cistern_find(const cistern *c, const char *s, size_t len);

/* The same for a NUL-terminated string; NULL gives NULL. */
CISTERN_API const char *cistern_find_cstr(const cistern *c, const char *s);

/*
 * Looks n strings up as cistern_find does, in groups. out[i] is NULL where in[i] is absent. Returns how many
 * were found.
 */
CISTERN_API size_t cistern_find_batch(const cistern *c, const cistern_span *in, const char **out, size_t n);

/*
 * The hash that c uses for these bytes, for the _hashed calls of the same interner, which save the work of
 * hashing again. Not for outsiders: who sees hashes can forge collisions. Bad arguments give 0, decided
 * before reading s.
 */
CISTERN_API uint64_t cistern_hash(const cistern *c, const char *s, size_t len);

/*
 * cistern_intern and cistern_find for a caller who has the hash. It must be cistern_hash's answer for the
 * same interner and bytes: with another number strings may be missed or interned twice.
 */
CISTERN_API const char *cistern_intern_hashed(cistern *c, const char *s, size_t len, uint64_t hash);
CISTERN_API const char *cistern_find_hashed(const cistern *c, const char *s, size_t len, uint64_t hash);

/* ---------------------------------------------------------------- properties of an interned string */

/* Its length, in constant time; NULL gives 0. str must come from an interner. */
CISTERN_API size_t cistern_len(const char *str);

/* Its id, without a look-up; NULL gives 0. str must come from c. */
CISTERN_API cistern_id cistern_id_of(const cistern *c, const char *str);

/*
 * The string with this id, without a look-up. 0 and ids beyond what c has committed give NULL; any
 * other number must be an id of c (see cistern_id_valid).
 */
CISTERN_API const char *cistern_str(const cistern *c, cistern_id id);

/*
 * Whether p is a string that c returned. Right for any pointer, also one that is not to be read. Costs a
 * look-up. Not signal-safe.
 */
CISTERN_API bool cistern_owns(const cistern *c, const void *p);

/* Whether id belongs to a string of c. Right for any number. Costs a look-up. Not signal-safe. */
CISTERN_API bool cistern_id_valid(const cistern *c, cistern_id id);

/*
 * Orders two interned strings by unsigned bytes, then by length; NULL comes first. Negative, 0 or positive.
 * The strings may come from different interners.
 */
CISTERN_API int cistern_compare(const char *a, const char *b);

/* The same with the letters A-Z taken as a-z, in every locale. */
CISTERN_API int cistern_casecompare(const char *a, const char *b);

/* ---------------------------------------------------------------- data kept with a string */

/*
 * Makes a and b each other's counterpart, as a mangled and a demangled name. The last call wins, for each string by
 * itself: what b was linked to before still leads to b. Both directions are stored, one after the other.
 * Returns 0, or -1:
 *   ENOTSUP  the interner was made without links
 *   EINVAL   c, a or b is NULL
 */
CISTERN_API int cistern_link(cistern *c, const char *a, const char *b);

/* The counterpart of str, or NULL; NULL gives NULL. Wait-free. */
CISTERN_API const char *cistern_linked(const cistern *c, const char *str);

/*
 * The number kept with str, 0 at first, for NULL and where value_size is 0. Wait-free. An acquire load: what the thread
 * that set the number wrote before is seen.
 */
CISTERN_API uint64_t cistern_value(const cistern *c, const char *str);

/*
 * Stores a number with str (release). It shares a cache line with the string's first bytes, so frequent
 * stores slow down hits on that string. Returns 0, or -1:
 *   ENOTSUP  value_size is 0
 *   ERANGE   value does not fit into value_size bytes
 *   EINVAL   c or str is NULL
 */
CISTERN_API int cistern_set_value(cistern *c, const char *str, uint64_t value);

/*
 * Stores desired if the number is *expected, and returns true; otherwise stores the number into *expected
 * and returns false (acquire and release). False with errno as cistern_set_value, *expected untouched,
 * where the call cannot be carried out; errno is left alone when the number merely differs.
 */
CISTERN_API bool cistern_cas_value(cistern *c, const char *str, uint64_t *expected, uint64_t desired);

/* ---------------------------------------------------------------- iterating */

/*
 * Calls fn for every string that was there before the call, exactly once, and perhaps for newer ones. No lock
 * is held meanwhile, so fn may call anything but cistern_destroy. The order is unspecified. Stops at the
 * first answer that is not 0 and returns it; otherwise 0. -1 with EINVAL when c or fn is NULL.
 */
CISTERN_API int cistern_foreach(const cistern *c, int (*fn)(const char *str, size_t len, void *arg),
                                void *arg);

/* ---------------------------------------------------------------- statistics */

/*
 * Stores the statistics of the interner, or of the shard with that index. out->size must be set. Takes each
 * shard's lock for a moment. Returns 0, or -1:
 *   EINVAL  c or out is NULL, out->size is too small, or there is no such shard
 *   E2BIG   out->size says that the struct is newer than the library, and the unknown part is not zero
 */
CISTERN_API int cistern_stats_get(const cistern *c, cistern_stats *out);
CISTERN_API int cistern_shard_stats_get(const cistern *c, unsigned shard, cistern_shard_stats *out);

/*
 * Writes the statistics to f: lines for people, one JSON object, or the Prometheus text format.
 * Returns 0, or -1 with EINVAL (NULL, or no such format) or the error of writing.
 */
CISTERN_API int cistern_stats_print(const cistern *c, FILE *f, cistern_format format);

/* ---------------------------------------------------------------- building strings */

/* An empty builder without storage. Never fails. */
CISTERN_API void cistern_buf_init(cistern_buf *b);

/* An empty builder that allocates nothing until size bytes of storage, one of them for the NUL, are full. */
CISTERN_API void cistern_buf_init_fixed(cistern_buf *b, char *storage, size_t size);

/*
 * Adding. Each call returns true, or false with ENOMEM (EOVERFLOW where the length is no size_t, EINVAL for
 * NULL with a length; addf also what vsnprintf says, as EILSEQ) and adds nothing. A failure sticks until
 * cistern_buf_reset: later calls return false too, so that one check at the end is enough. A piece of the
 * builder itself may be added with add, not with addf.
 */
CISTERN_API bool cistern_buf_reserve(cistern_buf *b, size_t size); /* room for size bytes in all */
CISTERN_API bool cistern_buf_add(cistern_buf *b, const char *s, size_t len);
CISTERN_API bool cistern_buf_addch(cistern_buf *b, char ch);
CISTERN_API bool cistern_buf_addf(cistern_buf *b, const char *format, ...) CISTERN_PRINTF(2, 3);

/* Whether an adding call has failed. */
CISTERN_API bool cistern_buf_failed(const cistern_buf *b);

/* What was added so far, NUL-terminated; valid until the builder changes. */
CISTERN_API cistern_span cistern_buf_span(const cistern_buf *b);

/* Interns what was added so far. ENOMEM when an adding call has failed; otherwise as cistern_intern. */
CISTERN_API const char *cistern_buf_intern(cistern *c, const cistern_buf *b);

/* Makes the builder empty; storage is kept, a failure is forgotten. */
CISTERN_API void cistern_buf_reset(cistern_buf *b);

/* Frees what the builder allocated and makes it empty, without storage. */
CISTERN_API void cistern_buf_release(cistern_buf *b);

#ifdef __cplusplus
}
#endif

/* ---------------------------------------------------------------- literals */

/*
 * CISTERN_LIT("text"), within a function: the literal's interned pointer in the default interner. GNU C and
 * C++ keep it at the call site, so that after the first time it costs one load; elsewhere it is a plain call. NULL with errno
 * where it cannot be interned; that is not kept, the next time tries again. C allows no such place in an inline
 * function that is not static.
 */
#if defined(__GNUC__)
#define CISTERN_LIT(literal)                                                                       \
	(__extension__({                                                                           \
		static const char *cistern_lit_kept_;                                              \
		const char *cistern_lit_str_ = __atomic_load_n(&cistern_lit_kept_, __ATOMIC_ACQUIRE); \
		if (!cistern_lit_str_) {                                                           \
			cistern *cistern_lit_in_ = cistern_default();                              \
			if (cistern_lit_in_)                                                       \
				cistern_lit_str_ = cistern_intern(cistern_lit_in_, "" literal "",  \
				                                  sizeof(literal) - 1);            \
			if (cistern_lit_str_)                                                      \
				__atomic_store_n(&cistern_lit_kept_, cistern_lit_str_,             \
				                 __ATOMIC_RELEASE);                                \
		}                                                                                  \
		cistern_lit_str_;                                                                  \
	}))
#else
#define CISTERN_LIT(literal) cistern_intern(cistern_default(), "" literal "", sizeof(literal) - 1)
#endif

#endif /* CISTERN_H */
