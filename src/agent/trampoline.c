// SPDX-License-Identifier: GPL-2.0-only
#include "agent/trampoline.h"

#include <elf.h>
#include <string.h>

enum {
	DW_CFA_def_cfa = 0x0c,
	DW_CFA_def_cfa_register = 0x0d,
	DW_CFA_def_cfa_offset = 0x0e,
	/* These three have their operand in the low six bits. */
	DW_CFA_advance_loc = 0x40,
	DW_CFA_offset = 0x80,
	DW_CFA_restore = 0xc0,
	/* -8 as SLEB128. */
	DATA_ALIGN = 0x78,
};

enum { X86_RBP = 6, X86_RSP = 7, X86_RETURN = 16 };

static const uint8_t x86_code[] = {
	0xf3, 0x0f, 0x1e, 0xfa, /* 0  endbr64 */
	0x55,			/* 4  push %rbp */
	0x48, 0x89, 0xe5,	/* 5  mov %rsp, %rbp */
	0xff, 0xd1,		/* 8  call *%rcx */
	0x5d,			/* 10 pop %rbp */
	0xc3,			/* 11 ret */
};

static const uint8_t x86_initial[] = {
	DW_CFA_def_cfa, X86_RSP, 8,
	DW_CFA_offset | X86_RETURN, 1,
};

static const uint8_t x86_rows[] = {
	DW_CFA_advance_loc | 5,
	DW_CFA_def_cfa_offset, 16,
	DW_CFA_offset | X86_RBP, 2,
	DW_CFA_advance_loc | 3,
	DW_CFA_def_cfa_register, X86_RBP,
	DW_CFA_advance_loc | 3,
	DW_CFA_def_cfa, X86_RSP, 8,
	DW_CFA_restore | X86_RBP,
};

enum { ARM_FP = 29, ARM_LR = 30, ARM_SP = 31 };

static const uint8_t arm_code[] = {
	0x5f, 0x24, 0x03, 0xd5, /* 0  bti c */
	0xfd, 0x7b, 0xbf, 0xa9, /* 4  stp x29, x30, [sp, #-16]! */
	0xfd, 0x03, 0x00, 0x91, /* 8  mov x29, sp */
	0x60, 0x00, 0x3f, 0xd6, /* 12 blr x3 */
	0xfd, 0x7b, 0xc1, 0xa8, /* 16 ldp x29, x30, [sp], #16 */
	0xc0, 0x03, 0x5f, 0xd6, /* 20 ret */
};

static const uint8_t arm_initial[] = {
	DW_CFA_def_cfa, ARM_SP, 0,
};

/* Steps in instructions of four bytes. */
static const uint8_t arm_rows[] = {
	DW_CFA_advance_loc | 2,
	DW_CFA_def_cfa_offset, 16,
	DW_CFA_offset | ARM_FP, 2,
	DW_CFA_offset | ARM_LR, 1,
	DW_CFA_advance_loc | 1,
	DW_CFA_def_cfa_register, ARM_FP,
	DW_CFA_advance_loc | 2,
	DW_CFA_def_cfa, ARM_SP, 0,
	DW_CFA_restore | ARM_FP,
	DW_CFA_restore | ARM_LR,
};

static const struct agent_trampoline trampolines[] = {
	{
		.machine = EM_X86_64,
		.code = x86_code,
		.code_size = sizeof(x86_code),
		.stride = 16,
		.trap = { 0xcc, 0xcc, 0xcc, 0xcc }, /* int3 */
		.rule = {
			.code_align = 1,
			.data_align = DATA_ALIGN,
			.return_column = X86_RETURN,
			.initial = x86_initial,
			.initial_size = sizeof(x86_initial),
			.rows = x86_rows,
			.rows_size = sizeof(x86_rows),
		},
	},
	{
		.machine = EM_AARCH64,
		.code = arm_code,
		.code_size = sizeof(arm_code),
		.stride = 32,
		.trap = { 0x00, 0x00, 0x20, 0xd4 }, /* brk #0 */
		.rule = {
			.code_align = 4,
			.data_align = DATA_ALIGN,
			.return_column = ARM_LR,
			.initial = arm_initial,
			.initial_size = sizeof(arm_initial),
			.rows = arm_rows,
			.rows_size = sizeof(arm_rows),
		},
	},
};

const struct agent_trampoline *agent_trampoline_of(uint16_t machine)
{
	for (size_t i = 0; i < sizeof(trampolines) / sizeof(*trampolines); i++)
		if (trampolines[i].machine == machine)
			return &trampolines[i];
	return NULL;
}

const struct agent_trampoline *agent_trampoline(void)
{
#if defined(__x86_64__) && defined(__LP64__)
	return agent_trampoline_of(EM_X86_64);
#elif defined(__aarch64__) && defined(__LP64__) && !defined(__AARCH64EB__)
	return agent_trampoline_of(EM_AARCH64);
#else
	return NULL;
#endif
}

void agent_trampoline_fill(const struct agent_trampoline *trampoline,
			   uint32_t stride, uint8_t *out, size_t size)
{
	for (size_t at = 0; at < size; at += sizeof(trampoline->trap))
		memcpy(out + at, trampoline->trap, sizeof(trampoline->trap));
	for (size_t at = 0; at + stride <= size; at += stride)
		memcpy(out + at, trampoline->code, trampoline->code_size);
}
