// SPDX-License-Identifier: GPL-2.0-only
#include "obj/elf_symtab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/vec.h"
#include "obj/elf_debug.h"
#include "obj/elf_symbols.h"

/* How far the last symbol reaches if the file does not say its size. */
#define TAIL 4096

/*
 * Names of PLT entries have at most so many times the bytes of the file. In real
 * ones a function has two entries at most.
 */
#define PLT_NAMES_FACTOR 16

struct load {
	/* Says which segments are executable: debug files agree with it. */
	struct elf_file *file;
	struct symtab *tab;
	unsigned int skipped;
	bool versions;
	/* Bytes of names that PLT entries may still have. */
	uint64_t plt_room;
};

static bool is_wanted(const struct elf_symbol *sym)
{
	if (!sym->name[0] || sym->shndx == SHN_UNDEF || sym->shndx == SHN_ABS)
		return false;
	switch (sym->type) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
	case STT_OBJECT:
		return true;
	case STT_NOTYPE:
		return sym->visibility != STV_HIDDEN &&
		       sym->visibility != STV_INTERNAL;
	default:
		return false;
	}
}

/*
 * What LTO names in .debug_info has an offset in that, which looks like an address of
 * code. In a debug file, sections of code have no bytes, but are SHF_ALLOC.
 */
static bool is_in_memory(const struct elf_file *from, const struct elf_symbol *sym)
{
	return sym->shndx >= SHN_LORESERVE ||
	       sym->shndx >= from->section_count ||
	       from->sections[sym->shndx].flags & SHF_ALLOC;
}

/* GNU's symbol versions: `name@VERSION` and `name@@VERSION`. */
static size_t name_len(const char *name)
{
	const char *at = strchr(name + 1, '@');

	return at ? (size_t)(at - name) : strlen(name);
}

static struct error *add_table(struct load *load, struct elf_file *from,
			       const struct elf_section *section)
{
	struct elf_symbol_iter it;
	struct elf_symbol sym;
	struct error *error;

	error = elf_symbol_iter_init(from, section, &it);
	if (error)
		return error;
	while (elf_symbol_iter_next(&it, &sym)) {
		if (!is_wanted(&sym) || !is_in_memory(from, &sym) ||
		    !elf_file_is_exec(load->file, sym.vaddr))
			continue;
		error = symtab_add(load->tab, sym.vaddr, sym.size, sym.name,
				   load->versions ? strlen(sym.name)
						  : name_len(sym.name),
				   sym.type, sym.binding, 0);
		if (error)
			return error;
	}
	return NULL;
}

/* Faults of the file cost its table; our own (memory, limits) are passed on. */
static struct error *tolerate(struct load *load, struct error *error)
{
	if (!error || error->code == ERROR_NO_MEMORY ||
	    error->code == ERROR_LIMIT)
		return error;
	if (error->code != ERROR_NOT_FOUND)
		load->skipped++;
	error_destroy(error);
	return NULL;
}

static struct error *add_tables(struct load *load, struct elf_file *from)
{
	struct error *error;

	for (size_t i = 0; i < from->section_count; i++) {
		const struct elf_section *section = &from->sections[i];

		if ((section->type != SHT_SYMTAB &&
		     section->type != SHT_DYNSYM) || !section->size)
			continue;
		error = tolerate(load, add_table(load, from, section));
		if (error)
			return error;
	}
	return NULL;
}

static struct error *add_minidebug(struct load *load)
{
	struct elf_file *minidebug;
	struct error *error = elf_file_minidebug(load->file, &minidebug);

	if (error)
		return tolerate(load, error);
	return add_tables(load, minidebug);
}

/* A relocation of a GOT slot: which symbol the slot will hold. */
struct slot {
	uint64_t got;
	/* Index in .dynsym; 0: the address is in addend (IRELATIVE). */
	uint32_t symbol;
	int64_t addend;
};

/* A function that chooses another one. */
struct resolver {
	uint64_t vaddr;
	const char *name;
	/* Index in the symtab: of aliases the first one is taken. */
	size_t index;
};

struct plt {
	VEC(struct slot) slots;
	VEC(struct elf_symbol) symbols;
	VEC(struct resolver) resolvers;
};

static int compare_slots(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return (x->got > y->got) - (x->got < y->got);
}

