// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks of asyncio in made-up memory (made_world.h): threads that do not hold still,
 * containers that cannot be read to their end, and more than kaa takes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "assert_ok.h"
#include "dump/async_read.h"
#include "python/code_names.h"
#include "dump/dump.h"
#include "made_world.h"
#include "python/coroutine.h"
#include "python/releases.h"
#include "python/tasks.h"

enum {
	/* Of the layout, where it is not in the row of the version. */
	OBJECT_TYPE = 8,
	TYPE_NAME = 24,
	OBJECT_SIZE = 16,
	FRAME_CODE = 0,
	FRAME_INSTRUCTION = 8,
	CODE_FILENAME = 64,
	CODE_QUALNAME = 72,
	CODE_LINES = 80,
	CODE_FIRST_LINE = 88,
	TEXT_LENGTH = 16,
	TEXT_STATE = 32,
	TEXT_DATA = 40,
	INTERP_MODULES = 0x100,
	/* Where this puts the name. */
	TYPE_NAME_PLACE = 0x400,

	/* Places in the world. */
	TASK_TYPE = WORLD_BASE + 0x1000,
	FUTURE_TYPE = WORLD_BASE + 0x2000,
	SET_TYPE = WORLD_BASE + 0x3000,
	TUPLE_TYPE = WORLD_BASE + 0x4000,
	STATE = WORLD_BASE + 0x5000,
	INTERP = WORLD_BASE + 0x6000,
	LIST_TYPE = WORLD_BASE + 0x7000,
	COROUTINE_TYPE = WORLD_BASE + 0x8000,
	NAME_TYPE = WORLD_BASE + 0x9000,
	SET = WORLD_BASE + 0xa000,
	TUPLE = WORLD_BASE + 0xb000,
	LIST = WORLD_BASE + 0xc000,
	COROUTINE = WORLD_BASE + 0xd000,
	CODE_OBJECT = WORLD_BASE + 0xe000,
	NAME = WORLD_BASE + 0xf000,
	TASKS = WORLD_BASE + 0x10000,
	TASK_STEP = 0xb0,
	/* Behind it: each word is an object. */
	FULL = 0x10000000,
	FULL_SIZE = 1 << 20,
	LOOP_OBJECT = 0x7000,
	IDENT = 0x7f00,
	TID = 5,

	/* src/python/tasks.c, 3.14. */
	TASK_SIZE = 168,
	FUTURE_SIZE = 112,
	TASK_LOOP = 16,
	TASK_CALLBACKS = 40,
	TASK_COROUTINE = 128,
	TASK_AWAITED_BY = 96,
	TASK_AWAITED_BY_SET = 109,
	TASK_NODE = 152,
};

/* How the thread is, as often as it is asked. */
struct thread_script {
	/* So often it holds still; then it is `later`. */
	size_t held;
	enum subject_read later;
	size_t begins;
};

struct made {
	struct world world;
	struct subject subject;
	struct subject_thread thread;
	struct py_state state;
	struct thread_script script;
	struct dump *dump;
	/* Tasks of whose reading it was told. */
	uint64_t seen;
};

static struct made made;

static const struct py_release *release(void)
{
	return py_release_find(0x030e0000);
}

static bool read_made(void *arg, uint64_t address, void *buf, size_t size)
{
	if (address < FULL || address >= FULL + FULL_SIZE)
		return world_read(arg, address, buf, size);
	memset(buf, 0x11, size);
	return true;
}

/* --- a process with tasks --- */

static enum subject_read begin(struct subject *subject,
			       struct subject_thread *thread)
{
	(void)subject;
	(void)thread;
	return made.script.begins++ < made.script.held ? SUBJECT_STILL :
							 made.script.later;
}

static bool end(struct subject *subject, struct subject_thread *thread)
{
	(void)subject;
	(void)thread;
	return true;
}

static void release_thread(struct subject *subject, struct subject_thread *thread)
{
	(void)subject;
	(void)thread;
}

