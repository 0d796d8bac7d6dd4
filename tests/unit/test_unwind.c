// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stack walk on stacks made by hand (templates, frame pointers, ends),
 * on this program's own stack (oracle: glibc's backtrace()), and on garbage.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <ucontext.h>

#include "unwind/dwarf_expr.h"
#include "unwind_process.h"

enum {
	/* The hand-made process: one page of code, one of stack. */
	CODE = 0x10000,
	CODE_SIZE = 0x1000,
	STACK = 0x7ff000,
	STACK_WORDS = 64,
	/* Where every hand-made call returns to. */
	CALLER = CODE + 0x805,
};

struct hand {
	uint8_t code[CODE_SIZE];
	uint64_t stack[STACK_WORDS];
	/* In words. */
	size_t stack_size;
	struct unwind_regs regs;
	struct unwind_frame frames[64];
	struct unwind_regs saved[64];
	size_t count;
	struct unwinder *unwinder;
	uint64_t space;
	struct cfi_table *cfi;
	const struct unwind_switches *switches;
	/* As unwind_map has it. */
	uint64_t entry;
	bool no_code;
	bool is_made;
};

static bool hand_map(void *arg, uint64_t address, struct unwind_map *ret)
{
	struct hand *hand = arg;

	if (address < CODE || address >= CODE + CODE_SIZE)
		return false;
	*ret = (struct unwind_map){ .start = CODE,
				    .end = CODE + CODE_SIZE,
				    .cfi = hand->cfi,
				    .entry = hand->entry,
				    .switches = hand->switches,
				    .is_made = hand->is_made };
	return true;
}

static bool hand_read(void *arg, uint64_t address, void *buf, size_t size)
{
	struct hand *hand = arg;

	if (hand->no_code || address < CODE ||
	    address - CODE > CODE_SIZE - size)
		return false;
	memcpy(buf, hand->code + (address - CODE), size);
	return true;
}

static void hand_init(struct hand *hand)
{
	*hand = (struct hand){ .stack_size = STACK_WORDS };
	assert_null(unwinder_create(&hand->unwinder));
	/* int3 everywhere; a call before CALLER. */
	memset(hand->code, 0xcc, sizeof(hand->code));
	hand->code[CALLER - CODE - 5] = 0xe8;
	unwind_reg_set(&hand->regs, UNWIND_RSP, STACK);
	unwind_reg_set(&hand->regs, UNWIND_RBP, 0x1234);
	unwind_reg_set(&hand->regs, UNWIND_RIP, CODE);
}

static enum unwind_end hand_walk(struct hand *hand)
{
	struct unwind_target target = { .space = ++hand->space,
					.find_map = hand_map,
					.read = hand_read,
					.arg = hand };
	struct unwind_stack stack = {
		.start = STACK,
		.bytes = { (const uint8_t *)hand->stack, hand->stack_size * 8 },
	};

	return unwind_stack(hand->unwinder, &target, &hand->regs, &stack,
			    hand->frames, hand->saved, 64, &hand->count);
}

struct template_case {
	const char *name;
	uint8_t code[32];
	/* What is before the return address on the stack, in words. */
	struct {
		uint8_t at;
		uint8_t words;
		/* Word of the stack + 1 that holds rbp. */
		uint8_t rbp_word;
		/* Only where the frame is not interrupted but waits. */
		bool is_caller;
	} points[6];
	uint32_t flags;
};

