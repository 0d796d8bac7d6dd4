/* SPDX-License-Identifier: GPL-2.0-only */
/* What can be done with a row of the report, as a menu of its view. */
#ifndef KAA_TUI_REPORT_MENU_H
#define KAA_TUI_REPORT_MENU_H

#include <stdbool.h>

#include "base/error.h"
#include "explore/entries.h"
#include "tui/view.h"

/* has_events: there are others than the one that is shown. */
struct error *report_menu(struct ui *ui, struct view *view,
			  const struct entries *entries, bool has_events);

#endif
