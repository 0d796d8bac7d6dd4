/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes an ELF image of 64 bits, little-endian: a shared library whose offsets
 * in the file are its virtual addresses.
 *
 * An image is a table of sections and where in the file each of them stands.
 * There are two ways to put one together:
 *
 * - In memory that grows: elf_writer_begin_image(), then each section between
 *   elf_writer_begin() and elf_writer_end(), or all at once; segments;
 *   elf_writer_finish().
 * - By a plan, in memory of the caller's: each section placed with
 *   elf_writer_place(); segments; then elf_writer_put_*() into the places that
 *   are theirs. These allocate nothing, so that the agent can use them.
 *
 * Source: System V ABI (gABI) chapters 4 and 5; .note.gnu.build-id as GNU ld
 * writes it.
 */
#ifndef KAA_OBJ_ELF_WRITER_H
#define KAA_OBJ_ELF_WRITER_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/put_bytes.h"
#include "base/strbuf.h"
#include "obj/dwarf_put.h"

#define ELF_WRITER_SECTIONS_MAX 16
#define ELF_WRITER_SEGMENTS_MAX 3
#define ELF_WRITER_BUILD_ID_SIZE 20
/* The note that holds a build-id, and where in it that begins. */
#define ELF_WRITER_NOTE_SIZE 36
#define ELF_WRITER_NOTE_HEAD 16

/*
 * A row of an image's table, in the order of section headers. The first is the
 * one that ELF leaves unused ("", SHT_NULL); the last is .shstrtab.
 */
struct elf_writer_row {
	const char *name;
	uint32_t type;
	/* With SHF_ALLOC the section's address is its offset, else 0. */
	uint64_t flags;
	uint64_t align;
};

/*
 * The rows that are the same in all images: the unused one; from symtab on .symtab
 * and .strtab; from abbrev on those of debug information; and the names.
 */
#define ELF_WRITER_COMMON_ROWS(symtab, abbrev, names)                     \
	[0] = { "", SHT_NULL, 0, 0 },                                     \
	[symtab] = { ".symtab", SHT_SYMTAB, 0, 8 },                       \
	[(symtab) + 1] = { ".strtab", SHT_STRTAB, 0, 1 },                 \
	[abbrev] = { ".debug_abbrev", SHT_PROGBITS, 0, 1 },               \
	[(abbrev) + 1] = { ".debug_info", SHT_PROGBITS, 0, 1 },           \
	[(abbrev) + 2] = { ".debug_aranges", SHT_PROGBITS, 0, 1 },        \
	[(abbrev) + 3] = { ".debug_line", SHT_PROGBITS, 0, 1 },           \
	[names] = { ".shstrtab", SHT_STRTAB, 0, 1 }

/* Zero-initialise; set rows, count and machine. */
struct elf_writer {
	const struct elf_writer_row *rows;
	size_t count;
	/* ELF e_machine */
	uint16_t machine;
	/* By row; one without a type has not been placed: it has no header. */
	Elf64_Shdr sections[ELF_WRITER_SECTIONS_MAX];
	Elf64_Phdr segments[ELF_WRITER_SEGMENTS_MAX];
	size_t segment_count;
	/* Memory that grows, and where in it the image begins. */
	struct strbuf *out;
	size_t start;
};

/* Bytes that the file begins with: its header and those of segments. */
size_t elf_writer_headers_size(size_t segments);
/* Bytes of .shstrtab. */
size_t elf_writer_names_size(const struct elf_writer *w);

/* Says where a section stands. */
void elf_writer_place(struct elf_writer *w, size_t row, uint64_t offset,
		      uint64_t size);
/*
 * Both have been placed. first_global: the first symbol that is not local;
 * symbols are Elf64_Sym.
 */
void elf_writer_link_symtab(struct elf_writer *w, size_t symtab, size_t strtab,
			    uint32_t first_global);
void elf_writer_add_segment(struct elf_writer *w, const Elf64_Phdr *segment);
/* A segment that is in memory what it is in the file. */
Elf64_Phdr elf_writer_segment(uint32_t type, uint32_t flags, uint64_t offset,
			      uint64_t size, uint64_t align);

/* What stands in .note.gnu.build-id; id NULL: zeros. */
void elf_writer_put_note(struct put *p,
			 const uint8_t id[ELF_WRITER_BUILD_ID_SIZE]);
/* What stands in .shstrtab; before elf_writer_put_sections(). */
void elf_writer_put_names(struct elf_writer *w, struct put *p);
/* The headers of sections, one for each that was placed. */
void elf_writer_put_sections(struct elf_writer *w, struct put *p);
/* What the file begins with; sections_at: where the headers of sections are. */
void elf_writer_put_headers(const struct elf_writer *w, uint64_t sections_at,
			    struct put *p);

/* Begins an image at the end of w->out; head: bytes before the first section. */
void elf_writer_begin_image(struct elf_writer *w, struct strbuf *out,
			    size_t head);
/* Bytes of the image so far. */
size_t elf_writer_size(const struct elf_writer *w);
/* What is appended to w->out from one to the other is the section. */
void elf_writer_begin(struct elf_writer *w, size_t row);
void elf_writer_end(struct elf_writer *w, size_t row);
/* A section at once. */
void elf_writer_add(struct elf_writer *w, size_t row, struct bytes bytes);
void elf_writer_add_note(struct elf_writer *w, size_t row,
			 const uint8_t id[ELF_WRITER_BUILD_ID_SIZE]);
/* .debug_abbrev, .debug_info and .debug_aranges, three rows in this order. */
void elf_writer_add_unit(struct elf_writer *w, size_t abbrev,
			 const struct dwarf_put_unit *unit);
/* .shstrtab and all headers. w->out may have failed: see strbuf_error(). */
void elf_writer_finish(struct elf_writer *w);

#endif
