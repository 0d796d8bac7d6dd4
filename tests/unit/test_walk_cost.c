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

#include <string.h>

#include "assert_ok.h"
#include "python/user_walk.h"

enum {
	BASE = 0x100000,
	RUNTIME = BASE,
	INTERP = BASE + 0x1000,
	THREAD = BASE + 0x4000,
	CFRAME = BASE + 0x5000,
	CODE_TYPE = BASE + 0x5100,
	FILENAME = BASE + 0x5200,
	OUTER_SHIM = BASE + 0x5400,
	FRAMES = BASE + 0x8000,
	CODES = BASE + 0x20000,
	CODE_STEP = 0x400,
	/* Within the room of a code object. */
	NAME = 0x100,
	LINES = 0x200,
	SIZE = 0x80000,
	POINTER = 0x7000,
	/* Bytes from one frame to the next. */
	EXTENT = 160,
	MOST = 120,
};

struct world {
	uint8_t bytes[SIZE];
	struct user_walk_thread thread;
	struct walker_stack stack;
	size_t reads;
	size_t codes;
};

static struct world world;

static void put(uint64_t address, uint64_t value)
{
	memcpy(world.bytes + (address - BASE), &value, sizeof(value));
}

static bool read_world(void *arg, uint64_t address, void *buf, size_t size)
{
	struct world *w = arg;

	w->reads++;
	if (address < BASE || address - BASE > SIZE || size > SIZE - (address - BASE))
		return false;
	memcpy(buf, w->bytes + (address - BASE), size);
	return true;
}

static bool take_record(void *arg, const void *record, size_t size)
{
	const struct walker_header *header = record;
	struct world *w = arg;

	if (header->type == WALKER_STACK)
		memcpy(&w->stack, record, size);
	w->codes += header->type == WALKER_CODE;
	return true;
}

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

	put(code + l->object_type, CODE_TYPE);
	put(code + l->code_filename, FILENAME);
	put(code + (l->code_qualname == PY_ABSENT ? l->code_name : l->code_qualname),
	    code + NAME);
	put(code + l->code_lines, code + LINES);
	if (l->code_version != PY_ABSENT)
		world.bytes[code + l->code_version - BASE] = (uint8_t)(i + 1);
	put(code + NAME + l->text_length, 4);
	put(code + NAME + l->text_length + 8, 0x1000 + i);
	put(code + NAME + l->text_state, l->text_compact_mask | l->text_ascii_mask);
	put(code + LINES + l->bytes_size, 40);
	put(code + LINES + l->bytes_data, i);
}

static void put_frame(size_t i)
{
	const struct py_layout *l = &world.thread.process.layout;

	put(frame_at(i) + l->frame_code, code_at(i));
	put(frame_at(i) + l->frame_previous,
	    i ? frame_at(i - 1) : l->flags & PY_SHIM_FRAMES ? OUTER_SHIM : 0);
	put(frame_at(i) + l->frame_instruction,
	    l->flags & PY_LASTI ? 0 : code_at(i) + l->code_adaptive);
	if (l->flags & PY_FRAME_VIA_CFRAME)
		put(frame_at(i) + l->frame_stack_top, 0xffffffff);
	put_code(i);
}

static void make(uint32_t version, size_t count)
{
	struct py_layout *l = &world.thread.process.layout;

	memset(&world, 0, sizeof(world));
	world.thread.process.runtime = RUNTIME;
	world.thread.process.code_type = CODE_TYPE;
	world.thread.thread_pointer = POINTER;
	assert_ok(py_layout_find(version, l));
	put(RUNTIME + l->runtime_interpreters, INTERP);
	put(INTERP + l->interp_threads, THREAD);
	put(THREAD + l->thread_id, POINTER);
	if (l->runtime_current != PY_ABSENT)
		put(RUNTIME + l->runtime_current, THREAD);
	if (l->flags & PY_FRAME_VIA_CFRAME) {
		put(THREAD + l->thread_cframe, CFRAME);
		put(CFRAME + l->cframe_frame, frame_at(count - 1));
		put(CFRAME + l->cframe_previous, THREAD + l->thread_root_cframe);
	} else {
		put(THREAD + l->thread_frame, frame_at(count - 1));
	}
	put(FILENAME + l->text_length, 60);
	put(FILENAME + l->text_length + 8, ~0ULL);
	put(FILENAME + l->text_state, l->text_compact_mask | l->text_ascii_mask);
	for (size_t i = 0; i < count; i++)
		put_frame(i);
	if (l->flags & PY_ENTRY_FLAG)
		world.bytes[frame_at(0) + l->frame_is_entry - BASE] = 1;
	if (l->flags & PY_SHIM_FRAMES)
		world.bytes[OUTER_SHIM + l->frame_owner - BASE] = (uint8_t)l->shim_owner;
}

static void walk_once(struct user_walk *walk)
{
	struct py_memory memory = { read_world, &world };
	struct user_walk_output output = { take_record, &world };

	world.reads = world.codes = 0;
	assert_int_equal(user_walk_thread(walk, &world.thread, &memory, &output),
			 USER_WALK_STACK);
}

/* Reads of a stack all of whose code was seen before. */
static size_t reads_of(uint32_t version, size_t count)
{
	struct user_walk *walk;

	make(version, count);
	assert_ok(user_walk_create(&walk));
	walk_once(walk);
	assert_int_equal(world.codes, count);
	walk_once(walk);
	assert_int_equal(world.codes, 0);
	user_walk_destroy(walk);
	assert_int_equal(world.stack.flags, 0);
	assert_int_equal(world.stack.count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(world.stack.frames[i].frame, frame_at(count - 1 - i));
	return world.reads;
}

/*
 * A page of frames is one read. Of each code object there are two: itself and its name;
 * where it has no version its line table is the third.
 */
static void test_reads_of_a_frame(void **state)
{
	static const struct {
		uint32_t version;
		size_t fixed, frame;
	} releases[] = { { 0x030800f0, 8, 3 }, { 0x030900f0, 8, 3 },
			 { 0x030b00f0, 12, 3 }, { 0x030c00f0, 12, 2 } };

	(void)state;
	for (size_t i = 0; i < sizeof(releases) / sizeof(releases[0]); i++)
		for (size_t count = 8; count <= MOST; count += 14) {
			size_t pages = count * EXTENT / 4096 + 1;

			assert_in_range(reads_of(releases[i].version, count),
					count * releases[i].frame,
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
		walk_once(walk);
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
