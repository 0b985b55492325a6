#!/bin/sh
# SPDX-License-Identifier: MIT
# What the benches say to bad input: one line that names the culprit, exit code 2 where the command line cannot be
# understood and 1 where something else is wrong. Nothing is measured here.
# shellcheck disable=SC2086 # commands with options are kept in variables
# shellcheck source=tests/policy/tap.sh
. "${srcdir:-.}/tests/policy/tap.sh"

# refused CODE PATTERN COMMAND...: the command ends with CODE and one line on stderr that matches.
refused() {
	code=$1 pattern=$2
	shift 2
	"$@" >"$scratch/out" 2>"$scratch/err"
	status=$?
	test $status -eq "$code" || echo "exit code $status, not $code"
	test ! -s "$scratch/out" || echo 'something on stdout'
	test "$(wc -l <"$scratch/err")" -eq 1 || echo "not one line: $(cat "$scratch/err")"
	grep -q "^${1##*/}: $pattern" "$scratch/err" || echo "wrong words: $(cat "$scratch/err")"
}

sweep=bench/cistern-sweep
compare=bench/cistern-compare
startup=bench/cistern-startup
builder=bench/cistern-builder
latency=bench/cistern-latency
loader=bench/cistern-loader

for program in $sweep $compare $startup $builder $latency; do
	expect "$program: an unknown option" refused 2 "unknown option '--wrong'" $program --wrong
	expect "$program: an option without its value" refused 2 "option '--corpus' needs" $program --corpus
	expect "$program: a stray word" refused 2 "'word' is no option" $program word
	expect "$program: an unknown knob" refused 2 "--set: there is no knob called 'slabs'" \
		$program --set slabs=3
	expect "$program: a knob out of range" refused 2 "--set: shards does not accept '70000'; it accepts 1 to" \
		$program --set shards=70000
	expect "$program: a knob that is no number" refused 2 "--set: slab_size does not accept '4KB'; it accepts" \
		$program --set slab_size=4KB
	expect "$program: a knob with a unit in lower case" refused 2 "--set: slab_size does not accept '4k'" \
		$program --set slab_size=4k
	expect "$program: a knob without a value" refused 2 "--set: 'shards' is not of the form" \
		$program --set shards
	expect "$program: an impossible number" refused 2 "--count: '0' is not a number from 1" \
		$program --count 0
	expect "$program: a number with a tail" refused 2 "--seed: '12x' is not" $program --seed 12x
	expect "$program: a unit in lower case, as for a knob" refused 2 "--count: '4k' is not a number" \
		$program --count 4k
	expect "$program: a number too large" refused 2 "--seed: '99999999999999999999' is not" \
		$program --seed 99999999999999999999
	expect "$program: an unknown format" refused 2 "--format: 'xml' is none of" $program --format xml
	expect "$program: an unknown clock" refused 2 "--clock: 'sun' is neither" $program --clock sun
	expect "$program: an unknown generator" refused 2 "--generate: 'words' is neither" \
		$program --generate words
	expect "$program: a corpus that is not there" refused 1 "$scratch/none: No such file" \
		$program --corpus "$scratch/none"
	expect "$program: a corpus that is a folder" refused 1 "$scratch: is a directory" \
		$program --corpus "$scratch"
	: >"$scratch/empty"
	expect "$program: an empty corpus" refused 1 "$scratch/empty: holds no strings" \
		$program --corpus "$scratch/empty"
	printf 'one\ntwo\nth\000ree\n' >"$scratch/nul"
	expect "$program: a NUL in a corpus" refused 1 "$scratch/nul:3: a NUL byte" \
		$program --corpus "$scratch/nul"
	expect "$program: an ELF file that is not there" refused 1 "$scratch/none: " \
		$program --elf "$scratch/none"
	expect "$program: not an ELF file" refused 1 "$scratch/nul: \(not an ELF file\|built without libelf\)" \
		$program --elf "$scratch/nul"
done
if test -f tests/support/libsupport.a && ! $sweep --elf "$scratch/nul" 2>&1 | grep -q 'without libelf'; then
	head -c $(($(wc -c <tests/support/libsupport.a) - 100)) tests/support/libsupport.a >"$scratch/short.a"
	expect 'an archive that is cut off' refused 1 "$scratch/short.a: the archive is cut off" \
		$sweep --elf "$scratch/short.a"
else
	skip 'an archive that is cut off' 'no archive or no libelf'
fi
if test "$(id -u)" -ne 0; then
	echo text >"$scratch/secret"
	chmod 0 "$scratch/secret"
	expect 'a corpus that may not be read' refused 1 "$scratch/secret: Permission denied" \
		$sweep --corpus "$scratch/secret"
else
	skip 'a corpus that may not be read' 'root may read anything'
fi

