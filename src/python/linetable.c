// SPDX-License-Identifier: GPL-2.0-only
#include "python/linetable.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* Bytes of a code unit, in which 3.11 counts. */
#define CODE_UNIT 2

/* A table while it is decoded. */
struct decoder {
	struct reader in;
	/* The running line; what it is computed to be, a line or not. */
	int64_t line;
	/* Where the next range begins. */
	uint64_t offset;
	VEC(struct py_line_range) ranges;
};

static uint32_t valid_line(int64_t line)
{
	return line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
}

/* A range of length bytes from d->offset on. */
static struct error *add_range(struct decoder *d, uint64_t length,
			       uint32_t line)
{
	struct py_line_range *last;
	uint64_t end = d->offset + length;

	if (!length)
		return NULL;
	if (end > UINT32_MAX)
		return error_create(ERROR_FORMAT,
				    "line table: an offset beyond 4 GiB");
	last = d->ranges.count ? vec_last(&d->ranges) : NULL;
	if (last && last->line == line)
		last->end = (uint32_t)end;
	else if (!vec_push(&d->ranges, (struct py_line_range){
					       (uint32_t)d->offset,
					       (uint32_t)end, line }))
		return error_no_memory();
	d->offset = end;
	return NULL;
}

/* Pairs: bytes of code up to the next line, difference of lines. */
static struct error *decode_lnotab(struct decoder *d, bool is_signed)
{
	uint8_t step, delta;
	struct error *error;

	while (reader_left(&d->in) && reader_u8(&d->in, &step) &&
	       reader_u8(&d->in, &delta)) {
		error = add_range(d, step, valid_line(d->line));
		if (error)
			return error;
		d->line += is_signed ? (int8_t)delta : delta;
	}
	return add_range(d, UINT32_MAX - d->offset, valid_line(d->line));
}

/* Pairs: bytes of code, signed difference of their line to the line before. */
static struct error *decode_pairs(struct decoder *d)
{
	enum { NO_LINE = -128 };
	uint8_t step, byte;
	struct error *error = NULL;

	while (!error && reader_left(&d->in) && reader_u8(&d->in, &step) &&
	       reader_u8(&d->in, &byte)) {
		int8_t delta = (int8_t)byte;

		if (delta != NO_LINE)
			d->line += delta;
		error = add_range(d, step,
				  delta == NO_LINE ? 0 : valid_line(d->line));
	}
	return error;
}

/* Six bits a byte, the lowest first; bit 6: more follow. */
static bool read_varint(struct reader *r, uint64_t *ret)
{
	uint64_t value = 0;
	uint8_t byte;

	for (unsigned int shift = 0; shift < 36; shift += 6) {
		if (!reader_u8(r, &byte))
			return false;
		value |= (uint64_t)(byte & 63) << shift;
		if (!(byte & 64)) {
			*ret = value;
			return true;
		}
	}
	return false;
}

/* The sign is the lowest bit. */
static bool read_signed_varint(struct reader *r, int64_t *ret)
{
	uint64_t value;

	if (!read_varint(r, &value))
		return false;
	*ret = value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
	return true;
}

enum location_kind {
	LOCATION_ONE_LINE_0 = 10,
	LOCATION_ONE_LINE_2 = 12,
	LOCATION_NO_COLUMNS = 13,
	LOCATION_LONG = 14,
	LOCATION_NONE = 15,
};

/* The difference that an entry, whose head has been read, makes to the line. */
static bool read_line_delta(struct reader *r, unsigned int kind, int64_t *ret)
{
	*ret = 0;
	if (kind == LOCATION_LONG || kind == LOCATION_NO_COLUMNS)
		return read_signed_varint(r, ret);
	if (kind >= LOCATION_ONE_LINE_0 && kind <= LOCATION_ONE_LINE_2)
		*ret = kind - LOCATION_ONE_LINE_0;
	return true;
}

