/* SPDX-License-Identifier: MIT */
#include <cistern.h>
#include <stdio.h>

int main(void)
{
	cistern *names = cistern_create(NULL);

	if (!names) {
		perror("cistern_create");
		return 1;
	}
	const char *a = cistern_intern_cstr(names, "main");
	const char *b = cistern_intern(names, "mainly", 4);
	if (!a || !b) {
		perror("cistern_intern");
		return 1;
	}
	printf("%s: %s, %zu bytes\n", a, a == b ? "one pointer" : "two pointers", cistern_len(a));
	printf("by its id: %s\n", cistern_str(names, cistern_id_of(names, a)));
	printf("exit is %s\n", cistern_find_cstr(names, "exit") ? "known" : "unknown");
	cistern_destroy(names);
	return 0;
}
