// SPDX-License-Identifier: GPL-2.0-only
#include "unwind/stack_search.h"

#include "unwind/template.h"

enum verdict {
	/* Not the return address of the frame. */
	NO,
	YES,
	/* It may be; where its frame ends cannot be told. */
	UNSURE,
};

/* False, too, if the code before it cannot be read. */
static bool is_return_address(const struct unwind_target *target, uint64_t ip)
{
	struct template_code code = {};
	struct unwind_map map = {};
	uint64_t before;

	if (!target->read || !target->find_map(target->arg, ip - 1, &map))
		return false;
	before = ip - map.start;
	code.before = before < TEMPLATE_REACH ? before : TEMPLATE_REACH;
	return target->read(target->arg, ip - code.before,
			    code.bytes + TEMPLATE_REACH - code.before,
			    code.before) &&
	       template_follows_call(&code);
}

static const struct cfi_rules *find_rules(const struct unwind_target *target,
					  uint64_t address)
{
	struct unwind_map map = {};

	if (!target->find_map(target->arg, address, &map) || !map.cfi)
		return NULL;
	return cfi_find(map.cfi, address - map.bias);
}

/* Is the word at `at` the return address below the frame with `address`? */
static enum verdict judge(const struct stack_search *search, uint64_t at,
			  uint64_t address)
{
	const struct cfi_rules *rules;
	uint64_t word, cfa, caller;

	if (!unwind_stack_word(search->stack, at, &word) ||
	    !search->is_function(search->arg, word - 1) ||
	    !is_return_address(search->target, word))
		return NO;
	rules = find_rules(search->target, word - 1);
	if (!rules || rules->cfa.kind != CFI_OFFSET ||
	    rules->cfa.reg != UNWIND_RSP || rules->cfa.value < 8)
		return UNSURE;
	cfa = at + 8 + (uint64_t)rules->cfa.value;
	if (address >= cfa || !unwind_stack_word(search->stack, cfa - 8, &caller))
		return NO;
	return is_return_address(search->target, caller) ? YES : NO;
}

bool stack_search_frame(const struct stack_search *search, uint64_t from,
			uint64_t address, struct unwind_regs *ret)
{
	const struct unwind_stack *stack = search->stack;
	uint64_t at = from > stack->start ? from : stack->start, found = 0;
	uint64_t word;

	/* Nor would words be there to look at, however far the mark. */
	if (address < stack->start ||
	    address - stack->start >= stack->bytes.size)
		return false;
	for (at = (at + 7) & ~UINT64_C(7); at < address; at += 8) {
		enum verdict verdict = judge(search, at, address);

		if (verdict == NO)
			continue;
		if (verdict == UNSURE || found)
			return false;
		found = at;
	}
	if (!found || !unwind_stack_word(stack, found, &word))
		return false;
	*ret = (struct unwind_regs){};
	unwind_reg_set(ret, UNWIND_RSP, found + 8);
	unwind_reg_set(ret, UNWIND_RIP, word);
	return true;
}

void stack_habit_learn(struct stack_habit *habit, uint64_t sp, uint64_t cfa,
		       uint64_t address)
{
	uint64_t below = address - sp, above = cfa - address;

	if (habit->seen && habit->above != above)
		habit->differs = true;
	/* A call whose arguments are on the stack has it a bit lower. */
	if (!habit->seen || below < habit->below)
		habit->below = below;
	habit->above = above;
	habit->seen++;
}

/* The CFA follows from these registers, by CFI at a return address. */
static bool set_registers(const struct stack_search *search, uint64_t word,
			  uint64_t sp, uint64_t cfa, struct unwind_regs *ret)
{
	const struct cfi_rules *rules = find_rules(search->target, word - 1);

	if (!rules || rules->cfa.kind != CFI_OFFSET)
		return false;
	*ret = (struct unwind_regs){};
	unwind_reg_set(ret, UNWIND_RSP, sp);
	unwind_reg_set(ret, UNWIND_RIP, word);
	if (rules->cfa.reg == UNWIND_RSP)
		return sp + (uint64_t)rules->cfa.value == cfa;
	unwind_reg_set(ret, UNWIND_RBP, cfa - (uint64_t)rules->cfa.value);
	return rules->cfa.reg == UNWIND_RBP;
}

/* Beyond the copy, too: these are few. */
static bool read_word(const struct unwind_stack *stack, uint64_t address,
		      uint64_t *ret)
{
	return unwind_stack_word(stack, address, ret) ||
	       (stack->read_more &&
		stack->read_more(stack->more, address, ret));
}

bool stack_search_habit(const struct stack_search *search,
			const struct stack_habit *habit, uint64_t from,
			uint64_t address, struct unwind_regs *ret)
{
	uint64_t sp = address - habit->below, cfa = address + habit->above;
	uint64_t word, caller;

	return habit->seen >= STACK_HABIT_ENOUGH && !habit->differs &&
	       sp - 8 >= from && sp - 8 < address &&
	       read_word(search->stack, sp - 8, &word) &&
	       search->is_function(search->arg, word - 1) &&
	       is_return_address(search->target, word) &&
	       read_word(search->stack, cfa - 8, &caller) &&
	       is_return_address(search->target, caller) &&
	       set_registers(search, word, sp, cfa, ret);
}
