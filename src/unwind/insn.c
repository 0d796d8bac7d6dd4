// SPDX-License-Identifier: GPL-2.0-only
#include "unwind/insn.h"

#include <string.h>

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };

#define BIT(n) (UINT32_C(1) << (n))

struct input {
	const uint8_t *at;
	const uint8_t *end;
	/* REX or what VEX has for it: 1 is B, 2 X, 4 R, 8 W. */
	uint8_t rex;
	bool operand_16;
	bool address_32;
};

static bool take(struct input *in, uint8_t *ret)
{
	if (in->at == in->end)
		return false;
	*ret = *in->at++;
	return true;
}

static bool take_prefixes(struct input *in, struct insn *insn)
{
	uint8_t byte;

	while (take(in, &byte)) {
		switch (byte) {
		case 0x66:
			in->operand_16 = true;
			if (!insn->mandatory)
				insn->mandatory = byte;
			break;
		case 0xf2:
		case 0xf3:
			insn->mandatory = byte;
			break;
		case 0x67:
			in->address_32 = true;
			break;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x64:
		case 0x65:
		case 0xf0:
			break;
		default:
			if ((byte & 0xf0) != 0x40) {
				in->at--;
				return true;
			}
			in->rex = byte & 0xf;
			/* Only directly before the opcode it counts. */
			if (in->at < in->end &&
			    ((*in->at & 0xf0) == 0x40 || *in->at == 0x66 ||
			     *in->at == 0xf2 || *in->at == 0xf3))
				in->rex = 0;
		}
	}
	return false;
}

static const uint8_t mandatory_of[] = { 0, 0x66, 0xf3, 0xf2 };

/* C5; C4 and 8f (XOP), which are alike; 62 (EVEX). Reads the opcode, too. */
static bool take_vex(struct input *in, uint8_t first, struct insn *insn)
{
	uint8_t p0, p1, p2;

	insn->is_vex = true;
	if (!take(in, &p0))
		return false;
	if (first == 0xc5) {
		in->rex = p0 & 0x80 ? 0 : 4;
		insn->map = 1;
		p1 = p0 & 0x7f;
	} else {
		if (!take(in, &p1))
			return false;
		in->rex = (uint8_t)((~p0 >> 5 & 7) | (p1 & 0x80 ? 8 : 0));
		insn->map = first == 0x62 ? p0 & 7 : p0 & 0x1f;
		if (first == 0x62 && !take(in, &p2))
			return false;
	}
	insn->vvvv = (uint8_t)(~p1 >> 3 & 15);
	insn->mandatory = mandatory_of[p1 & 3];
	return take(in, &insn->opcode);
}

static bool take_opcode(struct input *in, struct insn *insn)
{
	uint8_t byte;

	if (!take(in, &byte))
		return false;
	/* With a map below 8 it is pop. */
	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62 ||
	    (byte == 0x8f && in->at < in->end && (*in->at & 0x1f) >= 8))
		return take_vex(in, byte, insn);
	insn->opcode = byte;
	if (byte != 0x0f)
		return true;
	insn->map = 1;
	if (!take(in, &byte))
		return false;
	insn->opcode = byte;
	if (byte != 0x38 && byte != 0x3a)
		return true;
	insn->map = byte == 0x38 ? 2 : 3;
	return take(in, &insn->opcode);
}

/* Sets of opcodes, a bit for each: the lower half of a row is its byte 0. */
static bool is_in(const uint16_t rows[16], uint8_t opcode)
{
	return rows[opcode >> 4] >> (opcode & 15) & 1;
}

/* What 64-bit mode does not have. Prefixes do not come here. */
static const uint16_t invalid_0[16] = {
	[0] = 0x40c0, [1] = 0xc0c0, [2] = 0x8080, [3] = 0x8080,
	[6] = 0x0007, [8] = 0x0004, [9] = 0x0400, [0xc] = 0x4030,
	[0xd] = 0x0070, [0xe] = 0x0400,
};

