// SPDX-License-Identifier: GPL-2.0-only
/*
 * How often the walk reads the target's memory: what it costs. Stacks of many distinct
 * functions on made-up memory, which are walked twice: nothing is new the second time.
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
	INTERP = BASE + 0x1000,
	THREAD = BASE + 0x4000,
	CFRAME = BASE + 0x7000,
	CODE_TYPE = BASE + 0x5100,
	FILENAME = BASE + 0x5200,
	OUTER_SHIM = BASE + 0x5400,
	FRAMES = BASE + 0x8000,
	CODES = BASE + 0x20000,
	CODE_STEP = 0x400,
	/* Within the room of a code object. */
	NAME = 0x100,
	LINES = 0x200,
	/* Of 3.10, on the C stack: the innermost frame's activation is the lowest one. */
	CFRAMES = BASE + 0x50000,
	CFRAME_STEP = 448,
	SIZE = 0x80000,
	POINTER = 0x7000,
	/* Bytes from one frame to the next. */
	EXTENT = 160,
	MOST = 120,
};

static struct world world;

static uint64_t frame_at(size_t i)
{
	return FRAMES + i * EXTENT;
}

static uint64_t code_at(size_t i)
{
	return CODES + i * CODE_STEP;
}

/* The code object of a function, its name and its line table. */
static void put_code(size_t i)
{
	const struct py_layout *l = &world.thread.process.layout;
	uint64_t code = code_at(i);

	put(&world, code + l->object_type, CODE_TYPE);
	put(&world, code + l->code_filename, FILENAME);
	put(&world, code + (l->code_qualname == PY_ABSENT ? l->code_name : l->code_qualname),
	    code + NAME);
	put(&world, code + l->code_lines, code + LINES);
	if (l->code_version != PY_ABSENT)
		put_byte(&world, code + l->code_version, (uint8_t)(i + 1));
	put(&world, code + NAME + l->text_length, 4);
	put(&world, code + NAME + l->text_length + 8, 0x1000 + i);
	put(&world, code + NAME + l->text_state, l->text_compact_mask | l->text_ascii_mask);
	put(&world, code + LINES + l->bytes_size, 40);
	put(&world, code + LINES + l->bytes_data, i);
}

static void put_frame(size_t i)
{
	const struct py_layout *l = &world.thread.process.layout;

	put(&world, frame_at(i) + l->frame_code, code_at(i));
	put(&world, frame_at(i) + l->frame_previous,
	    i ? frame_at(i - 1) : l->flags & PY_SHIM_FRAMES ? OUTER_SHIM : 0);
	put(&world, frame_at(i) + l->frame_instruction,
	    l->flags & PY_LASTI ? 0 : code_at(i) + l->code_adaptive);
	if (l->flags & PY_FRAME_VIA_CFRAME)
		put(&world, frame_at(i) + l->frame_stack_top, 0xffffffff);
	put_code(i);
}

/* 3.10: each frame has an activation of its own. */
static void put_cframes(size_t count)
{
	const struct py_layout *l = &world.thread.process.layout;

	put(&world, THREAD + l->thread_cframe, CFRAMES);
	for (size_t i = 0; i < count; i++)
		put(&world, CFRAMES + i * CFRAME_STEP + l->cframe_previous,
		    i + 1 < count ? CFRAMES + (i + 1) * CFRAME_STEP :
				    THREAD + l->thread_root_cframe);
}

static void make(uint32_t version, size_t count)
{
	struct py_layout *l = &world.thread.process.layout;

	world_init(&world, version, SIZE);
	world.thread.process.runtime = RUNTIME;
	world.thread.process.code_type = CODE_TYPE;
	world.thread.thread_pointer = POINTER;
	put(&world, RUNTIME + l->runtime_interpreters, INTERP);
	put(&world, INTERP + l->interp_threads, THREAD);
	put(&world, THREAD + l->thread_id, POINTER);
	if (l->runtime_current != PY_ABSENT)
		put(&world, RUNTIME + l->runtime_current, THREAD);
	if (l->flags & PY_FRAME_VIA_CFRAME) {
		put(&world, THREAD + l->thread_cframe, CFRAME);
		put(&world, CFRAME + l->cframe_frame, frame_at(count - 1));
		put(&world, CFRAME + l->cframe_previous, THREAD + l->thread_root_cframe);
	} else {
		put(&world, THREAD + l->thread_frame, frame_at(count - 1));
		if (l->flags & PY_CFRAMES)
			put_cframes(count);
	}
	put(&world, FILENAME + l->text_length, 60);
	put(&world, FILENAME + l->text_length + 8, ~0ULL);
	put(&world, FILENAME + l->text_state, l->text_compact_mask | l->text_ascii_mask);
	for (size_t i = 0; i < count; i++)
		put_frame(i);
	if (l->flags & PY_ENTRY_FLAG)
		put_byte(&world, frame_at(0) + l->frame_is_entry, 1);
	if (l->flags & PY_SHIM_FRAMES)
		put_byte(&world, OUTER_SHIM + l->frame_owner, (uint8_t)l->shim_owner);
}

/* Reads of a stack all of whose code was seen before. */
static size_t reads_of(uint32_t version, size_t count, bool versions_tell)
{
	struct user_walk *walk;

	make(version, count);
	world.thread.process.versions_tell = versions_tell;
	assert_ok(user_walk_create(&walk));
	world_walk(&world, walk);
	assert_int_equal(world.codes, count);
	world_walk(&world, walk);
	assert_int_equal(world.codes, 0);
	user_walk_destroy(walk);
	assert_int_equal(world.stack.flags, 0);
	assert_int_equal(world.stack.count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(world.stack.frames[i].frame, frame_at(count - 1 - i));
	return world.reads;
}

/*
 * A page of frames is one read. Of each code object there is one where its version tells it
 * from all others, else two: itself and its name; where it has no version its line table
 * is the third. In 3.10 half a page of activations is one, too.
 */
static void test_reads_of_a_frame(void **state)
{
	static const struct {
		uint32_t version;
		bool versions_tell;
		size_t fixed, frame;
	} releases[] = { { 0x030800f0, false, 8, 3 },
			 { 0x030900f0, false, 8, 3 },
			 { 0x030a00f0, false, 8, 3 },
			 { 0x030b00f0, false, 12, 3 },
			 { 0x030c00f0, false, 12, 2 },
			 { 0x030c00f0, true, 12, 1 } };

	(void)state;
	for (size_t i = 0; i < sizeof(releases) / sizeof(releases[0]); i++)
		for (size_t count = 8; count <= MOST; count += 14) {
			size_t pages = count * EXTENT / 4096 + 1;
			size_t reads = reads_of(releases[i].version, count,
						releases[i].versions_tell);

			if (world.thread.process.layout.flags & PY_CFRAMES)
				pages += count * CFRAME_STEP / 4096 + 1;
			assert_in_range(reads, count * releases[i].frame,
					count * releases[i].frame +
						2 * pages + releases[i].fixed);
		}
}

/* A frame may be anywhere in a page, and its head in two. */
static void test_frames_across_pages(void **state)
{
	struct user_walk *walk;

	(void)state;
	for (size_t count = 20; count < 60; count++) {
		make(0x030c00f0, count);
		assert_ok(user_walk_create(&walk));
		world_walk(&world, walk);
		user_walk_destroy(walk);
		assert_int_equal(world.stack.flags, 0);
		assert_int_equal(world.stack.count, count);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads_of_a_frame),
		cmocka_unit_test(test_frames_across_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
