// SPDX-License-Identifier: GPL-2.0-only
#include "view/shell_word.h"

#include <string.h>

#include "view/text.h"

void shell_word(const char *word, struct strbuf *out)
{
	const char *const plain =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+:@%,=";

	if (*word && !word[strspn(word, plain)]) {
		strbuf_puts(out, word);
		return;
	}
	strbuf_putc(out, '\'');
	for (size_t n; *word; word += n) {
		n = strcspn(word, "'");
		text_append(out, word, n);
		if (!word[n])
			continue;
		strbuf_puts(out, "'\\''");
		n++;
	}
	strbuf_putc(out, '\'');
}
