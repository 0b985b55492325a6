#!/bin/sh
# SPDX-License-Identifier: MIT
# Tiny runs of every bench: the output can be read by programs, and says what it should. The speeds mean nothing.
# shellcheck disable=SC2086,SC2016 # commands with options are kept in variables; programs for awk have fields of their own
# shellcheck source=tests/policy/tap.sh
. "${srcdir:-.}/tests/policy/tap.sh"
not_under_tsan 'what the benches print'

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

# The last lines of a sweep: a recommendation, fit to be pasted. Where the defaults are best it is a comment.
recommended() { # FILE [LINES-OF-SET]
	grep -q '^# Recommended\. ' "$1" || echo 'nothing is recommended'
	sed -n '/^# Recommended/,$p' "$1" | grep -v '^#' >"$scratch/setting"
	grep -vE '^CISTERN_[A-Z_]+=[a-zA-Z0-9]+$' "$scratch/setting" | sed 's/$/: not a setting/'
	lines=$(wc -l <"$scratch/setting")
	if grep -q "^# Nothing \(else \)\?to set: the library's defaults suit (here shards=[0-9]*, slab_size=[0-9]*[KM]*)\.\$" "$1"; then
		test "$lines" -eq "${2:-0}" || echo "$lines lines where nothing is to be set"
	else
		test "$lines" -gt "${2:-0}" || echo 'neither a setting nor that none is needed'
	fi
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
		peak strings committed payload in_strings in_tables \
		<<-ROWS
			$(grep -v '^\(#\|CISTERN\)' "$scratch/out")
		ROWS
	rows=$(grep -c '^cistern,' "$scratch/out")
	test "$rows" -eq 8 || test "$rows" -eq 10 || echo "$rows rows for 4 settings and the defaults, 2 numbers of threads"
}
expect 'sweep: CSV' sweep_csv

# by_name FILE PROGRAM: an awk program over the rows of CSV, in which f("name") is the field of that column.
by_name() {
	grep -v '^\(#\|CISTERN\)' "$1" | awk -F , "function f(name) { return \$at[name] }
		NR == 1 { for (i = 1; i <= NF; i++) at[\$i] = i; next } $2"
}

# Who measured once knows nothing of quartiles; the best of a sweep are measured again.
quartiles() {
	run $sweep --format csv
	cp "$scratch/out" "$scratch/rows"
	by_name "$scratch/rows" '
		(f("rounds") == 1) != (f("insert_m_s_q1") == "") { print f("rounds") " rounds, and quartiles from " f("insert_m_s_q1") }
		(f("rounds") == 1) != (f("added_rss_q3") == "") { print f("rounds") " rounds, and quartiles to " f("added_rss_q3") }'
	run $compare --threads 1 --format csv
	by_name "$scratch/out" 'f("q1") f("q3") f("ratio_q1") f("ratio_q3") != "" { print "quartiles of one round: " $0 }'
	run $compare --threads 1
	grep -q '  *-  *-  ' "$scratch/out" || echo 'no dashes in the table'
	run $compare --threads 1 --rounds 2 --format csv
	by_name "$scratch/out" 'f("rounds") == 2 && f("q1") == "" && f("median") != "" { print "no quartiles of two rounds: " $0 }
		f("q1") != "" { n++ } END { if (!n) print "no quartiles at all" }'
}
expect 'quartiles only of what was measured twice' quartiles

# Resident memory is split without a rest, for every engine that tells what it holds.
parts() {
	run bench/cistern-sweep $small --threads 1 --engines all --shards 16 --slab-size 4K,64K --format csv
	by_name "$scratch/out" '
		f("in_strings") != "" {
			off = f("in_strings") + f("in_tables") + f("in_slack") + f("in_other") - f("added_rss")
			if (off > 4 || off < -4)
				print f("engine") ": the parts are " off " bytes more than what was added"
			n++
		}
		END { if (n < 3) print n " rows with parts" }'
}
expect 'sweep: the parts of memory add up' parts

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

# Only what varies has a column, so that a sweep of what the default one varies fits a terminal.
table_width() {
	run $sweep --engines cistern,conststring --lock mutex,spin
	head -n 1 "$scratch/out" | grep -q '^engine  *threads  *shards  *slab_size  *lock  *insert_m_s' || head -n 1 "$scratch/out"
	sed '/^$/,$d' "$scratch/out" | awk 'length > 110 { print length " columns"; exit }'
}
expect 'sweep: a table of 110 columns at most' table_width