static const struct template_case template_cases[] = {
	{ "trampoline of CPython 3.12",
	  { 0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3 },
	  { { 0, 0 }, { 4, 1 }, { 6, 1 }, { 10, 0 }, { 6, 1, 0, true } },
	  UNWIND_FRAME_TRAMPOLINE },
	{ "trampoline of CPython 3.14",
	  { 0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd1, 0x5d,
	    0xc3 },
	  { { 0, 0 },
	    { 4, 0 },
	    { 5, 1, 1 },
	    { 8, 1, 1 },
	    { 11, 0 },
	    { 10, 1, 1, true } },
	  UNWIND_FRAME_TRAMPOLINE },
	{ "lazy PLT",
	  { 0xff, 0x25, 1, 2, 3, 4, 0x68, 1, 0, 0, 0, 0xe9, 1, 2, 3, 4 },
	  { { 0, 0 }, { 6, 0 }, { 11, 1 } },
	  0 },
	{ "PLT with CET",
	  { 0xf3, 0x0f, 0x1e, 0xfa, 0x68, 1, 0, 0, 0, 0xf2, 0xe9, 1, 2, 3, 4,
	    0x90 },
	  { { 0, 0 }, { 4, 0 }, { 9, 1 } },
	  0 },
	{ "second PLT",
	  { 0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 1, 2, 3, 4, 0x0f, 0x1f,
	    0x44, 0, 0 },
	  { { 0, 0 }, { 4, 0 } },
	  0 },
	{ "PLT0",
	  { 0xff, 0x35, 1, 2, 3, 4, 0xff, 0x25, 1, 2, 3, 4, 0x0f, 0x1f, 0x40,
	    0 },
	  { { 0, 1 }, { 6, 2 } },
	  0 },
	{ "_init",
	  { 0x48, 0x83, 0xec, 0x08, 0x48, 0x8b, 0x05, 1,    2,	  3,	4,   0x48,
	    0x85, 0xc0, 0x74, 0x02, 0xff, 0xd0, 0x48, 0x83, 0xc4, 0x08, 0xc3 },
	  { { 0, 0 }, { 4, 1 }, { 11, 1 }, { 16, 1 }, { 22, 0 }, { 18, 1, 0, true } },
	  0 },
	{ "_fini",
	  { 0x48, 0x83, 0xec, 0x08, 0x48, 0x83, 0xc4, 0x08, 0xc3 },
	  { { 0, 0 }, { 4, 1 }, { 8, 0 } },
	  0 },
	{ "__do_global_dtors_aux of a static program",
	  { 0x55, 0x48, 0x89, 0xe5, 0xe8, 1, 2, 3, 4, 0xb8, 1, 2, 3, 4, 0x48, 0x85, 0xc0,
	    0x74, 0x0a, 0xbf, 1, 2, 3, 4, 0xe8, 1, 2, 3, 4, 0xc6, 0x05, 0 },
	  { { 0, 0 },
	    { 1, 1, 1 },
	    { 4, 1, 1 },
	    { 9, 1, 1, true },
	    { 24, 1, 1 },
	    { 29, 1, 1, true } },
	  0 },
	{ "epilogue",
	  { 0x48, 0x83, 0xc4, 0x10, 0x5b, 0x5d, 0x41, 0x5c, 0xc3 },
	  { { 0, 5, 4 }, { 4, 3, 2 }, { 5, 2, 1 }, { 6, 1 }, { 8, 0 } },
	  0 },
	{ "function entry",
	  { 0x55, 0x48, 0x89, 0xe5, 0x53 },
	  { { 0, 0 }, { 1, 1, 1 } },
	  0 },
};

static void check_template(const struct template_case *c, size_t i)
{
	uint64_t first = CODE + 0x100, ip = first + c->points[i].at;
	uint8_t words = c->points[i].words, rbp_word = c->points[i].rbp_word;
	struct hand hand;
	enum unwind_end end;
	size_t n = 0;

	hand_init(&hand);
	memcpy(hand.code + 0x100, c->code, sizeof(c->code));
	for (size_t j = 0; j < STACK_WORDS; j++)
		hand.stack[j] = 0xdead;
	if (c->points[i].is_caller) {
		/* A callee at its entry, which returns to the template. */
		memcpy(hand.code + 0x200, "\x55\x48\x89\xe5", 4);
		unwind_reg_set(&hand.regs, UNWIND_RIP, CODE + 0x200);
		hand.stack[n++] = ip;
	} else {
		unwind_reg_set(&hand.regs, UNWIND_RIP, ip);
	}
	hand.stack[n + words] = CALLER;
	if (rbp_word)
		hand.stack[n + rbp_word - 1] = 0x5678;
	end = hand_walk(&hand);
	if (hand.count != n + 2 || hand.frames[n].ip != ip ||
	    hand.frames[n + 1].ip != CALLER ||
	    hand.frames[n].cfa != STACK + 8 * (n + words + 1) ||
	    (hand.frames[n].flags & UNWIND_FRAME_TRAMPOLINE) != c->flags ||
	    hand.saved[n + 1].value[UNWIND_RBP] !=
		    (rbp_word ? 0x5678u : 0x1234u))
		fail_msg("%s at +%u: %zu frames, %s", c->name, c->points[i].at,
			 hand.count, unwind_end_name(end));
	/* The caller keeps no plausible frame pointer. */
	assert_int_equal(end, UNWIND_NO_CFI);
	unwinder_destroy(hand.unwinder);
}