static struct error *read_slots(struct elf_file *file,
				const struct elf_section *section,
				struct plt *plt)
{
	struct bytes bytes;
	struct reader r;
	uint64_t got, info, addend;
	struct error *error;

	error = elf_file_section_bytes(file, section, &bytes);
	if (error)
		return error;
	r = reader_init(bytes.data, bytes.size);
	while (reader_u64(&r, &got) && reader_u64(&r, &info) &&
	       reader_u64(&r, &addend)) {
		uint32_t type = ELF64_R_TYPE(info);

		if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT &&
		    type != R_X86_64_IRELATIVE)
			continue;
		if (!vec_push(&plt->slots,
			      ((struct slot){
				      .got = got,
				      .symbol = ELF64_R_SYM(info),
				      .addend = (int64_t)addend })))
			return error_no_memory();
	}
	return NULL;
}

static struct error *read_dynsym(struct elf_file *file, struct plt *plt)
{
	struct elf_symbol_iter it;
	struct elf_symbol sym;
	struct error *error = elf_symbol_iter_init_type(file, SHT_DYNSYM, &it);

	if (error)
		return error;
	while (elf_symbol_iter_next(&it, &sym)) {
		if (!vec_push(&plt->symbols, sym))
			return error_no_memory();
	}
	return NULL;
}

static int compare_resolvers(const void *a, const void *b)
{
	const struct resolver *x = a, *y = b;
	int order = compare_u64(x->vaddr, y->vaddr);

	return order ? order : compare_u64(x->index, y->index);
}

static struct error *collect_resolvers(const struct symtab *tab,
				       struct plt *plt)
{
	for (size_t i = 0; i < tab->count; i++) {
		const struct symbol *s = &tab->symbols[i];

		if (s->type == STT_GNU_IFUNC &&
		    !vec_push(&plt->resolvers,
			      ((struct resolver){ s->start, s->name, i })))
			return error_no_memory();
	}
	if (plt->resolvers.count)
		qsort(plt->resolvers.data, plt->resolvers.count,
		      sizeof(*plt->resolvers.data), compare_resolvers);
	return NULL;
}

static struct error *read_plt(const struct load *load, struct plt *plt)
{
	struct elf_file *file = load->file;
	struct error *error = collect_resolvers(load->tab, plt);

	for (size_t i = 0; i < file->section_count && !error; i++) {
		if (file->sections[i].type == SHT_RELA &&
		    file->sections[i].flags & SHF_ALLOC)
			error = read_slots(file, &file->sections[i], plt);
	}
	if (!error)
		error = read_dynsym(file, plt);
	if (!error && plt->slots.count)
		qsort(plt->slots.data, plt->slots.count,
		      sizeof(*plt->slots.data), compare_slots);
	return error;
}

/*
 * The GOT slot that a PLT entry at vaddr jumps through: `jmp *disp32(%rip)`,
 * ff 25, perhaps behind endbr64 and a bnd prefix (System V x86-64 psABI,
 * section 5.2 and its IBT variant).
 */
static bool entry_slot(const uint8_t *code, size_t size, uint64_t vaddr,
		       uint64_t *ret)
{
	struct reader r = reader_init(code, size);
	uint32_t displacement;
	size_t at = 0;

	if (size >= 4 && !memcmp(code, "\xf3\x0f\x1e\xfa", 4))
		at = 4;
	if (at < size && code[at] == 0xf2)
		at++;
	if (at + 6 > size || code[at] != 0xff || code[at + 1] != 0x25)
		return false;
	reader_skip(&r, at + 2);
	if (!reader_u32(&r, &displacement))
		return false;
	*ret = vaddr + at + 6 + (uint64_t)(int64_t)(int32_t)displacement;
	return true;
}

/* IRELATIVE: the name of the resolver at that address, as far as known. */
static const char *resolver_name(const struct plt *plt, uint64_t vaddr)
{
	size_t at = vec_lower_bound(&plt->resolvers, vaddr, vaddr);

	if (at == plt->resolvers.count || plt->resolvers.data[at].vaddr != vaddr)
		return NULL;
	return plt->resolvers.data[at].name;
}

