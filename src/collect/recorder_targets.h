/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What becomes of the recorded processes as they come, fork, call exec and end:
 * the source of Python frames is told, the file of a Python, and the user of
 * one that is refused. See recorder_internal.h for errors and threads.
 */
#ifndef KAA_COLLECT_RECORDER_TARGETS_H
#define KAA_COLLECT_RECORDER_TARGETS_H

#include <stdint.h>

#include "base/error.h"
#include "collect/target.h"
#include "process/process.h"

struct recorder;

/*
 * A process turned out to run a Python, or one that cannot be read. Nothing if
 * target->state is PYTHON_NONE. More processes than the walker can hold are no
 * error: the user is told, once.
 */
struct error *recorder_python_appeared(struct recorder *recorder,
				       struct target *target, uint64_t time);

/* To be called when the process calls exec, before target_exec(). */
struct error *recorder_process_replaced(struct recorder *recorder,
					struct process *process);
/* A thread of it has ended; to be called after process_table_exit(). */
void recorder_process_ended(struct recorder *recorder,
			    struct process *process);
/* Code was mapped. */
struct error *recorder_code_mapped(struct recorder *recorder,
				   struct target *target,
				   const struct process_map *map);
/* The process `child` was forked by `ppid`. */
struct error *recorder_process_forked(struct recorder *recorder,
				      struct target *child, uint32_t ppid,
				      uint64_t time);

#endif
