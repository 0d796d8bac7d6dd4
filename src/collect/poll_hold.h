/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The proof that a thread does not run while it is read, without stopping it:
 * the caller holds the CPU that the thread would run on, and the kernel counts how
 * often the thread gets one. docs/poll.md has the argument.
 *
 * It binds the calling thread to CPUs. Not thread-safe.
 */
#ifndef KAA_COLLECT_POLL_HOLD_H
#define KAA_COLLECT_POLL_HOLD_H

#include <stdbool.h>

#include "sys/task_stat.h"

struct poll_hold {
	/* The CPU that the caller is bound to; -1: to none yet. */
	int cpu;
	/* Of the thread that is read. */
	const struct task_files *files;
	struct task_stat stat;
	struct task_run before;
};
#define POLL_HOLD_INIT { .cpu = -1 }

enum poll_hold_result {
	/* It does not run; poll_hold_end() tells whether that stayed so. */
	POLL_HOLD_STILL,
	/* It sleeps: hold->stat.state has how, or that it has ended. */
	POLL_HOLD_ASLEEP,
	/* It was always elsewhere, or may not be followed there. */
	POLL_HOLD_RUNS,
	POLL_HOLD_GONE,
};

/* hold->stat is of the thread as it is now. */
enum poll_hold_result poll_hold_begin(struct poll_hold *hold,
				      const struct task_files *files);
/* True: the thread has not run since poll_hold_begin(). *ret: what it ran. */
bool poll_hold_end(struct poll_hold *hold, struct task_run *ret);

#endif
