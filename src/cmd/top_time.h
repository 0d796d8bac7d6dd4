/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CPU time of what `kaa top` shows that no sample stands for, by the kernel's account
 * of the processes: threads that a poller never saw are in that. A recorder tells it
 * when it ends only.
 */
#ifndef KAA_CMD_TOP_TIME_H
#define KAA_CMD_TOP_TIME_H

#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "profile/profile.h"

/* What a process had run at some time, both in ns. */
struct top_time_point {
	int32_t pid;
	int64_t at;
	uint64_t ran;
};

/* Zero-initialise. */
struct top_time {
	VEC(struct top_time_point) points;
};

void top_time_deinit(struct top_time *time);
/*
 * Notes what a process had run. Those of the same process come in the order of time.
 */
struct error *top_time_note(struct top_time *time, int32_t pid, int64_t at,
			    uint64_t ran);
/*
 * What the process ran in the window of so many ns that ends at the last point, if
 * that is known; else 0.
 */
uint64_t top_time_ran(const struct top_time *time, int32_t pid,
		      uint64_t window);
/*
 * Adds what is missing to the faults of a profile of the last `window` ns, if its
 * event is polled CPU time of a few processes. Of all time (0) nothing is known.
 */
struct error *top_time_add(struct top_time *time, struct profile *profile,
			   uint64_t window);

#endif
