// SPDX-License-Identifier: GPL-2.0-only
#include "collect/poll_hold.h"

#include <sched.h>

enum {
	/* Times that the thread is followed to another CPU. */
	FOLLOW = 3,
};

static bool bind_to(struct poll_hold *hold, int cpu)
{
	cpu_set_t *set = CPU_ALLOC((size_t)cpu + 1);
	size_t size = CPU_ALLOC_SIZE((size_t)cpu + 1);
	bool done;

	if (!set)
		return false;
	CPU_ZERO_S(size, set);
	CPU_SET_S((size_t)cpu, size, set);
	done = !sched_setaffinity(0, size, set);
	CPU_FREE(set);
	if (done)
		hold->cpu = cpu;
	return done;
}

/*
 * The count first, and then where the thread is: whoever gets a CPU after that
 * is counted. Memory is read behind both.
 */
static bool look(struct poll_hold *hold)
{
	return task_files_run(hold->files, &hold->before) &&
	       task_files_stat(hold->files, &hold->stat);
}

enum poll_hold_result poll_hold_begin(struct poll_hold *hold,
				      const struct task_files *files)
{
	hold->files = files;
	for (int i = 0; i <= FOLLOW; i++) {
		if (!look(hold))
			return POLL_HOLD_GONE;
		if (hold->stat.state != 'R')
			return POLL_HOLD_ASLEEP;
		if (hold->stat.cpu == hold->cpu && hold->before.slices)
			return POLL_HOLD_STILL;
		if (!bind_to(hold, hold->stat.cpu))
			break;
	}
	return POLL_HOLD_RUNS;
}

bool poll_hold_end(struct poll_hold *hold, struct task_run *ret)
{
	return task_files_run(hold->files, ret) &&
	       ret->slices == hold->before.slices;
}
