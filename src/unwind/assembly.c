// SPDX-License-Identifier: GPL-2.0-only
#include "unwind/assembly.h"

#include "unwind/insn.h"

/* Numbers in instructions, which are not DWARF's. */
enum { RBX = 3, RSP = 4, RBP = 5, REGS = 16 };

#define BIT(n) (UINT32_C(1) << (n))

/* What calls preserve, and what they do not; the stack pointer is apart. */
#define PRESERVED (BIT(RBX) | BIT(RBP) | 0xf000u)
#define SCRATCH (0xffffu & ~PRESERVED & ~BIT(RSP))

enum {
	/* Jumps forward that are remembered. */
	JUMPS = 32,
	/* A frame larger than this is not believed. */
	FRAME_MAX = 16 << 20,
};

static const uint8_t dwarf_number[REGS] = {
	UNWIND_RAX, UNWIND_RCX, UNWIND_RDX, UNWIND_RBX, UNWIND_RSP, UNWIND_RBP,
	UNWIND_RSI, UNWIND_RDI, UNWIND_R8,  UNWIND_R9,	UNWIND_R10, UNWIND_R11,
	UNWIND_R12, UNWIND_R13, UNWIND_R14, UNWIND_R15,
};

struct state {
	/* Registers r for which CFA = r + base[r]. */
	uint32_t known;
	int32_t base[REGS];
	/* Preserved registers that are at CFA - saved[r], or 0. */
	int32_t saved[REGS];
	/* Preserved registers that hold something else by now. */
	uint32_t changed;
};

struct jump {
	size_t target;
	struct state state;
};

struct reading {
	struct state state;
	/* The state of the function's body. */
	struct state body;
	/* A return is being prepared. */
	bool returns;
	/* The instruction cannot be reached from the one before. */
	bool ended;
	struct jump jumps[JUMPS];
	size_t jump_count;
};

static bool knows(const struct state *s, unsigned int reg)
{
	return s->known & BIT(reg);
}

/* CFA = reg + base from now on. */
static bool set_base(struct state *s, unsigned int reg, int64_t base)
{
	if (base < -FRAME_MAX || base > FRAME_MAX)
		return false;
	s->known |= BIT(reg);
	s->base[reg] = (int32_t)base;
	return true;
}

/* The address of a memory operand, as CFA - *ret. */
static bool below_cfa(const struct state *s, const struct insn *insn,
		      int64_t *ret)
{
	if (insn->mod == 3 || insn->rm == INSN_NO_REG || insn->has_index ||
	    !knows(s, insn->rm))
		return false;
	*ret = (int64_t)s->base[insn->rm] - insn->disp;
	return true;
}

static void save(struct state *s, unsigned int reg, int64_t below)
{
	if (!(PRESERVED & BIT(reg)) || s->saved[reg] ||
	    (s->changed & BIT(reg)) || below <= 0 || below > FRAME_MAX ||
	    below % 8)
		return;
	s->saved[reg] = (int32_t)below;
}

/* The register is loaded from there. */
static void load(struct state *s, unsigned int reg, bool is_known,
		 int64_t below)
{
	s->known &= ~BIT(reg);
	s->changed |= BIT(reg) & PRESERVED;
	if (!is_known || !s->saved[reg] || s->saved[reg] != below)
		return;
	s->saved[reg] = 0;
	s->changed &= ~BIT(reg);
}

static bool push(struct state *s, const struct insn *insn, bool of_register)
{
	if (!knows(s, RSP))
		return true;
	if (!set_base(s, RSP, (int64_t)s->base[RSP] + 8))
		return false;
	if (of_register)
		save(s, insn->rm, s->base[RSP]);
	return true;
}

static bool pop(struct state *s, const struct insn *insn, bool of_register)
{
	bool is_known = knows(s, RSP);
	int32_t below = s->base[RSP];

	if (of_register)
		load(s, insn->rm, is_known, below);
	if (of_register && insn->rm == RSP)
		return false;
	return !is_known || set_base(s, RSP, (int64_t)below - 8);
}

static bool leave(struct state *s)
{
	bool is_known = knows(s, RBP);
	int32_t base = s->base[RBP];

	load(s, RBP, is_known, base);
	s->known &= ~BIT(RSP);
	return is_known && set_base(s, RSP, (int64_t)base - 8);
}

