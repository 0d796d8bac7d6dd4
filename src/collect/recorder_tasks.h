/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Task records (MMAP2, COMM, FORK, EXIT): those of the kernel, out of the rings
 * of their own, and those made for processes that ran before the recording.
 * Each goes into the file and into the process table, and may bring a target
 * (recorder_targets.h). See recorder_internal.h for errors and threads.
 */
#ifndef KAA_COLLECT_RECORDER_TASKS_H
#define KAA_COLLECT_RECORDER_TASKS_H

#include <stddef.h>

#include "base/error.h"

struct recorder;

/*
 * Writes a record of the kernel that is no sample as it is, and keeps what it
 * says about processes and about lost records. raw: `size` bytes, aligned to 8.
 */
struct error *recorder_handle_raw(struct recorder *recorder, const void *raw,
				  size_t size);

/* Handles all task records that are in the task rings, in time order. */
struct error *recorder_drain_tasks(struct recorder *recorder);

/*
 * What was there before: the kernel's map, and the processes to be recorded,
 * with time 0; then ends the round. Of all processes of the machine some may
 * not be looked at: the user is told how many.
 */
struct error *recorder_synthesize(struct recorder *recorder);

#endif
