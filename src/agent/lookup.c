// SPDX-License-Identifier: GPL-2.0-only
#include "agent/lookup.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The tables of one loaded object. */
struct tables {
	ElfW(Addr) base;
	const ElfW(Sym) *symbols;
	const char *strings;
	/* NULL without. Bit 15: not the default version of its name. */
	const ElfW(Half) *versions;
	const uint32_t *gnu_hash;
	const uint32_t *hash;
};

struct search {
	const char *name;
	uint32_t gnu_hash;
	/* Objects are passed over until the agent's own has been. */
	bool behind_own;
	void *found;
};

#define VERSION_HIDDEN 0x8000

/* glibc adds the base to these pointers in place, the vDSO and musl do not. */
static const void *pointer(const struct tables *tables, ElfW(Addr) address)
{
	return (const void *)(address < tables->base ? address + tables->base :
						       address);
}

static void read_dynamic(const ElfW(Dyn) *dynamic, struct tables *tables)
{
	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		const void *at = pointer(tables, dynamic->d_un.d_ptr);

		switch (dynamic->d_tag) {
		case DT_SYMTAB:
			tables->symbols = at;
			break;
		case DT_STRTAB:
			tables->strings = at;
			break;
		case DT_VERSYM:
			tables->versions = at;
			break;
		case DT_GNU_HASH:
			tables->gnu_hash = at;
			break;
		case DT_HASH:
			tables->hash = at;
			break;
		default:
			break;
		}
	}
}

static bool matches(const struct tables *tables, uint32_t index,
		    const char *name)
{
	const ElfW(Sym) *symbol = &tables->symbols[index];
	unsigned int type = ELF64_ST_TYPE(symbol->st_info);

	if (symbol->st_shndx == SHN_UNDEF || !symbol->st_value ||
	    type > STT_FUNC)
		return false;
	if (tables->versions && tables->versions[index] & VERSION_HIDDEN)
		return false;
	return !strcmp(tables->strings + symbol->st_name, name);
}

static uint32_t gnu_hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (const unsigned char *c = (const unsigned char *)name; *c; c++)
		hash = hash * 33 + *c;
	return hash;
}

/* The index of the symbol, 0 if there is none. */
static uint32_t find_gnu(const struct tables *tables,
			 const struct search *search)
{
	const uint32_t *head = tables->gnu_hash;
	uint32_t count = head[0], first = head[1], words = head[2];
	const ElfW(Addr) *bloom = (const ElfW(Addr) *)(head + 4);
	const uint32_t *buckets = (const uint32_t *)(bloom + words);
	const uint32_t *chain = buckets + count;
	uint32_t index;

	if (!count)
		return 0;
	index = buckets[search->gnu_hash % count];
	if (index < first)
		return 0;
	for (;; index++) {
		uint32_t hash = chain[index - first];

		if ((hash | 1) == (search->gnu_hash | 1) &&
		    matches(tables, index, search->name))
			return index;
		if (hash & 1)
			return 0;
	}
}

/* Without a GNU table every symbol is looked at: such objects are rare. */
static uint32_t find_plain(const struct tables *tables,
			   const struct search *search)
{
	uint32_t count = tables->hash[1];

	for (uint32_t index = 1; index < count; index++)
		if (matches(tables, index, search->name))
			return index;
	return 0;
}

/* Does the object hold this very code? */
static bool is_own(const struct dl_phdr_info *info)
{
	ElfW(Addr) here = (ElfW(Addr))(uintptr_t)is_own;

	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD &&
		    here - info->dlpi_addr - segment->p_vaddr < segment->p_memsz)
			return true;
	}
	return false;
}

static int search_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *search = arg;
	struct tables tables = { .base = info->dlpi_addr };
	uint32_t index = 0;

	(void)size;
	if (search->behind_own) {
		search->behind_own = !is_own(info);
		return 0;
	}
	for (size_t i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			read_dynamic((const ElfW(Dyn) *)(info->dlpi_addr +
							 info->dlpi_phdr[i].p_vaddr),
				     &tables);
	if (!tables.symbols || !tables.strings)
		return 0;
	if (tables.gnu_hash)
		index = find_gnu(&tables, search);
	else if (tables.hash)
		index = find_plain(&tables, search);
	if (!index)
		return 0;
	search->found = (void *)(tables.base + tables.symbols[index].st_value);
	return 1;
}

void *agent_lookup(const char *name)
{
	struct search search = { .name = name, .gnu_hash = gnu_hash_of(name) };

	dl_iterate_phdr(search_object, &search);
	return search.found;
}

void *agent_lookup_next(const char *name)
{
	struct search search = {
		.name = name,
		.gnu_hash = gnu_hash_of(name),
		.behind_own = true,
	};

	dl_iterate_phdr(search_object, &search);
	return search.found;
}

static int take_own_path(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	if (!is_own(info))
		return 0;
	*(const char **)arg = info->dlpi_name;
	return 1;
}

const char *agent_lookup_own_path(void)
{
	const char *path = "";

	dl_iterate_phdr(take_own_path, &path);
	return path;
}
