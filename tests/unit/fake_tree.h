/* SPDX-License-Identifier: GPL-2.0-only */
/* Files below a folder of the test's own, which then is the root of /sys and the like. */
#ifndef KAA_UNIT_FAKE_TREE_H
#define KAA_UNIT_FAKE_TREE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct fake_file {
	/* From the root on. */
	const char *path;
	const char *text;
};

/* Writes a file below root, making its folders. */
static inline void fake_file_write_bytes(const char *root, const char *path,
					 const char *bytes, size_t size)
{
	char full[512];
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *c = full + 1; *c; c++) {
		if (*c != '/')
			continue;
		*c = '\0';
		mkdir(full, 0755);
		*c = '/';
	}
	file = fopen(full, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static inline void fake_file_write(const char *root, const char *path,
				   const char *text)
{
	fake_file_write_bytes(root, path, text, strlen(text));
}

/* root: a pattern for mkdtemp(). */
static inline void fake_tree_make(char *root, const struct fake_file *files,
				  size_t count)
{
	assert_non_null(mkdtemp(root));
	for (size_t i = 0; i < count; i++)
		fake_file_write(root, files[i].path, files[i].text);
}

static inline int fake_tree_remove(const char *root)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return system(command);
}

#endif
