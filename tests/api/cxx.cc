// SPDX-License-Identifier: MIT
// cxx.cc - the header in C++17: types, initializers, literals at several kinds of call site. Speaks TAP by
// itself; the behaviour behind it is tested in C.
#include <cistern.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

static_assert(sizeof(cistern_id) == 4);
static_assert(std::is_trivially_copyable_v<cistern_span>);
static_assert(std::is_standard_layout_v<cistern_config>);

static int failed, ran;

static void expect(bool good, const char *what)
{
	std::printf("%sok %d - %s\n", good ? "" : "not ", ++ran, what);
	failed += !good;
}

template <typename T> static const char *in_a_template(T)
{
	return CISTERN_LIT("template");
}

static inline const char *in_an_inline_function()
{
	return CISTERN_LIT("inline");
}

struct holder {
	const char *name;
	holder() : name(CISTERN_LIT("member"))
	{
	}
};

static int gather(const char *str, size_t len, void *arg)
{
	static_cast<std::vector<std::string> *>(arg)->emplace_back(str, len);
	return 0;
}

static std::atomic<const char *> left_behind;

struct leaving {
	~leaving()
	{
		left_behind = CISTERN_LIT("from the end of a thread");
	}
};

static void use_and_end()
{
	thread_local leaving at_the_end;

	(void)&at_the_end;
}

int main()
{
	cistern_config config = CISTERN_CONFIG_INIT;
	config.shards = 2;
	config.value_size = 8;
	cistern *c = cistern_create(&config);
	expect(c != nullptr, "an initialized config makes an interner");

	std::string_view view("string view");
	const char *str = cistern_intern(c, view.data(), view.size());
	expect(str && cistern_len(str) == view.size() && view == str, "a string view is interned");
	expect(cistern_find_cstr(c, "string view") == str, "and found");
	expect(cistern_intern(c, std::string_view().data(), 0) == cistern_intern(c, "", 0),
	       "an empty view is the empty string");

	cistern_span parts[] = {{"string", 6}, {" view", 5}};
	expect(cistern_internv(c, parts, 2) == str, "pieces are the same string");
	expect(cistern_set_value(c, str, 5) == 0 && cistern_value(c, str) == 5, "a value is kept");

	std::vector<std::string> gathered;
	expect(cistern_foreach(c, gather, &gathered) == 0 && gathered.size() == 2, "foreach gathers");

	cistern_stats stats = {};
	stats.size = sizeof(stats);
	expect(cistern_stats_get(c, &stats) == 0 && stats.strings == 2, "statistics count");

	char storage[16];
	cistern_buf buf;
	cistern_buf_init_fixed(&buf, storage, sizeof(storage));
	expect(cistern_buf_addf(&buf, "%s %s", "string", "view") && cistern_buf_intern(c, &buf) == str,
	       "a builder gives the same string");
	cistern_buf_release(&buf);
	cistern_destroy(c);

	expect(in_a_template(1) == in_a_template(2.0), "literals in instances of a template agree");
	expect(in_an_inline_function() == CISTERN_LIT("inline"), "literals in an inline function agree");
	expect(holder().name == holder().name && std::strcmp(holder().name, "member") == 0,
	       "a literal may initialize a member");
	auto lambda = [] { return CISTERN_LIT("lambda"); };
	expect(lambda() == cistern_find_cstr(cistern_default(), "lambda"), "a literal may be in a lambda");
	expect(cistern_len(CISTERN_LIT("a\0b")) == 3, "a literal keeps its NULs");
	std::thread(use_and_end).join();
	expect(left_behind && left_behind == cistern_find_cstr(cistern_default(), "from the end of a thread"),
	       "a destructor of a thread_local object may intern");

	std::printf("1..%d\n", ran);
	return failed != 0;
}
