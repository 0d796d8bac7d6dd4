/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waits that have not ended when the recording does: nobody is on a CPU to be walked
 * there, so each is read from outside, while its thread sleeps on, and becomes a sample
 * of off-cpu like those that ended (docs/off-cpu.md).
 *
 * Functions return an error only if the recording cannot go on. Not thread-safe.
 */
#ifndef KAA_COLLECT_UNENDED_H
#define KAA_COLLECT_UNENDED_H

#include <stdint.h>

#include "base/error.h"
#include "collect/code_spans.h"
#include "collect/sample_writer.h"
#include "collect/sampler.h"
#include "collect/tracking.h"

struct unended {
	/* Borrowed. */
	const struct sampler *sampler;
	struct source_state *source;
	struct code_table *codes;
	struct tracking *tracking;
	struct sample_writer *samples;

	/* Those that could not be read, and the ns that they waited. */
	uint64_t threads;
	uint64_t time;
};

/* Once the events are disabled, and what they have left is handled. */
struct error *unended_write(struct unended *unended);

#endif
