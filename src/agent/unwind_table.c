// SPDX-License-Identifier: GPL-2.0-only
#include "agent/unwind_table.h"

#include <string.h>

enum {
	/* Pointer encodings: four bytes, from here or from the header's start. */
	DW_EH_PE_udata4 = 0x03,
	DW_EH_PE_pcrel_sdata4 = 0x1b,
	DW_EH_PE_datarel_sdata4 = 0x3b,
	/* Entries are as long as a multiple of this, filled up with DW_CFA_nop. */
	ENTRY_ALIGN = 8,
	/* Bytes before the instructions. */
	CIE_HEAD = 17,
	FDE_HEAD = 17,
	/* A length of zero, behind the last entry. */
	TERMINATOR = 4,
	HDR_HEAD = 12,
	HDR_ROW = 8,
};

static size_t aligned(size_t size)
{
	return (size + ENTRY_ALIGN - 1) / ENTRY_ALIGN * ENTRY_ALIGN;
}

static size_t cie_size(const struct agent_trampoline *trampoline)
{
	return aligned(CIE_HEAD + (size_t)trampoline->rule.initial_size);
}

static size_t fde_size(const struct agent_trampoline *trampoline)
{
	return aligned(FDE_HEAD + (size_t)trampoline->rule.rows_size);
}

size_t agent_eh_frame_size(const struct agent_trampoline *trampoline,
			   uint32_t slots)
{
	return cie_size(trampoline) + slots * fde_size(trampoline) + TERMINATOR;
}

size_t agent_eh_frame_hdr_size(uint32_t slots)
{
	return HDR_HEAD + (size_t)slots * HDR_ROW;
}

static void put_u32(uint8_t *out, uint64_t value)
{
	uint32_t low = (uint32_t)value;

	memcpy(out, &low, sizeof(low));
}

static void write_cie(const struct agent_trampoline *trampoline, uint8_t *out)
{
	const struct agent_unwind_rule *rule = &trampoline->rule;
	size_t size = cie_size(trampoline);
	const uint8_t head[CIE_HEAD - 8] = {
		1, 'z', 'R', 0, rule->code_align, rule->data_align,
		rule->return_column,
		/* One byte of augmentation: the encoding of FDEs' addresses. */
		1, DW_EH_PE_pcrel_sdata4,
	};

	memset(out, 0, size);
	put_u32(out, size - 4);
	memcpy(out + 8, head, sizeof(head));
	memcpy(out + CIE_HEAD, rule->initial, rule->initial_size);
}

static uint64_t fde_offset(const struct agent_unwind_table *table, uint32_t slot)
{
	return cie_size(table->trampoline) + slot * fde_size(table->trampoline);
}

static uint64_t slot_address(const struct agent_unwind_table *table,
			     uint32_t slot)
{
	return table->text + (uint64_t)slot * table->stride;
}

static void write_fde(const struct agent_unwind_table *table, uint32_t slot,
		      uint8_t *out)
{
	const struct agent_unwind_rule *rule = &table->trampoline->rule;
	size_t size = fde_size(table->trampoline);
	uint64_t at = fde_offset(table, slot);

	memset(out, 0, size);
	put_u32(out, size - 4);
	/* How far back the CIE is, which is at the start. */
	put_u32(out + 4, at + 4);
	put_u32(out + 8, slot_address(table, slot) - (table->eh_frame + at + 8));
	put_u32(out + 12, table->trampoline->code_size);
	memcpy(out + FDE_HEAD, rule->rows, rule->rows_size);
}

void agent_eh_frame_write(const struct agent_unwind_table *table, uint8_t *out)
{
	write_cie(table->trampoline, out);
	for (uint32_t i = 0; i < table->slots; i++)
		write_fde(table, i, out + fde_offset(table, i));
	put_u32(out + fde_offset(table, table->slots), 0);
}

void agent_eh_frame_hdr_write(const struct agent_unwind_table *table,
			      uint8_t *out)
{
	uint64_t base = table->eh_frame_hdr;

	out[0] = 1;
	out[1] = DW_EH_PE_pcrel_sdata4;
	out[2] = DW_EH_PE_udata4;
	out[3] = DW_EH_PE_datarel_sdata4;
	put_u32(out + 4, table->eh_frame - (base + 4));
	put_u32(out + 8, table->slots);
	for (uint32_t i = 0; i < table->slots; i++) {
		uint8_t *row = out + HDR_HEAD + (size_t)i * HDR_ROW;

		put_u32(row, slot_address(table, i) - base);
		put_u32(row + 4, table->eh_frame + fde_offset(table, i) - base);
	}
}