/* mov between registers, both widths of ModRM; lea. */
static bool copy(struct state *s, unsigned int to, unsigned int from,
		 int32_t disp)
{
	bool is_known = knows(s, from);
	int64_t base = (int64_t)s->base[from] - disp;

	s->known &= ~BIT(to);
	s->changed |= BIT(to) & PRESERVED;
	return !is_known || set_base(s, to, base);
}

static bool is_wide(const struct insn *insn, uint8_t opcode)
{
	return insn->map == 0 && insn->opcode == opcode && insn->rex_w;
}

static bool is_register_push(const struct insn *insn)
{
	return insn->map == 0 && insn->opcode >= 0x50 && insn->opcode <= 0x57;
}

static bool is_register_pop(const struct insn *insn)
{
	return insn->map == 0 && insn->opcode >= 0x58 && insn->opcode <= 0x5f;
}

static bool is_other_push(const struct insn *insn)
{
	return insn->map == 0 &&
	       (insn->opcode == 0x68 || insn->opcode == 0x6a ||
		insn->opcode == 0x9c ||
		(insn->opcode == 0xff && insn->group == 6));
}

static bool is_other_pop(const struct insn *insn)
{
	return insn->map == 0 &&
	       (insn->opcode == 0x9d || insn->opcode == 0x8f);
}

/* add, sub and and of rsp with a number. */
static bool is_stack_number(const struct insn *insn)
{
	return (is_wide(insn, 0x81) || is_wide(insn, 0x83)) &&
	       insn->mod == 3 && insn->rm == RSP;
}

static bool change_stack(struct state *s, const struct insn *insn)
{
	int64_t base = s->base[RSP];

	switch (insn->group) {
	case 0:
		return !knows(s, RSP) || set_base(s, RSP, base - insn->imm);
	case 5:
		return !knows(s, RSP) || set_base(s, RSP, base + insn->imm);
	case 4:
		s->known &= ~BIT(RSP);
		return true;
	default:
		/* cmp */
		return insn->group == 7;
	}
}

static bool is_call(const struct insn *insn)
{
	return insn->map == 0 &&
	       (insn->opcode == 0xe8 ||
		(insn->opcode == 0xff && insn->group == 2));
}

/* Anything else: what it writes is not known any more. */
static bool other(struct state *s, const struct insn *insn)
{
	uint32_t writes = is_call(insn) ? SCRATCH : insn_writes(insn);

	s->known &= ~(writes & ~BIT(RSP));
	s->changed |= writes & PRESERVED;
	return !(writes & BIT(RSP));
}

/* false: not understood. */
static bool apply(struct state *s, const struct insn *insn)
{
	int64_t below;
	bool is_known;

	if (is_register_push(insn) || is_other_push(insn))
		return push(s, insn, is_register_push(insn));
	if (is_register_pop(insn) || is_other_pop(insn))
		return pop(s, insn, is_register_pop(insn));
	if (insn->map == 0 && insn->opcode == 0xc9)
		return leave(s);
	if (is_stack_number(insn))
		return change_stack(s, insn);
	if (is_wide(insn, 0x89) && insn->mod == 3)
		return copy(s, insn->rm, insn->reg, 0);
	if (is_wide(insn, 0x8b) && insn->mod == 3)
		return copy(s, insn->reg, insn->rm, 0);
	if (is_wide(insn, 0x8d) && insn->rm != INSN_NO_REG && !insn->has_index)
		return copy(s, insn->reg, insn->rm, insn->disp);
	if (is_wide(insn, 0x89) && below_cfa(s, insn, &below)) {
		save(s, insn->reg, below);
		return true;
	}
	if (is_wide(insn, 0x8b) && insn->reg != RSP) {
		is_known = below_cfa(s, insn, &below);
		load(s, insn->reg, is_known, is_known ? below : 0);
		return true;
	}
	return other(s, insn);
}

/* The stack grows, or a register of the caller's is saved: the body begins later. */
static bool prepares_body(const struct state *before, const struct state *after)
{
	if ((before->known & BIT(RSP)) && !(after->known & BIT(RSP)))
		return true;
	if (knows(before, RSP) && after->base[RSP] > before->base[RSP])
		return true;
	for (unsigned int r = 0; r < REGS; r++)
		if (after->saved[r] && !before->saved[r])
			return true;
	return false;
}

/* A return has been prepared: the registers are the caller's again. */
static bool prepares_return(const struct state *before,
			    const struct state *after)
{
	if (!knows(before, RSP) && knows(after, RSP))
		return true;
	if (knows(before, RSP) && knows(after, RSP) &&
	    after->base[RSP] < before->base[RSP])
		return true;
	for (unsigned int r = 0; r < REGS; r++)
		if (before->saved[r] && !after->saved[r])
			return true;
	return false;
}

