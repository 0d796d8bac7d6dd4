// SPDX-License-Identifier: GPL-2.0-only
#include "collect/recorder_tasks.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "collect/recorder_internal.h"
#include "collect/recorder_targets.h"
#include "collect/synthesize.h"
#include "process/mmap_record.h"
#include "sys/proc.h"

enum {
	/* A flood of task records is handled piece by piece. */
	TASK_BYTES_MAX = 64 << 20,
};

static struct error *handle_mmap(struct recorder *recorder,
				 const struct record *record)
{
	const struct record_mmap *m = &record->mmap;
	struct process_mmap map = process_mmap_of_record(m);
	struct process_map *mapped;
	struct process *process;
	struct target *target;
	enum python_state before;
	struct error *error;

	error = process_table_mmap(recorder->processes, m->pid, record->time,
				   &map);
	if (error || m->pid == PROCESS_KERNEL || !m->is_exec)
		return error;
	error = process_table_get(recorder->processes, m->pid, record->time,
				  &process);
	if (error)
		return error;
	mapped = process_map_at(process, m->start, record->time);
	error = target_get(&recorder->targets, process, &target);
	if (error || !mapped)
		return error;
	error = recorder_code_mapped(recorder, target, mapped);
	if (error)
		return error;
	before = target->state;
	error = target_mmap(target, mapped);
	if (error || target->state == before)
		return error;
	return recorder_python_appeared(recorder, target, record->time);
}

static struct error *handle_comm(struct recorder *recorder,
				 const struct record *record)
{
	struct process *process;
	struct error *error =
		process_table_comm(recorder->processes, record->comm.pid,
				   record->comm.tid, record->time,
				   record->comm.comm, record->comm.is_exec);

	if (error || !record->comm.is_exec)
		return error;
	process = process_table_find(recorder->processes, record->comm.pid,
				     record->time);
	if (!process)
		return NULL;
	error = recorder_process_replaced(recorder, process);
	if (error)
		return error;
	return target_exec(&recorder->targets, process, record->time);
}

static struct error *handle_fork(struct recorder *recorder,
				 const struct record *record)
{
	const struct record_task *t = &record->task;
	struct process *process;
	struct target *target;
	struct error *error = process_table_fork(
		recorder->processes, t->pid, t->ppid, t->tid, t->ptid,
		record->time, !(record->misc & PERF_RECORD_MISC_FORK_EXEC));

	if (error || t->pid == t->ppid)
		return error;
	error = process_table_get(recorder->processes, t->pid, record->time,
				  &process);
	if (!error)
		error = target_get(&recorder->targets, process, &target);
	if (!error)
		error = recorder_process_forked(recorder, target, t->ppid,
						record->time);
	if (error)
		return error;
	target->since = record->time;
	error = target_search(target);
	/*
	 * The walker copies the parent's entry at the fork; but it may not have
	 * had one yet.
	 */
	return error ? error :
		       recorder_python_appeared(recorder, target, record->time);
}

static struct error *handle_exit(struct recorder *recorder,
				 const struct record *record)
{
	const struct record_task *t = &record->task;
	struct process *process;

	process_table_exit(recorder->processes, t->pid, t->tid, record->time);
	process = process_table_find(recorder->processes, t->pid, record->time);
	if (process)
		recorder_process_ended(recorder, process);
	if (t->pid == t->tid && !vec_push(&recorder->ended, t->pid))
		return error_no_memory();
	return NULL;
}

/* Keeps the record, and what it says about processes. */
static struct error *handle_task(struct recorder *recorder,
				 const struct record *record)
{
	switch (record->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return handle_mmap(recorder, record);
	case PERF_RECORD_COMM:
		return handle_comm(recorder, record);
	case PERF_RECORD_FORK:
		return handle_fork(recorder, record);
	case PERF_RECORD_EXIT:
		return handle_exit(recorder, record);
	case PERF_RECORD_LOST:
		recorder->lost += record->lost.lost;
		return NULL;
	default:
		return NULL;
	}
}

static struct error *copy_tasks(struct recorder *recorder, struct ring *ring)
{
	uint64_t end = ring_head(ring), position = ring->tail;
	const struct perf_event_header *header;

