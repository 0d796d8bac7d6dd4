/* SPDX-License-Identifier: GPL-2.0-only */
/* Recordings that are compared: they are read into one profile, and measured (docs/diff.md). */
#ifndef KAA_CMD_READING_COMPARED_H
#define KAA_CMD_READING_COMPARED_H

#include "cmd/framework/progress.h"
#include "cmd/reading/diff_sources.h"
#include "cmd/reading/input.h"
#include "export/page_changes.h"
#include "profile/own_diff.h"
#include "profile/profile.h"

/* Zero-initialise the rest; compared_deinit() frees. */
struct compared {
	/* Borrowed: what all recordings are read with, its path excepted. */
	struct input *input;
	struct progress *progress;
	/* --event, --by; NULL: what is most useful. */
	const char *event;
	const char *by_text;
	/* Time in libraries counts for the function that called them. */
	bool without_libraries;
	/* The recordings; those before first. */
	struct input_words paths;
	size_t before;
	/* compared_read(): all of them, and of each the event that is compared. */
	struct profile *profile;
	VEC(uint32_t) events;
	/* compared_measure(). why: a sentence, or NULL if --by says it. */
	enum own_diff_by by;
	const char *why;
	struct diff_sources sources;
	struct own_diff *diff;
};

/* Takes the two words of a command that shows one recording beside another. */
struct error *compared_take(struct compared *compared,
			    const struct arguments *args);
/*
 * After input_prepare(). Warns of what is wrong with a recording. exit_code:
 * cmd/reading/missing.h.
 */
struct error *compared_read(struct compared *compared, int *exit_code);
struct error *compared_measure(struct compared *compared);
/* Of one recording before and one after, for its page; borrows from `compared`. */
struct page_compare compared_page(const struct compared *compared);
void compared_deinit(struct compared *compared);

#endif
