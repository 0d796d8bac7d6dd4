/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The samples of one event as functions that call each other, for formats that
 * know no stacks: what each place weighs itself, what each function weighs with
 * all that it calls, and what each call weighs.
 *
 * A sample counts once for the total of a function, however often that is in its
 * stack, and for one call out of it: that of its innermost place, none if it is
 * the leaf. So the total of a function is its own weight and that of its calls.
 *
 * Where functions call themselves through others, calls into one may weigh more
 * than it. With `levels` a function within itself is another one, its number
 * that of the function plus the number of all functions, and so is its place:
 * then a function that is not within itself weighs what calls into it weigh,
 * `roots` included. A call of such a function counts whatever calls it, so calls
 * out of one within itself may weigh more than it.
 */
#ifndef KAA_EXPORT_CALLS_H
#define KAA_EXPORT_CALLS_H

#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "export/groups.h"

struct export_weight {
	uint64_t samples;
	uint64_t weight;
};

struct export_call {
	/* Where the caller calls, and the function that it calls. */
	uint32_t place;
	uint32_t callee;
	struct export_weight all;
	/* What the callee weighs itself below this caller. */
	struct export_weight own;
};

struct export_calls {
	/* By place. */
	struct export_weight *own;
	/* By function. */
	struct export_weight *total;
	/* The same of stacks whose outermost function it is. */
	struct export_weight *roots;
	/* By place, then by callee. */
	VEC(struct export_call) all;
	/* Private. */
	const struct export_stacks *stacks;
	bool levels;
	struct map index;
	uint32_t *seen;
	uint32_t stamp;
	/* A stack's places, the leaf first. */
	VEC(uint32_t) steps;
};

/* Of the groups [first, end), which are of one event. */
struct error *export_calls_create(struct export_groups *groups, size_t first,
				  size_t end, bool levels,
				  struct export_calls **ret);
void export_calls_destroy(struct export_calls *calls);
DEFINE_CLEANUP(export_calls, struct export_calls *, export_calls_destroy);
#define _cleanup_export_calls_ _cleanup_(cleanup_export_calls_)

#endif