/* The rest of an entry: columns. Only the first byte of one has bit 7. */
static void skip_columns(struct reader *r)
{
	uint8_t byte;

	while (r->pos < r->end && !(*r->pos & 0x80))
		reader_u8(r, &byte);
}

static struct error *decode_locations(struct decoder *d)
{
	uint8_t head;
	int64_t delta;
	struct error *error = NULL;

	while (!error && reader_left(&d->in) && reader_u8(&d->in, &head)) {
		unsigned int kind = head >> 3 & 15;
		unsigned int units = (head & 7u) + 1;

		if (!(head & 0x80) || !read_line_delta(&d->in, kind, &delta))
			return error_create(ERROR_FORMAT,
					    "line table: a damaged entry");
		d->line += delta;
		error = add_range(d, units * CODE_UNIT,
				  kind == LOCATION_NONE ? 0 :
							  valid_line(d->line));
		skip_columns(&d->in);
	}
	return error;
}

static struct error *decode(struct decoder *d, enum py_lines_format format)
{
	struct error *error;

	switch (format) {
	case PY_LINES_LNOTAB:
		error = decode_lnotab(d, true);
		break;
	case PY_LINES_UNSIGNED:
		error = decode_lnotab(d, false);
		break;
	case PY_LINES_PAIRS:
		error = decode_pairs(d);
		break;
	case PY_LINES_LOCATIONS:
		error = decode_locations(d);
		break;
	default:
		return error_create(ERROR_INVALID_ARGUMENT,
				    "line table: unknown format %d", format);
	}
	if (!error && d->in.failed)
		error = reader_error(&d->in, "a line table");
	return error;
}

static int compare_lines(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Fills lines->lines from its ranges. */
static struct error *collect_lines(struct py_lines *lines)
{
	size_t n = 0, count = 0;
	uint32_t *all;

	if (!lines->range_count)
		return NULL;
	all = calloc(lines->range_count, sizeof(*all));
	if (!all)
		return error_no_memory();
	for (size_t i = 0; i < lines->range_count; i++)
		if (lines->ranges[i].line)
			all[n++] = lines->ranges[i].line;
	qsort(all, n, sizeof(*all), compare_lines);
	for (size_t i = 0; i < n; i++)
		if (!count || all[count - 1] != all[i])
			all[count++] = all[i];
	lines->lines = all;
	lines->line_count = count;
	return NULL;
}

struct error *py_lines_decode(enum py_lines_format format, uint32_t first_line,
			      struct bytes table, struct py_lines *ret)
{
	struct decoder d = { .in = reader_init(table.size ? table.data :
							    (const uint8_t *)"",
					       table.size),
			     .line = first_line };
	struct py_lines lines = {};
	struct error *error;

	if (table.size > PY_LINES_TABLE_MAX)
		return error_create(ERROR_LIMIT, "line table: %zu bytes",
				    table.size);
	error = decode(&d, format);
	lines.ranges = d.ranges.data;
	lines.range_count = d.ranges.count;
	if (!error)
		error = collect_lines(&lines);
	if (error) {
		py_lines_deinit(&lines);
		return error;
	}
	*ret = lines;
	return NULL;
}

void py_lines_deinit(struct py_lines *lines)
{
	free(lines->ranges);
	free(lines->lines);
	memset(lines, 0, sizeof(*lines));
}

uint32_t py_lines_find(const struct py_lines *lines, int64_t offset)
{
	size_t low = 0, high = lines->range_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct py_line_range *range = &lines->ranges[middle];

		if (offset < range->start)
			high = middle;
		else if (offset >= range->end)
			low = middle + 1;
		else
			return range->line;
	}
	return 0;
}

size_t py_lines_slot(const struct py_lines *lines, uint32_t line)
{
	const uint32_t *found;

	if (!lines->line_count)
		return 0;
	found = bsearch(&line, lines->lines, lines->line_count, sizeof(line),
			compare_lines);
	return found ? (size_t)(found - lines->lines) + 1 : 0;
}
