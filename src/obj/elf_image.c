// SPDX-License-Identifier: GPL-2.0-only
#include "obj/elf_image.h"

#include <elf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "obj/elf_writer.h"
#include "obj/line_writer.h"

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

static const struct elf_writer_row rows[SECTION_COUNT] = {
	[SECTION_NOTE] = { ".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, 4 },
	[SECTION_TEXT] = { ".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, 1 },
	ELF_WRITER_COMMON_ROWS(SECTION_SYMTAB, SECTION_ABBREV,
			       SECTION_SHSTRTAB),
};

#define PROGRAM_HEADERS 2

struct builder {
	const struct elf_image *image;
	struct strbuf *out;
	struct elf_writer elf;
	struct line_writer lines;
	/* Virtual addresses of the text. */
	uint64_t text;
	uint64_t text_end;
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

static void put_symbols(struct builder *b)
{
	const struct elf_image *image = b->image;
	Elf64_Sym symbol = {};
	uint64_t name = 1;

	elf_writer_begin(&b->elf, SECTION_SYMTAB);
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
	elf_writer_end(&b->elf, SECTION_SYMTAB);

	elf_writer_begin(&b->elf, SECTION_STRTAB);
	strbuf_putc(b->out, '\0');
	for (size_t i = 0; i < image->count; i++)
		strbuf_append(b->out, image->spans[i].symbol,
			      strlen(image->spans[i].symbol) + 1);
	elf_writer_end(&b->elf, SECTION_STRTAB);
	elf_writer_link_symtab(&b->elf, SECTION_SYMTAB, SECTION_STRTAB, 1);
}

/* One unit that covers the text. */
static void put_unit(struct builder *b)
{
	const struct dwarf_put_unit unit = {
		.producer = "kaa",
		.language = DWARF_LANG_PYTHON,
		.name = "Python",
		.start = b->text,
		.size = b->text_end - b->text,
	};

	elf_writer_add_unit(&b->elf, SECTION_ABBREV, &unit);
}

static bool collect_files(struct builder *b)
{
	for (size_t i = 0; i < b->image->count; i++) {
		const struct elf_image_span *span = &b->image->spans[i];

		if (has_lines(span) &&
		    !line_writer_file(&b->lines, span->filename))
			return false;
	}
	return true;
}

/* One sequence; the state machine starts at address 0, file 1, line 1. */
static void put_sequence(struct builder *b, const struct elf_image_span *span)
{
	struct line_writer *lines = &b->lines;
	int64_t line = 1;

	line_writer_sequence(lines, span_address(b->image, span));
	line_writer_set_file(lines, line_writer_file(lines, span->filename));
	for (uint32_t i = 0; i < span->slots; i++) {
		line_writer_row(lines, span->lines[i] - line,
				i ? b->image->slot_size : 0);
		line = span->lines[i];
	}
	line_writer_end_sequence(lines, b->image->slot_size);
}

static void put_lines(struct builder *b)
{
	elf_writer_begin(&b->elf, SECTION_LINE);
	line_writer_begin(&b->lines, b->out);
	for (size_t i = 0; i < b->image->count; i++)
		if (has_lines(&b->image->spans[i]))
			put_sequence(b, &b->image->spans[i]);
	line_writer_end(&b->lines);
	elf_writer_end(&b->elf, SECTION_LINE);
}

static void add_segments(struct builder *b)
{
	const Elf64_Shdr *note = &b->elf.sections[SECTION_NOTE];
	uint64_t loaded = note->sh_offset + note->sh_size;
	Elf64_Phdr load = elf_writer_segment(PT_LOAD, PF_R | PF_X, 0, loaded,
					     0x1000);
	Elf64_Phdr id = elf_writer_segment(PT_NOTE, PF_R, note->sh_offset,
					   note->sh_size, 4);

	if (b->text_end > loaded)
		load.p_memsz = b->text_end;
	elf_writer_add_segment(&b->elf, &load);
	elf_writer_add_segment(&b->elf, &id);
}

static struct error *build(struct builder *b)
{
	if (!collect_files(b))
		return error_no_memory();
	elf_writer_begin_image(&b->elf, b->out,
			       elf_writer_headers_size(PROGRAM_HEADERS));
	elf_writer_add_note(&b->elf, SECTION_NOTE, b->image->build_id);
	elf_writer_place(&b->elf, SECTION_TEXT, b->text,
			 b->text_end - b->text);
	put_symbols(b);
	put_unit(b);
	put_lines(b);
	add_segments(b);
	elf_writer_finish(&b->elf);
	if (b->out->failed)
		return error_no_memory();
	if (elf_writer_size(&b->elf) > UINT32_MAX)
		return error_create(ERROR_LIMIT,
				    "the image of Python symbols is too large");
	return NULL;
}

struct error *elf_image_write(const struct elf_image *image, struct strbuf *out)
{
	struct builder b = { .image = image,
			     .out = out,
			     .elf = { .rows = rows,
				      .count = SECTION_COUNT,
				      .machine = EM_X86_64 } };
	struct error *err = check_spans(image);
	size_t start = out->len;

	if (err)
		return err;
	if (image->count) {
		b.text = span_address(image, &image->spans[0]);
		b.text_end = span_end(image, &image->spans[image->count - 1]);
	}
	err = build(&b);
	if (err)
		strbuf_truncate(out, start);
	line_writer_deinit(&b.lines);
	return err;
}
