// SPDX-License-Identifier: GPL-2.0-only
#include "unwind/cfi_program.h"

#include <string.h>

#include "unwind/eh_pointer.h"

/* Deeper nesting of DW_CFA_remember_state than any compiler makes. */
enum { MAX_REMEMBERED = 32 };

enum {
	DW_CFA_advance_loc = 0x40,
	DW_CFA_offset = 0x80,
	DW_CFA_restore = 0xc0,
	DW_CFA_nop = 0x00,
	DW_CFA_set_loc = 0x01,
	DW_CFA_advance_loc1 = 0x02,
	DW_CFA_advance_loc2 = 0x03,
	DW_CFA_advance_loc4 = 0x04,
	DW_CFA_offset_extended = 0x05,
	DW_CFA_restore_extended = 0x06,
	DW_CFA_undefined = 0x07,
	DW_CFA_same_value = 0x08,
	DW_CFA_register = 0x09,
	DW_CFA_remember_state = 0x0a,
	DW_CFA_restore_state = 0x0b,
	DW_CFA_def_cfa = 0x0c,
	DW_CFA_def_cfa_register = 0x0d,
	DW_CFA_def_cfa_offset = 0x0e,
	DW_CFA_def_cfa_expression = 0x0f,
	DW_CFA_expression = 0x10,
	DW_CFA_offset_extended_sf = 0x11,
	DW_CFA_def_cfa_sf = 0x12,
	DW_CFA_def_cfa_offset_sf = 0x13,
	DW_CFA_val_offset = 0x14,
	DW_CFA_val_offset_sf = 0x15,
	DW_CFA_val_expression = 0x16,
	DW_CFA_MIPS_advance_loc8 = 0x1d,
	DW_CFA_GNU_args_size = 0x2e,
	DW_CFA_GNU_negative_offset_extended = 0x2f,
};

struct program {
	const struct cfi_section *section;
	const struct cfi_cie *cie;
	const struct cfi_fde *fde;
	const struct cfi_sink *sink;
	/* Offset from the FDE's start. */
	uint64_t offset;
	/* Past the FDE's end: no more rows. */
	bool past_end;
	bool failed;
	struct cfi_rules rules;
	/* What the CIE set, for DW_CFA_restore; valid in the FDE. */
	struct cfi_rules initial;
	unsigned int n_remembered;
	struct cfi_rules remembered[MAX_REMEMBERED];
};

static void set_default_rules(struct cfi_rules *rules)
{
	static const uint8_t preserved[] = { UNWIND_RBX, UNWIND_RBP, UNWIND_R12,
					     UNWIND_R13, UNWIND_R14, UNWIND_R15 };

	memset(rules, 0, sizeof(*rules));
	rules->cfa.kind = CFI_UNDEFINED;
	for (int i = 0; i < UNWIND_REGS; i++)
		rules->reg[i].kind = CFI_UNDEFINED;
	for (size_t i = 0; i < sizeof(preserved); i++)
		rules->reg[preserved[i]].kind = CFI_SAME;
	rules->reg[UNWIND_RSP].kind = CFI_VAL_OFFSET;
	/* Unlike one that was said to be undefined. */
	rules->reg[UNWIND_RIP].kind = CFI_SAME;
}

static uint64_t read_uleb(struct reader *r)
{
	uint64_t value = 0;

	reader_uleb128(r, &value);
	return value;
}

static int64_t read_sleb(struct reader *r)
{
	int64_t value = 0;

	reader_sleb128(r, &value);
	return value;
}

/* An offset in bytes, fit for a rule. */
static int32_t to_offset(struct program *p, int64_t value)
{
	if (value < INT32_MIN || value > INT32_MAX)
		p->failed = true;
	return (int32_t)value;
}

static int32_t factored(struct program *p, int64_t value)
{
	int64_t product = 0;

	if (__builtin_mul_overflow(value, p->cie->data_align, &product))
		p->failed = true;
	return to_offset(p, product);
}

/* Of registers that are not followed (vector, x87) the rules are dropped. */
static void set_reg(struct program *p, uint64_t reg, enum cfi_kind kind,
		    int32_t value)
{
	if (reg == p->cie->return_reg)
		reg = UNWIND_RIP;
	if (reg < UNWIND_REGS)
		p->rules.reg[reg] =
			(struct cfi_rule){ .kind = kind, .value = value };
}

