#!/bin/sh
# SPDX-License-Identifier: MIT
# Nothing is forgotten: every file in the source folders is in a makefile, and so in "make dist".
# shellcheck source=tests/policy/tap.sh
. "${srcdir:-.}/tests/policy/tap.sh"

# Jobs of the make that runs this test are not for the one started here.
env -u MAKEFLAGS -u MFLAGS "${MAKE:-make}" -s print-distfiles >"$scratch/raw" || exit 99
sed "s|^$top/||" "$scratch/raw" | sort -u >"$scratch/listed"

unlisted() {
	(cd "$top" && find bench doc include lib m4 tests -type f \
		! -name '*~' ! -name '.*' ! -name '*.orig' ! -name '*.rej' ! -name '*.pyc') |
		sort | comm -23 - "$scratch/listed" | sed 's/$/ is in no makefile/'
}
expect 'every file in the source folders is distributed' unlisted

missing() {
	while read -r file; do
		test -e "$top/$file" || test -e "$file" || echo "$file does not exist"
	done <"$scratch/listed"
}
expect 'every file that is distributed exists' missing

# Folders of the machine that a file was written on are of no use on any other.
machine_paths() {
	while read -r file; do
		case $file in
		config-aux/* | configure | aclocal.m4 | Makefile.in | m4/l*.m4) ;; # not ours
		*) grep -nE '(^|[^A-Za-z0-9_.)}])/(home|root|work|Users)/' "$top/$file" /dev/null ;;
		esac
	done <"$scratch/listed"
	true
}
expect 'no file names a folder of one machine' machine_paths

long_modules() {
	(cd "$top" && wc -l lib/*.[ch]) | awk '$2 != "total" && $1 > 600 { print "# " $2 " has " $1 " lines: look again" }'
}
long_modules # a reason to look, not a failure
# A rule for an object takes the place of the one that automake writes, whose recipe then falls to the target before it:
# the object is not compiled anew when its source changes. Name the variable of objects, as in $(..._OBJECTS): header.
object_rules() {
	find "$top" \( -name Makefile.am -o -name Makefile.inc \) -exec grep -nE '^[^#:=$]*\.l?o[[:space:]]*:' {} +
	:
}
expect 'no makefile replaces a rule that compiles' object_rules

finish
