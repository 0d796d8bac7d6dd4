// SPDX-License-Identifier: GPL-2.0-only
#include "agent/elf_slots.h"

#include <stdbool.h>
#include <string.h>

#include "agent/unwind_table.h"

/* What the tables have room for, in bytes a slot, and one symbol of any size. */
#define NAME_SIZE 160
#define LINE_SIZE 160
#define SPARE_SIZE 8192

enum section {
	SECTION_NULL,
	SECTION_NOTE,
	SECTION_EH_FRAME_HDR,
	SECTION_EH_FRAME,
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

enum {
	PROGRAM_HEADERS = 3,
	NOTE_SIZE = sizeof(Elf64_Nhdr) + 4 + ELF_SLOTS_BUILD_ID_SIZE,
	INFO_SIZE = 42,
	ARANGES_SIZE = 48,
};

/* The names of the sections, each behind the NUL of the one before. */
static const char section_names[] =
	"\0.note.gnu.build-id\0.eh_frame_hdr\0.eh_frame\0.text\0.symtab\0.strtab"
	"\0.debug_abbrev\0.debug_info\0.debug_aranges\0.debug_line\0.shstrtab";

enum {
	DW_TAG_compile_unit = 0x11,
	DW_AT_name = 0x03,
	DW_AT_stmt_list = 0x10,
	DW_AT_low_pc = 0x11,
	DW_AT_high_pc = 0x12,
	DW_AT_language = 0x13,
	DW_AT_comp_dir = 0x1b,
	DW_FORM_addr = 0x01,
	DW_FORM_data2 = 0x05,
	DW_FORM_data8 = 0x07,
	DW_FORM_string = 0x08,
	DW_FORM_sec_offset = 0x17,
	DW_LANG_Python = 0x14,
	DW_LNS_copy = 1,
	DW_LNS_advance_pc = 2,
	DW_LNS_advance_line = 3,
	DW_LNS_set_file = 4,
	DW_LNE_end_sequence = 1,
	DW_LNE_set_address = 2,
	DW_LNE_define_file = 3,
	LINE_BASE = -5,
	LINE_RANGE = 14,
	OPCODE_BASE = 13,
};

static const uint8_t abbrev[] = {
	1,		DW_TAG_compile_unit, 0,
	DW_AT_language, DW_FORM_data2,
	DW_AT_name,	DW_FORM_string,
	DW_AT_comp_dir,	DW_FORM_string,
	DW_AT_low_pc,	DW_FORM_addr,
	DW_AT_high_pc,	DW_FORM_data8,
	DW_AT_stmt_list, DW_FORM_sec_offset,
	0,		0,
	0,
};

/* Where bytes are put next. */
struct cursor {
	uint8_t *at;
};

static void put(struct cursor *c, const void *data, size_t size)
{
	memcpy(c->at, data, size);
	c->at += size;
}

static void put_u8(struct cursor *c, uint8_t value)
{
	put(c, &value, sizeof(value));
}

static void put_u16(struct cursor *c, uint16_t value)
{
	put(c, &value, sizeof(value));
}

static void put_u32(struct cursor *c, uint32_t value)
{
	put(c, &value, sizeof(value));
}

static void put_u64(struct cursor *c, uint64_t value)
{
	put(c, &value, sizeof(value));
}

static void put_uleb128(struct cursor *c, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		put_u8(c, (uint8_t)(value | 0x80));
	put_u8(c, (uint8_t)value);
}

static void put_sleb128(struct cursor *c, int64_t value)
{
	for (; value < -64 || value > 63; value >>= 7)
		put_u8(c, (uint8_t)((value & 0x7f) | 0x80));
	put_u8(c, value & 0x7f);
}

/* The plan */

static uint64_t align(uint64_t value, uint64_t to)
{
	return (value + to - 1) / to * to;
}

uint64_t elf_slots_strtab_size(const struct elf_slots *plan)
{
	return (uint64_t)plan->slots * NAME_SIZE + SPARE_SIZE;
}

uint64_t elf_slots_line_size(const struct elf_slots *plan)
{
	return (uint64_t)plan->slots * LINE_SIZE + SPARE_SIZE;
}

static uint64_t symtab_size(const struct elf_slots *plan)
{
	return ((uint64_t)plan->slots + 1) * sizeof(Elf64_Sym);
}

void elf_slots_plan(const struct agent_trampoline *trampoline, uint32_t slots,
		    struct elf_slots *ret)
{
	struct elf_slots p = { .trampoline = trampoline, .slots = slots };
	uint64_t end = sizeof(Elf64_Ehdr) + PROGRAM_HEADERS * sizeof(Elf64_Phdr);

