// SPDX-License-Identifier: GPL-2.0-only
#include "convert/timeline.h"

#include "process/mmap_record.h"

/* COMM_EXEC of FORK records: perf made it up, maps follow one by one. */
#define MISC_FORK_EXEC (1 << 13)

static struct error *apply_mmap(struct process_table *table,
				const struct record *record)
{
	const struct record_mmap *m = &record->mmap;
	uint16_t mode = record_cpumode(record);
	bool kernel = m->pid == PROCESS_KERNEL ||
		      mode == PERF_RECORD_MISC_KERNEL;
	struct process_mmap mmap = process_mmap_of_record(m);

	if (mode == PERF_RECORD_MISC_GUEST_KERNEL ||
	    mode == PERF_RECORD_MISC_GUEST_USER)
		return NULL;
	return process_table_mmap(table, kernel ? PROCESS_KERNEL : m->pid,
				  record->time, &mmap);
}

struct error *timeline_apply(struct process_table *table,
			     const struct record *record, bool keep_on_exec)
{
	const struct record_task *task = &record->task;

	switch (record->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return apply_mmap(table, record);
	case PERF_RECORD_COMM:
		return process_table_comm(table, record->comm.pid,
					  record->comm.tid, record->time,
					  record->comm.comm,
					  record->comm.is_exec &&
						  !keep_on_exec);
	case PERF_RECORD_FORK:
		return process_table_fork(table, task->pid, task->ppid,
					  task->tid, task->ptid, record->time,
					  !(record->misc & MISC_FORK_EXEC));
	case PERF_RECORD_EXIT:
		process_table_exit(table, task->pid, task->tid, record->time);
		return NULL;
	default:
		return NULL;
	}
}
