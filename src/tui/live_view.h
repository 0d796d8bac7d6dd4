/* SPDX-License-Identifier: GPL-2.0-only */
/* `kaa top` on a terminal: own time of a program that runs (docs/top.md). */
#ifndef KAA_TUI_LIVE_VIEW_H
#define KAA_TUI_LIVE_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "explore/own_states.h"
#include "profile/profile.h"
#include "tui/tui.h"

struct tui_live_state {
	uint64_t samples;
	/* What is shown is the last. */
	bool has_ended;
	/* "Since the start" lacks the beginning. */
	bool has_forgotten;
};

/* All is borrowed. */
struct tui_live {
	/*
	 * What was recorded in the last `window` ns, 0: all that is kept. Equal
	 * strings have equal handles in all profiles that it makes.
	 */
	struct error *(*snapshot)(void *arg, uint64_t window,
				  struct profile **ret);
	/* What the threads of a snapshot do; names may be added to it. */
	struct error *(*threads)(void *arg, struct profile *profile,
				 struct own_states *ret);
	struct tui_live_state (*state)(void *arg);
	/* Appends what the user should know: how it is recorded, or why it has ended. */
	void (*note)(void *arg, struct strbuf *out);
	/* While there are no samples: appends what its threads wait in, so many lines. */
	void (*waits)(void *arg, size_t lines, size_t columns,
		      struct strbuf *out);
	void *arg;
	/* Between two refreshes. */
	int64_t delay_ms;
	/* To begin with, in ns. */
	uint64_t window;
	/* What the program runs, as far as is known without samples; or NULL. */
	const char *script;
	/* It is one, or some, and not the whole machine. */
	bool is_of_processes;
	/* The current folder, or NULL. */
	const char *folder;
	/* ns since 1970. */
	int64_t began;
};

/*
 * Shows it until the user leaves. *signal: what ended it, or 0; the terminal and the
 * ways to take signals are as before.
 */
struct error *tui_live(const struct tui_live *live, int *signal);

#endif
