/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Instructions of x86-64 code: where each ends, and what it may do to the
 * general registers.
 *
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual,
 * volume 2, chapter 2 (formats) and appendix A (opcode maps); AMD64
 * Architecture Programmer's Manual, volume 3, for XOP.
 */
#ifndef KAA_UNWIND_INSN_H
#define KAA_UNWIND_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INSN_SIZE_MAX = 15, INSN_NO_REG = 0xff };

struct insn {
	uint8_t size;
	/* 0: one byte; 1: 0f; 2: 0f 38; 3: 0f 3a; 8 to 10: XOP. */
	uint8_t map;
	uint8_t opcode;
	/* Of 66, f2 and f3, as prefix or in VEX and EVEX: the last, or 0. */
	uint8_t mandatory;
	bool is_vex;
	bool rex_w;
	bool has_modrm;
	/* ModRM: mod; reg with REX.R; what only the opcode looks at. */
	uint8_t mod;
	uint8_t reg;
	uint8_t group;
	/*
	 * With mod 3 the register that is meant, else the base of the address;
	 * without ModRM the register in the opcode. INSN_NO_REG: no base.
	 */
	uint8_t rm;
	bool has_index;
	/* The register that VEX names besides. */
	uint8_t vvvv;
	int32_t disp;
	/* Signed, as far as it has 32 bits. */
	int32_t imm;
};

/* false if the bytes are no instruction, or too few. */
bool insn_decode(const uint8_t *code, size_t size, struct insn *ret);

/*
 * The general registers that may be other ones afterwards, as a mask by number;
 * what push, pop, call, ret and leave do to rsp is left to the caller, what pop
 * loads is in it.
 */
uint32_t insn_writes(const struct insn *insn);

#endif
