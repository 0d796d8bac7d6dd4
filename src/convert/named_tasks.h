/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that are asked for by a name. While samples are read, each passes whose
 * thread has the name or the comm, for what other threads there are is not known yet
 * (convert/sample_filter.h). Then it is: a list of threads has their names, and a comm
 * of those without one. So a name that is in the list means the threads that are called
 * so there, and no others that have it as their comm.
 */
#ifndef KAA_CONVERT_NAMED_TASKS_H
#define KAA_CONVERT_NAMED_TASKS_H

#include <stdint.h>

#include "base/error.h"
#include "base/lists.h"
#include "convert/seen_tasks.h"
#include "profile/profile.h"

/* Takes the samples of that recording's other threads out of the profile. */
struct error *named_tasks_keep(struct profile *profile, uint32_t recording,
			       const struct seen_tasks *seen,
			       const struct name_list *names);

#endif
