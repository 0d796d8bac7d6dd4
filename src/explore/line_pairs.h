/* SPDX-License-Identifier: GPL-2.0-only */
/* Which lines of one text stand in another, too, in the same order. */
#ifndef KAA_EXPLORE_LINE_PAIRS_H
#define KAA_EXPLORE_LINE_PAIRS_H

#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "explore/source.h"

/* By line of the first, from 1: the line of the second, or 0. */
struct line_pairs VEC_BODY(uint32_t);

/*
 * As many lines as can be (the longest common subsequence). Where what differs is
 * too long for that, only the equal lines at both ends of the texts.
 */
struct error *line_pairs_find(const struct source *before,
			      const struct source *after,
			      struct line_pairs *ret);

#endif