static void test_templates(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(template_cases) / sizeof(*template_cases);
	     i++) {
		const struct template_case *c = &template_cases[i];

		for (size_t j = 0; j < 6; j++) {
			if (j == 0 || c->points[j].at)
				check_template(c, j);
		}
	}
}

/* By their size, as perf maps tell it: what the templates know them by. */
static void test_trampolines_by_size(void **state)
{
	static const uint8_t sizes[] = { 11, 12 };
	uint8_t code[UNWIND_TRAMPOLINE_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(sizes); i++) {
		assert_true(unwind_trampoline_code(sizes[i], code));
		assert_memory_equal(code, template_cases[i].code, sizes[i]);
	}
	assert_true(unwind_trampoline_code(8, code));
	assert_memory_equal(code, template_cases[1].code + 4, 8);
	assert_false(unwind_trampoline_code(0, code));
	assert_false(unwind_trampoline_code(9, code));
	assert_false(unwind_trampoline_code(16, code));
	assert_false(unwind_trampoline_code(SIZE_MAX, code));
}

/* Frames at words 2, 10, 18, ...; the outermost returns to 0. */
static void make_fp_chain(struct hand *hand, size_t n)
{
	hand_init(hand);
	hand->regs.value[UNWIND_RIP] = CODE + 0x300;
	hand->regs.value[UNWIND_RBP] = STACK + 8 * 2;
	for (size_t i = 0; i < n; i++) {
		hand->stack[2 + 8 * i] = STACK + 8 * (2 + 8 * (i + 1));
		hand->stack[3 + 8 * i] = i + 1 < n ? CALLER : 0;
	}
}

static void test_frame_pointers(void **state)
{
	struct hand hand;

	(void)state;
	make_fp_chain(&hand, 4);
	assert_int_equal(hand_walk(&hand), UNWIND_COMPLETE);
	assert_int_equal(hand.count, 4);
	for (size_t i = 0; i < 4; i++)
		assert_true(hand.frames[i].flags & UNWIND_FRAME_BY_FP);
	assert_int_equal(hand.frames[2].cfa, STACK + 8 * (2 + 16 + 2));
	/* Code made at run time does not begin a thread. */
	hand.is_made = true;
	assert_int_equal(hand_walk(&hand), UNWIND_BAD_ADDRESS);
	assert_int_equal(hand.count, 4);
	assert_true(hand.frames[3].flags & UNWIND_FRAME_MADE);
	hand.is_made = false;

	/* Each link broken in one way ends the walk there. */
	hand.stack[10] = STACK + 8;
	assert_int_equal(hand_walk(&hand), UNWIND_NO_CFI);
	assert_int_equal(hand.count, 3);
	hand.stack[10] = STACK + 8 * 18 + 4;
	assert_int_equal(hand_walk(&hand), UNWIND_NO_CFI);
	assert_int_equal(hand.count, 3);
	hand.stack[10] = STACK + 8 * 18;
	/* A return address below the pair of code of no file: a frame may be between. */
	hand.stack[14] = CALLER;
	assert_int_equal(hand_walk(&hand), UNWIND_COMPLETE);
	assert_int_equal(hand.count, 4);
	hand.is_made = true;
	assert_int_equal(hand_walk(&hand), UNWIND_NO_CFI);
	assert_int_equal(hand.count, 3);
	hand.is_made = false;
	hand.stack[14] = 0;
	hand.stack[11] = 0x55550000;
	assert_int_equal(hand_walk(&hand), UNWIND_BAD_ADDRESS);
	assert_int_equal(hand.count, 2);
	/* Executable, but behind no call: only if code can be read. */
	hand.stack[11] = CODE + 0x400;
	assert_int_equal(hand_walk(&hand), UNWIND_BAD_ADDRESS);
	assert_int_equal(hand.count, 2);
	hand.no_code = true;
	assert_int_equal(hand_walk(&hand), UNWIND_COMPLETE);
	assert_int_equal(hand.count, 4);
	unwinder_destroy(hand.unwinder);
}

