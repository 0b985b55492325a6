#!/bin/sh
# SPDX-License-Identifier: MIT
# The long part of schedules and histories: the same suites, under twenty times as many.
# shellcheck source=tests/policy/tap.sh
. "${srcdir:-.}/tests/policy/tap.sh"

# Quiet when the suite passes; else all that it says.
longer() {
	env -u TEST_TAP TEST_SCALE="$2" CK_TIMEOUT_MULTIPLIER=20 "tests/stress/$1" >"$scratch/$1.log" 2>&1 ||
		{ cat "$scratch/$1.log" && return 1; }
}

for suite in ordered handed; do
	if test -x "tests/stress/$suite"; then
		expect "$suite under more schedules" longer "$suite" 2000
	else
		skip "$suite under more schedules" 'not in this build'
	fi
done
expect 'longer histories of real threads' longer linear 500
finish
