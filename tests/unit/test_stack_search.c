// SPDX-License-Identifier: GPL-2.0-only
/*
 * A frame on a stack whose inner frames nobody knows: found where one word can be its return
 * address, else not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "unwind/stack_search.h"

enum {
	CODE = 0x10000,
	CODE_SIZE = 0x1000,
	/* The function, its frame of so many words, and a call in it. */
	FUNCTION_SIZE = 0x100,
	FRAME_WORDS = 8,
	INSIDE = CODE + 0x45,
	/* A call in its caller. */
	CALLER = CODE + 0x805,
	STACK = 0x7ff000,
	STACK_WORDS = 64,
	/* Of the return address into the function; of what is known in the frame. */
	PLACE = 20,
	MARK = PLACE + 3,
};

struct scene {
	uint8_t code[CODE_SIZE];
	uint64_t words[STACK_WORDS];
	struct cfi_table *cfi;
	bool no_code;
	uint8_t rows[128];
};

static bool find_map(void *arg, uint64_t address, struct unwind_map *ret)
{
	struct scene *scene = arg;

	if (address < CODE || address >= CODE + CODE_SIZE)
		return false;
	*ret = (struct unwind_map){ .start = CODE, .end = CODE + CODE_SIZE, .cfi = scene->cfi };
	return true;
}

static bool read_code(void *arg, uint64_t address, void *buf, size_t size)
{
	struct scene *scene = arg;

	if (scene->no_code || address < CODE || address - CODE > CODE_SIZE - size)
		return false;
	memcpy(buf, scene->code + (address - CODE), size);
	return true;
}

static bool is_function(void *arg, uint64_t address)
{
	(void)arg;
	return address >= CODE && address < CODE + FUNCTION_SIZE;
}

/* The CFA is register + words for the function, rsp + 16 behind it. */
static void make_rows(struct scene *scene, uint8_t reg, uint8_t words)
{
	const uint8_t rows[] = {
		20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 3,
		0x0c, 7, 16, 0x90, 1, 0, 0,
		20, 0, 0, 0, 28, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0,
		0x0c, reg, (uint8_t)(words * 8), 0, 0, 0, 0,
		16, 0, 0, 0, 52, 0, 0, 0, 0, 1, 1, 0, 0, 8, 0, 0, 0, 0, 0, 0,
	};
	struct cfi_sections sections = { .eh_frame = { scene->rows, sizeof(rows) } };

	memcpy(scene->rows, rows, sizeof(rows));
	cfi_table_destroy(scene->cfi);
	scene->cfi = NULL;
	assert_null(cfi_table_create(&sections, &scene->cfi));
	assert_non_null(cfi_find(scene->cfi, INSIDE - 1));
}

/* A return address into the function, and its caller's where that has to be. */
static void put_frame(struct scene *scene, size_t place)
{
	scene->words[place] = INSIDE;
	scene->words[place + FRAME_WORDS] = CALLER;
}

static void scene_init(struct scene *scene)
{
	memset(scene, 0, sizeof(*scene));
	memset(scene->code, 0xcc, sizeof(scene->code));
	scene->code[INSIDE - CODE - 5] = 0xe8;
	scene->code[CALLER - CODE - 5] = 0xe8;
	make_rows(scene, 7, FRAME_WORDS);
	put_frame(scene, PLACE);
}

static bool search(struct scene *scene, size_t from, size_t mark, size_t size,
		   struct unwind_regs *ret)
{
	const struct unwind_target target = {
		.space = 1, .find_map = find_map, .read = read_code, .arg = scene,
	};
	const struct unwind_stack stack = { STACK, { (const uint8_t *)scene->words, size * 8 } };
	const struct stack_search in = { &target, &stack, is_function, NULL };

	return stack_search_frame(&in, STACK + from * 8, STACK + mark * 8, ret);
}

/* Such frames have been found: the mark lies in their first word but two. */
static struct stack_habit usual(uint32_t seen)
{
	struct stack_habit habit = {};

	for (uint32_t i = 0; i < seen; i++)
		stack_habit_learn(&habit, STACK + i * 8,
				  STACK + (i + FRAME_WORDS) * 8, STACK + (i + 2) * 8);
	return habit;
}

