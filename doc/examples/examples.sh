#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs the examples, compares what they print, and compares README's program with minimal.c. TAP.
set -u

srcdir=${srcdir:-.}
here=doc/examples
work=$(mktemp -d "${TMPDIR:-/tmp}/cistern-examples.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
count=0

result() { # status, name
	count=$((count + 1))
	if test "$1" -eq 0; then
		echo "ok $count - $2"
	else
		echo "not ok $count - $2"
	fi
}

skip() { # name, reason
	count=$((count + 1))
	echo "ok $count - $1 # SKIP $2"
}

# same NAME: "$work/got" is "$work/want".
same() {
	diff -u "$work/want" "$work/got" >"$work/diff"
	status=$?
	sed 's/^/# /' "$work/diff"
	result $status "$1"
}

# refused NAME STATUS COMMAND...: the command ends with that status and one line, on stderr.
refused() {
	name=$1 want=$2
	shift 2
	"$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
	lines=$(wc -l <"$work/err")
	test $status -eq "$want" && test "$lines" -eq 1 && ! test -s "$work/out"
	status=$?
	sed 's/^/# /' "$work/err"
	result $status "$name"
}

# ---------------------------------------------------------------- minimal

$here/minimal >"$work/got" 2>&1
cat >"$work/want" <<'END'
main: one pointer, 4 bytes
by its id: main
exit is unknown
END
same minimal_prints_what_readme_says

sed 1d "$srcdir/$here/minimal.c" >"$work/want"
awk '/^```/ { on = 0 } on { print } /^```c$/ && !seen { on = seen = 1 }' "$srcdir/README.md" >"$work/got"
same readme_shows_minimal_c

# ---------------------------------------------------------------- ordinals

printf 'b a\tb\n\nab c  a b\n' | $here/ordinals >"$work/got" 2>&1
printf '2 a\n1 ab\n3 b\n1 c\n' >"$work/want"
same ordinals_counts_words

$here/ordinals </dev/null >"$work/got" 2>&1
: >"$work/want"
same ordinals_of_nothing_are_nothing

# Many words that both threads meet at about the same time.
awk 'BEGIN { for (i = 0; i < 200000; i++) print "w" (i * 7919) % 5003 }' >"$work/words"
$here/ordinals <"$work/words" >"$work/got" 2>&1
LC_ALL=C sort "$work/words" | uniq -c | awk '{ print $1, $2 }' >"$work/want"
same ordinals_agree_with_sort_and_uniq

# ---------------------------------------------------------------- loader

if ! test -x $here/loader; then
	skip loader 'built without libelf'
else
	file=$here/ordinals
	for threads in 1 4; do
		name=loader_with_${threads}_threads_agrees_with_readelf
		if ! command -v readelf >/dev/null; then
			skip $name 'no readelf'
			continue
		fi
		$here/loader $file $threads >"$work/got" 2>&1
		# A section's symbol has no name; readelf shows the section's.
		readelf -sW $file | awk -v file=$file '
			/^Symbol table/ { on = index($0, "'"'.symtab'"'") > 0 }
			on && $1 ~ /^[0-9]+:$/ {
				symbols++
				if (NF >= 8 && $4 != "SECTION") {
					names++
					if (!($8 in seen)) { seen[$8]; distinct++; bytes += length($8) }
				}
			}
			END {
				printf "%s .symtab: %d symbols, %d names, %d distinct, %d bytes\n",
					file, symbols, names, distinct, bytes
			}' >"$work/want"
		same $name
	done
	refused loader_refuses_a_missing_file 1 $here/loader "$work/missing"
	refused loader_refuses_a_directory 1 $here/loader "$work"
	refused loader_refuses_text 1 $here/loader "$srcdir/README.md"
	refused loader_refuses_an_empty_file 1 $here/loader /dev/null
	head -c 100 $file >"$work/short"
	refused loader_refuses_a_truncated_file 1 $here/loader "$work/short"
	refused loader_refuses_a_bad_number 2 $here/loader $file 0
	refused loader_refuses_no_arguments 2 $here/loader
fi

echo "1..$count"