static void set_reg_register(struct program *p, uint64_t reg, uint64_t from)
{
	set_reg(p, reg, CFI_REGISTER, 0);
	if (reg == p->cie->return_reg)
		reg = UNWIND_RIP;
	if (reg >= UNWIND_REGS)
		return;
	p->rules.reg[reg].reg = (uint8_t)from;
	if (from >= UNWIND_REGS)
		p->rules.reg[reg].kind = CFI_UNDEFINED;
}

static void restore_reg(struct program *p, uint64_t reg)
{
	if (reg == p->cie->return_reg)
		reg = UNWIND_RIP;
	if (reg < UNWIND_REGS)
		p->rules.reg[reg] = p->initial.reg[reg];
}

static int32_t read_expression(struct program *p, struct reader *r)
{
	uint64_t size = read_uleb(r);
	const uint8_t *data = size <= reader_left(r) ? reader_bytes(r, size) :
						       NULL;
	int32_t number = 0;

	if (!data || !p->sink->expression(p->sink->arg,
					  (struct bytes){ data, size },
					  &number))
		p->failed = true;
	return number;
}

static void def_cfa(struct program *p, uint64_t reg, int32_t value)
{
	if (reg >= UNWIND_REGS)
		p->failed = true;
	p->rules.cfa = (struct cfi_rule){ .kind = CFI_OFFSET,
					  .reg = (uint8_t)reg,
					  .value = value };
}

/* Changes one part of a CFA that must already be register + offset. */
static void def_cfa_part(struct program *p, uint64_t reg, int32_t value)
{
	if (p->rules.cfa.kind != CFI_OFFSET)
		p->failed = true;
	def_cfa(p, reg, value);
}

static void remember_state(struct program *p)
{
	if (p->n_remembered == MAX_REMEMBERED)
		p->failed = true;
	else
		p->remembered[p->n_remembered++] = p->rules;
}

static void restore_state(struct program *p)
{
	if (p->n_remembered == 0)
		p->failed = true;
	else
		p->rules = p->remembered[--p->n_remembered];
}

/* The rules so far hold up to `offset`, exclusive. */
static void move_to(struct program *p, uint64_t offset)
{
	if (p->past_end || offset <= p->offset)
		return;
	if (!p->sink->row(p->sink->arg, p->offset, &p->rules))
		p->failed = true;
	p->offset = offset;
	p->past_end = offset >= p->fde->size;
}

static void advance(struct program *p, uint64_t delta)
{
	uint64_t bytes, offset;

	if (__builtin_mul_overflow(delta, p->cie->code_align, &bytes) ||
	    __builtin_add_overflow(p->offset, bytes, &offset))
		p->failed = true;
	else
		move_to(p, offset);
}

static void set_loc(struct program *p, struct reader *r)
{
	struct eh_pointer_bases bases = { .section = p->section->vaddr +
						     p->section->base,
					  .text = p->section->text_vaddr,
					  .data = p->section->got_vaddr,
					  .function = p->fde->start };
	uint64_t address = 0;

	if (!eh_pointer_read(r, p->cie->fde_encoding, &bases, &address) ||
	    address < p->fde->start + p->offset)
		p->failed = true;
	else
		move_to(p, address - p->fde->start);
}

static void advance_wide(struct program *p, struct reader *r, uint8_t op)
{
	uint8_t u8 = 0;
	uint16_t u16 = 0;
	uint32_t u32 = 0;
	uint64_t u64 = 0;

	switch (op) {
	case DW_CFA_advance_loc1:
		reader_u8(r, &u8);
		advance(p, u8);
		return;
	case DW_CFA_advance_loc2:
		reader_u16(r, &u16);
		advance(p, u16);
		return;
	case DW_CFA_advance_loc4:
		reader_u32(r, &u32);
		advance(p, u32);
		return;
	default:
		reader_u64(r, &u64);
		advance(p, u64);
	}
}

static void run_cfa_op(struct program *p, struct reader *r, uint8_t op)
{
	const struct cfi_rule *cfa = &p->rules.cfa;
	uint64_t reg;

	switch (op) {
	case DW_CFA_def_cfa:
		reg = read_uleb(r);
		def_cfa(p, reg, to_offset(p, (int64_t)read_uleb(r)));
		return;
	case DW_CFA_def_cfa_sf:
		reg = read_uleb(r);
		def_cfa(p, reg, factored(p, read_sleb(r)));
		return;
	case DW_CFA_def_cfa_register:
		def_cfa_part(p, read_uleb(r), cfa->value);
		return;
	case DW_CFA_def_cfa_offset:
		def_cfa_part(p, cfa->reg, to_offset(p, (int64_t)read_uleb(r)));
		return;
	case DW_CFA_def_cfa_offset_sf:
		def_cfa_part(p, cfa->reg, factored(p, read_sleb(r)));
		return;
	default:
		p->rules.cfa = (struct cfi_rule){
			.kind = CFI_VAL_EXPRESSION,
			.value = read_expression(p, r)
		};
	}
}

