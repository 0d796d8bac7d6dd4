/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is in all rings of a sampler, round by round: the task records in the
 * order of time, and the records of each ring of samples up to a snapshot.
 *
 * Fails if a ring is damaged, or for want of memory. Not thread-safe.
 */
#ifndef KAA_COLLECT_RINGS_H
#define KAA_COLLECT_RINGS_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "collect/sampler.h"

/* A ring of samples, by index of sampler.cpus. */
struct ring_progress {
	/* Its head when the round began. */
	uint64_t head;
	/* Position up to which rings_look_ahead() has shown its records. */
	uint64_t shown;
};

/* A task record, copied out of its ring. */
struct task_record {
	uint64_t time;
	/* In rings.task_bytes. */
	size_t offset;
	size_t size;
};

/* How near the rings came to their ends so far. */
struct rings_load {
	/* The most that was found in one ring of each kind, in percent of its size. */
	unsigned int samples_percent;
	unsigned int tasks_percent;
	/* The longest that the rings were not looked at, in ms. */
	int64_t pause_ms;
};

struct rings {
	/* Borrowed. */
	struct sampler *sampler;
	struct rings_load load;
	/* When they were looked at last, in ms of CLOCK_MONOTONIC; 0: never. */
	int64_t looked;
	VEC(struct ring_progress) progress;
	struct strbuf task_bytes;
	/* Of the last rings_take_tasks(). */
	VEC(struct task_record) tasks;
};
#define RINGS_INIT { .task_bytes = STRBUF_INIT }

/* Of a sampler that is open. rings: RINGS_INIT. */
struct error *rings_init(struct rings *rings, struct sampler *sampler);
void rings_deinit(struct rings *rings);

/* Begins a round: rings_handle() will go up to here. */
void rings_snapshot(struct rings *rings);

/* Takes the task records that are in their rings by now, the earliest first. */
struct error *rings_take_tasks(struct rings *rings);

/* cpu: an index of sampler.cpus. The record is valid for the call. */
typedef struct error *ring_handler(void *arg, size_t cpu,
				   const struct perf_event_header *header);

/* Shows each record that is in the rings of samples by now, once; it stays. */
struct error *rings_look_ahead(struct rings *rings, ring_handler *handler,
			       void *arg);
/* Each record up to the snapshot, ring by ring, and frees it. */
struct error *rings_handle(struct rings *rings, ring_handler *handler,
			   void *arg);

#endif
