/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What samples may say of each task of a loop: no more time than it is known to live.
 * Where a look reads only some of the tasks they stand for all, and a look that stands
 * for long would give those more than they lived. So each has an account: the time since
 * it was read first, less what samples have said of it, running or waiting. What a look
 * gives beyond that is of tasks that nobody reads, and is told without a name
 * (docs/async.md).
 *
 * Times are in ns, of the clock of records. Zero-initialise to start. One thread.
 */
#ifndef KAA_COLLECT_TASK_TIMES_H
#define KAA_COLLECT_TASK_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "collect/poll_parts.h"

enum {
	/* Accounts and names: as many as a list has tasks at most. */
	TASK_TIMES_MAX = 1 << 16,
};

struct task_times {
	/*
	 * By task, up to when samples stand for it. Tasks that have ended are not told
	 * from others: when `now` is full it becomes `before`, and the one before goes.
	 */
	struct map now;
	struct map before;
	/* By name the task that has it; UINT64_MAX: several have it, or had it. */
	struct map names;
};

void task_times_deinit(struct task_times *times);

/* A task is its name, its coroutine, and its place: one that comes later to that is another. */
uint64_t task_times_key(const char *name, uint64_t coroutine, uint64_t address);

/* A look reads a task of that name. True: another one has it, too, or had it. */
bool task_times_note_name(struct task_times *times, uint64_t name, uint64_t task);
/* The look is over: tasks stand for others of their name where there are several. */
void task_times_settle_names(const struct task_times *times,
			     struct poll_parts *parts);

/*
 * Gives each part its tasks_ns of the time for which a look at them stands, `waits` for
 * each task that waits, and `runs` for the one that runs: in all as much as their shares.
 * In proportion to their accounts, so that each comes to the time that it lives. The
 * times may be a guess, and parts->until is not.
 */
void task_times_divide(struct task_times *times, struct poll_parts *parts,
		       uint64_t runs, uint64_t waits);

#endif
