// SPDX-License-Identifier: GPL-2.0-only
#include "unwind/regs.h"

/* DWARF number + 1 of each PERF_REG_X86_*; 0 for those that have none here. */
static const uint8_t perf_to_dwarf[] = {
	[0] = UNWIND_RAX + 1,  [1] = UNWIND_RBX + 1,	[2] = UNWIND_RCX + 1,
	[3] = UNWIND_RDX + 1,  [4] = UNWIND_RSI + 1,	[5] = UNWIND_RDI + 1,
	[6] = UNWIND_RBP + 1,  [7] = UNWIND_RSP + 1,	[8] = UNWIND_RIP + 1,
	[16] = UNWIND_R8 + 1,  [17] = UNWIND_R9 + 1,	[18] = UNWIND_R10 + 1,
	[19] = UNWIND_R11 + 1, [20] = UNWIND_R12 + 1, [21] = UNWIND_R13 + 1,
	[22] = UNWIND_R14 + 1, [23] = UNWIND_R15 + 1,
};

void unwind_regs_from_perf(uint64_t mask, const uint64_t *values,
			   struct unwind_regs *ret)
{
	*ret = (struct unwind_regs){};
	for (unsigned int bit = 0; bit < sizeof(perf_to_dwarf); bit++) {
		if (!(mask >> bit & 1))
			continue;
		if (perf_to_dwarf[bit])
			unwind_reg_set(ret, perf_to_dwarf[bit] - 1, *values);
		values++;
	}
}
