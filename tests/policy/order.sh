#!/bin/sh
# SPDX-License-Identifier: MIT
# The memory orders that lib/order.h names are those that the library uses and that doc/ARCHITECTURE.md explains.
# shellcheck source=tests/policy/tap.sh
. "${srcdir:-.}/tests/policy/tap.sh"

cd "$top" || exit 99

# A line "name function" for each memory order and each repeated look.
sed -n 's/^[[:space:]]*X(\([A-Z0-9_]*\),.*"\([a-z_]*\): .*/\1 \2/p' lib/order.h >"$scratch/names"
# The names that the library's code asks for. An operation with two ends stands for both.
for file in lib/*.[ch]; do
	test "$file" = lib/order.h || cat "$file"
done | grep -oE '(ORDER|RECHECK)_[A-Z0-9_]+' | sed 's/^ORDER_//' |
	awk '{ print } sub(/^E1_CAS$/, "E1_CAS_RELEASE") { print; print "E1_CAS_ACQUIRE" }' |
	grep -vx E1_CAS | sort -u >"$scratch/used"
# The publication table: label and row.
sed -n 's/^| \([A-Z][0-9]\) | /\1 | /p' doc/ARCHITECTURE.md >"$scratch/rows"

none() {
	test -s "$scratch/names" || echo 'lib/order.h lists nothing'
	test -s "$scratch/rows" || echo 'doc/ARCHITECTURE.md has no publication table'
}
expect 'there are names and there is a table' none

names_used() {
	cut -d ' ' -f 1 "$scratch/names" | sort >"$scratch/listed"
	differences "$scratch/listed" "$scratch/used" lib/order.h "the library's code"
}
expect 'every name is used, every name used is listed' names_used

# label NAME: A1 of A1_TAG_STORE and of RECHECK_A1_FIND.
label() {
	echo "$1" | sed 's/^RECHECK_//; s/_.*//'
}

# Who loads or stores with a name is in the row of its label; a repeated look is told elsewhere in the document.
explained() {
	while read -r name function; do
		case $name in
		RECHECK_*) grep -q "\`$function\`" doc/ARCHITECTURE.md ;;
		*) grep "^$(label "$name") " "$scratch/rows" | grep -q "\`$function\`" ;;
		esac || echo "$name: doc/ARCHITECTURE.md does not name $function for $(label "$name")"
	done <"$scratch/names"
}
expect 'the publication table names every function that has an order' explained

labelled() {
	while read -r row; do
		grep -q "^${row%% *}_" "$scratch/names" || echo "${row%% *} has no name in lib/order.h"
	done <"$scratch/rows"
}
expect 'every label of the publication table has names' labelled

# A scene of tests/model lists the names without which it fails, and shows that it does.
modelled() {
	cut -d ' ' -f 1 "$scratch/names" | while read -r name; do
		grep -q "M($name)" tests/model/*.c || echo "$name: no scene in tests/model fails without it"
	done
}
expect 'every name has a model that fails without it' modelled
finish
