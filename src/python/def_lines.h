/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where in a source file functions and classes begin, by their qualified names:
 * for code objects of which only the names are known.
 *
 * The line is co_firstlineno: that of the `def` or `class`, or of the first
 * decorator. A name that the file has more than once (a property's getter and
 * setter, a function for each platform), or that is made global somewhere, has
 * no line; neither have lambdas and comprehensions. Nothing is guessed by the
 * bare name.
 *
 * A scanner for logical lines, strings, brackets and indentation, no parser
 * (Python's reference manual, chapter 2): of text that is no Python it makes
 * something, in linear time. No I/O.
 */
#ifndef KAA_PYTHON_DEF_LINES_H
#define KAA_PYTHON_DEF_LINES_H

#include <stdint.h>

#include "base/bytes.h"
#include "base/map.h"

/* Zero-initialise. */
struct py_def_lines {
	/* Hash of a qualified name to its line; 0: several. */
	struct map lines;
};

/* Adds what the source has; false if memory runs out. */
bool py_def_lines_scan(struct py_def_lines *lines, struct bytes source);
/* The line, counted from 1; 0 if it is not known. */
uint32_t py_def_lines_find(const struct py_def_lines *lines,
			   const char *qualname);
void py_def_lines_deinit(struct py_def_lines *lines);

#endif
