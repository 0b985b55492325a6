#!/bin/sh
# SPDX-License-Identifier: MIT
# The public header in every language and compiler that is here, and its version.
# shellcheck source=tests/policy/tap.sh
. "${srcdir:-.}/tests/policy/tap.sh"

cat >"$scratch/all.c" <<'C'
#include <cistern.h>
#include <cistern.h>

int use(FILE *f);
int use(FILE *f)
{
	cistern_config config = CISTERN_CONFIG_INIT;
	cistern *c = cistern_create(&config);
	cistern_span span = {"a", 1};
	const char *text = cistern_intern(c, span.data, span.len);
	const char *literal = CISTERN_LIT("lit" "eral");

	if (cistern_stats_print(c, f, CISTERN_FORMAT_JSON) != 0 || config.seed != CISTERN_SEED_RANDOM)
		return 1;
	cistern_destroy(c);
	return text == literal;
}
C
cp "$scratch/all.c" "$scratch/all.cc"

strict="-pedantic -Wall -Wextra -Wshadow -Werror -fsyntax-only -I$top/include"
# Compilers may come with options of their own ("gcc -m32"), so these are split.
# shellcheck disable=SC2086
{
	for cc in "${TEST_CC:-cc}" gcc clang; do
		if have "${cc%% *}"; then
			expect "cistern.h is C11 -pedantic for $cc" $cc -std=c11 $strict -Wstrict-prototypes "$scratch/all.c"
		else
			skip "cistern.h is C11 -pedantic for $cc" "no $cc"
		fi
	done
	for cxx in "${TEST_CXX:-c++}" g++ clang++; do
		if have "${cxx%% *}"; then
			expect "cistern.h is C++17 -pedantic for $cxx" $cxx -std=c++17 $strict "$scratch/all.cc"
		else
			skip "cistern.h is C++17 -pedantic for $cxx" "no $cxx"
		fi
	done
	for header in "$top"/lib/*.h; do
		echo "#include \"$(basename "$header")\"" >"$scratch/alone.c"
		expect "$(basename "$header") compiles alone" ${TEST_CC:-cc} ${TEST_CFLAGS:-} -fsyntax-only \
			-include build-config.h -I. -I"$top/include" -I"$top/lib" "$scratch/alone.c"
	done
}

version_differs() {
	for part in MAJOR MINOR PATCH; do
		sed -n "s/^#define CISTERN_VERSION_$part //p" "$top/include/cistern.h"
	done | paste -s -d . | while read -r version; do
		grep -q "^#define PACKAGE_VERSION \"$version\"\$" build-config.h ||
			echo "include/cistern.h says $version, configure.ac another version"
	done
}
expect 'cistern.h has the version of the package' version_differs
finish
