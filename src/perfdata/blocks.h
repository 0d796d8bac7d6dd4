/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A stream of bytes cut into records (internal to the reader).
 *
 * Bytes stand in blocks of 1 MiB. A record never straddles two blocks: what is
 * left of one moves to the start of the next. Whoever keeps a record takes a
 * reference to its block; blocks without references are used again.
 *
 * A record may have a gap: bytes that the source has and that were not read.
 * The block has room for them, so that they can be read into their place
 * later, and bytes behind a gap are where they would be without it.
 */
#ifndef KAA_PERFDATA_BLOCKS_H
#define KAA_PERFDATA_BLOCKS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"

struct block {
	struct block *next_free;
	uint32_t refs;
	/* Where data[0] stands in the stream's source. */
	uint64_t offset;
	size_t size;
	size_t capacity;
	_Alignas(8) uint8_t data[];
};

/* Memory for blocks; zero-initialise. */
struct block_pool {
	struct block *free;
	size_t free_count;
	/* Bytes in blocks with references. */
	size_t held;
};

void block_pool_deinit(struct block_pool *pool);
void block_ref(struct block *block);
/* Legal on NULL. */
void block_unref(struct block_pool *pool, struct block *block);

/*
 * Stores up to size bytes at data and their number in *ret; 0 means that there
 * are none, for now or for ever. offset: of the first one in the source.
 */
typedef struct error *(*stream_fill_fn)(void *context, uint64_t offset,
					void *data, size_t size, size_t *ret);

/* Bytes [start, end) of a record; none if both are 0. */
struct stream_gap {
	uint16_t start;
	uint16_t end;
};

/*
 * What may be left out of the record at offset, of which the first `have`
 * bytes are there (at least its header).
 */
typedef struct stream_gap (*stream_gap_fn)(void *context, uint64_t offset,
					   const uint8_t *record, size_t have);

struct stream {
	struct block_pool *pool;
	stream_fill_fn fill;
	/* NULL: records are read whole. */
	stream_gap_fn gap;
	void *context;
	/* Where in the source fill() goes on. */
	uint64_t offset;
	/* Where there are gaps, how much is asked of fill() at once; else 0. */
	size_t step;
	/* The block being cut, with one reference of the stream's own. */
	struct block *block;
	size_t pos;
	/* A record with an impossible size: nothing behind it can be cut. */
	bool broken;
};

struct stream_record {
	/* 8-byte aligned, header->size bytes. NULL: no whole record is there. */
	const struct perf_event_header *header;
	/* Holds it; the caller owns one reference. */
	struct block *block;
	struct stream_gap gap;
};

void stream_deinit(struct stream *stream);
struct error *stream_next(struct stream *stream, struct stream_record *ret);
/*
 * Takes n bytes that are no records, appended to out if that is not NULL; *ret
 * says how many were there.
 */
struct error *stream_take(struct stream *stream, uint64_t n, struct strbuf *out,
			  uint64_t *ret);
/* Bytes that are in the stream but not cut yet. */
size_t stream_left(const struct stream *stream);

#endif
