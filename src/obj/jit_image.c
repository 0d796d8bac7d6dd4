// SPDX-License-Identifier: GPL-2.0-only
#include "obj/jit_image.h"

#include <elf.h>
#include <string.h>

#include "base/map.h"
#include "base/vec.h"
#include "obj/elf_put.h"

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

static const struct {
	const char *name;
	uint32_t type;
	uint64_t flags;
	uint64_t align;
} section_kinds[SECTION_COUNT] = {
	[SECTION_NULL] = { "", SHT_NULL, 0, 1 },
	[SECTION_TEXT] = { ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 16 },
	[SECTION_EH_FRAME] = { ".eh_frame", SHT_PROGBITS, SHF_ALLOC, 8 },
	/* Directly behind, where the offsets in it begin. */
	[SECTION_EH_FRAME_HDR] = { ".eh_frame_hdr", SHT_PROGBITS, SHF_ALLOC, 1 },
	[SECTION_SYMTAB] = { ".symtab", SHT_SYMTAB, 0, 8 },
	[SECTION_STRTAB] = { ".strtab", SHT_STRTAB, 0, 1 },
	[SECTION_ABBREV] = { ".debug_abbrev", SHT_PROGBITS, 0, 1 },
	[SECTION_INFO] = { ".debug_info", SHT_PROGBITS, 0, 1 },
	[SECTION_ARANGES] = { ".debug_aranges", SHT_PROGBITS, 0, 1 },
	[SECTION_LINE] = { ".debug_line", SHT_PROGBITS, 0, 1 },
	[SECTION_NOTE] = { ".note.gnu.build-id", SHT_NOTE, 0, 4 },
	[SECTION_SHSTRTAB] = { ".shstrtab", SHT_STRTAB, 0, 1 },
};

/* Behind name and type of the note. */
#define NOTE_HEAD 16

struct builder {
	const struct jit_image *image;
	struct strbuf *out;
	/* Where the image begins in out. */
	size_t start;
	/* Those that are there, by enum section; the others have size 0. */
	Elf64_Shdr sections[SECTION_COUNT];
	/* Ascending. */
	VEC(struct jitdump_line) lines;
	/* Number of each line's file, from 1. */
	VEC(uint64_t) file_numbers;
	VEC(const char *) files;
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
	if (section_kinds[section].flags & SHF_ALLOC)
		b->sections[section].sh_addr = b->sections[section].sh_offset;
}

static void end_section(struct builder *b, enum section section)
{
	b->sections[section].sh_size =
		b->out->len - b->start - b->sections[section].sh_offset;
}

static void put_section(struct builder *b, enum section section,
			struct bytes bytes)
{
	begin_section(b, section);
	strbuf_append(b->out, bytes.data, bytes.size);
	end_section(b, section);
}

static void put_code(struct builder *b)
{
	const struct jitdump_unwinding *unwinding = &b->image->unwinding;

	put_section(b, SECTION_TEXT, b->image->code);
	if (unwinding->eh_frame.size)
		put_section(b, SECTION_EH_FRAME, unwinding->eh_frame);
	if (unwinding->eh_frame.size && unwinding->eh_frame_hdr.size)
		put_section(b, SECTION_EH_FRAME_HDR, unwinding->eh_frame_hdr);
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

	begin_section(b, SECTION_SYMTAB);
	strbuf_append(b->out, symbols, sizeof(symbols));
	end_section(b, SECTION_SYMTAB);
	/* The first symbol that is not local. */
	b->sections[SECTION_SYMTAB].sh_info = 2;
	b->sections[SECTION_SYMTAB].sh_entsize = sizeof(symbols[0]);
	begin_section(b, SECTION_STRTAB);
	put_u8(b->out, 0);
	put_cstr(b->out, b->image->name);
	end_section(b, SECTION_STRTAB);
}

/* --- Lines: one unit that covers the code ------------------------------- */

enum {
	DW_TAG_compile_unit = 0x11,
	DW_AT_name = 0x03,
	DW_AT_stmt_list = 0x10,
	DW_AT_low_pc = 0x11,
	DW_AT_high_pc = 0x12,
	DW_FORM_addr = 0x01,
	DW_FORM_data8 = 0x07,
	DW_FORM_string = 0x08,
	DW_FORM_sec_offset = 0x17,
};