/* Code that switches stacks: what it says ends the walk where it says. */
static void test_stack_switches(void **state)
{
	const uint64_t call = CALLER - 1;
	struct unwind_switches switches = {
		.roots = { { call, call + 1 } },
		.root_count = 1,
		.moving_count = 1,
	};
	struct hand hand;
	uint64_t leaf;

	(void)state;
	make_fp_chain(&hand, 4);
	leaf = hand.regs.value[UNWIND_RIP];
	switches.moving[0] = (struct unwind_range){ leaf, leaf + 1 };
	hand.switches = &switches;
	assert_int_equal(hand_walk(&hand), UNWIND_SWITCHING);
	assert_int_equal(hand.count, 1);
	switches.moving_count = 0;
	assert_int_equal(hand_walk(&hand), UNWIND_COMPLETE);
	assert_int_equal(hand.count, 2);
	assert_int_equal(hand.frames[1].ip, CALLER);
	assert_int_equal(hand.frames[1].cfa, 0);
	/* Ranges are of calls: the return address is behind its own. */
	switches.roots[0] = (struct unwind_range){ CALLER, CALLER + 1 };
	assert_int_equal(hand_walk(&hand), UNWIND_COMPLETE);
	assert_int_equal(hand.count, 4);
	/* Where a stack begins is not known: none is left but by its leaf. */
	switches.root_count = 0;
	assert_int_equal(hand_walk(&hand), UNWIND_SWITCHING);
	assert_int_equal(hand.count, 2);
	unwinder_destroy(hand.unwinder);
}

/* However short the copy is, what it holds is right, and the rest is said. */
/* musl's functions that call others' and have no CFI, and __clone's end. */
enum { MUSL_START = CODE + 0x302, MUSL_CLONE_END = CODE + 0x403 };

/* Words of the function's frame: what alignment needs, rbx, rbp; then __clone. */
static void make_musl_thread(struct hand *hand)
{
	static const uint8_t start[] = { 0xff, 0x13, 0x48, 0x89, 0xc7, 0xe8 };
	static const uint8_t clone[] = { 0x41, 0xff, 0xd1, 0x89, 0xc7, 0x31,
					 0xc0, 0xb0, 0x3c, 0x0f, 0x05, 0xf4 };

	hand_init(hand);
	memcpy(hand->code + 0x300, start, sizeof(start));
	memcpy(hand->code + 0x400, clone, sizeof(clone));
	/* The thread's function returns. */
	hand->code[0] = 0xc3;
	hand->stack[0] = MUSL_START;
	hand->stack[1] = 0xdead;
	hand->stack[4] = MUSL_CLONE_END;
}

static void test_only_an_outermost_frame_is_left(void **state)
{
	struct hand hand;

	(void)state;
	make_musl_thread(&hand);
	assert_int_equal(hand_walk(&hand), UNWIND_COMPLETE);
	assert_int_equal(hand.count, 3);
	assert_int_equal(hand.frames[1].ip, MUSL_START);
	assert_int_equal(hand.frames[1].cfa, STACK + 8 * 5);
	assert_int_equal(hand.frames[2].ip, MUSL_CLONE_END);
	/* A pointer to code that is no return address says nothing. */
	hand.stack[2] = CODE + 0x100;
	assert_int_equal(hand_walk(&hand), UNWIND_COMPLETE);
	/* A return address, of a function or of a handler: a frame may be between. */
	hand.stack[2] = CALLER;
	assert_int_equal(hand_walk(&hand), UNWIND_NO_CFI);
	assert_int_equal(hand.count, 2);
	memcpy(hand.code + 0x500, "\x48\xc7\xc0\x0f\0\0\0\x0f\x05", 9);
	hand.stack[2] = CODE + 0x500;
	assert_int_equal(hand_walk(&hand), UNWIND_NO_CFI);
	hand.stack[2] = 0;
	/* The stack was not copied so far; the code is of no file. */
	hand.stack_size = 4;
	assert_int_equal(hand_walk(&hand), UNWIND_NO_CFI);
	hand.stack_size = STACK_WORDS;
	hand.is_made = true;
	assert_int_equal(hand_walk(&hand), UNWIND_NO_CFI);
	hand.is_made = false;
	/* Behind the call is anything else than the end of a thread. */
	hand.code[0x408]++;
	assert_int_equal(hand_walk(&hand), UNWIND_NO_CFI);
	assert_int_equal(hand.count, 2);
	/* The program's entry point. */
	hand.entry = MUSL_CLONE_END - 0x16;
	assert_int_equal(hand_walk(&hand), UNWIND_COMPLETE);
	assert_int_equal(hand.count, 3);
	hand.stack[3] = CALLER;
	assert_int_equal(hand_walk(&hand), UNWIND_NO_CFI);
	unwinder_destroy(hand.unwinder);
}

