// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stacks of a thread that switches greenlets, made by hand: three calls of the
 * evaluation function, whose shims lie on the C stack where those of CPython do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/switched_frames.h"

enum {
	WORDS = 64,
	FRAMES = 6,
	CODE_WORD = 0,
	PREVIOUS_WORD = 1,
	OWNER_WORD = 9,
	SHIM_OWNER = 3,
};

#define STACK 0x7fff0000u
#define FRAME(i) (0x5000u + 0x80u * (i))
#define SHIM_CODE 0x7700u

struct hand {
	uint64_t stack[WORDS];
	struct py_layout layout;
	struct merge_native natives[6];
	struct merge_python frames[FRAMES];
	struct switched_frames s;
};

static bool read_hand(void *arg, uint64_t address, uint64_t *ret)
{
	const struct hand *hand = arg;
	uint64_t at = (address - STACK) / 8;

	if (at >= WORDS)
		return false;
	*ret = hand->stack[at];
	return true;
}

static void put_shim(struct hand *hand, size_t word, uint64_t previous)
{
	hand->stack[word + CODE_WORD] = SHIM_CODE;
	hand->stack[word + PREVIOUS_WORD] = previous;
	/* Beside the owner are other bytes. */
	hand->stack[word + OWNER_WORD] = 0x5a0000ffu | SHIM_OWNER << 16;
}

/*
 * Calls that run frames 0 and 1, frame 2, and frames 3 to 5; natives 1, 3 and 4.
 * No frame has a mark, as greenlet leaves them.
 */
static void make(struct hand *hand)
{
	*hand = (struct hand){
		.layout = { .flags = PY_SHIM_FRAMES,
			    .frame_code = 8 * CODE_WORD,
			    .frame_previous = 8 * PREVIOUS_WORD,
			    .frame_owner = 8 * OWNER_WORD + 2,
			    .shim_owner = SHIM_OWNER },
		.s = { .read = read_hand,
		       .native_count = 6,
		       .frame_count = FRAMES },
	};
	for (size_t i = 0, words = 1; i < 6; i++) {
		bool eval = i == 1 || i == 3 || i == 4;

		hand->natives[i].is_eval = eval;
		hand->natives[i].sp = STACK + 8 * words;
		words += eval ? 14 : 2;
		hand->natives[i].cfa = STACK + 8 * words;
	}
	for (size_t i = 0; i < FRAMES; i++)
		hand->frames[i].frame = FRAME(i);
	put_shim(hand, 5, FRAME(2));
	put_shim(hand, 21, FRAME(3));
	put_shim(hand, 35, 0);
	hand->s.layout = &hand->layout;
	hand->s.arg = hand;
	hand->s.natives = hand->natives;
	hand->s.frames = hand->frames;
}

static bool is_entry(const struct hand *hand, size_t i, size_t native)
{
	const struct merge_python *frame = &hand->frames[i];

	return frame->is_entry &&
	       frame->entry_addr >= hand->natives[native].sp &&
	       frame->entry_addr < hand->natives[native].cfa;
}

static size_t entries(const struct hand *hand)
{
	size_t count = 0;

	for (size_t i = 0; i < FRAMES; i++)
		count += hand->frames[i].is_entry;
	return count;
}

static void test_marks_are_found(void **state)
{
	struct hand hand;

	(void)state;
	make(&hand);
	assert_int_equal(switched_frames_calls(&hand.s), 3);
	assert_false(switched_frames_fit(&hand.s));
	switched_frames_mark(&hand.s);
	assert_int_equal(entries(&hand), 3);
	assert_true(is_entry(&hand, 1, 1));
	assert_true(hand.frames[1].entry_addr == STACK + 8 * 5);
	assert_true(is_entry(&hand, 2, 3));
	assert_true(is_entry(&hand, 5, 4));
	assert_true(switched_frames_fit(&hand.s));
	/* Some of them are known already, and again the same. */
	hand.frames[1].is_entry = false;
	switched_frames_mark(&hand.s);
	assert_int_equal(entries(&hand), 3);
	assert_true(switched_frames_fit(&hand.s));
}

static void assert_unmarked(struct hand *hand)
{
	switched_frames_mark(&hand->s);
	assert_int_equal(entries(hand), 0);
	assert_false(switched_frames_fit(&hand->s));
}

