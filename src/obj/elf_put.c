// SPDX-License-Identifier: GPL-2.0-only
#include "obj/elf_put.h"

#include <stdbool.h>
#include <string.h>

enum {
	DW_LNS_advance_pc = 2,
	DW_LNS_advance_line = 3,
	DW_LNS_set_file = 4,
	DW_LNE_end_sequence = 1,
	DW_LNE_set_address = 2,
	/* The parameters of the line table's special opcodes. */
	LINE_BASE = -5,
	LINE_RANGE = 14,
	OPCODE_BASE = 13,
};

void put_u8(struct strbuf *out, uint8_t value)
{
	strbuf_append(out, &value, sizeof(value));
}

void put_u16(struct strbuf *out, uint16_t value)
{
	strbuf_append(out, &value, sizeof(value));
}

void put_u32(struct strbuf *out, uint32_t value)
{
	strbuf_append(out, &value, sizeof(value));
}

void put_u64(struct strbuf *out, uint64_t value)
{
	strbuf_append(out, &value, sizeof(value));
}

void put_uleb128(struct strbuf *out, uint64_t value)
{
	do {
		uint8_t byte = value & 0x7f;

		value >>= 7;
		put_u8(out, byte | (value ? 0x80 : 0));
	} while (value);
}

void put_sleb128(struct strbuf *out, int64_t value)
{
	bool more;

	do {
		uint8_t byte = value & 0x7f;

		value >>= 7;
		more = !(value == 0 && !(byte & 0x40)) &&
		       !(value == -1 && (byte & 0x40));
		put_u8(out, byte | (more ? 0x80 : 0));
	} while (more);
}

void put_cstr(struct strbuf *out, const char *s)
{
	strbuf_append(out, s, strlen(s) + 1);
}

size_t begin_length(struct strbuf *out)
{
	put_u32(out, 0);
	return out->len;
}

void patch_length(struct strbuf *out, size_t begin)
{
	uint32_t length = (uint32_t)(out->len - begin);

	if (!out->failed)
		memcpy(out->data + begin - sizeof(length), &length,
		       sizeof(length));
}

void put_address_ranges(struct strbuf *out, uint64_t start, uint64_t size)
{
	size_t length = begin_length(out);

	put_u16(out, 2);
	put_u32(out, 0);
	put_u8(out, sizeof(uint64_t));
	put_u8(out, 0);
	/* Tuples are aligned to their size from the section's start. */
	put_u32(out, 0);
	put_u64(out, start);
	put_u64(out, size);
	put_u64(out, 0);
	put_u64(out, 0);
	patch_length(out, length);
}

size_t line_table_begin_header(struct strbuf *out)
{
	static const uint8_t operand_counts[OPCODE_BASE - 1] = {
		0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1,
	};
	size_t begin;

	put_u16(out, 4);
	begin = begin_length(out);
	/* Instructions of one byte, one operation each, all statements. */
	put_u8(out, 1);
	put_u8(out, 1);
	put_u8(out, 1);
	put_u8(out, (uint8_t)LINE_BASE);
	put_u8(out, LINE_RANGE);
	put_u8(out, OPCODE_BASE);
	strbuf_append(out, operand_counts, sizeof(operand_counts));
	/* No directories: names are absolute, or like "<string>". */
	put_u8(out, 0);
	return begin;
}

void line_table_put_file(struct strbuf *out, const char *name)
{
	put_cstr(out, name);
	/* Directory, time, size. */
	put_u8(out, 0);
	put_u8(out, 0);
	put_u8(out, 0);
}

void line_table_end_header(struct strbuf *out, size_t begin)
{
	put_u8(out, 0);
	patch_length(out, begin);
}

void line_table_begin(struct strbuf *out, uint64_t address)
{
	put_u8(out, 0);
	put_uleb128(out, 1 + sizeof(uint64_t));
	put_u8(out, DW_LNE_set_address);
	put_u64(out, address);
}

void line_table_set_file(struct strbuf *out, uint64_t number)
{
	put_u8(out, DW_LNS_set_file);
	put_uleb128(out, number);
}

/* By one special opcode where that can say it. */
void line_table_row(struct strbuf *out, int64_t line_step, uint64_t pc_step)
{
	uint64_t opcode;

	if (line_step < LINE_BASE || line_step >= LINE_BASE + LINE_RANGE) {
		put_u8(out, DW_LNS_advance_line);
		put_sleb128(out, line_step);
		line_step = 0;
	}
	opcode = (uint64_t)(line_step - LINE_BASE) + OPCODE_BASE;
	if (pc_step > 255 || opcode + LINE_RANGE * pc_step > 255) {
		put_u8(out, DW_LNS_advance_pc);
		put_uleb128(out, pc_step);
		pc_step = 0;
	}
	put_u8(out, (uint8_t)(opcode + LINE_RANGE * pc_step));
}

void line_table_end(struct strbuf *out, uint64_t pc_step)
{
	put_u8(out, DW_LNS_advance_pc);
	put_uleb128(out, pc_step);
	put_u8(out, 0);
	put_uleb128(out, 1);
	put_u8(out, DW_LNE_end_sequence);
}
