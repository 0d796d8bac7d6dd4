/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registers by DWARF number (System V x86-64 psABI, figure 3.36).
 *
 * Everything in unwind/ indexes registers by DWARF number, so that a second
 * architecture needs another list here and other templates, no other rows.
 */
#ifndef KAA_UNWIND_REGS_H
#define KAA_UNWIND_REGS_H

#include <stdbool.h>
#include <stdint.h>

enum unwind_reg {
	UNWIND_RAX,
	UNWIND_RDX,
	UNWIND_RCX,
	UNWIND_RBX,
	UNWIND_RSI,
	UNWIND_RDI,
	UNWIND_RBP,
	UNWIND_RSP,
	UNWIND_R8,
	UNWIND_R9,
	UNWIND_R10,
	UNWIND_R11,
	UNWIND_R12,
	UNWIND_R13,
	UNWIND_R14,
	UNWIND_R15,
	/* The return address column; in a struct unwind_regs the rip. */
	UNWIND_RIP,
	UNWIND_REGS,
};

struct unwind_regs {
	uint64_t value[UNWIND_REGS];
	/* Bit i: value[i] is known. */
	uint32_t known;
};

static inline bool unwind_reg_known(const struct unwind_regs *regs,
				    unsigned int reg)
{
	return reg < UNWIND_REGS && (regs->known >> reg & 1);
}

static inline void unwind_reg_set(struct unwind_regs *regs,
				  enum unwind_reg reg, uint64_t value)
{
	regs->value[reg] = value;
	regs->known |= 1u << reg;
}

/* What a callee preserves, other than rsp (psABI, figure 3.4). */
#define UNWIND_PRESERVED 6
#define UNWIND_PRESERVED_MASK                                         \
	(1u << UNWIND_RBX | 1u << UNWIND_RBP | 1u << UNWIND_R12 |      \
	 1u << UNWIND_R13 | 1u << UNWIND_R14 | 1u << UNWIND_R15)
static const uint8_t unwind_preserved_regs[UNWIND_PRESERVED] = {
	UNWIND_RBX, UNWIND_RBP, UNWIND_R12, UNWIND_R13, UNWIND_R14, UNWIND_R15,
};

/*
 * Registers of a perf sample with PERF_SAMPLE_REGS_USER: `mask` is the
 * event's sample_regs_user, `values` holds one value for each of its bits, low
 * bit first (Linux uapi asm/perf_regs.h). The caller has checked that there
 * are as many values as bits. Bits beyond the general registers are skipped.
 */
void unwind_regs_from_perf(uint64_t mask, const uint64_t *values,
			   struct unwind_regs *ret);

/* Of the same numbers: PERF_REG_X86_SP and PERF_REG_X86_IP. */
#define UNWIND_PERF_RSP_RIP 0x180u
/* The sample_regs_user mask that asks perf for all that unwinding needs. */
#define UNWIND_PERF_REGS_MASK 0xff01ffu

#endif
