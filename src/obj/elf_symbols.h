/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The entries of an ELF file's symbol tables, raw, and one symbol by name.
 * For addresses to names see obj/elf_symtab.h.
 *
 * Source of the format: System V gABI chapter 4, "Symbol Table".
 */
#ifndef KAA_OBJ_ELF_SYMBOLS_H
#define KAA_OBJ_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"
#include "obj/elf_file.h"

/*
 * Longer names are as none: names of C++ and Rust have several KiB at most, and
 * each is searched for its end and copied.
 */
#define ELF_SYMBOL_NAME_MAX (64u << 10)

struct elf_symbol {
	/* "" if it has none or a broken one; borrowed from the file. */
	const char *name;
	uint64_t vaddr;
	uint64_t size;
	/* STT_*, STB_*, STV_* */
	uint8_t type;
	uint8_t binding;
	uint8_t visibility;
	/* SHN_*; SHN_XINDEX is not followed. */
	uint16_t shndx;
};

/*
 * All names of a table together have at most so many times the bytes of it and of
 * its strings; those beyond are as none. Symbols may share names, but in real
 * files not long ones by the hundreds.
 */
#define ELF_SYMBOL_NAMES_FACTOR 16

/*
 *	for (elf_symbol_iter_init(...); elf_symbol_iter_next(&it, &sym);)
 */
struct elf_symbol_iter {
	struct reader entries;
	struct bytes strings;
	bool is_64;
	/* Private: bytes of names that are still given. */
	size_t room;
};

/*
 * Over a section of type SHT_SYMTAB or SHT_DYNSYM. ERROR_FORMAT if its string
 * table is no string table. The file must outlive the iterator.
 */
struct error *elf_symbol_iter_init(struct elf_file *file,
				   const struct elf_section *section,
				   struct elf_symbol_iter *ret);
/* Over the first section of that type; over nothing if there is none. */
struct error *elf_symbol_iter_init_type(struct elf_file *file, uint32_t type,
					struct elf_symbol_iter *ret);
bool elf_symbol_iter_next(struct elf_symbol_iter *it, struct elf_symbol *ret);

/* The first section of that SHT_* type that holds bytes, or NULL. */
const struct elf_section *elf_file_section_by_type(const struct elf_file *file,
						   uint32_t type);

/* .dynsym defines the name. */
bool elf_file_exports(struct elf_file *file, const char *name);

/*
 * One defined symbol by its exact name: in .dynsym, else .symtab, else the
 * .symtab in .gnu_debugdata. ERROR_NOT_FOUND.
 */
struct error *elf_file_find_symbol(struct elf_file *file, const char *name,
				   struct elf_symbol *ret);

/*
 * The source file that the linker noted for the function that begins at vaddr, as
 * binutils' addr2line tells it where there are no lines: that of a local function;
 * a global one's only if .symtab has no other file. NULL: none. Borrowed from the
 * file. Source: binutils, bfd/elf.c, elf_find_function().
 */
struct error *elf_file_source_of(struct elf_file *file, uint64_t vaddr,
				 const char **ret);

#endif
