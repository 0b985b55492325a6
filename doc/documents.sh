#!/bin/sh
# SPDX-License-Identifier: MIT
# The documents say what the code says, where a program can tell.
# shellcheck source=tests/policy/tap.sh
. "${srcdir:-.}/tests/policy/tap.sh"

architecture=$top/doc/ARCHITECTURE.md

grep -ohE '\b[A-Z][1-9]\b' "$top"/lib/*.[ch] | sort -u >"$scratch/labels"
sed -n 's/^| \([A-Z][1-9]\) |.*/\1/p' "$architecture" | sort >"$scratch/rows"
expect 'the publication table has the labels of the code' \
	differences "$scratch/labels" "$scratch/rows" lib doc/ARCHITECTURE.md

# A row names functions in backquotes; each must exist.
# shellcheck disable=SC2016
label_functions() {
	sed -n 's/^| [A-Z][1-9] |//p' "$architecture" | grep -oE '`[a-z_]+`' | tr -d '`' | sort -u |
		while read -r name; do
			grep -qwF -- "$name" "$top"/lib/*.[ch] || echo "$name of the publication table is not in lib"
		done
}
expect 'the publication table names functions that exist' label_functions

modules() {
	for file in "$top"/lib/*.[ch]; do
		grep -qF "$(basename "$file")" "$architecture" || echo "$file is not in doc/ARCHITECTURE.md"
	done
}
expect 'ARCHITECTURE has a paragraph for every file of lib' modules

pages=$(cd "$top" && echo README.md bench/README.md doc/*.md)
dead_links() {
	for page in $pages; do
		grep -oE '\]\([^)#]+' "$top/$page" | sed 's/^](//' | grep -v '^https\{0,1\}:' | while read -r target; do
			test -e "$top/$(dirname "$page")/$target" || echo "$page links to $target, which does not exist"
		done
	done
}
expect 'links between documents lead somewhere' dead_links

unfinished() {
	for page in $pages; do
		grep -nE '@@[A-Z]+@@' "$top/$page" | sed "s|^|$page:|"
	done
}
expect 'no page waits to be filled in' unfinished

# The guide to tuning names each knob.
untuned() {
	sed -n '/^     *{{"/s/^ *{{"\([a-z_]*\)".*/\1/p' "$top/lib/config.c" | while read -r knob; do
		grep -q "\`$knob" "$top/doc/TUNING.md" || echo "$knob is not in doc/TUNING.md"
	done
}
expect 'TUNING names every knob' untuned

fields() { # STRUCT
	sed -n "/^typedef struct $1 {/,/^}/s/^	uint64_t \([a-z_]*\);.*/\1/p" "$top/include/cistern.h" | sort
}
fields cistern_stats >"$scratch/fields"
sed -n 's/^\.It Va \([a-z_]*\)$/\1/p' "$top/doc/man/cistern_stats.3" | sort >"$scratch/explained"
expect 'cistern_stats(3) explains every field' \
	differences "$scratch/fields" "$scratch/explained" include/cistern.h cistern_stats.3

fields cistern_shard_stats >"$scratch/fields"
sed -n '/^\.Ss Fields of cistern_shard_stats/,/^\.Ss Formats/s/^\.Va \([a-z_]*\).*/\1/p' \
	"$top/doc/man/cistern_stats.3" | sort >"$scratch/explained"
expect 'and every field of a shard' \
	differences "$scratch/fields" "$scratch/explained" include/cistern.h cistern_stats.3

# What a command understands is what its page explains.
options() {
	for program in bench/cistern-*; do
		test -x "$program" || continue
		command=${program#bench/cistern-}
		page=$top/doc/man/cistern-$command.1
		"$program" --help | grep -E '^  --' | grep -oE '(^|, ) *--[a-z-]+' |
			tr -d ' ,' | sort -u >"$scratch/understood"
		# The page of one may leave the common options to the page of another.
		grep -q 'are those of' "$page" && page="$page $top/doc/man/cistern-sweep.1"
		# shellcheck disable=SC2086
		grep -ohE 'Fl -[a-z-]+' $page | sed 's/Fl -/--/' | sort -u >"$scratch/explained"
		comm -23 "$scratch/understood" "$scratch/explained" | sed "s/\$/ is not in cistern-$command(1)/"
		grep -ohE '^\.It Fl -[a-z-]+' "$top/doc/man/cistern-$command.1" | sed 's/^\.It Fl -/--/' | sort -u |
			comm -13 "$scratch/understood" - | sed "s/\$/ is in cistern-$command(1) only/"
	done
}
if test -x bench/cistern-sweep; then
	expect 'the pages of the benches explain their options' options
else
	skip 'the pages of the benches explain their options' 'benches are not built'
fi

length() {
	lines=$(wc -l <"$top/README.md")
	test "$lines" -ge 120 && test "$lines" -le 180 || echo "README.md has $lines lines"
}
expect 'README is read in a few minutes: 120 to 180 lines' length
finish
