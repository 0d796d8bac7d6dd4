/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads a thread that is held still (collect/poll_hold.h), and makes samples of that:
 * what both ways to sample need, CPU time (poll_cpu.h) and time by the clock
 * (poll_wall.h). Of the poller's thread.
 */
#ifndef KAA_COLLECT_POLL_READER_H
#define KAA_COLLECT_POLL_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/poll_counts.h"
#include "collect/poll_hold.h"
#include "collect/poll_loop.h"
#include "collect/poll_native.h"
#include "collect/poll_tasks.h"
#include "collect/poll_walk.h"
#include "collect/poll_writer.h"
#include "sys/task_stop.h"

enum {
	/* Tries to read a thread that runs on. */
	POLL_TRIES = 3,
	/* Ticks without a look at a thread that has been quiet for long. */
	POLL_SKIP_MAX = 7,
	/* One of them for each thread where a tick is so short, in ns. */
	POLL_SKIP_NS = 125000,
};

struct poll_reader {
	struct poll_writer writer;
	struct poll_tasks tasks;
	struct poll_hold hold;
	struct poll_walk walk;
	struct poll_counts counts;
	/* Threads are walked while they have the GIL. */
	bool gil_only;
	/* The time between two ticks, in ns. */
	uint64_t tick;
	/* So many of these ticks are left out, at most. */
	uint32_t skip_most;
	/* They are stopped, so that there is their native stack, too. */
	bool stops;
	struct task_stop stop;
	/* Of the sample that has begun. */
	struct poll_native native;
	/* Where tasks are asked for: of the thread that is read, which is asleep or not. */
	struct poll_loops loops;
	bool is_asleep;
	/* Tries before this one. */
	int tried;
};

enum poll_try { POLL_TRY_DONE, POLL_TRY_AGAIN, POLL_TRY_NONE };

struct error *poll_reader_init(struct poll_reader *reader);
void poll_reader_deinit(struct poll_reader *reader);

/* A tick begins; there is one each `period` ns. */
void poll_reader_begin_tick(struct poll_reader *reader, uint64_t period);
/* How many of them are left out of a thread that has been quiet for long enough for n. */
static inline uint32_t poll_reader_skips(const struct poll_reader *reader,
					 uint32_t n)
{
	return n < reader->skip_most ? n : reader->skip_most;
}

/*
 * A thread that is held. DONE: its stack is in the sample that has begun; *ret is
 * what it has run, and *has_gil is false if it is not walked for want of the GIL.
 * A thread that was stopped has run since: see poll_reader_sleeps_on().
 */
enum poll_try poll_reader_read(struct poll_reader *reader,
			       struct polled_process *process,
			       struct polled_thread *thread,
			       struct task_run *ret, bool *has_gil);
/* Ends the sample. state: the marker that it begins with, or 0. */
void poll_reader_put(struct poll_reader *reader,
		     const struct polled_process *process,
		     const struct polled_thread *thread, uint64_t period,
		     uint64_t state);

/* A sample of each of the parts, of which none has begun. */
void poll_reader_put_parts(struct poll_reader *reader,
			   const struct polled_process *process,
			   const struct polled_thread *thread,
			   const struct poll_parts *parts, uint64_t period,
			   uint64_t state);

/*
 * A thread that slept when it was read has been stopped for it: true once it sleeps
 * again where it was read, held as it was before. False: not soon, or elsewhere, as when
 * its sleep was over when it stopped. *run: what it has run by now.
 */
bool poll_reader_sleeps_on(struct poll_reader *reader,
			   struct polled_process *process,
			   struct polled_thread *thread, struct task_run *run);

void poll_reader_note_run(struct polled_thread *thread,
			  const struct task_run *run);

#endif
