// SPDX-License-Identifier: GPL-2.0-only
#include "python/version.h"

#include <stdio.h>
#include <string.h>

#define LEVEL_FINAL 0xf

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

/* Up to three digits; false if there are none or more. */
static bool read_number(const uint8_t **pos, const uint8_t *end,
			unsigned int *ret)
{
	const uint8_t *start = *pos;
	unsigned int value = 0;

	while (*pos < end && is_digit(**pos) && *pos - start < 4)
		value = value * 10 + *(*pos)++ - '0';
	if (*pos == start || *pos - start > 3)
		return false;
	*ret = value;
	return true;
}

/* Each place of text in bytes, in turn; start with *pos = bytes.data. */
static const uint8_t *next_match(struct bytes bytes, const uint8_t **pos,
				 const char *text)
{
	const uint8_t *end = bytes.data + bytes.size;
	const uint8_t *found =
		memmem(*pos, (size_t)(end - *pos), text, strlen(text));

	if (found)
		*pos = found + strlen(text);
	return found;
}

static bool find_series(struct bytes rodata, unsigned int *ret)
{
	const uint8_t *pos = rodata.data, *end = rodata.data + rodata.size;
	unsigned int minor, found = 0;

	while (next_match(rodata, &pos, "cpython-3")) {
		if (!read_number(&pos, end, &minor) || !minor)
			continue;
		if (found && minor != found)
			return false;
		found = minor;
	}
	*ret = found;
	return found;
}

/* The bits of PY_VERSION_HEX below the minor number, if a version ends here. */
static bool read_release(const uint8_t *pos, const uint8_t *end, uint32_t *ret)
{
	unsigned int micro, level = LEVEL_FINAL, serial = 0;

	if (!read_number(&pos, end, &micro) || micro > 255 || pos == end)
		return false;
	if (*pos == 'a' || *pos == 'b' || *pos == 'r') {
		level = *pos == 'a' ? 0xa : *pos == 'b' ? 0xb : 0xc;
		pos += *pos == 'r' && end - pos > 1 && pos[1] == 'c' ? 2 : 1;
		if (!read_number(&pos, end, &serial) || serial > 15)
			return false;
	}
	if (pos < end && *pos == '+')
		pos++;
	if (pos == end || *pos)
		return false;
	*ret = micro << 8 | level << 4 | serial;
	return true;
}

/* False if no string tells, or several differ. */
static bool find_release(struct bytes rodata, unsigned int major,
			 unsigned int minor, uint32_t *ret)
{
	const uint8_t *pos = rodata.data, *end = rodata.data + rodata.size;
	const uint8_t *at;
	uint32_t release, found = 0;
	bool any = false;
	char text[16];

	snprintf(text, sizeof(text), "%u.%u.", major, minor);
	while ((at = next_match(rodata, &pos, text))) {
		if (at > rodata.data && (is_digit(at[-1]) || at[-1] == '.'))
			continue;
		if (!read_release(pos, end, &release))
			continue;
		if (any && release != found)
			return false;
		found = release;
		any = true;
	}
	*ret = found;
	return any;
}

bool py_version_from_strings(struct bytes rodata, uint32_t *ret)
{
	uint32_t release = LEVEL_FINAL << 4;
	unsigned int minor;

	if (!rodata.size || !find_series(rodata, &minor) || minor > 255)
		return false;
	if (!find_release(rodata, 3, minor, &release))
		release = LEVEL_FINAL << 4;
	*ret = 3u << 24 | minor << 16 | release;
	return true;
}

bool py_version_2_from_strings(struct bytes rodata, uint32_t *ret)
{
	uint32_t release;

	if (!rodata.size || !find_release(rodata, 2, 7, &release))
		return false;
	*ret = 0x02070000u | release;
	return true;
}
