// SPDX-License-Identifier: GPL-2.0-only
#include "obj/elf_writer.h"

#include <stdbool.h>
#include <string.h>

_Static_assert(ELF_WRITER_NOTE_SIZE ==
		       ELF_WRITER_NOTE_HEAD + ELF_WRITER_BUILD_ID_SIZE,
	       "a note is its head and the build-id");

size_t elf_writer_headers_size(size_t segments)
{
	return sizeof(Elf64_Ehdr) + segments * sizeof(Elf64_Phdr);
}

size_t elf_writer_names_size(const struct elf_writer *w)
{
	size_t size = 0;

	for (size_t i = 0; i < w->count; i++)
		size += strlen(w->rows[i].name) + 1;
	return size;
}

/* --- Where things stand ------------------------------------------------- */

void elf_writer_place(struct elf_writer *w, size_t row, uint64_t offset,
		      uint64_t size)
{
	const struct elf_writer_row *kind = &w->rows[row];

	w->sections[row] = (Elf64_Shdr){
		.sh_type = kind->type,
		.sh_flags = kind->flags,
		.sh_addr = kind->flags & SHF_ALLOC ? offset : 0,
		.sh_offset = offset,
		.sh_size = size,
		.sh_addralign = kind->align,
	};
}

void elf_writer_link_symtab(struct elf_writer *w, size_t symtab, size_t strtab,
			    uint32_t first_global)
{
	w->sections[symtab].sh_link = (uint32_t)strtab;
	w->sections[symtab].sh_info = first_global;
	w->sections[symtab].sh_entsize = sizeof(Elf64_Sym);
}

void elf_writer_add_segment(struct elf_writer *w, const Elf64_Phdr *segment)
{
	w->segments[w->segment_count++] = *segment;
}

Elf64_Phdr elf_writer_segment(uint32_t type, uint32_t flags, uint64_t offset,
			      uint64_t size, uint64_t align)
{
	return (Elf64_Phdr){
		.p_type = type,
		.p_flags = flags,
		.p_offset = offset,
		.p_vaddr = offset,
		.p_paddr = offset,
		.p_filesz = size,
		.p_memsz = size,
		.p_align = align,
	};
}

/* --- What stands there -------------------------------------------------- */

void elf_writer_put_note(struct put *p,
			 const uint8_t id[ELF_WRITER_BUILD_ID_SIZE])
{
	static const uint8_t none[ELF_WRITER_BUILD_ID_SIZE];

	put_u32(p, 4);
	put_u32(p, ELF_WRITER_BUILD_ID_SIZE);
	put_u32(p, NT_GNU_BUILD_ID);
	put_bytes(p, "GNU", 4);
	put_bytes(p, id ? id : none, ELF_WRITER_BUILD_ID_SIZE);
}

void elf_writer_put_names(struct elf_writer *w, struct put *p)
{
	const uint8_t *start = p->at;

	for (size_t i = 0; i < w->count; i++) {
		w->sections[i].sh_name = (uint32_t)(p->at - start);
		put_cstr(p, w->rows[i].name);
	}
}

static bool has_header(const struct elf_writer *w, size_t row)
{
	return !row || w->sections[row].sh_type;
}

/* Sections that were not placed have no header: numbers move up. */
static uint16_t number_of(const struct elf_writer *w, size_t row)
{
	uint16_t number = 0;

	for (size_t i = 0; i < row; i++)
		number += has_header(w, i);
	return number;
}

void elf_writer_put_sections(struct elf_writer *w, struct put *p)
{
	for (size_t i = 0; i < w->count; i++) {
		Elf64_Shdr header = w->sections[i];

		if (!has_header(w, i))
			continue;
		header.sh_link = number_of(w, header.sh_link);
		put_bytes(p, &header, sizeof(header));
	}
}

void elf_writer_put_headers(const struct elf_writer *w, uint64_t sections_at,
			    struct put *p)
{
	const Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = w->machine,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_shoff = sections_at,
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = (uint16_t)w->segment_count,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = number_of(w, w->count),
		.e_shstrndx = number_of(w, w->count - 1),
	};

	put_bytes(p, &header, sizeof(header));
	put_bytes(p, w->segments, w->segment_count * sizeof(*w->segments));
}

/* --- Memory that grows -------------------------------------------------- */

/* Appends bytes that are to be filled in; at NULL if memory ran out. */
static struct put append(struct elf_writer *w, size_t size)
{
	strbuf_fill(w->out, '\0', size);
	return (struct put){ w->out->failed ? NULL :
					      (uint8_t *)w->out->data +
						      w->out->len - size };
}

void elf_writer_begin_image(struct elf_writer *w, struct strbuf *out,
			    size_t head)
{
	w->out = out;
	w->start = out->len;
	strbuf_fill(out, '\0', head);
}

size_t elf_writer_size(const struct elf_writer *w)
{
	return w->out->len - w->start;
}

void elf_writer_begin(struct elf_writer *w, size_t row)
{
	uint64_t align = w->rows[row].align;

	strbuf_fill(w->out, '\0', (align - elf_writer_size(w) % align) % align);
	elf_writer_place(w, row, elf_writer_size(w), 0);
}

void elf_writer_end(struct elf_writer *w, size_t row)
{
	w->sections[row].sh_size =
		elf_writer_size(w) - w->sections[row].sh_offset;
}

void elf_writer_add(struct elf_writer *w, size_t row, struct bytes bytes)
{
	elf_writer_begin(w, row);
	strbuf_append(w->out, bytes.data, bytes.size);
	elf_writer_end(w, row);
}

void elf_writer_add_note(struct elf_writer *w, size_t row,
			 const uint8_t id[ELF_WRITER_BUILD_ID_SIZE])
{
	uint8_t note[ELF_WRITER_NOTE_SIZE];
	struct put p = { note };

	elf_writer_put_note(&p, id);
	elf_writer_add(w, row, (struct bytes){ note, sizeof(note) });
}

void elf_writer_add_unit(struct elf_writer *w, size_t abbrev,
			 const struct dwarf_put_unit *unit)
{
	uint8_t bytes[DWARF_PUT_RANGES_SIZE];
	size_t info = abbrev + 1, ranges = abbrev + 2;
	struct put p = { bytes };

	_Static_assert(DWARF_PUT_ABBREV_MAX <= sizeof(bytes),
		       "there is room for an abbreviation");
	dwarf_put_abbrev(&p, unit);
	elf_writer_add(w, abbrev,
		       (struct bytes){ bytes, dwarf_put_abbrev_size(unit) });
	elf_writer_begin(w, info);
	p = append(w, dwarf_put_info_size(unit));
	if (p.at)
		dwarf_put_info(&p, unit);
	elf_writer_end(w, info);
	p.at = bytes;
	dwarf_put_ranges(&p, unit);
	elf_writer_add(w, ranges, (struct bytes){ bytes, sizeof(bytes) });
}

void elf_writer_finish(struct elf_writer *w)
{
	size_t names = w->count - 1;
	uint64_t sections_at;
	struct put p;

	elf_writer_begin(w, names);
	p = append(w, elf_writer_names_size(w));
	if (p.at)
		elf_writer_put_names(w, &p);
	elf_writer_end(w, names);
	strbuf_fill(w->out, '\0', -elf_writer_size(w) % 8);
	sections_at = elf_writer_size(w);
	p = append(w, number_of(w, w->count) * sizeof(Elf64_Shdr));
	if (!p.at)
		return;
	elf_writer_put_sections(w, &p);
	p.at = (uint8_t *)w->out->data + w->start;
	elf_writer_put_headers(w, sections_at, &p);
}
