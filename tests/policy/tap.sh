# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# Sourced by the policy tests. A policy is a command that prints each violation; printing nothing is
# compliance. Run one by hand with: make check TESTS=tests/policy/layers.sh
set -u

top=${srcdir:-.}
cases=0
violated=0
scratch=$(mktemp -d "${TMPDIR:-/tmp}/cistern-policy.XXXXXX") || exit 99
trap 'rm -rf "$scratch"' EXIT

# expect NAME COMMAND...: a case that passes when the command succeeds and prints nothing.
expect() {
	name=$1
	shift
	cases=$((cases + 1))
	if output=$("$@" 2>&1) && test -z "$output"; then
		echo "ok $cases - $name"
	else
		echo "not ok $cases - $name"
		printf '%s\n' "${output:-failed without a word}" | sed 's/^/#   /'
		violated=$((violated + 1))
	fi
}

skip() {
	cases=$((cases + 1))
	echo "ok $cases - $1 # SKIP $2"
}

have() {
	command -v "$1" >/dev/null 2>&1
}

# Every suite ends with this. Under "make check" the driver counts the cases; see support_main.
finish() {
	echo "1..$cases"
	test "$violated" -eq 0 || test -n "${TEST_TAP:-}"
	exit
}

# Leaves out a suite that starts hundreds of measurements: under ThreadSanitizer each takes a second, while it forks
# and clears its shadow of the interner's ranges. What they run is in the suites in C as well, threads and all.
not_under_tsan() {
	case ${TEST_INSTRUMENT:-} in
	*thread*)
		skip "$1" 'a second for each measurement under ThreadSanitizer'
		finish
		;;
	esac
}

# Lines that are in one sorted list only, named after the list that has them.
differences() {
	comm -23 "$1" "$2" | sed "s|\$| is in $3 but not in $4|"
	comm -13 "$1" "$2" | sed "s|\$| is in $4 but not in $3|"
}

# The functions that the public header declares.
declared_functions() {
	sed -n 's/^CISTERN_API [^(]*[ *]\(cistern_[a-z_]*\)(.*/\1/p' "$top/include/cistern.h" | sort
}
