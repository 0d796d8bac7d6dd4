// SPDX-License-Identifier: GPL-2.0-only
#include "obj/dwarf_put.h"

#include "obj/dwarf_codes.h"

enum {
	/* The parameters of the line table's special opcodes. */
	LINE_BASE = -5,
	LINE_RANGE = 14,
	OPCODE_BASE = 13,
	/* Bytes of the unit that are always there. */
	INFO_FIXED = 32,
	/* Of .debug_abbrev: code, tag, children; what the unit always says; ends. */
	ABBREV_FIXED = 3 + 2 * 4 + 3,
};

/* --- The unit ----------------------------------------------------------- */

static void put_attribute(struct put *p, uint8_t name, uint8_t form)
{
	put_u8(p, name);
	put_u8(p, form);
}

void dwarf_put_abbrev(struct put *p, const struct dwarf_put_unit *unit)
{
	static const uint8_t begin[] = { 1, DW_TAG_compile_unit, 0 };
	static const uint8_t end[] = { 0, 0, 0 };

	put_bytes(p, begin, sizeof(begin));
	if (unit->producer)
		put_attribute(p, DW_AT_producer, DW_FORM_string);
	if (unit->language)
		put_attribute(p, DW_AT_language, DW_FORM_data2);
	put_attribute(p, DW_AT_name, DW_FORM_string);
	if (unit->folder)
		put_attribute(p, DW_AT_comp_dir, DW_FORM_string);
	put_attribute(p, DW_AT_low_pc, DW_FORM_addr);
	put_attribute(p, DW_AT_high_pc, DW_FORM_data8);
	put_attribute(p, DW_AT_stmt_list, DW_FORM_sec_offset);
	put_bytes(p, end, sizeof(end));
}

size_t dwarf_put_abbrev_size(const struct dwarf_put_unit *unit)
{
	return ABBREV_FIXED + 2u * !!unit->producer + 2u * !!unit->language +
	       2u * !!unit->folder;
}

size_t dwarf_put_info_size(const struct dwarf_put_unit *unit)
{
	return INFO_FIXED +
	       (unit->producer ? strlen(unit->producer) + 1 : 0) +
	       (unit->language ? sizeof(unit->language) : 0) +
	       strlen(unit->name) + 1 +
	       (unit->folder ? strlen(unit->folder) + 1 : 0);
}

void dwarf_put_info(struct put *p, const struct dwarf_put_unit *unit)
{
	put_u32(p, (uint32_t)dwarf_put_info_size(unit) - 4);
	put_u16(p, 4);
	put_u32(p, 0);
	put_u8(p, sizeof(uint64_t));
	put_uleb128(p, 1);
	if (unit->producer)
		put_cstr(p, unit->producer);
	if (unit->language)
		put_u16(p, unit->language);
	put_cstr(p, unit->name);
	if (unit->folder)
		put_cstr(p, unit->folder);
	put_u64(p, unit->start);
	put_u64(p, unit->size);
	put_u32(p, 0);
}

void dwarf_put_ranges(struct put *p, const struct dwarf_put_unit *unit)
{
	put_u32(p, DWARF_PUT_RANGES_SIZE - 4);
	put_u16(p, 2);
	put_u32(p, 0);
	put_u8(p, sizeof(uint64_t));
	put_u8(p, 0);
	/* Tuples are aligned to their size from the section's start. */
	put_u32(p, 0);
	put_u64(p, unit->start);
	put_u64(p, unit->size);
	put_u64(p, 0);
	put_u64(p, 0);
}

/* --- The line table ----------------------------------------------------- */

void dwarf_put_line_head(struct put *p, uint32_t length, uint32_t names_size)
{
	static const uint8_t rest[] = {
		/* Instructions of one byte, one operation each, all statements. */
		1, 1, 1, (uint8_t)LINE_BASE, LINE_RANGE, OPCODE_BASE,
		/* How many operands the standard opcodes have. */
		0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1,
		/* No folders: names are absolute, or like "<string>". */
		0,
	};

	put_u32(p, length);
	put_u16(p, 4);
	/* Of the rest of the header, with the zero behind the files. */
	put_u32(p, (uint32_t)sizeof(rest) + names_size + 1);
	put_bytes(p, rest, sizeof(rest));
}

size_t dwarf_put_file_size(const char *name)
{
	return strlen(name) + 1 + 3;
}

void dwarf_put_file(struct put *p, const char *name)
{
	put_cstr(p, name);
	/* Folder, time, size. */
	put_bytes(p, "\0\0", 3);
}

void dwarf_put_line_begin(struct put *p, uint64_t address)
{
	put_u8(p, 0);
	put_uleb128(p, 1 + sizeof(address));
	put_u8(p, DW_LNE_set_address);
	put_u64(p, address);
}

void dwarf_put_line_file(struct put *p, uint64_t number)
{
	put_u8(p, DW_LNS_set_file);
	put_uleb128(p, number);
}

void dwarf_put_line_define(struct put *p, const char *name)
{
	put_u8(p, 0);
	put_uleb128(p, 1 + dwarf_put_file_size(name));
	put_u8(p, DW_LNE_define_file);
	dwarf_put_file(p, name);
}

/* By one special opcode where that can say it. */
void dwarf_put_line_row(struct put *p, int64_t line_step, uint64_t pc_step)
{
	uint64_t opcode;

	if (line_step < LINE_BASE || line_step >= LINE_BASE + LINE_RANGE) {
		put_u8(p, DW_LNS_advance_line);
		put_sleb128(p, line_step);
		line_step = 0;
	}
	opcode = (uint64_t)(line_step - LINE_BASE) + OPCODE_BASE;
	if (pc_step > 255 || opcode + LINE_RANGE * pc_step > 255) {
		put_u8(p, DW_LNS_advance_pc);
		put_uleb128(p, pc_step);
		pc_step = 0;
	}
	put_u8(p, (uint8_t)(opcode + LINE_RANGE * pc_step));
}

void dwarf_put_line_plain(struct put *p, int64_t line_step)
{
	put_u8(p, DW_LNS_advance_line);
	put_sleb128(p, line_step);
	put_u8(p, DW_LNS_copy);
}

void dwarf_put_line_end(struct put *p, uint64_t pc_step)
{
	put_u8(p, DW_LNS_advance_pc);
	put_uleb128(p, pc_step);
	put_u8(p, 0);
	put_uleb128(p, 1);
	put_u8(p, DW_LNE_end_sequence);
}
