/* SPDX-License-Identifier: GPL-2.0-only */
/* The line above the rows of own time (explore/own_rows.h). */
#ifndef KAA_EXPLORE_OWN_TITLE_H
#define KAA_EXPLORE_OWN_TITLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"
#include "explore/own_rows.h"

/*
 * Appends what was recorded, or what is zoomed into, in so many columns: "orders.py
 * Python 3.13.5   2.66 s CPU in 6.08 s   2,635 samples". Where all of it is no time on
 * a CPU, the title says that percentages are of that. says_keys: where there are
 * several events, it says which one this is, and that Tab shows the others: "off-cpu
 * (Tab: cpu-clock)".
 */
void own_title_put(const struct own_rows *rows, size_t columns, bool says_keys,
		   struct strbuf *out);

#endif