static void test_truncated(void **state)
{
	struct hand hand;

	(void)state;
	make_fp_chain(&hand, 7);
	for (size_t words = 0; words <= STACK_WORDS; words++) {
		/* Frame i's return address is word 3 + 8 * i. */
		size_t known = words < 4 ? 1 : 2 + (words - 4) / 8;
		enum unwind_end end;

		hand.stack_size = words;
		end = hand_walk(&hand);
		assert_int_equal(hand.count, known > 7 ? 7 : known);
		assert_int_equal(end, words >= 3 + 8 * 6 + 1 ?
					      UNWIND_COMPLETE :
					      UNWIND_TRUNCATED);
	}
	unwinder_destroy(hand.unwinder);
}

/* Words that are not in the copy, but were read beside it; one of them was not. */
struct beside {
	const struct hand *hand;
	uint64_t missing;
};

static bool read_beside(const void *arg, uint64_t address, uint64_t *ret)
{
	const struct beside *beside = arg;
	uint64_t word = (address - STACK) / 8;

	if (word >= STACK_WORDS || word == beside->missing)
		return false;
	*ret = beside->hand->stack[word];
	return true;
}

static void test_more_than_the_copy(void **state)
{
	struct unwind_target target;
	struct unwind_stack stack;
	struct beside beside;
	struct hand hand;

	(void)state;
	make_fp_chain(&hand, 7);
	target = (struct unwind_target){ .space = 98,
					 .find_map = hand_map,
					 .read = hand_read,
					 .arg = &hand };
	beside = (struct beside){ &hand, STACK_WORDS };
	stack = (struct unwind_stack){ .start = STACK, .read_more = read_beside, .more = &beside };
	for (size_t words = 0; words <= STACK_WORDS; words++) {
		stack.bytes = (struct bytes){ (const uint8_t *)hand.stack, words * 8 };
		assert_int_equal(unwind_stack(hand.unwinder, &target, &hand.regs, &stack,
					      hand.frames, NULL, 64, &hand.count),
				 UNWIND_COMPLETE);
		assert_int_equal(hand.count, 7);
	}
	/* The return address of the fourth frame. */
	beside.missing = 3 + 8 * 3;
	stack.bytes.size = 8;
	assert_int_equal(unwind_stack(hand.unwinder, &target, &hand.regs, &stack, hand.frames,
				      NULL, 64, &hand.count),
			 UNWIND_TRUNCATED);
	assert_int_equal(hand.count, 4);
	unwinder_destroy(hand.unwinder);
}

static void test_limits(void **state)
{
	struct unwind_target target;
	struct unwind_stack stack;
	struct hand hand;

	(void)state;
	make_fp_chain(&hand, 7);
	target = (struct unwind_target){ .space = 99,
					 .find_map = hand_map,
					 .read = hand_read,
					 .arg = &hand };
	stack = (struct unwind_stack){
		.start = STACK,
		.bytes = { (const uint8_t *)hand.stack, sizeof(hand.stack) },
	};
	for (size_t max = 0; max < 7; max++) {
		assert_int_equal(unwind_stack(hand.unwinder, &target,
					      &hand.regs, &stack, hand.frames,
					      NULL, max, &hand.count),
				 UNWIND_LIMIT);
		assert_int_equal(hand.count, max);
	}
	/* A frame that is its own caller. */
	hand.stack[2] = STACK + 8 * 2;
	assert_int_equal(hand_walk(&hand), UNWIND_NO_CFI);
	assert_int_equal(hand.count, 2);
	/* A jump to nowhere. */
	hand.regs.value[UNWIND_RIP] = 0;
	assert_int_equal(hand_walk(&hand), UNWIND_BAD_ADDRESS);
	assert_int_equal(hand.count, 1);
	unwinder_destroy(hand.unwinder);
}

