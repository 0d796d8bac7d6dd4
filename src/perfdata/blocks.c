// SPDX-License-Identifier: GPL-2.0-only
#include "perfdata/blocks.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_CAPACITY (1u << 20)
#define MAX_FREE_BLOCKS 64
/* What is read of a record before it is asked where its gap is. */
#define HEAD_SIZE 1024

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
		block->capacity = capacity;
	}
	block->refs = 1;
	block->size = 0;
	pool->held += block->capacity;
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
	if (block->capacity != BLOCK_CAPACITY ||
	    pool->free_count >= MAX_FREE_BLOCKS) {
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
	stream->block = NULL;
}

size_t stream_left(const struct stream *stream)
{
	return stream->block ? stream->block->size - stream->pos : 0;
}

/* Moves what is left to the start of a block that nobody else uses. */
static struct error *make_room(struct stream *stream)
{
	struct block *old = stream->block;
	size_t left = stream_left(stream);
	struct block *block = old;

	if (!old || old->refs > 1) {
		block = block_create(stream->pool, BLOCK_CAPACITY);
		if (!block)
			return error_no_memory();
	}
	if (left)
		memmove(block->data, old->data + stream->pos, left);
	block->offset = stream->offset - left;
	block->size = left;
	stream->block = block;
	stream->pos = 0;
	if (block != old)
		block_unref(stream->pool, old);
	return NULL;
}

/* How much to read at once; less than all room only behind a gap. */
static size_t next_step(struct stream *stream, size_t need)
{
	size_t room = stream->block->capacity - stream->block->size;
	size_t step = stream->step;

	if (!step)
		return room;
	/* Without another gap it soon is all room again. */
	stream->step = step < BLOCK_CAPACITY / 2 ? step * 2 : 0;
	if (step < need - stream_left(stream))
		step = need - stream_left(stream);
	return step < room ? step : room;
}

/* Tries to have `need` bytes uncut; fewer if the stream has no more. */
static struct error *fill(struct stream *stream, size_t need)
{
	struct error *err;
	size_t got;

	if (stream_left(stream) >= need)
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
				   next_step(stream, need), &got);
		if (err)
			return err;
		block->size += got;
		stream->offset += got;
	} while (got && stream_left(stream) < need);
	return NULL;
}

static struct stream_gap ask_for_gap(const struct stream *stream)
{
	const struct block *block = stream->block;
	const uint8_t *at = block->data + stream->pos;

	/* A record that is not aligned is copied as a whole. */
	if ((uintptr_t)at % 8)
		return (struct stream_gap){};
	return stream->gap(stream->context, block->offset + stream->pos, at,
			   stream_left(stream));
}

/* Moves the source behind what may be left out of the record of that size. */
static struct error *leave_gap(struct stream *stream, size_t size,
			       struct stream_gap *ret)
{
	struct stream_gap gap;
	struct error *err;
	size_t left;

	err = fill(stream, size < HEAD_SIZE ? size : HEAD_SIZE);
	if (err || stream_left(stream) >= size)
		return err;
	gap = ask_for_gap(stream);
	if (!gap.end)
		return NULL;
	/* As fill() has it: later the gap would move, too. */
	if (stream->block->capacity - stream->pos < BLOCK_CAPACITY / 8)
		err = make_room(stream);
	if (!err)
		err = fill(stream, gap.start);
	left = stream_left(stream);
	if (err || left < gap.start || left >= gap.end)
		return err;
	/* The end of this record, the head of the next, and as much of it. */
	stream->step = gap.start + HEAD_SIZE / 2;
	stream->block->size += gap.end - left;
	stream->offset += gap.end - left;
	gap.start = (uint16_t)left;
	*ret = gap;
	return NULL;
}

/* A copy in a block of its own, for a record that is not aligned. */
static struct error *copy_record(struct stream *stream, const uint8_t *at,
				 size_t size, struct stream_record *ret)
{
	struct block *block = block_create(stream->pool, size);

	if (!block)
		return error_no_memory();
	memcpy(block->data, at, size);
	block->size = size;
	ret->block = block;
	ret->header = (const struct perf_event_header *)block->data;
	return NULL;
}

struct error *stream_next(struct stream *stream, struct stream_record *ret)
{
	struct perf_event_header header;
	struct error *err;
	uint8_t *at;

	ret->header = NULL;
	ret->block = NULL;
	ret->gap = (struct stream_gap){};
	err = stream->broken ? NULL : fill(stream, sizeof(header));
	if (err || stream->broken || stream_left(stream) < sizeof(header))
		return err;
	memcpy(&header, stream->block->data + stream->pos, sizeof(header));
	if (header.size < sizeof(header)) {
		stream->broken = true;
		return NULL;
	}
	if (stream->gap && stream_left(stream) < header.size)
		err = leave_gap(stream, header.size, &ret->gap);
	if (!err)
		err = fill(stream, header.size);
	if (err || stream_left(stream) < header.size)
		return err;
	at = stream->block->data + stream->pos;
	if ((uintptr_t)at % 8) {
		err = copy_record(stream, at, header.size, ret);
		if (err)
			return err;
	} else {
		block_ref(stream->block);
		ret->block = stream->block;
		ret->header = (const struct perf_event_header *)at;
	}
	stream->pos += header.size;
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
