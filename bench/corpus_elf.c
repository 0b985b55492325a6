/* SPDX-License-Identifier: MIT */
/*
 * corpus_elf.c - symbol names of ELF files and of static archives.
 *
 * The names are taken in file order from every .symtab and .dynsym, defined and undefined ones
 * alike: that is what a debugger or a linker interns. Unnamed symbols are left out.
 */
#include "corpus.h"

#include "cli.h"
#include "elf_file.h"

void corpus_read_elf(struct corpus *c, const char *path, uint64_t max)
{
	struct elf_file file;
	uint64_t taken = 0;
	elf_file_open(&file, path, false);
	for (size_t t = 0; t < file.ntables; t++) {
		const struct elf_table *table = &file.tables[t];
		for (size_t i = 0; i < table->count && !(max && taken >= max); i++) {
			struct elf_symbol symbol;
			elf_file_symbol(&file, table, i, &symbol);
			if (symbol.len == 0)
				continue;
			corpus_add(c, symbol.name, symbol.len);
			taken++;
		}
	}
	elf_file_close(&file);
	if (taken == 0)
		cli_fail("%s: has no symbols", path);
}
