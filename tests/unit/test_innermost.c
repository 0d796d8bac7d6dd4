// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which frame is the innermost, and who called it, on a made-up data stack of CPython
 * 3.12: main calls b1, b1 calls b2, b2 calls x, at moments between the stores.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made_world.h"

enum {
	BASE = WORLD_BASE,
	RUNTIME = BASE,
	INTERP = BASE + 0x100,
	THREAD = BASE + 0x400,
	CFRAME = BASE + 0x800,
	SHIM = BASE + 0x880,
	CODE_TYPE = BASE + 0x900,
	CODES = BASE + 0x1000,
	CODE_STEP = 0x100,
	GENERATOR = BASE + 0x2000,
	CHUNK = BASE + 0x3000,
	MAIN = CHUNK + 32,
	SIZE = 0x4000,
	POINTER = 0x7000,
	/* Words of each frame behind its head of nine. */
	LOCALS = 3,
	EXTENT = 8 * (9 + LOCALS),
	B1 = MAIN + EXTENT,
	B2 = B1 + EXTENT,
	X = B2 + EXTENT,
	TOP = X + EXTENT,
	/* owner */
	BY_THREAD = 0,
	BY_GENERATOR = 1,
	BY_C = 3,
};

/* A frame that is run, or waits for what it called. */
static void put_frame(struct world *w, uint64_t frame, unsigned int code,
		      uint64_t previous, uint8_t owner)
{
	const struct py_layout *l = &w->thread.process.layout;
	uint64_t at = CODES + code * CODE_STEP;

	put(w, at + l->object_type, CODE_TYPE);
	put_int(w, at + l->code_locals, LOCALS);
	put(w, frame + l->frame_code, at);
	put(w, frame + l->frame_previous, previous);
	put(w, frame + l->frame_instruction, at + l->code_adaptive + 2);
	put_int(w, frame + l->frame_stack_top, LOCALS);
	put_byte(w, frame + l->frame_owner, owner);
}

/* The frame was put on the stack and runs nothing yet. */
static void put_new_frame(struct world *w, uint64_t frame, unsigned int code,
			  uint64_t previous)
{
	const struct py_layout *l = &w->thread.process.layout;

	put_frame(w, frame, code, previous, BY_THREAD);
	put(w, frame + l->frame_instruction,
	    CODES + code * CODE_STEP + l->code_adaptive - 2);
}

static void put_current(struct world *w, uint64_t frame)
{
	put(w, CFRAME + w->thread.process.layout.cframe_frame, frame);
}

/* b2 is about to run x, the new current frame, whose link is set. */
static void make(struct world *w)
{
	struct py_layout *l = &w->thread.process.layout;

	world_init(w, 0x030c01f0, SIZE);
	w->thread.process.runtime = RUNTIME;
	w->thread.process.code_type = CODE_TYPE;
	w->thread.thread_pointer = POINTER;
	put(w, RUNTIME + l->runtime_interpreters, INTERP);
	put(w, INTERP + l->interp_threads, THREAD);
	put(w, THREAD + l->thread_id, POINTER);
	put(w, THREAD + l->thread_cframe, CFRAME);
	put(w, THREAD + l->thread_stack_chunk, CHUNK);
	put(w, THREAD + l->thread_stack_top, TOP);
	put(w, THREAD + l->thread_exc_info, THREAD + l->thread_exc_state);
	put(w, CFRAME + l->cframe_previous, THREAD + l->thread_root_cframe);
	put_current(w, X);
	put_frame(w, SHIM, 0, 0, BY_C);
	put_frame(w, MAIN, 1, SHIM, BY_THREAD);
	put_frame(w, B1, 2, MAIN, BY_THREAD);
	put_frame(w, B2, 3, B1, BY_THREAD);
	put_new_frame(w, X, 4, B2);
}

/* A generator on top of b1, which calls x where b2 was before. */
static void make_generator(struct world *w)
{
	const struct py_layout *l = &w->thread.process.layout;

	put_frame(w, GENERATOR + l->generator_frame, 5, B1, BY_GENERATOR);
	put(w, THREAD + l->thread_exc_info, GENERATOR + l->generator_exc_state);
	put(w, GENERATOR + l->generator_exc_state + 8, THREAD + l->thread_exc_state);
	put_new_frame(w, B2, 4, GENERATOR + l->generator_frame);
	put(w, THREAD + l->thread_stack_top, X);
	put_current(w, B2);
}

static void walk(struct world *w)
{
	struct user_walk *walk;

	assert_ok(user_walk_create(&walk));
	world_walk(w, walk);
	user_walk_destroy(walk);
}

