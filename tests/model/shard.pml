/* SPDX-License-Identifier: MIT */
/*
 * shard.pml - one shard in Promela: threads that intern and find while its table grows, is re-keyed and
 * emptied. Spin walks through every interleaving of their loads and stores, see spin.sh.
 *
 * Memory is sequentially consistent here. What weaker orders add is the subject of the models that
 * Relacy runs; this one is about the protocol: which stores there are, in which sequence, and which
 * looks are repeated.
 *
 * What is scaled down: a bucket has one slot, so it is full with its first string; a tag is one bit,
 * so every tag agrees and entries tell strings apart; there are two strings, which collide, so that
 * the second one makes the table grow from one bucket to two and then be re-keyed, where it collides
 * once more and leaves a filter bit. Every step that another thread could see is one load or one
 * store, but for what is private: filling a table nobody knows of, and a writer's own reading under
 * its lock.
 *
 * What is asserted:
 *   - who reads a reference sees a complete entry behind it;
 *   - a reference of 0 behind a tag means that the table was replaced;
 *   - one string has one entry, whoever interned or found it;
 *   - a string is found by every find that begins after a call that returned it has ended.
 *
 * Defining one of these names seeds a bug, which Spin must find: TAG_BEFORE_REFERENCE,
 * TAG_BEFORE_ENTRY, FILTER_AFTER_TAG, NO_RECHECK, NO_SECOND_LOOK, PUBLISHED_UNFILLED,
 * EMPTIED_EARLY, WORD_RECURS, PLACE_OF_OLD_TABLE.
 */
#define FIRST_STRING  1
#define SECOND_STRING 2
#define STRINGS       2
#ifndef NO_SECOND_LOOK
#define BUCKETS 2 /* of the largest table */
#define PLACES  4 /* for tables; the first is the bucket that empty shards share */
#else /* strings that are there twice take more room */
#define BUCKETS 4
#define PLACES  6
#endif

typedef buckets {
	bit tag[BUCKETS];
	byte filter[BUCKETS];
	byte ref[BUCKETS];
	/* what the directory word says beside the place */
	byte count;
	bit own_secret
}

buckets table[PLACES];
byte word;    /* the directory word: the place of the table in use. No place is used twice */
byte places = 1;
bool locked;
byte entries; /* laid into the slab so far; entry n has reference n */
byte entry[STRINGS + 2];
byte rekeyed; /* the size for which that was tried */

/* Not of the library: the entry that some call has returned for a string. */
byte known[STRINGS + 1];

#define MASK(t)         (table[t].count - 1)
#define FIRST(t, s)     (MASK(t) & (table[t].own_secret -> 1 : 0))
#define FILTER_BIT(s)   (1 << (s))
#define NEXT_BUCKET     step++; bucket = (bucket + step) & MASK(at)

/* ---- finding ---- */

/* Looks at one bucket: tag, filter, and where there is a tag its entry. */
inline look(s)
{
	tag = table[at].tag[bucket];
	passed = (table[at].filter[bucket] & FILTER_BIT(s)) != 0;
	if
	:: tag -> d_step {
		ref = table[at].ref[bucket];
		assert(ref != 0 || word != at);
		assert(ref == 0 || entry[ref] != 0);
		if
		:: ref != 0 && entry[ref] == s -> found = ref
		:: else
		fi;
		ref = 0
	}
	:: else
	fi
}

/* The first look, in one bucket: at random in a table with a secret of its own. */
inline peek(s)
{
	at = word;
	if
	:: bucket = FIRST(at, s)
	:: table[at].own_secret -> bucket = 1 - FIRST(at, s)
	fi;
	look(s)
}

/*
 * The whole search. After a miss it believes it, or it looks at the word again, or either of both.
 */
inline search(s, believes, looks_again)
{
	at = word;
	do
	:: d_step { bucket = FIRST(at, s); step = 0 };
		do
		:: look(s);
			if
			:: found != 0 || !passed || step == MASK(at) -> break
			:: else -> d_step { NEXT_BUCKET }
			fi
		od;
		if
		:: found != 0 || believes -> break
		:: found == 0 && looks_again
		fi;
		before = at;
		at = word;
		if
		:: at == before -> break
		:: else
		fi
	od
}

/* Around every call: what it has to return, and what others have to return from now on. */
inline call()
{
	d_step { found = 0; must = known[s] }
}

inline ended()
{
	d_step {
		assert(must == 0 || found == must);
		assert(found == 0 || known[s] == 0 || found == known[s]);
		if
		:: found != 0 -> known[s] = found
		:: else
		fi;
		at = 0; bucket = 0; step = 0; before = 0; tag = 0; passed = 0; must = 0; found = 0
	}
}

/* ---- replacing the table, under the lock ---- */

/* All strings go into a table that nobody knows of. */
inline fill()
{
	d_step {
		ref = 1;
		do
		:: ref <= entries ->
			bucket = FIRST(at, entry[ref]);
			step = 0;
			do
			:: table[at].tag[bucket] ->
				table[at].filter[bucket] =
				    table[at].filter[bucket] | FILTER_BIT(entry[ref]);
				NEXT_BUCKET
			:: else -> break
			od;
			table[at].ref[bucket] = ref;
			table[at].tag[bucket] = 1;
			ref++
		:: else -> break
		od;
		ref = 0; bucket = 0; step = 0
	}
}

