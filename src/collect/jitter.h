/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Clocks that do not tick in step with the program (docs/clock.md): the clock
 * of each CPU gets another rate from time to time, at random around the one that
 * was asked for, and then one that differs as much to the other side. Those of
 * threads, and those with a count, tick evenly.
 */
#ifndef KAA_COLLECT_JITTER_H
#define KAA_COLLECT_JITTER_H

#include <stdint.h>

#include "base/vec.h"
#include "collect/cpu_time.h"

/* Zero-initialise to start. */
struct jitter {
	/* Of the random numbers; 0: not yet chosen. */
	uint64_t state;
	/* In ms of CLOCK_MONOTONIC. */
	int64_t next;
	/* By index of sampler.fds, what makes its last one even; 0: nothing does. */
	VEC(int32_t) others;
};

void jitter_deinit(struct jitter *jitter);

/* To be called after each round; does something when it is time. */
void jitter_turn(struct jitter *jitter, struct cpu_time *cpu_time);

/* By how much a rate is to differ that has this period: a part of JITTER_ONE. */
#define JITTER_ONE INT32_C(65536)
int32_t jitter_offset(struct jitter *jitter, uint64_t period);
/* The period of a rate that differs so; `period` is at most 2^32 ns. */
uint64_t jitter_period(uint64_t period, int32_t offset);

#endif
