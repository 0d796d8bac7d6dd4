/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The line table of a code object: instruction offset to source line.
 *
 * Answers are those of `code.co_lines()`, before 3.10 of PyCode_Addr2Line().
 *
 * Sources of the formats: Objects/lnotab_notes.txt of CPython 2.7, 3.6 and 3.10,
 * PEP 626, Objects/locations.md of 3.11 (InternalDocs/code_objects.md in
 * later ones), PEP 657.
 */
#ifndef KAA_PYTHON_LINETABLE_H
#define KAA_PYTHON_LINETABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"
#include "bpf/py_layout.h"

/* A longer table is ERROR_LIMIT. */
#define PY_LINES_TABLE_MAX (16u << 20)

struct py_line_range {
	/* Offsets in bytes from the start of the code: [start, end). */
	uint32_t start;
	uint32_t end;
	/* 0: no line. */
	uint32_t line;
};

/* Zero-initialise, or fill by py_lines_decode(). */
struct py_lines {
	/* Ascending, without gaps, beginning at 0; neighbours differ in line. */
	struct py_line_range *ranges;
	size_t range_count;
	/* The distinct lines, ascending, without 0. */
	uint32_t *lines;
	size_t line_count;
};

/*
 * first_line is co_firstlineno. co_lnotab does not tell where the code ends:
 * the last range then reaches to UINT32_MAX. *ret is overwritten, not freed.
 * Damaged tables are ERROR_FORMAT or ERROR_TRUNCATED; lines that are not
 * positive, or above INT32_MAX, count as no line.
 */
struct error *py_lines_decode(enum py_lines_format format, uint32_t first_line,
			      struct bytes table, struct py_lines *ret);
void py_lines_deinit(struct py_lines *lines);

/*
 * The line of the instruction at a byte offset; 0 if it has none, if offset is
 * negative (a frame that has not begun) or beyond the table.
 */
uint32_t py_lines_find(const struct py_lines *lines, int64_t offset);

/*
 * The slot of a line (docs/ARCHITECTURE.md, "A Python frame"): 1 + its place
 * in lines.lines, 0 if it is not in there.
 */
size_t py_lines_slot(const struct py_lines *lines, uint32_t line);

#define _cleanup_py_lines_ _cleanup_(py_lines_deinit)

#endif
