// SPDX-License-Identifier: GPL-2.0-only
/*
 * python/def_lines.h for tests: def_lines FILE prints, for each qualified name that is a
 * line of its standard input, the line that the file has for it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "python/def_lines.h"

int main(int argc, char **argv)
{
	struct py_def_lines lines = {};
	FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
	size_t size = 8 << 20;
	uint8_t *source = malloc(size);
	char name[4096];

	if (!file || !source)
		return 1;
	size = fread(source, 1, size, file);
	fclose(file);
	if (!py_def_lines_scan(&lines, (struct bytes){ source, size }))
		return 1;
	while (fgets(name, sizeof(name), stdin)) {
		name[strcspn(name, "\n")] = '\0';
		printf("%u\n", py_def_lines_find(&lines, name));
	}
	py_def_lines_deinit(&lines);
	free(source);
	return 0;
}
