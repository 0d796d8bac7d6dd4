/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stack of a task: its coroutines, from the innermost to its own, and outside them
 * a frame that names the task. Of one that runs they are cut out of its thread's stack.
 */
#ifndef KAA_COLLECT_TASK_STACK_H
#define KAA_COLLECT_TASK_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "bpf/walker_shared.h"
#include "collect/python_stack.h"

enum {
	/* Of a task's name, in bytes. */
	TASK_NAME_MAX = 200,
};

/* What stands for the file of the frame that names a task. */
#define TASK_STACK_FILE "<asyncio>"

/*
 * The words of that frame: "task NAME"; of a task with no name but the number that it
 * was given, "task".
 */
void task_stack_words(const char *name, struct strbuf *ret);
/* Names that frame. */
uint64_t task_stack_key(const char *words);
/* The walker's record of the code that it seems to run. */
void task_stack_code(uint32_t pid, uint64_t key, const char *words,
		     struct walker_code *ret, size_t *size);

/* Frames outside the one at that address go; false: it is none of them. */
bool task_stack_cut(struct python_stack *stack, uint64_t outermost);
/* One frame more, outside the others. False: there is no memory. */
bool task_stack_push(struct python_stack *stack, uint64_t key, int64_t offset);
/*
 * The walker's records of it, each behind its size: of the frames where they are, and
 * not which of the thread's they were, so that equal ones are equal.
 */
bool task_stack_records(const struct python_stack *stack, struct strbuf *ret);

#endif