static void walk(void *arg, const struct subject_thread *thread,
		 const struct py_state *state, struct dump_locals *locals)
{
	(void)locals;
	(void)arg;
	(void)thread;
	(void)state;
}

static void forget(void *arg)
{
	(void)arg;
}

static struct error *take(void *arg, uint64_t outermost,
			  struct dump_frame_list *ret)
{
	(void)arg;
	(void)outermost;
	(void)ret;
	return NULL;
}

static void see(void *arg, uint64_t done, uint64_t size)
{
	(void)arg;
	assert_int_equal(size, made.dump->tasks.list.count);
	assert_int_equal(done, ++made.seen);
}

static void put_type(uint64_t type, const char *name, uint64_t size,
		     uint64_t base, uint64_t flags)
{
	uint64_t place = type + TYPE_NAME_PLACE;

	strcpy((char *)made.world.bytes + (place - WORLD_BASE), name);
	put(&made.world, type + TYPE_NAME, place);
	put(&made.world, type + release()->objects.type_basic_size, size);
	put(&made.world, type + release()->objects.type_flags, flags);
	put(&made.world, type + release()->tasks.type_base, base);
}

static uint64_t task_at(size_t i)
{
	return TASKS + i * TASK_STEP;
}

/* In the list of the thread state; a list's head is a node of its own. */
static void put_tasks(size_t count, uint64_t loop)
{
	uint64_t head = STATE + release()->tasks.thread_tasks, last = head;

	for (size_t i = 0; i < count; i++) {
		uint64_t node = task_at(i) + TASK_NODE;

		put(&made.world, task_at(i) + OBJECT_TYPE, TASK_TYPE);
		put(&made.world, task_at(i) + TASK_LOOP, loop);
		put(&made.world, last, node);
		put(&made.world, node + 8, last);
		last = node;
	}
	put(&made.world, last, head);
	put(&made.world, head + 8, last);
}

static void make_set(uint64_t mask, uint64_t table)
{
	put(&made.world, SET + OBJECT_TYPE, SET_TYPE);
	put(&made.world, SET + release()->values.set_mask, mask);
	put(&made.world, SET + release()->values.set_table, table);
}

static void make(size_t tasks, struct thread_script script)
{
	struct py_layout *layout = &made.subject.python.layout;
	static const struct subject_kind kind = { .begin = begin, .end = end,
						  .release = release_thread };

	memset(&made, 0, sizeof(made));
	made.world.size = WORLD_SIZE_MAX;
	made.script = script;
	made.subject.kind = &kind;
	made.subject.memory = (struct py_memory){ read_made, &made.world, NULL };
	*layout = release()->layout;
	layout->version = 0x030e00f0;
	layout->object_type = OBJECT_TYPE;
	layout->type_name = TYPE_NAME;
	layout->bytes_size = OBJECT_SIZE;
	layout->interp_modules = INTERP_MODULES;
	layout->frame_code = FRAME_CODE;
	layout->frame_instruction = FRAME_INSTRUCTION;
	layout->code_filename = CODE_FILENAME;
	layout->code_qualname = CODE_QUALNAME;
	layout->code_lines = CODE_LINES;
	layout->code_first_line = CODE_FIRST_LINE;
	layout->text_length = TEXT_LENGTH;
	layout->text_state = TEXT_STATE;
	layout->text_ascii_data = TEXT_DATA;
	/* A type is as good as another. */
	made.subject.python.code_type = SET_TYPE;
	made.thread = (struct subject_thread){ .tid = TID, .pointer = IDENT };
	made.subject.threads.data = &made.thread;
	made.subject.threads.count = 1;
	made.state = (struct py_state){ STATE, INTERP, IDENT };
	put_type(TASK_TYPE, "_asyncio.Task", TASK_SIZE, FUTURE_TYPE, 0);
	put_type(FUTURE_TYPE, "_asyncio.Future", FUTURE_SIZE, 0, 0);
	put_type(SET_TYPE, "set", 0, 0, 0);
	put_type(TUPLE_TYPE, "tuple", 0, 0, PY_TYPE_TUPLE);
	put_type(LIST_TYPE, "list", 0, 0, PY_TYPE_LIST);
	put_type(COROUTINE_TYPE, "coroutine", 0, 0, 0);
	put_type(NAME_TYPE, "str", 0, 0, PY_TYPE_TEXT);
	put(&made.world, STATE + release()->tasks.thread_loop, LOOP_OBJECT);
	put_tasks(tasks, LOOP_OBJECT);
}

