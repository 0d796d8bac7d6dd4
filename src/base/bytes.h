/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one bounded reader of foreign bytes.
 *
 * Every byte from a file, a process or the kernel passes through a struct
 * reader. A read past the end, or a value that breaks a bound, turns the
 * reader `failed`; from then on every read returns false and stores 0. Check
 * each call, or check reader.failed once after a group of reads and before
 * the values are used to divide, allocate, index or loop.
 *
 * Little-endian unless `big_endian` is set.
 */
#ifndef KAA_BASE_BYTES_H
#define KAA_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct bytes {
	const uint8_t *data;
	size_t size;
};

struct reader {
	const uint8_t *start;
	const uint8_t *pos;
	const uint8_t *end;
	/* Offset of start in the file, for error messages. */
	uint64_t base;
	/* Name of the file for error messages; borrowed, may be NULL. */
	const char *path;
	bool big_endian;
	bool failed;
};

static inline struct reader reader_init(const void *data, size_t size)
{
	/* No arithmetic on NULL, not even of zero bytes. */
	return (struct reader){ .start = data,
				.pos = data,
				.end = size ? (const uint8_t *)data + size :
					      data };
}

static inline size_t reader_left(const struct reader *r)
{
	return (size_t)(r->end - r->pos);
}

/* Offset of the next byte in the file. */
static inline uint64_t reader_offset(const struct reader *r)
{
	return r->base + (uint64_t)(r->pos - r->start);
}

/*
 * The string at an offset of a table of strings, borrowed. NULL unless its NUL
 * is one of the `max` bytes from there on: a search to the end, for each of many
 * names, takes as good as for ever in a large table that was made without NULs.
 */
const char *bytes_cstr(struct bytes bytes, uint64_t offset, size_t max);

/* The next n bytes, borrowed from the input; NULL if they are not there. */
const uint8_t *reader_bytes(struct reader *r, size_t n);
bool reader_u8(struct reader *r, uint8_t *ret);
bool reader_u16(struct reader *r, uint16_t *ret);
bool reader_u32(struct reader *r, uint32_t *ret);
bool reader_u64(struct reader *r, uint64_t *ret);
bool reader_skip(struct reader *r, size_t n);
/* Up to 10 bytes; longer or overflowing encodings fail. */
bool reader_uleb128(struct reader *r, uint64_t *ret);
bool reader_sleb128(struct reader *r, int64_t *ret);
/*
 * A NUL-terminated string within the input, borrowed; *len excludes the NUL
 * and may be NULL. NULL if there is no NUL before the end.
 */
const char *reader_cstr(struct reader *r, size_t *len);
/* A reader over the next n bytes; failed if they are not there. */
struct reader reader_sub(struct reader *r, size_t n);
/* ERROR_TRUNCATED that names file, offset and what was being read. */
struct error *reader_error(const struct reader *r, const char *what);

#endif
