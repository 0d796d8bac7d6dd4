/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes into the rings of a sampler that has no kernel (sampler_open_own()) what
 * a kernel would write: task records, and samples behind the walker's records.
 *
 * One thread, which is another one than the reader's.
 */
#ifndef KAA_COLLECT_POLL_WRITER_H
#define KAA_COLLECT_POLL_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "collect/sampler.h"
#include "perfdata/record.h"

struct poll_writer {
	/* Borrowed. */
	struct sampler *sampler;
	struct strbuf task;
	/* What stands before the next sample, and then the sample. */
	struct strbuf sample;
	/* Samples, and task records, that found no room or no memory. */
	uint64_t lost;
	uint64_t lost_tasks;
};
#define POLL_WRITER_INIT { .task = STRBUF_INIT, .sample = STRBUF_INIT }

void poll_writer_deinit(struct poll_writer *writer);

/* CLOCK_MONOTONIC, or what the user chose: the time of all records. */
uint64_t poll_writer_now(const struct poll_writer *writer);

/* A task record; its own fields and its time are set. Wakes the reader. */
void poll_writer_task(struct poll_writer *writer, struct record *record);

/* A sample begins: what was put before and not ended is forgotten. */
void poll_writer_begin(struct poll_writer *writer);
/* A record of the walker's, for the sample to come. */
bool poll_writer_walked(struct poll_writer *writer, const void *record,
			size_t size);
/* The sample itself: pid, tid, time, cpu, period and chain are set. */
void poll_writer_end(struct poll_writer *writer, struct record *sample);

/* What was put before a sample that does not come. */
void poll_writer_flush(struct poll_writer *writer);

/* Nobody is left to be sampled. */
void poll_writer_close(struct poll_writer *writer);

#endif
