/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes .eh_frame and .eh_frame_hdr for slots of trampolines. Internal to
 * src/agent; touches nothing but its arguments.
 *
 * One FDE for each slot, with plain rows that are right at each of its
 * instructions, and the sorted table that finds it. One FDE for all slots would have
 * to be an expression on the instruction pointer, as linkers write them for PLTs: aarch64
 * has no DWARF register for that one, and many unwinders know no more
 * of such expressions than the linkers' own.
 *
 * Sources: Linux Standard Base 5.0 core, "Exception Frames"; DWARF 5 section 6.4.1.
 */
#ifndef KAA_AGENT_UNWIND_TABLE_H
#define KAA_AGENT_UNWIND_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "agent/trampoline.h"

/* What is described. Addresses count from the same point, wherever it is. */
struct agent_unwind_table {
	const struct agent_trampoline *trampoline;
	/* The first slot; the others follow at multiples of stride. */
	uint64_t text;
	uint32_t stride;
	uint32_t slots;
	/* Where the two sections will stand. */
	uint64_t eh_frame;
	uint64_t eh_frame_hdr;
};

/* Sizes in bytes, multiples of four. */
size_t agent_eh_frame_size(const struct agent_trampoline *trampoline,
			   uint32_t slots);
size_t agent_eh_frame_hdr_size(uint32_t slots);

/* Write as many bytes as the above say. */
void agent_eh_frame_write(const struct agent_unwind_table *table, uint8_t *out);
void agent_eh_frame_hdr_write(const struct agent_unwind_table *table,
			      uint8_t *out);

#endif
