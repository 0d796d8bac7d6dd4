// SPDX-License-Identifier: GPL-2.0-only
#include "collect/poll_round.h"

#include <stdint.h>

struct run {
	struct poll_round *round;
	const struct poll_tasks *tasks;
	bool (*look)(void *arg, struct polled_process *process,
		     struct polled_thread *thread);
	void *arg;
};

/* Threads [from, to) of a process. False: the round is over. */
static bool look_at(const struct run *run, size_t number, size_t from,
		    size_t to)
{
	struct polled_process *process = run->tasks->processes.data[number];

	for (size_t i = from; !process->waits && !process->ended && i < to &&
			      i < process->threads.count;
	     i++) {
		if (run->look(run->arg, process, &process->threads.data[i]))
			continue;
		*run->round = (struct poll_round){ number, i + 1 };
		return false;
	}
	return true;
}

void poll_round_run(struct poll_round *round, const struct poll_tasks *tasks,
		    bool (*look)(void *arg, struct polled_process *process,
				 struct polled_thread *thread),
		    void *arg)
{
	const struct run run = { round, tasks, look, arg };
	size_t count = tasks->processes.count;
	struct poll_round first = *round;

	/* Processes may have ended since. */
	if (first.process >= count)
		first = (struct poll_round){};
	*round = (struct poll_round){};
	if (!count || !look_at(&run, first.process, first.thread, SIZE_MAX))
		return;
	for (size_t i = 1; i < count; i++)
		if (!look_at(&run, (first.process + i) % count, 0, SIZE_MAX))
			return;
	(void)look_at(&run, first.process, 0, first.thread);
}
