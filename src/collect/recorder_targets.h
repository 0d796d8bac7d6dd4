/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What becomes of the Pythons and the trampolines in the recorded processes as
 * these come, fork and call exec: the walker and the file are told of a Python,
 * the user of one that is refused; trampolines are looked at while their
 * process is there. See recorder_internal.h for errors and threads.
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

/*
 * The walker's own programs see an exec or an end at once; but then the recorder
 * may not have told it of that Python yet, and told it afterwards. To be called
 * when the record of it comes: before target_exec(), after process_table_exit().
 */
void recorder_python_replaced(struct recorder *recorder,
			      struct process *process);
void recorder_python_ended(struct recorder *recorder, struct process *process);

/* Code was mapped: if it is anonymous it may be an arena of trampolines. */
struct error *recorder_note_arena(struct recorder *recorder,
				  struct target *target,
				  const struct process_map *map);
/* To be called when the process calls exec, before target_exec(). */
struct error *recorder_freeze_trampolines(struct process *process);
/* The process `child` was forked by `ppid`. */
struct error *recorder_inherit_trampolines(struct recorder *recorder,
					   struct target *child, uint32_t ppid,
					   uint64_t time);

/* Tells, once, that the perf map of a process was refused, if it was. */
void recorder_tell_map_refusal(struct recorder *recorder,
			       struct target *target);

#endif
