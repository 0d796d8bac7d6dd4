// SPDX-License-Identifier: GPL-2.0-only
#include "view/text.h"

#include <string.h>

/* The length of the control character at s, 0 if there is none. */
static size_t control_length(const unsigned char *s, size_t n)
{
	if (s[0] < 0x20 || s[0] == 0x7f)
		return 1;
	/* U+0080 to U+009F: terminals take some for escape sequences. */
	if (s[0] == 0xc2 && n > 1 && s[1] >= 0x80 && s[1] < 0xa0)
		return 2;
	return 0;
}

void text_append(struct strbuf *out, const char *s, size_t n)
{
	const unsigned char *bytes = (const unsigned char *)s;
	size_t start = 0;

	for (size_t i = 0; i < n;) {
		size_t control = control_length(bytes + i, n - i);

		if (!control) {
			i++;
			continue;
		}
		strbuf_append(out, s + start, i - start);
		strbuf_putc(out, '?');
		i += control;
		start = i;
	}
	strbuf_append(out, s + start, n - start);
}

void text_string(struct strbuf *out, const struct profile *profile,
		 uint32_t string, const char *none)
{
	if (string == PROFILE_NONE)
		strbuf_puts(out, none);
	else
		text_append(out, profile->strings.data[string],
			    profile->string_lengths.data[string]);
}

void text_percent(struct strbuf *out, uint64_t part, uint64_t total)
{
	strbuf_printf(out, "%.2f%%",
		      total ? 100.0 * (double)part / (double)total : 0.0);
}
