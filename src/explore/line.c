// SPDX-License-Identifier: GPL-2.0-only
#include "explore/line.h"

#include "view/printable.h"

void line_clear(struct line *line)
{
	strbuf_clear(&line->text);
	line->number = line->number_end = line->fixed = 0;
	line->percent = 0;
	line->is_heading = false;
}

void line_deinit(struct line *line)
{
	strbuf_deinit(&line->text);
}

/* As much as fits, and dots. Returns the columns used. */
static size_t put_cut(struct strbuf *out, const char *text, size_t n,
		      size_t width)
{
	size_t used = 0, i = 0;

	while (i < n && width > 2) {
		struct printable p;
		size_t length = printable_next(text + i, n - i, &p);

		if (used + (size_t)p.width > width - 2)
			break;
		used += (size_t)p.width;
		i += length;
	}
	strbuf_append(out, text, i);
	strbuf_puts(out, "..");
	return used + 2;
}

void line_align(struct strbuf *out, const char *text, size_t n, size_t width,
		bool right)
{
	size_t used = printable_width(text, n);

	if (right && used < width) {
		strbuf_fill(out, ' ', width - used);
		used = width;
		strbuf_append(out, text, n);
	} else if (!width || used <= width) {
		strbuf_append(out, text, n);
	} else {
		used = put_cut(out, text, n, width);
	}
	if (used < width)
		strbuf_fill(out, ' ', width - used);
}
