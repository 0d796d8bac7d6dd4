/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's account of a thread, between samples of time by the clock: for how long it
 * was awake, that is ran, or waited for a CPU where it ran; and so for how long it slept.
 * A wait for a CPU when a sleep is over belongs to the sleep: the thread is where it
 * slept. All times in ns.
 */
#ifndef KAA_COLLECT_POLL_ACCOUNT_H
#define KAA_COLLECT_POLL_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "sys/task_stat.h"

struct poll_account {
	/* As the kernel had it at the last sample. */
	struct task_run told;
	/* How often it had woken; UINT64_MAX: not known. */
	uint64_t woken;
	/*
	 * It was awake behind the tick of that sample, which is taken later; less than
	 * nothing: the sample stands for more than it was.
	 */
	int64_t behind;
	/* For the next sample that shows it awake, and asleep. */
	uint64_t owed_awake;
	uint64_t owed_asleep;
	/* Waits where it ran, and where it had slept, less what samples say of these. */
	int64_t awake_wait;
	int64_t asleep_wait;
	/*
	 * Of the wait in which the last sample was taken: when the thread last ran before
	 * it, task_sched.looked, and how long it was taken to be; 0: it did not wait.
	 */
	uint64_t waits_since;
	uint64_t waits_told;
};

/* From here on it counts. */
void poll_account_begin(struct poll_account *account, const struct task_run *run);
/* It went to sleep so often, as task_sched.sleeps says, and sleeps now or does not. */
uint64_t poll_account_woken(uint64_t sleeps, bool sleeps_now);
/* So long it was awake since the tick of its last sample. */
uint64_t poll_account_awake(const struct poll_account *account,
			    const struct task_run *run, uint64_t woken);
/*
 * It waits since then for a CPU, for so long at most; 0: it does not. Returns how long that
 * is taken to be: all `time` since the last sample, and what was told of the same wait.
 */
uint64_t poll_account_goes_on(struct poll_account *account, uint64_t waits,
			      uint64_t since, uint64_t time);
/*
 * A sample that shows it asleep, or awake, stands for so much of `time`, which is all
 * since the last one, and for what is owed to it. run: up to the sample, with a wait that
 * goes on.
 */
uint64_t poll_account_divide(struct poll_account *account,
			     const struct task_run *run, uint64_t woken,
			     bool sleeps, uint64_t time);
/* A sample stands for all of the time; the account goes on from there. */
void poll_account_pass(struct poll_account *account, const struct task_run *run,
		       uint64_t woken);
/* Nobody is told how long it waited up to there. run: without a wait that goes on. */
void poll_account_drop_waits(struct poll_account *account,
			     const struct task_run *run);
/*
 * How much of a sample's period it is to say that the thread waits for a CPU. The moment
 * alone would say it too often: one that runs when the poller comes late has no sample. So
 * it is said as often as the kernel counts it: all of the period or nothing, while a long
 * one, of a busy machine, may be divided.
 */
uint64_t poll_account_wait(struct poll_account *account, bool sleeps,
			   uint64_t period, bool may_divide);

#endif
