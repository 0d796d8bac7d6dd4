/* SPDX-License-Identifier: GPL-2.0-only */
/* The instructions of the hottest functions in C, as columns of a page. */
#ifndef KAA_EXPORT_PAGE_CODE_H
#define KAA_EXPORT_PAGE_CODE_H

#include "explore/code.h"
#include "export/groups.h"
#include "export/page_columns.h"

/* By number: ui/src/data.ts has the same. */
enum page_code_row {
	PAGE_CODE_INSTRUCTION,
	/* So many rows that no sample hit are left out. */
	PAGE_CODE_GAP,
};

/*
 * Adds code.*, row.* and hit.*: what kaa annotate shows of these functions, of all
 * samples of the groups; and stack.code, by the numbers of page_stacks_add(). All
 * is borrowed. places NULL: of no function. How much of it there may be, and how
 * long it may take, docs/page.md says.
 */
struct error *page_code_add(const struct export_groups *groups,
			    const uint32_t *numbers,
			    const struct code_places *places,
			    struct page_columns *columns);

#endif