static struct error *add_entry(struct load *load, const struct plt *plt,
			       uint64_t vaddr, uint64_t size, uint64_t got)
{
	const struct slot key = { .got = got };
	const struct slot *slot = NULL;
	const char *name = NULL;
	char text[1024];

	if (plt->slots.count)
		slot = bsearch(&key, plt->slots.data, plt->slots.count,
			       sizeof(key), compare_slots);
	if (!slot)
		return NULL;
	if (slot->symbol && slot->symbol < plt->symbols.count)
		name = plt->symbols.data[slot->symbol].name;
	else if (!slot->symbol)
		name = resolver_name(plt, (uint64_t)slot->addend);
	if (name && name[0])
		snprintf(text, sizeof(text), "%.*s@plt", (int)name_len(name),
			 name);
	else
		snprintf(text, sizeof(text), "*ABS*+0x%llx@plt",
			 (unsigned long long)slot->addend);
	if (strlen(text) >= load->plt_room)
		return error_at(ERROR_FORMAT, load->file->path, 0,
				"too many PLT entries of the same functions");
	load->plt_room -= strlen(text) + 1;
	return symtab_add(load->tab, vaddr, size, text, strlen(text), STT_FUNC,
			  STB_LOCAL, 0);
}

/* The code that calls the resolver of names stands first: `push link_map(%rip)`. */
static struct error *add_plt_header(struct load *load,
				    const struct elf_section *section,
				    struct bytes code)
{
	if (strcmp(section->name, ".plt") != 0 || code.size < 16 ||
	    code.data[0] != 0xff || code.data[1] != 0x35)
		return NULL;
	return symtab_add(load->tab, section->addr, 16, ".plt", 4, STT_FUNC,
			  STB_GLOBAL, 0);
}

/*
 * Bytes of an entry. The section of a static program, whose entries are short,
 * does not say it: there one begins directly behind the first.
 */
static size_t entry_size(const struct elf_section *section, struct bytes code)
{
	uint64_t got;

	if (section->entsize)
		return section->entsize == 8 ? 8 : 16;
	if (code.size < 16 ||
	    !entry_slot(code.data + 8, 8, section->addr + 8, &got))
		return 16;
	return 8;
}

static struct error *add_plt_section(struct load *load, const struct plt *plt,
				     const struct elf_section *section)
{
	struct bytes code;
	struct error *error;
	uint64_t got;
	size_t step;

	error = elf_file_section_bytes(load->file, section, &code);
	if (error)
		return error;
	error = add_plt_header(load, section, code);
	step = entry_size(section, code);
	for (size_t at = 0; !error && at + step <= code.size; at += step) {
		if (entry_slot(code.data + at, step, section->addr + at, &got))
			error = add_entry(load, plt, section->addr + at, step,
					  got);
	}
	return error;
}

static struct error *add_plt(struct load *load)
{
	struct plt plt = {};
	struct error *error = read_plt(load, &plt);

	for (size_t i = 0; i < load->file->section_count && !error; i++) {
		const struct elf_section *section = &load->file->sections[i];

		if (!strcmp(section->name, ".plt") ||
		    !strcmp(section->name, ".plt.sec") ||
		    !strcmp(section->name, ".plt.got"))
			error = add_plt_section(load, &plt, section);
	}
	vec_deinit(&plt.slots);
	vec_deinit(&plt.symbols);
	vec_deinit(&plt.resolvers);
	return error;
}

static bool has_x86_plt(const struct elf_file *file)
{
	return file->machine == EM_X86_64 && file->is_64 && !file->big_endian;
}

struct error *elf_symtab_load(struct elf_file *file, struct elf_file *debug,
			      bool versions, struct symtab *ret,
			      unsigned int *skipped)
{
	struct load load = { .file = file, .tab = ret, .versions = versions,
			     .plt_room = PLT_NAMES_FACTOR * file->size };
	struct error *error = NULL;

	if (debug)
		error = add_tables(&load, debug);
	if (!error)
		error = add_tables(&load, file);
	if (!error)
		error = add_minidebug(&load);
	if (!error && has_x86_plt(file))
		error = tolerate(&load, add_plt(&load));
	if (!error)
		error = symtab_finish(ret, SYMTAB_BEST_ALIAS, TAIL);
	if (!error && skipped)
		*skipped = load.skipped;
	return error;
}
