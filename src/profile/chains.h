/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The call chains of one entry of a call tree, merged and pruned for display.
 *
 * A branch is a run of steps without a fork: a step ends its branch if more
 * than one step follows it, or if a chain ends there. That holds before
 * pruning, so a branch whose only shown child is one of several stays cut.
 *
 * Which chains an entry has, the same as perf:
 *	callee order: from the entry's place (the innermost, of a recursion) to
 *		the outermost frame;
 *	caller order: the whole chain from the outermost frame for samples that
 *		hit the entry; for others from the entry's outermost place down
 *		to the leaf.
 *
 * A struct chains is scratch memory for one entry after the other.
 */
#ifndef KAA_PROFILE_CHAINS_H
#define KAA_PROFILE_CHAINS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "profile/calltree.h"

/* Forks deeper than this are not followed. */
#define CHAINS_MAX_LEVELS 2000

struct chain_branch {
	/* PROFILE_NONE: a branch of the top. */
	uint32_t parent;
	/* Heaviest first, unless chains_options.by_key. */
	uint32_t first_child;
	uint32_t next;
	/* Its steps are chains.steps[first_step ...]. */
	uint32_t first_step;
	uint32_t steps;
	/* Chains that end with the last step. */
	uint64_t hit;
	uint64_t count;
	/* Chains that go on, pruned ones included. */
	uint64_t children_hit;
	uint64_t children_count;
};

struct chains_options {
	/* From the outermost frame to the leaf; else the other way. */
	bool caller_order;
	/* Drop branches lighter than this ... */
	uint64_t min_hit;
	/* ... or, if >= 0, than this part of what their parent goes on with. */
	double min_part;
	/* Siblings by location.chain alone, not by weight. */
	bool by_key;
	/* A step is shown as the location that the first sample had there. */
	bool first_met;
};

/* A node that contributes to a step, with its weight in it. */
struct chain_item {
	uint32_t node;
	/* enum in chains.c */
	uint32_t kind;
	/* First sample row of those. */
	uint32_t row;
	uint64_t period;
	uint64_t count;
};

/* What is used of a node again and again, close together. */
struct chain_node {
	uint32_t parent;
	uint32_t first_child;
	uint32_t next_sibling;
	/* location.chain */
	uint32_t key;
};

struct chain_weight {
	uint64_t period;
	uint64_t count;
	/* First sample row, if there is one. */
	uint32_t row;
};

struct chain_group {
	uint32_t key;
	/* Of the location. */
	uint32_t name_rank;
	bool is_inlined;
	uint32_t first;
	uint32_t count;
	uint64_t period;
	uint64_t samples;
};

struct chains {
	VEC(struct chain_branch) branches;
	/* Locations. */
	VEC(uint32_t) steps;
	/* Heaviest branch of the top, or PROFILE_NONE. */
	uint32_t first;
	/* All chains of the entry. */
	uint64_t hit;
	uint64_t count;
	/* Since chains_init(): some branch was too light to be among them. */
	bool left_out;

	/* Scratch. */
	const struct calltree *tree;
	struct chains_options options;
	VEC(struct chain_item) items;
	VEC(struct chain_group) groups;
	/* Keys and places of items being sorted, and the items as they were. */
	VEC(uint64_t) order;
	VEC(struct chain_item) unsorted;
	/* Of each node: itself, its samples, and those that hit the entry. */
	struct chain_node *nodes;
	struct chain_weight *all;
	struct chain_weight *hits;
	VEC(uint32_t) touched;
};

/* tree is borrowed until chains_deinit(). */
struct error *chains_init(struct chains *chains, const struct calltree *tree);
void chains_deinit(struct chains *chains);
/* Replaces the chains by those of tree->entries[entry]. */
struct error *chains_build(struct chains *chains, uint32_t entry,
			   const struct chains_options *options);

/* Weight of a branch with all that goes on from it. */
static inline uint64_t chain_branch_hits(const struct chain_branch *branch)
{
	return branch->hit + branch->children_hit;
}

static inline uint64_t chain_branch_counts(const struct chain_branch *branch)
{
	return branch->count + branch->children_count;
}

#endif
