// SPDX-License-Identifier: GPL-2.0-only
#include "perfdata/blocks.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_CAPACITY (1u << 20)
#define MAX_FREE_BLOCKS 64
#define WINDOW_SIZE (4u << 20)
/* Smaller samples are copied out of windows, too. */
#define LARGE_SAMPLE 4096

static struct block *block_create(struct block_pool *pool, size_t capacity)
{
	struct block *block = NULL;

	if (capacity == BLOCK_CAPACITY && pool->free) {
		block = pool->free;
		pool->free = block->next_free;
		pool->free_count--;
	} else {
		block = malloc(sizeof(*block) + capacity);
		if (!block)
			return NULL;
		*block = (struct block){ .capacity = capacity };
		block->data = block->own;
	}
	block->refs = 1;
	block->size = 0;
	pool->held += block->capacity;
	return block;
}

/* NULL if the file cannot be mapped, or without memory. */
static struct block *block_of_file(struct block_pool *pool, int fd,
				   uint64_t offset, size_t size)
{
	struct block *block = calloc(1, sizeof(*block));

	if (!block || !window_open(&block->window, fd, offset, size)) {
		free(block);
		return NULL;
	}
	block->data = (uint8_t *)(uintptr_t)block->window.data;
	block->refs = 1;
	block->size = block->capacity = size;
	pool->held += size;
	return block;
}

void block_ref(struct block *block)
{
	block->refs++;
}

void block_unref(struct block_pool *pool, struct block *block)
{
	if (!block || --block->refs)
		return;
	pool->held -= block->capacity;
	if (block->window.data || block->capacity != BLOCK_CAPACITY ||
	    pool->free_count >= MAX_FREE_BLOCKS) {
		window_close(&block->window);
		free(block);
		return;
	}
	block->next_free = pool->free;
	pool->free = block;
	pool->free_count++;
}

void block_pool_deinit(struct block_pool *pool)
{
	while (pool->free) {
		struct block *block = pool->free;

		pool->free = block->next_free;
		free(block);
	}
	*pool = (struct block_pool){};
}

void stream_deinit(struct stream *stream)
{
	block_unref(stream->pool, stream->block);
	block_unref(stream->pool, stream->copies);
	stream->block = stream->copies = NULL;
}

size_t stream_left(const struct stream *stream)
{
	return stream->block ? stream->block->size - stream->pos : 0;
}

size_t stream_missing(const struct stream *stream)
{
	struct perf_event_header header;
	size_t left = stream_left(stream);

	if (!left || stream->broken)
		return 0;
	if (left < sizeof(header))
		return sizeof(header) - left;
	memcpy(&header, stream->block->data + stream->pos, sizeof(header));
	return header.size > left ? header.size - left : 0;
}

/* Moves what is left to the start of a block that nobody else uses. */
static struct error *make_room(struct stream *stream)
{
	struct block *old = stream->block;
	size_t left = stream_left(stream);
	struct block *block = old;

	if (!old || old->refs > 1 || old->window.data) {
		block = block_create(stream->pool, BLOCK_CAPACITY);
		if (!block)
			return error_no_memory();
	}
	if (left)
		memmove(block->data, old->data + stream->pos, left);
	block->size = left;
	stream->block = block;
	stream->pos = 0;
	if (block != old)
		block_unref(stream->pool, old);
	return NULL;
}

/* Goes on to the window that begins with the bytes that are left. */
static void next_window(struct stream *stream, size_t need)
{
	uint64_t from = stream->offset - stream_left(stream);
	size_t skip = (size_t)(from % window_page_size());
	uint64_t size = WINDOW_SIZE + skip + need;
	struct block *block;

	if (stream->offset >= stream->end)
		return;
	if (size > stream->end - (from - skip))
		size = stream->end - (from - skip);
	block = block_of_file(stream->pool, stream->fd, from - skip, size);
	if (!block) {
		stream->has_windows = false;
		return;
	}
	block_unref(stream->pool, stream->block);
	stream->block = block;
	stream->pos = skip;
	stream->offset = from - skip + size;
}

