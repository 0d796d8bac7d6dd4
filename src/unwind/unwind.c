// SPDX-License-Identifier: GPL-2.0-only
#include "unwind/unwind.h"

#include <stdlib.h>
#include <string.h>

#include "unwind/assembly.h"
#include "unwind/dwarf_expr.h"
#include "unwind/last_walk.h"
#include "unwind/template.h"

enum {
	CACHE_BITS = 14,
	CACHE_SIZE = 1 << CACHE_BITS,
	/* How far behind a file's entry point its startup code reaches. */
	ENTRY_SIZE = 64,
	/*
	 * A CFA further above the copied stack than this is no sign of a deeper
	 * stack but of garbage.
	 */
	MAX_STACK = 1 << 30,
	/* Larger frames without CFI are not looked through. */
	FP_FRAME_MAX = 8192,
	/* The same where nothing but an outermost frame can be the caller. */
	LAST_FRAME_MAX = 1024,
	/* Signal frames that lead down or to another stack, in one walk. */
	MAX_DOWNWARD = 16,
	/* Linux uapi asm/sigcontext.h: gregs in struct ucontext. */
	UCONTEXT_GREGS = 40,
	UCONTEXT_N_GREGS = 17,
};

enum step_kind {
	STEP_NONE,
	/* CFA = register + offset, return address at CFA - 8. */
	STEP_FAST,
	/* All that CFI can say. */
	STEP_RULES,
	STEP_SIGRETURN,
	STEP_FRAME_POINTER,
	STEP_UNKNOWN,
	/* The outermost frame. */
	STEP_END,
	/* What the stack pointer points at is not this frame's. */
	STEP_SWITCHING,
};

enum step_flags {
	STEP_SIGNAL = 1 << 0,
	STEP_TRAMPOLINE = 1 << 1,
	/* Close behind an ELF entry point. */
	STEP_ENTRY = 1 << 2,
	/* Found by bytes alone: the return address must follow a call. */
	STEP_WEAK = 1 << 3,
	/* Whether the address follows a call was looked at; and it does not. */
	STEP_CALL_CHECKED = 1 << 4,
	STEP_NO_CALL = 1 << 5,
	/* Behind the system call of clone: the end, in the child. */
	STEP_CLONE = 1 << 6,
	/* In code that no file has. */
	STEP_MADE = 1 << 7,
};

/* How to leave the frame at one address. Two to a cache line. */
struct step {
	/* The address that was looked up, and the space: the key. */
	uint64_t address;
	uint64_t space;
	union {
		/* STEP_RULES */
		const struct cfi_rules *rules;
		/* STEP_FAST */
		struct {
			int32_t cfa_offset;
			uint8_t cfa_reg;
			/* Words below the CFA that are read, at most. */
			uint8_t depth;
		};
	};
	/*
	 * STEP_FAST: the preserved registers are at CFA + 8 * this; 0: they
	 * are unchanged.
	 */
	int8_t saved[UNWIND_PRESERVED];
	uint8_t kind;
	uint8_t flags;
};

_Static_assert(sizeof(struct step) == 32, "two steps to a cache line");

struct unwinder {
	struct unwind_stats stats;
	struct step cache[CACHE_SIZE];
	/* A function that is looked at. */
	uint8_t code[ASSEMBLY_SIZE_MAX];
	/* What a walk makes before it replaces the last one. */
	struct unwind_trace scratch;
};

/* One walk. */
struct walk {
	struct unwinder *unwinder;
	const struct unwind_target *target;
	const struct unwind_stack *stack;
	/* In the frame that is being left. */
	struct unwind_regs regs;
	/* Where the last memory that could not be read is. */
	uint64_t unread;
	unsigned int n_downward;
	/* A signal frame led to a stack that the copy does not hold. */
	bool left_copy;
	/* A frame was left whose caller's stack pointer is the same. */
	bool stayed;
};

/* Where the frames of a walk go: into arrays, or into a trace. */
struct sink {
	size_t count;
	size_t max;
	struct unwind_frame *frames;
	/* May be NULL. */
	struct unwind_regs *saved;
	/* NULL: into the arrays. */
	struct unwind_trace *trace;
	/* Only with a trace: the walk before this one, and what is left of it. */
	const struct unwind_trace *last;
	size_t last_at;
	struct unwind_copy copy;
};

struct error *unwinder_create(struct unwinder **ret)
{
	struct unwinder *unwinder = NULL;

	if (posix_memalign((void **)&unwinder, 64, sizeof(*unwinder)))
		return error_no_memory();
	memset(unwinder, 0, sizeof(*unwinder));
	*ret = unwinder;
	return NULL;
}

void unwinder_destroy(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	unwind_trace_deinit(&unwinder->scratch);
	free(unwinder);
}

