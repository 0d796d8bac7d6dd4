/* SPDX-License-Identifier: GPL-2.0-only */
/* The report of all events on the screen: entries, zooms, what they lead to. */
#ifndef KAA_TUI_REPORT_VIEW_H
#define KAA_TUI_REPORT_VIEW_H

#include "base/error.h"
#include "tui/view.h"

/* Shows it until the user leaves. */
struct error *report_view(struct ui *ui);

#endif