/* rt_sigreturn without CFI, as musl has it: struct ucontext at rsp. */
static void test_sigreturn(void **state)
{
	static const uint8_t code[] = { 0x48, 0xc7, 0xc0, 0x0f, 0,
					0,    0,    0x0f, 0x05 };
	struct hand hand;
	uint64_t *gregs;

	(void)state;
	hand_init(&hand);
	memcpy(hand.code + 0x500, code, sizeof(code));
	memcpy(hand.code + 0x200, "\x55\x48\x89\xe5", 4);
	memcpy(hand.code + 0x600, "\x55\x48\x89\xe5", 4);
	/* The handler at its entry; its return address, then the ucontext. */
	hand.regs.value[UNWIND_RIP] = CODE + 0x200;
	hand.stack[0] = CODE + 0x500;
	gregs = &hand.stack[1 + 5];
	gregs[10] = 0x77;
	gregs[15] = STACK + 8 * 40;
	gregs[16] = CODE + 0x600;
	hand.stack[40] = CALLER;
	assert_int_equal(hand_walk(&hand), UNWIND_NO_CFI);
	assert_int_equal(hand.count, 4);
	assert_true(hand.frames[1].flags & UNWIND_FRAME_SIGNAL);
	assert_int_equal(hand.frames[2].ip, CODE + 0x600);
	assert_false(hand.frames[2].flags & UNWIND_FRAME_CALLER);
	assert_int_equal(hand.frames[2].sp, STACK + 8 * 40);
	assert_int_equal(hand.saved[2].value[UNWIND_RBP], 0x77);
	assert_int_equal(hand.frames[3].ip, CALLER);
	/* A signal frame that leads to itself does not go on for ever. */
	gregs[15] = STACK;
	gregs[16] = CODE + 0x200;
	assert_int_equal(hand_walk(&hand), UNWIND_BAD_CFA);
	assert_true(hand.count < 64);
	unwinder_destroy(hand.unwinder);
}

static void test_perf_regs(void **state)
{
	uint64_t values[24];
	struct unwind_regs regs;
	int n = 0;

	(void)state;
	for (int bit = 0; bit < 24; bit++) {
		if (0xff0fffu >> bit & 1)
			values[n++] = 100 + (uint64_t)bit;
	}
	unwind_regs_from_perf(0xff0fff, values, &regs);
	assert_int_equal(regs.known, (1u << UNWIND_REGS) - 1);
	assert_int_equal(regs.value[UNWIND_RAX], 100);
	assert_int_equal(regs.value[UNWIND_RBX], 101);
	assert_int_equal(regs.value[UNWIND_RBP], 106);
	assert_int_equal(regs.value[UNWIND_RSP], 107);
	assert_int_equal(regs.value[UNWIND_RIP], 108);
	assert_int_equal(regs.value[UNWIND_R8], 116);
	assert_int_equal(regs.value[UNWIND_R15], 123);
}

static bool no_memory(void *arg, uint64_t address, uint64_t *ret)
{
	(void)arg;
	*ret = address * 2;
	return address != 0;
}