void unwinder_forget(struct unwinder *unwinder)
{
	memset(unwinder->cache, 0, sizeof(unwinder->cache));
}

void unwinder_stats(const struct unwinder *unwinder, struct unwind_stats *ret)
{
	*ret = unwinder->stats;
}

const char *unwind_end_name(enum unwind_end end)
{
	static const char *const names[] = {
		[UNWIND_COMPLETE] = "complete",
		[UNWIND_TRUNCATED] = "truncated",
		[UNWIND_NO_CFI] = "no unwind information",
		[UNWIND_BAD_ADDRESS] = "bad return address",
		[UNWIND_BAD_CFA] = "bad frame address",
		[UNWIND_LIMIT] = "frame limit",
		[UNWIND_SWITCHING] = "stack switch",
	};

	return end < sizeof(names) / sizeof(*names) ? names[end] : "unknown";
}

/*
 * ---- memory ----
 */

static bool read_outside(struct walk *walk, uint64_t address, uint64_t *ret)
{
	const struct unwind_target *target = walk->target;
	const struct unwind_stack *stack = walk->stack;

	if (stack->read_more && stack->read_more(stack->more, address, ret))
		return true;
	if (target->read && target->read(target->arg, address, ret, 8))
		return true;
	walk->unread = address;
	return false;
}

static inline bool read_word(struct walk *walk, uint64_t address,
			     uint64_t *ret)
{
	return unwind_stack_word(walk->stack, address, ret) ||
	       read_outside(walk, address, ret);
}

/*
 * A register that was saved at address. Compilers do not say in an epilogue
 * that a register is restored; once the stack pointer has passed its place,
 * the register itself holds it.
 */
static inline bool read_saved(struct walk *walk, uint64_t address,
			      unsigned int reg, uint64_t *ret)
{
	if (address < walk->stack->start &&
	    address < walk->regs.value[UNWIND_RSP] &&
	    unwind_reg_known(&walk->regs, reg)) {
		*ret = walk->regs.value[reg];
		return true;
	}
	return read_word(walk, address, ret);
}

static bool read_word_callback(void *arg, uint64_t address, uint64_t *ret)
{
	return read_word(arg, address, ret);
}

/* Why memory that must be there could not be read. */
static enum unwind_end unread_end(const struct walk *walk)
{
	uint64_t end = walk->stack->start + walk->stack->bytes.size;

	if (walk->left_copy)
		return UNWIND_TRUNCATED;
	/* The word may begin in the copy and end behind it. */
	return walk->unread + 8 - end < MAX_STACK ? UNWIND_TRUNCATED :
						    UNWIND_BAD_CFA;
}

/* As much of the code around ip as lies in its mapping. */
static bool read_code(const struct walk *walk, const struct unwind_map *map,
		      uint64_t ip, struct template_code *code)
{
	const struct unwind_target *target = walk->target;
	uint64_t before = ip - map->start, after = map->end - ip;

	if (!target->read || ip < map->start || ip > map->end)
		return false;
	code->before = before < TEMPLATE_REACH ? before : TEMPLATE_REACH;
	code->after = after < TEMPLATE_REACH ? after : TEMPLATE_REACH;
	return target->read(target->arg, ip - code->before,
			    code->bytes + TEMPLATE_REACH - code->before,
			    code->before + code->after);
}

/*
 * ---- from an address to a step (cold) ----
 */

static bool is_plain_return_address(const struct cfi_rules *rules)
{
	return rules->reg[UNWIND_RIP].kind == CFI_OFFSET &&
	       rules->reg[UNWIND_RIP].value == -8 &&
	       rules->reg[UNWIND_RSP].kind == CFI_VAL_OFFSET &&
	       rules->reg[UNWIND_RSP].value == 0;
}

/* Makes it a STEP_FAST; what it saves is there already. */
static void set_fast(struct step *step, uint8_t cfa_reg, int32_t cfa_offset)
{
	step->kind = STEP_FAST;
	step->cfa_reg = cfa_reg;
	step->cfa_offset = cfa_offset;
	/* The return address. */
	step->depth = 1;
	for (int i = 0; i < UNWIND_PRESERVED; i++)
		if (-step->saved[i] > step->depth)
			step->depth = (uint8_t)-step->saved[i];
}

/* Rules that a STEP_FAST can hold: nearly all are such. */
static bool compress_rules(const struct cfi_rules *rules, struct step *step)
{
	if (rules->cfa.kind != CFI_OFFSET || rules->signal_frame ||
	    !is_plain_return_address(rules))
		return false;
	for (int i = 0; i < UNWIND_PRESERVED; i++) {
		const struct cfi_rule *rule = &rules->reg[unwind_preserved_regs[i]];

		step->saved[i] = 0;
		if (rule->kind == CFI_SAME)
			continue;
		if (rule->kind != CFI_OFFSET || rule->value % 8 ||
		    rule->value >= 0 || rule->value < 8 * INT8_MIN)
			return false;
		step->saved[i] = (int8_t)(rule->value / 8);
	}
	set_fast(step, rules->cfa.reg, rules->cfa.value);
	return true;
}

