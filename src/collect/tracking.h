/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recorded processes over time, by task records (MMAP2, COMM, FORK, EXIT):
 * those of the kernel, and those made for processes that ran before the
 * recording. Each goes into the file and into the process table, and may bring a
 * Python (collect/pythons.h).
 *
 * Functions return an error only if the recording cannot go on. Not thread-safe.
 */
#ifndef KAA_COLLECT_TRACKING_H
#define KAA_COLLECT_TRACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "collect/exits.h"
#include "collect/output.h"
#include "collect/loaded_programs.h"
#include "collect/mapped_files.h"
#include "collect/python_threads.h"
#include "collect/pythons.h"
#include "collect/rings.h"
#include "collect/synthesize.h"
#include "collect/target.h"
#include "perfdata/events.h"
#include "process/process.h"

struct tracking {
	/* Borrowed: the events of the records, where these are written, who is told. */
	const struct events *events;
	struct output *output;
	struct pythons *pythons;
	struct python_threads *threads;
	struct exits *exits;

	struct process_table *processes;
	struct target_list targets;
	/* Maps that are not code are told of, too. */
	bool data_maps;
	/*
	 * Of the whole system: records of maps have no build-ids from the
	 * kernel (sampler.c, attr_tasks()), so they get these.
	 */
	bool adds_build_ids;
	struct mapped_files files;
	/* Processes whose first thread ended since the owner last emptied it. */
	VEC(uint32_t) ended;
	/* Records lost so far, as the rings of samples and those of tasks say. */
	uint64_t lost;
	uint64_t lost_tasks;
};

/* What was there before the recording. */
struct tracking_start {
	/* Goes before /proc and /sys. */
	const char *root;
	/* All processes of the machine; some may not be looked at. */
	bool system_wide;
	const struct pid_vec *processes;
	const struct kernel_code *kernel;
	const struct loaded_programs *programs;
	/* Maps that are not code, too: unwinding later needs their .eh_frame. */
	bool data_maps;
};

/* The other fields are set, or zero. */
struct error *tracking_init(struct tracking *tracking);
void tracking_deinit(struct tracking *tracking);

/*
 * Writes a record of the kernel that is no sample as it is, and keeps what it
 * says about processes and about lost records. raw: `size` bytes, aligned to 8.
 */
struct error *tracking_handle(struct tracking *tracking, const void *raw,
			      size_t size);

/* Handles all task records that are in their rings, in the order of time. */
struct error *tracking_drain(struct tracking *tracking, struct rings *rings);

/* Frees what ended before that time: no sample will lead to it. */
void tracking_forget(struct tracking *tracking, uint64_t before);

/*
 * What was there before: the kernel's map, the processes to be recorded, and
 * BPF programs, with time 0; then ends the round. Of all processes of the machine some may
 * not be looked at: the user is told how many.
 */
struct error *tracking_synthesize(struct tracking *tracking,
				  const struct tracking_start *start);

/*
 * The target that a process was at the time of a sample, made on first use. Of one without
 * a name, as records of its beginning were lost, it tells what /proc still has.
 */
struct error *tracking_target(struct tracking *tracking, uint32_t pid,
			      uint64_t time, struct target **ret);

#endif
