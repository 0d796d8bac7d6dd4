// SPDX-License-Identifier: GPL-2.0-only
#include "collect/task_stack.h"

#include <stddef.h>
#include <string.h>

#include "base/map.h"

#define DEFAULT_NAME "Task-"

/* asyncio numbers those that the program gives no name. */
static bool is_default(const char *name)
{
	size_t n = strlen(DEFAULT_NAME);

	return !strncmp(name, DEFAULT_NAME, n) && name[n] &&
	       !name[n + strspn(name + n, "0123456789")];
}

void task_stack_words(const char *name, struct strbuf *ret)
{
	strbuf_puts(ret, "task");
	if (name && *name && !is_default(name))
		strbuf_printf(ret, " %s", name);
}

uint64_t task_stack_key(const char *words)
{
	return hash_combine(hash_string(words), hash_string(TASK_STACK_FILE));
}

void task_stack_code(uint32_t pid, uint64_t key, const char *words,
		     struct walker_code *ret, size_t *size)
{
	size_t file = strlen(TASK_STACK_FILE), name = strlen(words);

	if (name > WALKER_MAX_NAME)
		name = WALKER_MAX_NAME;
	memset(ret, 0, offsetof(struct walker_code, text));
	ret->header = (struct walker_header){ WALKER_CODE, pid };
	ret->key = key;
	/* It has no lines. */
	ret->lines_size = ~0u;
	ret->filename.size = (uint32_t)file;
	ret->filename.kind = WALKER_BYTES_TEXT;
	ret->name.size = (uint32_t)name;
	ret->name.kind = WALKER_BYTES_TEXT;
	memcpy(ret->text, TASK_STACK_FILE, file);
	memcpy(ret->text + file, words, name);
	*size = offsetof(struct walker_code, text) + file + name;
}

bool task_stack_cut(struct python_stack *stack, uint64_t outermost)
{
	for (size_t i = 0; i < stack->frames.count; i++) {
		if (stack->frames.data[i].frame != outermost)
			continue;
		stack->frames.count = i + 1;
		/* What could not be read lies beyond. */
		stack->flags &= ~(uint32_t)(WALKER_UNREADABLE |
					    WALKER_TOO_DEEP);
		return true;
	}
	return false;
}

bool task_stack_push(struct python_stack *stack, uint64_t key, int64_t offset)
{
	const struct walker_frame frame = { .key = key,
					    .offset = (int32_t)offset };

	return stack->frames.count < WALKER_MAX_FRAMES &&
	       vec_push(&stack->frames, frame);
}

static void put_chunk(const struct python_stack *stack, size_t from,
		      size_t count, struct strbuf *ret)
{
	struct walker_stack head = {
		.header = { WALKER_STACK, stack->pid },
		.flags = stack->flags & ~(uint32_t)WALKER_CONTINUES,
		.count = (uint32_t)count,
		.tid = stack->tid,
		.before = (uint32_t)from,
		.thread_pointer = stack->thread_pointer,
	};
	size_t fixed = offsetof(struct walker_stack, frames);
	uint32_t size = (uint32_t)(fixed + count * sizeof(head.frames[0]));

	if (from + count < stack->frames.count)
		head.flags |= WALKER_CONTINUES;
	for (size_t i = 0; i < count; i++) {
		const struct walker_frame *frame = &stack->frames.data[from + i];

		head.frames[i] = (struct walker_frame){
			.key = frame->key, .offset = frame->offset
		};
		if (from + i + 1 == stack->frames.count)
			head.frames[i].flags = WALKER_FRAME_ENTRY;
	}
	strbuf_append(ret, &size, sizeof(size));
	strbuf_append(ret, &head, size);
}

bool task_stack_records(const struct python_stack *stack, struct strbuf *ret)
{
	size_t from = 0, count;

	do {
		count = stack->frames.count - from;
		if (count > WALKER_CHUNK_FRAMES)
			count = WALKER_CHUNK_FRAMES;
		put_chunk(stack, from, count, ret);
		from += count;
	} while (from < stack->frames.count);
	return !ret->failed;
}
