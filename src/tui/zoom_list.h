/* SPDX-License-Identifier: GPL-2.0-only */
/* A list of threads, processes or commands, one of which the user chooses. */
#ifndef KAA_TUI_ZOOM_LIST_H
#define KAA_TUI_ZOOM_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "explore/zoom.h"
#include "tui/view.h"

/*
 * Of those in the event's rows that pass keep (NULL: all). *chosen is false if
 * the user left it, or is told that there is only one.
 */
struct error *zoom_list(struct ui *ui, uint32_t event, const uint8_t *keep,
			enum zoom_kind kind, struct zoom *ret, bool *chosen);

#endif
