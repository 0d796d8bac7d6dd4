// SPDX-License-Identifier: GPL-2.0-only
#include "python/data_image.h"

#include <stddef.h>
#include <string.h>

#include "obj/elf_symbols.h"

#define SIZE_MAX_LOADED (64u << 20)
/* Each word is searched for in all of them; linkers make one or two. */
#define PARTS_MAX 16

static struct error *load_part(struct elf_file *file,
			       const struct elf_segment *segment,
			       struct py_data_image *image)
{
	struct py_data_part part = { .vaddr = segment->vaddr,
				     .size = segment->filesz };
	struct error *error;

	part.bytes = malloc(part.size);
	if (!part.bytes || !vec_push(&image->parts, part)) {
		free(part.bytes);
		return error_no_memory();
	}
	error = elf_file_read_image(file, part.vaddr, part.bytes, part.size);
	if (error)
		memset(part.bytes, 0, part.size);
	return error;
}

static struct error *load_parts(struct elf_file *file,
				struct py_data_image *image)
{
	struct error *error = NULL;
	uint64_t total = 0;

	for (size_t i = 0; i < file->segment_count && !error; i++) {
		const struct elf_segment *s = &file->segments[i];

		if (s->type != PT_LOAD || !(s->flags & PF_W) || !s->filesz)
			continue;
		if (s->filesz > SIZE_MAX_LOADED - total ||
		    image->parts.count >= PARTS_MAX)
			return error_at(ERROR_LIMIT, file->path, s->offset,
					"more data than kaa looks through");
		total += s->filesz;
		error = load_part(file, s, image);
	}
	return error;
}

static uint8_t *word_place(const struct py_data_image *image, uint64_t vaddr)
{
	vec_for_each(part, &image->parts)
		if (vaddr >= part->vaddr && part->size >= sizeof(uint64_t) &&
		    vaddr - part->vaddr <= part->size - sizeof(uint64_t))
			return part->bytes + (vaddr - part->vaddr);
	return NULL;
}

/* What a relocation puts in its place; false: not known before loading. */
static bool relocated(struct bytes symbols, uint64_t info, uint64_t addend,
		      uint64_t *ret)
{
	struct reader r = reader_init(symbols.data, symbols.size);
	uint64_t value;

	if (ELF64_R_TYPE(info) == R_X86_64_RELATIVE) {
		*ret = addend;
		return true;
	}
	if (ELF64_R_TYPE(info) != R_X86_64_64 ||
	    !reader_skip(&r, ELF64_R_SYM(info) * sizeof(Elf64_Sym) +
				     offsetof(Elf64_Sym, st_value)) ||
	    !reader_u64(&r, &value) || !value)
		return false;
	*ret = value + addend;
	return true;
}

static struct error *relocate(struct elf_file *file,
			      const struct elf_section *section,
			      struct bytes symbols,
			      struct py_data_image *image)
{
	struct bytes bytes;
	struct reader r;
	uint64_t where, info, addend, value;
	struct error *error = elf_file_section_bytes(file, section, &bytes);

	if (error)
		return error;
	r = reader_init(bytes.data, bytes.size);
	while (reader_u64(&r, &where) && reader_u64(&r, &info) &&
	       reader_u64(&r, &addend)) {
		uint8_t *place = word_place(image, where);

		if (place && relocated(symbols, info, addend, &value))
			memcpy(place, &value, sizeof(value));
	}
	return NULL;
}

struct error *py_data_image_load(struct elf_file *file,
				 struct py_data_image *ret)
{
	const struct elf_section *dynsym =
		elf_file_section_by_type(file, SHT_DYNSYM);
	struct bytes symbols = {};
	struct error *error = load_parts(file, ret);

	if (!error && dynsym)
		error = elf_file_section_bytes(file, dynsym, &symbols);
	for (size_t i = 0; i < file->section_count && !error; i++) {
		const struct elf_section *s = &file->sections[i];

		if (s->type == SHT_RELA && s->flags & SHF_ALLOC)
			error = relocate(file, s, symbols, ret);
	}
	return error;
}

void py_data_image_deinit(struct py_data_image *image)
{
	vec_for_each(part, &image->parts)
		free(part->bytes);
	vec_deinit(&image->parts);
}

uint64_t py_data_word(const struct py_data_image *image, uint64_t vaddr)
{
	const uint8_t *place = word_place(image, vaddr);
	uint64_t word = 0;

	if (place)
		memcpy(&word, place, sizeof(word));
	return word;
}

bool py_data_has(const struct py_data_image *image, uint64_t vaddr)
{
	return word_place(image, vaddr) != NULL;
}