	p.note = align(end, 4);
	p.eh_frame_hdr = p.note + NOTE_SIZE;
	end = p.eh_frame_hdr + agent_eh_frame_hdr_size(slots);
	p.eh_frame = align(end, 8);
	end = p.eh_frame + agent_eh_frame_size(trampoline, slots);
	p.text = align(end, 64);
	p.text_end = p.text + (uint64_t)slots * trampoline->stride;
	p.abbrev = p.text_end;
	p.info = p.abbrev + sizeof(abbrev);
	p.aranges = p.info + INFO_SIZE;
	p.shstrtab = p.aranges + ARANGES_SIZE;
	p.sections = align(p.shstrtab + sizeof(section_names), 8);
	p.fixed_end = p.sections + SECTION_COUNT * sizeof(Elf64_Shdr);
	p.symtab = p.fixed_end;
	p.strtab = p.symtab + symtab_size(&p);
	p.line = p.strtab + elf_slots_strtab_size(&p);
	p.size = p.line + elf_slots_line_size(&p);
	*ret = p;
}

/* Headers */

static void write_file_header(const struct elf_slots *plan, uint8_t *out)
{
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = plan->trampoline->machine,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_shoff = plan->sections,
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = PROGRAM_HEADERS,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTION_COUNT,
		.e_shstrndx = SECTION_SHSTRTAB,
	};

	memcpy(out, &header, sizeof(header));
}

static Elf64_Phdr segment(uint32_t type, uint32_t flags, uint64_t start,
			  uint64_t size, uint64_t alignment)
{
	return (Elf64_Phdr){
		.p_type = type,
		.p_flags = flags,
		.p_offset = start,
		.p_vaddr = start,
		.p_paddr = start,
		.p_filesz = size,
		.p_memsz = size,
		.p_align = alignment,
	};
}

static void write_program_headers(const struct elf_slots *plan, uint8_t *out)
{
	Elf64_Phdr headers[PROGRAM_HEADERS] = {
		segment(PT_LOAD, PF_R | PF_X, 0, plan->text_end, 0x1000),
		segment(PT_NOTE, PF_R, plan->note, NOTE_SIZE, 4),
		segment(PT_GNU_EH_FRAME, PF_R, plan->eh_frame_hdr,
			agent_eh_frame_hdr_size(plan->slots), 4),
	};

	memcpy(out + sizeof(Elf64_Ehdr), headers, sizeof(headers));
}

static Elf64_Shdr loaded(uint32_t type, uint64_t flags, uint64_t start,
			 uint64_t size, uint64_t alignment)
{
	return (Elf64_Shdr){
		.sh_type = type,
		.sh_flags = SHF_ALLOC | flags,
		.sh_addr = start,
		.sh_offset = start,
		.sh_size = size,
		.sh_addralign = alignment,
	};
}

static Elf64_Shdr unloaded(uint32_t type, uint64_t start, uint64_t size)
{
	return (Elf64_Shdr){
		.sh_type = type,
		.sh_offset = start,
		.sh_size = size,
		.sh_addralign = 1,
	};
}

