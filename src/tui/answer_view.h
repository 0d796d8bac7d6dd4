/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rows of own time (explore/own_rows.h) on the screen: what a report opens
 * with, unless an option asks for the table.
 */
#ifndef KAA_TUI_ANSWER_VIEW_H
#define KAA_TUI_ANSWER_VIEW_H

#include <stdbool.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "explore/own_rows.h"
#include "profile/profile.h"
#include "tui/view.h"

/* What is not in these rows. */
enum answer_wish {
	/* The table, of the same samples. */
	ANSWER_TABLE,
	/* The instructions of a native function. */
	ANSWER_CODE,
	ANSWER_NEXT_EVENT,
	ANSWER_PREVIOUS_EVENT,
};

/* Of a program that runs: its rows are replaced again and again. */
struct answer_live {
	/* At ui->tick_at. *rows: those that are shown from now on. */
	struct error *(*refresh)(void *arg, struct own_rows **rows);
	/* Appends to the beginning of the title. */
	void (*title)(void *arg, struct strbuf *out);
	/* The last line, if there is no message; may set one. */
	const char *(*hint)(void *arg);
	/* Keys of its own. */
	struct error *(*key)(void *arg, uint32_t key, struct own_rows **rows,
			     bool *taken);
	void *arg;
};

struct answer_input {
	/* NULL: a recording. */
	const struct answer_live *live;
	/* Lines, or nothing. */
	const struct strbuf *notes;
	bool has_events;
	/* Its first screen was opened from the table, with so many zooms. */
	bool from_table;
	size_t zooms_before;
	/* code: of ANSWER_CODE. *leave: the rows are left for what was wished. */
	struct error *(*wish)(void *arg, enum answer_wish wish,
			      const struct profile_frame *code, bool *leave);
	void *arg;
};

/* Shows them until the user leaves, or a wish does. */
struct error *answer_view(struct ui *ui, struct own_rows *rows,
			  const struct answer_input *input);

#endif
