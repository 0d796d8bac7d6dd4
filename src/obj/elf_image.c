// SPDX-License-Identifier: GPL-2.0-only
#include "obj/elf_image.h"

#include <elf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/map.h"
#include "base/vec.h"
#include "obj/elf_put.h"

/*
 * Virtual addresses equal file offsets, for .text too, although that is
 * NOBITS: perf maps an address by its offset in the file, others by the load
 * segment, and both must come to the same. The text starts at the first span,
 * never at 0, which readers of DWARF take for code that the linker dropped.
 */

#define MAX_SIZE (1ull << 32)

enum section {
	SECTION_NULL,
	SECTION_NOTE,
	SECTION_TEXT,
	SECTION_SYMTAB,
	SECTION_STRTAB,
	SECTION_ABBREV,
	SECTION_INFO,
	SECTION_ARANGES,
	SECTION_LINE,
	SECTION_SHSTRTAB,
	SECTION_COUNT,
};

static const struct {
	const char *name;
	uint32_t type;
	uint64_t flags;
	uint64_t align;
} section_kinds[SECTION_COUNT] = {
	[SECTION_NULL] = { "", SHT_NULL, 0, 0 },
	[SECTION_NOTE] = { ".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, 4 },
	[SECTION_TEXT] = { ".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, 1 },
	[SECTION_SYMTAB] = { ".symtab", SHT_SYMTAB, 0, 8 },
	[SECTION_STRTAB] = { ".strtab", SHT_STRTAB, 0, 1 },
	[SECTION_ABBREV] = { ".debug_abbrev", SHT_PROGBITS, 0, 1 },
	[SECTION_INFO] = { ".debug_info", SHT_PROGBITS, 0, 1 },
	[SECTION_ARANGES] = { ".debug_aranges", SHT_PROGBITS, 0, 1 },
	[SECTION_LINE] = { ".debug_line", SHT_PROGBITS, 0, 1 },
	[SECTION_SHSTRTAB] = { ".shstrtab", SHT_STRTAB, 0, 1 },
};

#define PROGRAM_HEADERS 2

struct builder {
	const struct elf_image *image;
	struct strbuf *out;
	/* Where the image begins in out. */
	size_t start;
	/* Virtual addresses of the text. */
	uint64_t text;
	uint64_t text_end;
	Elf64_Shdr sections[SECTION_COUNT];
	/* Hash of a file name -> its number in `files`. */
	struct map file_by_hash;
	VEC(const char *) files;
};

static uint64_t span_address(const struct elf_image *image,
			     const struct elf_image_span *span)
{
	return span->start - image->base;
}

static uint64_t span_end(const struct elf_image *image,
			 const struct elf_image_span *span)
{
	return span_address(image, span) +
	       (uint64_t)span->slots * image->slot_size;
}

static bool has_lines(const struct elf_image_span *span)
{
	return span->filename && span->lines && span->slots;
}

static struct error *check_spans(const struct elf_image *image)
{
	uint64_t end = 0;

	for (size_t i = 0; i < image->count; i++) {
		const struct elf_image_span *span = &image->spans[i];

		if (span->start < image->base ||
		    span_address(image, span) < end ||
		    span_end(image, span) > MAX_SIZE)
			return error_create(ERROR_INVALID_ARGUMENT,
					    "a span of %" PRIu32
					    " slots at 0x%" PRIx64
					    " is out of order",
					    span->slots, span->start);
		end = span_end(image, span);
	}
	return NULL;
}

/* Sections */

static void begin_section(struct builder *b, enum section section)
{
	uint64_t align = section_kinds[section].align;
	size_t at = b->out->len - b->start;

	strbuf_fill(b->out, '\0', (align - at % align) % align);
	b->sections[section] = (Elf64_Shdr){
		.sh_type = section_kinds[section].type,
		.sh_flags = section_kinds[section].flags,
		.sh_addralign = align,
		.sh_offset = b->out->len - b->start,
	};
}

static void end_section(struct builder *b, enum section section)
{
	b->sections[section].sh_size =
		b->out->len - b->start - b->sections[section].sh_offset;
}

static void put_note(struct builder *b)
{
	begin_section(b, SECTION_NOTE);
	put_u32(b->out, 4);
	put_u32(b->out, ELF_IMAGE_BUILD_ID_SIZE);
	put_u32(b->out, NT_GNU_BUILD_ID);
	strbuf_append(b->out, "GNU", 4);
	strbuf_append(b->out, b->image->build_id, ELF_IMAGE_BUILD_ID_SIZE);
	end_section(b, SECTION_NOTE);
	b->sections[SECTION_NOTE].sh_addr = b->sections[SECTION_NOTE].sh_offset;
}

static void set_text(struct builder *b)
{
	b->sections[SECTION_TEXT] = (Elf64_Shdr){
		.sh_type = section_kinds[SECTION_TEXT].type,
		.sh_flags = section_kinds[SECTION_TEXT].flags,
		.sh_addralign = section_kinds[SECTION_TEXT].align,
		.sh_addr = b->text,
		.sh_offset = b->text,
		.sh_size = b->text_end - b->text,
	};
}

static void put_symbols(struct builder *b)
{
	const struct elf_image *image = b->image;
	Elf64_Sym symbol = {};
	uint64_t name = 1;

	begin_section(b, SECTION_SYMTAB);
	strbuf_append(b->out, &symbol, sizeof(symbol));
	for (size_t i = 0; i < image->count; i++) {
		const struct elf_image_span *span = &image->spans[i];

		symbol = (Elf64_Sym){
			.st_name = (uint32_t)name,
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = SECTION_TEXT,
			.st_value = span_address(image, span),
			.st_size = (uint64_t)span->slots * image->slot_size,
		};
		strbuf_append(b->out, &symbol, sizeof(symbol));
		name += strlen(span->symbol) + 1;
	}
	end_section(b, SECTION_SYMTAB);
	b->sections[SECTION_SYMTAB].sh_link = SECTION_STRTAB;
	/* The first symbol that is not local. */
	b->sections[SECTION_SYMTAB].sh_info = 1;
	b->sections[SECTION_SYMTAB].sh_entsize = sizeof(symbol);

	begin_section(b, SECTION_STRTAB);
	put_u8(b->out, 0);
	for (size_t i = 0; i < image->count; i++)
		put_cstr(b->out, image->spans[i].symbol);
	end_section(b, SECTION_STRTAB);
}

/* DWARF: one unit that covers the text, and its line table. */

enum {
	DW_TAG_compile_unit = 0x11,
	DW_AT_name = 0x03,
	DW_AT_stmt_list = 0x10,
	DW_AT_low_pc = 0x11,
	DW_AT_high_pc = 0x12,
	DW_AT_language = 0x13,
	DW_AT_producer = 0x25,
	DW_FORM_addr = 0x01,
	DW_FORM_data2 = 0x05,
	DW_FORM_data8 = 0x07,
	DW_FORM_string = 0x08,
	DW_FORM_sec_offset = 0x17,
	DW_LANG_Python = 0x14,
};

static void put_abbrev(struct builder *b)
{
	static const uint8_t abbrev[] = {
		1,		DW_TAG_compile_unit, 0,
		DW_AT_producer, DW_FORM_string,
		DW_AT_language, DW_FORM_data2,
		DW_AT_name,	DW_FORM_string,
		DW_AT_low_pc,	DW_FORM_addr,
		DW_AT_high_pc,	DW_FORM_data8,
		DW_AT_stmt_list, DW_FORM_sec_offset,
		0,		0,
		0,
	};

	begin_section(b, SECTION_ABBREV);
	strbuf_append(b->out, abbrev, sizeof(abbrev));
	end_section(b, SECTION_ABBREV);
}

static void put_info(struct builder *b)
{
	struct strbuf *out = b->out;
	size_t length;

	begin_section(b, SECTION_INFO);
	length = begin_length(out);
	put_u16(out, 4);
	put_u32(out, 0);
	put_u8(out, sizeof(uint64_t));
	put_uleb128(out, 1);
	put_cstr(out, "kaa");
	put_u16(out, DW_LANG_Python);
	put_cstr(out, "Python");
	put_u64(out, b->text);
	put_u64(out, b->text_end - b->text);
	put_u32(out, 0);
	patch_length(out, length);
	end_section(b, SECTION_INFO);
}

static void put_aranges(struct builder *b)
{
	begin_section(b, SECTION_ARANGES);
	put_address_ranges(b->out, b->text, b->text_end - b->text);
	end_section(b, SECTION_ARANGES);
}

static uint64_t hash_string(const char *s)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (; *s; s++)
		hash = (hash ^ (uint8_t)*s) * 0x100000001b3u;
	return hash;
}

/* The number of a file name, from 1; 0 when memory runs out. */
static uint64_t file_number(struct builder *b, const char *name)
{
	for (uint64_t key = hash_string(name);; key++) {
		uint64_t *index = map_find(&b->file_by_hash, key);

		if (index && strcmp(b->files.data[*index], name) == 0)
			return *index + 1;
		if (index)
			continue;
		if (!map_insert(&b->file_by_hash, key, b->files.count, NULL) ||
		    !vec_push(&b->files, name))
			return 0;
		return b->files.count;
	}
}

static bool collect_files(struct builder *b)
{
	for (size_t i = 0; i < b->image->count; i++) {
		const struct elf_image_span *span = &b->image->spans[i];

		if (has_lines(span) && !file_number(b, span->filename))
			return false;
	}
	return true;
}

static void put_line_header(struct builder *b)
{
	size_t length = line_table_begin_header(b->out);

	vec_for_each(name, &b->files)
		line_table_put_file(b->out, *name);
	line_table_end_header(b->out, length);
}

/* One sequence; the state machine starts at address 0, file 1, line 1. */
static void put_sequence(struct builder *b, const struct elf_image_span *span)
{
	struct strbuf *out = b->out;
	int64_t line = 1;

	line_table_begin(out, span_address(b->image, span));
	line_table_set_file(out, file_number(b, span->filename));
	for (uint32_t i = 0; i < span->slots; i++) {
		line_table_row(out, span->lines[i] - line,
			       i ? b->image->slot_size : 0);
		line = span->lines[i];
	}
	line_table_end(out, b->image->slot_size);
}

static void put_lines(struct builder *b)
{
	size_t length;

	begin_section(b, SECTION_LINE);
	length = begin_length(b->out);
	put_line_header(b);
	for (size_t i = 0; i < b->image->count; i++)
		if (has_lines(&b->image->spans[i]))
			put_sequence(b, &b->image->spans[i]);
	patch_length(b->out, length);
	end_section(b, SECTION_LINE);
}

/* Headers */

static void put_section_names(struct builder *b)
{
	begin_section(b, SECTION_SHSTRTAB);
	for (int i = 0; i < SECTION_COUNT; i++) {
		uint64_t at = b->out->len - b->start;

		b->sections[i].sh_name =
			(uint32_t)(at -
				   b->sections[SECTION_SHSTRTAB].sh_offset);
		put_cstr(b->out, section_kinds[i].name);
	}
	end_section(b, SECTION_SHSTRTAB);
}

static void fill_file_header(uint64_t sections_at, Elf64_Ehdr *ret)
{
	*ret = (Elf64_Ehdr){
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(*ret),
		.e_shoff = sections_at,
		.e_ehsize = sizeof(*ret),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = PROGRAM_HEADERS,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTION_COUNT,
		.e_shstrndx = SECTION_SHSTRTAB,
	};
}

static void fill_program_headers(const struct builder *b, Elf64_Phdr *ret)
{
	const Elf64_Shdr *note = &b->sections[SECTION_NOTE];
	uint64_t loaded = note->sh_offset + note->sh_size;

	ret[0] = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_filesz = loaded,
		.p_memsz = b->text_end > loaded ? b->text_end : loaded,
		.p_align = 0x1000,
	};
	ret[1] = (Elf64_Phdr){
		.p_type = PT_NOTE,
		.p_flags = PF_R,
		.p_offset = note->sh_offset,
		.p_vaddr = note->sh_offset,
		.p_paddr = note->sh_offset,
		.p_filesz = note->sh_size,
		.p_memsz = note->sh_size,
		.p_align = 4,
	};
}