static const uint16_t modrm_0[16] = {
	[0] = 0x0f0f, [1] = 0x0f0f, [2] = 0x0f0f,   [3] = 0x0f0f,
	[6] = 0x0a08, [8] = 0xffff, [0xc] = 0x00c3, [0xd] = 0xff0f,
	[0xf] = 0xc0c0,
};

static const uint16_t no_modrm_1[16] = {
	[0] = 0x4be0, [3] = 0x00ff,   [7] = 0x0080,
	[8] = 0xffff, [0xa] = 0x0707, [0xc] = 0xff00,
};

static const uint16_t imm8_0[16] = {
	[0] = 0x1010,   [1] = 0x1010, [2] = 0x1010,   [3] = 0x1010,
	[6] = 0x0c00,   [7] = 0xffff, [8] = 0x0009,   [0xa] = 0x0100,
	[0xb] = 0x00ff, [0xc] = 0x2043, [0xe] = 0x08ff,
};

/* 32 bits, 16 with the prefix for it. */
static const uint16_t imm32_0[16] = {
	[0] = 0x2020, [1] = 0x2020,   [2] = 0x2020,   [3] = 0x2020,
	[6] = 0x0300, [8] = 0x0002,   [0xa] = 0x0200, [0xb] = 0xff00,
	[0xc] = 0x0080,
};

static const uint16_t imm8_1[16] = {
	[0] = 0x8000,	[7] = 0x000f,	[0xa] = 0x1010,
	[0xb] = 0x0400, [0xc] = 0x0074,
};

static bool has_modrm(const struct insn *insn)
{
	if (insn->map == 0)
		return is_in(modrm_0, insn->opcode);
	return insn->map != 1 || !is_in(no_modrm_1, insn->opcode);
}

static size_t imm_size_0(const struct input *in, const struct insn *insn)
{
	uint8_t op = insn->opcode;
	size_t wide = in->operand_16 && !insn->rex_w ? 2 : 4;

	if (op >= 0xb8 && op <= 0xbf && insn->rex_w)
		return 8;
	if (op >= 0xa0 && op <= 0xa3)
		return in->address_32 ? 4 : 8;
	if (op == 0xe8 || op == 0xe9)
		return 4;
	if (op == 0xc8)
		return 3;
	if (op == 0xc2 || op == 0xca)
		return 2;
	if (op == 0xf6)
		return insn->group < 2 ? 1 : 0;
	if (op == 0xf7)
		return insn->group < 2 ? wide : 0;
	return is_in(imm8_0, op) ? 1 : is_in(imm32_0, op) ? wide : 0;
}

static size_t imm_size(const struct input *in, const struct insn *insn)
{
	switch (insn->map) {
	case 0:
		return imm_size_0(in, insn);
	case 1:
		if (!insn->is_vex && (insn->opcode & 0xf0) == 0x80)
			return 4;
		return is_in(imm8_1, insn->opcode) ? 1 : 0;
	case 3:
	case 8:
		return 1;
	case 10:
		return 4;
	default:
		return 0;
	}
}

static bool take_number(struct input *in, size_t size, int32_t *ret)
{
	int32_t value = 0;

	if ((size_t)(in->end - in->at) < size)
		return false;
	if (size == 1)
		value = (int8_t)in->at[0];
	else if (size >= 4)
		memcpy(&value, in->at, 4);
	in->at += size;
	*ret = value;
	return true;
}

