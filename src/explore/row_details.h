/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is known of the selected row of a report, in lines "name : value". Knows
 * nothing of terminals.
 */
#ifndef KAA_EXPLORE_ROW_DETAILS_H
#define KAA_EXPLORE_ROW_DETAILS_H

#include "base/strbuf.h"
#include "explore/entries.h"

/* The function that the row shows, or its address, or "[unknown]". */
void row_name(const struct entries *entries, struct strbuf *out);
/* There has to be a selected row. */
void row_details(const struct entries *entries, struct strbuf *out);

#endif
