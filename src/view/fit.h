/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Foreign text in a column of a table: never wider than the column, and nothing
 * in it that moves the cursor (view/printable.h).
 */
#ifndef KAA_VIEW_FIT_H
#define KAA_VIEW_FIT_H

#include <stddef.h>

#include "base/strbuf.h"

/* Too wide a text loses its beginning: "...ders.py:37". Padded to `width`. */
void fit_end(struct strbuf *out, const char *s, size_t width);
/*
 * Too wide a name of a function loses its middle: "Report.build.<locals>.<lambda>"
 * becomes "Report.build...<lambda>", then "...build...<lambda>". Its last part
 * stays as long as it fits. Padded to `width`.
 */
void fit_name(struct strbuf *out, const char *s, size_t width);
/*
 * Too wide a text loses its middle: numbers at the end of names of threads tell these
 * apart. Not padded.
 */
void fit_middle(struct strbuf *out, const char *s, size_t width);
/* Too wide a text loses its end. Not padded. */
void fit_begin(struct strbuf *out, const char *s, size_t n, size_t width);
/* A line of source code as fit_begin(), without its indentation; its tabs become blanks. */
void fit_code(struct strbuf *out, struct strbuf *line, size_t width);

/* Where two columns need more than there is, none gets less than half for it. */
void fit_share(size_t room, size_t *a, size_t *b);

/*
 * Bytes of what stands in single quotes at the start of s, with its marks; 0: nothing
 * does. It ends with a mark before no letter.
 */
size_t fit_quotation(const char *s, size_t n);
/*
 * Appends lines of text; one that is too wide goes on in the next, indented, from
 * a blank on. A word that is too wide stays whole, as do a number with what it
 * counts, and what stands in single quotes: a command is copied as it is.
 */
void fit_lines(struct strbuf *out, const char *text, size_t width);

#endif
