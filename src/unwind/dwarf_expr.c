// SPDX-License-Identifier: GPL-2.0-only
#include "unwind/dwarf_expr.h"

enum {
	MAX_STACK = 64,
	/* Operations, for expressions that loop. */
	MAX_STEPS = 1024,
};

enum {
	DW_OP_deref = 0x06,
	DW_OP_const1u = 0x08,
	DW_OP_const1s = 0x09,
	DW_OP_const2u = 0x0a,
	DW_OP_const2s = 0x0b,
	DW_OP_const4u = 0x0c,
	DW_OP_const4s = 0x0d,
	DW_OP_const8u = 0x0e,
	DW_OP_const8s = 0x0f,
	DW_OP_constu = 0x10,
	DW_OP_consts = 0x11,
	DW_OP_dup = 0x12,
	DW_OP_drop = 0x13,
	DW_OP_over = 0x14,
	DW_OP_pick = 0x15,
	DW_OP_swap = 0x16,
	DW_OP_rot = 0x17,
	DW_OP_abs = 0x19,
	DW_OP_and = 0x1a,
	DW_OP_div = 0x1b,
	DW_OP_minus = 0x1c,
	DW_OP_mod = 0x1d,
	DW_OP_mul = 0x1e,
	DW_OP_neg = 0x1f,
	DW_OP_not = 0x20,
	DW_OP_or = 0x21,
	DW_OP_plus = 0x22,
	DW_OP_plus_uconst = 0x23,
	DW_OP_shl = 0x24,
	DW_OP_shr = 0x25,
	DW_OP_shra = 0x26,
	DW_OP_xor = 0x27,
	DW_OP_bra = 0x28,
	DW_OP_eq = 0x29,
	DW_OP_ge = 0x2a,
	DW_OP_gt = 0x2b,
	DW_OP_le = 0x2c,
	DW_OP_lt = 0x2d,
	DW_OP_ne = 0x2e,
	DW_OP_skip = 0x2f,
	DW_OP_lit0 = 0x30,
	DW_OP_lit31 = 0x4f,
	DW_OP_breg0 = 0x70,
	DW_OP_breg31 = 0x8f,
	DW_OP_bregx = 0x92,
	DW_OP_deref_size = 0x94,
	DW_OP_nop = 0x96,
};

struct machine {
	const struct dwarf_expr_env *env;
	struct reader code;
	uint64_t stack[MAX_STACK];
	unsigned int depth;
	bool failed;
};

static void push(struct machine *m, uint64_t value)
{
	if (m->depth == MAX_STACK)
		m->failed = true;
	else
		m->stack[m->depth++] = value;
}

static uint64_t pop(struct machine *m)
{
	if (m->depth == 0) {
		m->failed = true;
		return 0;
	}
	return m->stack[--m->depth];
}

/* Entry `index` from the top. */
static void pick(struct machine *m, unsigned int index)
{
	if (index >= m->depth)
		m->failed = true;
	else
		push(m, m->stack[m->depth - 1 - index]);
}

static uint64_t read_uleb(struct machine *m)
{
	uint64_t value = 0;

	reader_uleb128(&m->code, &value);
	return value;
}

static uint64_t read_sleb(struct machine *m)
{
	int64_t value = 0;

	reader_sleb128(&m->code, &value);
	return (uint64_t)value;
}

static uint64_t read_fixed(struct machine *m, uint8_t op)
{
	uint8_t u8 = 0;
	uint16_t u16 = 0;
	uint32_t u32 = 0;
	uint64_t u64 = 0;
	bool sign = op & 1;

	switch (op) {
	case DW_OP_const1u:
	case DW_OP_const1s:
		reader_u8(&m->code, &u8);
		return sign ? (uint64_t)(int64_t)(int8_t)u8 : u8;
	case DW_OP_const2u:
	case DW_OP_const2s:
		reader_u16(&m->code, &u16);
		return sign ? (uint64_t)(int64_t)(int16_t)u16 : u16;
	case DW_OP_const4u:
	case DW_OP_const4s:
		reader_u32(&m->code, &u32);
		return sign ? (uint64_t)(int64_t)(int32_t)u32 : u32;
	default:
		reader_u64(&m->code, &u64);
		return u64;
	}
}

static void push_reg(struct machine *m, uint64_t reg, uint64_t offset)
{
	if (reg >= UNWIND_REGS ||
	    !unwind_reg_known(m->env->regs, (unsigned int)reg))
		m->failed = true;
	else
		push(m, m->env->regs->value[reg] + offset);
}

static void deref(struct machine *m, unsigned int size)
{
	uint64_t value = 0;

	if (size < 1 || size > 8 || m->failed ||
	    !m->env->read(m->env->arg, pop(m), &value)) {
		m->failed = true;
		return;
	}
	push(m, size == 8 ? value : value & ((1ull << size * 8) - 1));
}

static void jump(struct machine *m, bool taken)
{
	uint16_t raw = 0;
	ptrdiff_t to;

	if (!reader_u16(&m->code, &raw) || !taken)
		return;
	to = m->code.pos - m->code.start + (int16_t)raw;
	if (to < 0 || to > m->code.end - m->code.start)
		m->failed = true;
	else
		m->code.pos = m->code.start + to;
}

