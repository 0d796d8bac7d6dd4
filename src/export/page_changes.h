/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What changed since another recording, as columns of a page (docs/page.md). The
 * profile has both recordings: the one before is 0, and the page is of 1.
 */
#ifndef KAA_EXPORT_PAGE_CHANGES_H
#define KAA_EXPORT_PAGE_CHANGES_H

#include "export/page_columns.h"
#include "export/stacks.h"
#include "profile/own_diff.h"

enum { PAGE_BEFORE, PAGE_AFTER, PAGE_SIDES };

struct page_compare {
	/* Of one recording before, and one after. */
	const struct own_diff *diff;
	enum own_diff_by by;
	/* A sentence, or NULL (view/diff_text.h). */
	const char *why;
	/* As the user named the recordings. */
	const char *paths[PAGE_SIDES];
};

/*
 * Adds change.*, line.*, before.*, compare and compare.*, and of functions and frames what they are
 * compared as; numbers: page_stacks_add().
 */
struct error *page_changes_add(const struct export_stacks *stacks,
			       const uint32_t *numbers,
			       const struct page_compare *compare,
			       struct page_columns *columns);

#endif
