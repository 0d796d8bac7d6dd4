// SPDX-License-Identifier: GPL-2.0-only
#include "obj/elf_symbols.h"

#include <string.h>

#include "obj/elf_debug.h"

struct error *elf_symbol_iter_init(struct elf_file *file,
				   const struct elf_section *section,
				   struct elf_symbol_iter *ret)
{
	struct elf_symbol_iter it = { .is_64 = file->is_64 };
	struct bytes entries;
	struct error *error;

	if (section->link >= file->section_count ||
	    file->sections[section->link].type != SHT_STRTAB)
		return error_at(ERROR_FORMAT, file->path, section->offset,
				"a symbol table has no string table");
	error = elf_file_section_bytes(file, section, &entries);
	if (!error)
		error = elf_file_section_bytes(
			file, &file->sections[section->link], &it.strings);
	if (error)
		return error;
	it.entries = reader_init(entries.data, entries.size);
	it.entries.base = section->offset;
	it.entries.path = file->path;
	it.entries.big_endian = file->big_endian;
	it.room = ELF_SYMBOL_NAMES_FACTOR *
		  (it.entries.end - it.entries.start + it.strings.size);
	*ret = it;
	return NULL;
}

static const char *name_at(struct elf_symbol_iter *it, uint32_t offset)
{
	size_t max = it->room < ELF_SYMBOL_NAME_MAX ? it->room :
						      ELF_SYMBOL_NAME_MAX;
	const char *name = bytes_cstr(it->strings, offset, max);

	/* Also for the search that found none. */
	if (offset < it->strings.size)
		it->room -= name ? strlen(name) + 1 : max;
	return name ? name : "";
}

static bool next_64(struct reader *r, uint8_t *info, uint8_t *other,
		    struct elf_symbol *sym)
{
	return reader_u8(r, info) && reader_u8(r, other) &&
	       reader_u16(r, &sym->shndx) && reader_u64(r, &sym->vaddr) &&
	       reader_u64(r, &sym->size);
}

static bool next_32(struct reader *r, uint8_t *info, uint8_t *other,
		    struct elf_symbol *sym)
{
	uint32_t vaddr, size;

	if (!reader_u32(r, &vaddr) || !reader_u32(r, &size) ||
	    !reader_u8(r, info) || !reader_u8(r, other) ||
	    !reader_u16(r, &sym->shndx))
		return false;
	sym->vaddr = vaddr;
	sym->size = size;
	return true;
}

bool elf_symbol_iter_next(struct elf_symbol_iter *it, struct elf_symbol *ret)
{
	struct elf_symbol sym = {};
	uint32_t name;
	uint8_t info, other;

	if (!reader_u32(&it->entries, &name))
		return false;
	if (it->is_64 ? !next_64(&it->entries, &info, &other, &sym) :
			!next_32(&it->entries, &info, &other, &sym))
		return false;
	sym.name = name_at(it, name);
	sym.type = ELF64_ST_TYPE(info);
	sym.binding = ELF64_ST_BIND(info);
	sym.visibility = ELF64_ST_VISIBILITY(other);
	*ret = sym;
	return true;
}

const struct elf_section *elf_file_section_by_type(const struct elf_file *file,
						   uint32_t type)
{
	for (size_t i = 0; i < file->section_count; i++) {
		if (file->sections[i].type == type && file->sections[i].size)
			return &file->sections[i];
	}
	return NULL;
}

struct error *elf_symbol_iter_init_type(struct elf_file *file, uint32_t type,
					struct elf_symbol_iter *ret)
{
	const struct elf_section *section = elf_file_section_by_type(file, type);

	*ret = (struct elf_symbol_iter){};
	return section ? elf_symbol_iter_init(file, section, ret) : NULL;
}

static struct error *find_in(struct elf_file *file, uint32_t section_type,
			     const char *name, bool *found,
			     struct elf_symbol *ret)
{
	struct elf_symbol_iter it;
	struct elf_symbol sym;
	struct error *error =
		elf_symbol_iter_init_type(file, section_type, &it);

	if (error)
		return error;
	while (elf_symbol_iter_next(&it, &sym)) {
		if (sym.shndx == SHN_UNDEF || strcmp(sym.name, name))
			continue;
		*found = true;
		*ret = sym;
		break;
	}
	return NULL;
}

bool elf_file_exports(struct elf_file *file, const char *name)
{
	struct elf_symbol symbol;
	bool found = false;
	struct error *error =
		find_in(file, SHT_DYNSYM, name, &found, &symbol);

	error_destroy(error);
	return found;
}

struct error *elf_file_find_symbol(struct elf_file *file, const char *name,
				   struct elf_symbol *ret)
{
	struct elf_file *minidebug;
	bool found = false;
	struct error *error;

	error = find_in(file, SHT_DYNSYM, name, &found, ret);
	if (!error && !found)
		error = find_in(file, SHT_SYMTAB, name, &found, ret);
	if (error || found)
		return error;
	error = elf_file_minidebug(file, &minidebug);
	if (!error)
		error = find_in(minidebug, SHT_SYMTAB, name, &found, ret);
	if (error && error->code == ERROR_NOT_FOUND) {
		error_destroy(error);
		error = NULL;
	}
	if (error || found)
		return error;
	return error_at(ERROR_NOT_FOUND, file->path, 0,
			"there is no symbol '%s'", name);
}

struct error *elf_file_source_of(struct elf_file *file, uint64_t vaddr,
				 const char **ret)
{
	bool seen = false, other_file = false;
	const char *source = NULL;
	struct elf_symbol_iter it;
	struct elf_symbol sym;
	struct error *error = elf_symbol_iter_init_type(file, SHT_SYMTAB, &it);

	*ret = NULL;
	while (!error && elf_symbol_iter_next(&it, &sym)) {
		if (sym.type == STT_FILE) {
			source = sym.name;
			other_file |= seen;
			continue;
		}
		if (sym.type != STT_FUNC || sym.shndx == SHN_UNDEF)
			continue;
		seen = true;
		if (sym.vaddr == vaddr &&
		    (sym.binding == STB_LOCAL || !other_file))
			*ret = source;
	}
	return error;
}
