// SPDX-License-Identifier: GPL-2.0-only
/* Stacks of tasks: what is cut out of a thread's, the frame that names one, and parts of a look. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assert_ok.h"
#include "collect/code_spans.h"
#include "collect/held_memory.h"
#include "collect/poll_parts.h"
#include "collect/python_stack.h"
#include "collect/task_stack.h"

/* Frames n - 1 to 0, as those of a thread: each has an address of its own. */
static void fill(struct python_stack *stack, size_t n)
{
	python_stack_clear(stack);
	stack->pid = 7;
	stack->tid = 8;
	for (size_t i = 0; i < n; i++) {
		assert_true(task_stack_push(stack, 100 + i, 2 * (int64_t)i));
		stack->frames.data[i].frame = 0x1000 + i;
	}
}

/* Reads records as the recorder does. */
static void read_back(const struct strbuf *records, struct python_stack *ret)
{
	static struct walker_copy copy;
	uint32_t size;

	python_stack_clear(ret);
	for (size_t at = 0; at < records->len; at += sizeof(size) + size) {
		memcpy(&size, records->data + at, sizeof(size));
		assert_ok(python_stack_add(
			ret,
			walker_copy_record(&copy,
					   records->data + at + sizeof(size),
					   size),
			size));
	}
	assert_non_null(python_stack_of(ret, 7, 8, false));
}

static void test_names(void **state)
{
	static const char *const cases[][2] = {
		{ "worker", "task worker" }, { "Task-12", "task" },
		{ "Task-", "task Task-" },   { "Task-1b", "task Task-1b" },
		{ "", "task" },
	};
	struct strbuf words = STRBUF_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		strbuf_clear(&words);
		task_stack_words(cases[i][0], &words);
		assert_string_equal(words.data, cases[i][1]);
	}
	strbuf_clear(&words);
	task_stack_words(NULL, &words);
	assert_string_equal(words.data, "task");
	strbuf_deinit(&words);
}

/* The recorder takes the record for a code object without lines. */
static void test_code(void **state)
{
	uint64_t key = task_stack_key("task worker");
	struct walker_code record;
	struct code_table table;
	struct code *code;
	size_t size;

	(void)state;
	assert_int_not_equal(key, task_stack_key("task workers"));
	task_stack_code(7, key, "task worker", &record, &size);
	code_table_init(&table);
	assert_ok(code_table_record(&table, &record, size));
	code = code_table_find(&table, key);
	assert_non_null(code);
	assert_string_equal(code->qualname, "task worker");
	assert_string_equal(code->filename, TASK_STACK_FILE);
	assert_int_equal(code->first_line, 0);
	assert_int_equal(table.broken, 0);
	code_table_deinit(&table);
}

static void test_cut(void **state)
{
	struct python_stack stack = {};

	(void)state;
	fill(&stack, 5);
	stack.flags = WALKER_UNREADABLE;
	assert_false(task_stack_cut(&stack, 0x2000));
	assert_int_equal(stack.frames.count, 5);
	assert_int_equal(stack.flags, WALKER_UNREADABLE);
	/* Inside the cut all was read. */
	assert_true(task_stack_cut(&stack, 0x1002));
	assert_int_equal(stack.frames.count, 3);
	assert_int_equal(stack.flags, 0);
	python_stack_deinit(&stack);
}

/* As many frames as several records have; and none. */
static void test_records(void **state)
{
	static const size_t counts[] = { 0, 1, WALKER_CHUNK_FRAMES,
					 WALKER_CHUNK_FRAMES + 1,
					 3 * WALKER_CHUNK_FRAMES };
	struct python_stack stack = {}, back = {};
	struct strbuf records = STRBUF_INIT;

	(void)state;
	for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
		fill(&stack, counts[c]);
		strbuf_clear(&records);
		assert_true(task_stack_records(&stack, &records));
		read_back(&records, &back);
		assert_int_equal(back.frames.count, counts[c]);
		for (size_t i = 0; i < counts[c]; i++) {
			const struct walker_frame *frame = &back.frames.data[i];

			assert_int_equal(frame->key, 100 + i);
			assert_int_equal(frame->offset, 2 * i);
			assert_int_equal(frame->flags,
					 i + 1 == counts[c] ?
						 WALKER_FRAME_ENTRY :
						 0);
		}
	}
	python_stack_deinit(&stack);
	python_stack_deinit(&back);
	strbuf_deinit(&records);
}

/* Tasks at one place are one part, and those that wait for something else another. */
static void test_parts(void **state)
{
	struct poll_parts parts = POLL_PARTS_INIT, others = POLL_PARTS_INIT;
	struct python_stack stack = {};
	struct strbuf a = STRBUF_INIT, b = STRBUF_INIT;

	(void)state;
	fill(&stack, 2);
	assert_true(task_stack_records(&stack, &a));
	/* Other frames of the same functions. */
	stack.frames.data[0].frame++;
	assert_true(task_stack_records(&stack, &b));
	assert_true(poll_parts_add(&parts, &a, 1, 1.5));
	assert_true(poll_parts_add(&parts, &b, 1, 1.5));
	assert_true(poll_parts_add(&parts, &b, 2, 1));
	stack.frames.data[0].offset++;
	strbuf_clear(&b);
	assert_true(task_stack_records(&stack, &b));
	assert_true(poll_parts_add(&parts, &b, 1, 1));
	assert_int_equal(parts.list.count, 3);
	assert_true(parts.list.data[0].share == 3);
	assert_int_equal(parts.list.data[1].marker, 2);
	assert_int_equal(parts.list.data[2].size, b.len);
	assert_memory_equal(parts.records.data + parts.list.data[2].at, b.data,
			    b.len);
	poll_parts_swap(&parts, &others);
	assert_int_equal(parts.list.count, 0);
	assert_int_equal(others.list.count, 3);
	poll_parts_deinit(&parts);
	poll_parts_deinit(&others);
	python_stack_deinit(&stack);
	strbuf_deinit(&a);
	strbuf_deinit(&b);
}

/* What was read is old until the next look. */
static void test_held_memory(void **state)
{
	struct held_memory *memory = held_memory_create();
	struct remote_memory own = remote_memory_init(getpid());
	uint8_t *bytes = aligned_alloc(4096, 3 * 4096), read[5000];

	(void)state;
	assert_non_null(memory);
	for (size_t i = 0; i < 3 * 4096; i++)
		bytes[i] = (uint8_t)(i * 7 + i / 256);
	held_memory_begin(memory, &own);
	assert_true(held_memory_read(memory, (uintptr_t)bytes + 4000, read,
				     300));
	assert_memory_equal(read, bytes + 4000, 300);
	bytes[4000]++;
	assert_true(held_memory_read(memory, (uintptr_t)bytes + 4000, read, 1));
	assert_int_equal(read[0], (uint8_t)(bytes[4000] - 1));
	/* More than a page is read as it is. */
	assert_true(held_memory_read(memory, (uintptr_t)bytes + 4000, read,
				     sizeof(read)));
	assert_memory_equal(read, bytes + 4000, sizeof(read));
	held_memory_begin(memory, &own);
	assert_true(held_memory_read(memory, (uintptr_t)bytes + 4000, read, 1));
	assert_int_equal(read[0], bytes[4000]);
	assert_false(held_memory_read(memory, 8, read, 8));
	assert_false(held_memory_read(memory, UINT64_MAX - 3, read, 8));
	free(bytes);
	remote_memory_deinit(&own);
	held_memory_destroy(memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_code),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_held_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
