// SPDX-License-Identifier: GPL-2.0-only
/*
 * Free-threaded CPython from 3.14 on: each thread runs a copy of the instructions of
 * its own, and a frame says which one. The walk on made-up memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made_world.h"

enum {
	RUNTIME = WORLD_BASE,
	INTERP = WORLD_BASE + 0x1000,
	THREAD = WORLD_BASE + 0x2000,
	CODE_TYPE = WORLD_BASE + 0x3000,
	CODE = WORLD_BASE + 0x4000,
	TEXT = WORLD_BASE + 0x5000,
	LINES = WORLD_BASE + 0x5800,
	COPIES = WORLD_BASE + 0x6000,
	FIRST_COPY = WORLD_BASE + 0x7000,
	COPY_STEP = 0x1000,
	FRAMES = WORLD_BASE + 0x10000,
	FRAME_STEP = 0x80,
	POINTER = 0x7000,
	/* Code units of 2 bytes. */
	UNITS = 100,
	/* With that inside the object. */
	COPY_COUNT = 4,
};

static struct world world;

/* As the debug offsets of 3.14 fill it in. */
static void init_layout(struct py_layout *l)
{
	*l = py_release_free_threaded(0x030d05f0)->layout;
	l->code_tag_mask = 3;
	l->version = 0x030e05f0;
	l->runtime_interpreters = 800;
	l->interp_next = 100 * 8;
	l->interp_threads = 101 * 8;
	l->thread_next = 8;
	l->thread_frame = 72;
	l->thread_id = 152;
	l->frame_previous = 8;
	l->frame_code = 0;
	l->frame_instruction = 56;
	l->frame_copy = 72;
	l->frame_owner = 78;
	l->object_type = 24;
	l->code_filename = 128;
	l->code_name = 136;
	l->code_qualname = 144;
	l->code_lines = 152;
	l->code_first_line = 84;
	l->code_adaptive = 232;
	l->code_copies = 224;
	l->text_length = 32;
	l->text_state = 48;
	l->text_ascii_data = 56;
	l->bytes_size = 32;
	l->bytes_data = 48;
}

static uint64_t copy_at(unsigned int number)
{
	return number ? FIRST_COPY + number * COPY_STEP :
			CODE + world.thread.process.layout.code_adaptive;
}

static void put_code(void)
{
	const struct py_layout *l = &world.thread.process.layout;

	put(&world, CODE + l->object_type, CODE_TYPE);
	put(&world, CODE + l->code_units, UNITS);
	put(&world, CODE + l->code_filename, TEXT);
	put(&world, CODE + l->code_name, TEXT);
	put(&world, CODE + l->code_qualname, TEXT);
	put(&world, CODE + l->code_lines, LINES);
	put(&world, CODE + l->code_copies, COPIES);
	put_int(&world, CODE + l->code_version, 7);
	put(&world, COPIES, COPY_COUNT);
	for (unsigned int i = 0; i < COPY_COUNT; i++)
		put(&world, COPIES + 8 + i * 8, copy_at(i));
	put(&world, TEXT + l->text_length, 4);
	put(&world, TEXT + l->text_state, l->text_compact_mask | l->text_ascii_mask);
}

static void init_world(void)
{
	const struct py_layout *l = &world.thread.process.layout;

	memset(&world, 0, sizeof(world));
	world.size = WORLD_SIZE_MAX;
	init_layout(&world.thread.process.layout);
	world.thread.process.runtime = RUNTIME;
	world.thread.process.code_type = CODE_TYPE;
	world.thread.thread_pointer = POINTER;
	put(&world, RUNTIME + l->runtime_interpreters, INTERP);
	put(&world, INTERP + l->interp_threads, THREAD);
	put(&world, THREAD + l->thread_id, POINTER);
	put(&world, THREAD + l->thread_frame, FRAMES);
	put_code();
	put_byte(&world, FRAMES + FRAME_STEP + l->frame_owner, (uint8_t)l->shim_owner);
}

/* The offset that the walk finds of a frame which says it is in copy `number`. */
static int32_t offset_of(unsigned int number, uint64_t instruction)
{
	const struct py_layout *l = &world.thread.process.layout;
	struct user_walk *walk;

	/* A reference may have tags in its lowest bits. */
	put(&world, FRAMES + l->frame_code, CODE | 1);
	put(&world, FRAMES + l->frame_previous, FRAMES + FRAME_STEP);
	put(&world, FRAMES + l->frame_instruction, instruction);
	put_int(&world, FRAMES + l->frame_copy, (int32_t)number);
	assert_ok(user_walk_create(&walk));
	world_walk(&world, walk);
	user_walk_destroy(walk);
	assert_int_equal(world.stack.flags, 0);
	assert_int_equal(world.stack.count, 1);
	return world.stack.frames[0].offset;
}

static void test_each_copy(void **state)
{
	(void)state;
	init_world();
	for (unsigned int i = 0; i < COPY_COUNT; i++) {
		assert_int_equal(offset_of(i, copy_at(i)), 0);
		assert_int_equal(offset_of(i, copy_at(i) + 2 * UNITS - 2), 2 * UNITS - 2);
	}
}

/* The number and the instruction are stored one after the other. */
static void test_frame_that_is_taken_over(void **state)
{
	(void)state;
	init_world();
	for (unsigned int i = 0; i < COPY_COUNT; i++)
		for (unsigned int j = 0; j < COPY_COUNT; j++)
			assert_int_equal(offset_of(i, copy_at(j) + 40), 40);
}

static void test_instruction_of_no_copy(void **state)
{
	const struct py_layout *l = &world.thread.process.layout;

	(void)state;
	init_world();
	assert_int_equal(offset_of(0, copy_at(0) - 2), -1);
	assert_int_equal(offset_of(1, copy_at(1) + 2 * UNITS), -1);
	assert_int_equal(offset_of(COPY_COUNT, copy_at(2) + 40), 40);
	assert_int_equal(offset_of(UINT32_MAX, 0), -1);
	/* A copy that its thread has not made yet, and an array that is none. */
	put(&world, COPIES + 8 + 2 * 8, 0);
	assert_int_equal(offset_of(2, 40), -1);
	put(&world, COPIES, UINT64_MAX);
	assert_int_equal(offset_of(1 << 30, 40), -1);
	put(&world, CODE + l->code_copies, 8);
	assert_int_equal(offset_of(1, copy_at(1) + 40), -1);
	assert_int_equal(offset_of(0, copy_at(0) + 40), 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_copy),
		cmocka_unit_test(test_frame_that_is_taken_over),
		cmocka_unit_test(test_instruction_of_no_copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
