#!/bin/sh
# SPDX-License-Identifier: MIT
# The system's own refusals: errors that strace injects into the library's system calls, each call in turn and
# all from one on, and limits that prlimit sets. The program (traced.c) says whether it got over them.
# shellcheck source=tests/policy/tap.sh
. "${srcdir:-.}/tests/policy/tap.sh"

program=tests/fault/traced
if test -n "${TEST_INSTRUMENT:-}"; then
	skip 'refusals by the system' 'sanitizers make such calls themselves'
	finish
fi

# run COMMAND...: whatever goes wrong after the program has begun is printed. What ends before that is not ours: the
# loader or the C library had too little. Sets begun, and refused to how much was.
run() {
	begun=
	refused=0
	"$@" >"$scratch/out" 2>"$scratch/err"
	status=$?
	grep -q '^begin$' "$scratch/err" || return 0
	begun=yes
	refused=$(sed -n 's/.* interned, \([0-9]*\) refused$/\1/p' "$scratch/out")
	if test "$status" -ne 0 || test -z "$refused"; then
		echo "status $status: $*"
		cat "$scratch/err"
		refused=0
	fi
}

# ---------------------------------------------------------------- errors that are injected

# count NAME OPTION...: how often the program makes this system call: sets first to the first after it has begun, last
# to the last one.
count() {
	name=$1
	shift
	strace -o "$scratch/trace" -e "trace=$name,write" "$program" "$@" >/dev/null 2>&1
	calls=$(awk -v name="$name" '
		/^write\(2, "begin/ { print before + 1 }
		index($0, name "(") == 1 { before++ }
		END { print before + 0 }' "$scratch/trace")
	first=${calls%%[!0-9]*}
	last=${calls##*[!0-9]}
}

# called NAME OPTION...: as count; says so where there is no such call, for then the injections below would do nothing.
called() {
	count "$@"
	test "$last" -ge "$first" || echo "$1 is never called"
}

# What the system calls the mmap of this program: on 32 bits there is an older one, which is another call.
name_of_mmap() {
	strace -o "$scratch/trace" -e trace=memory "$program" >/dev/null 2>&1
	sed -n 's/^\(mmap[0-9]*\)(.*/\1/p' "$scratch/trace" | tail -n 1
}

# inject NAME=error=ERRNO:when=N... -- OPTION...: one run with all these injected.
inject() {
	names=
	injections=
	while test "$1" != --; do
		names=$names,${1%%=*}
		injections="$injections -e inject=${1%%=*}:${1#*=}"
		shift
	done
	shift
	# Injections hold no blanks, so they may be split.
	# shellcheck disable=SC2086
	run strace -o /dev/null -e "trace=${names#,}" $injections "$program" "$@"
}

# each NAME ERROR OPTION...: every call of that name fails in turn, alone, and with all that follow. Sets most to the
# most that was refused in a run.
each() {
	call=$1 error=$2
	shift 2
	called "$call" "$@"
	n=$first most=0
	while test "$n" -le "$last"; do
		inject "$call=error=$error:when=$n" -- "$@"
		inject "$call=error=$error:when=$n+" -- "$@"
		test "$refused" -le "$most" || most=$refused
		n=$((n + 1))
	done
}

# What is asked for and must be had: somebody is told.
needed() {
	each "$@"
	test "$most" -gt 0 || echo "nothing was refused"
}

# What is only a hint: nobody sees it.
hints() {
	each madvise EINVAL hugepages=always
	test "$most" -eq 0 || echo "$most refused"
	for error in ENOSYS ENOMEM EAGAIN EPERM; do
		inject "madvise=error=$error:when=$first+" -- hugepages=always
		test "$refused" -eq 0 || echo "$error: $refused refused"
	done
}

device_serves() {
	called getrandom
	for error in ENOSYS EPERM EAGAIN EIO; do
		inject "getrandom=error=$error:when=$first+" --
		test "$refused" -eq 0 || echo "$error: $refused refused"
	done
}

no_source() {
	called getrandom
	random=$first
	count openat
	inject "getrandom=error=ENOSYS:when=$random+" "openat=error=EMFILE:when=$first+" --
	test "$refused" -gt 0 || echo 'made without random bytes'
}

if ! have strace; then
	skip 'injected errors' 'no strace'
elif ! strace -o /dev/null -e trace=write -e inject=write:error=EIO:when=1000 true 2>/dev/null; then
	skip 'injected errors' 'tracing is not permitted here'
else
	mmap=$(name_of_mmap)
	expect 'mmap gives ENOMEM' needed "$mmap" ENOMEM
	expect 'mmap gives EAGAIN' needed "$mmap" EAGAIN
	expect 'mprotect gives ENOMEM' needed mprotect ENOMEM
	expect 'mprotect gives ENOMEM, with small commits' needed mprotect ENOMEM commit_chunk=4096 shards=2
	expect 'madvise gives EINVAL, ENOSYS, ENOMEM, EAGAIN, EPERM' hints
	expect 'getrandom fails and the device serves' device_serves
	expect 'there are no random bytes' no_source
fi

# ---------------------------------------------------------------- limits

# limit RESOURCE FROM STEP: with more and more of it, until nothing is refused twice.
limit() {
	amount=$2 runs=0 some=0 whole=0
	while test "$whole" -lt 2; do
		run prlimit "--$1=$amount" "$program"
		if test -n "$begun"; then
			runs=$((runs + 1))
			if test "$refused" -eq 0; then whole=$((whole + 1)); else some=$((some + 1)); fi
		fi
		amount=$((amount + $3))
		if test "$amount" -gt $((1 << 28)); then
			echo "still refused with $amount bytes"
			return
		fi
	done
	test "$some" -gt 0 || echo "nothing was refused in $runs runs"
}

if ! have prlimit; then
	skip 'limits' 'no prlimit'
else
	expect 'address space is limited' limit as 2097152 262144
	expect 'writable memory is limited' limit data 262144 16384
fi
finish