static void test_expressions(void **state)
{
	static const struct {
		uint8_t code[16];
		size_t size;
		uint64_t result;
		bool valid;
	} cases[] = {
		/* The PLT's: rsp + 8 + ((rip & 15) >= 11) * 8. */
		{ { 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24,
		    0x22 }, 11, 0x1010, true },
		{ { 0x76, 0x78, 0x06 }, 3, 2 * (0x2000 - 8), true },
		{ { 0x35, 0x32, 0x1c }, 3, 3, true },
		{ { 0x35, 0x30, 0x1b }, 3, 0, false },
		{ { 0x35, 0x30, 0x1d }, 3, 0, false },
		{ { 0x0f, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x09, 0xff, 0x1b }, 12,
		  1ull << 63, true },
		{ { 0x09, 0xf0, 0x32, 0x26 }, 4, -4ull, true },
		{ { 0x31, 0x09, 64, 0x24 }, 4, 0, true },
		{ { 0x31, 0x32, 0x33, 0x17, 0x1c }, 5, -1ull, true },
		{ { 0x31, 0x32, 0x15, 1 }, 4, 1, true },
		{ { 0x31, 0x32, 0x15, 2 }, 4, 0, false },
		{ { 0x30, 0x28, 1, 0, 0x06, 0x34 }, 6, 0, false },
		{ { 0x31, 0x28, 1, 0, 0x06, 0x34 }, 6, 4, true },
		/* Loops, jumps out, too deep, empty, unknown, cut off. */
		{ { 0x2f, 0xfd, 0xff }, 3, 0, false },
		{ { 0x31, 0x2f, 0xff, 0x7f }, 4, 0, false },
		{ { 0x31, 0x2f, 0xfc, 0xff }, 4, 0, false },
		{ { 0 }, 0, 0, false },
		{ { 0x22 }, 1, 0, false },
		{ { 0x50 }, 1, 0, false },
		{ { 0x03, 1, 2, 3, 4, 5, 6, 7, 8 }, 9, 0, false },
		{ { 0x0e, 1, 2 }, 3, 0, false },
		{ { 0x30, 0x06 }, 2, 0, false },
		/* Registers that are not known, or not there. */
		{ { 0x70, 0 }, 2, 0, false },
		{ { 0x92, 77, 0 }, 3, 0, false },
	};
	struct unwind_regs regs = {};
	struct dwarf_expr_env env = { .regs = &regs, .read = no_memory };

	(void)state;
	unwind_reg_set(&regs, UNWIND_RSP, 0x1000);
	unwind_reg_set(&regs, UNWIND_RBP, 0x2000);
	unwind_reg_set(&regs, UNWIND_RIP, 0x400b);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes code = { cases[i].code, cases[i].size };
		uint64_t result = 0;

		if (dwarf_expr_eval(code, &env, NULL, &result) !=
			    cases[i].valid ||
		    (cases[i].valid && result != cases[i].result))
			fail_msg("expression %zu: %#" PRIx64, i, result);
	}
}

/*
 * ---- this program's own stack ----
 */

enum { MAX_OWN = 256, OWN_COPY = 64 * 1024 };

struct own {
	struct unwind_regs regs;
	uint8_t copy[OWN_COPY];
	struct unwind_stack stack;
	void *truth[MAX_OWN];
	int n_truth;
};

static struct own own;
static volatile long sink;

/* All that getcontext() knows of its caller. */
static void regs_from_context(const ucontext_t *context,
			      struct unwind_regs *ret)
{
	/* uc_mcontext.gregs by DWARF number. */
	static const uint8_t greg[UNWIND_REGS] = {
		REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
		REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
		REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
	};

	*ret = (struct unwind_regs){};
	for (int i = 0; i < UNWIND_REGS; i++)
		unwind_reg_set(ret, i,
			       (uint64_t)context->uc_mcontext.gregs[greg[i]]);
}

__attribute__((noinline, no_sanitize("address"))) static void capture(void)
{
	struct iovec local, remote;
	ucontext_t context;
	ssize_t size;

	getcontext(&context);
	own.n_truth = backtrace(own.truth, MAX_OWN);
	regs_from_context(&context, &own.regs);
	own.stack.start = own.regs.value[UNWIND_RSP];
	local = (struct iovec){ own.copy, sizeof(own.copy) };
	for (size = sizeof(own.copy); size > 0; size -= 512) {
		remote = (struct iovec){
			(void *)(uintptr_t)own.stack.start, (size_t)size
		};
		if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) ==
		    size)
			break;
	}
	own.stack.bytes = (struct bytes){ own.copy, (size_t)size };
}

/*
 * backtrace() has another address in the leaf, and under a sanitizer that
 * wraps it one frame more.
 */
static void check_against_backtrace(const struct unwind_frame *frames,
				    size_t count)
{
	size_t extra = (size_t)own.n_truth - count;

	assert_in_range(extra, 0, 1);
	for (size_t i = 1; i < count; i++)
		assert_int_equal(frames[i].ip,
				 (uintptr_t)own.truth[i + extra]);
}

