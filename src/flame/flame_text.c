// SPDX-License-Identifier: GPL-2.0-only
#include "flame/flame_text.h"

#include <string.h>

#include "view/printable.h"

#define ELLIPSIS "\xe2\x80\xa6"

static void put_xml(struct strbuf *out, const char *s, size_t n)
{
	switch (*s) {
	case '&':
		strbuf_puts(out, "&amp;");
		break;
	case '<':
		strbuf_puts(out, "&lt;");
		break;
	case '>':
		strbuf_puts(out, "&gt;");
		break;
	case '"':
		strbuf_puts(out, "&quot;");
		break;
	case '\'':
		strbuf_puts(out, "&#39;");
		break;
	default:
		strbuf_append(out, s, n);
	}
}

void flame_text_xml_max(struct strbuf *out, const char *text, size_t max)
{
	size_t left = strlen(text), last = out->len, n;
	const char *s;

	for (size_t count = 0; left; count++) {
		size_t size = printable_character(text, left, &s, &n);

		if (count == max) {
			strbuf_truncate(out, last);
			strbuf_puts(out, ELLIPSIS);
			return;
		}
		last = out->len;
		if (*text == '\n')
			strbuf_putc(out, '\n');
		else
			put_xml(out, s, n);
		text += size;
		left -= size;
	}
}

void flame_text_xml(struct strbuf *out, const char *text)
{
	flame_text_xml_max(out, text, SIZE_MAX);
}

void flame_text_base64(struct strbuf *out, const uint8_t *data, size_t n)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	strbuf_reserve(out, n / 3 * 4 + 4);
	for (size_t i = 0; i < n; i += 3) {
		uint32_t bits = (uint32_t)data[i] << 16;

		bits |= i + 1 < n ? (uint32_t)data[i + 1] << 8 : 0;
		bits |= i + 2 < n ? (uint32_t)data[i + 2] : 0;
		strbuf_putc(out, digits[bits >> 18]);
		strbuf_putc(out, digits[bits >> 12 & 63]);
		strbuf_putc(out, i + 1 < n ? digits[bits >> 6 & 63] : '=');
		strbuf_putc(out, i + 2 < n ? digits[bits & 63] : '=');
	}
}

void flame_text_number(struct strbuf *out, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		strbuf_putc(out, (char)(0x80 | (value & 0x7f)));
	strbuf_putc(out, (char)value);
}
