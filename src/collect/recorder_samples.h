/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sample on its way into the file: its chain is built, and what the chain
 * needs, the image's mapping and the code objects, is written before the
 * samples of its round. See recorder_internal.h for errors and threads.
 */
#ifndef KAA_COLLECT_RECORDER_SAMPLES_H
#define KAA_COLLECT_RECORDER_SAMPLES_H

#include <linux/perf_event.h>

#include "base/error.h"
#include "collect/sample_stack.h"
#include "perfdata/record.h"

struct recorder;

/* A sample in its turn in the ring of a CPU, an index of sampler.cpus. */
struct error *recorder_handle_sample(struct recorder *recorder, size_t cpu,
				     const struct record *sample);

/*
 * With a raw dump, or without a chain, the sample stays as it is. header: the
 * raw bytes that `record` was decoded from.
 */
struct error *recorder_keep_sample(struct recorder *recorder,
				   const struct perf_event_header *header,
				   const struct record *record);

/* At the end of a round: maps the image where its samples need it. */
struct error *recorder_map_images(struct recorder *recorder);
/* At the end of a round: the code objects that its samples are first to use. */
struct error *recorder_put_codes(struct recorder *recorder);

#endif
