# SPDX-License-Identifier: MIT
# Feature checks of our own. What is merely a function, a header or a declaration is asked for with
# the plain autoconf macros in configure.ac.

# CISTERN_LIB_ATOMIC
# 64-bit atomics are calls into libatomic on some 32-bit machines. Sets ATOMIC_LIBS, which static users
# of the library need as well.
AC_DEFUN([CISTERN_LIB_ATOMIC], [
	AC_CACHE_CHECK([what 64-bit atomics have to be linked with], [cistern_cv_lib_atomic], [
		cistern_cv_lib_atomic=missing
		cistern_save_LIBS=$LIBS
		for cistern_lib in '' -latomic; do
			LIBS="$cistern_lib $cistern_save_LIBS"
			AC_LINK_IFELSE([AC_LANG_PROGRAM([[
				#include <stdatomic.h>
				#include <stdint.h>
				static _Atomic uint64_t word;
			]], [[
				uint64_t expected = 1;
				atomic_fetch_add(&word, 1);
				return !atomic_compare_exchange_strong(&word, &expected, 2);
			]])], [cistern_cv_lib_atomic=${cistern_lib:-nothing}; break])
		done
		LIBS=$cistern_save_LIBS
	])
	AS_CASE([$cistern_cv_lib_atomic],
		[missing], [AC_MSG_ERROR([no 64-bit atomics: install libatomic for this compiler])],
		[nothing], [ATOMIC_LIBS=],
		[ATOMIC_LIBS=$cistern_cv_lib_atomic])
	AC_SUBST([ATOMIC_LIBS])
])

# CISTERN_LD_VERSION_SCRIPT
# Whether the linker takes GNU version scripts. Asked with a real one: some linkers accept the option
# and ignore the file.
AC_DEFUN([CISTERN_LD_VERSION_SCRIPT], [
	AC_CACHE_CHECK([whether the linker takes version scripts], [cistern_cv_version_script], [
		cistern_cv_version_script=no
		cistern_save_LDFLAGS=$LDFLAGS
		echo 'CONFTEST_1 { global: shown; local: *; };' >conftest.map
		LDFLAGS="$LDFLAGS -shared -fPIC -Wl,--version-script=conftest.map"
		AC_LINK_IFELSE([AC_LANG_SOURCE([[int shown(void); int shown(void) { return 0; }]])], [
			echo 'CONFTEST_1 { not a script' >conftest.map
			AC_LINK_IFELSE([AC_LANG_SOURCE([[int shown(void); int shown(void) { return 0; }]])],
				[], [cistern_cv_version_script=yes])
		])
		LDFLAGS=$cistern_save_LDFLAGS
		rm -f conftest.map
	])
])

# CISTERN_XXH3
# xxHash from 0.8.0 on has XXH3 with a caller's secret. It is compiled into lib/hash.c
# (XXH_INLINE_ALL), so the header is all that is needed and nothing is linked.
AC_DEFUN([CISTERN_XXH3], [
	AC_CACHE_CHECK([for XXH3 with a secret in xxhash.h], [cistern_cv_xxh3], [
		AC_LINK_IFELSE([AC_LANG_PROGRAM([[
			#define XXH_INLINE_ALL
			#include <xxhash.h>
		]], [[
			static char secret[192];
			return (int)XXH3_64bits_withSecret("", 0, secret, sizeof(secret));
		]])], [cistern_cv_xxh3=yes], [cistern_cv_xxh3=no])
	])
])

# CISTERN_CK_SPINLOCK
# Concurrency Kit's FAS spinlock with back-off. Header-only for what lib/lock.c uses: nothing is linked.
AC_DEFUN([CISTERN_CK_SPINLOCK], [
	AC_CACHE_CHECK([for ck_spinlock_fas in ck_spinlock.h], [cistern_cv_ck], [
		AC_LINK_IFELSE([AC_LANG_PROGRAM([[
			#include <ck_backoff.h>
			#include <ck_spinlock.h>
		]], [[
			ck_spinlock_fas_t lock = CK_SPINLOCK_FAS_INITIALIZER;
			ck_spinlock_fas_lock_eb(&lock);
			ck_spinlock_fas_unlock(&lock);
		]])], [cistern_cv_ck=yes], [cistern_cv_ck=no])
	])
])

# CISTERN_PKG(PREFIX, MODULES, FUNCTION)
# PKG_CHECK_MODULES, and whether the compiler can link FUNCTION with what came out: pkg-config knows the
# libraries of the machine, not those of "gcc -m32". Sets cistern_have_PREFIX to yes or no.
AC_DEFUN([CISTERN_PKG], [
	PKG_CHECK_MODULES([$1], [$2], [cistern_have_$1=yes], [cistern_have_$1=no])
	AS_IF([test "$cistern_have_$1" = yes], [
		AC_MSG_CHECKING([whether $CC links with $1])
		cistern_save_LIBS=$LIBS
		LIBS="$$1_LIBS $LIBS"
		AC_LINK_IFELSE([AC_LANG_CALL([], [$3])], [], [cistern_have_$1=no])
		LIBS=$cistern_save_LIBS
		AC_MSG_RESULT([$cistern_have_$1])
	])
])