static void step_from_rules(const struct cfi_rules *rules, struct step *step)
{
	if (rules->signal_frame)
		step->flags |= STEP_SIGNAL;
	if (rules->reg[UNWIND_RIP].kind == CFI_UNDEFINED) {
		step->kind = STEP_END;
	} else if (!compress_rules(rules, step)) {
		step->kind = STEP_RULES;
		step->rules = rules;
	}
}

static void step_from_match(const struct template_match *match,
			    struct step *step)
{
	switch (match->kind) {
	case TEMPLATE_SIGRETURN:
		step->kind = STEP_SIGRETURN;
		step->flags |= STEP_SIGNAL;
		return;
	case TEMPLATE_THREAD_END:
		step->kind = STEP_END;
		return;
	case TEMPLATE_TRAMPOLINE:
		step->flags |= STEP_TRAMPOLINE;
		break;
	case TEMPLATE_CLONE:
		step->flags |= STEP_CLONE;
		break;
	case TEMPLATE_PLT:
	case TEMPLATE_CRT:
	case TEMPLATE_EDGE:
		break;
	}
	step->flags |= STEP_WEAK;
	for (int i = 0; i < UNWIND_PRESERVED; i++)
		step->saved[i] = (int8_t)-(
			match->saved_below_cfa[unwind_preserved_regs[i]] / 8);
	set_fast(step, UNWIND_RSP, match->cfa_offset);
}

/*
 * Rules for a return address. The call before it decides, but for signal
 * return code: that is never called, and what stands before it is not its own.
 */
static const struct cfi_rules *find_caller_rules(struct cfi_table *cfi,
						 uint64_t vaddr)
{
	const struct cfi_rules *rules = cfi_find(cfi, vaddr - 1), *at;
	struct cfi_range range;

	if (rules && cfi_find_range(cfi, vaddr - 1, &range) &&
	    vaddr < range.end)
		return rules;
	at = cfi_find(cfi, vaddr);
	return at && at->signal_frame ? at : rules;
}

static const struct cfi_rules *find_rules(const struct unwind_map *map,
					  uint64_t ip, bool is_caller)
{
	if (!map->cfi)
		return NULL;
	return is_caller ? find_caller_rules(map->cfi, ip - map->bias) :
			   cfi_find(map->cfi, ip - map->bias);
}

/*
 * A compiler that writes CFI keeps no frame pointers; what it left out is
 * startup code and assembly, of which nothing is known.
 */
static bool may_keep_frame_pointers(const struct unwind_map *map)
{
	return !map->cfi || cfi_is_empty(map->cfi);
}

/* What is saved is too far away for a step, or the frame cannot be told. */
static bool step_from_code(const struct walk *walk, uint64_t ip, bool is_caller,
			   struct step *step)
{
	const struct unwind_target *target = walk->target;
	uint8_t *code = walk->unwinder->code;
	struct assembly_frame frame;
	uint64_t start;
	size_t size;

	if (!target->read || !target->find_function)
		return false;
	start = target->find_function(target->arg, ip - is_caller);
	if (!start || start > ip || ip - start > ASSEMBLY_SIZE_MAX)
		return false;
	size = ip - start;
	if ((size && !target->read(target->arg, start, code, size)) ||
	    !assembly_frame_at(code, size, size, &frame))
		return false;
	for (int i = 0; i < UNWIND_PRESERVED; i++) {
		int32_t below = frame.saved_below_cfa[unwind_preserved_regs[i]];

		if (below > 8 * INT8_MAX)
			return false;
		step->saved[i] = (int8_t)(-below / 8);
	}
	step->flags |= STEP_WEAK;
	set_fast(step, frame.cfa_reg, frame.cfa_offset);
	return true;
}

static void step_without_rules(const struct walk *walk,
			       const struct unwind_map *map, uint64_t ip,
			       bool is_caller, struct step *step)
{
	struct template_code code;
	struct template_match match;

	if (read_code(walk, map, ip, &code) &&
	    (template_find(&code, &match) ||
	     (!is_caller && template_edge(&code, &match))))
		step_from_match(&match, step);
	else if (step->flags & STEP_ENTRY)
		step->kind = STEP_END;
	else if (may_keep_frame_pointers(map))
		step->kind = STEP_FRAME_POINTER;
	else if (!step_from_code(walk, ip, is_caller, step))
		step->kind = STEP_UNKNOWN;
}