/* Tries to have `need` bytes uncut; fewer if the stream has no more. */
static struct error *fill(struct stream *stream, size_t need)
{
	struct error *err;
	size_t got;

	if (stream_left(stream) >= need)
		return NULL;
	if (stream->has_windows)
		next_window(stream, need);
	if (stream->has_windows)
		return NULL;
	/* Filling behind bytes that others refer to does not disturb them. */
	if (!stream->block ||
	    stream->block->capacity - stream->pos < BLOCK_CAPACITY / 8) {
		err = make_room(stream);
		if (err)
			return err;
	}
	do {
		struct block *block = stream->block;

		err = stream->fill(stream->context, stream->offset,
				   block->data + block->size,
				   block->capacity - block->size, &got);
		if (err)
			return err;
		block->size += got;
		stream->offset += got;
	} while (got && stream_left(stream) < need);
	return NULL;
}

/*
 * Room behind the copies before, or where those were that nobody refers to any more;
 * NULL without memory.
 */
static uint8_t *room_for_copy(struct stream *stream, size_t size)
{
	struct block *block = stream->copies;

	if (block && block->refs == 1)
		block->size = 0;
	if (!block || block->capacity - block->size < size) {
		block = block_create(stream->pool, BLOCK_CAPACITY);
		if (!block)
			return NULL;
		block_unref(stream->pool, stream->copies);
		stream->copies = block;
	}
	block->size += size;
	return block->data + block->size - size;
}

static struct error *copy_record(struct stream *stream, const uint8_t *at,
				 struct stream_record *ret)
{
	const size_t head = sizeof(ret->header);
	size_t padded = ((size_t)ret->header.size + 7) / 8 * 8;
	uint8_t *copy = room_for_copy(stream, padded);

	if (!copy)
		return error_no_memory();
	/* Not the header that is there now. */
	memcpy(copy, &ret->header, head);
	memcpy(copy + head, at + head, ret->header.size - head);
	ret->block = stream->copies;
	ret->data = copy;
	return NULL;
}

/* Others neither change it nor is it at an address that no word has. */
static bool may_stay(const struct stream *stream,
		     const struct perf_event_header *header, const uint8_t *at)
{
	if ((uintptr_t)at % 8)
		return false;
	return !stream->block->window.data ||
	       (header->type == PERF_RECORD_SAMPLE &&
		header->size >= LARGE_SAMPLE);
}

struct error *stream_next(struct stream *stream, struct stream_record *ret)
{
	struct perf_event_header *header = &ret->header;
	struct error *err;
	const uint8_t *at;

	*ret = (struct stream_record){};
	err = stream->broken ? NULL : fill(stream, sizeof(*header));
	if (err || stream->broken || stream_left(stream) < sizeof(*header))
		return err;
	memcpy(header, stream->block->data + stream->pos, sizeof(*header));
	if (header->size < sizeof(*header)) {
		stream->broken = true;
		return NULL;
	}
	err = fill(stream, header->size);
	if (err || stream_left(stream) < header->size)
		return err;
	at = stream->block->data + stream->pos;
	if (may_stay(stream, header, at)) {
		ret->block = stream->block;
		ret->data = at;
	} else {
		err = copy_record(stream, at, ret);
		if (err)
			return err;
	}
	block_ref(ret->block);
	stream->pos += header->size;
	return NULL;
}

struct error *stream_take(struct stream *stream, uint64_t n, struct strbuf *out,
			  uint64_t *ret)
{
	uint64_t left = n;

	while (left) {
		struct error *err = fill(stream, 1);
		size_t step = stream_left(stream);

		if (err)
			return err;
		if (!step)
			break;
		if (step > left)
			step = left;
		if (out)
			strbuf_append(out, stream->block->data + stream->pos,
				      step);
		stream->pos += step;
		left -= step;
	}
	*ret = n - left;
	return NULL;
}
