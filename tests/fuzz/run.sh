#!/bin/sh
# SPDX-License-Identifier: MIT
# Lets a fuzzer work on each target for a while, from its seeds and from what earlier runs in this build folder found:
#
#   run.sh SECONDS TARGET...      TARGET is tests/fuzz/NAME, and TARGET_fuzzer is beside it
#
# libFuzzer keeps what it finds in TARGET.corpus, AFL++ in TARGET.afl. What crashes a target stays in TARGET-crash-* (or
# in TARGET.afl/default/crashes): run it with "TARGET --run FILE", and add it to NAME.seeds once it is mended.
# "make fuzz" calls this.
set -u

seconds=$1
shift
status=0

# Options: no input longer than a page, which nothing here needs, and not for long only short ones; half a minute for the
# slowest.
libfuzzer() {
	mkdir -p "$1.corpus" && "$1" --unpack "$1.corpus" &&
		"$1_fuzzer" -max_total_time="$seconds" -max_len=4096 -len_control=10 -timeout=30 -rss_limit_mb=4096 \
			-print_final_stats=1 -artifact_prefix="$1-" "$1.corpus" >"$1.log" 2>&1
}

# AFL++ wants a terminal or to be told that there is none, and a machine set up for it or to be told not to care.
aflplusplus() {
	"$1" --unpack "$1.corpus" &&
		AFL_NO_UI=1 AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_AUTORESUME=1 AFL_NO_AFFINITY=1 \
			afl-fuzz -V "$seconds" -t 30000+ -m none -i "$1.corpus" -o "$1.afl" -- "$1_fuzzer" >"$1.log" 2>&1 &&
		! find "$1.afl/default/crashes" "$1.afl/default/hangs" -name 'id:*' | grep .
}

# By what the fuzzer was built with.
kind() {
	if grep -q __AFL_SHM_ID "$1"; then
		echo aflplusplus
	else
		echo libfuzzer
	fi
}

for target in "$@"; do
	if "$(kind "${target}_fuzzer")" "$target"; then
		cat "$target.log" "$target.afl/default/fuzzer_stats" 2>/dev/null |
			sed -nE "s|^(stat::number_of_executed_units\|execs_done) *: *|$target: inputs without a fault: |p"
	else
		status=1
		tail -n 40 "$target.log"
		echo "$target: a fault, or no fuzzer; see $target.log"
	fi
done
exit $status
