// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/completion/brief.h"

#include <string.h>

void brief_help(const struct option *option, struct strbuf *out)
{
	static const char *const ends[] = { " (", ": ", "; ", ". " };
	size_t length = strlen(option->help);

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		const char *end = strstr(option->help, ends[i]);

		if (end && (size_t)(end - option->help) < length)
			length = (size_t)(end - option->help);
	}
	strbuf_append(out, option->help, length);
}

void brief_quote(const char *text, struct strbuf *out)
{
	strbuf_putc(out, '\'');
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			strbuf_printf(out, "'\"%s%c\"'",
				      *text == '\\' ? "\\" : "", *text);
		else
			strbuf_putc(out, *text);
	}
	strbuf_putc(out, '\'');
}
