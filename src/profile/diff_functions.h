/* SPDX-License-Identifier: GPL-2.0-only */
/* Which functions of several recordings are one (profile/own_diff.h). */
#ifndef KAA_PROFILE_DIFF_FUNCTIONS_H
#define KAA_PROFILE_DIFF_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "profile/own_diff.h"

/* Zero-initialise; diff_functions_deinit() frees. */
struct diff_functions {
	/*
	 * Of each run's functions, one run after the other: their row in
	 * own_diff.functions.
	 */
	VEC(size_t) rows;
	/* By run: where its functions begin there. */
	VEC(size_t) starts;
};

void diff_functions_deinit(struct diff_functions *functions);
/* Fills diff->functions, in no order that means anything. */
struct error *diff_functions_pair(const struct profile *profile,
				  struct own_diff *diff,
				  struct diff_functions *ret);

#endif
