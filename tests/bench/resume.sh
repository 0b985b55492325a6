#!/bin/sh
# SPDX-License-Identifier: MIT
# A sweep that was killed goes on where it stopped, and comes to what an undisturbed one would; figures that do not
# belong together are not mixed.
# shellcheck disable=SC2086 # commands with options are kept in variables
# shellcheck source=tests/policy/tap.sh
. "${srcdir:-.}/tests/policy/tap.sh"
not_under_tsan '--resume'

# Two settings and perhaps the defaults, one thread, two rounds and two more of the best.
sweep='bench/cistern-sweep --count 2000 --rounds 2 --pass-ms 1 --shards 1,16 --slab-size 4K --threads 1'

# A report without what is of the moment: the load of the machine, what it has to give, and what is remarked of it.
lasting() { # FILE
	grep -v '^# \(load\|load_at_end\|parallel\): \|^# The machine was busy\|^# Speeds differ' "$1"
}

rows() { # FILE
	grep -c '^[0-9]' "$1"
}

# The same facts, rows and notes, and the same file: nothing was measured again.
undisturbed() {
	$sweep --format csv --resume "$scratch/whole" >"$scratch/first" 2>"$scratch/err" || cat "$scratch/err"
	cp "$scratch/whole" "$scratch/copy"
	$sweep --format csv --resume "$scratch/whole" >"$scratch/second" 2>"$scratch/err" || cat "$scratch/err"
	lasting "$scratch/first" >"$scratch/first.lasting"
	lasting "$scratch/second" | cmp "$scratch/first.lasting" -
	cmp "$scratch/whole" "$scratch/copy"
	grep -q "going on from $(rows "$scratch/copy") rows" "$scratch/err" || echo 'it does not say what it found'
}
expect 'from a whole file comes the same table' undisturbed

killed() {
	$sweep --rounds 50 --resume "$scratch/killed" >"$scratch/out" 2>&1 &
	pid=$!
	tries=0
	while ! test -s "$scratch/killed" || test "$(rows "$scratch/killed")" -lt 6; do
		tries=$((tries + 1))
		test "$tries" -lt 600 || break
		sleep 0.05
	done
	$sweep --resume "$scratch/killed" >"$scratch/out" 2>"$scratch/err"
	test $? -eq 1 || echo 'two sweeps write to one file'
	grep -q "$scratch/killed: another sweep is writing to it" "$scratch/err" || cat "$scratch/err"
	kill -KILL "$pid" || echo 'it had ended before'
	wait "$pid" 2>/dev/null
	sed '$d' "$scratch/killed" >"$scratch/before"

	$sweep --format csv --resume "$scratch/killed" >"$scratch/resumed" 2>"$scratch/err" || cat "$scratch/err"
	head -n "$(wc -l <"$scratch/before")" "$scratch/killed" | cmp - "$scratch/before"
	grep '^[0-9]' "$scratch/killed" | cut -d , -f 1-10 | sort | uniq -d
	# What was measured before and after makes the same table as a file that has it all.
	$sweep --format csv --resume "$scratch/killed" >"$scratch/again" 2>"$scratch/err" || cat "$scratch/err"
	lasting "$scratch/resumed" >"$scratch/resumed.lasting"
	lasting "$scratch/again" | cmp "$scratch/resumed.lasting" -
	# And a table with the points and rounds of an undisturbed sweep.
	for table in first resumed; do
		grep '^[a-z]*,[0-9]' "$scratch/$table" | cut -d , -f 1-9 >"$scratch/$table.points"
	done
	cmp "$scratch/first.points" "$scratch/resumed.points"
}
expect 'after SIGKILL it goes on' killed

