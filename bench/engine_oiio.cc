// SPDX-License-Identifier: MIT
//
// engine_oiio.cc - OpenImageIO's ustring: one table a process in 4,096 locked parts, with memory of
// its own.
//
// There is nothing to set. Interning is ustring::make_unique, which is what its constructors call.
// A look-up that does not intern is ustring::from_hash with the hash that ustring uses, as OSL
// does; it gives the first string with that hash, so that the bytes are compared here. A NUL cuts
// strings short (2.4.7).
//
// The table cannot be emptied. Strings are counted from create on; the empty one is there from the
// start, so that this file remembers whether it was asked for. Only libOpenImageIO_Util is linked:
// the rest of OpenImageIO reads images, and brings some hundred libraries.
#include "engine_loop.h"

#include <OpenImageIO/strutil.h>
#include <OpenImageIO/ustring.h>

#include <atomic>
#include <cstring>

namespace
{

using OIIO::string_view;
using OIIO::ustring;

struct Table {
	size_t before;
	std::atomic<bool> empty; // the empty string was interned
};

__attribute__((noinline)) const char *findString(Table *t, const char *s, size_t len)
{
	if (len == 0 && !t->empty.load(std::memory_order_relaxed))
		return nullptr;
	const ustring found = ustring::from_hash(OIIO::Strutil::strhash(string_view(s, len)));
	const bool same =
	    found.c_str() && found.size() == len && memcmp(found.c_str(), s, len) == 0;
	return same ? found.c_str() : nullptr;
}

__attribute__((noinline)) const char *internString(Table *t, const char *s, size_t len)
{
	if (len == 0)
		t->empty.store(true, std::memory_order_relaxed);
	return ustring::make_unique(string_view(s, len));
}

ENGINE_LOOPS(oiio, Table, internString, findString)

void *create(const cistern_config *)
{
	static Table table;
	table.before = ustring::total_ustrings();
	table.empty = false;
	return &table;
}

// There is one, and it stays.
void destroy(void *)
{
}

void stats(void *e, cistern_stats *out)
{
	engine_stats_begin(out, 1);
	const Table *t = static_cast<Table *>(e);
	out->strings = ustring::total_ustrings() - t->before + t->empty;
}

} // namespace

extern "C" const struct engine engine_oiio = {
    "oiio",
    "OpenImageIO " PEER_VERSION_OIIO " ustring: one table in locked parts, farmhash",
    "",
    nullptr,
    create,
    destroy,
    oiio_intern_loop,
    oiio_find_loop,
    nullptr,
    nullptr,
    stats,
    true,
};