static const struct dump_tasks *read_made_tasks(void)
{
	static const struct async_walk walks = { walk, forget, take, NULL, see };
	const struct py_state_list states = { &made.state, 1, 1 };

	dump_destroy(made.dump);
	made.dump = calloc(1, sizeof(*made.dump));
	assert_non_null(made.dump);
	made.seen = 0;
	assert_ok(async_read(&made.subject, &states, &walks, made.dump));
	return &made.dump->tasks;
}

static void assert_problems(const struct dump_tasks *tasks, size_t count,
			    enum dump_task_problem problem)
{
	assert_int_equal(tasks->list.count, count);
	vec_for_each(task, &tasks->list)
		assert_int_equal(task->problem, problem);
}

static int forget_dump(void **state)
{
	(void)state;
	dump_destroy(made.dump);
	made.dump = NULL;
	return 0;
}

/* --- threads --- */

static void test_thread_that_holds_still(void **state)
{
	const struct dump_tasks *tasks;

	(void)state;
	make(3, (struct thread_script){ .held = SIZE_MAX });
	tasks = read_made_tasks();
	assert_problems(tasks, 3, DUMP_TASK_NO_PROBLEM);
	assert_int_equal(made.seen, 3);
	assert_false(tasks->is_cut);
	vec_for_each(task, &tasks->list) {
		assert_int_equal(task->state, DUMP_TASK_SCHEDULED);
		assert_int_equal(task->tid, TID);
		assert_false(task->is_unproven);
	}
}

/* It does not for long: tasks are read with a few system calls each. */
static void test_reads_of_a_task(void **state)
{
	enum { COUNT = 100, READS = 14 };

	(void)state;
	make(COUNT, (struct thread_script){ .held = SIZE_MAX });
	made.world.reads = 0;
	assert_problems(read_made_tasks(), COUNT, DUMP_TASK_NO_PROBLEM);
	assert_in_range(made.world.reads, COUNT, COUNT * READS);
}

/* Its tasks are known by their loop, and nothing else is said of them. */
static void test_thread_that_never_holds_still(void **state)
{
	const struct dump_tasks *tasks;
	size_t tries;

	(void)state;
	make(3, (struct thread_script){ .later = SUBJECT_RUNS });
	tasks = read_made_tasks();
	assert_problems(tasks, 3, DUMP_TASK_RAN_ON);
	assert_true(tasks->is_cut);
	tries = made.script.begins;
	/* There are no more tries for more tasks. */
	forget_dump(NULL);
	make(30, (struct thread_script){ .later = SUBJECT_RUNS });
	assert_problems(read_made_tasks(), 30, DUMP_TASK_RAN_ON);
	assert_int_equal(made.script.begins, tries);
}

static void test_thread_that_ends(void **state)
{
	const struct dump_tasks *tasks;

	(void)state;
	make(30, (struct thread_script){ .held = 1, .later = SUBJECT_GONE });
	tasks = read_made_tasks();
	assert_problems(tasks, 30, DUMP_TASK_THREAD_ENDED);
	assert_int_equal(made.script.begins, 2);
}

/* The first tasks have all tries, those behind them fewer. */
static void test_thread_that_runs_on(void **state)
{
	size_t first, all;

	(void)state;
	make(1, (struct thread_script){ .held = 1, .later = SUBJECT_RUNS });
	assert_problems(read_made_tasks(), 1, DUMP_TASK_RAN_ON);
	first = made.script.begins;
	forget_dump(NULL);
	make(100, (struct thread_script){ .held = 1, .later = SUBJECT_RUNS });
	assert_problems(read_made_tasks(), 100, DUMP_TASK_RAN_ON);
	all = made.script.begins;
	assert_true(all > first && all < 20 * first);
}

