/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A profile that is filled for long: what is in it of the last seconds, and how
 * it forgets what is older. Its rows stand in the order of their times.
 */
#ifndef KAA_PROFILE_PROFILE_WINDOW_H
#define KAA_PROFILE_PROFILE_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/profile.h"

/* The first row from which on no row is before that time. */
size_t profile_first_row(const struct profile *profile, uint64_t time);

/*
 * The rows from `first` on as a profile of its own, with the stacks that they
 * have. All other handles mean the same as in the profile that it is made of,
 * whose strings it borrows: it must not outlive that one. Its recordings have
 * no metadata and no faults. It may be filled on.
 */
struct error *profile_window(const struct profile *profile, size_t first,
			     struct profile **ret);

/*
 * Forgets the rows before `first`, and stacks that no other row has. Handles of
 * stacks change, all others stay. After a failure all is as it was.
 */
struct error *profile_forget(struct profile *profile, size_t first);

/* Drops the rows of tasks for which keep[], by task, is false. Handles stay as they are. */
void profile_keep_tasks(struct profile *profile, const bool *keep);

#endif