static void check_own(uint32_t want_flags)
{
	static struct unwind_frame frames[MAX_OWN];
	struct test_process process = { .pid = getpid() };
	struct unwind_target target = { .find_map = test_process_find_map,
					.read = test_process_read_code,
					.arg = &process };
	struct unwinder *unwinder;
	enum unwind_end end;
	uint32_t flags = 0;
	size_t count = 0;

	assert_null(unwinder_create(&unwinder));
	test_process_refresh(&process);
	target.space = process.space;
	/* Cold, then warm. */
	for (int round = 0; round < 2; round++) {
		flags = 0;
		end = unwind_stack(unwinder, &target, &own.regs, &own.stack,
				   frames, NULL, MAX_OWN, &count);
		assert_int_equal(end, UNWIND_COMPLETE);
		check_against_backtrace(frames, count);
		for (size_t i = 0; i < count; i++)
			flags |= frames[i].flags;
	}
	assert_int_equal(flags & UNWIND_FRAME_SIGNAL, want_flags);
	unwinder_destroy(unwinder);
	test_process_deinit(&process);
}

__attribute__((noinline)) static void recurse(int depth)
{
	char *local = __builtin_alloca((size_t)depth * 8 + 16);

	local[depth] = (char)depth;
	if (depth == 0)
		capture();
	else
		recurse(depth - 1);
	sink += local[depth];
}

static void test_own_stack(void **state)
{
	(void)state;
	for (int depth = 0; depth < 60; depth += 7) {
		recurse(depth);
		assert_true(own.n_truth > depth + 2);
		check_own(0);
	}
}

static void on_signal(int signum)
{
	(void)signum;
	recurse(3);
}

static void test_own_signal(void **state)
{
	(void)state;
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	check_own(UNWIND_FRAME_SIGNAL);
}

static void *run_thread(void *arg)
{
	recurse(5);
	return arg;
}

static void test_own_thread(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, run_thread, NULL), 0);
	pthread_join(thread, NULL);
	check_own(0);
}

static int compare(const void *a, const void *b)
{
	capture();
	return *(const int *)a - *(const int *)b;
}

static void test_own_callback(void **state)
{
	int values[] = { 2, 1 };

	(void)state;
	qsort(values, 2, sizeof(*values), compare);
	check_own(0);
}

/* Any registers on any stack end, within bounds, at executable addresses. */
static void test_garbage(void **state)
{
	static struct unwind_frame frames[MAX_OWN];
	struct test_process process = { .pid = getpid() };
	struct unwind_target target = { .find_map = test_process_find_map,
					.read = test_process_read_code,
					.arg = &process };
	struct unwinder *unwinder;
	uint64_t *words = (uint64_t *)(void *)own.copy;
	uint64_t random = 88172645463325252u;

	(void)state;
	recurse(2);
	assert_null(unwinder_create(&unwinder));
	test_process_refresh(&process);
	target.space = process.space;
	for (int round = 0; round < 20000; round++) {
		struct unwind_regs regs = own.regs;
		size_t count = 0;

		for (size_t i = 0; i < 512; i++) {
			const struct test_map *map;

			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			map = &process.maps[random % process.n_maps];
			words[i] = random & 1 << 20 ?
					   own.stack.start + random % 4096 :
					   map->start + (random >> 8) %
							(map->end - map->start);
		}
		for (int reg = 0; reg < UNWIND_REGS; reg++)
			regs.value[reg] = words[reg * 7];
		regs.value[UNWIND_RSP] = own.stack.start;
		unwind_stack(unwinder, &target, &regs,
			     &(struct unwind_stack){ own.stack.start,
						     { own.copy, 4096 } },
			     frames, NULL, MAX_OWN, &count);
		assert_true(count >= 1 && count <= MAX_OWN);
		for (size_t i = 1; i < count; i++) {
			struct unwind_map map;

			assert_true(test_process_find_map(
				&process, frames[i].ip - 1, &map) ||
				    test_process_find_map(
					    &process, frames[i].ip, &map));
		}
	}
	unwinder_destroy(unwinder);
	test_process_deinit(&process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_templates),
		cmocka_unit_test(test_trampolines_by_size),
		cmocka_unit_test(test_frame_pointers),
		cmocka_unit_test(test_stack_switches),
		cmocka_unit_test(test_only_an_outermost_frame_is_left),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_more_than_the_copy),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_sigreturn),
		cmocka_unit_test(test_perf_regs),
		cmocka_unit_test(test_expressions),
		cmocka_unit_test(test_own_stack),
		cmocka_unit_test(test_own_signal),
		cmocka_unit_test(test_own_thread),
		cmocka_unit_test(test_own_callback),
		cmocka_unit_test(test_garbage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
