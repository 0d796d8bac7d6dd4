// SPDX-License-Identifier: GPL-2.0-only
/*
 * .eh_frame, .eh_frame_hdr, .debug_frame, and the stack walk over what they
 * say. Input: a byte of switches, then the section, whose last 256 bytes also
 * serve as the stack.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "unwind/cfi.h"
#include "unwind/unwind.h"

enum {
	IS_DEBUG = 1 << 0,
	HAS_HDR = 1 << 1,
	VADDR = 0x100000,
	HDR_SIZE = 64,
	STACK = 0x7f0000000000,
	MAX_LOOKUPS = 4096,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool find_map(void *arg, uint64_t address, struct unwind_map *ret)
{
	*ret = (struct unwind_map){ .end = (uint64_t)STACK, .cfi = arg };
	return address < (uint64_t)STACK;
}

static void walk(struct unwinder *unwinder, struct cfi_table *table,
		 uint64_t ip, struct bytes stack_bytes)
{
	static uint64_t space;
	struct unwind_target target = { .space = ++space,
					.find_map = find_map,
					.arg = table };
	struct unwind_stack stack = { (uint64_t)STACK, stack_bytes };
	struct unwind_frame frames[64];
	struct unwind_regs regs = { .known = (1u << UNWIND_REGS) - 1 };
	size_t count;

	for (int reg = 0; reg < UNWIND_REGS; reg++)
		regs.value[reg] = (uint64_t)STACK + 8 * (uint64_t)reg;
	regs.value[UNWIND_RSP] = (uint64_t)STACK;
	regs.value[UNWIND_RIP] = ip;
	unwind_stack(unwinder, &target, &regs, &stack, frames, NULL, 64,
		     &count);
	if (count < 1 || count > 64)
		__builtin_trap();
}

static void look_up_all(struct cfi_table *table, struct bytes stack)
{
	struct unwinder *unwinder = NULL;
	struct cfi_stats stats;

	if (unwinder_create(&unwinder))
		return;
	cfi_table_stats(table, &stats);
	for (size_t i = 0; i < stats.fdes && i < MAX_LOOKUPS; i++) {
		struct cfi_range range = cfi_fde_at(table, i);

		cfi_find(table, range.start);
		cfi_find(table, range.end - 1);
		if (i < 16)
			walk(unwinder, table, range.end - 1, stack);
	}
	unwinder_destroy(unwinder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cfi_sections sections = { .eh_frame_vaddr = VADDR,
					 .text_vaddr = VADDR / 2,
					 .got_vaddr = VADDR * 2 };
	struct cfi_table *table = NULL;
	struct bytes bytes, stack;
	uint8_t switches;

	if (size < 1)
		return 0;
	switches = *data;
	bytes = (struct bytes){ data + 1, size - 1 };
	stack = bytes;
	if (stack.size > 256)
		stack = (struct bytes){ data + size - 256, 256 };
	if ((switches & HAS_HDR) && bytes.size > HDR_SIZE) {
		sections.eh_frame_hdr =
			(struct bytes){ bytes.data, HDR_SIZE };
		sections.eh_frame_hdr_vaddr = VADDR - HDR_SIZE;
		bytes.data += HDR_SIZE;
		bytes.size -= HDR_SIZE;
	}
	if (switches & IS_DEBUG)
		sections.debug_frame = bytes;
	else
		sections.eh_frame = bytes;
	if (cfi_table_create(&sections, &table))
		return 0;
	look_up_all(table, stack);
	cfi_table_destroy(table);
	return 0;
}
