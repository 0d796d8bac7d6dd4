// SPDX-License-Identifier: GPL-2.0-only
#include "agent/symbol.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The longest thing that one character becomes: "\udcff". */
enum { ESCAPE_MAX = 6 };

static unsigned int sequence_size(uint8_t lead)
{
	if (lead >= 0xc2 && lead <= 0xdf)
		return 2;
	if (lead >= 0xe0 && lead <= 0xef)
		return 3;
	if (lead >= 0xf0 && lead <= 0xf4)
		return 4;
	return lead < 0x80;
}

/*
 * Decodes the character at the front of text, surrogates included. Returns its
 * size in bytes, 0 if there is none.
 */
static unsigned int decode(const uint8_t *text, size_t size, uint32_t *ret)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned int n = sequence_size(text[0]);
	uint32_t code = n > 1 ? text[0] & (0x7f >> n) : text[0];

	if (!n || n > size)
		return 0;
	for (unsigned int i = 1; i < n; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (text[i] & 0x3f);
	}
	if (code < least[n] || code > 0x10ffff)
		return 0;
	*ret = code;
	return n;
}

static unsigned int put_hex(char *out, char kind, uint32_t value, int digits)
{
	out[0] = '\\';
	out[1] = kind;
	for (int i = 0; i < digits; i++)
		out[2 + i] = "0123456789abcdef"
			[value >> 4 * (digits - 1 - i) & 0xf];
	return 2 + (unsigned int)digits;
}

static bool is_unprintable(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) ||
	       code == 0x2028 || code == 0x2029 ||
	       (code >= 0xd800 && code <= 0xdfff);
}

static unsigned int escape(uint32_t code, char out[ESCAPE_MAX])
{
	static const char letters[] = { ['\t'] = 't', ['\n'] = 'n',
					['\r'] = 'r' };

	if (code < sizeof(letters) && letters[code]) {
		out[0] = '\\';
		out[1] = letters[code];
		return 2;
	}
	return code < 0x100 ? put_hex(out, 'x', code, 2) :
			      put_hex(out, 'u', code, 4);
}

/* Writes the character at the front of text; tells how much it took of it. */
static unsigned int convert(const uint8_t *text, size_t size,
			    char out[ESCAPE_MAX], unsigned int *ret_taken)
{
	uint32_t code;
	unsigned int n = decode(text, size, &code);

	*ret_taken = n ? n : 1;
	if (!n)
		return put_hex(out, 'x', text[0], 2);
	if (is_unprintable(code))
		return escape(code, out);
	memcpy(out, text, n);
	return n;
}

/* Writes at most max bytes; text that is longer ends in "...". */
static size_t put_text(const char *text, size_t size, char *out, size_t max)
{
	static const char dots[] = "...";
	size_t len = 0, cut = 0, at = 0;

	while (at < size) {
		char piece[ESCAPE_MAX];
		unsigned int taken;
		unsigned int n = convert((const uint8_t *)text + at, size - at,
					 piece, &taken);

		if (len + n > max) {
			memcpy(out + cut, dots, strlen(dots));
			return cut + strlen(dots);
		}
		memcpy(out + len, piece, n);
		len += n;
		at += taken;
		if (len + strlen(dots) <= max)
			cut = len;
	}
	return len;
}

size_t agent_symbol_write(const char *qualname, size_t qualname_size,
			  const char *filename, size_t filename_size,
			  char out[AGENT_SYMBOL_SIZE])
{
	size_t len = 4;

	memcpy(out, "py::", len);
	len += put_text(qualname, qualname_size, out + len, AGENT_QUALNAME_MAX);
	out[len++] = ':';
	len += put_text(filename, filename_size, out + len, AGENT_FILENAME_MAX);
	out[len] = '\0';
	return len;
}