static int compare_lines(const void *a, const void *b)
{
	const struct jitdump_line *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	/* As in the dump: there the entries stand one behind the other. */
	return x->file < y->file ? -1 : x->file > y->file;
}

/* Ascending already, nearly always. */
static void sort_lines(struct builder *b)
{
	for (size_t i = 1; i < b->lines.count; i++) {
		if (b->lines.data[i - 1].address <= b->lines.data[i].address)
			continue;
		qsort(b->lines.data, b->lines.count, sizeof(*b->lines.data),
		      compare_lines);
		return;
	}
}

/* The number of a file, from 1; 0 when memory runs out. */
static uint64_t file_number(struct builder *b, struct map *by_hash,
			    const char *name)
{
	uint64_t key = 0;

	for (const char *p = name; *p; p++)
		key = hash_combine(key, (uint8_t)*p);
	for (;; key++) {
		uint64_t *index = map_find(by_hash, key);

		if (index && !strcmp(b->files.data[*index], name))
			return *index + 1;
		if (index)
			continue;
		if (!map_insert(by_hash, key, b->files.count, NULL) ||
		    !vec_push(&b->files, name))
			return 0;
		return b->files.count;
	}
}

static bool collect_lines(struct builder *b)
{
	struct jitdump_lines lines = b->image->lines;
	struct jitdump_line line;
	struct map by_hash = {};
	bool good = true;

	while (good && jitdump_next_line(&lines, &line))
		good = vec_push(&b->lines, line);
	sort_lines(b);
	for (size_t i = 0; good && i < b->lines.count; i++) {
		uint64_t number =
			file_number(b, &by_hash, b->lines.data[i].file);

		good = number && vec_push(&b->file_numbers, number);
	}
	map_deinit(&by_hash);
	return good;
}

static void put_abbrev(struct builder *b)
{
	static const uint8_t abbrev[] = {
		1,	      DW_TAG_compile_unit, 0,
		DW_AT_name,   DW_FORM_string,
		DW_AT_low_pc, DW_FORM_addr,
		DW_AT_high_pc, DW_FORM_data8,
		DW_AT_stmt_list, DW_FORM_sec_offset,
		0,	      0,
		0,
	};

	put_section(b, SECTION_ABBREV,
		    (struct bytes){ abbrev, sizeof(abbrev) });
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
	put_cstr(out, b->files.data[0]);
	put_u64(out, JIT_IMAGE_TEXT);
	put_u64(out, b->image->code.size);
	put_u32(out, 0);
	patch_length(out, length);
	end_section(b, SECTION_INFO);
}

static void put_aranges(struct builder *b)
{
	begin_section(b, SECTION_ARANGES);
	put_address_ranges(b->out, JIT_IMAGE_TEXT, b->image->code.size);
	end_section(b, SECTION_ARANGES);
}

static void put_rows(struct builder *b)
{
	uint64_t at = 0, file = 1, line = 1;

	line_table_begin(b->out, JIT_IMAGE_TEXT);
	for (size_t i = 0; i < b->lines.count; i++) {
		const struct jitdump_line *l = &b->lines.data[i];
		uint64_t offset = l->address - b->image->address;

		/* Nothing is at the end, where a writer may put its last line. */
		if (offset >= b->image->code.size)
			break;
		if (b->file_numbers.data[i] != file) {
			file = b->file_numbers.data[i];
			line_table_set_file(b->out, file);
		}
		line_table_row(b->out, (int64_t)l->line - (int64_t)line,
			       offset - at);
		line = l->line;
		at = offset;
	}
	line_table_end(b->out, b->image->code.size - at);
}

static void put_line_table(struct builder *b)
{
	size_t length, header;

	begin_section(b, SECTION_LINE);
	length = begin_length(b->out);
	header = line_table_begin_header(b->out);
	vec_for_each(name, &b->files)
		line_table_put_file(b->out, *name);
	line_table_end_header(b->out, header);
	put_rows(b);
	patch_length(b->out, length);
	end_section(b, SECTION_LINE);
}

static void put_debug(struct builder *b)
{
	if (!b->lines.count || !b->image->code.size)
		return;
	put_abbrev(b);
	put_info(b);
	put_aranges(b);
	put_line_table(b);
}

