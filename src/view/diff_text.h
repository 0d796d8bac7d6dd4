/* SPDX-License-Identifier: GPL-2.0-only */
/* The screen of `kaa diff`: what changed between recordings (docs/diff.md). */
#ifndef KAA_VIEW_DIFF_TEXT_H
#define KAA_VIEW_DIFF_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "profile/own_diff.h"
#include "profile/profile.h"

/* How the values of a comparison are written. */
struct diff_unit {
	double factor;
	int decimals;
	/* Behind a number, " s"; "" */
	const char *name;
	/* Of the values of a table: "s" */
	const char *table_name;
};

struct diff_text_options {
	/* Of a line of output; at least 60 are used. */
	size_t columns;
	/* The current folder, or NULL. */
	const char *folder;
	/* The recordings as the user named them, those before first. */
	const char *const *paths;
	enum own_diff_by by;
	/* Why it is compared so, a sentence, or NULL. */
	const char *why;
	/* The recordings have more samples than are compared. */
	bool is_filtered;
	/* The comparison is (struct own_diff_options). */
	bool without_libraries;
	/* The tables are of total time (own_diff_sort()). */
	bool by_total;
	/* Rows that changed by less than this percentage of all are left out. */
	double percent_limit;
	/* As many rows as that leaves. */
	bool all_rows;
	/*
	 * Appends a line of a source file as it was when it was recorded, before
	 * or after; nothing where that is not known. May be NULL.
	 */
	void (*source)(void *arg, bool is_after, uint32_t file, uint32_t line,
		       struct strbuf *out);
	/* Appends what is to be said of those files, whole lines. May be NULL. */
	void (*source_notes)(void *arg, struct strbuf *out);
	void *source_arg;
};

/* ERROR_OS: `out` cannot be written. */
struct error *diff_text_write(const struct profile *profile,
			      const struct own_diff *diff,
			      const struct diff_text_options *options,
			      FILE *out);

struct diff_unit diff_text_unit(const struct profile *profile,
				const struct own_diff *diff,
				enum own_diff_by by);
/* "real?", "noise"; "" where nothing is known of it. */
const char *diff_text_mark(const struct own_diff *diff,
			   const struct diff_value *value);
/* Appends what the screen says beside its tables, in lines. options->columns: of each. */
struct error *diff_text_notes(const struct profile *profile,
			      const struct own_diff *diff,
			      const struct diff_text_options *options,
			      struct strbuf *out);

#endif