expect 'sweep: a list with a gap' refused 2 "--shards: '1,,4' has an empty part" $sweep --shards 1,,4
expect 'sweep: a list with a value out of range' refused 2 "--slab-size: slab_size does not accept '1'" \
	$sweep --slab-size 4K,1
expect 'sweep: no threads' refused 2 "--threads: '0' is not" $sweep --threads 0
expect 'sweep: a knob both swept and fixed' refused 2 '--slab-size: slab_size is fixed by --set' \
	$sweep --set slab_size=4K --slab-size 4K,64K
expect 'sweep: an unknown lock' refused 2 "--lock: lock does not accept 'rw'" $sweep --lock rw
expect 'sweep: a capacity out of range' refused 2 "--capacity: capacity does not accept '5000000000'" \
	$sweep --capacity 5000000000
expect 'sweep: a commit chunk out of range' refused 2 "--commit-chunk: commit_chunk does not accept '1K'" \
	$sweep --commit-chunk 1K
expect 'sweep: an unknown engine' refused 2 "--engines: this build has no 'redis'" $sweep --engines redis
expect 'sweep: no rounds' refused 2 "--rounds: '0' is not" $sweep --rounds 0
expect 'sweep: a report and other pictures' refused 2 "--plot: --report draws into its own folder" \
	$sweep --report "$scratch/report" --plot "$scratch/other"
: >"$scratch/file"
expect 'sweep: a report into a file' refused 1 "$scratch/file: Not a directory" \
	$sweep --quick --report "$scratch/file"
expect 'sweep: to go on from a folder' refused 1 "$scratch: Is a directory" $sweep --quick --resume "$scratch"
expect 'compare: an unknown engine' refused 2 "--engines: this build has no 'redis'" $compare --engines redis
expect 'compare: a baseline that does not take part' refused 2 "--baseline: 'redis' does not" \
	$compare --baseline redis
expect 'compare: a variant with an unknown knob' refused 2 "--variant: there is no knob called 'fast'" \
	$compare --variant hugepages=never,fast=on
expect 'startup: shards out of range' refused 2 "--shards: shards does not accept '0'" $startup --shards 0
expect 'startup: an unknown engine' refused 2 "--engines: this build has no 'redis'" $startup --engines redis
expect 'startup: a baseline that does not take part' refused 2 "--baseline: 'redis' does not" \
	$startup --baseline redis
expect 'startup: a variant with an unknown knob' refused 2 "--variant: there is no knob called 'fast'" \
	$startup --variant fast=on
expect 'startup: a child that nobody started' refused 1 '--child is for the bench itself: there is no order' \
	$startup --child none 3<&- 4<&-
expect 'startup: a child with an unknown engine' refused 2 "--child: this build has no 'redis'" \
	$startup --child redis
expect 'startup: a child among other options' refused 2 '--child is for the bench itself' \
	$startup --processes 2 --child none
expect 'builder: too few pieces' refused 2 "--pieces: '1' is not" $builder --pieces 1
expect 'builder: pieces of an unknown length' refused 2 "--lengths: 'huge' is neither" $builder --lengths huge
expect 'builder: an unknown way' refused 2 "--only: there is no way called 'sprintf'" \
	$builder --only sprintf,5,short
expect 'builder: a case that is incomplete' refused 2 "--only: 'array,5' is not of the form" $builder --only array,5
expect 'builder: a case with an unknown length' refused 2 "--only: 'huge' is neither" $builder --only array,5,huge
printf '\n' >"$scratch/nothing"
expect 'builder: strings without a byte' refused 1 'no pieces can be cut out of empty strings' \
	$builder --only array,5,short --corpus "$scratch/nothing"
expect 'latency: an unknown case' refused 2 "--cases: 'erase' is none of insert" $latency --cases insert,erase
expect 'latency: a case that comes with another' refused 2 "--cases: 'hit-inserting' is none of" \
	$latency --cases hit-inserting
expect 'latency: a baseline that does not take part' refused 2 "--baseline: 'redis' does not" \
	$latency --baseline redis
expect 'latency: quick and full' refused 2 '--quick and --full exclude' $latency --quick --full
printf 'one\ntwo\none\n' >"$scratch/few"
expect 'latency: too few strings' refused 1 'few, .*: 2 distinct strings are too few' $latency --corpus "$scratch/few"
expect 'latency: a histogram that cannot be written' refused 1 "$scratch/none/h.csv: No such file" \
	$latency --quick --histogram "$scratch/none/h.csv"
for option in --wrong --corpus --distinct-random; do
	expect "loader: $option is none of its options" refused 2 "unknown option '$option'" $loader $option
done
expect 'loader: a stray word' refused 2 "'word' is no option" $loader word
expect 'loader: a slab size out of range' refused 2 "--slab-size: slab_size does not accept '1'" \
	$loader --slab-size 4K,1
expect 'loader: an unknown engine' refused 2 "--engines: this build has no 'redis'" $loader --engines redis
expect 'loader: a baseline that does not take part' refused 2 "--baseline: 'redis' does not" \
	$loader --baseline redis
