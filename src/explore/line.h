/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A row as it is drawn. The text is sanitized by view/text.h, and may hold any
 * UTF-8 or none (view/printable.h).
 */
#ifndef KAA_EXPLORE_LINE_H
#define KAA_EXPLORE_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

struct line {
	struct strbuf text;
	/* The number that is coloured: text[number, number_end), its value. */
	size_t number;
	size_t number_end;
	double percent;
	/* Bytes that sideways scrolling leaves where they are. */
	size_t fixed;
	/* It says what the rows below it are. */
	bool is_heading;
};

#define LINE_INIT { .text = STRBUF_INIT }

/* Empties it, keeps its memory. */
void line_clear(struct line *line);
void line_deinit(struct line *line);
#define _cleanup_line_ _cleanup_(line_deinit)

/*
 * Appends text in that many columns, filled with blanks or cut with ".."; width
 * 0: as many as it needs.
 */
void line_align(struct strbuf *out, const char *text, size_t n, size_t width,
		bool right);

#endif
