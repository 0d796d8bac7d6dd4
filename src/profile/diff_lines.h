/* SPDX-License-Identifier: GPL-2.0-only */
/* Which lines of several recordings are one (profile/own_diff.h). */
#ifndef KAA_PROFILE_DIFF_LINES_H
#define KAA_PROFILE_DIFF_LINES_H

#include "base/error.h"
#include "profile/diff_functions.h"
#include "profile/own_diff.h"

/*
 * Fills diff->lines, in no order that means anything, and own_diff_run.line_entries
 * with their places. Where nothing is known of a
 * file, a function whose code has as many lines as before is taken for unchanged:
 * the n-th of them is the n-th before, wherever comments have moved it to. All lines
 * of any other function are one entry. A line is looked for in the functions that its
 * own recording has there.
 *
 * Where a recording does not know all lines of its code (an import), the line as far
 * below the def is the same: diff->by_distance.
 */
struct error *diff_lines_pair(const struct profile *profile,
			      const struct diff_functions *functions,
			      const struct own_diff_options *options,
			      struct own_diff *diff);

#endif
