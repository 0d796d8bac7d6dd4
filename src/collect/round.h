/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Passes over all rings: task records, the source's records, then the samples. A
 * round is one or more of them, and is then written.
 * docs/ARCHITECTURE.md, "Record time", says why in this order.
 *
 * Functions return an error only if the recording cannot go on. Not thread-safe.
 */
#ifndef KAA_COLLECT_ROUND_H
#define KAA_COLLECT_ROUND_H

#include "base/error.h"
#include "collect/cpu_time.h"
#include "collect/name_writer.h"
#include "collect/output.h"
#include "collect/python_source.h"
#include "collect/python_threads.h"
#include "collect/rings.h"
#include "collect/sample_writer.h"
#include "collect/tracking.h"

/* The parts that a round goes through, all borrowed. */
struct round {
	struct source_state *source;
	struct rings *rings;
	struct tracking *tracking;
	struct sample_writer *samples;
	struct name_writer *names;
	struct python_threads *threads;
	struct cpu_time *cpu_time;
	struct output *output;
	struct long_waits *long_waits;
	/* Samples' times of the last round_forget(), and of the last shedding. */
	uint64_t forgot;
	uint64_t shed;
};

/* Handles what is in the rings by now, and writes it. */
struct error *round_run(struct round *round);
/*
 * Handles what is in the rings by now, which cannot wait where processes begin and
 * end: a Python may have started, and what a sample needs of a process may soon be
 * gone. It is written with the next round.
 */
struct error *round_pass(struct round *round);
/* Forgets maps and processes that ended so long ago that no sample needs them. */
void round_forget(struct round *round);

#endif