/* Startup code without CFI of its own. */
static bool is_entry(const struct unwind_map *map, uint64_t ip)
{
	return map->entry && ip - map->bias - map->entry < ENTRY_SIZE &&
	       (!map->cfi || !cfi_find(map->cfi, map->entry));
}

static bool is_in(const struct unwind_range *ranges, size_t count,
		  uint64_t vaddr)
{
	for (size_t i = 0; i < count; i++)
		if (vaddr >= ranges[i].start && vaddr < ranges[i].end)
			return true;
	return false;
}

/* True if code that switches stacks ends the walk at vaddr. */
static bool step_at_switch(const struct unwind_switches *switches,
			   uint64_t vaddr, bool is_caller, struct step *step)
{
	if (is_in(switches->roots, switches->root_count, vaddr))
		step->kind = STEP_END;
	else if (is_in(switches->moving, switches->moving_count, vaddr) ||
		 (is_caller && !switches->root_count))
		step->kind = STEP_SWITCHING;
	else
		return false;
	return true;
}

/* false if the address is not executable. */
static bool make_step(const struct walk *walk, uint64_t ip, bool is_caller,
		      struct step *step)
{
	const struct cfi_rules *rules;
	struct unwind_map map = {};

	if (!walk->target->find_map(walk->target->arg, ip - is_caller, &map))
		return false;
	*step = (struct step){ .address = ip - is_caller,
			       .space = walk->target->space };
	if (map.switches && step_at_switch(map.switches,
					   ip - is_caller - map.bias,
					   is_caller, step))
		return true;
	if (is_entry(&map, ip))
		step->flags |= STEP_ENTRY;
	if (map.is_made)
		step->flags |= STEP_MADE | STEP_WEAK;
	rules = find_rules(&map, ip, is_caller);
	if (rules)
		step_from_rules(rules, step);
	else
		step_without_rules(walk, &map, ip, is_caller, step);
	return true;
}

static struct step *cache_slot(struct unwinder *unwinder, uint64_t address,
			       uint64_t space)
{
	uint64_t hash = (address ^ space << 40) * 0x9e3779b97f4a7c15u;

	return &unwinder->cache[hash >> (64 - CACHE_BITS)];
}

/* How to leave the frame at ip; NULL if ip is not executable. */
static inline struct step *find_step(struct walk *walk, uint64_t ip,
				     bool is_caller)
{
	uint64_t address = ip - is_caller, space = walk->target->space;
	struct step *step = cache_slot(walk->unwinder, address, space);

	if (step->address == address && step->space == space)
		return step;
	walk->unwinder->stats.cache_misses++;
	step->space = 0;
	return make_step(walk, ip, is_caller, step) ? step : NULL;
}

/* Remembered with the step: the answer does not depend on the stack. */
static bool follows_call(const struct walk *walk, uint64_t ip,
			 struct step *step)
{
	struct template_code code;
	struct unwind_map map = {};

	if (!(step->flags & STEP_CALL_CHECKED)) {
		step->flags |= STEP_CALL_CHECKED;
		if (walk->target->find_map(walk->target->arg, ip - 1, &map) &&
		    read_code(walk, &map, ip, &code) &&
		    !template_follows_call(&code))
			step->flags |= STEP_NO_CALL;
	}
	return !(step->flags & STEP_NO_CALL);
}

/*
 * ---- from a frame to its caller ----
 */

/*
 * Whether the caller's stack pointer can be right. It always grows, but for a
 * signal handler's that ran on a stack of its own.
 */
static bool is_upward(struct walk *walk, uint64_t sp, bool signal_frame)
{
	if (sp % 8)
		return false;
	if (signal_frame &&
	    sp - walk->stack->start >= walk->stack->bytes.size)
		walk->left_copy = true;
	if (sp > walk->regs.value[UNWIND_RSP])
		return true;
	return signal_frame && ++walk->n_downward <= MAX_DOWNWARD;
}

/*
 * The return address is in a register, and nothing was pushed: vfork() of the C library,
 * which is no longer than that. Once, so that no rules go round and round.
 */
static bool may_stay(struct walk *walk, const struct cfi_rules *rules,
		     uint64_t sp)
{
	if (rules->reg[UNWIND_RIP].kind != CFI_REGISTER ||
	    sp != walk->regs.value[UNWIND_RSP] || walk->stayed)
		return false;
	walk->stayed = true;
	return true;
}

/* After a call only what callees preserve is known. */
static void enter_caller(struct unwind_regs *regs, uint64_t cfa,
			 uint64_t return_address)
{
	regs->known &= UNWIND_PRESERVED_MASK;
	unwind_reg_set(regs, UNWIND_RSP, cfa);
	unwind_reg_set(regs, UNWIND_RIP, return_address);
}

