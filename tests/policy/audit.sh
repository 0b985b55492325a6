#!/bin/sh
# SPDX-License-Identifier: MIT
# tests/README.md keeps its word: each fault and each report has a case that holds it, and each case that is named there
# is in its source, and its suite in a makefile.
# shellcheck source=tests/policy/tap.sh
. "${srcdir:-.}/tests/policy/tap.sh"

page=$top/tests/README.md
faults=$(seq 1 40; echo 15a; echo 20a; echo 27a)
reports=$(seq 1 27)

# Jobs of the make that runs this test are not for the one started here.
env -u MAKEFLAGS -u MFLAGS "${MAKE:-make}" -s print-suites >"$scratch/suites" || exit 99

# The rows of one table, as "ROW<tab>NAMES": its first cell and its last.
rows() {
	sed -n "/^## $1\$/,/^## /p" "$page" | awk -F ' *[|] *' -v OFS='\t' '$2 ~ /^[0-9]+[a-z]?$/ { print $2, $(NF - 1) }'
}
rows Faults >"$scratch/faults"
rows Reports >"$scratch/reports"

# Each row that there must be, with a case in it; and no other.
incomplete() {
	for row in $2; do
		awk -F '\t' -v row="$row" '$1 == row && $2 ~ /`[a-z]+\/[a-z_]+: [^`]+`/ { n++ } END { exit n != 1 }' "$scratch/$1" ||
			echo "$1: there is no row $row with a case, or there are several"
	done
	cut -f 1 "$scratch/$1" | while read -r row; do
		echo "$2" | grep -qx "$row" || echo "$1: row $row is not in the list of tests/policy/audit.sh"
	done
}
expect 'every fault has a case' incomplete faults "$faults"
expect 'every report has a case' incomplete reports "$reports"

# What is between backquotes in the last cells, one "folder/suite: case" a line.
# shellcheck disable=SC2016
cut -f 2 "$scratch/faults" "$scratch/reports" | grep -o '`[^`]*`' | tr -d '`' | sort -u >"$scratch/names"

# A case of Check is defined and added to its suite: so its name is there twice. Others have it in what they print.
unknown() {
	while IFS= read -r name; do
		suite=tests/${name%%: *}
		case=${name#*: }
		source=
		for kind in .c .cc .sh; do
			test ! -f "$top/$suite$kind" || source=$top/$suite$kind
		done
		if test -z "$source"; then
			echo "$name: there is no $suite"
		elif grep -q '^START_TEST(' "$source"; then
			grep -qF "START_TEST($case)" "$source" || echo "$name: no such case"
			test "$(grep -cw -- "$case" "$source")" -ge 2 || echo "$name: not added to the suite"
		else
			grep -qF -- "$case" "$source" || echo "$name: no such case"
		fi
		grep -qxE "$suite(\.sh)?" "$scratch/suites" || echo "$name: no makefile runs $suite"
	done <"$scratch/names"
}
expect 'every case that is named exists and runs' unknown
finish
