// SPDX-License-Identifier: GPL-2.0-only
#include "python/code_name.h"

#include <stdio.h>
#include <string.h>

enum {
	/* The longest form of one character: \UNNNNNNNN. */
	CHARACTER_MAX = 10,
	DOTS = 3,
};

static bool is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0);
}

static bool is_surrogate(uint32_t c)
{
	return c >= 0xd800 && c < 0xe000;
}

static size_t put_utf8(char *out, uint32_t c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

/* Writes one character as it is shown; out has CHARACTER_MAX + 1 bytes. */
static size_t put_character(char *out, uint32_t c)
{
	if (is_control(c))
		return (size_t)snprintf(out, CHARACTER_MAX + 1, "\\x%02x", c);
	if (is_surrogate(c))
		return (size_t)snprintf(out, CHARACTER_MAX + 1, "\\u%04x", c);
	if (c > 0x10ffff)
		return (size_t)snprintf(out, CHARACTER_MAX + 1, "\\U%08x", c);
	return put_utf8(out, c);
}

/* Of no bytes there may be no address either. */
static struct reader text_reader(struct bytes text)
{
	return reader_init(text.size ? text.data : (const uint8_t *)"",
			   text.size);
}

static bool next_character(struct reader *r, unsigned int kind, uint32_t *ret)
{
	uint8_t byte;
	uint16_t half;

	switch (kind) {
	case 1:
		if (!reader_u8(r, &byte))
			return false;
		*ret = byte;
		return true;
	case 2:
		if (!reader_u16(r, &half))
			return false;
		*ret = half;
		return true;
	case 4:
		return reader_u32(r, ret);
	default:
		return false;
	}
}

void py_text_append(struct strbuf *out, struct bytes text, unsigned int kind)
{
	struct reader r = text_reader(text);
	char buf[CHARACTER_MAX + 1];
	uint32_t c;

	while (next_character(&r, kind, &c))
		strbuf_append(out, buf, put_character(buf, c));
}

/* A text that grows up to a limit, then ends in dots. */
struct limited {
	struct strbuf *out;
	size_t start;
	size_t max;
	/* Where to cut if more comes. */
	size_t cut;
};

static struct limited limited_init(struct strbuf *out, size_t max)
{
	return (struct limited){ out, out->len, max, out->len };
}

/* false if the text is full. */
static bool limited_append(struct limited *text, const char *data, size_t n)
{
	struct strbuf *out = text->out;

	if (out->len - text->start + n > text->max) {
		strbuf_truncate(out, text->cut);
		strbuf_append(out, "...", text->max < DOTS ? text->max : DOTS);
		return false;
	}
	strbuf_append(out, data, n);
	if (out->len - text->start + DOTS <= text->max)
		text->cut = out->len;
	return true;
}

void py_text_append_max(struct strbuf *out, struct bytes text,
			unsigned int kind, size_t max)
{
	struct limited limited = limited_init(out, max);
	struct reader r = text_reader(text);
	char buf[CHARACTER_MAX + 1];
	uint32_t c;

	while (next_character(&r, kind, &c))
		if (!limited_append(&limited, buf, put_character(buf, c)))
			return;
}

/* The character that the bytes begin with, and its size; 0 if it is none. */
static size_t utf8_character(const uint8_t *bytes, size_t left, uint32_t *ret)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t size = bytes[0] < 0x80 ? 1 :
		      bytes[0] < 0xc0 ? 0 :
		      bytes[0] < 0xe0 ? 2 :
		      bytes[0] < 0xf0 ? 3 :
		      bytes[0] < 0xf8 ? 4 :
					0;
	uint32_t c = size > 1 ? bytes[0] & (0xff >> (size + 1)) : bytes[0];

	if (!size || size > left)
		return 0;
	for (size_t i = 1; i < size; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (bytes[i] & 0x3f);
	}
	*ret = c;
	return c < smallest[size] || c > 0x10ffff || is_surrogate(c) ? 0 : size;
}

void py_text_append_utf8(struct strbuf *out, struct bytes text, size_t max)
{
	struct limited limited = limited_init(out, max);
	char buf[CHARACTER_MAX + 1];
	size_t at = 0, size;
	uint32_t c = 0;

	for (; at < text.size; at += size ? size : 1) {
		size = utf8_character(text.data + at, text.size - at, &c);
		if (!limited_append(&limited, buf,
				    size ? put_character(buf, c) :
					   (size_t)snprintf(buf, sizeof(buf),
							    "\\x%02x",
							    text.data[at])))
			return;
	}
}

bool py_code_is_internal(const char *filename, const char *qualname)
{
	return !strcmp(filename, "__init__") && !strcmp(qualname, "__init__");
}
