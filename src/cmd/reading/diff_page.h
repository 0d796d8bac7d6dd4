/* SPDX-License-Identifier: GPL-2.0-only */
/* What changed between recordings as a flame graph in red and blue. */
#ifndef KAA_CMD_READING_DIFF_PAGE_H
#define KAA_CMD_READING_DIFF_PAGE_H

#include "cmd/reading/flame_file.h"
#include "profile/own_diff.h"
#include "profile/profile.h"

struct diff_page {
	const struct profile *profile;
	const struct own_diff *diff;
	/* The recordings, in the order of their runs; those before first. */
	const char *const *paths;
	size_t before;
	enum own_diff_by by;
	/* As in struct flame_options. */
	bool without_libraries;
	/* The current folder, or NULL. */
	const char *folder;
};

struct error *diff_page_write(const struct diff_page *page,
			      const struct flame_file *file);

#endif