	while (position < end && recorder->task_bytes.len < TASK_BYTES_MAX) {
		header = ring_record(ring, position, end);
		if (!header)
			return error_create(ERROR_FORMAT,
					    "the kernel's event buffer is damaged");
		if (!vec_push(&recorder->tasks,
			      (struct task_record){
				      .time = events_record_time(
					      &recorder->sampler.kernel_events,
					      header),
				      .offset = recorder->task_bytes.len,
				      .size = header->size }))
			return error_no_memory();
		strbuf_append(&recorder->task_bytes, header, header->size);
		position += header->size;
	}
	ring_advance(ring, position);
	return strbuf_error(&recorder->task_bytes);
}

static int compare_tasks(const void *a, const void *b)
{
	const struct task_record *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

struct error *recorder_handle_raw(struct recorder *recorder, const void *raw,
				  size_t size)
{
	struct record record;
	struct error *error = record_decode(&recorder->sampler.kernel_events,
					    raw, size, &record);

	if (error)
		return error;
	error = output_raw(&recorder->output, record.time, raw, size);
	return error ? error : handle_task(recorder, &record);
}

struct error *recorder_drain_tasks(struct recorder *recorder)
{
	struct error *error = NULL;

	vec_clear(&recorder->tasks);
	strbuf_clear(&recorder->task_bytes);
	for (size_t i = 0; !error && i < recorder->sampler.cpus.count; i++)
		error = copy_tasks(recorder,
				   &recorder->sampler.cpus.data[i].tasks);
	if (recorder->tasks.count)
		qsort(recorder->tasks.data, recorder->tasks.count,
		      sizeof(*recorder->tasks.data), compare_tasks);
	for (size_t i = 0; !error && i < recorder->tasks.count; i++)
		error = recorder_handle_raw(
			recorder,
			recorder->task_bytes.data +
				recorder->tasks.data[i].offset,
			recorder->tasks.data[i].size);
	return error;
}

static struct error *synthesized(void *arg, const struct record *record)
{
	struct recorder *recorder = arg;
	struct record copy = *record;
	struct error *error;

	if (record->type == PERF_RECORD_MMAP2)
		copy.mmap.is_exec = copy.mmap.prot & PROT_EXEC;
	error = output_record(&recorder->output, record);
	return error ? error : handle_task(recorder, &copy);
}

static struct error *synthesize_task(struct recorder *recorder, pid_t pid,
				     struct mapped_files *files)
{
	const struct sampler_options *options = &recorder->options.sampler;

	/* Who unwinds later needs the maps that hold .eh_frame, too. */
	return synthesize_process(options->root, pid,
				  options->callchain == CALLCHAIN_DWARF, files,
				  synthesized, recorder);
}

/* One of all processes: even root may not look at some. */
static struct error *synthesize_readable(struct recorder *recorder, pid_t pid,
					 struct mapped_files *files)
{
	struct error *error = synthesize_task(recorder, pid, files);

	if (!error || error->code == ERROR_NO_MEMORY)
		return error;
	if (!recorder->unreadable_processes++) {
		recorder->unreadable_pid = pid;
		recorder->unreadable_why = error;
	} else {
		error_destroy(error);
	}
	return NULL;
}

static void tell_unreadable(struct recorder *recorder)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	unsigned int others = recorder->unreadable_processes - 1;

	if (!recorder->unreadable_processes)
		return;
	error_format(recorder->unreadable_why, &text);
	if (others)
		strbuf_printf(&text, "; the same holds for %u others", others);
	notes_tell(&recorder->notes,
		      "process %d could not be examined, so its frames have no names: %s",
		      (int)recorder->unreadable_pid, text.data);
}

struct error *recorder_synthesize(struct recorder *recorder)
{
	struct mapped_files files = MAPPED_FILES_INIT;
	struct pid_list all = {};
	const char *root = recorder->options.sampler.root;
	struct error *error =
		synthesize_kernel(root, synthesized, recorder);

	if (!error && recorder->options.system_wide)
		error = proc_processes(root, &all);
	for (size_t i = 0; !error && i < all.count; i++)
		error = synthesize_readable(recorder, all.data[i], &files);
	vec_deinit(&all);
	tell_unreadable(recorder);
	for (size_t i = 0; !error && i < recorder->options.processes.count; i++)
		error = synthesize_task(recorder,
					recorder->options.processes.data[i], &files);
	mapped_files_deinit(&files);
	if (!error)
		error = output_round(&recorder->output);
	if (!error)
		error = perfdata_writer_finished_init(recorder->output.writer);
	return error;
}
