# SPDX-License-Identifier: MIT
# The interners and sets of others that the benches compare with. Each is one call in CISTERN_PEERS and one file
# bench/engine_*.c or .cc under its conditional in bench/Makefile.inc.

# CISTERN_PEERS
# All of them. Sets the conditionals HAVE_NAME and HAVE_CXX_PEERS, PEERS_CPPFLAGS and PEERS_LIBS, and cistern_peers to
# lines for the summary. Where no C++ compiler works, those in C++ are left out.
AC_DEFUN([CISTERN_PEERS], [
	AC_ARG_WITH([peers],
		[AS_HELP_STRING([--without-peers], [benches without the interners of others, even where they are found])],
		[], [with_peers=yes])
	PEERS_CPPFLAGS= PEERS_LIBS= cistern_peers= cistern_cxx_peers=no
	# Sanitizers cannot see into other people's binaries and do not allow what some of their headers do. LLVM's part is
	# all in headers and clean: it stands for the engines in C++ there.
	cistern_with_binaries=$with_peers
	AS_IF([test "$enable_sanitizers" != no], [cistern_with_binaries=no])

	AS_IF([test "$with_peers" != no && test "$cistern_cv_cxx" = yes], [CISTERN_LLVM], [cistern_cv_llvm=no])
	AM_CONDITIONAL([HAVE_LLVM], [test "$cistern_cv_llvm" != no])
	CISTERN_PEER([CK_HS], [ck_hs (libck)], [ck], [], [C], [[#include <ck_hs.h>]],
		[[ck_hs_t set; return (int)ck_hs_count(&set);]])
	CISTERN_PEER([GLIB], [GLib], [glib-2.0], [], [C], [[#include <glib.h>]],
		[[return !g_intern_string("a");]])
	CISTERN_PEER([URCU], [userspace-rcu], [liburcu-bp liburcu-cds], [], [C],
		[[#include <urcu/urcu-bp.h>
		#include <urcu/rculfhash.h>]],
		[[return !cds_lfht_new_flavor(1, 1, 0, 0, &urcu_bp_flavor, 0);]])
	CISTERN_PEER([TBB], [oneTBB], [tbb], [], [C++],
		[[#include <oneapi/tbb/concurrent_hash_map.h>
		#include <oneapi/tbb/concurrent_unordered_set.h>]],
		[[tbb::concurrent_unordered_set<int> set; tbb::concurrent_hash_map<int, char> map;
		return set.insert(1).second && map.size();]])
	CISTERN_PEER([OIIO], [OpenImageIO], [OpenImageIO], [-lOpenImageIO_Util], [C++],
		[[#include <OpenImageIO/strutil.h>
		#include <OpenImageIO/ustring.h>]],
		[[return OIIO::ustring::from_hash(OIIO::Strutil::strhash("a")).c_str() != nullptr;]])
	CISTERN_PEER([ABSL], [Abseil], [absl_flat_hash_set], [], [C++],
		[[#include <absl/container/flat_hash_set.h>]],
		[[absl::flat_hash_set<int> set; return set.insert(1).second;]])
	CISTERN_PEER([BOOST_FLAT], [Boost 1.84], [], [], [C++],
		[[#include <boost/unordered/concurrent_flat_set.hpp>
		#include <boost/version.hpp>
		static_assert(BOOST_VERSION >= 108400, "");]],
		[[boost::concurrent_flat_set<int> set; return set.insert(1);]])
	AC_SUBST([PEERS_CPPFLAGS])
	AC_SUBST([PEERS_LIBS])
	AM_CONDITIONAL([HAVE_CXX_PEERS], [test $cistern_cxx_peers = yes])
])

# CISTERN_PEER(PREFIX, NAME, MODULES, LIBS, LANGUAGE, INCLUDES, BODY)
# One of them. It is taken where pkg-config knows MODULES (none: headers are all there is), and a
# program of INCLUDES and BODY links, with LIBS in place of pkg-config's where they are given. Defines the macros
# HAVE_PREFIX and PEER_VERSION_PREFIX. The headers are not ours to warn about.
AC_DEFUN([CISTERN_PEER], [
	cistern_have_$1=no
	AS_IF([test "$cistern_with_binaries" != no && m4_if([$5], [C++], [test "$cistern_cv_cxx" = yes], [:])], [
		m4_ifval([$3],
			[PKG_CHECK_MODULES([$1], [$3], [cistern_have_$1=`$PKG_CONFIG --modversion "$3" | sed q`], [:])],
			[cistern_have_$1=yes])
	])
	AS_IF([test "$cistern_have_$1" != no], [
		m4_ifval([$4], [$1_LIBS="`$PKG_CONFIG --libs-only-L "$3"` $4"])
		AC_MSG_CHECKING([whether a program links with $2])
		AC_LANG_PUSH([$5])
		cistern_save_CPPFLAGS=$CPPFLAGS cistern_save_LIBS=$LIBS cistern_save_CXXFLAGS=$CXXFLAGS
		CXXFLAGS="$CXXFLAGS -std=c++17"
		CPPFLAGS="$CPPFLAGS $$1_CFLAGS" LIBS="$$1_LIBS $LIBS"
		AC_LINK_IFELSE([AC_LANG_PROGRAM([$6], [$7])], [], [cistern_have_$1=no])
		CPPFLAGS=$cistern_save_CPPFLAGS LIBS=$cistern_save_LIBS CXXFLAGS=$cistern_save_CXXFLAGS
		AC_LANG_POP([$5])
		AC_MSG_RESULT([$cistern_have_$1])
	])
	AS_IF([test "$cistern_have_$1" != no], [
		AC_DEFINE([HAVE_$1], [1], [Define when the benches can compare with $2.])
		AC_DEFINE_UNQUOTED([PEER_VERSION_$1], ["$cistern_have_$1"], [Version of $2 that was found.])
		PEERS_CPPFLAGS="$PEERS_CPPFLAGS `AS_ECHO([" $$1_CFLAGS"]) | sed 's/ -I/ -isystem /g'`"
		PEERS_LIBS="$PEERS_LIBS $$1_LIBS"
		m4_if([$5], [C++], [cistern_cxx_peers=yes])
	])
	cistern_peers="$cistern_peers
  AS_ESCAPE([m4_format([%-19s], [$2])]) $cistern_have_$1"
	AM_CONDITIONAL([HAVE_$1], [test "$cistern_have_$1" != no])
])

# CISTERN_LLVM
# LLVM's StringMap, the peer that the benches take as the baseline. Like CISTERN_PEER, but through llvm-config: sets
# cistern_cv_llvm to the version or "no", and adds to PEERS_CPPFLAGS and PEERS_LIBS. The static library comes first: calls through a PLT would
# burden the peer. To be called where C++ is known to work.
AC_DEFUN([CISTERN_LLVM], [
	AC_ARG_VAR([LLVM_CONFIG], [llvm-config program of the LLVM to compare with])
	AC_CHECK_PROGS([LLVM_CONFIG], [llvm-config-19 llvm-config-18 llvm-config-17 llvm-config-16 llvm-config-15 llvm-config-14 llvm-config])
	AC_CACHE_CHECK([for LLVM's StringMap], [cistern_cv_llvm], [
		cistern_cv_llvm=no
		AS_IF([test -n "$LLVM_CONFIG"], [
			LLVM_CPPFLAGS="-isystem `$LLVM_CONFIG --includedir`"
			cistern_save_CPPFLAGS=$CPPFLAGS cistern_save_LIBS=$LIBS
			cistern_save_CXXFLAGS=$CXXFLAGS
			CPPFLAGS="$CPPFLAGS $LLVM_CPPFLAGS" CXXFLAGS="$CXXFLAGS -std=c++17"
			AC_LANG_PUSH([C++])
			cistern_libdir=-L`$LLVM_CONFIG --libdir`
			cistern_archives="$cistern_libdir -lLLVMSupport -lLLVMDemangle"
			# Not --system-libs: it names libraries of parts that StringMap does not touch.
			for LLVM_LIBS in "$cistern_archives" "$cistern_archives -ltinfo -lz" \
					"$cistern_libdir `$LLVM_CONFIG --link-shared --libs 2>/dev/null`"; do
				LIBS="$LLVM_LIBS $cistern_save_LIBS"
				AC_LINK_IFELSE([AC_LANG_PROGRAM([[
					#include <llvm/ADT/StringMap.h>
					#include <llvm/Support/Allocator.h>
				]], [[
					llvm::StringMap<int, llvm::BumpPtrAllocator> map;
					return map.insert({"a", 1}).second ? 0 : 1;
				]])], [cistern_cv_llvm=`$LLVM_CONFIG --version`; break])
			done
			AC_LANG_POP([C++])
			CPPFLAGS=$cistern_save_CPPFLAGS LIBS=$cistern_save_LIBS
			CXXFLAGS=$cistern_save_CXXFLAGS
		])
		cistern_cv_llvm_cppflags=$LLVM_CPPFLAGS cistern_cv_llvm_libs=$LLVM_LIBS
	])
	AS_IF([test "$cistern_cv_llvm" != no], [
		AC_DEFINE([HAVE_LLVM], [1], [Define when the benches can compare with LLVM's StringMap.])
		PEERS_CPPFLAGS="$PEERS_CPPFLAGS $cistern_cv_llvm_cppflags"
		PEERS_LIBS="$PEERS_LIBS $cistern_cv_llvm_libs"
		cistern_cxx_peers=yes
	])
])
