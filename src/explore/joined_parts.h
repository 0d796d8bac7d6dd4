/* SPDX-License-Identifier: GPL-2.0-only */
/* Lambdas and comprehensions in the listing of the function that they stand in. */
#ifndef KAA_EXPLORE_JOINED_PARTS_H
#define KAA_EXPLORE_JOINED_PARTS_H

#include "base/error.h"
#include "explore/listing.h"

/*
 * Their statement is one of another function, whose listing has the same lines with the
 * same time. Where that is among the parts, and these lines are among the hottest of
 * it, it comes at the place of the first of both, and has no line twice.
 */
struct error *joined_parts(struct listing *listing,
			   struct annotate_parts *parts);

#endif