static bool search_usual(struct scene *scene, const struct stack_habit *habit, size_t from,
			 size_t mark, struct unwind_regs *ret)
{
	const struct unwind_target target = {
		.space = 1, .find_map = find_map, .read = read_code, .arg = scene,
	};
	const struct unwind_stack stack = {
		STACK, { (const uint8_t *)scene->words, sizeof(scene->words) },
	};
	const struct stack_search in = { &target, &stack, is_function, NULL };

	return stack_search_habit(&in, habit, STACK + from * 8, STACK + mark * 8, ret);
}

static bool is_found(struct scene *scene)
{
	struct unwind_regs regs;

	return search(scene, 0, MARK, STACK_WORDS, &regs);
}

static void test_found(void **state)
{
	struct unwind_regs regs;
	struct scene scene;

	(void)state;
	scene_init(&scene);
	assert_true(search(&scene, 0, MARK, STACK_WORDS, &regs));
	assert_int_equal(regs.value[UNWIND_RIP], INSIDE);
	assert_int_equal(regs.value[UNWIND_RSP], STACK + (PLACE + 1) * 8);
	assert_int_equal(regs.known, 1u << UNWIND_RIP | 1u << UNWIND_RSP);
	/* The first and the last word of the frame. */
	assert_true(search(&scene, 0, PLACE + 1, STACK_WORDS, &regs));
	assert_true(search(&scene, 0, PLACE + FRAME_WORDS, STACK_WORDS, &regs));
	assert_false(search(&scene, 0, PLACE, STACK_WORDS, &regs));
	assert_false(search(&scene, 0, PLACE + FRAME_WORDS + 1, STACK_WORDS, &regs));
	/* Words before the start, or behind the copy, are nobody's. */
	assert_false(search(&scene, PLACE + 1, MARK, STACK_WORDS, &regs));
	assert_false(search(&scene, 0, MARK, PLACE + FRAME_WORDS, &regs));
	assert_false(search(&scene, 0, MARK, 0, &regs));
	/* At once, even if what is known lies at the other end of memory. */
	assert_false(search(&scene, 0, UINT64_C(1) << 43, STACK_WORDS, &regs));
	cfi_table_destroy(scene.cfi);
}

/* What earlier calls left there may look alike: unless it is the only one, nothing is believed. */
static void test_ambiguous(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	put_frame(&scene, PLACE - 2);
	assert_false(is_found(&scene));
	scene.words[PLACE - 2 + FRAME_WORDS] = 0;
	assert_true(is_found(&scene));
	/* One of a frame that ends below what is searched for. */
	put_frame(&scene, PLACE - FRAME_WORDS - 2);
	assert_true(is_found(&scene));
	cfi_table_destroy(scene.cfi);
}

static void test_not_proven(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.words[PLACE + FRAME_WORDS] = CALLER + 1;
	assert_false(is_found(&scene));
	scene.words[PLACE + FRAME_WORDS] = 0x5555;
	assert_false(is_found(&scene));
	scene.words[PLACE + FRAME_WORDS] = CALLER;
	scene.words[PLACE] = INSIDE + 1;
	assert_false(is_found(&scene));
	scene.words[PLACE] = INSIDE;
	scene.no_code = true;
	assert_false(is_found(&scene));
	scene.no_code = false;
	assert_true(is_found(&scene));
	/* The frame's end depends on the frame pointer, which is not known. */
	make_rows(&scene, 6, 2);
	assert_false(is_found(&scene));
	cfi_table_destroy(scene.cfi);
}

