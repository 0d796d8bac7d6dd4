/* SPDX-License-Identifier: GPL-2.0-only */
/* Which lines of several recordings are one (profile/own_diff.h). */
#ifndef KAA_PROFILE_DIFF_LINES_H
#define KAA_PROFILE_DIFF_LINES_H

#include "base/error.h"
#include "profile/diff_functions.h"
#include "profile/own_diff.h"

/*
 * Fills diff->lines, in no order that means anything. Where nothing is known of a
 * file, a function of as many lines as before is taken for unchanged, unless what
 * is defined in it was changed or moved: its lines are those as far below its
 * def. All lines of any other function are one entry.
 */
struct error *diff_lines_pair(const struct profile *profile,
			      const struct diff_functions *functions,
			      const struct own_diff_options *options,
			      struct own_diff *diff);

#endif
