#!/bin/sh
# SPDX-License-Identifier: MIT
# "make check-mutants" can fail: a mutant that nothing notices, one that is excused and yet noticed, a name that does
# not exist. With one check and three mutants only; all of them take minutes.
# shellcheck source=tests/policy/tap.sh
. "${srcdir:-.}/tests/policy/tap.sh"

# gate NAME=VALUE...: the gate's answer, and its status as the last line. Jobs of the make that runs this test are
# not for the one started here.
gate() {
	env -u MAKEFLAGS -u MFLAGS TEST_SCALE=20 "$@" "${MAKE:-make}" -s check-mutants MUTANT_CHECKS=handed 2>&1
	echo "status $?"
}

# answers PATTERN STATUS NAME=VALUE...: nothing if the gate's answer has the line and it ended like that.
answers() {
	gate "MUTANTS=$3" "MUTANT_SURVIVORS=$4" >"$scratch/answer"
	if ! grep -q "$1" "$scratch/answer" || ! grep -q "^status $2" "$scratch/answer"; then
		cat "$scratch/answer"
	fi
}

gate MUTANTS=NONE >"$scratch/answer"
if grep -q 'configure another one' "$scratch/answer"; then
	skip 'the gate on mutants can fail' 'not in this build'
	finish
fi

: >"$scratch/none"
echo 'RECHECK_B1_FIND: this check does not look for it' >"$scratch/excused"
echo 'D1_NEXT_LOAD: so it seems' >"$scratch/stale"
expect 'a mutant that is noticed passes' answers '^D1_NEXT_LOAD *red' 0 D1_NEXT_LOAD "$scratch/none"
expect 'one that nothing notices fails' answers '^RECHECK_B1_FIND: nothing notices it' '[1-9]' RECHECK_B1_FIND "$scratch/none"
expect 'an argument excuses it' answers '^RECHECK_B1_FIND *\.' 0 RECHECK_B1_FIND "$scratch/excused"
expect 'an argument for one that is noticed fails' answers '^D1_NEXT_LOAD: it is noticed' '[1-9]' D1_NEXT_LOAD "$scratch/stale"
expect 'a name that lib/order.h does not have fails' answers 'could not be built' '[1-9]' NO_SUCH_NAME "$scratch/none"
finish
