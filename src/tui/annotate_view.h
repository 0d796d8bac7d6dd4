/* SPDX-License-Identifier: GPL-2.0-only */
/* A function's lines, or instructions, with what they weigh, on the screen. */
#ifndef KAA_TUI_ANNOTATE_VIEW_H
#define KAA_TUI_ANNOTATE_VIEW_H

#include "base/error.h"
#include "explore/entries.h"
#include "explore/own_rows.h"
#include "profile/profile.h"
#include "tui/view.h"

/*
 * Shows the function of a frame (NULL: nothing is known). What cannot be shown
 * is said in the last line of the view that is left.
 */
struct error *annotate_view(struct ui *ui, const struct entries *entries,
			    const struct profile_frame *frame);
/*
 * Where a source file is looked at, if it is shown again and again with what its lines
 * weigh by then. Zero-initialise.
 */
struct annotate_stay {
	/* ui->tick_at has come: what was shown is old. Else the user has left. */
	bool is_due;
	/* Private. */
	bool is_known;
	size_t selected;
	size_t top;
	size_t shift;
	size_t heat;
	bool is_part;
	int unit;
};

/*
 * Shows the source file of the selected row by own time (annotation_of_file()),
 * from the row's heaviest line on. The same is said if there is none.
 */
struct error *annotate_source(struct ui *ui, const struct own_rows *rows);
/*
 * Shows a source file, a string of the profile, from that line on, and ends when it
 * is due.
 */
struct error *annotate_file(struct ui *ui, const struct own_rows *rows,
			    uint32_t file, uint32_t line,
			    struct annotate_stay *stay);

#endif