static inline uint64_t word_below(const uint8_t *cfa, int words)
{
	uint64_t word;

	memcpy(&word, cfa + 8 * (ptrdiff_t)words, sizeof(word));
	return word;
}

/* All that a STEP_FAST reads is in the copy, which holds the CFA at cfa. */
static inline void restore(struct unwind_regs *regs, const struct step *step,
			   const uint8_t *cfa)
{
#pragma GCC unroll 6
	for (int i = 0; i < UNWIND_PRESERVED; i++) {
		unsigned int reg = unwind_preserved_regs[i];

		if (step->saved[i] == 0)
			continue;
		regs->value[reg] = word_below(cfa, step->saved[i]);
		regs->known |= 1u << reg;
	}
}

/* The same word by word, of which some may be elsewhere or nowhere. */
static enum unwind_end leave_outside(struct walk *walk,
				     const struct step *step, uint64_t cfa)
{
	struct unwind_regs *regs = &walk->regs;
	uint64_t return_address, value;
	unsigned int reg;

	if (!read_word(walk, cfa - 8, &return_address))
		return unread_end(walk);
	for (int i = 0; i < UNWIND_PRESERVED; i++) {
		if (step->saved[i] == 0)
			continue;
		reg = unwind_preserved_regs[i];
		if (read_saved(walk, cfa + 8 * (uint64_t)(int64_t)step->saved[i],
			       reg, &value))
			unwind_reg_set(regs, reg, value);
		else
			regs->known &= ~(1u << reg);
	}
	enter_caller(regs, cfa, return_address);
	return UNWIND_COMPLETE;
}

static inline enum unwind_end leave_fast(struct walk *walk,
					 const struct step *step)
{
	const struct bytes *bytes = &walk->stack->bytes;
	struct unwind_regs *regs = &walk->regs;
	uint64_t cfa, offset;

	if (!unwind_reg_known(regs, step->cfa_reg))
		return UNWIND_NO_CFI;
	cfa = regs->value[step->cfa_reg] + (uint64_t)(int64_t)step->cfa_offset;
	if (cfa <= regs->value[UNWIND_RSP] || cfa % 8)
		return UNWIND_BAD_CFA;
	offset = cfa - walk->stack->start;
	if (offset > bytes->size || offset < 8u * step->depth)
		return leave_outside(walk, step, cfa);
	restore(regs, step, bytes->data + offset);
	enter_caller(regs, cfa, word_below(bytes->data + offset, -1));
	return UNWIND_COMPLETE;
}

static bool eval_expression(struct walk *walk, const struct cfi_rules *rules,
			    int32_t number, const uint64_t *initial,
			    uint64_t *ret)
{
	struct dwarf_expr_env env = { .regs = &walk->regs,
				      .read = read_word_callback,
				      .arg = walk };

	return dwarf_expr_eval(cfi_expression(rules->table, number), &env,
			       initial, ret);
}

/* A register of the caller; false if it is not known. */
static bool apply_rule(struct walk *walk, const struct cfi_rules *rules,
		       unsigned int reg, uint64_t cfa, uint64_t *ret)
{
	const struct cfi_rule *rule = &rules->reg[reg];
	uint64_t offset = (uint64_t)(int64_t)rule->value, address;

	switch (rule->kind) {
	case CFI_SAME:
		*ret = walk->regs.value[reg];
		return unwind_reg_known(&walk->regs, reg);
	case CFI_OFFSET:
		return read_saved(walk, cfa + offset, reg, ret);
	case CFI_VAL_OFFSET:
		*ret = cfa + offset;
		return true;
	case CFI_REGISTER:
		*ret = walk->regs.value[rule->reg];
		return unwind_reg_known(&walk->regs, rule->reg);
	case CFI_EXPRESSION:
		return eval_expression(walk, rules, rule->value, &cfa,
				       &address) &&
		       read_word(walk, address, ret);
	case CFI_VAL_EXPRESSION:
		return eval_expression(walk, rules, rule->value, &cfa, ret);
	default:
		return false;
	}
}

static bool find_cfa(struct walk *walk, const struct cfi_rules *rules,
		     uint64_t *ret)
{
	const struct cfi_rule *rule = &rules->cfa;

	if (rule->kind == CFI_VAL_EXPRESSION)
		return eval_expression(walk, rules, rule->value, NULL, ret);
	*ret = walk->regs.value[rule->reg] + (uint64_t)(int64_t)rule->value;
	return rule->kind == CFI_OFFSET &&
	       unwind_reg_known(&walk->regs, rule->reg);
}

