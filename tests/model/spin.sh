#!/bin/sh
# SPDX-License-Identifier: MIT
# The protocol of one shard in every interleaving: shard.pml, walked through by Spin. The right model holds in all of
# its states and reaches every line; each seeded bug has to be found. By hand, with the steps that lead to one:
#	spin -a -DNO_RECHECK shard.pml && cc -DSAFETY -o pan pan.c && ./pan && spin -t -p -DNO_RECHECK shard.pml
# shellcheck source=tests/policy/tap.sh
. "${srcdir:-.}/tests/policy/tap.sh"

model=$(cd "$top" && pwd)/tests/model/shard.pml
cc=${TEST_CC:-cc}
suite='the protocol of a shard in every interleaving'

have spin || {
	skip "$suite" 'Spin is missing (Debian: apt-get install spin)'
	finish
}

# Tests of the library's code are what a sanitizer's build is for, and there is none here.
test -z "${TEST_INSTRUMENT:-}" || {
	skip "$suite" 'the same in every build: see one without sanitizers'
	finish
}

# walk BUG FLAG...: compiles the model, with a bug in it or as it is, and walks through it; prints what Spin says. The
# compiler may be several words.
# shellcheck disable=SC2086
walk() {
	bug=$1
	shift
	rm -rf "$scratch/walk" && mkdir "$scratch/walk" && cd "$scratch/walk" || return
	spin -P"$cc -E -x c" -a ${bug:+-D"$bug"} "$model" &&
		$cc -w -DSAFETY -DCOLLAPSE "$@" -o pan pan.c &&
		./pan -m10000 -w22
}

holds() {
	walk '' -O1 >"$scratch/said" 2>&1
	grep -q 'errors: 0$' "$scratch/said" || cat "$scratch/said"
}
expect 'threads that intern and find agree while the table grows, is re-keyed and emptied' holds
sed -n 's/^ *\([0-9]*\) states, stored/# \1 states/p' "$scratch/said"

# Spin lists after "unreached in" what no thread ever did, and a count.
unreached() {
	grep -q '(0 of [0-9]* states)' "$scratch/said" || cat "$scratch/said"
	grep '([1-9][0-9]* of [0-9]* states)' "$scratch/said"
	grep 'max search depth too small' "$scratch/said"
	:
}
expect 'every line of the model is reached' unreached

# found BUG ASSERTION...: Spin says that one of these is violated. Steps tried in reverse lead to the errors sooner.
found() {
	seeded=$1
	shift
	walk "$seeded" -O0 -DT_REVERSE >"$scratch/said" 2>&1
	for assertion; do
		grep -qF "assertion violated $assertion" "$scratch/said" && return
	done
	cat "$scratch/said"
}

reference='((ref!=0)||(word!=at))'
entry='((ref==0)||(entry[ref]!=0))'
missing='((must==0)||(found==must))'
twice='(((found==0)||(known[s]==0))||(found==known[s]))'
expect 'a tag stored before its reference is noticed' found TAG_BEFORE_REFERENCE "$reference"
expect 'a tag stored before its entry is noticed' found TAG_BEFORE_ENTRY "$entry"
expect 'a filter bit set after the tag is noticed' found FILTER_AFTER_TAG "$missing"
expect 'a find that believes its first miss is noticed' found NO_RECHECK "$missing"
expect 'an intern that does not look again under the lock is noticed' found NO_SECOND_LOOK "$twice" "$missing"
expect 'a table that is published before it is filled is noticed' found PUBLISHED_UNFILLED "$missing"
expect 'a table that is emptied before another is published is noticed' found EMPTIED_EARLY "$reference" "$missing"
expect 'a directory word that recurs is noticed' found WORD_RECURS "$reference" "$missing"
expect 'a place that was sought before growing is noticed' found PLACE_OF_OLD_TABLE "$missing"
finish