# Nothing but comments and variables, so that a shell takes all of it.
recommend() {
	run $sweep --recommend --rounds 3
	grep -vE '^(#|CISTERN_)' "$scratch/out"
	grep -q '^# The Pareto front' "$scratch/out" || echo 'no front'
	grep -q '^# Recommended.* defaults of the library' "$scratch/out" || echo 'nothing about the defaults'
	recommended "$scratch/out"
	sh -eu -c '. "$1"' sh "$scratch/out" || echo 'a shell does not take it'
	run $sweep --recommend --format csv --save "$scratch/saved"
	test "$(grep -c '^cistern,' "$scratch/saved/sweep.csv")" -ge 8 || echo 'the rows are not saved'
}
expect 'sweep: --recommend' recommend

# Each value of each axis is there, and an engine that does not heed a knob is there once.
axes() {
	run bench/cistern-sweep $small --threads 1 --format csv --shards 2 --slab-size 1K --growth-interval 1,8 \
		--capacity 0,5000 --hugepages never --commit-chunk 0,64K --lock spin
	test "$(grep -c '^cistern,1,2,1024,' "$scratch/out")" -eq 8 || echo 'not a row for each of 8 combinations'
	grep '^cistern,' "$scratch/out" | cut -d , -f 1-9 | sort | uniq -d
	for value in 1024,1 1024,8 8,5000 never 65536 spin; do
		grep -q ",$value," "$scratch/out" || echo "no row with $value"
	done
}
expect 'sweep: every axis' axes

other_engine() {
	run bench/cistern-sweep $small --threads 1 --format csv --engines cistern,stringmap --shards 2,4 \
		--commit-chunk 0,64K
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
	for fact in version commit compiler processors parallel corpus 'knobs of cistern'; do
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
	run $compare --rounds 2 --format csv
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
	for measure in process_wall process_cpu process_rss create strings added_rss; do
		for engine in 'cistern shards=16' 'cistern shards=256'; do
			grep -qE "\"measure\": \"$measure\", .*\"engine\": \"$engine\", \"median\": [0-9.]+," \
				"$scratch/out" || echo "no $measure of $engine"
		done
	done
	grep -q '^# on [1-9][0-9]* processors' "$scratch/out" || grep -q '"# on [1-9][0-9]* processors"' "$scratch/out" ||
		echo 'on how many processors?'
}
expect 'startup: JSON' startup_json

startup_csv() {
	run bench/cistern-startup --processes 3 --format csv --engines cistern --baseline cistern \
		--variant hugepages=never --variant prefault=off --shards 4
	grep -v '^#' "$scratch/out" >"$scratch/rows"
	grep -E '^(measure|process_(wall|cpu|rss)|create|strings|added_rss),' "$scratch/rows" |
		grep -v ',none,' >"$scratch/known"
	$validate csv median q1 q3 ratio processes <"$scratch/known"
	for engine in 'cistern shards=4 hugepages=never' 'cistern shards=4 prefault=off'; do
		test "$(grep -c ",$engine," "$scratch/rows")" -eq 13 || echo "$engine: not a row for each measure"
	done
	# A process without an interner is measured as a process only.
	test "$(grep -c ',none,' "$scratch/rows")" -eq 6 || echo 'not a row for each measure of a process'
	grep -E ',cistern shards=4 hugepages=never,' "$scratch/rows" | grep -E '^(create|strings),' |
		grep -vE ',1\.000,0\.000,3$'
	true
}
expect 'startup: CSV with variants, ratios over one of them' startup_csv

startup_check() {
	bench/cistern-startup --processes 3 --check --engines cistern --variant capacity=100000 --shards 16 \
		>/dev/null 2>"$scratch/err"
	test $? -eq 1 || echo 'a limit was passed unnoticed'
	grep -q 'cistern shards=16 capacity=100000 adds [0-9]* KiB, over the limit of 128$' "$scratch/err" ||
		cat "$scratch/err"
}
expect 'startup: a limit that is passed' startup_check

builder_csv() {
	run bench/cistern-builder --quick --rounds 2 --format csv
	grep -v '^#' "$scratch/out" >"$scratch/rows"
	$validate csv pieces bytes ns ns_q1 ns_q3 ratio ratio_q1 ratio_q3 rounds <"$scratch/rows"
	for pieces in 5 20 500; do
		for length in short long; do
			# Every way of the case, and the first of each part is what its ratios are over.
			test "$(grep -c "^[a-z]*,$pieces,$length," "$scratch/rows")" -eq 11 ||
				echo "$pieces $length: not a row for each way"
			test "$(grep -cE "^[a-z]*,$pieces,$length,[^,]*,(array|new-copy|hit-copy),.*,1\.000,1\.000,1\.000," \
				"$scratch/rows")" -eq 3 || echo "$pieces $length: a first way is not at 1"
		done
	done
}
expect 'builder: CSV' builder_csv

