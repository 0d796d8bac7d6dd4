// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/framework/wrap.h"

#include <stdbool.h>
#include <string.h>

#include "view/fit.h"

static const char white[] = " \n";

/* How many of the first n bytes are newlines. */
static size_t count_newlines(const char *s, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += s[i] == '\n';
	return count;
}

/* A quotation is a command or a name, and one word with what stands at it. */
static size_t word_length(const char *s, size_t room)
{
	size_t bracket = *s == '(', quoted;

	quoted = fit_quotation(s + bracket, strlen(s + bracket));
	if (quoted)
		quoted += bracket + strcspn(s + bracket + quoted, white);
	return quoted && quoted <= room ? quoted : strcspn(s, white);
}

void wrap_text(struct strbuf *out, const char *text, size_t indent)
{
	size_t used = indent;
	bool first = true;

	while (*text) {
		size_t gap = strspn(text, white);
		size_t word = word_length(text + gap, WRAP_COLUMNS - indent);
		bool paragraph = count_newlines(text, gap) > 1;

		if (!word)
			break;
		if (!first && (paragraph || used + 1 + word > WRAP_COLUMNS)) {
			strbuf_puts(out, paragraph ? "\n\n" : "\n");
			strbuf_fill(out, ' ', indent);
			used = indent;
		} else if (!first) {
			strbuf_putc(out, ' ');
			used++;
		}
		strbuf_append(out, text + gap, word);
		used += word;
		first = false;
		text += gap + word;
	}
	strbuf_putc(out, '\n');
}
