/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One table for events that were counted as a group.
 *
 * It is that of the first event, the leader: an entry that others have, too, has
 * beside it what it weighs there. Entries that the leader lacks are added to its
 * tree, with no weight and no chains of their own.
 */
#ifndef KAA_PROFILE_EVENT_GROUP_H
#define KAA_PROFILE_EVENT_GROUP_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "profile/calltree.h"

/* As in struct calltree_entry. */
struct event_weight {
	uint64_t period;
	uint64_t self_period;
	uint64_t self_count;
};

/* Zero-initialise; push the others' trees, which it owns then. */
struct event_group {
	VEC(struct calltree *) others;
	/* Of an entry of the leader's tree, others.count each. */
	struct event_weight *weights;
	/* Entries of the leader itself; the rest were added. */
	size_t own_entries;
};

/*
 * Joins the others to the leader's tree, whose `group` is this one from then on.
 * All trees are of one profile, with equal locations and options but the event.
 */
struct error *event_group_join(struct event_group *group,
			       struct calltree *leader);
void event_group_deinit(struct event_group *group);

/* Events that the tree's table is of. */
static inline size_t event_group_events(const struct calltree *tree)
{
	return 1 + (tree->group ? tree->group->others.count : 0);
}

/* The tree, or that of another event of its group; 0 is its own. */
static inline const struct calltree *
event_group_tree(const struct calltree *tree, size_t event)
{
	return event ? tree->group->others.data[event - 1] : tree;
}

/* What an entry weighs in one of the events. */
struct event_weight event_group_weight(const struct calltree *tree,
				       const struct calltree_entry *entry,
				       size_t event);

#endif
