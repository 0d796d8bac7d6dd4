// SPDX-License-Identifier: GPL-2.0-only
#include "obj/jit_image.h"

#include <elf.h>
#include <string.h>

#include "base/map.h"
#include "base/vec.h"
#include "obj/elf_writer.h"
#include "obj/line_writer.h"

/* In the order in which they stand in the file. */
enum section {
	SECTION_NULL,
	SECTION_TEXT,
	SECTION_EH_FRAME,
	SECTION_EH_FRAME_HDR,
	SECTION_SYMTAB,
	SECTION_STRTAB,
	SECTION_ABBREV,
	SECTION_INFO,
	SECTION_ARANGES,
	SECTION_LINE,
	SECTION_NOTE,
	SECTION_SHSTRTAB,
	SECTION_COUNT,
};

static const struct elf_writer_row rows[SECTION_COUNT] = {
	[SECTION_TEXT] = { ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 16 },
	[SECTION_EH_FRAME] = { ".eh_frame", SHT_PROGBITS, SHF_ALLOC, 8 },
	/* Directly behind, where the offsets in it begin. */
	[SECTION_EH_FRAME_HDR] = { ".eh_frame_hdr", SHT_PROGBITS, SHF_ALLOC, 1 },
	[SECTION_NOTE] = { ".note.gnu.build-id", SHT_NOTE, 0, 4 },
	ELF_WRITER_COMMON_ROWS(SECTION_SYMTAB, SECTION_ABBREV,
			       SECTION_SHSTRTAB),
};

struct image_line {
	struct jitdump_line in;
	/* Of its file, from 1. */
	uint64_t file_number;
};

struct builder {
	const struct jit_image *image;
	struct strbuf *out;
	struct elf_writer elf;
	struct line_writer table;
	/* Ascending. */
	VEC(struct image_line) lines;
};

uint64_t jit_image_mapped(uint64_t code_size,
			  const struct jitdump_unwinding *unwinding)
{
	uint64_t aligned = (code_size + 7) & ~7ull;

	if (!unwinding->mapped_size ||
	    unwinding->mapped_size > JIT_IMAGE_CODE_MAX)
		return code_size;
	return aligned + unwinding->mapped_size;
}

/* --- Sections ----------------------------------------------------------- */

static void put_code(struct builder *b)
{
	const struct jitdump_unwinding *unwinding = &b->image->unwinding;

	elf_writer_add(&b->elf, SECTION_TEXT, b->image->code);
	if (unwinding->eh_frame.size)
		elf_writer_add(&b->elf, SECTION_EH_FRAME, unwinding->eh_frame);
	if (unwinding->eh_frame.size && unwinding->eh_frame_hdr.size)
		elf_writer_add(&b->elf, SECTION_EH_FRAME_HDR,
			       unwinding->eh_frame_hdr);
}

static void put_symbols(struct builder *b)
{
	uint64_t address = b->image->symbol_address;
	const Elf64_Sym symbols[2] = {
		{},
		{ .st_name = 1,
		  .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
		  .st_shndx = SECTION_TEXT,
		  .st_value = address ? address : JIT_IMAGE_TEXT,
		  .st_size = b->image->code.size },
	};

	elf_writer_add(&b->elf, SECTION_SYMTAB,
		       (struct bytes){ (const uint8_t *)symbols,
				       sizeof(symbols) });
	elf_writer_begin(&b->elf, SECTION_STRTAB);
	strbuf_putc(b->out, '\0');
	strbuf_append(b->out, b->image->name, strlen(b->image->name) + 1);
	elf_writer_end(&b->elf, SECTION_STRTAB);
	elf_writer_link_symtab(&b->elf, SECTION_SYMTAB, SECTION_STRTAB, 2);
}

/* --- Lines: one unit that covers the code ------------------------------- */

static int compare_lines(const void *a, const void *b)
{
	const struct jitdump_line *x = &((const struct image_line *)a)->in;
	const struct jitdump_line *y = &((const struct image_line *)b)->in;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	/* As in the dump: there the entries stand one behind the other. */
	return x->file < y->file ? -1 : x->file > y->file;
}

/* Ascending already, nearly always. */
static void sort_lines(struct builder *b)
{
	for (size_t i = 1; i < b->lines.count; i++) {
		if (b->lines.data[i - 1].in.address <= b->lines.data[i].in.address)
			continue;
		qsort(b->lines.data, b->lines.count, sizeof(*b->lines.data),
		      compare_lines);
		return;
	}
}

static bool collect_lines(struct builder *b)
{
	struct jitdump_lines lines = b->image->lines;
	struct image_line line;
	bool good = true;

	/* In this order: entries that share a name stand one behind the other. */
	while (good && jitdump_next_line(&lines, &line.in)) {
		line.file_number = line_writer_file(&b->table, line.in.file);
		good = line.file_number && vec_push(&b->lines, line);
	}
	sort_lines(b);
	return good;
}

