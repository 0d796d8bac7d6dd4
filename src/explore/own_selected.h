/* SPDX-License-Identifier: GPL-2.0-only */
/* What the selected row of own time (explore/own_rows.h) is of. */
#ifndef KAA_EXPLORE_OWN_SELECTED_H
#define KAA_EXPLORE_OWN_SELECTED_H

#include <stdbool.h>
#include <stdint.h>

#include "explore/own_rows.h"

/* The selected node, or NULL if there are no rows. */
const struct browser_node *own_selected_node(const struct own_rows *rows);
/*
 * The Python function, line or file of the selected row; NULL: it has none, such
 * as a thread.
 */
const struct own_entry *own_selected_entry(const struct own_rows *rows);
/* The code of the selected row, or NULL. */
const struct own_code *own_selected_code(const struct own_rows *rows);
/* The zoom into the selected row's thread; false: it is of none. */
bool own_selected_thread(const struct own_rows *rows, struct zoom *ret);
/* The zoom into the selected row's function; false: it is of none. */
bool own_selected_function(const struct own_rows *rows, struct zoom *ret);
/* The zoom into the selected row's source file, or that of native code. */
bool own_selected_file(const struct own_rows *rows, struct zoom *ret);
/*
 * The line from which the source of the selected row is looked at: where a
 * caller calls, else the heaviest one of its function or file; 0: not known.
 */
uint32_t own_selected_line(const struct own_rows *rows);

#endif
