/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The source files of a page, as they are now. A recording may name any file, and
 * a page may be sent to others: a file is taken only if it is the one that
 * ran (explore/source_proof.h), and each function that was recorded in it stands where
 * the recording says.
 */
#ifndef KAA_EXPORT_PAGE_SOURCE_H
#define KAA_EXPORT_PAGE_SOURCE_H

#include "export/page_columns.h"
#include "export/stacks.h"

/* By number: ui/src/data.ts has the same. */
enum page_source {
	/* The recording names no file. */
	PAGE_SOURCE_NONE,
	PAGE_SOURCE_THERE,
	/* It cannot be read, or there is none of that name. */
	PAGE_SOURCE_MISSING,
	/* It was changed after the recording. */
	PAGE_SOURCE_CHANGED,
	/* The functions that were recorded are not in it. */
	PAGE_SOURCE_OTHER,
	/* There is no more room. */
	PAGE_SOURCE_LARGE,
	/* It is of another recording, that this one is compared with. */
	PAGE_SOURCE_BEFORE,
};

/* Which functions are meant. */
struct page_source_of {
	/* Their recording; PROFILE_NONE: all. */
	uint32_t recording;
	/* By function of the stacks; NULL: all. */
	const bool *functions;
	/* In front of paths, or NULL. */
	const char *symfs;
};

/* Adds source.state, source.end and source.bytes, of each file. */
struct error *page_source_add(const struct export_stacks *stacks,
			      const struct page_source_of *of,
			      struct page_columns *columns);

#endif
