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
#include "obj/jit_image.h"
#include "profile/profile.h"
#include "symbolize/dso.h"
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
	/* What the recording is called. */
	const char *path;
	/* When it was last written, s since 1970; 0: not known. */
	int64_t recorded;
	/* Put in front of the paths of files, or NULL. */
	const char *symfs;
	/* The files that code comes from, or NULL: no native annotation. */
	struct dso_store *dsos;
	/*
	 * Fills *ret with code of a JIT compiler, by the path of its dump and
	 * its span, and its name if there are several; false: not known. What
	 * *ret names lives as long as the input. NULL: there is none.
	 */
	bool (*jit_code)(const void *arg, const char *path, uint64_t start,
			 uint64_t end, const char *name,
			 struct jit_image *ret);
	const void *jit_arg;
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
