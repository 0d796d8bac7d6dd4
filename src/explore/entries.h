/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One event's report as a forest for the browser: entries, and below each its
 * call chains, as the text report has them with the same options.
 *
 * The children of an entry are the branches of its chains; a run of steps that
 * is all of the entry stands there step by step. The children of a branch are
 * its further steps and the branches that follow. What the threshold of -g
 * leaves out is one row "[...]" with what it weighs.
 *
 * Percentages are those of the samples that are zoomed into, or (`whole`) of
 * the event.
 *
 * Not thread-safe. Knows nothing of terminals.
 */
#ifndef KAA_EXPLORE_ENTRIES_H
#define KAA_EXPLORE_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "explore/browser.h"
#include "explore/line.h"
#include "explore/zoom.h"
#include "profile/calltree.h"
#include "profile/chains.h"
#include "view/entry_order.h"
#include "view/entry_text.h"
#include "view/report_options.h"

/* browser_node.kind, and what its ref is. */
enum entries_kind {
	/* An entry of the tree. */
	ENTRIES_ENTRY,
	/* One of entries.branches, shown by its first step. */
	ENTRIES_BRANCH,
	/* One of entries.steps. */
	ENTRIES_STEP,
	/* One of entries.branches: what is left out, without steps. */
	ENTRIES_REST,
};

/* A branch of struct chains, kept. */
struct entries_branch {
	uint32_t first_step;
	uint32_t steps;
	/* Index into entries.branches, or BROWSER_NONE. */
	uint32_t first_child;
	uint32_t next;
	uint64_t period;
	uint64_t count;
	/* What 100 % is, and what its children weigh. */
	uint64_t total;
	uint64_t children_period;
	uint64_t children_count;
};

/* What the user may change. */
struct entries_choice {
	struct report_options options;
	struct zooms zooms;
	bool whole;
};

/* What is made of the samples and such a choice. */
struct entries_made {
	uint8_t *keep;
	struct calltree *tree;
	entry_vec order;
	struct entry_text text;
	struct browser browser;
	/* Chains of the entries that were opened. */
	struct chains chains;
	bool has_chains;
	VEC(struct entries_branch) branches;
	/* Locations. */
	VEC(uint32_t) steps;
};

/* It is kept with the options that it was made of, and no zooms. */
struct entries_unzoomed {
	struct report_options options;
	struct entries_made made;
};

struct entries {
	const struct profile *profile;
	/* Settled and arranged; change them by entries_change(). */
	struct report_options options;
	uint32_t event;
	struct zooms zooms;
	bool whole;
	/* Files with their folders, and behind each step of a chain. */
	bool verbose;
	/* Of the window: names before the last give way. 0: any. */
	size_t columns;
	/* Who waits for it, or NULL; borrowed. */
	struct watch *watch;
	/* Of that what the rest was made of. */
	struct entries_choice made_of;
	/* The report without zooms, kept while there are any; or NULL. */
	struct entries_unzoomed *unzoomed;

	/* Made of that. */
	struct locations *locations;
	/* As calltree_options has them, or NULL. */
	uint32_t *parents;
	struct entries_made made;
	/* Samples of the event, zoomed into or not. */
	uint64_t all_period;
	/* What the search calls, as symbol_match_called() has it. */
	uint32_t *searched;
	/* Columns of the longest path of a file. */
	size_t path_width;
	struct strbuf cell;
};

/* The profile, what the options name, and watch are borrowed. */
struct error *entries_create(const struct profile *profile,
			     const struct report_options *options,
			     uint32_t event, struct watch *watch,
			     struct entries **ret);
void entries_destroy(struct entries *entries);

/*
 * Builds all anew after a change of zooms or `whole`, or (places) of options.
 * The selection stays on the entry that it was on, if that is still there.
 * On failure, such as ERROR_INTERRUPTED, all is as it was before the change.
 */
struct error *entries_rebuild(struct entries *entries, bool places);
/* Adds a zoom (taking zoom->text over), and rebuilds. */
struct error *entries_zoom(struct entries *entries, const struct zoom *zoom);
/* Leaves the last zoom, and rebuilds; *left is false if there was none. */
struct error *entries_leave(struct entries *entries, bool *left);

/*
 * For calltree_options.keep, with the entries as arg: the row passes the zooms
 * and the filters of the command line.
 */
bool entries_keep_row(const struct profile *profile, size_t row,
		      const void *arg);

/* The selected row's entry, and where its frame is; BROWSER_NONE: no rows. */
uint32_t entries_selected(const struct entries *entries);
/* False: entries are told apart by other things, such as files or threads. */
bool entries_are_functions(const struct entries *entries);
/* The frame that the selected row shows, or NULL: nothing is known. */
const struct profile_frame *
entries_selected_frame(const struct entries *entries);

/*
 * The zoom into the thread, process or command that the selected row is of;
 * false if its columns do not tell.
 */
bool entries_selected_task(const struct entries *entries, enum zoom_kind kind,
			   struct zoom *ret);

/* --- Text --------------------------------------------------------------- */

/* The names of the columns. */
void entries_titles(const struct entries *entries, struct line *line);
/* A row; line is replaced. */
void entries_row(struct entries *entries, uint32_t node, struct line *line);
/* What is being looked at: event, samples, zooms. */
void entries_title(const struct entries *entries, struct strbuf *out);

#endif
