/* SPDX-License-Identifier: MIT */
/*
 * elf_file.c - reading ELF files and static archives through libelf. See elf_file.h.
 *
 * Members of an archive that are no ELF files (its index, text) are passed over; a file that has no
 * ELF in it at all is refused. Handles of members stay open as long as the file, because libelf
 * frees what it converted along with them: it copies a table that is not aligned, or that has the
 * byte order of another machine.
 */
#include "elf_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#ifdef HAVE_LIBELF

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

/* Room for one more at the end of an array of n. */
static void *one_more(void *array, size_t n, size_t size)
{
	if (n & (n - 1)) /* the room is a power of two */
		return array;
	array = realloc(array, (n ? 2 * n : 1) * size);
	if (!array)
		cli_fail("out of memory");
	return array;
}

static void add_table(struct elf_file *f, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	if (!data || header->sh_entsize == 0)
		return;
	Elf_Scn *names = elf_getscn(elf, header->sh_link);
	Elf_Data *bytes = names ? elf_getdata(names, NULL) : NULL;
	if (!bytes)
		cli_fail("%s: damaged symbol table: no names", f->path);
	f->tables = one_more(f->tables, f->ntables, sizeof *f->tables);
	f->tables[f->ntables++] =
	    (struct elf_table){.data = data,
			       .count = (size_t)(header->sh_size / header->sh_entsize),
			       .names = bytes->d_buf,
			       .names_size = bytes->d_buf ? bytes->d_size : 0};
}

static void add_strings(struct elf_file *f, Elf_Scn *section, const GElf_Shdr *header)
{
	if (header->sh_flags & SHF_COMPRESSED) {
#ifdef ELF_CHF_FORCE
		if (elf_compress(section, 0, 0) < 0)
			cli_fail("%s: damaged .debug_str: %s", f->path, elf_errmsg(-1));
#else
		return; /* only elfutils can */
#endif
	}
	Elf_Data *data = elf_getdata(section, NULL);
	if (!data || !data->d_buf || data->d_size == 0)
		return;
	if (((const char *)data->d_buf)[data->d_size - 1] != '\0')
		cli_fail("%s: damaged .debug_str: the last string has no end", f->path);
	f->strings = one_more(f->strings, f->nstrings, sizeof *f->strings);
	f->strings[f->nstrings++] = (struct elf_strings){data->d_buf, data->d_size};
}

static void list_object(struct elf_file *f, Elf *elf, bool debug_strings)
{
	Elf_Scn *section = NULL;
	size_t names = 0;
	elf_getshdrstrndx(elf, &names);
	while ((section = elf_nextscn(elf, section)) != NULL) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header))
			cli_fail("%s: damaged section header: %s", f->path, elf_errmsg(-1));
		if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
			add_table(f, elf, section, &header);
		if (!debug_strings || header.sh_type != SHT_PROGBITS)
			continue;
		const char *name = elf_strptr(elf, names, header.sh_name);
		if (name && strcmp(name, ".debug_str") == 0)
			add_strings(f, section, &header);
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

static void list_archive(struct elf_file *f, bool debug_strings)
{
	Elf_Cmd command = ELF_C_READ_MMAP;
	Elf *member;
	off_t size = lseek(f->fd, 0, SEEK_END);
	while ((member = elf_begin(f->fd, command, f->whole)) != NULL) {
		if (!member_complete(f->fd, member, size))
			cli_fail("%s: the archive is cut off", f->path);
		command = elf_next(member);
		if (elf_kind(member) != ELF_K_ELF) {
			elf_end(member);
			continue;
		}
		f->objects = one_more(f->objects, f->nobjects, sizeof *f->objects);
		f->objects[f->nobjects++] = member;
		list_object(f, member, debug_strings);
	}
}

void elf_file_open(struct elf_file *f, const char *path, bool debug_strings)
{
	*f = (struct elf_file){.path = path};
	if (elf_version(EV_CURRENT) == EV_NONE)
		cli_fail("libelf is too old: %s", elf_errmsg(-1));
	f->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (f->fd < 0)
		cli_fail("%s: %s", path, strerror(errno));
	f->whole = elf_begin(f->fd, ELF_C_READ_MMAP, NULL);
	Elf_Kind kind = f->whole ? elf_kind(f->whole) : ELF_K_NONE;
	if (kind == ELF_K_ELF)
		list_object(f, f->whole, debug_strings);
	else if (kind == ELF_K_AR)
		list_archive(f, debug_strings);
	if (kind != ELF_K_ELF && f->nobjects == 0)
		cli_fail("%s: not an ELF file nor an archive of them", path);
}

void elf_file_close(struct elf_file *f)
{
	for (size_t i = 0; i < f->nobjects; i++)
		elf_end(f->objects[i]);
	elf_end(f->whole);
	close(f->fd);
	free(f->objects);
	free(f->tables);
	free(f->strings);
}

void elf_file_symbol(const struct elf_file *f, const struct elf_table *t, size_t i,
		     struct elf_symbol *out)
{
	GElf_Sym symbol;
	if (!gelf_getsym(t->data, (int)i, &symbol))
		cli_fail("%s: damaged symbol table: %s", f->path, elf_errmsg(-1));
	*out = (struct elf_symbol){symbol.st_value, symbol.st_size, "", 0};
	if (symbol.st_name == 0)
		return;
	const char *end = NULL;
	if (symbol.st_name < t->names_size) {
		out->name = t->names + symbol.st_name;
		end = memchr(out->name, '\0', t->names_size - symbol.st_name);
	}
	if (!end)
		cli_fail("%s: damaged symbol table: a name out of bounds", f->path);
	out->len = (size_t)(end - out->name);
}

#else

void elf_file_open(struct elf_file *f, const char *path, bool debug_strings)
{
	(void)f;
	(void)debug_strings;
	cli_fail("%s: built without libelf, so that ELF files cannot be read (install libelf-dev)",
		 path);
}

void elf_file_close(struct elf_file *f)
{
	(void)f;
}

void elf_file_symbol(const struct elf_file *f, const struct elf_table *t, size_t i,
		     struct elf_symbol *out)
{
	(void)t;
	(void)i;
	(void)out;
	cli_fail("%s: built without libelf", f->path);
}

#endif