static enum unwind_end leave_by_rules(struct walk *walk,
				      const struct cfi_rules *rules)
{
	struct unwind_regs caller = {};
	uint64_t cfa = 0, value;

	/* Unread memory tells a cut-off stack from rules that do not apply. */
	walk->unread = 0;
	if (rules->reg[UNWIND_RIP].kind == CFI_SAME)
		return UNWIND_NO_CFI;
	if (!find_cfa(walk, rules, &cfa))
		return walk->unread ? unread_end(walk) : UNWIND_NO_CFI;
	for (unsigned int reg = 0; reg < UNWIND_REGS; reg++) {
		if (apply_rule(walk, rules, reg, cfa, &value))
			unwind_reg_set(&caller, reg, value);
	}
	if (!unwind_reg_known(&caller, UNWIND_RIP) ||
	    !unwind_reg_known(&caller, UNWIND_RSP))
		return walk->unread ? unread_end(walk) : UNWIND_NO_CFI;
	/* Not the CFA: longjmp's has nothing to do with where it goes. */
	if (!is_upward(walk, caller.value[UNWIND_RSP], rules->signal_frame) &&
	    !may_stay(walk, rules, caller.value[UNWIND_RSP]))
		return UNWIND_BAD_CFA;
	walk->regs = caller;
	return UNWIND_COMPLETE;
}

/* The kernel's struct sigcontext at the stack pointer (Linux uapi). */
static enum unwind_end leave_signal(struct walk *walk)
{
	static const uint8_t order[UCONTEXT_N_GREGS] = {
		UNWIND_R8,	 UNWIND_R9,  UNWIND_R10, UNWIND_R11, UNWIND_R12, UNWIND_R13,
		UNWIND_R14, UNWIND_R15, UNWIND_RDI, UNWIND_RSI, UNWIND_RBP, UNWIND_RBX,
		UNWIND_RDX, UNWIND_RAX, UNWIND_RCX, UNWIND_RSP, UNWIND_RIP,
	};
	uint64_t at = walk->regs.value[UNWIND_RSP] + UCONTEXT_GREGS, value;
	struct unwind_regs caller = {};

	for (int i = 0; i < UCONTEXT_N_GREGS; i++, at += 8) {
		if (!read_word(walk, at, &value))
			return unread_end(walk);
		unwind_reg_set(&caller, order[i], value);
	}
	if (!is_upward(walk, caller.value[UNWIND_RSP], true))
		return UNWIND_BAD_CFA;
	walk->regs = caller;
	return UNWIND_COMPLETE;
}

/* The step of a word of the stack if that can be a return address, or NULL. */
static struct step *step_of_word(struct walk *walk, uint64_t word)
{
	struct unwind_map map;
	struct step *step;

	/* Most words are no code: they take no place in the cache. */
	if (!word ||
	    !walk->target->find_map(walk->target->arg, word - 1, &map))
		return NULL;
	step = find_step(walk, word, true);
	if (!step || (step->flags & STEP_SIGNAL))
		return step;
	return follows_call(walk, word, step) ? step : NULL;
}

/*
 * A return address lies between the stack pointer and the saved pair: it may be
 * that of this frame, whose code keeps no frame pointer; then the pair is of a
 * frame further out. It may as well be what an earlier call has left there.
 * Files without CFI are most often of compilers that keep frame pointers (Go):
 * their stacks stay whole. Of code that no file has nothing is known.
 */
static bool may_skip_frame(struct walk *walk, uint64_t from, uint64_t to)
{
	uint64_t word;

	if (to - from > FP_FRAME_MAX)
		return true;
	for (uint64_t at = from & ~UINT64_C(7); at < to; at += 8) {
		if (!read_word(walk, at, &word) || step_of_word(walk, word))
			return true;
	}
	return false;
}

/*
 * Leaves a frame that nothing tells how to unwind, if its caller is the
 * outermost: every frame has a return address, so the first word that can be
 * one is that of this frame, or of one further in. If it leads to an outermost
 * frame, there is none between. Its registers are unknown but for these two.
 */
static bool leave_to_outermost(struct walk *walk)
{
	uint64_t from = walk->regs.value[UNWIND_RSP], word;
	struct step *step;

	if (from % 8)
		return false;
	for (uint64_t at = from; at - from < LAST_FRAME_MAX; at += 8) {
		if (!read_word(walk, at, &word))
			return false;
		step = step_of_word(walk, word);
		if (!step)
			continue;
		if (step->kind != STEP_END)
			return false;
		walk->regs.known &= ~(UNWIND_PRESERVED_MASK);
		enter_caller(&walk->regs, at + 8, word);
		return true;
	}
	return false;
}

static enum unwind_end leave_by_frame_pointer(struct walk *walk, bool is_made)
{
	struct unwind_regs *regs = &walk->regs;
	uint64_t rbp = regs->value[UNWIND_RBP], saved, return_address;

