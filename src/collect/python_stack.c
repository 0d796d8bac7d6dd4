// SPDX-License-Identifier: GPL-2.0-only
#include "collect/python_stack.h"

#include <stddef.h>
#include <string.h>

void python_stack_clear(struct python_stack *stack)
{
	vec_clear(&stack->frames);
	stack->flags = 0;
	stack->pid = 0;
	stack->tid = 0;
	stack->extra_activation = 0;
	stack->whole = false;
	stack->given = false;
}

void python_stack_deinit(struct python_stack *stack)
{
	vec_deinit(&stack->frames);
}

/* The stack is one of which no frame could be read. */
static void lose_frames(struct python_stack *stack,
			const struct walker_stack *record)
{
	python_stack_clear(stack);
	stack->flags = WALKER_UNREADABLE;
	stack->pid = record->header.pid;
	stack->tid = record->tid;
	stack->whole = !(record->flags & WALKER_CONTINUES);
}

struct error *python_stack_add(struct python_stack *stack, const void *record,
			       size_t size)
{
	const struct walker_stack *raw = record;
	size_t fixed = offsetof(struct walker_stack, frames);

	if (stack->whole)
		python_stack_clear(stack);
	if (size < fixed || raw->count > WALKER_CHUNK_FRAMES ||
	    raw->count * sizeof(raw->frames[0]) > size - fixed ||
	    stack->frames.count > WALKER_MAX_FRAMES) {
		python_stack_clear(stack);
		return NULL;
	}
	/* A record with no place in what there is: others were lost. */
	if (!raw->before)
		python_stack_clear(stack);
	if (raw->before != stack->frames.count) {
		lose_frames(stack, raw);
		return NULL;
	}
	if (!vec_reserve(&stack->frames, raw->count))
		return error_no_memory();
	if (raw->count)
		memcpy(stack->frames.data + stack->frames.count, raw->frames,
		       raw->count * sizeof(raw->frames[0]));
	stack->frames.count += raw->count;
	stack->flags = raw->flags;
	stack->pid = raw->header.pid;
	stack->tid = raw->tid;
	stack->extra_activation = raw->extra_activation;
	stack->thread_pointer = raw->thread_pointer;
	stack->whole = !(raw->flags & WALKER_CONTINUES);
	return NULL;
}

struct error *python_stack_take(struct python_stack *stack,
				struct code_table *codes, const void *record,
				size_t size)
{
	const struct walker_header *header = record;

	return header->type == WALKER_STACK ?
		       python_stack_add(stack, record, size) :
		       code_table_record(codes, record, size);
}

const struct python_stack *python_stack_of(struct python_stack *stack,
					   uint32_t pid, uint32_t tid,
					   bool is_tracepoint)
{
	if (!stack->whole || stack->pid != pid || stack->tid != tid) {
		python_stack_clear(stack);
		return NULL;
	}
	if (stack->flags & WALKER_NO_FRAMES ||
	    (stack->given && !is_tracepoint))
		return NULL;
	stack->given = true;
	return stack;
}

const struct walker_header *walker_copy_record(struct walker_copy *copy,
					       const void *raw, size_t size)
{
	if (size < sizeof(struct walker_header) || size > sizeof(copy->words))
		return NULL;
	memcpy(copy->words, raw, size);
	return (const void *)copy->words;
}
