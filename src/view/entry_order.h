/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which entries of a call tree a report shows, and in which order.
 *
 * By weight, then (with call chains, entries of the same thread) the one that
 * is further out, then by self weight, then by the keys' texts. That is perf's
 * order. It is not transitive: entries of two threads are not compared by
 * depth. So, as in perf, the result is what insertion into a red-black tree
 * gives, entry by entry in the order of the keys; and since perf's order by
 * address is not transitive either, that order comes from a tree as well.
 * Entries that perf's filters hide are in its trees, too, before all others:
 * what is compared with what depends on them.
 */
#ifndef KAA_VIEW_ENTRY_ORDER_H
#define KAA_VIEW_ENTRY_ORDER_H

#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "base/watch.h"
#include "profile/calltree.h"
#include "profile/event_group.h"
#include "view/report_options.h"

/* Indices into tree->entries. */
typedef VEC(uint32_t) entry_vec;

/* What entry_keep_row() takes as its argument; borrowed. */
struct entry_filter {
	const struct report_options *options;
	const struct locations *locations;
	/* As calltree_options has them. */
	const uint32_t *parents;
};

/*
 * For calltree_options.keep: the filters that look at whole samples. These are
 * --comms, --exclude-other, and if entries are not told apart by symbol, the filters by DSO and
 * symbol, of the leaf.
 */
bool entry_keep_row(const struct profile *profile, size_t row, const void *arg);

/*
 * Entries that pass the other filters, heaviest first, appended to *ret; none
 * of hidden contexts. watch may be NULL.
 */
struct error *entry_order(const struct calltree *tree,
			  const struct report_options *options,
			  struct watch *watch, entry_vec *ret);

/*
 * The frame that stands for an entry, or NULL: nothing is known about it. Valid
 * as long as the profile.
 */
const struct profile_frame *entry_frame(const struct calltree *tree,
					const struct calltree_entry *entry);
/* Its address, as the options want it, for an entry without a symbol. */
uint64_t entry_address(const struct calltree *tree,
		       const struct report_options *options,
		       const struct calltree_entry *entry);
/* What a column of numbers shows. */
uint64_t entry_field(const struct event_weight *weight,
		     enum report_field field);
const struct profile_task *entry_task(const struct calltree *tree,
				      const struct calltree_entry *entry);

#endif
