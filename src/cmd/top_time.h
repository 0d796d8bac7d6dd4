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

/* What a process had run at some time, in ns, and what its samples stood for. */
struct top_time_point {
	int32_t pid;
	int64_t at;
	uint64_t ran;
	uint64_t sampled;
};

/* Zero-initialise. */
struct top_time {
	VEC(struct top_time_point) points;
};

void top_time_deinit(struct top_time *time);
/*
 * Adds what is missing to the faults of a profile of the last `window` ns, or of all
 * (0), if its event is polled CPU time of a few processes.
 */
struct error *top_time_add(struct top_time *time, struct profile *profile,
			   uint64_t window);

#endif