torn() {
	for cut in 1 30; do
		head -c $(($(wc -c <"$scratch/copy") - cut)) "$scratch/copy" >"$scratch/torn"
		$sweep --resume "$scratch/torn" >"$scratch/out" 2>"$scratch/err" || cat "$scratch/err"
		test "$(rows "$scratch/torn")" -eq "$(rows "$scratch/copy")" || echo "$cut bytes short: rows are missing"
		sed '$d' "$scratch/copy" >"$scratch/before"
		head -n "$(wc -l <"$scratch/before")" "$scratch/torn" | cmp - "$scratch/before"
		$sweep --resume "$scratch/torn" >"$scratch/out" 2>"$scratch/err" || cat "$scratch/err"
	done
	# Killed while it wrote what comes before the rows.
	head -c 100 "$scratch/copy" >"$scratch/torn"
	$sweep --resume "$scratch/torn" >"$scratch/out" 2>"$scratch/err" || cat "$scratch/err"
	test "$(rows "$scratch/torn")" -ge "$(rows "$scratch/copy")" || echo 'a torn header: rows are missing'
}
expect 'a torn last line is dropped' torn

more() {
	cp "$scratch/copy" "$scratch/more"
	$sweep --rounds 3 --format csv --resume "$scratch/more" >"$scratch/out" 2>"$scratch/err" || cat "$scratch/err"
	cut -d , -f 1-10 "$scratch/more" | grep '^4,' | grep -q . || echo 'no fifth round'
	head -n "$(wc -l <"$scratch/copy")" "$scratch/more" | cmp - "$scratch/copy"
}
expect 'more rounds are added' more

# refused PATTERN OPTION...: it ends with 1 and one line, and leaves the file alone.
refused() {
	pattern=$1
	shift
	cp "$scratch/other" "$scratch/other.copy"
	$sweep --resume "$scratch/other" "$@" >"$scratch/out" 2>"$scratch/err"
	test $? -eq 1 || echo 'no failure'
	test ! -s "$scratch/out" || echo 'something on stdout'
	test "$(wc -l <"$scratch/err")" -eq 1 || echo "not one line: $(cat "$scratch/err")"
	grep -q "^cistern-sweep: $scratch/other:$pattern" "$scratch/err" || cat "$scratch/err"
	cmp "$scratch/other" "$scratch/other.copy"
}

cp "$scratch/copy" "$scratch/other"
expect 'other strings' refused \
	"2: of another corpus: '[0-9a-f]* (generated symbols, seed 1)' there, '[0-9a-f]* (generated symbols, seed 2)' here" --seed 2
expect 'another clock' refused "3: of another clock: 'wall' there, 'cpu' here" --clock cpu
expect 'other passes' refused "4: of another pass_ms: '1' there, '2' here" --pass-ms 2
expect 'another knob' refused "5: of another set: '' there, 'value_size=4' here" --set value_size=4
sed 's/^# commit: .*/# commit: 0123456789ab/' "$scratch/copy" >"$scratch/other"
expect 'another commit' refused "[0-9]*: of another commit: '0123456789ab' there, '[0-9a-z-]*' here"
sed 's/^# processors: .*/# processors: 999/' "$scratch/copy" >"$scratch/other"
expect 'another machine' refused "[0-9]*: of another processors: '999' there"
sed 's/,hit_m_s,/,hits,/' "$scratch/copy" >"$scratch/other"
expect 'other columns' refused "[0-9]*: written by another version"
sed '$!s/^1,cistern,.*/1,cistern,1/' "$scratch/copy" >"$scratch/other"
expect 'a row that is none' refused "[0-9]*: not a row of this sweep"
for value in x 12x nan inf '" "'; do
	sed "2,\$s/^\(1,cistern,1,.*,\)[0-9.]*\$/\1$value/" "$scratch/copy" >"$scratch/other"
	expect "a row with '$value'" refused "[0-9]*: not a row of this sweep"
done
# Strings are the same by whatever name their file has.
renamed() {
	seq 2000 >"$scratch/strings"
	$sweep --corpus "$scratch/strings" --resume "$scratch/named" >"$scratch/out" 2>"$scratch/err" || cat "$scratch/err"
	mv "$scratch/strings" "$scratch/others"
	$sweep --corpus "$scratch/others" --resume "$scratch/named" >"$scratch/out" 2>"$scratch/err" || cat "$scratch/err"
	grep -q 'going on from' "$scratch/err" || echo 'it began anew'
}
expect 'the same strings by another name' renamed
printf 'one\ntwo\n' >"$scratch/other"
expect 'a file of something else' refused '1: not a file of --resume'
finish
