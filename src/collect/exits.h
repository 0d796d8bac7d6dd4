/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * EXIT records that wait for the last sample of their thread.
 *
 * The kernel writes EXIT before it releases what the thread had. A clock that
 * ticks for each CPU has samples of that, too; but readers such as perf 7 forget a
 * thread at its EXIT, and show such samples under its number. So the record
 * waits until the thread is gone and no more samples come, and gets a time behind
 * the last of them.
 *
 * A thread that has ended has no samples (bpf/cpu_clock.h): those of another one
 * with its number come after a FORK or an exec, before which the record is written.
 *
 * Functions return an error only if the recording cannot go on. Not thread-safe.
 */
#ifndef KAA_COLLECT_EXITS_H
#define KAA_COLLECT_EXITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "collect/output.h"
#include "perfdata/record.h"

struct waiting_exit {
	/* With the time to be written. */
	struct record record;
	bool is_written;
	/* In ms of CLOCK_MONOTONIC: when something last came of the thread. */
	int64_t seen;
};

struct exits {
	/* Borrowed. */
	struct output *output;
	/* Events tick for CPUs; else there is nothing to wait for. */
	bool by_cpu;

	VEC(struct waiting_exit) list;
	/* tid to index in list, plus 1; 0: none. */
	struct map by_tid;
};

void exits_deinit(struct exits *exits);

/* An EXIT record: it is written later, if there is something to wait for. */
struct error *exits_hold(struct exits *exits, const struct record *record);
/* A sample of that thread. */
void exits_sampled(struct exits *exits, uint32_t tid, uint64_t time);
/* From that time on another thread has the number. */
struct error *exits_number_taken(struct exits *exits, uint32_t tid,
				 uint64_t time);

/*
 * Before the output writes the round: what has waited long enough, or all, behind all
 * that output_payload() wrote. Until then the process waits that this stands under.
 */
struct error *exits_end_round(struct exits *exits);
struct error *exits_end(struct exits *exits);

#endif
