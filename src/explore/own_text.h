/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rows of own time (explore/own_rows.h) as text, in lines of a given width.
 *
 * Where there is little room, a place loses its beginning, then what own time was
 * spent in its end, then a name its middle (fit_name()). From 60 columns on no column
 * is left out, but for rows that would look alike; below, what own time was spent in
 * is left out first, then total.
 */
#ifndef KAA_EXPLORE_OWN_TEXT_H
#define KAA_EXPLORE_OWN_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "explore/line.h"
#include "explore/own_rows.h"

/* Above the rows: what all of it was spent in, or the names of the columns. */
void own_text_head(struct own_rows *rows, size_t columns, struct line *line);
/* A row; line is replaced. */
void own_text_row(struct own_rows *rows, uint32_t node, size_t columns,
		  struct line *line);
/*
 * The names of a row, if the row has not all of them in so many columns, in the
 * overview but for folders; nothing otherwise. room: of `out`, which is empty.
 */
void own_text_cut(struct own_rows *rows, uint32_t node, size_t columns,
		  size_t room, struct strbuf *out);
/* The row's names in full and its weights, in lines; not of headings. */
void own_text_details(const struct own_rows *rows,
		      const struct browser_node *node, struct strbuf *out);
/* What a search looks at: names, no numbers. */
void own_text_names(const struct own_rows *rows,
		    const struct browser_node *node, struct strbuf *out);

#endif
