// SPDX-License-Identifier: GPL-2.0-only
/*
 * The walk over Python frames on memory that is made up (tests/unit/memory_image.h):
 * it ends, and its records are such that the recorder takes them.
 */
#include <stdlib.h>

#include "memory_image.h"
#include "walked.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static size_t size_of_code(const struct walker_code *code)
{
	require(code->filename.size <= WALKER_MAX_FILENAME);
	require(code->name.size <= WALKER_MAX_NAME);
	return offsetof(struct walker_code, text) + code->filename.size +
	       code->name.size;
}

static size_t size_of_lines(const struct walker_lines *lines)
{
	require(lines->size && lines->size <= WALKER_CHUNK_LINES);
	require(lines->offset + lines->size <= WALKER_MAX_LINES);
	return offsetof(struct walker_lines, bytes) + lines->size;
}

static size_t size_of_stack(const struct walker_stack *stack)
{
	require(stack->count <= WALKER_CHUNK_FRAMES);
	require(stack->before + stack->count <= WALKER_MAX_FRAMES);
	for (uint32_t i = 0; i < stack->count; i++)
		require(stack->frames[i].key && stack->frames[i].offset >= -1);
	return offsetof(struct walker_stack, frames) +
	       stack->count * sizeof(stack->frames[0]);
}

/* Reads all of the record, and no more than it says that it has. */
static bool check_record(void *arg, const void *record, size_t size)
{
	const struct walker_header *header = record;

	switch (header->type) {
	case WALKER_STACK:
		require(size == size_of_stack(record));
		break;
	case WALKER_CODE:
		require(size == size_of_code(record));
		break;
	default:
		require(header->type == WALKER_LINES);
		require(size == size_of_lines(record));
	}
	return walked_emit(arg, record, size);
}

static void walk(struct memory_image *image, size_t room)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct py_memory memory = { memory_image_read, image };
	struct walked walked;

	if (walked_init(&walked))
		abort();
	walked.room = room;
	walked_run_with(&walked, &image->thread, &memory, check_record);
	require(!walked.failed);
	require(walked.stack.frames.count <= WALKER_MAX_FRAMES);
	walked_text(&walked, false, &text);
	walked_deinit(&walked);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct memory_image image;
	struct error *error = memory_image_open((struct bytes){ data, size },
						&image);

	if (!error) {
		walk(&image, SIZE_MAX);
		/* So that some records find no room. */
		walk(&image, data[size - 1]);
	}
	error_destroy(error);
	return 0;
}
