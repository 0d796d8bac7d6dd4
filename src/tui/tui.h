/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interactive report: `kaa report` on a terminal. docs/tui.md is its
 * description.
 */
#ifndef KAA_TUI_TUI_H
#define KAA_TUI_TUI_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "explore/code.h"
#include "profile/profile.h"
#include "view/report_options.h"

/* All is borrowed. */
struct tui_input {
	/* May be aggregated. */
	const struct profile *profile;
	const struct report_options *options;
	/*
	 * The event whose answer (view/answer.h) it opens with; PROFILE_NONE: it
	 * opens with the table.
	 */
	uint32_t answer_event;
	/* The current folder, or NULL. */
	const char *folder;
	/* The profile has not all samples of its recordings. */
	bool is_filtered;
	/* The answer begins in the order of total time. */
	bool by_total;
	/* See struct answer_options. */
	bool without_libraries;
	/* What the recording is called. */
	const char *path;
	/* When it was last written, s since 1970; 0: not known. */
	int64_t recorded;
	/* Put in front of the paths of files, or NULL. */
	const char *symfs;
	/* Where native code comes from. Without its files: no native annotation. */
	struct code_places code;
	/* What else is wrong with the recording, in lines; or NULL. */
	const char *damage;
};

/* True if there is a terminal to show it on. */
bool tui_possible(void);

/*
 * Shows the report until the user leaves. *signal: what ended it, or 0; the
 * terminal and the ways to take signals are as before.
 * ERROR_UNSUPPORTED if there is no terminal for it.
 */
struct error *tui_report(const struct tui_input *input, int *signal);

#endif
