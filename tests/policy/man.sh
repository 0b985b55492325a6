#!/bin/sh
# SPDX-License-Identifier: MIT
# The man pages describe what the header declares: all of it, and nothing else.
# shellcheck source=tests/policy/tap.sh
. "${srcdir:-.}/tests/policy/tap.sh"

pages=$top/doc/man
declared_functions >"$scratch/functions"
is_link() {
	head -n 1 "$1" | grep -q '^\.so '
}

without_page() {
	while read -r function; do
		test -e "$pages/$function.3" || echo "man 3 $function would find nothing"
	done <"$scratch/functions"
	for macro in CISTERN_LIT CISTERN_CONFIG_INIT; do
		test -e "$pages/$macro.3" || echo "man 3 $macro would find nothing"
	done
}
expect 'every function has a page of its name' without_page

dead_links() {
	for page in "$pages"/*.3; do
		is_link "$page" || continue
		name=$(basename "$page" .3)
		target=$(sed -n '1s/^\.so man3\///p' "$page")
		if ! test -e "$pages/$target"; then
			echo "$name.3 leads to $target, which is no page"
		elif ! sed -n '/^\.Sh NAME/,/^\.Nd/p' "$pages/$target" | grep -qE "^\.Nm $name( ,)?\$"; then
			echo "$name.3 leads to $target, whose NAME does not have it"
		fi
	done
}
expect 'every link leads to a page that names it' dead_links

for page in "$pages"/*.3; do
	is_link "$page" || sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/s/^\.F[no] \(cistern_[a-z_]*\).*/\1/p' "$page"
done | sort >"$scratch/described"
expect 'every function is in one SYNOPSIS, and nothing else is' \
	differences "$scratch/functions" "$scratch/described" include/cistern.h doc/man

unknown() {
	grep -vh '^\.Dt' "$pages"/*.3 | grep -oE '\b(cistern|CISTERN)_[A-Za-z_]+' | sort -u | while read -r word; do
		grep -qw -- "$word" "$top/include/cistern.h" && continue
		test -e "$pages/$word.3" && continue
		case $word in CISTERN_*_) continue ;; esac
		knob=$(echo "${word#CISTERN_}" | tr '[:upper:]' '[:lower:]')
		sed -n '/^typedef struct cistern_config/,/^}/p' "$top/include/cistern.h" |
			grep -qw -- "$knob" || echo "$word is neither in the header nor a page nor a knob"
	done
}
expect 'pages use no name that does not exist' unknown

lint() {
	for page in "$pages"/*.3; do
		is_link "$page" || mandoc -T lint -W warning "$page"
	done | sed "s|$pages/||"
}
if have mandoc; then
	expect 'mandoc has nothing to say about the pages' lint
else
	skip 'mandoc has nothing to say about the pages' 'no mandoc'
fi
finish
