// SPDX-License-Identifier: GPL-2.0-only
#include "obj/perf_map.h"

#include <elf.h>
#include <string.h>

#include "base/hex.h"

/* User space of every 64-bit Linux ends below this. */
#define USER_END (1ull << 63)

/* Reads "[0x]hex " and moves *pos behind the blanks. */
static bool read_hex(const char **pos, const char *end, uint64_t *ret)
{
	const char *p = *pos;
	uint64_t value = 0;
	int digits = 0;

	if (end - p > 2 && p[0] == '0' && (p[1] | 0x20) == 'x')
		p += 2;
	for (; p < end && hex_digit(*p) >= 0; p++, digits++)
		value = value << 4 | (uint64_t)hex_digit(*p);
	if (!digits || digits > 16 || p == end || *p != ' ')
		return false;
	while (p < end && *p == ' ')
		p++;
	*pos = p;
	*ret = value;
	return true;
}

static struct error *parse_line(const char *line, const char *end,
				struct symtab *tab, size_t *bad)
{
	uint64_t start, size;

	if (end - line > PERF_MAP_LINE_MAX || !read_hex(&line, end, &start) ||
	    !read_hex(&line, end, &size) || line == end || !size ||
	    start >= USER_END || size > USER_END - start) {
		++*bad;
		return NULL;
	}
	return symtab_add(tab, start, size, line, (size_t)(end - line),
			  STT_FUNC, STB_GLOBAL, 0);
}

struct error *perf_map_parse(const void *data, size_t size, struct symtab *tab,
			     size_t *bad)
{
	const char *pos = data, *end = pos + size;
	size_t skipped = 0;
	struct error *error = NULL;

	while (pos < end && !error) {
		const char *newline = memchr(pos, '\n', (size_t)(end - pos));

		if (!newline) {
			skipped++;
			break;
		}
		error = parse_line(pos, newline, tab, &skipped);
		pos = newline + 1;
	}
	if (!error && bad)
		*bad = skipped;
	return error;
}
