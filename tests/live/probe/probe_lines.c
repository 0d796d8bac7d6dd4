// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decodes line tables and compares every instruction with what the interpreter
 * itself says. Standard input, little-endian u32 throughout: the format (enum
 * py_lines_format), then for each code object: first line, size of the table,
 * the table, number of code units (2 bytes each, in 2.7 one), and the line of each
 * (0: none).
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "probe.h"
#include "python/linetable.h"

#define PART_MAX (64u << 20)

static struct {
	unsigned long codes;
	unsigned long units;
	unsigned long differences;
} total;

static bool read_u32(uint32_t *ret)
{
	return fread(ret, sizeof(*ret), 1, stdin) == 1;
}

/* A size, and that many elements; NULL at the end of the input. */
static void *read_array(size_t element, uint32_t *count)
{
	void *data;

	if (!read_u32(count) || *count > PART_MAX)
		return NULL;
	data = malloc(*count * element + 1);
	if (data && fread(data, element, *count, stdin) != *count) {
		free(data);
		return NULL;
	}
	return data;
}

/* unit: bytes of a code unit. */
static void compare(const struct py_lines *lines, const uint32_t *expected,
		    uint32_t count, int unit)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t line = py_lines_find(lines, unit * (int64_t)i);
		size_t slot = py_lines_slot(lines, line);
		bool right = line == expected[i] && !slot == !line &&
			     (!slot || lines->lines[slot - 1] == line);

		total.units++;
		if (right)
			continue;
		if (total.differences++ < 10)
			printf("code object %lu, unit %u: %u is said, %u is so\n",
			       total.codes, i, line, expected[i]);
	}
	total.codes++;
}

static struct error *check_code(enum py_lines_format format,
				uint32_t first_line)
{
	_cleanup_py_lines_ struct py_lines lines = {};
	uint32_t size, count;
	_cleanup_free_ uint8_t *table = read_array(1, &size);
	_cleanup_free_ uint32_t *expected = NULL;
	struct error *error;

	if (table)
		expected = read_array(sizeof(*expected), &count);
	if (!expected)
		return error_create(ERROR_TRUNCATED, "the records are cut off");
	error = py_lines_decode(format, first_line,
				(struct bytes){ table, size }, &lines);
	if (!error)
		compare(&lines, expected, count,
			format == PY_LINES_UNSIGNED ? 1 : 2);
	return error;
}

struct error *probe_lines(const char *unused)
{
	uint32_t format, first_line;
	struct error *error = NULL;

	(void)unused;
	if (!read_u32(&format))
		return error_create(ERROR_TRUNCATED, "no records");
	while (!error && read_u32(&first_line))
		error = check_code(format, first_line);
	if (!error)
		printf("%lu code objects, %lu instructions, %lu differences\n",
		       total.codes, total.units, total.differences);
	return error;
}
