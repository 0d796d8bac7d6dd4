/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The order in which the threads of a tick are looked at: all of them once. A tick
 * may be over at one of them. The next one begins behind it: else those that stand
 * last would have none as long as that thread works.
 */
#ifndef KAA_COLLECT_POLL_ROUND_H
#define KAA_COLLECT_POLL_ROUND_H

#include <stdbool.h>
#include <stddef.h>

#include "collect/poll_tasks.h"

/* Where a round begins. Zero-initialise. */
struct poll_round {
	size_t process;
	size_t thread;
};

/*
 * Calls `look` for each thread of each process that does not wait and has not ended.
 * It may bring or take threads of its process; false ends the round.
 */
void poll_round_run(struct poll_round *round, const struct poll_tasks *tasks,
		    bool (*look)(void *arg, struct polled_process *process,
				 struct polled_thread *thread),
		    void *arg);

#endif