static bool take_modrm(struct input *in, struct insn *insn)
{
	uint8_t modrm, sib = 0;
	uint8_t b = in->rex & 1 ? 8 : 0;

	if (!take(in, &modrm))
		return false;
	insn->has_modrm = true;
	insn->mod = modrm >> 6;
	insn->group = modrm >> 3 & 7;
	insn->reg = insn->group | (in->rex & 4 ? 8 : 0);
	insn->rm = (modrm & 7) | b;
	if (insn->mod == 3)
		return true;
	if ((modrm & 7) == RSP) {
		if (!take(in, &sib))
			return false;
		insn->rm = (sib & 7) | b;
		insn->has_index = (sib >> 3 & 7) != RSP || (in->rex & 2);
	}
	if (insn->mod == 0 && (insn->rm & 7) == RBP) {
		insn->rm = INSN_NO_REG;
		return take_number(in, 4, &insn->disp);
	}
	return take_number(in, insn->mod == 1 ? 1 : insn->mod == 2 ? 4 : 0,
			   &insn->disp);
}

bool insn_decode(const uint8_t *code, size_t size, struct insn *ret)
{
	struct input in = { .at = code,
			    .end = code + (size < INSN_SIZE_MAX ? size :
								  INSN_SIZE_MAX) };
	struct insn insn = { .rm = INSN_NO_REG };

	if (!take_prefixes(&in, &insn) || !take_opcode(&in, &insn))
		return false;
	if (insn.map == 0 && is_in(invalid_0, insn.opcode))
		return false;
	insn.rex_w = in.rex & 8;
	if (has_modrm(&insn)) {
		if (!take_modrm(&in, &insn))
			return false;
	} else {
		insn.rm = (insn.opcode & 7) | (in.rex & 1 ? 8 : 0);
	}
	if (!take_number(&in, imm_size(&in, &insn), &insn.imm))
		return false;
	insn.size = (uint8_t)(in.at - code);
	*ret = insn;
	return true;
}

/* --- what is written --- */

static uint32_t rm_register(const struct insn *insn)
{
	return insn->mod == 3 ? BIT(insn->rm) : 0;
}

/* add, or, adc, sbb, and, sub, xor; cmp writes nothing. */
static uint32_t arithmetic_writes(const struct insn *insn)
{
	if (insn->opcode >= 0x38)
		return 0;
	switch (insn->opcode & 7) {
	case 0:
	case 1:
		return rm_register(insn);
	case 2:
	case 3:
		return BIT(insn->reg);
	default:
		return BIT(RAX);
	}
}

static uint32_t writes_0(const struct insn *insn)
{
	uint8_t op = insn->opcode;

	if (op < 0x40)
		return arithmetic_writes(insn);
	if (op >= 0x50 && op <= 0x57)
		return 0;
	if (op >= 0x58 && op <= 0x5f)
		return BIT(insn->rm);
	if (op == 0x80 || op == 0x81 || op == 0x83)
		return insn->group == 7 ? 0 : rm_register(insn);
	if (op == 0x86 || op == 0x87)
		return BIT(insn->reg) | rm_register(insn);
	if (op == 0x88 || op == 0x89 || op == 0x8c || op == 0xc6 || op == 0xc7)
		return rm_register(insn);
	if (op == 0x8a || op == 0x8b || op == 0x8d || op == 0x63 ||
	    op == 0x69 || op == 0x6b)
		return BIT(insn->reg);
	if (op == 0x8f)
		return rm_register(insn);
	if (op == 0x84 || op == 0x85 || op == 0x8e)
		return 0;
	if (op >= 0x90 && op <= 0x97)
		return op == 0x90 && insn->rm == RAX ?
			       0 :
			       BIT(RAX) | BIT(insn->rm);
	if (op >= 0xb0 && op <= 0xbf)
		return BIT(insn->rm);
	if (op == 0xc0 || op == 0xc1 || (op >= 0xd0 && op <= 0xd3))
		return rm_register(insn);
	if (op == 0xf6 || op == 0xf7)
		return insn->group < 2	? 0 :
		       insn->group < 4	? rm_register(insn) :
					  BIT(RAX) | BIT(RDX);
	if (op == 0xfe || op == 0xff)
		return insn->group < 2 ? rm_register(insn) : 0;
	/* String instructions, in and cwd; loop; enter and leave. */
	if ((op >= 0xa0 && op <= 0xaf && op != 0xa8 && op != 0xa9) ||
	    op == 0x98 || op == 0x99 || op == 0x9f || op == 0xd7 ||
	    op == 0xe4 || op == 0xe5 || op == 0xec || op == 0xed ||
	    (op >= 0xe0 && op <= 0xe2) || (op >= 0x6c && op <= 0x6f))
		return BIT(RAX) | BIT(RCX) | BIT(RDX) | BIT(RSI) | BIT(RDI);
	return op == 0xc8 || op == 0xc9 ? BIT(RBP) : 0;
}