/* The system takes pages away whole; what is left of that here is that words turn into zeros one by one. */
inline give_back()
{
	do
	:: before != 0 && bucket < table[before].count ->
		table[before].tag[bucket] = 0;
		table[before].filter[bucket] = 0;
		table[before].ref[bucket] = 0;
		bucket++
	:: else -> break
	od;
	before = 0;
	bucket = 0
}

inline replace(buckets_wanted, with_own_secret)
{
	d_step {
		before = at;
		step = buckets_wanted;
		passed = with_own_secret;
		at = places;
#ifdef WORD_RECURS
		if
		:: places == 3 -> at = 1
		:: else
		fi;
#endif
		places++;
		table[at].count = step;
		table[at].own_secret = passed;
		step = 0;
		passed = 0
	};
#ifdef PUBLISHED_UNFILLED
	word = at;
	fill();
#else
	fill();
#ifdef EMPTIED_EARLY
	give_back();
#endif
	word = at;
#endif
	give_back()
}

/* ---- interning ---- */

/* Under the lock: the string once more, or the slot where it goes. */
inline find_place(s, look_again)
{
	d_step {
		bucket = FIRST(at, s);
		step = 0;
		do
		:: table[at].tag[bucket] ->
			if
			:: look_again && entry[table[at].ref[bucket]] == s ->
				found = table[at].ref[bucket];
				break
			:: else
			fi;
			if
			:: step == MASK(at) -> break
			:: else -> NEXT_BUCKET
			fi
		:: else -> break
		od
	}
}

inline set_filters(s)
{
	do
	:: bucket != slot ->
		table[at].filter[bucket] = table[at].filter[bucket] | FILTER_BIT(s);
		d_step { NEXT_BUCKET }
	:: else -> break
	od
}

inline put(s)
{
	d_step { slot = bucket; bucket = FIRST(at, s); step = 0 };
#ifndef FILTER_AFTER_TAG
	set_filters(s);
#endif
#ifdef TAG_BEFORE_REFERENCE
	table[at].tag[slot] = 1;
	table[at].ref[slot] = entries;
#else
	table[at].ref[slot] = entries;
	table[at].tag[slot] = 1;
#endif
#ifdef FILTER_AFTER_TAG
	set_filters(s);
#endif
	slot = 0
}

inline insert(s)
{
	if
	:: entries >= table[at].count || word == 0 ->
#ifdef PLACE_OF_OLD_TABLE
		slot = at;
#endif
		replace((word == 0 -> 1 : 2 * table[at].count), table[at].own_secret);
#ifdef PLACE_OF_OLD_TABLE
		d_step {
			if
			:: slot != 0 -> at = slot
			:: else
			fi;
			slot = 0
		};
#endif
		find_place(s, false)
	:: else
	fi;
	if
	:: step > 0 && rekeyed != table[at].count ->
		rekeyed = table[at].count;
		if
		:: replace(table[at].count, true);
			find_place(s, false)
		:: true /* no secret, or no room: the long probe is accepted */
		fi
	:: else
	fi;
	entries++;
#ifdef TAG_BEFORE_ENTRY
	put(s);
	entry[entries] = s;
#else
	entry[entries] = s;
	put(s);
#endif
	found = entries
}

/*
 * Two looks come before the lock is taken, and one that counts behind it. So a miss of those before
 * may be believed at once or not: the library does not, but both are right.
 */
inline intern()
{
	call();
	peek(s);
	if
	:: found == 0 ->
		search(s, true, true)
	:: else
	fi;
	if
	:: found == 0 ->
		atomic { !locked -> locked = true };
		at = word;
#ifdef NO_SECOND_LOOK
		find_place(s, false);
#else
		find_place(s, true);
#endif
		if
		:: found == 0 -> insert(s)
		:: else
		fi;
		locked = false
	:: else
	fi;
	ended()
}

#define LOCALS byte at, bucket, step, slot, ref, before, found, must; bit tag, passed

proctype writer(byte s, last)
{
	LOCALS;

	do
	:: intern();
		if
		:: s == last -> break
		:: else -> s = last
		fi
	od
}

/* Finds a string twice: with the first look, and without it as cistern_find_hashed does. */
proctype reader()
{
	LOCALS;
	byte s;
	bool peeks = true;

	if
	:: s = FIRST_STRING
	:: s = SECOND_STRING
	fi;
	do
	:: call();
		if
		:: peeks -> peek(s)
		:: else
		fi;
		if
		:: found == 0 ->
#ifdef NO_RECHECK
			search(s, true, false)
#else
			search(s, false, true)
#endif
		:: else
		fi;
		ended();
		if
		:: peeks -> peeks = false
		:: else -> break
		fi
	od
}

/* Both writers intern the second string. */
init {
	atomic {
		table[0].count = 1;
		run writer(FIRST_STRING, SECOND_STRING);
		run writer(SECOND_STRING, SECOND_STRING);
		run reader()
	}
}