/* All symbols are local, used or not: then sh_info is right all the time. */
static Elf64_Shdr symtab_section(const struct elf_slots *plan)
{
	return (Elf64_Shdr){
		.sh_type = SHT_SYMTAB,
		.sh_offset = plan->symtab,
		.sh_size = symtab_size(plan),
		.sh_link = SECTION_STRTAB,
		.sh_info = plan->slots + 1,
		.sh_addralign = 8,
		.sh_entsize = sizeof(Elf64_Sym),
	};
}

static void fill_sections(const struct elf_slots *p, Elf64_Shdr *ret)
{
	ret[SECTION_NOTE] = loaded(SHT_NOTE, 0, p->note, NOTE_SIZE, 4);
	ret[SECTION_EH_FRAME_HDR] =
		loaded(SHT_PROGBITS, 0, p->eh_frame_hdr,
		       agent_eh_frame_hdr_size(p->slots), 4);
	ret[SECTION_EH_FRAME] =
		loaded(SHT_PROGBITS, 0, p->eh_frame,
		       agent_eh_frame_size(p->trampoline, p->slots), 8);
	ret[SECTION_TEXT] = loaded(SHT_PROGBITS, SHF_EXECINSTR, p->text,
				   p->text_end - p->text, 64);
	ret[SECTION_SYMTAB] = symtab_section(p);
	ret[SECTION_STRTAB] = unloaded(SHT_STRTAB, p->strtab,
				       elf_slots_strtab_size(p));
	ret[SECTION_ABBREV] = unloaded(SHT_PROGBITS, p->abbrev, sizeof(abbrev));
	ret[SECTION_INFO] = unloaded(SHT_PROGBITS, p->info, INFO_SIZE);
	ret[SECTION_ARANGES] = unloaded(SHT_PROGBITS, p->aranges, ARANGES_SIZE);
	ret[SECTION_LINE] = unloaded(SHT_PROGBITS, p->line,
				     elf_slots_line_size(p));
	ret[SECTION_SHSTRTAB] = unloaded(SHT_STRTAB, p->shstrtab,
					 sizeof(section_names));
}

static void write_sections(const struct elf_slots *plan, uint8_t *out)
{
	Elf64_Shdr sections[SECTION_COUNT] = {};
	uint32_t name = 0;

	fill_sections(plan, sections);
	for (int i = 0; i < SECTION_COUNT; i++) {
		sections[i].sh_name = name;
		name += (uint32_t)strlen(section_names + name) + 1;
	}
	memcpy(out + plan->shstrtab, section_names, sizeof(section_names));
	memcpy(out + plan->sections, sections, sizeof(sections));
}

static void write_note(const struct elf_slots *plan, const uint8_t *build_id,
		       uint8_t *out)
{
	struct cursor c = { out + plan->note };

	put_u32(&c, 4);
	put_u32(&c, ELF_SLOTS_BUILD_ID_SIZE);
	put_u32(&c, NT_GNU_BUILD_ID);
	put(&c, "GNU", 4);
	put(&c, build_id, ELF_SLOTS_BUILD_ID_SIZE);
}

static void write_unwind_table(const struct elf_slots *plan, uint8_t *out)
{
	struct agent_unwind_table table = {
		.trampoline = plan->trampoline,
		.text = plan->text,
		.stride = plan->trampoline->stride,
		.slots = plan->slots,
		.eh_frame = plan->eh_frame,
		.eh_frame_hdr = plan->eh_frame_hdr,
	};

	agent_eh_frame_write(&table, out + plan->eh_frame);
	agent_eh_frame_hdr_write(&table, out + plan->eh_frame_hdr);
}

/* One unit for the whole text. */

static void write_info(const struct elf_slots *plan, uint8_t *out)
{
	struct cursor c = { out + plan->info };

	put_u32(&c, INFO_SIZE - 4);
	put_u16(&c, 4);
	put_u32(&c, 0);
	put_u8(&c, sizeof(uint64_t));
	put_uleb128(&c, 1);
	put_u16(&c, DW_LANG_Python);
	put(&c, "Python", 7);
	/*
	 * Names such as "<string>" are in no folder. Without an attribute that
	 * says so libdw 0.196 crashes, and perf 7 with it.
	 */
	put_u8(&c, 0);
	put_u64(&c, plan->text);
	put_u64(&c, plan->text_end - plan->text);
	put_u32(&c, 0);
}

