// SPDX-License-Identifier: GPL-2.0-only
#include "convert/python_code.h"

#include <string.h>

/* Number of spans that start at or below address. */
static size_t starts_below(const struct python_code *table, uint64_t address)
{
	/* Spans come in ascending order, nearly always. */
	if (table->spans.count && vec_last(&table->spans)->start <= address)
		return table->spans.count;
	return vec_upper_bound(&table->spans, start, address);
}

const struct python_span *python_code_find(const struct python_code *table,
					   uint64_t address)
{
	size_t i = starts_below(table, address);

	if (!i || table->spans.data[i - 1].end <= address)
		return NULL;
	return &table->spans.data[i - 1];
}

uint32_t python_span_line(const struct python_span *span, uint64_t address)
{
	return span->lines[(address - span->start) / KAA_SLOT_SIZE];
}

/* "py::<qualname>:<filename>" */
static char *span_name(struct python_code *table, const struct kaa_code *code)
{
	size_t n = 4 + code->qualname.len + 1 + code->filename.len;
	char *name = arena_alloc(&table->arena, n + 1);
	char *p = name;

	if (!name)
		return NULL;
	memcpy(p, "py::", 4);
	p += 4;
	memcpy(p, code->qualname.data, code->qualname.len);
	p += code->qualname.len;
	*p++ = ':';
	memcpy(p, code->filename.data, code->filename.len);
	name[n] = '\0';
	return name;
}

static uint16_t count_header(const uint32_t *lines, size_t count)
{
	uint32_t body = 0;

	for (size_t i = 1; i < count; i++)
		if (lines[i] > lines[0] && (!body || lines[i] < body))
			body = lines[i];
	return body && body - lines[0] <= UINT16_MAX ?
		       (uint16_t)(body - lines[0]) :
		       0;
}

static struct error *fill_span(struct python_code *table,
			       const struct kaa_code *code,
			       struct python_span *span)
{
	uint32_t *lines =
		arena_alloc(&table->arena, code->slots * sizeof(*lines));
	struct error *error;

	span->is_marker = span->start < KAA_FIRST_SPAN;
	span->filename = arena_strndup(&table->arena, code->filename.data,
				       code->filename.len);
	if (span->is_marker)
		span->name = arena_strndup(&table->arena, code->qualname.data,
					   code->qualname.len);
	else
		span->name = span_name(table, code);
	if (!lines || !span->filename || !span->name)
		return error_no_memory();
	lines[0] = code->first_line;
	error = kaa_code_lines(code, lines + 1);
	if (error)
		return error;
	span->lines = lines;
	span->header_lines = count_header(lines, code->slots);
	return NULL;
}

static bool insert(struct python_code *table, size_t at,
		   const struct python_span *span)
{
	if (!vec_reserve(&table->spans, 1))
		return false;
	memmove(table->spans.data + at + 1, table->spans.data + at,
		(table->spans.count - at) * sizeof(*span));
	table->spans.data[at] = *span;
	table->spans.count++;
	return true;
}

struct error *python_code_add(struct python_code *table,
			      const struct kaa_code *code)
{
	struct python_span span = {
		.start = code->start,
		.end = code->start + (uint64_t)code->slots * KAA_SLOT_SIZE,
		.first_line = code->first_line,
	};
	size_t at = starts_below(table, span.start);
	const struct python_span *before =
		at ? &table->spans.data[at - 1] : NULL;
	struct error *error;

	if (before && before->start == span.start && before->end == span.end)
		return NULL;
	if ((before && before->end > span.start) ||
	    (at < table->spans.count &&
	     table->spans.data[at].start < span.end))
		return error_create(ERROR_FORMAT,
				    "spans of Python code overlap");
	error = fill_span(table, code, &span);
	if (error)
		return error;
	return insert(table, at, &span) ? NULL : error_no_memory();
}

void python_code_deinit(struct python_code *table)
{
	vec_deinit(&table->spans);
	arena_deinit(&table->arena);
}
