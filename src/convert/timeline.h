/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Applies the task records of a file to a process table.
 */
#ifndef KAA_CONVERT_TIMELINE_H
#define KAA_CONVERT_TIMELINE_H

#include <stdbool.h>

#include "base/error.h"
#include "perfdata/record.h"
#include "process/process.h"

/*
 * MMAP, MMAP2, COMM, FORK, EXIT; others are left alone. keep_on_exec: as perf
 * has it, maps stay after an exec until others take their place.
 */
struct error *timeline_apply(struct process_table *table,
			     const struct record *record, bool keep_on_exec);

#endif
