#!/bin/sh
# SPDX-License-Identifier: MIT
# Which check notices which weakened order: builds each mutant of lib/order.h in turn, runs the checks that can see it,
# and prints a table of those that turned red. Fails when a mutant turns none red, unless survivors.txt says why none
# can, and when one that is named there is noticed after all. Started by "make check-mutants", which says how to compile.
#
#	make check-mutants                                all mutants, all checks
#	make check-mutants MUTANTS=A1_TAG_STORE           one; NONE is the library as it is, which nobody may notice
#	make check-mutants MUTANT_CHECKS='ordered tsan'   some checks
#
#	ordered, handed  the suites of that name, on the machine of machine.h
#	unit             suites of internals, on the processor's threads
#	tsan             stress suites on the processor's threads under ThreadSanitizer
set -u

top=${srcdir:-.}
checks=${MUTANT_CHECKS:-ordered handed unit tsan}
survivors=${MUTANT_SURVIVORS:-$top/tests/stress/survivors.txt}
unit_suites='growth table'
tsan_suites='stress/handover stress/mixed stress/share api/values'

fail() {
	echo "check-mutants: $*" >&2
	exit 1
}

# Every mutant that lib/order.h knows, a line each.
all_mutants() {
	sed -n 's/^[[:space:]]*X(\([A-Z0-9_]*\),.*/\1/p' "$top/lib/order.h"
}

# The files whose code a mutant changes: those that name it, or all of them where a header does.
affected() {
	test "$1" != NONE || return 0
	word=ORDER_${1#ORDER_}
	test "${1#RECHECK_}" = "$1" || word=$1
	if ! grep -qw "$word" "$top"/lib/*.c || grep -lw "$word" "$top"/lib/*.h | grep -qv '/order\.h$'; then
		ls "$top"/lib/*.c
	else
		grep -lw "$word" "$top"/lib/*.c
	fi
}

# compile FLAVOUR FLAGS DIR, with the names of files on its input: their objects, into DIR.
compile() {
	case $1 in
	tsan) compiler=$TSAN_COMPILE ;;
	unit) compiler=$UNIT_COMPILE ;;
	*) compiler=$MACHINE_COMPILE ;;
	esac
	mkdir -p "$3"
	while read -r file; do
		# shellcheck disable=SC2086 # compilers come with options
		$compiler $2 -c "$file" -o "$3/$(basename "$file" .c).o" </dev/null || return
	done
}

# What all mutants share under ThreadSanitizer: the library and what suites need in one archive, and the suites.
prepare_tsan() {
	for file in "$top"/lib/*.c "$top"/tests/support/*.c; do
		test "$(basename "$file")" = allocs.c || echo "$file" # which takes the place of malloc
	done | compile tsan '' "$scratch/tsan" && "${AR:-ar}" cr "$scratch/tsan.a" "$scratch"/tsan/*.o || return
	for suite in $tsan_suites; do
		echo "$top/tests/$suite.c"
	done | compile tsan '' "$scratch/suites"
}

# fails DIR NAME LINK-COMMAND...: links a suite and runs it. Whether it fails; another status: it could not be linked.
fails() {
	program=$1/$2
	shift 2
	"$@" -o "$program" || return 2
	! "$program" >"$program.log" 2>&1
}

# noticed CHECK MUTANT: whether the check fails; another status: it could not be built. Objects of the mutant take the
# place of those in the archives behind them.
# shellcheck disable=SC2086 # lists of objects and options
noticed() {
	dir=$scratch/$2/$1
	affected "$2" | compile "$1" "-DCISTERN_MUTANT=$2" "$dir" || return 2
	mutated=
	for object in "$dir"/*.o; do
		test ! -e "$object" || mutated="$mutated $object"
	done
	status=1
	case $1 in
	ordered) fails "$dir" "$1" $MACHINE_LINK $ORDERED_OBJECTS $mutated $MACHINE_LIBS ;;
	handed) fails "$dir" "$1" $MACHINE_LINK $HANDED_OBJECTS $mutated $MACHINE_LIBS ;;
	unit)
		for suite in $unit_suites; do
			objects=$GROWTH_OBJECTS
			test $suite = growth || objects=$TABLE_OBJECTS
			TEST_SCALE=20 fails "$dir" "$suite" $MACHINE_LINK $objects $mutated $UNIT_LIBS
			status=$?
			test $status -eq 1 || break
		done
		return $status
		;;
	tsan)
		for suite in $tsan_suites; do
			suite=$(basename "$suite")
			TEST_SCALE=10 TSAN_OPTIONS="detect_deadlocks=0 ${TSAN_OPTIONS:-}" \
				fails "$dir" "$suite" $TSAN_LINK "$scratch/suites/$suite.o" $mutated "$scratch/tsan.a" $TSAN_LIBS
			status=$?
			test $status -eq 1 || break
		done
		return $status
		;;
	*) fail "no such check: $1" ;;
	esac
}

# One row of the table: the mutant, then for each check red or a dot.
row() {
	line=$1
	for check in $checks; do
		noticed "$check" "$1"
		case $? in
		0) line="$line red" ;;
		1) line="$line ." ;;
		*) return 1 ;;
		esac
		rm -rf "${scratch:?}/$1/$check"
	done
	echo "$line" >"$scratch/rows/$1"
}

# With a scratch directory from outside this is one of the rows that run at the same time.
if test -n "${MUTANT_SCRATCH:-}"; then
	scratch=$MUTANT_SCRATCH
	row "$1" >"$scratch/$1.log" 2>&1
	exit
fi

scratch=$(mktemp -d "${TMPDIR:-/tmp}/cistern-mutants.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/rows"
# Suites report by their exit status here, and go through the same schedules each time.
unset TEST_TAP
export TEST_SEED="${TEST_SEED:-1}"

case " $checks " in
*' tsan '*) prepare_tsan >"$scratch/tsan.log" 2>&1 || {
	cat "$scratch/tsan.log"
	fail 'ThreadSanitizer does not work here: leave tsan out of MUTANT_CHECKS'
} ;;
esac
mutants=${MUTANTS:-NONE $(all_mutants)}
# shellcheck disable=SC2086
printf '%s\n' $mutants | MUTANT_SCRATCH=$scratch xargs -P "$(getconf _NPROCESSORS_ONLN)" -n 1 "${SHELL:-sh}" "$0"

for mutant in $mutants; do
	test -e "$scratch/rows/$mutant" || {
		cat "$scratch/$mutant.log"
		fail "$mutant: it could not be built or run"
	}
	cat "$scratch/rows/$mutant"
done >"$scratch/table" || exit 1
# shellcheck disable=SC2086
{
	printf '%-20s' mutant
	printf ' %-8s' $checks
	echo
	awk '{ printf "%-20s", $1; for (i = 2; i <= NF; i++) printf " %-8s", $i; print "" }' "$scratch/table"
}

# excused MUTANT: whether the list of survivors has an argument for it.
excused() {
	grep -q "^$1: ." "$survivors"
}

status=0
while read -r mutant results; do
	case $mutant:$results in
	NONE:*red*) echo "NONE: the checks fail without any mutant" ;;
	NONE:*)
		test -n "${MUTANTS:-}" || continue # not asked for: the others' control
		echo "NONE: nothing notices it: a check is missing"
		;;
	*:*red*)
		excused "$mutant" || continue
		echo "$mutant: it is noticed, but $survivors says that it cannot be"
		;;
	*)
		! excused "$mutant" || continue
		echo "$mutant: nothing notices it: a check is missing"
		;;
	esac
	status=1
done <"$scratch/table"
exit $status
