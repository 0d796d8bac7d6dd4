/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions, files, places and stacks as columns of a page. */
#ifndef KAA_EXPORT_PAGE_STACKS_H
#define KAA_EXPORT_PAGE_STACKS_H

#include "base/map.h"
#include "export/page_columns.h"
#include "export/stacks.h"

/*
 * Adds file.*, function.*, frame.* and stack.*. same_files: files that are others at
 * another path (view/place_name.h), or NULL. The stacks are renumbered: each is
 * followed by those that it calls, so that its depth tells its caller.
 * ret_numbers: of each node of `stacks` its number in the page; to be freed.
 */
struct error *page_stacks_add(const struct export_stacks *stacks,
			      const char *folder, const struct map *same_files,
			      struct page_columns *columns,
			      uint32_t **ret_numbers);

#endif
