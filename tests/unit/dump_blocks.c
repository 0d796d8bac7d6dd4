// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where Python code ends, as kaa reads it from the source: for tests that
 * compare with a parser.
 *
 *	dump_blocks FILE < LINES
 *
 * For each number of a line a line: "FIRST HEADER_LAST LAST".
 */
#include <stdio.h>
#include <stdlib.h>

#include "explore/python_block.h"

int main(int argc, char **argv)
{
	struct source source = { .text = STRBUF_INIT };
	struct error *error;
	char line[64];

	if (argc != 2)
		return 2;
	error = source_read(NULL, argv[1], &source);
	if (error) {
		fprintf(stderr, "dump_blocks: %s\n", error->message);
		error_destroy(error);
		return 1;
	}
	while (fgets(line, sizeof(line), stdin)) {
		const struct python_block block = python_block_find(
			&source, strtoul(line, NULL, 10));

		printf("%zu %zu %zu\n", block.first, block.header_last,
		       block.last);
	}
	source_deinit(&source);
	return 0;
}
