/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where Python code that begins at a line of a file ends, by the text of the
 * file: strings, brackets, comments and indentation. The text may be no Python at
 * all, or another version of what ran; then the answer is some lines of it.
 */
#ifndef KAA_EXPLORE_PYTHON_BLOCK_H
#define KAA_EXPLORE_PYTHON_BLOCK_H

#include <stddef.h>

#include "explore/source.h"

/* Lines from 1. */
struct python_block {
	size_t first;
	/* The last line of decorators, name and arguments. */
	size_t header_last;
	size_t last;
};

/*
 * What begins at that line: a function or a class, with all that is indented
 * deeper. Of anything else, such as a lambda, the whole statement that the line
 * is in. Beyond the end of the file it is that line alone.
 */
struct python_block python_block_find(const struct source *source,
				      size_t line);

#endif