static uint32_t writes_1(const struct insn *insn)
{
	uint8_t op = insn->opcode;

	/* To a general register out of another kind: movmsk, cvt, movd, pextrw. */
	if (op == 0x50 || op == 0x2c || op == 0x2d || op == 0xc5 || op == 0xd7)
		return BIT(insn->reg);
	if (op == 0x7e && insn->mandatory != 0xf3)
		return rm_register(insn);
	if (insn->is_vex) {
		/* kmov; EVEX's vcvt to unsigned. */
		if (op == 0x93 || op == 0x92 || op == 0x78 || op == 0x79)
			return BIT(insn->reg);
		return 0;
	}
	if (op >= 0xc8 && op <= 0xcf)
		return BIT(insn->rm);
	/* cmov, imul, lsl, movzx, movsx, bsf, bsr, popcnt. */
	if ((op & 0xf0) == 0x40 || op == 0xaf || op == 0x02 || op == 0x03 ||
	    op == 0xb6 || op == 0xb7 || op == 0xb8 ||
	    (op >= 0xbc && op <= 0xbf))
		return BIT(insn->reg);
	/* setcc; bts, btr, btc; shld, shrd. */
	if ((op & 0xf0) == 0x90 || op == 0xab || op == 0xb3 || op == 0xbb ||
	    op == 0xba || op == 0xa4 || op == 0xa5 || op == 0xac ||
	    op == 0xad || op == 0x00 || op == 0xc7)
		return rm_register(insn) | (op == 0xc7 ? BIT(RAX) | BIT(RDX) : 0);
	if (op == 0xb0 || op == 0xb1)
		return rm_register(insn) | BIT(RAX);
	if (op == 0xc0 || op == 0xc1)
		return rm_register(insn) | BIT(insn->reg);
	/* rdtsc, rdpmc, rdmsr, cpuid, xgetbv; syscall. */
	if ((op >= 0x30 && op <= 0x33) || op == 0xa2 || op == 0x01 || op == 0x05)
		return BIT(RAX) | BIT(RBX) | BIT(RCX) | BIT(RDX) | BIT(11);
	return 0;
}

/* BMI, crc32, movbe, adcx; pextr. */
static uint32_t writes_2(const struct insn *insn)
{
	return insn->opcode >= 0xf0 ? BIT(insn->reg) | BIT(insn->vvvv) |
					      rm_register(insn) :
				      0;
}

static uint32_t writes_3(const struct insn *insn)
{
	uint8_t op = insn->opcode;

	if (op == 0xf0)
		return BIT(insn->reg);
	if (op >= 0x14 && op <= 0x17)
		return rm_register(insn);
	/* pcmpestri, pcmpistri. */
	return op == 0x61 || op == 0x63 ? BIT(RCX) : 0;
}

uint32_t insn_writes(const struct insn *insn)
{
	switch (insn->map) {
	case 0:
		return writes_0(insn);
	case 1:
		return writes_1(insn);
	case 2:
		return writes_2(insn);
	case 3:
		return writes_3(insn);
	case 5:
		/* FP16: conversions and vmovw. */
		return BIT(insn->reg) | rm_register(insn);
	default:
		return insn->map >= 8 ? BIT(insn->reg) | BIT(insn->vvvv) : 0;
	}
}
