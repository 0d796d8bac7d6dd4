/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Looks for tasks that have come, called exec, or ended since the last look, and
 * tells of them (collect/poll_tell.h).
 *
 * A look at a process with many threads is dear. So its folder of threads and their
 * lists of children are read only if the kernel has given a new number to some task
 * lately, or the number of threads is another one; and of one process so seldom that
 * this takes a twentieth of a CPU at the most (docs/poll.md).
 */
#ifndef KAA_COLLECT_POLL_LOOK_H
#define KAA_COLLECT_POLL_LOOK_H

#include "collect/poll_tasks.h"

/*
 * At all, if the kernel has given a new number since the last call, or is_due: each
 * few ms. Those that have ended go.
 */
void poll_look_at_all(struct poll_tasks *tasks, bool is_due);
/* At one that seems to have called exec. */
void poll_look_at(struct poll_tasks *tasks, struct polled_process *process);

#endif