static bool is_jump(const struct insn *insn, bool *always)
{
	uint8_t op = insn->opcode;

	*always = insn->map == 0 && (op == 0xe9 || op == 0xeb);
	return *always || (insn->map == 0 && op >= 0x70 && op <= 0x7f) ||
	       (insn->map == 0 && op >= 0xe0 && op <= 0xe3) ||
	       (insn->map == 1 && !insn->is_vex && (op & 0xf0) == 0x80);
}

/* ret, jmp to a register, ud2, hlt, int3. */
static bool is_end(const struct insn *insn)
{
	uint8_t op = insn->opcode;

	if (insn->map == 1)
		return op == 0x0b && !insn->is_vex;
	return insn->map == 0 &&
	       (op == 0xc2 || op == 0xc3 || op == 0xcc || op == 0xf4 ||
		(op == 0xff && (insn->group == 4 || insn->group == 5)));
}

static void remember_jump(struct reading *r, size_t target)
{
	struct jump *jump = &r->jumps[r->jump_count++ % JUMPS];

	jump->target = target;
	jump->state = r->state;
}

/* Behind an end: the state of a jump that leads here, else the body's. */
static void enter(struct reading *r, size_t at)
{
	if (!r->ended)
		return;
	r->ended = r->returns = false;
	r->state = r->body;
	for (size_t i = 0; i < r->jump_count && i < JUMPS; i++)
		if (r->jumps[i].target == at)
			r->state = r->jumps[i].state;
}

/* No compiler or author puts these between the steps of a return. */
static bool is_work(const struct insn *insn)
{
	uint8_t op = insn->opcode;

	if (insn->map)
		return false;
	return is_call(insn) || (op >= 0x38 && op <= 0x3d) || op == 0x84 ||
	       op == 0x85 || (op >= 0x70 && op <= 0x7f) ||
	       (insn->has_modrm && insn->mod != 3 && insn->rm != RSP &&
		op != 0x8d);
}

/* From the first step of a return on nothing counts for the body. */
static void follow_body(struct reading *r, const struct state *before,
			const struct insn *insn)
{
	if (prepares_body(before, &r->state) || is_work(insn))
		r->returns = false;
	else if (prepares_return(before, &r->state))
		r->returns = true;
	if (!r->returns)
		r->body = r->state;
}

static bool read_one(struct reading *r, size_t at, const struct insn *insn)
{
	struct state before = r->state;
	int64_t target = (int64_t)(at + insn->size) + insn->imm;
	bool always = false;

	if (is_jump(insn, &always)) {
		follow_body(r, &before, insn);
		if (target > (int64_t)at)
			remember_jump(r, (size_t)target);
	} else if (is_end(insn)) {
		always = true;
	} else if (!apply(&r->state, insn)) {
		return false;
	} else {
		follow_body(r, &before, insn);
	}
	r->ended = always;
	return true;
}

static bool state_to_frame(const struct state *s, struct assembly_frame *ret)
{
	unsigned int cfa = RSP;

	*ret = (struct assembly_frame){};
	for (unsigned int r = 0; r < REGS && !knows(s, cfa); r++)
		if (PRESERVED & BIT(r))
			cfa = r;
	for (unsigned int r = 0; r < REGS && !knows(s, cfa); r++)
		cfa = r;
	if (!knows(s, cfa))
		return false;
	ret->cfa_reg = dwarf_number[cfa];
	ret->cfa_offset = s->base[cfa];
	for (unsigned int r = 0; r < REGS; r++) {
		if ((s->changed & BIT(r)) && !s->saved[r])
			return false;
		ret->saved_below_cfa[dwarf_number[r]] = s->saved[r];
	}
	return true;
}

bool assembly_frame_at(const uint8_t *code, size_t size, size_t at,
		       struct assembly_frame *ret)
{
	struct reading r = {};
	struct insn insn;
	size_t pos = 0;

	set_base(&r.state, RSP, 8);
	r.body = r.state;
	while (pos < at) {
		enter(&r, pos);
		if (!insn_decode(code + pos, size - pos, &insn) ||
		    !read_one(&r, pos, &insn))
			return false;
		pos += insn.size;
	}
	if (pos != at)
		return false;
	enter(&r, pos);
	return state_to_frame(&r.state, ret);
}
