/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The loop: waits for rings and signals, and does a round after each wait,
 * until the command or all recorded threads have ended, the time is over, or a
 * signal says stop.
 *
 * Functions return an error only if the recording cannot go on. Not thread-safe.
 */
#ifndef KAA_COLLECT_LOOP_H
#define KAA_COLLECT_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "collect/cpu_time.h"
#include "collect/jitter.h"
#include "collect/launch.h"
#include "collect/ring_heirs.h"
#include "collect/round.h"
#include "collect/sampler.h"

struct loop {
	/* Borrowed. */
	struct sampler *sampler;
	struct cpu_time *cpu_time;
	struct round *round;
	/* Not yet let go; NULL if no command is run. */
	struct launch *launch;
	/* The command is what is recorded, not just what ends the recording. */
	bool records_launch;
	/* The command is started with trampolines. */
	bool gives_trampolines;
	/* In ms: events begin that much later, and end that much after; 0: no. */
	uint64_t delay_ms;
	uint64_t duration_ms;

	/* -1: not open. */
	int epoll_fd;
	int signal_fd;
	/* Not yet enabled: this is when, in ms of CLOCK_MONOTONIC. */
	int64_t enable_at;
	/* In ms of CLOCK_MONOTONIC; 0: no end is set. */
	int64_t end_at;
	struct jitter jitter;
	/* When a round is over at the latest, in ms of CLOCK_MONOTONIC. */
	int64_t round_at;
	/* Task records came since the last wait, and nothing else. */
	bool tasks_only;
	/* Of those events that are watched. */
	struct ring_heirs heirs;
	/* Rings of task records that a recorded thread may still write to. */
	size_t rings_open;
	/* See struct recorder_result. */
	int status;
	int stopped_by;
	bool child_gone;
	/* See loop_kept_off(); and what it had waited before it was let go. */
	uint64_t kept_off;
	uint64_t kept_off_before;
	/* See loop_command_ran(). */
	bool is_over;
	uint64_t command_ran;
};
#define LOOP_INIT { .epoll_fd = -1, .signal_fd = -1, .status = -1 }

/* Watches the rings of a sampler that is open. loop: LOOP_INIT and its fields. */
struct error *loop_open(struct loop *loop);
void loop_deinit(struct loop *loop);

/* Blocks the signals of recorder_run(), which come by the loop from now on. */
struct error *loop_open_signals(struct loop *loop);

/* Enables the events, or says when, and lets the command go. */
struct error *loop_start(struct loop *loop);

/* Rounds until the recording is over; a last one is left to the caller. */
struct error *loop_run(struct loop *loop);

/*
 * The recording is over, but a command that is recorded may go on: waits for
 * it. It still gets kaa's signals.
 */
void loop_wait_for_command(struct loop *loop);

/*
 * For how long the first thread of the command has waited for a CPU since it was let go,
 * in ns; 0: not known.
 */
uint64_t loop_kept_off(const struct loop *loop);

/*
 * The CPU time of the command, without what it has started, in ns, as exactly as the
 * kernel's clock ticks; 0 unless it ended while it was recorded.
 */
uint64_t loop_command_ran(const struct loop *loop);

#endif