/* Innermost first, up to a 0; the flags with which it is walked. */
static void expect(struct world *w, const uint64_t *frames, uint32_t flags)
{
	size_t count = 0;

	walk(w);
	assert_int_equal(w->stack.flags, flags);
	while (frames[count])
		count++;
	assert_int_equal(w->stack.count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(w->stack.frames[i].frame, frames[i]);
}

static const uint64_t whole[] = { X, B2, B1, MAIN, 0 };
static const uint64_t none[] = { 0 };

static void test_a_link_that_is_set_is_proven(void **state)
{
	static struct world w;

	(void)state;
	make(&w);
	expect(&w, whole, 0);
}

static void test_an_old_link_is_not_believed(void **state)
{
	const uint64_t old[] = { B1, MAIN, SHIM, X, 0, B2 + 8 };
	static struct world w;

	(void)state;
	for (size_t i = 0; i < sizeof(old) / sizeof(old[0]); i++) {
		make(&w);
		put(&w, X + w.thread.process.layout.frame_previous, old[i]);
		expect(&w, none, WALKER_UNREADABLE);
		/* What the evaluation function has beside the caller does not matter. */
		w.thread.registers[0] = MAIN;
		w.thread.registers[5] = B2;
		w.thread.registers[7] = X;
		expect(&w, whole, WALKER_BY_REGISTER);
	}
}

static void test_what_a_later_frame_covers_is_no_caller(void **state)
{
	static struct world w;

	(void)state;
	make(&w);
	/* b2 has the room of b1 and of itself; the head of the old b2 is still in it. */
	put_frame(&w, B1, 2, MAIN, BY_THREAD);
	put_int(&w, CODES + 2 * CODE_STEP + w.thread.process.layout.code_stack_size,
		EXTENT / 8);
	put_frame(&w, B2, 3, B1, BY_THREAD);
	expect(&w, none, WALKER_UNREADABLE);
	w.thread.registers[1] = B1;
	expect(&w, (uint64_t[]){ X, B1, MAIN, 0 }, WALKER_BY_REGISTER);
}

static void test_a_generator_is_not_left_out(void **state)
{
	static struct world w;
	uint64_t frame;

	(void)state;
	make(&w);
	frame = GENERATOR + w.thread.process.layout.generator_frame;
	make_generator(&w);
	expect(&w, (uint64_t[]){ B2, frame, B1, MAIN, 0 }, 0);
	put(&w, B2 + w.thread.process.layout.frame_previous, B1);
	expect(&w, none, WALKER_UNREADABLE);
	w.thread.registers[2] = frame;
	expect(&w, (uint64_t[]){ B2, frame, B1, MAIN, 0 }, WALKER_BY_REGISTER);
}

static void test_a_suspended_generator_is_not_the_current_frame(void **state)
{
	static struct world w;
	uint64_t frame;

	(void)state;
	make(&w);
	frame = GENERATOR + w.thread.process.layout.generator_frame;
	put_frame(&w, frame, 5, 0, BY_GENERATOR);
	put_current(&w, frame);
	expect(&w, none, WALKER_UNREADABLE);
	/* One that is being resumed, by b2. */
	put(&w, THREAD + w.thread.process.layout.thread_stack_top, X);
	w.thread.registers[0] = B2;
	expect(&w, (uint64_t[]){ frame, B2, B1, MAIN, 0 }, WALKER_BY_REGISTER);
}

static void test_an_activation_without_contents_is_left_out(void **state)
{
	enum { NEW = CFRAME - 0x40 };
	static struct world w;

	(void)state;
	make(&w);
	/* b2 has called C, that x, whose activation has what the stack had there. */
	put_current(&w, B2);
	put_int(&w, B2 + w.thread.process.layout.frame_stack_top, -1);
	put(&w, THREAD + w.thread.process.layout.thread_cframe, NEW);
	for (size_t i = 0; i < 2; i++) {
		put(&w, NEW, i ? MAIN : SHIM);
		put(&w, NEW + 8, THREAD + w.thread.process.layout.thread_root_cframe);
		w.thread.registers[7] = 0;
		expect(&w, none, WALKER_UNREADABLE);
		w.thread.registers[7] = CFRAME;
		expect(&w, whole + 1, WALKER_IN_PROLOGUE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_link_that_is_set_is_proven),
		cmocka_unit_test(test_an_old_link_is_not_believed),
		cmocka_unit_test(test_what_a_later_frame_covers_is_no_caller),
		cmocka_unit_test(test_a_generator_is_not_left_out),
		cmocka_unit_test(test_a_suspended_generator_is_not_the_current_frame),
		cmocka_unit_test(test_an_activation_without_contents_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