	if (!unwind_reg_known(regs, UNWIND_RBP) || rbp % 8 ||
	    rbp < regs->value[UNWIND_RSP] ||
	    rbp - regs->value[UNWIND_RSP] >= MAX_STACK)
		return UNWIND_NO_CFI;
	if (!read_word(walk, rbp, &saved) ||
	    !read_word(walk, rbp + 8, &return_address))
		return unread_end(walk);
	if (is_made && may_skip_frame(walk, regs->value[UNWIND_RSP], rbp))
		return UNWIND_NO_CFI;
	enter_caller(regs, rbp + 16, return_address);
	/* Code that keeps a frame pointer may use the others as it likes. */
	regs->known &= ~(UNWIND_PRESERVED_MASK);
	unwind_reg_set(regs, UNWIND_RBP, saved);
	return UNWIND_COMPLETE;
}

/* A thread that has not run yet: clone returns 0 to it, on a stack of its own. */
static inline bool is_new_thread(const struct walk *walk,
				 const struct step *step)
{
	return (step->flags & STEP_CLONE) &&
	       unwind_reg_known(&walk->regs, UNWIND_RAX) &&
	       walk->regs.value[UNWIND_RAX] == 0;
}

/*
 * Moves walk->regs to the caller. UNWIND_COMPLETE means: done, there is a
 * caller; on all other results the registers are as before.
 */
static inline enum unwind_end leave_frame(struct walk *walk,
					  const struct step *step)
{
	switch (step->kind) {
	case STEP_FAST:
		return leave_fast(walk, step);
	case STEP_RULES:
		return leave_by_rules(walk, step->rules);
	case STEP_SIGRETURN:
		return leave_signal(walk);
	case STEP_FRAME_POINTER:
		return leave_by_frame_pointer(walk, step->flags & STEP_MADE);
	case STEP_SWITCHING:
		return UNWIND_SWITCHING;
	default:
		return UNWIND_NO_CFI;
	}
}

/* Whether what leave_frame() gave can be a caller; *next gets its step. */
static inline bool is_plausible(struct walk *walk, uint8_t kind, uint8_t flags,
				struct step **next)
{
	uint64_t ip = walk->regs.value[UNWIND_RIP];
	bool is_caller = !(flags & STEP_SIGNAL);

	*next = find_step(walk, ip, is_caller);
	if (!*next)
		return false;
	/* Handlers are not called; the kernel made them return there. */
	if ((*next)->flags & STEP_SIGNAL)
		return true;
	if (kind == STEP_FRAME_POINTER || (flags & STEP_WEAK))
		return follows_call(walk, ip, *next);
	return true;
}

static uint32_t frame_flags(const struct step *step, bool is_caller)
{
	return (is_caller ? UNWIND_FRAME_CALLER : 0) |
	       (step->flags & STEP_SIGNAL ? UNWIND_FRAME_SIGNAL : 0) |
	       (step->flags & STEP_TRAMPOLINE ? UNWIND_FRAME_TRAMPOLINE : 0) |
	       (step->kind == STEP_FRAME_POINTER ? UNWIND_FRAME_BY_FP : 0) |
	       (step->flags & STEP_MADE ? UNWIND_FRAME_MADE : 0);
}

/* The next frame, with the registers that it has; NULL when memory runs out. */
static inline struct unwind_frame *add_frame(struct sink *sink,
					     const struct unwind_regs *regs)
{
	struct unwind_frame *frame;

	if (sink->trace) {
		frame = unwind_trace_add(sink->trace, regs);
		if (!frame)
			return NULL;
	} else {
		frame = &sink->frames[sink->count];
		if (sink->saved)
			sink->saved[sink->count] = *regs;
	}
	sink->count++;
	*frame = (struct unwind_frame){ .ip = regs->value[UNWIND_RIP],
					.sp = regs->value[UNWIND_RSP] };
	return frame;
}

/* Goes along with the last walk as far as that is right; false: not at all. */
static inline bool take_from_last(struct walk *walk, struct sink *sink)
{
	size_t taken;

	if (!sink->last)
		return false;
	taken = unwind_trace_follow(sink->trace, sink->last, &sink->last_at,
				    &sink->copy, sink->max - sink->count,
				    &walk->regs);
	sink->count += taken;
	walk->unwinder->stats.reused += taken;
	return taken;
}

/* Of the last frame, which this step was left by. */
static void link_frame(const struct walk *walk, struct sink *sink,
		       const struct step *step)
{
	struct unwind_rule rule = { .cfa_offset = step->cfa_offset,
				    .cfa_reg = step->cfa_reg,
				    .depth = step->depth };

	memcpy(rule.saved, step->saved, sizeof(rule.saved));
	unwind_trace_link(sink->trace, &sink->copy,
			  walk->regs.value[UNWIND_RSP], &rule);
}

