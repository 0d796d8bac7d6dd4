/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the instructions of a function do to the stack: for assembly without
 * CFI, such as the kernels of linear algebra and of image libraries. Internal
 * to unwind/.
 *
 * Reads the function from its first instruction on, in the order of its
 * addresses, and keeps count of the stack pointer, of registers that it was
 * copied to, and of where callers' registers are saved. Behind a jump or return
 * stands what a jump from further up leads to; if none does, the function's
 * body, as it was before that return was prepared. What is not understood gives
 * no answer.
 */
#ifndef KAA_UNWIND_ASSEMBLY_H
#define KAA_UNWIND_ASSEMBLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/regs.h"

/* Functions are not read further than this. */
#define ASSEMBLY_SIZE_MAX (64u << 10)

struct assembly_frame {
	/* The CFA is that register + that offset. DWARF numbers. */
	uint8_t cfa_reg;
	int32_t cfa_offset;
	/* The caller's register is at CFA - this; 0: unchanged. */
	int32_t saved_below_cfa[UNWIND_REGS];
};

/*
 * The frame before the instruction at code + at; the function begins at code.
 * false if that cannot be told.
 */
bool assembly_frame_at(const uint8_t *code, size_t size, size_t at,
		       struct assembly_frame *ret);

#endif
