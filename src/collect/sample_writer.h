/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sample on its way into the file: its chain is built, and what the chain
 * needs, the image's mapping and the code objects, is written before the
 * samples of its round.
 *
 * Functions return an error only if the recording cannot go on. Not thread-safe.
 */
#ifndef KAA_COLLECT_SAMPLE_WRITER_H
#define KAA_COLLECT_SAMPLE_WRITER_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "collect/callchain_mode.h"
#include "collect/cpu_time.h"
#include "collect/long_waits.h"
#include "collect/name_writer.h"
#include "collect/notes.h"
#include "collect/output.h"
#include "collect/python_threads.h"
#include "collect/sample_stack.h"
#include "collect/tracking.h"
#include "collect/waits.h"
#include "perfdata/events.h"

struct sample_writer {
	/* Borrowed. */
	const struct events *events;
	struct tracking *tracking;
	struct name_writer *names;
	struct python_threads *threads;
	struct cpu_time *cpu_time;
	struct output *output;
	const struct notes *notes;
	const struct long_waits *long_waits;
	enum callchain_mode callchain;

	/* waits_init() is the owner's. */
	struct waits waits;
	/* Its source is that of the samples. */
	struct stack_builder stacks;
	/* Targets whose first sample with Python code is in this round. */
	VEC(struct target *) image_wanted;
	/* Samples of which the kernel made one with another recorder's. */
	uint64_t mixed_up;
	/* Time of the latest sample. */
	uint64_t latest;
};

/* The other fields are set, or zero. */
struct error *sample_writer_init(struct sample_writer *writer,
				 struct source_state *source,
				 struct code_table *codes, uint32_t stack_size);
void sample_writer_deinit(struct sample_writer *writer);

/*
 * A sample in its turn in the ring of a CPU, an index of sampler.cpus. With a raw
 * dump, or without a chain, it stays as it is.
 */
struct error *sample_writer_handle(struct sample_writer *writer, size_t cpu,
				   const struct perf_event_header *header);

/*
 * A wait that has not ended, as the walker would have written it, with the Python frames
 * beside it; python: NULL if there are none.
 */
struct error *sample_writer_waiting(struct sample_writer *writer,
				    struct target *target, struct record *sample,
				    const struct python_stack *python);

/* At the end of a round: what its samples need that is not in the file yet. */
struct error *sample_writer_end_round(struct sample_writer *writer);

#endif
