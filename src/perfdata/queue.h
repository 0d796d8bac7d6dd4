/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records that wait for their turn in time (internal to the reader): a binary
 * heap. Records of the same time keep the order in which they were added.
 */
#ifndef KAA_PERFDATA_QUEUE_H
#define KAA_PERFDATA_QUEUE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "perfdata/blocks.h"

struct queue_entry {
	uint64_t time;
	/* Set by queue_add(). */
	uint64_t sequence;
	struct stream_record record;
};

/* Zero-initialise to start. */
struct queue {
	VEC(struct queue_entry) heap;
	uint64_t sequence;
	/* The latest time added, and that at the last round's end. */
	uint64_t max_time;
	uint64_t round_limit;
	/* What may be taken now: entries up to `until`, or `quota` entries. */
	bool draining;
	uint64_t until;
	size_t quota;
};

void queue_deinit(struct queue *queue);
/* False when memory runs out. */
bool queue_add(struct queue *queue, const struct queue_entry *entry);
/* Let entries go: those up to the round before, all, or the earlier half. */
void queue_finish_round(struct queue *queue);
void queue_flush_all(struct queue *queue);
void queue_flush_half(struct queue *queue);
/* The next entry that may go; false if there is none. */
bool queue_take(struct queue *queue, struct queue_entry *ret);

#endif