static void test_loop_without_a_thread(void **state)
{
	const struct dump_tasks *tasks;
	char core[] = "core";

	(void)state;
	make(3, (struct thread_script){ .held = SIZE_MAX });
	put_tasks(3, LOOP_OBJECT + 8);
	tasks = read_made_tasks();
	assert_problems(tasks, 3, DUMP_TASK_NO_PROBLEM);
	vec_for_each(task, &tasks->list) {
		assert_int_equal(task->state, DUMP_TASK_SCHEDULED);
		assert_int_equal(task->tid, 0);
		assert_true(task->is_unproven);
	}
	made.subject.core = core;
	tasks = read_made_tasks();
	vec_for_each(task, &tasks->list)
		assert_false(task->is_unproven);
}

/* --- containers --- */

static bool count_item(void *arg, uint64_t item)
{
	size_t *count = arg;

	(void)item;
	++*count;
	return true;
}

static bool stop_at_item(void *arg, uint64_t item)
{
	count_item(arg, item);
	return false;
}

static bool each_item(uint64_t object, bool (*fn)(void *arg, uint64_t item),
		      size_t *count)
{
	const struct py_memory memory = { read_made, &made.world, NULL };
	struct py_objects_reader objects = PY_OBJECTS_INIT(
		&made.subject.python.layout, &release()->objects, &memory);
	struct py_tasks_reader r = { &objects, &release()->values, 0 };

	*count = 0;
	return py_items_each(&r, object, fn, count);
}

static void test_sets(void **state)
{
	size_t count;

	(void)state;
	make(0, (struct thread_script){});
	make_set(127, FULL);
	assert_true(each_item(SET, count_item, &count));
	assert_int_equal(count, 128);
	/* That no more is wanted is no failure. */
	assert_true(each_item(SET, stop_at_item, &count));
	assert_int_equal(count, 1);
	/* The second half cannot be read. */
	make_set(127, FULL + FULL_SIZE - 64 * 16);
	assert_false(each_item(SET, count_item, &count));
	assert_int_equal(count, 64);
	make_set((1 << 20) - 1 + (1 << 20), FULL);
	assert_false(each_item(SET, count_item, &count));
	make_set(127, FULL);
	put(&made.world, SET_TYPE + release()->objects.type_flags, PY_TYPE_HEAP);
	assert_false(each_item(SET, count_item, &count));
	assert_false(each_item(0, count_item, &count));
}

static void test_tuples(void **state)
{
	uint64_t item = TUPLE + release()->values.tuple_items;
	size_t count;

	(void)state;
	make(0, (struct thread_script){});
	put(&made.world, TUPLE + OBJECT_TYPE, TUPLE_TYPE);
	put(&made.world, TUPLE + OBJECT_SIZE, 5);
	assert_true(each_item(TUPLE, count_item, &count));
	assert_int_equal(count, 5);
	/* It ends before its last item. */
	made.world.size = item + 4 * 8 - WORLD_BASE;
	assert_false(each_item(TUPLE, count_item, &count));
	assert_int_equal(count, 4);
	made.world.size = WORLD_SIZE_MAX;
	put(&made.world, TUPLE + OBJECT_SIZE, PY_TASKS_MAX + 1);
	assert_false(each_item(TUPLE, count_item, &count));
}

/* Modules that cannot be read may have tasks. */
static void test_modules_that_cannot_be_read(void **state)
{
	(void)state;
	make(1, (struct thread_script){ .held = SIZE_MAX });
	assert_false(read_made_tasks()->is_cut);
	put(&made.world, INTERP + INTERP_MODULES, 1);
	assert_true(read_made_tasks()->is_cut);
}

/* --- limits --- */

