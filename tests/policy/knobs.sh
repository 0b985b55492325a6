#!/bin/sh
# SPDX-License-Identifier: MIT
# One set of knobs: the table in lib/config.c, the struct, cistern_config(3), README and the benches' help.
# shellcheck source=tests/policy/tap.sh
. "${srcdir:-.}/tests/policy/tap.sh"

tests/policy/knobs >"$scratch/table" || exit 99
cut -d ' ' -f 1 "$scratch/table" | sort >"$scratch/keys"

sed -n '/^typedef struct cistern_config {/,/^}/s/^\t[a-z0-9_]* \([a-z_]*\);.*/\1/p' "$top/include/cistern.h" |
	grep -vx size | sort >"$scratch/fields"
expect 'every knob is a field of cistern_config' \
	differences "$scratch/keys" "$scratch/fields" lib/config.c include/cistern.h

page=$top/doc/man/cistern_config.3
sed -n 's/^\.It Cm \([a-z_]*\) Pq Ev CISTERN_.*/\1/p' "$page" | sort >"$scratch/page"
expect 'cistern_config(3) explains every knob' \
	differences "$scratch/keys" "$scratch/page" lib/config.c doc/man/cistern_config.3

variables() {
	sed -n 's/^\.It Cm \([a-z_]*\) Pq Ev \(CISTERN_.*\)/\1 \2/p' "$page" |
		awk '"CISTERN_" toupper($1) != $2 { print $2 " is not the variable of " $1 }'
}
expect 'cistern_config(3) names the variables' variables

# The page may say "none" for 0 and go on after the value.
defaults() {
	sed -n -e 's/^\.It Cm \([a-z_]*\) Pq.*/knob \1/p' -e 's/^Default: \([0-9A-Za-z]*\), on 32-bit systems \([0-9A-Za-z]*\).*/default \1 \2/p' \
		-e 's/^Default: \([0-9A-Za-z]*\).*/default \1/p' "$page" |
		awk '
			FNR == NR { table[$1] = $2; next }
			$1 == "knob" { key = $2 }
			$1 == "default" {
				seen[key] = 1
				if ($2 != table[key] && $3 != table[key] && !($2 == "none" && table[key] == "0"))
					print key ": default " $2 ", but " table[key] " in lib/config.c"
			}
			END { for (key in table) if (!seen[key]) print key ": no default" }
		' "$scratch/table" -
}
expect 'cistern_config(3) has the defaults' defaults

# The first cell of a table row, in backquotes or not.
# shellcheck disable=SC2016
sed -n 's/^| *`\{0,1\}\([a-z_]*\)`\{0,1\} *|.*/\1/p' "$top/README.md" | sort >"$scratch/rows"
unread() {
	comm -23 "$scratch/keys" "$scratch/rows" | sed 's/$/ has no row in README.md/'
}
expect 'README lists every knob' unread

if test -x bench/cistern-sweep; then
	bench/cistern-sweep --help | sed -n 's/^  \([a-z_]*\) .*/\1/p' | sort >"$scratch/help"
	unhelped() {
		comm -23 "$scratch/keys" "$scratch/help" | sed 's/$/ is not in cistern-sweep --help/'
	}
	expect 'cistern-sweep --help lists every knob' unhelped
else
	skip 'cistern-sweep --help lists every knob' 'benches are not built'
fi
finish
