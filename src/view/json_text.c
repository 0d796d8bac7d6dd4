// SPDX-License-Identifier: GPL-2.0-only
#include "view/json_text.h"

#include <string.h>

#include "view/printable.h"

void json_text(struct strbuf *out, const char *text)
{
	size_t left = strlen(text), n;
	const char *s;

	strbuf_putc(out, '"');
	while (left) {
		size_t size = printable_character(text, left, &s, &n);

		if (*text == '\n')
			strbuf_puts(out, "\\n");
		else if (strchr("\"\\<>&'", *s))
			strbuf_printf(out, "\\u%04x", (unsigned char)*s);
		else
			strbuf_append(out, s, n);
		text += size;
		left -= size;
	}
	strbuf_putc(out, '"');
}