/* --- Build-id and headers ----------------------------------------------- */

static void put_note(struct builder *b)
{
	begin_section(b, SECTION_NOTE);
	put_u32(b->out, 4);
	put_u32(b->out, JIT_IMAGE_BUILD_ID_SIZE);
	put_u32(b->out, NT_GNU_BUILD_ID);
	strbuf_append(b->out, "GNU", 4);
	strbuf_fill(b->out, '\0', JIT_IMAGE_BUILD_ID_SIZE);
	end_section(b, SECTION_NOTE);
}

/* Three times 64 bits, each from another start. */
static void hash(struct builder *b, uint8_t ret[JIT_IMAGE_BUILD_ID_SIZE])
{
	const char *data = b->out->data + b->start;
	size_t size = b->out->len - b->start;
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

static bool is_there(const struct builder *b, int section)
{
	return section == SECTION_NULL || b->sections[section].sh_type;
}

/* Sections that are not there have no header: numbers move up. */
static uint16_t put_section_headers(struct builder *b, uint16_t *names)
{
	uint16_t numbers[SECTION_COUNT] = {};
	uint16_t count = 0;

	for (int i = 0; i < SECTION_COUNT; i++)
		if (is_there(b, i))
			numbers[i] = count++;
	b->sections[SECTION_SYMTAB].sh_link = numbers[SECTION_STRTAB];
	b->sections[SECTION_NULL] = (Elf64_Shdr){};
	for (int i = 0; i < SECTION_COUNT; i++)
		if (is_there(b, i))
			strbuf_append(b->out, &b->sections[i],
				      sizeof(b->sections[i]));
	*names = numbers[SECTION_SHSTRTAB];
	return count;
}

static Elf64_Phdr program_header(const struct builder *b)
{
	const Elf64_Shdr *last = &b->sections[SECTION_TEXT];
	uint64_t size;

	if (b->sections[SECTION_EH_FRAME].sh_type)
		last = &b->sections[SECTION_EH_FRAME];
	if (b->sections[SECTION_EH_FRAME_HDR].sh_type)
		last = &b->sections[SECTION_EH_FRAME_HDR];
	size = last->sh_offset + last->sh_size - JIT_IMAGE_TEXT;
	return (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_offset = JIT_IMAGE_TEXT,
		.p_vaddr = JIT_IMAGE_TEXT,
		.p_paddr = JIT_IMAGE_TEXT,
		.p_filesz = size,
		.p_memsz = size,
		.p_align = 8,
	};
}

static void put_headers(struct builder *b)
{
	Elf64_Phdr program = program_header(b);
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = b->image->machine ? b->image->machine
					       : EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(program),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
	};

	strbuf_fill(b->out, '\0', -(b->out->len - b->start) % 8);
	header.e_shoff = b->out->len - b->start;
	header.e_shnum = put_section_headers(b, &header.e_shstrndx);
	if (b->out->failed)
		return;
	memcpy(b->out->data + b->start, &header, sizeof(header));
	memcpy(b->out->data + b->start + sizeof(header), &program,
	       sizeof(program));
}

static void build(struct builder *b, uint8_t build_id[JIT_IMAGE_BUILD_ID_SIZE])
{
	size_t note;

	_Static_assert(sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) <=
			       JIT_IMAGE_TEXT,
		       "the headers stand before the code");
	strbuf_fill(b->out, '\0', JIT_IMAGE_TEXT);
	put_code(b);
	put_symbols(b);
	put_debug(b);
	put_note(b);
	if (b->out->failed)
		return;
	hash(b, build_id);
	note = b->start + b->sections[SECTION_NOTE].sh_offset + NOTE_HEAD;
	memcpy(b->out->data + note, build_id, JIT_IMAGE_BUILD_ID_SIZE);
	put_section_names(b);
	put_headers(b);
}

struct error *jit_image_write(const struct jit_image *image, struct strbuf *out,
			      uint8_t build_id[JIT_IMAGE_BUILD_ID_SIZE])
{
	struct builder b = { .image = image, .out = out, .start = out->len };
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
		strbuf_truncate(out, b.start);
	else
		memcpy(build_id, id, sizeof(id));
	vec_deinit(&b.lines);
	vec_deinit(&b.file_numbers);
	vec_deinit(&b.files);
	return error;
}
