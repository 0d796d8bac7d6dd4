/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples of time by the clock: of each thread, whether it runs or not, or of those
 * that have the GIL (reader->gil_only). A sample's period is the time since the thread
 * was looked at before.
 *
 * On a busy machine the poller has a CPU when the program makes way: no chance has chosen
 * that moment. So the kernel's account says for how long the thread slept, and for how
 * long not. A sample stands for the one that it shows, and the other is owed to the next
 * sample that shows that. What no sample stands for when the thread ends is counted
 * (poll_counts.untold). Time with the GIL has no such account.
 */
#ifndef KAA_COLLECT_POLL_WALL_H
#define KAA_COLLECT_POLL_WALL_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/poll_reader.h"

enum {
	/* Looks at a sleeping thread until the next are one tick more apart. */
	POLL_WALL_LOOKS = 16,
	/* So many: it has slept long, and they are as far apart as they get. */
	POLL_WALL_LONG = POLL_WALL_LOOKS * POLL_SKIP_MAX,
};

struct poll_wall {
	/* Borrowed. */
	struct poll_reader *reader;
	/* As sampler_options has it. */
	uint64_t sleep_ns;
	/* When the tick at hand was, and that before, by the clock of records. */
	uint64_t tick;
	uint64_t before;
	/* Time for which there were no looks, because ticks were late; see is_late. */
	uint64_t late;
	/* This tick is no moment by chance for those that are recorded. */
	bool is_late;
	/* Threads that may be read for the first time. */
	unsigned int first_reads;
};

/* A tick begins. If it is late it is over, as when it is at a thread. */
void poll_wall_begin(struct poll_wall *wall);
void poll_wall_tick(struct poll_wall *wall, struct polled_process *process,
		    struct polled_thread *thread);
/* What is left to be said of those that sleep. */
void poll_wall_end(struct poll_wall *wall);
/* The same of a thread that ends. wall: a struct poll_wall. */
void poll_wall_end_thread(void *wall, const struct polled_process *process,
			  struct polled_thread *thread);

#endif