static void test_what_is_not_certain_has_no_mark(void **state)
{
	struct hand hand;

	(void)state;
	make(&hand);
	/* Of another greenlet's frame. */
	hand.stack[21 + PREVIOUS_WORD] = FRAME(FRAMES);
	assert_unmarked(&hand);
	make(&hand);
	/* What the next call further in has named already. */
	hand.stack[21 + PREVIOUS_WORD] = FRAME(2);
	assert_unmarked(&hand);
	make(&hand);
	/* Its activation would have no frame. */
	hand.stack[5 + PREVIOUS_WORD] = FRAME(0);
	assert_unmarked(&hand);
	make(&hand);
	hand.stack[21 + OWNER_WORD] = 0;
	assert_unmarked(&hand);
	make(&hand);
	hand.stack[21 + CODE_WORD] = SHIM_CODE + 16;
	assert_unmarked(&hand);
	make(&hand);
	/* Two in one native frame. */
	put_shim(&hand, 3, FRAME(2));
	assert_unmarked(&hand);
	make(&hand);
	hand.natives[3].cfa = 0;
	assert_unmarked(&hand);
	make(&hand);
	hand.layout.flags = 0;
	assert_unmarked(&hand);
}

/* As many marks as calls, and one in each. */
static void test_other_stacks_do_not_fit(void **state)
{
	struct hand hand;

	(void)state;
	make(&hand);
	switched_frames_mark(&hand.s);
	hand.natives[5].is_eval = true;
	assert_false(switched_frames_fit(&hand.s));
	hand.natives[5].is_eval = false;
	assert_true(switched_frames_fit(&hand.s));
	hand.frames[2].is_entry = false;
	assert_false(switched_frames_fit(&hand.s));
	hand.frames[2].is_entry = true;
	hand.frames[2].entry_addr = hand.natives[3].cfa;
	assert_false(switched_frames_fit(&hand.s));
	hand.s.frame_count = 0;
	assert_false(switched_frames_fit(&hand.s));
}

/* --- the state ---------------------------------------------------------- */

#define BIAS 0x400000u

static struct unwind_switches switches = {
	.moving = { { 0x300, 0x340 } },
	.moving_count = 1,
	.caller = { 0x100, 0x200 },
	.settling = 0x150,
};

static bool find_map(void *arg, uint64_t address, struct unwind_map *ret)
{
	(void)arg;
	*ret = (struct unwind_map){ .bias = BIAS };
	if (address >= BIAS && address < BIAS + 0x1000)
		ret->switches = &switches;
	return address >= BIAS;
}

static enum switch_state state_of(uint64_t leaf, uint64_t caller, size_t *at)
{
	const struct unwind_target target = { .find_map = find_map };
	const struct merge_native natives[] = {
		{ .ip = leaf },
		{ .ip = caller },
		{ .ip = BIAS + 0x120, .is_eval = true },
		{ .ip = BIAS + 0x120 },
	};

	struct unwind_map map;
	enum switch_state state;

	*at = 99;
	state = switch_state_of(&target, natives, 4, at, &map);
	assert_ptr_equal(map.switches, leaf >= BIAS ? &switches : NULL);
	assert_true(!map.switches || map.bias == BIAS);
	return state;
}

static void test_state_of_a_switch(void **state)
{
	size_t at;

	(void)state;
	assert_int_equal(state_of(1, 2, &at), SWITCH_NONE);
	assert_int_equal(at, 99);
	assert_int_equal(state_of(BIAS + 0x50, BIAS + 0x60, &at), SWITCH_NONE);
	assert_int_equal(state_of(BIAS + 0x340, BIAS + 0x341, &at), SWITCH_NONE);
	assert_int_equal(state_of(BIAS + 0x50, BIAS + 0x340, &at), SWITCH_MOVING);
	assert_int_equal(at, 1);
	assert_int_equal(state_of(BIAS + 0x300, BIAS + 0x150, &at), SWITCH_MOVING);
	assert_int_equal(at, 0);
	assert_int_equal(state_of(BIAS + 0x100, 0, &at), SWITCH_LEAVING);
	assert_int_equal(at, 0);
	assert_int_equal(state_of(BIAS + 0x150, 0, &at), SWITCH_SETTLING);
	assert_int_equal(state_of(BIAS + 0x200, 0, &at), SWITCH_NONE);
	/* Within the call that moves, and within one behind it. */
	assert_int_equal(state_of(BIAS + 0x50, BIAS + 0x150, &at),
			 SWITCH_LEAVING);
	assert_int_equal(at, 1);
	assert_int_equal(state_of(BIAS + 0x50, BIAS + 0x151, &at),
			 SWITCH_SETTLING);
	/* A call at its very end returns behind it. */
	assert_int_equal(state_of(BIAS + 0x50, BIAS + 0x200, &at),
			 SWITCH_SETTLING);
	assert_int_equal(state_of(BIAS + 0x50, BIAS + 0x100, &at), SWITCH_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_marks_are_found),
		cmocka_unit_test(test_what_is_not_certain_has_no_mark),
		cmocka_unit_test(test_other_stacks_do_not_fit),
		cmocka_unit_test(test_state_of_a_switch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
