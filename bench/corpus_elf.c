/* SPDX-License-Identifier: MIT */
/*
 * corpus_elf.c - symbol names of ELF files and of static archives, through libelf.
 *
 * The names are taken in file order from every .symtab and .dynsym, defined and undefined ones
 * alike: that is what a debugger or a linker interns. Unnamed symbols are left out. Members of an
 * archive that are no ELF files (its index, text) are passed over; a file that has no ELF in it at
 * all is refused.
 */
#include "corpus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#ifdef HAVE_LIBELF

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

struct reader {
	struct corpus *c;
	const char *path;
	uint64_t max;
	uint64_t taken;
};

static bool full(const struct reader *r)
{
	return r->max && r->taken >= r->max;
}

static void read_section(struct reader *r, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	if (!data || header->sh_entsize == 0)
		return;
	size_t count = (size_t)(header->sh_size / header->sh_entsize);
	for (size_t i = 0; i < count && !full(r); i++) {
		GElf_Sym symbol;
		if (!gelf_getsym(data, (int)i, &symbol))
			cli_fail("%s: damaged symbol table: %s", r->path, elf_errmsg(-1));
		if (symbol.st_name == 0)
			continue;
		const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
		if (!name)
			cli_fail("%s: damaged symbol table: %s", r->path, elf_errmsg(-1));
		if (!*name)
			continue;
		corpus_add(r->c, name, strlen(name));
		r->taken++;
	}
}

static void read_object(struct reader *r, Elf *elf)
{
	Elf_Scn *section = NULL;
	while (!full(r) && (section = elf_nextscn(elf, section)) != NULL) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header))
			cli_fail("%s: damaged section header: %s", r->path, elf_errmsg(-1));
		if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
			read_section(r, elf, section, &header);
	}
}

/*
 * Whether a member is all there. libelf cuts the size of the last one down to what is left of the
 * file, so the size is read from the header once more: ten digits, twelve bytes before the member
 * begins.
 */
static bool member_complete(int fd, Elf *member, off_t size)
{
	char digits[11] = "";
	off_t base = (off_t)elf_getbase(member);
	if (pread(fd, digits, 10, base - 12) != 10)
		return false;
	return base + (off_t)strtoll(digits, NULL, 10) <= size;
}

/* Reads the members. False where none of them is an ELF file. */
static bool read_archive(struct reader *r, int fd, Elf *file)
{
	Elf_Cmd command = ELF_C_READ_MMAP;
	Elf *member;
	bool found = false;
	off_t size = lseek(fd, 0, SEEK_END);
	while (!full(r) && (member = elf_begin(fd, command, file)) != NULL) {
		if (!member_complete(fd, member, size))
			cli_fail("%s: the archive is cut off", r->path);
		if (elf_kind(member) == ELF_K_ELF) {
			found = true;
			read_object(r, member);
		}
		command = elf_next(member);
		elf_end(member);
	}
	return found;
}

void corpus_read_elf(struct corpus *c, const char *path, uint64_t max)
{
	struct reader r = {.c = c, .path = path, .max = max};
	if (elf_version(EV_CURRENT) == EV_NONE)
		cli_fail("libelf is too old: %s", elf_errmsg(-1));
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		cli_fail("%s: %s", path, strerror(errno));
	Elf *file = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	bool found = false;
	if (file && elf_kind(file) == ELF_K_ELF) {
		found = true;
		read_object(&r, file);
	} else if (file && elf_kind(file) == ELF_K_AR) {
		found = read_archive(&r, fd, file);
	}
	elf_end(file);
	close(fd);
	if (!found)
		cli_fail("%s: not an ELF file nor an archive of them", path);
	if (r.taken == 0)
		cli_fail("%s: has no symbols", path);
}

#else

void corpus_read_elf(struct corpus *c, const char *path, uint64_t max)
{
	(void)c;
	(void)max;
	cli_fail("%s: built without libelf, so that --elf cannot be used (install libelf-dev)",
		 path);
}

#endif