/* Each of so many tasks has 32,768 that await it. */
static bool is_cut_with_links(size_t tasks)
{
	make(tasks, (struct thread_script){ .held = SIZE_MAX });
	make_set((1 << 15) - 1, FULL);
	for (size_t i = 0; i < tasks; i++) {
		put(&made.world, task_at(i) + TASK_AWAITED_BY, SET);
		put_byte(&made.world, task_at(i) + TASK_AWAITED_BY_SET, 1);
	}
	assert_problems(read_made_tasks(), tasks, DUMP_TASK_NO_PROBLEM);
	return made.dump->tasks.is_cut;
}

static void test_links_of_all_tasks(void **state)
{
	(void)state;
	assert_false(is_cut_with_links(31));
	forget_dump(NULL);
	assert_true(is_cut_with_links(33));
}

/* It awaits itself, so it has as many frames as kaa reads of one task. */
static void make_coroutine(void)
{
	const struct py_layout *l = &made.subject.python.layout;
	const struct py_tasks_at *at = &release()->tasks;
	uint64_t frame = COROUTINE + at->generator_frame;

	put(&made.world, NAME + OBJECT_TYPE, NAME_TYPE);
	put(&made.world, NAME + TEXT_LENGTH, 4);
	put_int(&made.world, NAME + TEXT_STATE,
		(int32_t)(l->text_compact_mask | l->text_ascii_mask |
			  1u << l->text_kind_shift));
	memcpy(made.world.bytes + (NAME + TEXT_DATA - WORLD_BASE), "name", 4);
	put(&made.world, CODE_OBJECT + OBJECT_TYPE, SET_TYPE);
	put(&made.world, CODE_OBJECT + CODE_FILENAME, NAME);
	put(&made.world, CODE_OBJECT + CODE_QUALNAME, NAME);
	put_int(&made.world, CODE_OBJECT + CODE_FIRST_LINE, 7);
	put(&made.world, COROUTINE + OBJECT_TYPE, COROUTINE_TYPE);
	put_byte(&made.world, COROUTINE + at->generator_state,
		 (uint8_t)at->state_awaits);
	put(&made.world, frame + FRAME_CODE, CODE_OBJECT);
	/* The end of its stack, and what is on top of it. */
	put(&made.world, frame + at->frame_stack_top, COROUTINE + 0x800);
	put(&made.world, COROUTINE + 0x800 - 8, COROUTINE);
}

/* The frames of tasks behind those that are kept are left out, and it is said. */
static void test_frames_of_all_tasks(void **state)
{
	enum { ALL = (1 << 20) / PY_AWAITS_MAX };
	const struct dump_tasks *tasks;

	(void)state;
	for (size_t count = ALL; count <= ALL + 1; count++) {
		forget_dump(NULL);
		make(count, (struct thread_script){ .held = SIZE_MAX });
		make_coroutine();
		for (size_t i = 0; i < count; i++)
			put(&made.world, task_at(i) + TASK_COROUTINE, COROUTINE);
		tasks = read_made_tasks();
		assert_problems(tasks, count, DUMP_TASK_TOO_DEEP);
		assert_int_equal(tasks->frames.count, 1 << 20);
		assert_string_equal(tasks->frames.data[0].function, "name");
		assert_int_equal(tasks->frames.data[0].line, 7);
		assert_int_equal(tasks->is_cut, count > ALL);
	}
	assert_int_equal(vec_last(&tasks->list)->frame_count, 0);
}

/* Each has as many callbacks as are read: what is left for the last ones is nothing. */
static void test_reads_of_all_tasks(void **state)
{
	enum { COUNT = 1200 };
	const struct dump_tasks *tasks;

	(void)state;
	make(COUNT, (struct thread_script){ .held = SIZE_MAX });
	put(&made.world, LIST + OBJECT_TYPE, LIST_TYPE);
	put(&made.world, LIST + OBJECT_SIZE, PY_TASKS_MAX);
	put(&made.world, LIST + release()->values.list_items, FULL);
	for (size_t i = 0; i < COUNT; i++)
		put(&made.world, task_at(i) + TASK_CALLBACKS, LIST);
	tasks = read_made_tasks();
	assert_int_equal(tasks->list.count, COUNT);
	assert_true(tasks->is_cut);
	assert_int_equal(tasks->list.data[0].problem, DUMP_TASK_NO_PROBLEM);
	assert_int_equal(vec_last(&tasks->list)->problem, DUMP_TASK_NOT_READ);
	vec_for_each(task, &tasks->list)
		assert_int_not_equal(task->problem, DUMP_TASK_RAN_ON);
}

