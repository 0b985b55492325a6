/* SPDX-License-Identifier: MIT */
/*
 * elf_file.h - the names in an ELF file or in a static archive of them: symbol tables, and the
 * strings of debugging information.
 *
 * Opening lists what there is and leaves the bytes where the file is mapped. Reading a listed table
 * changes nothing, so that many threads may read parts of it at once.
 */
#ifndef BENCH_ELF_FILE_H
#define BENCH_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A symbol table, .symtab or .dynsym. */
struct elf_table {
	void *data; /* libelf's */
	size_t count;
	const char *names; /* its string table */
	size_t names_size;
};

/* The strings of a .debug_str section, a NUL behind each. */
struct elf_strings {
	const char *data;
	size_t size;
};

struct elf_file {
	const char *path;
	struct elf_table *tables; /* in file order */
	size_t ntables;
	struct elf_strings *strings;
	size_t nstrings;
	int fd;
	void *whole, **objects; /* libelf's: the file, and members of an archive */
	size_t nobjects;
};

struct elf_symbol {
	uint64_t address, size;
	const char *name; /* "" where it has none; within the file */
	size_t len;
};

/*
 * Ends the program with one line where the file cannot be read or has no ELF in it at all. Strings
 * of debugging information, which may have to be decompressed, are listed on demand only.
 */
void elf_file_open(struct elf_file *f, const char *path, bool debug_strings);
void elf_file_close(struct elf_file *f);

/* Symbol i of a table of f. Ends the program where the table is damaged. */
void elf_file_symbol(const struct elf_file *f, const struct elf_table *t, size_t i,
		     struct elf_symbol *out);

#endif /* BENCH_ELF_FILE_H */
