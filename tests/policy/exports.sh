#!/bin/sh
# SPDX-License-Identifier: MIT
# What the header declares, the version script lists and the shared library exports is one and the same.
# shellcheck source=tests/policy/tap.sh
. "${srcdir:-.}/tests/policy/tap.sh"

library=lib/.libs/libcistern.so

declared_functions >"$scratch/header"
sed -n '/global:/,/local:/s/^[[:space:]]*\([A-Za-z_0-9*]*\);.*/\1/p' "$top/lib/cistern.map" |
	sort >"$scratch/map"

header_declares_something() {
	test -s "$scratch/header" || echo 'no declaration found in include/cistern.h'
	grep -c '^CISTERN_API ' "$top/include/cistern.h" >"$scratch/marked"
	wc -l <"$scratch/header" | tr -d ' ' | diff "$scratch/marked" - ||
		echo 'a line with CISTERN_API was not understood'
}
expect 'every CISTERN_API line declares a function' header_declares_something
expect 'version script lists what the header declares' \
	differences "$scratch/header" "$scratch/map" include/cistern.h lib/cistern.map

if ! test -e "$library"; then
	skip 'shared library exports what the header declares' 'built without a shared library'
elif ! have nm; then
	skip 'shared library exports what the header declares' 'no nm'
else
	# The version itself is an absolute symbol.
	nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | sort >"$scratch/symbols"
	sed 's/@.*//' "$scratch/symbols" >"$scratch/exported"
	expect 'shared library exports what the header declares' \
		differences "$scratch/header" "$scratch/exported" include/cistern.h $library
	unversioned() {
		grep -v '@@CISTERN_[0-9.]*$' "$scratch/symbols"
		test $? -eq 1
	}
	expect 'every exported symbol carries a version' unversioned
fi

if test -e "$library" && have readelf; then
	may_unload() {
		readelf -d "$library" | grep -q NODELETE || echo "$library is not linked with -z nodelete"
	}
	expect 'shared library refuses to be unloaded' may_unload
	# Else a second copy in the process would answer some of the calls within this one.
	asks_others() {
		readelf -rW "$library" | sed -n 's/.* \(cistern_[a-z_0-9]*\)@.*/\1 is looked up in other objects/p'
	}
	expect 'shared library calls its own functions' asks_others
	# Whatever happens, the program goes on; only debug builds assert.
	may_end_the_process() {
		nm -D --undefined-only "$library" | sed 's/.* //; s/@.*//' |
			grep -xE 'abort|exit|_exit|_Exit|quick_exit|raise|kill|tgkill|__assert.*|errx?|verrx?'
		true
	}
	if grep -q '^#define CISTERN_DEBUG' build-config.h || test -n "${TEST_INSTRUMENT:-}"; then
		skip 'shared library has no way to end the process' 'debug builds and sanitizers have'
	else
		expect 'shared library has no way to end the process' may_end_the_process
	fi
else
	skip 'shared library has no way to end the process' 'no shared library or no readelf'
	skip 'shared library refuses to be unloaded' 'no shared library or no readelf'
	skip 'shared library calls its own functions' 'no shared library or no readelf'
fi
finish