static void put_headers(struct builder *b)
{
	Elf64_Phdr program[PROGRAM_HEADERS];
	Elf64_Ehdr header;
	uint64_t at;

	strbuf_fill(b->out, '\0', -(b->out->len - b->start) % 8);
	at = b->out->len - b->start;
	strbuf_append(b->out, b->sections, sizeof(b->sections));
	if (b->out->failed)
		return;
	fill_file_header(at, &header);
	fill_program_headers(b, program);
	memcpy(b->out->data + b->start, &header, sizeof(header));
	memcpy(b->out->data + b->start + sizeof(header), program,
	       sizeof(program));
}

static struct error *build(struct builder *b)
{
	if (!collect_files(b))
		return error_no_memory();
	strbuf_fill(b->out, '\0',
		    sizeof(Elf64_Ehdr) + PROGRAM_HEADERS * sizeof(Elf64_Phdr));
	put_note(b);
	set_text(b);
	put_symbols(b);
	put_abbrev(b);
	put_info(b);
	put_aranges(b);
	put_lines(b);
	put_section_names(b);
	put_headers(b);
	if (b->out->failed)
		return error_no_memory();
	if (b->out->len - b->start > UINT32_MAX)
		return error_create(ERROR_LIMIT,
				    "the image of Python symbols is too large");
	return NULL;
}

struct error *elf_image_write(const struct elf_image *image, struct strbuf *out)
{
	struct builder b = { .image = image, .out = out, .start = out->len };
	struct error *err = check_spans(image);

	if (err)
		return err;
	if (image->count) {
		b.text = span_address(image, &image->spans[0]);
		b.text_end = span_end(image, &image->spans[image->count - 1]);
	}
	err = build(&b);
	if (err)
		strbuf_truncate(out, b.start);
	vec_deinit(&b.files);
	map_deinit(&b.file_by_hash);
	return err;
}