/* No thread begins in made code: there it is memory without a return address. */
static enum unwind_end end_without_caller(uint8_t flags)
{
	return flags & STEP_MADE ? UNWIND_BAD_ADDRESS : UNWIND_COMPLETE;
}

/* is_caller: the first frame waits for a callee; else it was interrupted. */
static enum unwind_end walk_frames(struct walk *walk, struct sink *sink,
				   bool is_caller)
{
	struct step *step =
		find_step(walk, walk->regs.value[UNWIND_RIP], is_caller);

	while (sink->count < sink->max) {
		struct unwind_frame *frame;
		enum unwind_end end;
		uint8_t kind, flags;

		if (is_caller && take_from_last(walk, sink)) {
			step = find_step(walk, walk->regs.value[UNWIND_RIP],
					 true);
			if (sink->count == sink->max)
				break;
		}
		frame = add_frame(sink, &walk->regs);
		if (!frame)
			break;
		if (!step)
			return UNWIND_BAD_ADDRESS;
		frame->flags = frame_flags(step, is_caller);
		if (step->kind == STEP_END || is_new_thread(walk, step))
			return UNWIND_COMPLETE;
		/* The step may leave the cache when the next one enters it. */
		kind = step->kind;
		flags = step->flags;
		end = leave_frame(walk, step);
		if (end == UNWIND_NO_CFI && !(flags & STEP_MADE) &&
		    leave_to_outermost(walk))
			end = UNWIND_COMPLETE;
		if (sink->trace && kind == STEP_FAST && !(flags & STEP_MADE) &&
		    end == UNWIND_COMPLETE)
			link_frame(walk, sink, step);
		if (end != UNWIND_COMPLETE)
			return end;
		if (walk->regs.value[UNWIND_RIP] == 0)
			return end_without_caller(flags);
		is_caller = !(flags & STEP_SIGNAL);
		if (!is_plausible(walk, kind, flags, &step))
			return flags & STEP_ENTRY ? UNWIND_COMPLETE :
						    UNWIND_BAD_ADDRESS;
		frame->cfa = walk->regs.value[UNWIND_RSP];
	}
	return UNWIND_LIMIT;
}

static void count_walk(struct unwinder *unwinder, size_t frames)
{
	unwinder->stats.stacks++;
	unwinder->stats.frames += frames;
}

static enum unwind_end walk_into_arrays(struct unwinder *unwinder,
					const struct unwind_target *target,
					const struct unwind_regs *regs,
					const struct unwind_stack *stack,
					struct unwind_frame *frames,
					struct unwind_regs *saved, size_t max,
					size_t *count, bool is_caller)
{
	struct walk walk = { .unwinder = unwinder,
			     .target = target,
			     .stack = stack,
			     .regs = *regs };
	struct sink sink = { .max = max, .frames = frames, .saved = saved };
	enum unwind_end end = walk_frames(&walk, &sink, is_caller);

	count_walk(unwinder, sink.count);
	*count = sink.count;
	return end;
}

enum unwind_end unwind_stack_again(struct unwinder *unwinder,
				   const struct unwind_target *target,
				   const struct unwind_regs *regs,
				   const struct unwind_stack *stack,
				   struct unwind_trace *trace, size_t max)
{
	struct walk walk = { .unwinder = unwinder,
			     .target = target,
			     .stack = stack,
			     .regs = *regs };
	struct unwind_trace last = *trace;
	struct sink sink = { .max = max,
			     .trace = &unwinder->scratch,
			     .copy = { stack->start, stack->bytes },
			     .last = last.space == target->space ? &last :
								   NULL };
	enum unwind_end end;

	unwind_trace_clear(sink.trace);
	end = walk_frames(&walk, &sink, false);
	count_walk(unwinder, sink.count);
	*trace = unwinder->scratch;
	trace->space = target->space;
	unwinder->scratch = last;
	return end;
}

enum unwind_end unwind_stack(struct unwinder *unwinder,
			     const struct unwind_target *target,
			     const struct unwind_regs *regs,
			     const struct unwind_stack *stack,
			     struct unwind_frame *frames,
			     struct unwind_regs *saved, size_t max,
			     size_t *count)
{
	return walk_into_arrays(unwinder, target, regs, stack, frames, saved,
				max, count, false);
}

enum unwind_end unwind_callers(struct unwinder *unwinder,
			       const struct unwind_target *target,
			       const struct unwind_regs *regs,
			       const struct unwind_stack *stack,
			       struct unwind_frame *frames,
			       struct unwind_regs *saved, size_t max,
			       size_t *count)
{
	return walk_into_arrays(unwinder, target, regs, stack, frames, saved,
				max, count, true);
}
