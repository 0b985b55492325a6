#!/bin/sh
# SPDX-License-Identifier: MIT
# What "make install" leaves is enough: a program is built through pkg-config and run, shared and static.
# shellcheck source=tests/policy/tap.sh
. "${srcdir:-.}/tests/policy/tap.sh"

root=$scratch/root
fresh_make() {
	# Jobs of the make that runs this test are not for the ones started here.
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "${MAKE:-make}" -s "$@"
}
installs() {
	fresh_make install DESTDIR="$root" >"$scratch/log" 2>&1 || cat "$scratch/log"
}
expect 'make install takes DESTDIR' installs
libdir=$root$TEST_LIBDIR

cat >"$scratch/program.c" <<'C'
#include <cistern.h>
#include <stdio.h>
#include <string.h>

#ifdef LOCALIZED
/* Names that the library uses inside as well. A static program may have its own. */
int lock_init(void);
int lock_init(void) { return 1; }
int os_reserve(void);
int os_reserve(void) { return 1; }
#endif

int main(void)
{
	cistern *c = cistern_create(NULL);
	const char *a = cistern_intern_cstr(c, "hello");

	if (!a || cistern_intern(c, "hello!", 5) != a || strcmp(a, "hello") != 0)
		return 1;
	puts(cistern_version());
	cistern_destroy(c);
	return 0;
}
C

# A sysroot, because the file names the folders that are meant, not those below DESTDIR. The system's own
# folders are wanted too: below DESTDIR they are not the system's.
configured() {
	env PKG_CONFIG_LIBDIR="$libdir/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$root" \
		PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 \
		pkg-config "$@" cistern
}

# The options are several words each.
# shellcheck disable=SC2046,SC2086
builds() {
	output=$1 libraries=$2
	${TEST_CC:-cc} ${TEST_INSTRUMENT:-} ${TEST_LOCALIZE:+-DLOCALIZED} $(configured --cflags) \
		"$scratch/program.c" -o "$scratch/$output" $libraries
}

runs() {
	got=$(LD_LIBRARY_PATH=$libdir "$scratch/$1") || echo "status $?"
	want=$(configured --modversion)
	test "$got" = "$want" || echo "printed '$got', wanted '$want'"
}

needs() {
	readelf -d "$scratch/$1" | sed -n 's/.*(NEEDED).*\[\(lib[a-z]*\).*/\1/p' | grep -vxE "$2"
	true
}

if have pkg-config; then
	if test -e "$libdir/libcistern.so"; then
		expect 'a shared program is built through pkg-config' builds shared "$(configured --libs)"
		expect 'and runs' runs shared
	else
		skip 'a shared program is built through pkg-config' 'built without a shared library'
	fi
	# A folder with nothing but the archive, so that the linker cannot take the shared library.
	mkdir "$root/archive"
	if cp "$libdir/libcistern.a" "$root/archive" 2>/dev/null; then
		expect 'a static program is built through pkg-config' \
			builds static "$(configured --static --libs --define-variable=libdir=/archive)"
		expect 'and runs' runs static
		if test -z "${TEST_INSTRUMENT:-}" && have readelf; then
			expect 'and needs the C library only' needs static 'libc|libpthread|libatomic'
		else
			skip 'and needs the C library only' 'sanitizers bring libraries, or no readelf'
		fi
		leaked() {
			nm -g --defined-only "$libdir/libcistern.a" | awk 'NF == 3 { print $3 }' |
				grep -v '^cistern_'
			true
		}
		if test -n "${TEST_LOCALIZE:-}" && have nm; then
			expect 'the archive defines no name outside cistern_' leaked
		else
			skip 'the archive defines no name outside cistern_' 'no objcopy, no nm or sanitizers'
		fi
	else
		skip 'a static program is built through pkg-config' 'built without a static library'
	fi
else
	skip 'programs are built through pkg-config' 'no pkg-config'
fi

pages() {
	for function in $(declared_functions); do
		page=$root$TEST_MANDIR/man3/$function.3
		if ! test -e "$page"; then
			echo "man 3 $function: no page installed"
		elif have man && ! MANPATH=$root$TEST_MANDIR man -w 3 "$function" >/dev/null 2>&1; then
			echo "man 3 $function: man does not find it"
		fi
	done
}
expect 'man 3 finds a page for every function' pages

uninstalls() {
	rm -rf "$root/archive"
	fresh_make uninstall DESTDIR="$root" >/dev/null 2>&1 || echo 'make uninstall failed'
	find "$root" ! -type d
}
expect 'make uninstall leaves no file' uninstalls
finish
