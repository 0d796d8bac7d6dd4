/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The proof that a thread does not run while it is read, without stopping it, and
 * that it ran until the caller came: the caller holds the CPU that the thread would
 * run on, and the kernel says how often the thread has got a CPU, and when it lost
 * it. docs/poll.md has the argument.
 *
 * It binds the calling thread to CPUs. Not thread-safe.
 */
#ifndef KAA_COLLECT_POLL_HOLD_H
#define KAA_COLLECT_POLL_HOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "sys/task_stat.h"

struct poll_hold {
	/* The CPU that the caller is bound to; -1: to none yet. */
	int cpu;
	/* The caller's. */
	struct task_files own;
	/* When the caller got its CPU, by that CPU's clock; 0: not known. */
	uint64_t came;
	/* It came later than it had asked for; what a quarter of its ways take, in ns. */
	bool late;
	uint64_t quarter;
	/* Of the thread that is read. */
	const struct task_files *files;
	struct task_stat stat;
	struct task_run before;
	struct task_sched sched;
	/* By poll_hold_asleep(): how often more it got a CPU than it lost one. */
	int64_t lead;
};
#define POLL_HOLD_INIT { .cpu = -1, .own = TASK_FILES_INIT }

enum poll_hold_result {
	/* The caller took its CPU, and it does not run; see poll_hold_end(). */
	POLL_HOLD_STILL,
	/* The same, but later than the caller had asked for. */
	POLL_HOLD_LATE,
	/* It waits for a CPU that another thread had taken. */
	POLL_HOLD_WAITED,
	/* It sleeps: hold->stat.state has how, or that it has ended. */
	POLL_HOLD_ASLEEP,
	/* It was always elsewhere, or may not be followed there. */
	POLL_HOLD_RUNS,
	POLL_HOLD_GONE,
};

/* Of the thread that calls it. False: the kernel does not say enough. */
bool poll_hold_init(struct poll_hold *hold);
void poll_hold_deinit(struct poll_hold *hold);

/* CLOCK_MONOTONIC in ns. */
uint64_t poll_hold_now(void);
/* The caller has got its CPU; asked: when it had asked for one. */
void poll_hold_arrive(struct poll_hold *hold, uint64_t asked);

/* hold->stat is of the thread as it is now. */
enum poll_hold_result poll_hold_begin(struct poll_hold *hold,
				      const struct task_files *files);
/*
 * The same of a thread that may sleep, without going to its CPU: STILL, or LATE if
 * the caller is. RUNS: it does not sleep. least: the least hold->lead of all looks
 * at the thread that poll_hold_end() has proven; 0 before the first.
 */
enum poll_hold_result poll_hold_asleep(struct poll_hold *hold,
				       const struct task_files *files,
				       int64_t least);
/* True: the thread has not run since the call before. *ret: what it ran. */
bool poll_hold_end(struct poll_hold *hold, struct task_run *ret);

#endif
