#!/bin/sh
# SPDX-License-Identifier: MIT
# Tiny runs of every bench: the output can be read by programs, and says what it should. The speeds mean nothing.
# shellcheck disable=SC2086 # commands with options are kept in variables
# shellcheck source=tests/policy/tap.sh
. "${srcdir:-.}/tests/policy/tap.sh"

validate=tests/bench/validate
small='--count 2000 --rounds 1 --pass-ms 1'
sweep="bench/cistern-sweep $small --shards 1,16 --slab-size 1K,4K --threads 1,2"
compare="bench/cistern-compare $small"

# run COMMAND...: leaves stdout in out and stderr in err; says so where it failed.
run() {
	"$@" >"$scratch/out" 2>"$scratch/err" && return
	echo "$* failed:"
	cat "$scratch/err"
}

# The last lines of a sweep: a recommendation, fit to be pasted.
recommended() { # FILE
	grep -q '^# Recommended\. ' "$1" || echo 'nothing is recommended'
	sed -n '/^# Recommended/,$p' "$1" | grep -v '^#' >"$scratch/setting"
	grep -vE '^CISTERN_[A-Z_]+=[a-zA-Z0-9]+$' "$scratch/setting" | sed 's/$/: not a setting/'
	grep -q '^CISTERN_SHARDS=' "$scratch/setting" || echo 'no shards'
	grep -q '^CISTERN_SLAB_SIZE=' "$scratch/setting" || echo 'no slab size'
	# No knob refuses its value.
	while IFS='=' read -r name value; do
		test -n "$value" || continue
		key=$(echo "${name#CISTERN_}" | tr '[:upper:]' '[:lower:]')
		bench/cistern-sweep --set "$key=$value" --help >/dev/null || echo "$name=$value is refused"
	done <"$scratch/setting"
}

# The columns that have to hold a number above 0. The defaults are measured besides, if they are none of the four.
sweep_csv() {
	run $sweep --format csv
	$validate csv shards slab_size threads rounds insert_m_s hit_m_s batch_hit_m_s miss_m_s mixed_m_s hot_m_s rss \
		peak strings committed payload in_strings in_tables insert_m_s_q1 hit_m_s_q3 \
		<<-ROWS
			$(grep -v '^\(#\|CISTERN\)' "$scratch/out")
		ROWS
	rows=$(grep -c '^cistern,' "$scratch/out")
	test "$rows" -eq 8 || test "$rows" -eq 10 || echo "$rows rows for 4 settings and the defaults, 2 numbers of threads"
}
expect 'sweep: CSV' sweep_csv

sweep_json() {
	run $sweep --format json --lock mutex,spin --generate identifiers
	$validate json <"$scratch/out"
	test "$(grep -c '"shards": [0-9]*, .*"lock": "spin"' "$scratch/out")" -eq 8 || echo 'not a line for each result'
	sed -n 's/^"\(.*\)"\(,\|]}\)$/\1/p' "$scratch/out" >"$scratch/notes"
	recommended "$scratch/notes"
}
expect 'sweep: JSON' sweep_json

sweep_table() {
	run $sweep
	head -n 1 "$scratch/out" | grep -q '^threads  shards  slab_size  insert_m_s' || echo 'no table'
	recommended "$scratch/out"
}
expect 'sweep: the table ends with a setting' sweep_table

# Nothing but comments and variables, so that a shell takes all of it.
recommend() {
	run $sweep --recommend --rounds 3
	grep -vE '^(#|CISTERN_)' "$scratch/out"
	grep -q '^# The front' "$scratch/out" || echo 'no front'
	grep -q '^# Recommended.* defaults of the library' "$scratch/out" || echo 'nothing about the defaults'
	recommended "$scratch/out"
	sh -eu -c '. "$1"; test -n "$CISTERN_SHARDS"' sh "$scratch/out" || echo 'a shell does not take it'
	run $sweep --recommend --format csv --save "$scratch/saved"
	test "$(grep -c '^cistern,' "$scratch/saved/sweep.csv")" -ge 8 || echo 'the rows are not saved'
}
expect 'sweep: --recommend' recommend

# Each value of each axis is there, and an engine that does not heed a knob is there once.
axes() {
	run bench/cistern-sweep $small --threads 1 --format csv --shards 2 --slab-size 1K --growth-interval 1,8 \
		--capacity 0,5000 --hugepages never,always --commit-chunk 0,64K --lock mutex,spin
	test "$(grep -c '^cistern,1,2,1024,' "$scratch/out")" -eq 32 || echo 'not a row for each of 32 combinations'
	grep '^cistern,' "$scratch/out" | cut -d , -f 1-9 | sort | uniq -d
	for value in 1024,1 1024,8 8,5000 never always 65536 spin; do
		grep -q ",$value," "$scratch/out" || echo "no row with $value"
	done
}
expect 'sweep: every axis' axes

