// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is read of a Python process: line tables, names, debug offsets, version
 * strings. The first byte chooses.
 */
#include <stdlib.h>

#include "python/code_name.h"
#include "python/def_lines.h"
#include "python/layout.h"
#include "python/linetable.h"
#include "python/version.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void check_lines(const struct py_lines *lines)
{
	uint32_t end = 0;

	for (size_t i = 0; i < lines->range_count; i++) {
		const struct py_line_range *r = &lines->ranges[i];

		require(r->start == end && r->end > r->start);
		require(!i || r->line != lines->ranges[i - 1].line);
		require(py_lines_find(lines, r->start) == r->line);
		require(!py_lines_slot(lines, r->line) == !r->line);
		end = r->end;
	}
	for (size_t i = 0; i < lines->line_count; i++)
		require(lines->lines[i] &&
			(!i || lines->lines[i] > lines->lines[i - 1]));
}

static void fuzz_lines(enum py_lines_format format, struct bytes bytes)
{
	_cleanup_py_lines_ struct py_lines lines = {};
	struct error *error = py_lines_decode(format, 1000, bytes, &lines);

	error_destroy(error);
	if (!error)
		check_lines(&lines);
}

static void fuzz_source(struct bytes bytes)
{
	struct py_def_lines lines = {};

	require(py_def_lines_scan(&lines, bytes));
	require(py_def_lines_find(&lines, "f") <= bytes.size + 1);
	py_def_lines_deinit(&lines);
}

static void fuzz_text(unsigned int kind, struct bytes bytes)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	py_text_append(&out, bytes, kind);
	require(out.len <= 10 * bytes.size);
	for (size_t i = 0; i < out.len; i++)
		require((uint8_t)out.data[i] >= 0x20);
	strbuf_clear(&out);
	py_text_append_max(&out, bytes, kind, 100);
	require(out.len <= 100);
	strbuf_clear(&out);
	py_text_append_utf8(&out, bytes, 100);
	require(out.len <= 100);
	for (size_t i = 0; i < out.len; i++)
		require((uint8_t)out.data[i] >= 0x20);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes bytes = { data + 1, size - 1 };
	struct py_layout layout;
	uint32_t version;

	if (!size)
		return 0;
	switch (data[0] & 7) {
	case 0:
		error_destroy(py_layout_from_debug_offsets(bytes, 0, &layout));
		break;
	case 1:
	case 2:
	case 3:
		fuzz_lines(data[0] & 7, bytes);
		break;
	case 4:
		py_version_from_strings(bytes, &version);
		break;
	case 5:
	case 6:
		fuzz_text(data[0] & 3, bytes);
		break;
	default:
		fuzz_text(4, bytes);
		fuzz_source(bytes);
	}
	return 0;
}