static void write_aranges(const struct elf_slots *plan, uint8_t *out)
{
	struct cursor c = { out + plan->aranges };

	put_u32(&c, ARANGES_SIZE - 4);
	put_u16(&c, 2);
	put_u32(&c, 0);
	put_u8(&c, sizeof(uint64_t));
	put_u8(&c, 0);
	/* Tuples are aligned to their size; the last one is zeros. */
	put_u32(&c, 0);
	put_u64(&c, plan->text);
	put_u64(&c, plan->text_end - plan->text);
}

void elf_slots_write(const struct elf_slots *plan,
		     const uint8_t build_id[ELF_SLOTS_BUILD_ID_SIZE],
		     uint8_t *out)
{
	write_file_header(plan, out);
	write_program_headers(plan, out);
	write_note(plan, build_id, out);
	write_unwind_table(plan, out);
	agent_trampoline_fill(plan->trampoline, plan->trampoline->stride,
			      out + plan->text, plan->text_end - plan->text);
	memcpy(out + plan->abbrev, abbrev, sizeof(abbrev));
	write_info(plan, out);
	write_aranges(plan, out);
	write_sections(plan, out);
}

Elf64_Sym elf_slots_symbol(const struct elf_slots *plan, uint32_t n,
			   uint32_t name)
{
	return (Elf64_Sym){
		.st_name = name,
		.st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
		.st_shndx = SECTION_TEXT,
		.st_value = elf_slots_address(plan, n),
		.st_size = plan->trampoline->code_size,
	};
}

/* Lines */

void elf_slots_line_header(uint8_t out[ELF_SLOTS_LINE_HEADER])
{
	static const uint8_t rest[] = {
		/* Instructions of one byte, one operation each, all statements. */
		1, 1, 1, (uint8_t)LINE_BASE, LINE_RANGE, OPCODE_BASE,
		/* How many operands the standard opcodes have. */
		0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1,
		/* No directories and no files. */
		0, 0,
	};
	struct cursor c = { out };

	put_u32(&c, ELF_SLOTS_LINE_HEADER - 4);
	put_u16(&c, 4);
	/* The program begins behind this header. */
	put_u32(&c, ELF_SLOTS_LINE_HEADER - 10);
	put(&c, rest, sizeof(rest));
}

static void put_definition(struct cursor *c, const char *filename)
{
	size_t size = strlen(filename) + 1;

	put_u8(c, 0);
	put_uleb128(c, 1 + size + 3);
	put_u8(c, DW_LNE_define_file);
	put(c, filename, size);
	/* No directory, no time, no size. */
	put(c, "\0\0", 3);
}

size_t elf_slots_line(const struct elf_slots *plan, uint32_t n,
		      const char *filename, uint32_t file_number, bool define,
		      int line, uint8_t *out)
{
	struct cursor c = { out };

	if (define)
		put_definition(&c, filename);
	put_u8(&c, 0);
	put_uleb128(&c, 1 + sizeof(uint64_t));
	put_u8(&c, DW_LNE_set_address);
	put_u64(&c, elf_slots_address(plan, n));
	put_u8(&c, DW_LNS_set_file);
	put_uleb128(&c, file_number);
	/* A sequence begins with line 1. */
	put_u8(&c, DW_LNS_advance_line);
	put_sleb128(&c, (int64_t)line - 1);
	put_u8(&c, DW_LNS_copy);
	put_u8(&c, DW_LNS_advance_pc);
	put_uleb128(&c, plan->trampoline->code_size);
	put_u8(&c, 0);
	put_uleb128(&c, 1);
	put_u8(&c, DW_LNE_end_sequence);
	return (size_t)(c.at - out);
}