other_engine() {
	run bench/cistern-sweep $small --threads 1 --format csv --engines all --shards 2,4 --commit-chunk 0,64K
	test "$(grep -c '^stringmap,' "$scratch/out")" -eq 1 || echo 'it runs for each value of a knob that it lacks'
	test "$(grep -c '^cistern,1,[24],' "$scratch/out")" -ge 4 || echo 'cistern does not run for each value'
}
if bench/cistern-sweep --help | grep -q '^  stringmap'; then
	expect 'sweep: an engine without a knob runs once' other_engine
else
	skip 'sweep: an engine without a knob runs once' 'built without LLVM'
fi

# A slab that is larger than the largest one by default.
large_slabs() {
	run $sweep --slab-size 4M --shards 4 --threads 1 --format csv
	grep -q '^cistern,1,4,4194304,' "$scratch/out" || echo 'no row with 4M'
}
expect 'sweep: slabs of 4M' large_slabs

plots() {
	run $sweep --plot "$scratch/deep/plots"
	for picture in front added_rss-threads2 hit_m_s-threads1 insert_m_s-threads2 mixed_m_s-threads2 \
		threads-hit_m_s threads-insert_m_s; do
		for ending in png svg; do
			test -s "$scratch/deep/plots/$picture.$ending" || echo "no $picture.$ending"
		done
	done
	# The script draws them again wherever the folder is.
	mv "$scratch/deep/plots" "$scratch/moved"
	rm "$scratch/moved/front.svg"
	(cd "$scratch/moved" && gnuplot plots.gp) 2>&1
	test -s "$scratch/moved/front.svg" || echo 'plots.gp does not draw again'
}
if have gnuplot; then
	expect 'sweep: plots' plots
else
	skip 'sweep: plots' 'no gnuplot'
fi

plots_without_gnuplot() {
	# shellcheck disable=SC2123 # that nothing is found is the point
	(
		PATH=/nonexistent
		export PATH
		run $sweep --threads 1 --plot "$scratch/none"
	) 2>&1
	test "$(grep -c 'gnuplot is not installed' "$scratch/err")" -eq 1 || echo 'gnuplot was not missed'
	test -s "$scratch/none/plots.gp" || echo 'no script to draw later'
}
mkdir -p "$scratch/none"
expect 'sweep: no gnuplot is no failure' plots_without_gnuplot

compare_csv() {
	run $compare --variant hugepages=never --variant hugepages=always,capacity=1000 --format csv
	$validate csv threads rounds <"$scratch/out"
	test "$(grep -c ',build,cistern hugepages=never,' "$scratch/out")" -eq 2 || echo 'a variant is missing'
	test "$(grep -c ',hit,cistern hugepages=always capacity=1000,' "$scratch/out")" -eq 2 ||
		echo 'the other variant is missing'
}
expect 'compare: CSV with variants' compare_csv

saved() {
	run $compare --threads 1 --save "$scratch/saved/deep"
	grep -v huge_pages "$scratch/saved/deep/compare.csv" | $validate csv median
	$validate json <"$scratch/saved/deep/compare.json"
	for fact in version commit compiler processors corpus 'knobs of cistern'; do
		grep -q "^# $fact: ." "$scratch/saved/deep/compare.csv" || echo "CSV without $fact"
		grep -q "\"$fact\": \"." "$scratch/saved/deep/compare.json" || echo "JSON without $fact"
	done
	bench/cistern-compare $small --save "$scratch/lines" 2>&1 | grep -q 'lines: Not a directory' ||
		echo 'a file was taken for a folder'
}
echo one >"$scratch/lines"
expect 'compare: saved with what is needed to know what was measured' saved

compare_json() {
	printf 'one\n\ntwo\none\nthree' >"$scratch/lines"
	run $compare --corpus "$scratch/lines" --distinct-random --build-batch --format json
	$validate json <"$scratch/out"
	grep -q '4 strings .* 4 distinct' "$scratch/out" || echo 'the corpus was read wrongly'
}
expect 'compare: JSON, a corpus of lines' compare_json

ratios() {
	run $compare --format csv
	$validate csv baseline ratio ratio_q1 ratio_q3 <<-ROWS
		$(grep -v huge_pages "$scratch/out")
	ROWS
}
if bench/cistern-compare --help | grep -q '^  stringmap'; then
	expect 'compare: every ratio over LLVM is there' ratios
else
	skip 'compare: every ratio over LLVM is there' 'built without LLVM'
fi

symbols() {
	run $compare --elf bench/cistern-sweep bench/cistern-startup --threads 1
	grep -q 'corpus: cistern-sweep and 1 more: [1-9]' "$scratch/err" || cat "$scratch/err"
	run $compare --elf tests/support/libsupport.a --threads 1
	grep -q 'corpus: libsupport.a: [1-9]' "$scratch/err" || cat "$scratch/err"
}
if bench/cistern-sweep --elf "$scratch/lines" 2>&1 | grep -q 'without libelf'; then
	skip 'compare: symbols of programs and archives' 'built without libelf'
else
	expect 'compare: symbols of programs and archives' symbols
fi

startup_json() {
	run bench/cistern-startup --processes 2 --format json
	$validate json <"$scratch/out"
}
expect 'startup: JSON' startup_json
finish
