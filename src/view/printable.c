// SPDX-License-Identifier: GPL-2.0-only
#include "view/printable.h"

#include <stdint.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd"

/* Bytes of the sequence that begins so; 0: none does. */
static size_t sequence_length(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first >= 0xc2 && first < 0xe0)
		return 2;
	if (first >= 0xe0 && first < 0xf0)
		return 3;
	return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

/* Strict: no overlong forms, no surrogates. Returns 0 if there is none. */
static size_t decode(const unsigned char *s, size_t n, uint32_t *ret)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t length = sequence_length(s[0]);
	uint32_t ch;

	if (!length || length > n)
		return 0;
	ch = length == 1 ? s[0] : s[0] & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		ch = ch << 6 | (s[i] & 0x3f);
	}
	if (ch < least[length] || ch > 0x10ffff ||
	    (ch >= 0xd800 && ch < 0xe000))
		return 0;
	*ret = ch;
	return length;
}

/* Those that libc gives a width, and that a name must not have all the same. */
static bool is_format(uint32_t ch)
{
	return ch == 0xad || ch == 0x61c || ch == 0x180e ||
	       (ch >= 0x200b && ch <= 0x200f) ||
	       (ch >= 0x2028 && ch <= 0x202e) ||
	       (ch >= 0x2060 && ch <= 0x206f) || ch == 0xfeff ||
	       (ch >= 0xfff0 && ch <= 0xfffb) || ch >= 0xe0000;
}

/* The next character, or 0 if it must not be shown; returns its bytes. */
static size_t next_shown(const char *s, size_t n, uint32_t *ret)
{
	uint32_t ch = 0;
	size_t length = decode((const unsigned char *)s, n, &ch);
	bool is_shown = length && ch >= 0x20 && !(ch >= 0x7f && ch < 0xa0) &&
			!is_format(ch);

	*ret = is_shown ? ch : 0;
	return length ? length : 1;
}

size_t printable_unicode(const char *s, size_t n, bool *ret)
{
	uint32_t ch;
	size_t length = next_shown(s, n, &ch);

	/* U+FFFE and U+FFFF are no characters, in any plane. */
	*ret = ch && (ch & 0xfffe) != 0xfffe;
	return length;
}

size_t printable_character(const char *s, size_t n, const char **ret,
			   size_t *size)
{
	bool is_shown;
	size_t taken = printable_unicode(s, n, &is_shown);

	*ret = is_shown ? s : REPLACEMENT;
	*size = is_shown ? taken : strlen(REPLACEMENT);
	return taken;
}

size_t printable_next(const char *s, size_t n, struct printable *ret)
{
	uint32_t ch;
	size_t length = next_shown(s, n, &ch);
	int width;

	*ret = (struct printable){ .ch = L'?', .width = 1 };
	if (!ch)
		return length;
	width = ch < 0x7f ? 1 : wcwidth((wchar_t)ch);
	if (width >= 0)
		*ret = (struct printable){ .ch = (wchar_t)ch, .width = width };
	return length;
}

size_t printable_width(const char *s, size_t n)
{
	size_t width = 0;

	for (size_t i = 0; i < n;) {
		struct printable p;

		i += printable_next(s + i, n - i, &p);
		width += (size_t)p.width;
	}
	return width;
}
