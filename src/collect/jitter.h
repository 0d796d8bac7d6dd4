/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Clocks that do not tick in step with the program (docs/clock.md): the clock
 * of each CPU gets another rate from time to time, at random around the one that
 * was asked for. Those of threads, and those with a count, tick evenly.
 */
#ifndef KAA_COLLECT_JITTER_H
#define KAA_COLLECT_JITTER_H

#include <stdint.h>

#include "collect/cpu_time.h"

/* Zero-initialise to start. */
struct jitter {
	/* Of the random numbers; 0: not yet chosen. */
	uint64_t state;
	/* In ms of CLOCK_MONOTONIC. */
	int64_t next;
};

/* To be called after each round; does something when it is time. */
void jitter_turn(struct jitter *jitter, struct cpu_time *cpu_time);

/* Of a rate within a fourth of that of `period`, which is at most 2^32 ns. */
uint64_t jitter_period(struct jitter *jitter, uint64_t period);

#endif
