/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The samples of one event as a tree of calls, and the table of its entries.
 *
 * There is one tree for each context: the parts of the entry key that concern
 * the whole sample (comm, thread, ...). Nodes run from the outermost frame to
 * the leaf; siblings are distinct locations. An entry is a context and a place
 * (location.entry), with all the nodes at that place.
 *
 * Rules, the same as perf's: a sample counts once for each distinct entry of
 * its chain, recursion included, and for the leaf's entry as self.
 */
#ifndef KAA_PROFILE_CALLTREE_H
#define KAA_PROFILE_CALLTREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "profile/location.h"
#include "profile/profile.h"

enum context_key {
	CONTEXT_COMM = 1 << 0,
	CONTEXT_PID = 1 << 1,
	CONTEXT_TID = 1 << 2,
	CONTEXT_CPU = 1 << 3,
	CONTEXT_PARENT = 1 << 4,
	CONTEXT_TIME = 1 << 5,
	/* profile_task_name() */
	CONTEXT_THREAD_NAME = 1 << 6,
};

struct calltree_options {
	uint32_t event;
	/* enum context_key */
	unsigned int context_keys;
	/*
	 * With CONTEXT_PARENT: by stack of the profile, and one more for
	 * PROFILE_NONE, a string or PROFILE_NONE. Borrowed.
	 */
	const uint32_t *parents;
	/* With CONTEXT_TIME: ns; samples of one of these are together. */
	uint64_t time_quantum;
	/*
	 * A sample counts for an entry as often as the entry is in its chain,
	 * and once more if it was hit: perf's way with CONTEXT_TIME.
	 */
	bool count_each;
	/* Callers have entries, too; else only what samples hit. */
	bool children;
	/*
	 * Rows for which this is false are as if they were not there. NULL: all
	 * rows are.
	 */
	bool (*select)(const struct profile *profile, size_t row,
		       const void *arg);
	const void *select_arg;
	/*
	 * Rows for which this is false count for the totals only, or are in
	 * contexts of their own that are `hidden`, if those are kept. NULL: all
	 * rows have entries.
	 */
	bool (*keep)(const struct profile *profile, size_t row,
		     const void *arg);
	const void *keep_arg;
	bool keep_hidden;
};

struct calltree_node {
	/* Handle above the parent's; PROFILE_NONE for an outermost frame. */
	uint32_t parent;
	uint32_t first_child;
	uint32_t next_sibling;
	uint32_t location;
	uint32_t context;
	/* Number of frames from the outermost to this one. */
	uint32_t depth;
	/* Depth of the deepest leaf at or below this node. */
	uint32_t leaf_depth;
	/* Nearest node above at the same place; PROFILE_NONE: none. */
	uint32_t outer;
	/* Next node of the entry; next node of the entry that was hit. */
	uint32_t next_in_entry;
	uint32_t next_self;
	/* First sample row that hit this node; that passed through it. */
	uint32_t self_row;
	uint32_t row;
	/* Samples that hit this node. */
	uint64_t self_period;
	uint64_t self_count;
	/* Samples that hit this node or one below. */
	uint64_t period;
	uint64_t count;
	/*
	 * The same without those below a node further down at the same place:
	 * samples whose innermost step at this place is this node.
	 */
	uint64_t inner_period;
	uint64_t inner_count;
};

struct calltree_context {
	uint32_t task;
	int32_t cpu;
	/* PROFILE_NONE and 0 unless they are keys. */
	uint32_t parent;
	uint64_t time;
	bool hidden;
	uint32_t first_root;
};

struct calltree_entry {
	uint32_t context;
	/* As location.entry, or location.self of a place hit. */
	uint32_t place;
	/* A location at this place, the first seen. */
	uint32_t location;
	/* Nodes at this place, linked by next_in_entry. */
	uint32_t first_node;
	/* Nodes hit at this place, linked by next_self. */
	uint32_t first_self;
	/* First sample row that counts for the entry; that hit it. */
	uint32_t row;
	uint32_t self_row;
	/* Depth of the outermost node that `row` passed through; 0: none. */
	uint32_t row_depth;
	/* Not by this event, but by another of its group (event_group.h). */
	bool hit_elsewhere;
	/* Frames of the longest chain from the entry down; from it up. */
	uint32_t depth_down;
	uint32_t depth_up;
	uint64_t self_period;
	uint64_t self_count;
	/* With callees; equal to self_period without options.children. */
	uint64_t period;
};

struct calltree {
	const struct profile *profile;
	const struct locations *locations;
	struct calltree_options options;
	VEC(struct calltree_node) nodes;
	VEC(struct calltree_context) contexts;
	VEC(struct calltree_entry) entries;
	/* Some entries are several that locations->groups made one. */
	bool grouped;
	/* All samples of the event that are selected, whether kept or not. */
	uint64_t period;
	uint64_t count;
	/*
	 * What rows are percentages of, and what call graphs' thresholds are.
	 * Both start as period, and are the view's to change.
	 */
	uint64_t shown_period;
	uint64_t graph_period;
	/* The events that its table is of, too; borrowed, NULL: none. */
	const struct event_group *group;
};

/* profile and locations are borrowed for the tree's life. */
struct error *calltree_create(const struct profile *profile,
			      const struct locations *locations,
			      const struct calltree_options *options,
			      struct calltree **ret);
void calltree_destroy(struct calltree *tree);
DEFINE_CLEANUP(calltree, struct calltree *, calltree_destroy);
#define _cleanup_calltree_ _cleanup_(cleanup_calltree_)

/* Whether contexts are one, of trees of one profile with equal options. */
uint64_t calltree_context_hash(const struct calltree *tree,
			       const struct calltree_context *context);
bool calltree_context_equal(const struct calltree *tree,
			    const struct calltree_context *x,
			    const struct calltree_context *y);

static inline const struct location *
calltree_location(const struct calltree *tree, uint32_t node)
{
	return &tree->locations->all.data[tree->nodes.data[node].location];
}

#endif