static void put_unit(struct builder *b)
{
	const struct dwarf_put_unit unit = {
		.name = b->table.files.data[0],
		.start = JIT_IMAGE_TEXT,
		.size = b->image->code.size,
	};

	elf_writer_add_unit(&b->elf, SECTION_ABBREV, &unit);
}

static void put_rows(struct builder *b)
{
	uint64_t at = 0, file = 1, line = 1;

	line_writer_sequence(&b->table, JIT_IMAGE_TEXT);
	for (size_t i = 0; i < b->lines.count; i++) {
		const struct image_line *l = &b->lines.data[i];
		uint64_t offset = l->in.address - b->image->address;

		/* Nothing is at the end, where a writer may put its last line. */
		if (offset >= b->image->code.size)
			break;
		if (l->file_number != file) {
			file = l->file_number;
			line_writer_set_file(&b->table, file);
		}
		line_writer_row(&b->table, (int64_t)l->in.line - (int64_t)line,
				offset - at);
		line = l->in.line;
		at = offset;
	}
	line_writer_end_sequence(&b->table, b->image->code.size - at);
}

static void put_line_table(struct builder *b)
{
	elf_writer_begin(&b->elf, SECTION_LINE);
	line_writer_begin(&b->table, b->out);
	put_rows(b);
	line_writer_end(&b->table);
	elf_writer_end(&b->elf, SECTION_LINE);
}

static void put_debug(struct builder *b)
{
	if (!b->lines.count || !b->image->code.size)
		return;
	put_unit(b);
	put_line_table(b);
}

/* --- Build-id and headers ----------------------------------------------- */

/* Three times 64 bits, each from another start. */
static void hash(struct builder *b, uint8_t ret[JIT_IMAGE_BUILD_ID_SIZE])
{
	const char *data = b->out->data + b->elf.start;
	size_t size = elf_writer_size(&b->elf);
	uint64_t h[3] = { b->image->address, b->image->index, size };

	for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
		size_t n = size - at;
		uint64_t word = 0;

		memcpy(&word, data + at, n < sizeof(word) ? n : sizeof(word));
		for (int i = 0; i < 3; i++)
			h[i] = hash_combine(h[i], word + (uint64_t)i);
	}
	h[2] = hash_combine(h[0], h[2]);
	h[1] = hash_combine(h[2], h[1]);
	memcpy(ret, h, JIT_IMAGE_BUILD_ID_SIZE);
}

static void add_segment(struct builder *b)
{
	const Elf64_Shdr *last = &b->elf.sections[SECTION_TEXT];
	Elf64_Phdr load;

	if (b->elf.sections[SECTION_EH_FRAME].sh_type)
		last = &b->elf.sections[SECTION_EH_FRAME];
	if (b->elf.sections[SECTION_EH_FRAME_HDR].sh_type)
		last = &b->elf.sections[SECTION_EH_FRAME_HDR];
	load = elf_writer_segment(PT_LOAD, PF_R | PF_X, JIT_IMAGE_TEXT,
				  last->sh_offset + last->sh_size -
					  JIT_IMAGE_TEXT,
				  8);
	elf_writer_add_segment(&b->elf, &load);
}

static void build(struct builder *b, uint8_t build_id[JIT_IMAGE_BUILD_ID_SIZE])
{
	size_t note;

	_Static_assert(sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) <=
			       JIT_IMAGE_TEXT,
		       "the headers stand before the code");
	elf_writer_begin_image(&b->elf, b->out, JIT_IMAGE_TEXT);
	put_code(b);
	put_symbols(b);
	put_debug(b);
	elf_writer_add_note(&b->elf, SECTION_NOTE, NULL);
	if (b->out->failed)
		return;
	hash(b, build_id);
	note = b->elf.start + b->elf.sections[SECTION_NOTE].sh_offset +
	       ELF_WRITER_NOTE_HEAD;
	memcpy(b->out->data + note, build_id, JIT_IMAGE_BUILD_ID_SIZE);
	add_segment(b);
	elf_writer_finish(&b->elf);
}

struct error *jit_image_write(const struct jit_image *image, struct strbuf *out,
			      uint8_t build_id[JIT_IMAGE_BUILD_ID_SIZE])
{
	struct builder b = { .image = image,
			     .out = out,
			     .elf = { .rows = rows,
				      .count = SECTION_COUNT,
				      .machine = image->machine ?: EM_X86_64 } };
	size_t start = out->len;
	uint8_t id[JIT_IMAGE_BUILD_ID_SIZE] = {};
	struct error *error = NULL;

	if (image->code.size > JIT_IMAGE_CODE_MAX)
		return error_create(ERROR_LIMIT,
				    "'%s' is too large for an image: %zu bytes",
				    image->name, image->code.size);
	if (collect_lines(&b))
		build(&b, id);
	else
		error = error_no_memory();
	if (!error)
		error = strbuf_error(out);
	if (error)
		strbuf_truncate(out, start);
	else
		memcpy(build_id, id, sizeof(id));
	vec_deinit(&b.lines);
	line_writer_deinit(&b.table);
	return error;
}
