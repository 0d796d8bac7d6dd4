/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A stream of bytes cut into records (internal to the reader).
 *
 * Bytes stand in blocks of 1 MiB. A record never straddles two blocks: what is
 * left of one moves to the start of the next. Whoever keeps a record takes a
 * reference to its block; blocks without references are used again.
 *
 * The blocks of a stream that is a file's are windows of it, of 4 MiB, which
 * overlap where a record begins in one and ends in the next.
 *
 * What is in a window is what is in the file, which somebody else may be changing:
 * what is read twice may differ. So records are copied out of windows, and judged
 * as they were then. Large samples stay, since most of one is a stack of which
 * little is looked at: who reads a count in one keeps it, and trusts `header`.
 */
#ifndef KAA_PERFDATA_BLOCKS_H
#define KAA_PERFDATA_BLOCKS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "perfdata/window.h"

struct block {
	struct block *next_free;
	uint32_t refs;
	/* If open, what data is of; else that is `own`. */
	struct window window;
	size_t size;
	size_t capacity;
	/* Of a window only to be read. */
	uint8_t *data;
	_Alignas(8) uint8_t own[];
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

struct stream {
	struct block_pool *pool;
	stream_fill_fn fill;
	void *context;
	/* Where in the source fill() or the next window goes on. */
	uint64_t offset;
	/*
	 * The source is this file up to `end`, to be seen through windows:
	 * fill() is only called if it cannot be mapped.
	 */
	bool has_windows;
	int fd;
	uint64_t end;
	/* The block being cut, with one reference of the stream's own. */
	struct block *block;
	size_t pos;
	/* What was copied last is in this one, likewise. */
	struct block *copies;
	/* A record with an impossible size: nothing behind it can be cut. */
	bool broken;
};

struct stream_record {
	/* 8-byte aligned, header.size bytes. NULL: no whole record is there. */
	const void *data;
	/* As it was when the record was cut, whatever data says now. */
	struct perf_event_header header;
	/* Holds it; the caller owns one reference. */
	struct block *block;
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
/* At its end: bytes that its last record lacks; 0: it ended with a whole one, or is broken. */
size_t stream_missing(const struct stream *stream);

#endif
