// SPDX-License-Identifier: GPL-2.0-only
#include "collect/poll_hold.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

enum {
	/* Times that the thread is followed to another CPU. */
	FOLLOW = 3,
	/* Who comes later than that may have come when the scheduler liked ... */
	LATE_MIN_NS = 50000,
	/* ... but some machines are slow: twice what a quarter of arrivals take. */
	LATE_MAX_NS = 200000,
	QUARTER_STEP_NS = 200,
};

uint64_t poll_hold_now(void)
{
	return (uint64_t)clock_ns(CLOCK_MONOTONIC);
}

bool poll_hold_init(struct poll_hold *hold)
{
	struct task_sched sched;

	*hold = (struct poll_hold)POLL_HOLD_INIT;
	return task_files_open("", getpid(), (pid_t)syscall(SYS_gettid),
			       &hold->own) &&
	       task_files_sched(&hold->own, &sched);
}

void poll_hold_deinit(struct poll_hold *hold)
{
	task_files_close(&hold->own);
}

/* One of four arrivals takes less: it goes down by three steps, else up by one. */
static uint64_t late_after(struct poll_hold *hold, uint64_t took)
{
	uint64_t limit = 2 * hold->quarter;

	if (took > hold->quarter)
		hold->quarter += QUARTER_STEP_NS;
	else if (hold->quarter > 3 * QUARTER_STEP_NS)
		hold->quarter -= 3 * QUARTER_STEP_NS;
	if (hold->quarter > LATE_MAX_NS)
		hold->quarter = LATE_MAX_NS;
	if (limit < LATE_MIN_NS)
		return LATE_MIN_NS;
	return limit < LATE_MAX_NS ? limit : LATE_MAX_NS;
}

void poll_hold_arrive(struct poll_hold *hold, uint64_t asked)
{
	uint64_t now = poll_hold_now(), took = now > asked ? now - asked : 0;
	struct task_sched sched = {};

	(void)task_files_sched(&hold->own, &sched);
	hold->came = sched.looked;
	hold->late = took > late_after(hold, took);
}

static bool bind_to(struct poll_hold *hold, int cpu)
{
	cpu_set_t *set = CPU_ALLOC((size_t)cpu + 1);
	size_t size = CPU_ALLOC_SIZE((size_t)cpu + 1);
	uint64_t asked = poll_hold_now();
	bool done;

	if (!set)
		return false;
	CPU_ZERO_S(size, set);
	CPU_SET_S((size_t)cpu, size, set);
	done = !sched_setaffinity(0, size, set);
	CPU_FREE(set);
	if (!done)
		return false;
	hold->cpu = cpu;
	poll_hold_arrive(hold, asked);
	return true;
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

/* The switch that took the CPU from the thread gave it to the caller. */
static enum poll_hold_result how_it_waits(struct poll_hold *hold)
{
	if (!task_files_sched(hold->files, &hold->sched))
		return POLL_HOLD_GONE;
	if (!hold->came || hold->sched.looked != hold->came)
		return POLL_HOLD_WAITED;
	return hold->late ? POLL_HOLD_LATE : POLL_HOLD_STILL;
}

/*
 * The state alone does not tell: a thread that is about to sleep has it while it
 * runs, and may think better of it. One that runs got a CPU once more than it lost
 * one; the kernel leaves out some of the former.
 */
enum poll_hold_result poll_hold_asleep(struct poll_hold *hold,
				       const struct task_files *files,
				       int64_t least)
{
	hold->files = files;
	if (!look(hold) || !task_files_sched(files, &hold->sched))
		return POLL_HOLD_GONE;
	if (hold->stat.state == 'Z' || hold->stat.state == 'X')
		return POLL_HOLD_GONE;
	/* Of one that has run between these two reads it is too small. */
	hold->lead = (int64_t)(hold->before.slices - hold->sched.switches);
	if (hold->stat.state == 'R' || hold->lead > least)
		return POLL_HOLD_RUNS;
	return hold->late ? POLL_HOLD_LATE : POLL_HOLD_STILL;
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
			return how_it_waits(hold);
		if (!bind_to(hold, hold->stat.cpu))
			break;
	}
	return POLL_HOLD_RUNS;
}

/*
 * The count leaves out a thread that lost its CPU when it was about to sleep, and
 * was woken before it got it back; the time does not.
 */
bool poll_hold_end(struct poll_hold *hold, struct task_run *ret)
{
	struct task_sched sched;

	return task_files_sched(hold->files, &sched) &&
	       task_files_run(hold->files, ret) &&
	       sched.looked == hold->sched.looked &&
	       sched.switches == hold->sched.switches &&
	       ret->slices == hold->before.slices;
}
