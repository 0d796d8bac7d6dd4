/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The end of a recording: names, the summary, the feature sections and the
 * image beside the file. See recorder_internal.h for errors and threads.
 */
#ifndef KAA_COLLECT_RECORDER_END_H
#define KAA_COLLECT_RECORDER_END_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct recorder;

/* Samples that found no room, as near to the truth as the counters are. */
uint64_t recorder_lost_samples(const struct recorder *recorder);

/* Writes what stands behind the samples, and the header. */
struct error *recorder_finish_file(struct recorder *recorder);

/*
 * Writes the image; recorder->image_written says whether there is one. A
 * failure is told to the user if `report` is set.
 */
void recorder_write_image(struct recorder *recorder, bool report);

#endif