builder_only() {
	run bench/cistern-builder --only fixed,20,short --passes 3 --format json
	$validate json <"$scratch/out"
	grep -q '"names": "100 a pass, 3 passes"' "$scratch/out" || echo 'not the passes asked for'
	test "$(grep -c '"part": ' "$scratch/out")" -eq 1 || echo 'not one result'
	grep -q '"way": "fixed"' "$scratch/out" || echo 'another way'
}
expect 'builder: one case' builder_only

builder_sizes() {
	run bench/cistern-builder --sizes --count 2000 --format json
	$validate json <"$scratch/out"
	for size in id pointer header overhead; do
		grep -qE "\"size\": \"$size\", \"bytes\": [0-9.]+, .*\"limit\": [1-9][0-9]*," "$scratch/out" ||
			echo "no $size with a limit"
	done
}
expect 'builder: sizes' builder_sizes
latency="bench/cistern-latency --count 3000 --rounds 2 --engines conststring"
latency_csv() {
	run $latency --variant lock=spin --variant hugepages=never,capacity=1000 --format csv \
		--histogram "$scratch/histogram.csv"
	$validate csv calls mean_ns p50_ns p99_ns p99.9_ns p99.99_ns max_us rounds <"$scratch/out"
	for case in insert insert-shared hit hit-inserting hot hot-inserting; do
		test "$(grep -c "^$case,cistern " "$scratch/out")" -eq 2 || echo "not two rows of $case"
	done
	grep -qE '^# timer: (rdtsc|clock_gettime)' "$scratch/out" || echo 'which clock?'
	grep -q '^# timer_overhead: [0-9.]* ns' "$scratch/out" || echo 'what does it take?'
	$validate csv to_ns <"$scratch/histogram.csv"
	# The histogram holds every call of both rounds.
	awk -F, 'NR == FNR { if (FNR > 1 && $1 == "insert") want[$2] = 2 * $3; next }
		$1 == "insert" { got[$2] += $5; idle[$2] += $6 }
		END { for (e in want) if (got[e] != want[e] || idle[e] != want[e]) print e ": " want[e] " calls, " got[e] " in the histogram, " idle[e] " idle" }' \
		"$scratch/out" "$scratch/histogram.csv"
}
expect 'latency: CSV, with variants and histogram' latency_csv

latency_json() {
	run $latency --cases hot --format json --clock cpu
	$validate json <"$scratch/out"
	grep -q '"case": "hot-inserting", "engine": "cistern lock=spin"' "$scratch/out" || echo 'a lock is missing'
	! grep -q '"case": "hit"' "$scratch/out" || echo 'a case too many'
	grep '"case": "hot-inserting"' "$scratch/out" | grep -q '"kept": [0-9]' || echo 'no ratio over quiet'
}
expect 'latency: JSON of one case' latency_json

loader='bench/cistern-loader --rounds 2 --threads 1,3'
loader_csv() {
	run $loader --slab-size 1K,64K --format csv
	$validate csv threads time_ms time_ms_q1 open_ms read_ms finish_ms rounds <"$scratch/out"
	for row in none 'cistern slab_size=1K' 'cistern slab_size=64K'; do
		test "$(grep -c "^[13],$row," "$scratch/out")" -eq 2 || echo "not a row of $row for 1 and 3 threads"
	done
	grep -q '^# corpus: cistern-loader and [1-9]' "$scratch/out" || echo 'not its own objects'
	# Nothing is said of interning where there is none.
	awk -F, '/^[13],/ && ($2 == "none") != ($9 $10 $13 == "") { print "a cell too many or few: " $0 }' "$scratch/out"
}
loader_json() {
	run $loader --elf tests/support/libsupport.a bench/cistern-startup --threads 2 --format json --engines cistern
	$validate json <"$scratch/out"
	grep -q '"corpus": "libsupport.a and 1 more: [1-9]' "$scratch/out" || echo 'other files were read'
	grep -q '"engine": "cistern slab_size=1M"' "$scratch/out" || echo 'a slab size is missing'
	! grep -q '"ratio": [0-9]' "$scratch/out" || echo 'a ratio over nothing'
}
if bench/cistern-sweep --elf "$scratch/lines" 2>&1 | grep -q 'without libelf'; then
	skip 'loader: CSV of its own objects' 'built without libelf'
	skip 'loader: JSON of an archive and a program' 'built without libelf'
else
	expect 'loader: CSV of its own objects' loader_csv
	expect 'loader: JSON of an archive and a program' loader_json
