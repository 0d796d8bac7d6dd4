/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples of CPU time: of threads that have run since their last sample, and run until
 * the poller came. A sample's period is the CPU time since the one before.
 */
#ifndef KAA_COLLECT_POLL_CPU_H
#define KAA_COLLECT_POLL_CPU_H

#include "collect/poll_reader.h"

/* At a tick. One that sleeps keeps its time for when it is met awake. */
void poll_cpu_tick(struct poll_reader *reader, struct polled_process *process,
		   struct polled_thread *thread);

#endif
