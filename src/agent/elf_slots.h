/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An ELF image full of trampolines, whose symbol and line tables have room for
 * what they will be called. Internal to src/agent; touches nothing but its
 * arguments.
 *
 * Offsets in the file are virtual addresses. The file, in this order:
 *
 *   headers, .note.gnu.build-id, .eh_frame_hdr, .eh_frame, .text   loaded, r-x
 *   .debug_abbrev, .debug_info, .debug_aranges, .shstrtab, section headers
 *   .symtab, .strtab, .debug_line                                  filled later
 *
 * A symbol that is not filled in is all zeros, which readers pass over. Line tables
 * grow: the file names a table needs are defined in its program (DW_LNE_define_file,
 * DWARF 4), each function is a sequence of its own, and the length in
 * front says how much of it there is. Whatever is half written is not yet part of
 * the file, so it can be read at any time.
 *
 * Sources: System V gABI chapters 4 and 5; DWARF 4 sections 3.1, 6.1.2, 6.2.
 */
#ifndef KAA_AGENT_ELF_SLOTS_H
#define KAA_AGENT_ELF_SLOTS_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/trampoline.h"

#define ELF_SLOTS_BUILD_ID_SIZE 20

/* Where things are in the file; all from the number of slots. */
struct elf_slots {
	const struct agent_trampoline *trampoline;
	uint32_t slots;
	uint64_t note;
	uint64_t eh_frame_hdr;
	uint64_t eh_frame;
	uint64_t text;
	/* End of what is loaded. */
	uint64_t text_end;
	uint64_t abbrev;
	uint64_t info;
	uint64_t aranges;
	uint64_t shstrtab;
	uint64_t sections;
	/* End of what elf_slots_write() writes. */
	uint64_t fixed_end;
	uint64_t symtab;
	uint64_t strtab;
	uint64_t line;
	/* Of the whole file. */
	uint64_t size;
};

void elf_slots_plan(const struct agent_trampoline *trampoline, uint32_t slots,
		    struct elf_slots *ret);

/* Writes bytes [0, fixed_end); out is all zeros before. */
void elf_slots_write(const struct elf_slots *plan,
		     const uint8_t build_id[ELF_SLOTS_BUILD_ID_SIZE],
		     uint8_t *out);

/* The first byte of slot n. */
static inline uint64_t elf_slots_address(const struct elf_slots *plan,
					 uint32_t n)
{
	return plan->text + (uint64_t)n * plan->trampoline->stride;
}

/* Room for names and for lines; both begin with something that is no name. */
uint64_t elf_slots_strtab_size(const struct elf_slots *plan);
uint64_t elf_slots_line_size(const struct elf_slots *plan);

/* Symbol n, whose name is at that offset of .strtab; it is entry n + 1. */
Elf64_Sym elf_slots_symbol(const struct elf_slots *plan, uint32_t n,
			   uint32_t name);

/* What .debug_line begins with, ELF_SLOTS_LINE_HEADER bytes; no lines yet. */
#define ELF_SLOTS_LINE_HEADER 30
void elf_slots_line_header(uint8_t out[ELF_SLOTS_LINE_HEADER]);

/* Enough for the line of one function, without the bytes of its filename. */
#define ELF_SLOTS_LINE_MAX 64

/*
 * The piece of the line program that says where function n begins, appended to
 * the program; returns its size. file_number: the filename's, from 1. If define, the
 * name is defined here, as the next number.
 */
size_t elf_slots_line(const struct elf_slots *plan, uint32_t n,
		      const char *filename, uint32_t file_number, bool define,
		      int line, uint8_t *out);

#endif