static uint64_t divide(struct machine *m, uint64_t a, uint64_t b)
{
	if (b == 0) {
		m->failed = true;
		return 0;
	}
	/* Negation, without the overflow that traps. */
	return b == UINT64_MAX ? 0 - a :
				 (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t modulo(struct machine *m, uint64_t a, uint64_t b)
{
	if (b == 0) {
		m->failed = true;
		return 0;
	}
	return a % b;
}

static uint64_t shift_right(uint64_t a, uint64_t b, bool arithmetic)
{
	if (arithmetic)
		return (uint64_t)((int64_t)a >> (b < 63 ? b : 63));
	return b < 64 ? a >> b : 0;
}

static void run_binary(struct machine *m, uint8_t op)
{
	uint64_t b = pop(m), a = pop(m);
	int64_t sa = (int64_t)a, sb = (int64_t)b;

	switch (op) {
	case DW_OP_and: push(m, a & b); return;
	case DW_OP_div: push(m, divide(m, a, b)); return;
	case DW_OP_minus: push(m, a - b); return;
	case DW_OP_mod: push(m, modulo(m, a, b)); return;
	case DW_OP_mul: push(m, a * b); return;
	case DW_OP_or: push(m, a | b); return;
	case DW_OP_plus: push(m, a + b); return;
	case DW_OP_shl: push(m, b < 64 ? a << b : 0); return;
	case DW_OP_shr: push(m, shift_right(a, b, false)); return;
	case DW_OP_shra: push(m, shift_right(a, b, true)); return;
	case DW_OP_xor: push(m, a ^ b); return;
	case DW_OP_eq: push(m, a == b); return;
	case DW_OP_ge: push(m, sa >= sb); return;
	case DW_OP_gt: push(m, sa > sb); return;
	case DW_OP_le: push(m, sa <= sb); return;
	case DW_OP_lt: push(m, sa < sb); return;
	default: push(m, a != b); return;
	}
}

static void run_unary(struct machine *m, uint8_t op)
{
	uint64_t a = pop(m);

	switch (op) {
	case DW_OP_abs: push(m, (int64_t)a < 0 ? 0 - a : a); return;
	case DW_OP_neg: push(m, 0 - a); return;
	case DW_OP_not: push(m, ~a); return;
	default: push(m, a + read_uleb(m));
	}
}

static void rotate(struct machine *m)
{
	uint64_t top = pop(m), second = pop(m), third = pop(m);

	push(m, top);
	push(m, third);
	push(m, second);
}

static void swap(struct machine *m)
{
	uint64_t top = pop(m), second = pop(m);

	push(m, top);
	push(m, second);
}

static void run_stack_op(struct machine *m, uint8_t op)
{
	uint8_t index = 0;

	switch (op) {
	case DW_OP_dup: pick(m, 0); return;
	case DW_OP_drop: pop(m); return;
	case DW_OP_over: pick(m, 1); return;
	case DW_OP_pick:
		reader_u8(&m->code, &index);
		pick(m, index);
		return;
	case DW_OP_swap: swap(m); return;
	default: rotate(m);
	}
}

static void run_base_reg(struct machine *m, uint8_t op)
{
	uint64_t reg = op == DW_OP_bregx ? read_uleb(m) :
					     (uint64_t)op - DW_OP_breg0;

	push_reg(m, reg, read_sleb(m));
}

static void run_op(struct machine *m, uint8_t op)
{
	uint8_t size = 0;

	switch (op) {
	case DW_OP_lit0 ... DW_OP_lit31: push(m, op - DW_OP_lit0); return;
	case DW_OP_breg0 ... DW_OP_breg31:
	case DW_OP_bregx: run_base_reg(m, op); return;
	case DW_OP_const1u ... DW_OP_const8s: push(m, read_fixed(m, op)); return;
	case DW_OP_constu: push(m, read_uleb(m)); return;
	case DW_OP_consts: push(m, read_sleb(m)); return;
	case DW_OP_deref: deref(m, 8); return;
	case DW_OP_deref_size:
		reader_u8(&m->code, &size);
		deref(m, size);
		return;
	case DW_OP_dup ... DW_OP_rot: run_stack_op(m, op); return;
	case DW_OP_abs:
	case DW_OP_neg:
	case DW_OP_not:
	case DW_OP_plus_uconst: run_unary(m, op); return;
	case DW_OP_bra: jump(m, pop(m) != 0); return;
	case DW_OP_skip: jump(m, true); return;
	case DW_OP_and ... DW_OP_mul:
	case DW_OP_or:
	case DW_OP_plus:
	case DW_OP_shl ... DW_OP_xor:
	case DW_OP_eq ... DW_OP_ne: run_binary(m, op); return;
	case DW_OP_nop: return;
	default: m->failed = true;
	}
}

bool dwarf_expr_eval(struct bytes expression, const struct dwarf_expr_env *env,
		     const uint64_t *initial, uint64_t *ret)
{
	struct machine m;
	uint8_t op;

	if (expression.size == 0)
		return false;
	/* Only what was pushed is ever read of the stack. */
	m.env = env;
	m.code = reader_init(expression.data, expression.size);
	m.depth = 0;
	m.failed = false;
	if (initial)
		push(&m, *initial);
	for (int steps = 0; reader_left(&m.code) > 0; steps++) {
		if (steps == MAX_STEPS || !reader_u8(&m.code, &op))
			return false;
		run_op(&m, op);
		if (m.failed || m.code.failed)
			return false;
	}
	if (m.depth == 0)
		return false;
	*ret = m.stack[m.depth - 1];
	return true;
}
