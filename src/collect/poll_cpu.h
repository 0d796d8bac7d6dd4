/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples of CPU time: of threads that have run since their last sample, and run until
 * the poller came. What a sample stands for: collect/poll_share.h.
 */
#ifndef KAA_COLLECT_POLL_CPU_H
#define KAA_COLLECT_POLL_CPU_H

#include "collect/poll_reader.h"

/*
 * A tick begins. Where some threads that sleep are not looked at (reader->skip_most), one
 * that has a GIL now is: it may have woken up.
 */
void poll_cpu_begin(struct poll_reader *reader);
/* At a tick. One that sleeps keeps its time for when it is met awake. */
void poll_cpu_tick(struct poll_reader *reader, struct polled_process *process,
		   struct polled_thread *thread);

#endif