/* Where frames have lain so far says where this one lies, whatever its CFA follows from. */
static void test_as_others(void **state)
{
	struct stack_habit habit = usual(STACK_HABIT_ENOUGH);
	struct unwind_regs regs;
	struct scene scene;

	(void)state;
	scene_init(&scene);
	assert_true(search_usual(&scene, &habit, 0, MARK, &regs));
	assert_int_equal(regs.value[UNWIND_RIP], INSIDE);
	assert_int_equal(regs.value[UNWIND_RSP], STACK + (PLACE + 1) * 8);
	assert_int_equal(regs.known, 1u << UNWIND_RIP | 1u << UNWIND_RSP);
	make_rows(&scene, 6, 2);
	assert_true(search_usual(&scene, &habit, 0, MARK, &regs));
	assert_int_equal(regs.value[UNWIND_RBP], STACK + (PLACE + 1 + FRAME_WORDS - 2) * 8);
	/* One that looks alike does no harm. */
	put_frame(&scene, PLACE - 2);
	assert_true(search_usual(&scene, &habit, 0, MARK, &regs));
	assert_int_equal(regs.value[UNWIND_RSP], STACK + (PLACE + 1) * 8);
	cfi_table_destroy(scene.cfi);
}

static void test_not_as_others(void **state)
{
	struct stack_habit habit = usual(STACK_HABIT_ENOUGH), few = usual(STACK_HABIT_ENOUGH - 1);
	struct unwind_regs regs;
	struct scene scene;

	(void)state;
	scene_init(&scene);
	make_rows(&scene, 6, 2);
	assert_false(search_usual(&scene, &few, 0, MARK, &regs));
	assert_false(search_usual(&scene, &habit, PLACE + 1, MARK, &regs));
	assert_false(search_usual(&scene, &habit, 0, MARK + 1, &regs));
	scene.words[PLACE] = INSIDE + 1;
	assert_false(search_usual(&scene, &habit, 0, MARK, &regs));
	scene.words[PLACE] = INSIDE;
	scene.words[PLACE + FRAME_WORDS] = CALLER + 1;
	assert_false(search_usual(&scene, &habit, 0, MARK, &regs));
	scene.words[PLACE + FRAME_WORDS] = CALLER;
	/* CFI says something else. */
	make_rows(&scene, 7, FRAME_WORDS + 1);
	assert_false(search_usual(&scene, &habit, 0, MARK, &regs));
	make_rows(&scene, 6, 2);
	assert_true(search_usual(&scene, &habit, 0, MARK, &regs));
	/* A call with arguments on the stack is no other frame; one that ends elsewhere is. */
	stack_habit_learn(&habit, STACK - 16, STACK + FRAME_WORDS * 8, STACK + 2 * 8);
	assert_true(search_usual(&scene, &habit, 0, MARK, &regs));
	stack_habit_learn(&habit, STACK, STACK + (FRAME_WORDS + 1) * 8, STACK + 2 * 8);
	assert_false(search_usual(&scene, &habit, 0, MARK, &regs));
	cfi_table_destroy(scene.cfi);
}

/* The walk goes on from there: at a call, not at an interrupted instruction. */
static void test_walk_goes_on(void **state)
{
	struct unwind_frame frames[4];
	struct unwind_regs regs;
	struct unwinder *unwinder;
	struct scene scene;
	const struct unwind_target target = {
		.space = 1, .find_map = find_map, .read = read_code, .arg = &scene,
	};
	const struct unwind_stack stack = {
		STACK, { (const uint8_t *)scene.words, sizeof(scene.words) },
	};
	size_t count;

	(void)state;
	scene_init(&scene);
	assert_null(unwinder_create(&unwinder));
	assert_true(search(&scene, 0, MARK, STACK_WORDS, &regs));
	assert_int_equal(unwind_callers(unwinder, &target, &regs, &stack, frames, NULL, 4, &count),
			 UNWIND_COMPLETE);
	assert_int_equal(count, 2);
	assert_int_equal(frames[0].ip, INSIDE);
	assert_int_equal(frames[0].flags, UNWIND_FRAME_CALLER);
	assert_int_equal(frames[0].cfa, STACK + (PLACE + 1 + FRAME_WORDS) * 8);
	assert_int_equal(frames[1].ip, CALLER);
	unwinder_destroy(unwinder);
	cfi_table_destroy(scene.cfi);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_ambiguous),
		cmocka_unit_test(test_not_proven),
		cmocka_unit_test(test_as_others),
		cmocka_unit_test(test_not_as_others),
		cmocka_unit_test(test_walk_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
