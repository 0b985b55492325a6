#!/bin/sh
# SPDX-License-Identifier: MIT
# What ./bootstrap hands on, to whom, and what it refuses; with stand-ins for configure, make and the sweep.
# shellcheck source=tests/policy/tap.sh
. "${srcdir:-.}/tests/policy/tap.sh"

tree=$scratch/tree
mkdir -p "$tree/.ci" "$tree/config-aux" "$scratch/bin"
cp "$top/bootstrap" "$tree/"
cp "$top/.ci/packages" "$tree/.ci/"

# stand_in FILE WORDS FURTHER: writes its arguments to the file WORDS, one a line, then runs the line FURTHER.
stand_in() {
	printf '#!/bin/sh\nprintf "%%s\\n" "$@" >"%s"\n%s\n' "$scratch/$2" "$3" >"$1"
	chmod +x "$1"
}
# shellcheck disable=SC2016
stand_in "$tree/configure" configured ': >config.status; mkdir -p bench; cp "$0.sweep" bench/cistern-sweep'
stand_in "$tree/configure.sweep" swept "exit \"\$(cat '$scratch/status')\""
stand_in "$scratch/bin/make" made :
stand_in "$scratch/bin/apt-get" installed 'exit 1'
printf '#!/bin/sh\necho installed\n' >"$scratch/bin/dpkg-query"
printf '#!/bin/sh\necho 0\n' >"$scratch/bin/id"
chmod +x "$scratch/bin/dpkg-query" "$scratch/bin/id"
echo 0 >"$scratch/status"

boot() {
	rm -rf "$scratch/configured" "$scratch/swept" "$tree/build"
	(cd / && PATH="$scratch/bin:$PATH" "$tree/bootstrap" "$@")
}

# arrives FILE LINES BOOTSTRAP-WORD...: after running it the file has exactly these lines.
arrives() {
	file=$scratch/$1 want=$2
	shift 2
	boot "$@" || echo "status $?"
	printf '%s\n' "$want" | diff - "$file"
}

# refuses STATUS TEXT BOOTSTRAP-WORD...: it ends with the status and a line with the text. A command line
# that is refused is so before anything is run, with nothing but that line.
refuses() {
	want=$1 text=$2
	shift 2
	got=$(boot "$@" 2>&1)
	status=$?
	test "$status" -eq "$want" || echo "status $status, wanted $want"
	case $(printf '%s\n' "$got" | tail -n 1) in
	"bootstrap: "*"$text"*) ;;
	*) echo "said: $got" ;;
	esac
	test "$status" -eq 2 || return 0
	test "$(printf '%s\n' "$got" | wc -l)" -eq 1 || echo "more than a line: $got"
	test ! -e "$scratch/configured" || echo 'configured first'
}

nl='
'
expect 'options go to configure' arrives configured "--quiet${nl}CC=clang${nl}--prefix=/a b" build CC=clang '--prefix=/a b'
expect 'options behind -- go to the sweep' arrives swept "--report${nl}build/sweep${nl}--threads${nl}1,8" \
	sweep -- --threads 1,8
expect 'as they are: blanks, quotes, patterns, empty ones' arrives swept \
	"--report${nl}build/sweep${nl}--elf${nl}a b${nl}it's \"so\"${nl}\$HOME *${nl}${nl}--" \
	sweep -- --elf 'a b' "it's \"so\"" "\$HOME *" '' --
expect 'and do not go to configure' arrives configured "--quiet${nl}--without-peers" sweep --without-peers -- --quick
expect 'the page is in the build folder' arrives swept "--report${nl}other dir/sweep" -C 'other dir' sweep
expect 'without any, the sweep gets the folder of the page only' arrives swept "--report${nl}build/sweep" sweep
for command in build check packages; do
	expect "$command has no options for a sweep" refuses 2 'behind --' "$command" -- --quick
done
expect 'packages for a purpose that there is not' refuses 2 'no package is for cheese' packages cheese
expect 'packages take no options for configure' refuses 2 'no package is for CC=clang' packages CC=clang
expect 'no such command' refuses 2 'no such command: chekc' chekc
expect 'a word that is no option' refuses 2 'elf' sweep elf
expect '-C without a folder' refuses 2 '-C needs' -C
echo 1 >"$scratch/status"
expect 'a sweep that fails' refuses 1 'the sweep failed' sweep
printf '#!/bin/sh\nexit 1\n' >"$scratch/bin/dpkg-query"
expect 'packages that cannot be installed' refuses 1 'apt-get failed; install these and try again: ' build

# missing_for LIST BOOTSTRAP-WORD...: what it wants to install where nothing is, against a list made for the purpose.
missing_for() {
	want=$1
	shift
	printf '%s\n' 'a  build # why' 'b  one' '' '# c one' 'd  two' 'e  foreign' >"$tree/.ci/packages"
	got=$(boot packages "$@" 2>&1 | sed -n 's/^bootstrap: installing //p')
	test "$got" = "$want" || echo "$got"
}
expect 'packages for one purpose' missing_for 'b' one
expect 'packages for several' missing_for 'a d' build two
expect 'packages for all, but none of other machines' missing_for 'a b d'

finish
