// SPDX-License-Identifier: GPL-2.0-only
#include "agent/elf_slots.h"

#include "agent/unwind_table.h"
#include "obj/elf_writer.h"

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

enum { PROGRAM_HEADERS = 3 };

static const struct elf_writer_row rows[SECTION_COUNT] = {
	[SECTION_NOTE] = { ".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, 4 },
	[SECTION_EH_FRAME_HDR] = { ".eh_frame_hdr", SHT_PROGBITS, SHF_ALLOC, 4 },
	[SECTION_EH_FRAME] = { ".eh_frame", SHT_PROGBITS, SHF_ALLOC, 8 },
	[SECTION_TEXT] = { ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 64 },
	ELF_WRITER_COMMON_ROWS(SECTION_SYMTAB, SECTION_ABBREV,
			       SECTION_SHSTRTAB),
};

_Static_assert(ELF_SLOTS_BUILD_ID_SIZE == ELF_WRITER_BUILD_ID_SIZE,
	       "a build-id fits into its note");
_Static_assert(ELF_SLOTS_LINE_HEADER == DWARF_PUT_LINE_HEAD + 1,
	       "a line table without files begins with its head and a zero");

/* One unit for the whole text. */
static struct dwarf_put_unit unit_of(const struct elf_slots *plan)
{
	return (struct dwarf_put_unit){
		.language = DWARF_LANG_PYTHON,
		.name = "Python",
		/*
		 * Names such as "<string>" are in no folder. Without an attribute
		 * that says so libdw 0.196 crashes, and perf 7 with it.
		 */
		.folder = "",
		.start = plan->text,
		.size = plan->text_end - plan->text,
	};
}

static struct elf_writer writer_of(const struct elf_slots *plan)
{
	return (struct elf_writer){ .rows = rows,
				    .count = SECTION_COUNT,
				    .machine = plan->trampoline->machine };
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
	const struct elf_writer writer = writer_of(&p);
	const struct dwarf_put_unit unit = unit_of(&p);
	uint64_t end = elf_writer_headers_size(PROGRAM_HEADERS);

	p.note = align(end, 4);
	p.eh_frame_hdr = p.note + ELF_WRITER_NOTE_SIZE;
	end = p.eh_frame_hdr + agent_eh_frame_hdr_size(slots);
	p.eh_frame = align(end, 8);
	end = p.eh_frame + agent_eh_frame_size(trampoline, slots);
	p.text = align(end, 64);
	p.text_end = p.text + (uint64_t)slots * trampoline->stride;
	p.abbrev = p.text_end;
	p.info = p.abbrev + dwarf_put_abbrev_size(&unit);
	p.aranges = p.info + dwarf_put_info_size(&unit);
	p.shstrtab = p.aranges + DWARF_PUT_RANGES_SIZE;
	p.sections = align(p.shstrtab + elf_writer_names_size(&writer), 8);
	p.fixed_end = p.sections + SECTION_COUNT * sizeof(Elf64_Shdr);
	p.symtab = p.fixed_end;
	p.strtab = p.symtab + symtab_size(&p);
	p.line = p.strtab + elf_slots_strtab_size(&p);
	p.size = p.line + elf_slots_line_size(&p);
	*ret = p;
}

/* Headers */

/* Sections stand behind each other, but for what is filled in later. */
static void place_sections(const struct elf_slots *p, struct elf_writer *w)
{
	elf_writer_place(w, SECTION_NOTE, p->note, ELF_WRITER_NOTE_SIZE);
	elf_writer_place(w, SECTION_EH_FRAME_HDR, p->eh_frame_hdr,
			 agent_eh_frame_hdr_size(p->slots));
	elf_writer_place(w, SECTION_EH_FRAME, p->eh_frame,
			 agent_eh_frame_size(p->trampoline, p->slots));
	elf_writer_place(w, SECTION_TEXT, p->text, p->text_end - p->text);
	elf_writer_place(w, SECTION_SYMTAB, p->symtab, symtab_size(p));
	elf_writer_place(w, SECTION_STRTAB, p->strtab,
			 elf_slots_strtab_size(p));
	elf_writer_place(w, SECTION_ABBREV, p->abbrev, p->info - p->abbrev);
	elf_writer_place(w, SECTION_INFO, p->info, p->aranges - p->info);
	elf_writer_place(w, SECTION_ARANGES, p->aranges, DWARF_PUT_RANGES_SIZE);
	elf_writer_place(w, SECTION_LINE, p->line, elf_slots_line_size(p));
	elf_writer_place(w, SECTION_SHSTRTAB, p->shstrtab,
			 elf_writer_names_size(w));
	/* All symbols are local, used or not: then this is right all the time. */
	elf_writer_link_symtab(w, SECTION_SYMTAB, SECTION_STRTAB, p->slots + 1);
}

static void add_segments(const struct elf_slots *p, struct elf_writer *w)
{
	const Elf64_Phdr segments[PROGRAM_HEADERS] = {
		elf_writer_segment(PT_LOAD, PF_R | PF_X, 0, p->text_end, 0x1000),
		elf_writer_segment(PT_NOTE, PF_R, p->note, ELF_WRITER_NOTE_SIZE,
				   4),
		elf_writer_segment(PT_GNU_EH_FRAME, PF_R, p->eh_frame_hdr,
				   agent_eh_frame_hdr_size(p->slots), 4),
	};

	for (int i = 0; i < PROGRAM_HEADERS; i++)
		elf_writer_add_segment(w, &segments[i]);
}

static void write_headers(const struct elf_slots *plan, uint8_t *out)
{
	struct elf_writer w = writer_of(plan);

	place_sections(plan, &w);
	add_segments(plan, &w);
	elf_writer_put_names(&w, &(struct put){ out + plan->shstrtab });
	elf_writer_put_sections(&w, &(struct put){ out + plan->sections });
	elf_writer_put_headers(&w, plan->sections, &(struct put){ out });
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

void elf_slots_write(const struct elf_slots *plan,
		     const uint8_t build_id[ELF_SLOTS_BUILD_ID_SIZE],
		     uint8_t *out)
{
	const struct dwarf_put_unit unit = unit_of(plan);

	write_headers(plan, out);
	elf_writer_put_note(&(struct put){ out + plan->note }, build_id);
	write_unwind_table(plan, out);
	agent_trampoline_fill(plan->trampoline, plan->trampoline->stride,
			      out + plan->text, plan->text_end - plan->text);
	dwarf_put_abbrev(&(struct put){ out + plan->abbrev }, &unit);
	dwarf_put_info(&(struct put){ out + plan->info }, &unit);
	dwarf_put_ranges(&(struct put){ out + plan->aranges }, &unit);
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
	struct put p = { out };

	dwarf_put_line_head(&p, ELF_SLOTS_LINE_HEADER - 4, 0);
	/* No files. */
	put_u8(&p, 0);
}

size_t elf_slots_line(const struct elf_slots *plan, uint32_t n,
		      const char *filename, uint32_t file_number, bool define,
		      int line, uint8_t *out)
{
	struct put p = { out };

	if (define)
		dwarf_put_line_define(&p, filename);
	dwarf_put_line_begin(&p, elf_slots_address(plan, n));
	dwarf_put_line_file(&p, file_number);
	/* A sequence begins with line 1. */
	dwarf_put_line_plain(&p, (int64_t)line - 1);
	dwarf_put_line_end(&p, plan->trampoline->code_size);
	return (size_t)(p.at - out);
}
