/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of a report: its columns, their widths, and a line an entry.
 */
#ifndef KAA_VIEW_ENTRY_TEXT_H
#define KAA_VIEW_ENTRY_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "profile/calltree.h"
#include "view/entry_order.h"
#include "view/report_options.h"

struct entry_text {
	const struct calltree *tree;
	const struct report_options *options;
	/* From left to right, without those that a filter fixes. */
	struct report_columns columns;
	/* By key: what -w says, else what the entries need. */
	size_t widths[REPORT_KEYS];
	/* By column: what -w says; 0: nothing. */
	size_t asked[REPORT_KEYS + REPORT_FIELD_KEY];
	/* tid -> the comm that the thread had last. */
	struct map comms;
	/* Scratch: one column's text. */
	struct strbuf cell;
};

/* The widths are those that `entries` need. All is borrowed. */
struct error *entry_text_init(struct entry_text *text,
			      const struct calltree *tree,
			      const struct report_options *options,
			      const entry_vec *entries);
void entry_text_deinit(struct entry_text *text);
/* The names of the columns, and a line of dots. */
void entry_text_header(const struct entry_text *text, struct strbuf *out);
/* One line. */
void entry_text_row(struct entry_text *text, uint32_t entry,
		    struct strbuf *out);
/*
 * What stands in one column, of the titles and of an entry, unaligned; for
 * views that align by themselves. column is an index into text->columns.list.
 */
const char *entry_text_title(const struct entry_text *text, size_t column);
void entry_text_cell(struct entry_text *text, uint32_t entry, size_t column,
		     struct strbuf *out);

#endif