enum {
	CODE = WORLD_BASE + 0x1000,
	TEXT_TYPE = WORLD_BASE + 0x3000,
	TEXT = WORLD_BASE + 0x4000,
	LINES = WORLD_BASE + 0x8000,
	/* Behind it is the same code object again and again. */
	CODES = 0x20000000,
};

static bool read_code(void *arg, uint64_t address, void *buf, size_t size)
{
	if (address >= CODES)
		address = CODE + (address - CODES) % 0x1000;
	return world_read(arg, address, buf, size);
}

/* How many names there is room for, of code whose file and function have that length. */
static size_t room_for_names(uint64_t length)
{
	static struct world world;
	struct py_layout *l = &world.thread.process.layout;
	const struct py_memory memory = { read_code, &world, NULL };
	struct code_names names = {};
	struct py_objects_reader r;
	size_t count = 0;

	world_init(&world, 0x030c01f0, WORLD_SIZE_MAX);
	r = (struct py_objects_reader)PY_OBJECTS_INIT(
		l, &py_release_of(l)->objects, &memory);
	put(&world, TEXT_TYPE + r.at->type_flags, PY_TYPE_TEXT);
	memset(world.bytes + (TEXT - WORLD_BASE), 'a', 0x2000);
	put(&world, TEXT + l->object_type, TEXT_TYPE);
	put(&world, TEXT + l->text_length, length);
	put_int(&world, TEXT + l->text_state,
		(int32_t)(l->text_compact_mask | l->text_ascii_mask |
			  1u << l->text_kind_shift));
	put(&world, CODE + l->code_filename, TEXT);
	put(&world, CODE + l->code_qualname, TEXT);
	put(&world, CODE + l->code_lines, LINES);
	while (code_names_find(&names, &r, CODES + count * 0x1000))
		count++;
	assert_true(names.is_full);
	/* One that is known is found, and what is forgotten makes room. */
	assert_non_null(code_names_find(&names, &r, CODES));
	code_names_forget(&names);
	assert_int_equal(names.bytes, 0);
	assert_non_null(code_names_find(&names, &r, CODES + count * 0x1000));
	code_names_deinit(&names);
	return count;
}

static void test_names_of_code(void **state)
{
	size_t few;

	(void)state;
	assert_int_equal(room_for_names(8), CODE_NAMES_MAX);
	few = room_for_names(1000);
	assert_true(few < CODE_NAMES_MAX);
	assert_true(few * 2000 >= CODE_NAMES_BYTES_MAX &&
		    (few - 1) * 2000 < CODE_NAMES_BYTES_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_thread_that_holds_still, forget_dump),
		cmocka_unit_test_teardown(test_reads_of_a_task, forget_dump),
		cmocka_unit_test_teardown(test_thread_that_never_holds_still, forget_dump),
		cmocka_unit_test_teardown(test_thread_that_ends, forget_dump),
		cmocka_unit_test_teardown(test_thread_that_runs_on, forget_dump),
		cmocka_unit_test_teardown(test_loop_without_a_thread, forget_dump),
		cmocka_unit_test(test_sets),
		cmocka_unit_test(test_tuples),
		cmocka_unit_test_teardown(test_modules_that_cannot_be_read, forget_dump),
		cmocka_unit_test_teardown(test_links_of_all_tasks, forget_dump),
		cmocka_unit_test_teardown(test_frames_of_all_tasks, forget_dump),
		cmocka_unit_test_teardown(test_reads_of_all_tasks, forget_dump),
		cmocka_unit_test(test_names_of_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
