#!/bin/sh
# SPDX-License-Identifier: MIT
# Who may know whom. Includes point downward only; a few headers and calls belong to one file.
# shellcheck source=tests/policy/tap.sh
. "${srcdir:-.}/tests/policy/tap.sh"

cd "$top" || exit 99

# A module sees modules of lower rank, and itself. Modules of one rank do not see each other.
ranks='
compiler 0
order 0
os 0
entry 1
hash 1
lock 1
config 1
range 2
slab 3
table 3
shard 4
interner 5
buf 6
batch 6
compare 6
create 6
default 6
fork 6
iterate 6
stats 6
value 6
'
rank() {
	echo "$ranks" | awk -v module="$1" '$1 == module { print $2 }'
}

module() {
	basename "$1" | sed 's/\.[ch]$//'
}

unranked() {
	for file in lib/*.[ch]; do
		test -n "$(rank "$(module "$file")")" || echo "$file has no rank in tests/policy/layers.sh"
	done
}
expect 'every module of lib/ has a rank' unranked

upward() {
	for file in lib/*.[ch]; do
		self=$(module "$file")
		sed -n 's/^#[[:space:]]*include "\(.*\)\.h".*/\1/p' "$file" | while read -r other; do
			test "$other" = cistern || test "$other" = "$self" && continue
			test -e "lib/$other.h" || echo "$file includes $other.h, which is not in lib/"
			test "$(rank "$other")" -lt "$(rank "$self")" 2>/dev/null || echo "$file includes $other.h"
		done
	done
}
expect 'includes in lib/ point downward' upward

# forbid REGEX FILE...: lines of code that match. Comments may mention anything.
forbid() {
	regex=$1
	shift
	awk -v regex="$regex" '
		FNR == 1 { comment = 0 }
		{
			line = $0
			gsub(/\/\*([^*]|\*[^\/])*\*\//, "", line)
			if (comment && !sub(/^.*\*\//, "", line)) next
			comment = sub(/\/\*.*/, "", line)
			if (line ~ regex) print FILENAME ":" FNR ": " $0
		}' "$@"
}

# Every file of lib/ but those named.
lib_without() {
	for file in lib/*.[ch]; do
		case " $* " in
		*" $file "*) ;;
		*) echo "$file" ;;
		esac
	done
}

# File names hold no blanks, so they may be split.
# shellcheck disable=SC2046
{
	expect 'table knows no lock' forbid '"lock\.h"|[^a-z_]lock_[a-z]+ *\(' lib/table.c lib/table.h
	expect 'range knows no shard' forbid 'shard' lib/range.c lib/range.h
	expect 'interner touches no slab' forbid '"slab\.h"|[^a-z_]slab_[a-z_]+ *\(' lib/interner.c lib/batch.c
	expect 'only lock.c sees Concurrency Kit' \
		forbid '<ck_|[^a-z_]ck_[a-z]+' $(lib_without lib/lock.c)
	expect 'only hash.[ch] see xxHash' \
		forbid 'xxhash\.h|XXH[0-9]*_' $(lib_without lib/hash.c lib/hash.h)
	expect 'only os.c asks the system for memory' \
		forbid '(^|[^a-z_])(mmap|munmap|mprotect|madvise|mremap) *\(|sys/mman\.h' $(lib_without lib/os.c)
	expect 'only os.c reads the environment' \
		forbid '(^|[^a-z_])(secure_)?getenv *\(' $(lib_without lib/os.c)
	expect 'atomics name their order and are no bare fences' \
		forbid 'atomic_(load|store|exchange|fetch_[a-z]+|compare_exchange_[a-z]+) *\(|atomic_(thread|signal)_fence' \
		lib/*.[ch]
	expect 'orders that publish have their names in order.h' \
		forbid 'memory_order_(consume|acquire|release|acq_rel|seq_cst)' $(lib_without lib/order.h)
	expect 'public header includes standard headers only' \
		forbid '^#[ \t]*include' $(sed -E \
			'/^#include <std(bool|def|int|io)\.h>$/d' include/cistern.h >"$scratch/cistern.h" &&
			echo "$scratch/cistern.h")
}

outsiders() {
	find tests/api tests/stress doc/examples -name '*.[ch]' 2>/dev/null
}
internal=$(for header in lib/*.h; do module "$header"; done | tr '\n' '|' | sed 's/|$//')
# shellcheck disable=SC2046
expect 'API tests, stress tests and examples include no header of lib/' \
	forbid "^#[ \\t]*include \"($internal)\\.h\"" /dev/null $(outsiders)
finish