/* Instructions that name a register; all have its number first. */
static void run_reg_op(struct program *p, struct reader *r, uint8_t op)
{
	uint64_t reg = read_uleb(r);

	switch (op) {
	case DW_CFA_offset_extended:
		set_reg(p, reg, CFI_OFFSET, factored(p, (int64_t)read_uleb(r)));
		return;
	case DW_CFA_offset_extended_sf:
		set_reg(p, reg, CFI_OFFSET, factored(p, read_sleb(r)));
		return;
	case DW_CFA_GNU_negative_offset_extended:
		set_reg(p, reg, CFI_OFFSET,
			factored(p, (int64_t)(0 - read_uleb(r))));
		return;
	case DW_CFA_val_offset:
		set_reg(p, reg, CFI_VAL_OFFSET,
			factored(p, (int64_t)read_uleb(r)));
		return;
	case DW_CFA_val_offset_sf:
		set_reg(p, reg, CFI_VAL_OFFSET, factored(p, read_sleb(r)));
		return;
	case DW_CFA_restore_extended:
		restore_reg(p, reg);
		return;
	case DW_CFA_undefined:
		set_reg(p, reg, CFI_UNDEFINED, 0);
		return;
	case DW_CFA_same_value:
		set_reg(p, reg, CFI_SAME, 0);
		return;
	case DW_CFA_register:
		set_reg_register(p, reg, read_uleb(r));
		return;
	case DW_CFA_expression:
		set_reg(p, reg, CFI_EXPRESSION, read_expression(p, r));
		return;
	default:
		set_reg(p, reg, CFI_VAL_EXPRESSION, read_expression(p, r));
	}
}

static void run_extended_op(struct program *p, struct reader *r, uint8_t op)
{
	switch (op) {
	case DW_CFA_nop:
		return;
	case DW_CFA_set_loc:
		set_loc(p, r);
		return;
	case DW_CFA_advance_loc1:
	case DW_CFA_advance_loc2:
	case DW_CFA_advance_loc4:
	case DW_CFA_MIPS_advance_loc8:
		advance_wide(p, r, op);
		return;
	case DW_CFA_remember_state:
		remember_state(p);
		return;
	case DW_CFA_restore_state:
		restore_state(p);
		return;
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
	case DW_CFA_def_cfa_register:
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
	case DW_CFA_def_cfa_expression:
		run_cfa_op(p, r, op);
		return;
	case DW_CFA_GNU_args_size:
		read_uleb(r);
		return;
	case DW_CFA_offset_extended ... DW_CFA_same_value:
	case DW_CFA_register:
	case DW_CFA_expression:
	case DW_CFA_offset_extended_sf:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
	case DW_CFA_val_expression:
	case DW_CFA_GNU_negative_offset_extended:
		run_reg_op(p, r, op);
		return;
	default:
		p->failed = true;
	}
}

static bool run_instructions(struct program *p, struct reader r)
{
	uint8_t op;

	while (!p->failed && !r.failed && reader_left(&r) > 0) {
		reader_u8(&r, &op);
		switch (op & 0xc0) {
		case DW_CFA_advance_loc:
			advance(p, op & 0x3f);
			break;
		case DW_CFA_offset:
			set_reg(p, op & 0x3f, CFI_OFFSET,
				factored(p, (int64_t)read_uleb(&r)));
			break;
		case DW_CFA_restore:
			restore_reg(p, op & 0x3f);
			break;
		default:
			run_extended_op(p, &r, op);
		}
	}
	return !p->failed && !r.failed;
}

bool cfi_program_run(const struct cfi_section *section,
		     const struct cfi_cie *cie, const struct cfi_fde *fde,
		     const struct cfi_sink *sink)
{
	struct program p;

	/* The remembered states are written before they are read. */
	p.section = section;
	p.cie = cie;
	p.fde = fde;
	p.sink = sink;
	p.offset = 0;
	p.past_end = fde->size == 0;
	p.failed = false;
	p.n_remembered = 0;
	set_default_rules(&p.rules);
	p.rules.table = sink->table;
	p.rules.signal_frame = cie->signal_frame;
	p.initial = p.rules;
	if (!run_instructions(&p, cie->instructions) || p.offset != 0)
		return false;
	p.initial = p.rules;
	if (!run_instructions(&p, fde->instructions))
		return false;
	move_to(&p, fde->size);
	return !p.failed;
}
