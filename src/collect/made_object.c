// SPDX-License-Identifier: GPL-2.0-only
#include "collect/made_object.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "obj/elf_file.h"
#include "obj/elf_symbols.h"

enum {
	EH_FRAME_MAX = 4 << 20,
	SYMBOLS_MAX = 65536,
	RANGES_MAX = 1024,
	NAME_MAX_BYTES = 1024,
};

static bool contains(const struct made_range *range, uint64_t address)
{
	return address >= range->start && address < range->end;
}

bool made_object_has(const struct made_object *object, uint64_t address)
{
	vec_for_each(range, &object->code)
		if (contains(range, address))
			return true;
	return false;
}

const struct made_symbol *made_object_symbol(const struct made_object *object,
					     uint64_t address)
{
	vec_for_each(symbol, &object->symbols)
		if (contains(&symbol->range, address))
			return symbol;
	return NULL;
}

static bool make_range(uint64_t start, uint64_t size, struct made_range *ret)
{
	*ret = (struct made_range){ start, start + size };
	return start && ret->start < ret->end;
}

static struct error *add_code(struct made_object *object,
			      const struct elf_file *elf)
{
	struct made_range range;

	for (size_t i = 0;
	     i < elf->section_count && object->code.count < RANGES_MAX; i++) {
		const struct elf_section *s = &elf->sections[i];

		if ((s->flags & SHF_EXECINSTR) &&
		    make_range(s->addr, s->size, &range) &&
		    !vec_push(&object->code, range))
			return error_no_memory();
	}
	return NULL;
}

static uint64_t symbol_address(const struct elf_file *elf,
			       const struct elf_symbol *symbol)
{
	if (elf->type != ET_REL)
		return symbol->vaddr;
	if (symbol->shndx >= elf->section_count)
		return 0;
	return elf->sections[symbol->shndx].addr + symbol->vaddr;
}

/*
 * CPython 3.15 registers what its JIT has made as "py::jit:executor". Elsewhere that
 * prefix begins the names of Python functions, and this is none.
 */
static const char *made_name(const char *name)
{
	return strncmp(name, "py::", 4) ? name : name + 4;
}

static struct error *add_symbol(struct made_object *object,
				const struct elf_file *elf,
				const struct elf_symbol *symbol)
{
	const char *name = made_name(symbol->name);
	struct made_symbol made;
	size_t length;

	if (symbol->type != STT_FUNC || symbol->shndx == SHN_UNDEF ||
	    !name[0] ||
	    !make_range(symbol_address(elf, symbol), symbol->size,
			&made.range) ||
	    !made_object_has(object, made.range.start) ||
	    object->symbols.count == SYMBOLS_MAX)
		return NULL;
	length = strnlen(name, NAME_MAX_BYTES);
	made.name = arena_strndup(&object->names, name, length);
	if (!made.name || !vec_push(&object->symbols, made))
		return error_no_memory();
	object->bytes += sizeof(made) + length + 1;
	return NULL;
}

static struct error *add_symbols(struct made_object *object,
				 struct elf_file *elf)
{
	struct elf_symbol_iter it;
	struct elf_symbol symbol;
	struct error *error = elf_symbol_iter_init_type(elf, SHT_SYMTAB, &it);

	if (error) {
		/* A table that cannot be read is as good as none. */
		error_destroy(error);
		return NULL;
	}
	while (!error && elf_symbol_iter_next(&it, &symbol))
		error = add_symbol(object, elf, &symbol);
	return error;
}

/* The relocated bytes, where the process has them. */
static bool read_eh_frame(struct made_object *object, struct elf_file *elf,
			  const struct elf_section *section,
			  struct remote_memory *memory)
{
	struct error *error;
	struct bytes bytes;

	if (elf->type == ET_REL)
		return remote_memory_read_all(memory, section->addr,
					      object->eh_frame, section->size);
	error = elf_file_section_bytes(elf, section, &bytes);
	if (!error && bytes.size == section->size)
		memcpy(object->eh_frame, bytes.data, bytes.size);
	else if (!error)
		return false;
	error_destroy(error);
	return !error;
}

static struct error *add_rows(struct made_object *object, struct elf_file *elf,
			      struct remote_memory *memory)
{
	const struct elf_section *section = elf_file_section(elf, ".eh_frame");
	struct cfi_sections sections = { .path = elf->path };
	struct error *error;

	if (!section || !section->addr || !section->size ||
	    section->size > EH_FRAME_MAX)
		return NULL;
	object->eh_frame = malloc(section->size);
	if (!object->eh_frame)
		return error_no_memory();
	object->bytes += section->size;
	if (!read_eh_frame(object, elf, section, memory))
		return NULL;
	sections.eh_frame = (struct bytes){ object->eh_frame, section->size };
	sections.eh_frame_vaddr = section->addr;
	error = cfi_table_create(&sections, &object->cfi);
	if (error && error->code == ERROR_NO_MEMORY)
		return error;
	error_destroy(error);
	return NULL;
}

static bool has_rows(const struct made_object *object)
{
	if (!object->cfi)
		return false;
	vec_for_each(range, &object->code)
		if (cfi_find(object->cfi, range->start))
			return true;
	vec_for_each(symbol, &object->symbols)
		if (cfi_find(object->cfi, symbol->range.start))
			return true;
	return false;
}

static struct error *fill(struct made_object *object, struct elf_file *elf,
			  struct remote_memory *memory)
{
	struct error *error = add_code(object, elf);

	if (!error)
		error = add_symbols(object, elf);
	if (!error)
		error = add_rows(object, elf, memory);
	object->is_early = elf->type == ET_REL && object->eh_frame &&
			   !has_rows(object);
	return error;
}

/* They would grow without bound; compilers do not make them. */
static bool has_compressed(const struct elf_file *elf)
{
	for (size_t i = 0; i < elf->section_count; i++)
		if (elf->sections[i].flags & SHF_COMPRESSED)
			return true;
	return false;
}

static struct error *open_image(struct bytes image, struct elf_file **ret)
{
	struct error *error = elf_file_open_memory(image.data, image.size,
						   "registered code", ret);

	if (error)
		return error;
	error = elf_file_check_native(*ret);
	if (error) {
		elf_file_destroy(*ret);
		*ret = NULL;
	}
	return error;
}

struct error *made_object_create(struct bytes image,
				 struct remote_memory *memory,
				 struct made_object **ret)
{
	struct made_object *object = calloc(1, sizeof(*object));
	struct elf_file *elf = NULL;
	struct error *error;

	if (!object)
		return error_no_memory();
	object->bytes = sizeof(*object);
	error = open_image(image, &elf);
	if (!error && !has_compressed(elf))
		error = fill(object, elf, memory);
	elf_file_destroy(elf);
	if (error && error->code == ERROR_NO_MEMORY) {
		made_object_destroy(object);
		return error;
	}
	error_destroy(error);
	*ret = object;
	return NULL;
}

void made_object_destroy(struct made_object *object)
{
	if (!object)
		return;
	cfi_table_destroy(object->cfi);
	free(object->eh_frame);
	arena_deinit(&object->names);
	vec_deinit(&object->code);
	vec_deinit(&object->symbols);
	free(object);
}