fi
# What a string costs beyond its own bytes, for engines too that do not count bytes themselves.
extra_per_string() {
	run $compare --threads 1 --format csv
	mean=$(sed -n 's/^# corpus: .* \([0-9]*\) distinct of mean length \([0-9.]*\),.*/\1 \2/p' "$scratch/out")
	awk -F , -v strings="${mean% *}" -v mean="${mean#* }" '
		$2 == "added_rss" { added[$3] = $5 * 1048576 / strings }
		$2 == "extra_per_string" { extra[$3] = $5 }
		END {
			for (engine in added) {
				off = added[engine] - mean - extra[engine]
				if (off > 1 || off < -1)
					print engine ": " extra[engine] " beyond " mean " of " added[engine] " bytes"
			}
		}' "$scratch/out"
}
expect 'compare: bytes beyond the payload, of every engine' extra_per_string

# What is recommended of figures that are known: those of a file of --resume, in which all settings are made alike but
# for one, FACTOR times as fast. Whoever pastes it gets what was measured: knobs that --set fixed are a part of it.
known() { # FACTOR OPTION...
	factor=$1
	shift
	few="bench/cistern-sweep --count 2000 --rounds 4 --pass-ms 1 --threads 1 --shards 1,64 --slab-size 64K --recommend"
	rm -f "$scratch/known"
	run $few --resume "$scratch/known" "$@"
	awk -F , -v OFS=, -v factor="$factor" '
		/^round,/ { for (i = 1; i <= NF; i++) at[$i] = i }
		/^[0-9]/ {
			for (name in at)
				if (name ~ /_m_s$/)
					$at[name] = $at["shards"] == 1 && $at["slab_size"] == "64K" ? 10 * factor : 10
			$at["added_rss"] = 1000000
		}
		{ print }' "$scratch/known" >"$scratch/changed"
	run $few --resume "$scratch/changed" "$@"
	sed '/^# Recommended/,$!d' "$scratch/out" | grep '^CISTERN_' | tr '\n' ' '
	sed -n 's/^\(# Nothing .*to set\): .*/\1/p' "$scratch/out"
}
known_defaults() {
	test "$(known 1)" = '# Nothing to set' || known 1
	recommended "$scratch/out"
	test "$(known 1 --set lock=spin --set links=off --set links=on)" = 'CISTERN_LOCK=spin CISTERN_LINKS=on # Nothing else to set' ||
		known 1 --set lock=spin --set links=on
	recommended "$scratch/out" 2
}
known_winner() {
	test "$(known 2)" = 'CISTERN_SHARDS=1 CISTERN_SLAB_SIZE=64K ' || known 2
	recommended "$scratch/out"
	# The knob that is as by default is not told.
	test "$(known 2 --set lock=spin)" = 'CISTERN_LOCK=spin CISTERN_SHARDS=1 CISTERN_SLAB_SIZE=64K ' || known 2 --set lock=spin
	recommended "$scratch/out" 1
}
expect 'sweep: where the defaults are best there is nothing to set, but for the knobs of --set' known_defaults
expect 'sweep: of what is better, the knobs that differ' known_winner

# An interner that is full is not one that answers wrongly, in whatever phase it gets full.
full_interner() {
	for size in 64K 72K 80K 88K 96K 104K 112K 120K; do
		bench/cistern-sweep --count 3000 --rounds 1 --pass-ms 1 --threads 1 --engines cistern --shards 1 \
			--slab-size 1K --set max_bytes=$size >"$scratch/out" 2>&1 && continue
		grep -q ' could not be interned$' "$scratch/out" || tail -n 1 "$scratch/out"
	done
}
expect 'sweep: an interner that is full is said to be full' full_interner

# A name in the report is the name of the file, whatever its bytes.
names() {
	seq 50 >"$scratch/öü \"<b>\\%n.txt"
	run bench/cistern-builder --quick --corpus "$scratch/öü \"<b>\\%n.txt" --format json
	$validate json <"$scratch/out"
	LC_ALL=C grep -q 'öü \\"<b>\\\\%n.txt: 50' "$scratch/out" || echo 'JSON has another name'
	bad=$(printf '\377\303\050')
	cp "$scratch/öü \"<b>\\%n.txt" "$scratch/$bad"
	run bench/cistern-builder --quick --corpus "$scratch/$bad" --format json
	$validate json <"$scratch/out"
	LC_ALL=C grep -q '"\\ufffd\\ufffd(: 50' "$scratch/out" || echo 'JSON has bytes that are no UTF-8'
}
expect 'names of files in JSON' names

# A string of some megabytes is not taken a quarter of a million times.
long_string() {
	head -c 4000000 /dev/zero | tr '\0' x >"$scratch/long"
	run timeout 60 bench/cistern-compare --quick --threads 1 --engines conststring --corpus "$scratch/long"
}
expect 'compare: a string of four megabytes' long_string

finish
