// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes as a source file, from any of its lines on. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "explore/python_block.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct source *source, size_t line)
{
	struct python_block block = python_block_find(source, line);

	/* A statement may begin before the line; none of it is before the first. */
	if (!block.first || block.first > line ||
	    block.header_last < block.first || block.last < block.header_last)
		abort();
	if (block.last > source->starts.count && block.last > line)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct source source = { .text = STRBUF_INIT };

	if (size < 1)
		return 0;
	strbuf_append(&source.text, data + 1, size - 1);
	for (size_t at = 0; at < source.text.len; at++)
		if ((!at || source.text.data[at - 1] == '\n') &&
		    !vec_push(&source.starts, at))
			abort();
	check(&source, 1);
	check(&source, 1 + data[0]);
	source_deinit(&source);
	return 0;
}
