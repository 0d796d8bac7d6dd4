// SPDX-License-Identifier: GPL-2.0-only
#include "collect/poll_ticks.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/random.h"
#include "collect/poll_hold.h"

enum {
	NS_PER_S = 1000000000,
	/* The shortest that there is. */
	SLICE_NS = 100000,
};

/* struct sched_attr as of its first version: uapi/linux/sched/types.h. */
struct slice_attr {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime;
	uint64_t deadline;
	uint64_t period;
};

/*
 * From 6.6 on Linux lets a thread finish its slice before one that wakes up has
 * the CPU, and looks for its end at system calls that ask for CPU time: samples
 * would be taken there. Who asks for a shorter slice need not wait (from 6.12 on).
 */
static void ask_for_short_slice(void)
{
	struct slice_attr attr = { .size = sizeof(attr),
				   .runtime = SLICE_NS };

	/* An older kernel does not know it. */
	(void)syscall(SYS_sched_setattr, 0, &attr, 0);
}

void poll_ticks_begin(struct poll_ticks *ticks)
{
	ticks->at = poll_hold_now();
	ask_for_short_slice();
	prctl(PR_SET_TIMERSLACK, 1);
}

/* A quarter more or less than the period, evenly. */
static uint64_t next_period(struct poll_ticks *ticks)
{
	return ticks->period * 3 / 4 +
	       random_next(&ticks->random) % (ticks->period / 2 + 1);
}

/*
 * Periods are CPU time, or time since the last look: none is missing. While it has
 * the CPU, a thread that wants it stands where it lost that: hence it always sleeps.
 */
void poll_ticks_wait(struct poll_ticks *ticks)
{
	uint64_t now = poll_hold_now();
	struct timespec until;

	ticks->at += next_period(ticks);
	if (ticks->at <= now)
		ticks->at = now + next_period(ticks);
	until = (struct timespec){ (time_t)(ticks->at / NS_PER_S),
				   (long)(ticks->at % NS_PER_S) };
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) ==
	       EINTR)
		;
	poll_ticks_note(ticks, poll_hold_now());
}

void poll_ticks_note(struct poll_ticks *ticks, uint64_t now)
{
	double between = (double)(now - ticks->came);

	if (ticks->came) {
		ticks->between += between;
		ticks->squares += between * between;
	}
	ticks->came = now;
}

uint64_t poll_ticks_apart(const struct poll_ticks *ticks)
{
	return ticks->between > 0 ? (uint64_t)(ticks->squares / ticks->between) :
				    0;
}
