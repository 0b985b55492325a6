#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes the three corpora that the figures in README and bench/README.md are about, from what this machine
# has installed. The same files give the same corpora; other versions of packages give others, which
# is why every result carries the hash of its corpus.
set -eu
LC_ALL=C
export LC_ALL

usage() {
	cat <<'USAGE'
usage: corpora.sh [-a ARCHIVES] [-s LIBRARIES] [-i HEADERS] OUTPUT-FOLDER

  symbols.txt      names of all symbols in LLVM's static archives, in the order of nm -A, repetitions
                   included (-a: their folder; the default is that of llvm-config-14)
  identifiers.txt  the first 8,000,000 identifiers of the C headers, in order (-i: /usr/include)
  distinct.txt     the names of symbols.txt and those that shared libraries export or need, each once,
                   in random order (-s: folders, separated by blanks; default /usr/lib and below)

A file that exists already is left as it is.
USAGE
}

fail() {
	echo "corpora.sh: $1" >&2
	exit "${2:-1}"
}

if test "${1:-}" = --help; then
	usage
	exit 0
fi
archives=
libraries=/usr/lib
headers=/usr/include
while getopts a:s:i:h option; do
	case $option in
	a) archives=$OPTARG ;;
	s) libraries=$OPTARG ;;
	i) headers=$OPTARG ;;
	h)
		usage
		exit 0
		;;
	*)
		usage >&2
		exit 2
		;;
	esac
done
shift $((OPTIND - 1))
test $# -eq 1 || {
	usage >&2
	exit 2
}
out=$1
mkdir -p "$out" || exit 1

# finish NAME: what was written becomes the corpus, unless there is nothing in it.
finish() {
	test -s "$out/$1.part" || fail "no strings for $1"
	mv "$out/$1.part" "$out/$1"
	echo "$out/$1: $(wc -l <"$out/$1") strings" >&2
}

if ! test -e "$out/symbols.txt"; then
	test -n "$archives" || archives=$(llvm-config-14 --libdir 2>/dev/null) ||
		fail 'no llvm-config-14: install llvm-14-dev or name a folder of archives with -a'
	# The name is the last of "archive:member:value type name"; other lines are headings.
	find "$archives" -maxdepth 1 -name 'libLLVM*.a' | sort | xargs nm -A 2>/dev/null |
		awk 'NF >= 3 { print $NF }' >"$out/symbols.txt.part" || true
	finish symbols.txt
fi

if ! test -e "$out/identifiers.txt"; then
	# head ends the pipe early, which the others may call an error.
	find "$headers" -type f -name '*.h' | sort | tr '\n' '\0' |
		xargs -0 grep -oha '[A-Za-z_][A-Za-z0-9_]*' 2>/dev/null |
		head -n 8000000 >"$out/identifiers.txt.part" || true
	finish identifiers.txt
fi

if ! test -e "$out/distinct.txt"; then
	# shellcheck disable=SC2086 # several folders
	find $libraries -type f -name '*.so*' 2>/dev/null | sort | tr '\n' '\0' |
		xargs -0 nm -D 2>/dev/null | awk 'NF >= 2 { sub(/@.*/, "", $NF); print $NF }' |
		sort -u - "$out/symbols.txt" >"$out/distinct.txt.sorted" || true
	# Its own bytes serve as the source of randomness, so that the order is the same every time.
	shuf --random-source="$out/distinct.txt.sorted" "$out/distinct.txt.sorted" >"$out/distinct.txt.part"
	rm -f "$out/distinct.txt.sorted"
	finish distinct.txt
fi