expect 'loader: no threads' refused 2 "--threads: '0' is not" $loader --threads 0
expect 'loader: quick and full' refused 2 '--quick and --full exclude' $loader --quick --full
expect 'loader: a file that is not there' refused 1 "$scratch/none: " $loader --elf "$scratch/none"
expect 'loader: not an ELF file' refused 1 "$scratch/nul: \(not an ELF file\|built without libelf\)" \
	$loader --elf "$scratch/nul"

full() {
	$sweep --help >/dev/full 2>"$scratch/err"
	test $? -eq 1 || echo 'a full disk went unnoticed'
	grep -q 'cannot write the results' "$scratch/err" || cat "$scratch/err"
}
if test -c /dev/full; then
	expect 'results that cannot be written' full
else
	skip 'results that cannot be written' 'no /dev/full'
fi

helps() {
	for program in $sweep $compare $startup $builder $latency; do
		$program --help | grep -q -- '--distinct-random' || echo "$program --help says too little"
		$program --version | grep -q ' 0\.' || echo "$program --version"
	done
	$loader --help | grep -q -- '--slab-size' || echo "$loader --help says too little"
	! $loader --help | grep -q -- '--generate' || echo "$loader --help says too much"
}
expect 'help and version' helps

short_help() {
	for program in $sweep $compare $startup $builder $latency $loader "${srcdir:-.}/bench/corpora.sh"; do
		"$program" -h >"$scratch/out" 2>"$scratch/err" || echo "$program -h fails"
		test ! -s "$scratch/err" || cat "$scratch/err"
		"$program" --help | cmp - "$scratch/out"
		case $program in
		*.sh) ;;
		*) grep -q -- '-h, --help' "$scratch/out" || echo "$program does not tell of -h" ;;
		esac
	done
}
expect '-h is --help' short_help

# Cistern by itself.
no_engines() {
	seq 200 >"$scratch/lines"
	for program in $compare $startup "$latency --quick" "$loader --quick"; do
		quick=
		test "$program" != $compare || quick="--quick --corpus $scratch/lines"
		test "$program" != $startup || quick='--processes 2'
		$program $quick --engines none --format csv >"$scratch/out" 2>"$scratch/err" || cat "$scratch/err"
		grep -v '^#' "$scratch/out" | awk -F , -v program="$program" '
			NR == 1 { for (i = 1; i <= NF; i++) if ($i == "engine") at = i; next }
			$at !~ /^(cistern|none)/ { print program ": " $at; exit }
			{ n++ }
			END { if (!n) print program ": no rows" }'
	done
	$sweep --engines none >"$scratch/out" 2>&1
	test $? -eq 2 || echo 'a sweep of nothing'
}
expect 'none beside cistern' no_engines

# Whoever starts a program without standard streams must not find its output in a file that happened to be opened in
# their place.
closed() {
	seq 2000 >"$scratch/lines"
	$compare --quick --corpus "$scratch/lines" --threads 1 --save "$scratch/closed" --format csv <&- >&- 2>"$scratch/err"
	test $? -eq 1 || echo 'no output, and no failure'
	grep -q 'cannot write the results' "$scratch/err" || cat "$scratch/err"
	$compare --quick --corpus "$scratch/lines" --threads 1 --save "$scratch/silent" --format csv <&- >&- 2>&-
	for file in closed/compare.csv silent/compare.csv; do
		head -n 1 "$scratch/$file" | grep -q '^# version' || echo "$file begins otherwise"
		test "$(grep -c '^# version' "$scratch/$file")" -eq 1 || echo "$file holds another report, too"
		! grep -q '^cistern-\|^{' "$scratch/$file" || echo "$file holds messages"
	done
	for stream in 0 1 2; do
		eval "$sweep --quick --corpus '$scratch/lines' --engines cistern --shards 4 --threads 1 \
			--resume '$scratch/rows$stream' $stream>&- >'$scratch/out' 2>'$scratch/err'" || :
		eval "$sweep --quick --corpus '$scratch/lines' --engines cistern --shards 4 --threads 1 --format json \
			--resume '$scratch/rows$stream' $stream>&-" >/dev/null 2>&1 || :
		! grep -v '^#\|^round,\|^[0-9]*,' "$scratch/rows$stream" || echo "the rows hold something else without stream $stream"
	done
}
expect 'standard streams that are closed' closed

# A folder that cannot be written is told before anything is read or measured.
for program in sweep compare startup builder latency; do
	expect "$program: a folder that cannot be made" refused 1 '/dev/null/x: Not a directory' \
		"bench/cistern-$program" --save /dev/null/x --corpus "$scratch/not-there"
done
expect 'loader: a folder that cannot be made' refused 1 '/dev/null/x: Not a directory' \
	$loader --save /dev/null/x --elf "$scratch/not-there"
finish
