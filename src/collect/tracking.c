// SPDX-License-Identifier: GPL-2.0-only
#include "collect/tracking.h"

#include <linux/perf_event.h>
#include <sys/mman.h>

#include "base/plural.h"
#include "collect/synthesize.h"
#include "process/mmap_record.h"
#include "sys/proc.h"

struct error *tracking_init(struct tracking *tracking)
{
	return process_table_create(&tracking->processes);
}

void tracking_deinit(struct tracking *tracking)
{
	target_list_deinit(&tracking->targets);
	vec_deinit(&tracking->ended);
	mapped_files_deinit(&tracking->files);
	process_table_destroy(tracking->processes);
}

static struct error *handle_mmap(struct tracking *tracking,
				 const struct record *record)
{
	const struct record_mmap *m = &record->mmap;
	struct process_mmap map = process_mmap_of_record(m);
	struct process_map *mapped;
	struct process *process;
	struct target *target;
	enum python_state before;
	struct error *error;

	error = process_table_mmap(tracking->processes, m->pid, record->time,
				   &map);
	if (error || m->pid == PROCESS_KERNEL || !m->is_exec)
		return error;
	error = process_table_get(tracking->processes, m->pid, record->time,
				  &process);
	if (error)
		return error;
	mapped = process_map_at(process, m->start, record->time);
	error = target_get(&tracking->targets, process, &target);
	if (error || !mapped)
		return error;
	error = pythons_code_mapped(tracking->pythons, target, mapped);
	if (error)
		return error;
	before = target->state;
	error = target_mmap(target, mapped);
	if (error || target->state == before)
		return error;
	return pythons_appeared(tracking->pythons, target, record->time);
}

static struct error *handle_comm(struct tracking *tracking,
				 const struct record *record)
{
	struct process *process;
	struct target *target;
	struct error *error =
		process_table_comm(tracking->processes, record->comm.pid,
				   record->comm.tid, record->time,
				   record->comm.comm, record->comm.is_exec);

	if (error || !record->comm.is_exec)
		return error;
	error = python_threads_replaced(tracking->threads, record->comm.pid,
					record->time);
	if (error)
		return error;
	process = process_table_find(tracking->processes, record->comm.pid,
				     record->time);
	if (!process)
		return NULL;
	target = target_find(process);
	error = target ? pythons_replaced(tracking->pythons, target) : NULL;
	if (error)
		return error;
	return target_exec(&tracking->targets, process, record->time);
}

/* A source that wants to know of forks. */
static struct error *tell_source(struct tracking *tracking,
				 struct target *child, uint32_t ppid,
				 uint64_t time)
{
	struct source_state *source = tracking->pythons->source;
	struct process *process;
	struct target *parent;
	struct error *error;

	if (!source->source->process_forked)
		return NULL;
	error = process_table_get(tracking->processes, ppid, time, &process);
	if (error)
		return error;
	error = target_get(&tracking->targets, process, &parent);
	if (error)
		return error;
	return source->source->process_forked(source, child, parent);
}

/* By what is known of its parent, else by a look at its maps. */
static struct error *find_python(struct tracking *tracking, struct target *child,
				 const struct record *fork)
{
	uint64_t time = fork->time;
	struct process *process = process_table_find(
		tracking->processes, fork->task.ppid, time);
	struct target *parent = process ? target_find(process) : NULL;

	if (parent && target_inherit(child, target_of(parent, time), time))
		return NULL;
	return target_search(child);
}

static struct error *handle_fork(struct tracking *tracking,
				 const struct record *record)
{
	const struct record_task *t = &record->task;
	struct process *process;
	struct target *target;
	struct error *error = process_table_fork(
		tracking->processes, t->pid, t->ppid, t->tid, t->ptid,
		record->time, !(record->misc & PERF_RECORD_MISC_FORK_EXEC));

	if (error || (t->pid == t->ppid && !tracking->threads->from_beginning))
		return error;
	error = process_table_get(tracking->processes, t->pid, record->time,
				  &process);
	if (!error)
		error = target_get(&tracking->targets, process, &target);
	if (!error && t->pid == t->ppid)
		return python_threads_began(tracking->threads, target, t->tid,
					    record->time);
	if (!error)
		error = tell_source(tracking, target, t->ppid, record->time);
	if (error)
		return error;
	target->since = record->time;
	error = find_python(tracking, target, record);
	/*
	 * The walker copies the parent's entry at the fork; but it may not have
	 * had one yet.
	 */
	return error ? error :
		       pythons_appeared(tracking->pythons, target, record->time);
}

static struct error *handle_exit(struct tracking *tracking,
				 const struct record *record)
{
	const struct record_task *t = &record->task;
	struct process *process;
	struct target *target;

	process_table_exit(tracking->processes, t->pid, t->tid, record->time);
	process = process_table_find(tracking->processes, t->pid, record->time);
	target = process ? target_find(process) : NULL;
	if (target)
		pythons_ended(tracking->pythons, target);
	if (t->pid == t->tid && !vec_push(&tracking->ended, t->pid))
		return error_no_memory();
	python_threads_forget_one(tracking->threads, t->pid, t->tid);
	return NULL;
}

/* Keeps the record, and what it says about processes. */
static struct error *handle_task(struct tracking *tracking,
				 const struct record *record)
{
	switch (record->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return handle_mmap(tracking, record);
	case PERF_RECORD_COMM:
		return handle_comm(tracking, record);
	case PERF_RECORD_FORK:
		return handle_fork(tracking, record);
	case PERF_RECORD_EXIT:
		return handle_exit(tracking, record);
	case PERF_RECORD_LOST:
		tracking->lost += record->lost.lost;
		return NULL;
	default:
		return NULL;
	}
}

/* Who had the number before has ended. */
static struct error *number_taken(struct tracking *tracking,
				  const struct record *record)
{
	if (record->type == PERF_RECORD_FORK)
		return exits_number_taken(tracking->exits, record->task.tid,
					  record->time);
	if (record->type == PERF_RECORD_COMM && record->comm.is_exec)
		return exits_number_taken(tracking->exits, record->comm.tid,
					  record->time);
	return NULL;
}

static bool add_build_id(struct tracking *tracking, struct record *record)
{
	const struct record_mmap *m = &record->mmap;
	struct proc_map map;

	if (!tracking->adds_build_ids || record->type != PERF_RECORD_MMAP2 ||
	    m->build_id_size)
		return false;
	map = (struct proc_map){ .start = m->start,
				 .end = m->start + m->len,
				 .offset = m->pgoff,
				 .inode = m->ino,
				 .major = m->maj,
				 .minor = m->min,
				 .path = m->filename };
	mapped_files_put_build_id(&tracking->files, (pid_t)m->pid, &map,
				  record);
	return m->build_id_size;
}

/* As it is, unless something stands behind its end: perf looks there for the event. */
static struct error *keep(struct tracking *tracking,
			  const struct record *record, bool is_changed)
{
	struct record whole;

	if (record->type == PERF_RECORD_EXIT && tracking->exits->by_cpu)
		return exits_hold(tracking->exits, record);
	if (!is_changed && events_record_end(record->event, record->raw,
					     record->size) == record->size)
		return output_raw(tracking->output, record->time, record->raw,
				  record->size);
	whole = *record;
	whole.event = NULL;
	return output_record(tracking->output, &whole);
}

struct error *tracking_handle(struct tracking *tracking, const void *raw,
			      size_t size)
{
	struct record record;
	bool is_changed;
	struct error *error =
		record_decode(tracking->events, raw, size, &record);

	if (error)
		return error;
	is_changed = add_build_id(tracking, &record);
	error = number_taken(tracking, &record);
	if (!error)
		error = keep(tracking, &record, is_changed);
	return error ? error : handle_task(tracking, &record);
}

struct error *tracking_drain(struct tracking *tracking, struct rings *rings)
{
	struct error *error = rings_take_tasks(rings);
	uint64_t lost = tracking->lost;

	for (size_t i = 0; !error && i < rings->tasks.count; i++) {
		const struct task_record *task = &rings->tasks.data[i];

		error = tracking_handle(tracking,
					rings->task_bytes.data + task->offset,
					task->size);
	}
	tracking->lost_tasks += tracking->lost - lost;
	tracking->lost = lost;
	return error;
}

static void forget_threads(void *arg, const struct target *target)
{
	python_threads_forget(arg, target);
}

void tracking_forget(struct tracking *tracking, uint64_t before)
{
	target_list_forget(&tracking->targets, before, forget_threads,
			   tracking->threads);
	process_table_forget(tracking->processes, before);
}

static struct error *synthesized(void *arg, const struct record *record)
{
	struct tracking *tracking = arg;
	struct record copy = *record;
	struct error *error;

	if (record->type == PERF_RECORD_MMAP2)
		copy.mmap.is_exec = copy.mmap.prot & PROT_EXEC;
	error = output_record(tracking->output, record);
	return error ? error : handle_task(tracking, &copy);
}

/* What would have been told of a process is told now, for samples from that time on. */
struct late_telling {
	struct tracking *tracking;
	uint64_t time;
};

static struct error *tell_late(void *arg, const struct record *record)
{
	struct late_telling *telling = arg;
	struct record copy = *record;

	copy.time = telling->time;
	if (copy.type == PERF_RECORD_FORK)
		copy.task.time = copy.time;
	return synthesized(telling->tracking, &copy);
}

/* The records of its beginning were lost, or it has ended before anybody could look. */
static struct error *name_late(struct tracking *tracking, uint32_t pid,
			       uint64_t time)
{
	struct late_telling telling = { tracking,
					output_time_before(tracking->output,
							   time) };
	struct error *error;

	if (!pid || pid > INT32_MAX ||
	    process_table_comm_at(tracking->processes, pid, pid, time))
		return NULL;
	error = synthesize_process(tracking->pythons->root, (pid_t)pid,
				   tracking->data_maps, NULL, tell_late,
				   &telling);
	/* Who may not be looked at, or has gone, has no name. */
	if (!error || error->code == ERROR_NO_MEMORY)
		return error;
	error_destroy(error);
	return NULL;
}

struct error *tracking_target(struct tracking *tracking, uint32_t pid,
			      uint64_t time, struct target **ret)
{
	struct process *process;
	struct target *target;
	struct error *error = process_table_get(tracking->processes, pid, time,
						&process);

	if (error)
		return error;
	error = target_get(&tracking->targets, process, &target);
	if (error)
		return error;
	*ret = target_of(target, time);
	if ((*ret)->is_named)
		return NULL;
	(*ret)->is_named = true;
	return name_late(tracking, pid, time);
}

/* Processes that even root may not look at, of all that there are. */
struct unreadable {
	unsigned int count;
	/* The first of them, and why. */
	pid_t pid;
	struct error *why;
};

static void tell_unreadable(const struct tracking *tracking,
			    const struct unreadable *unreadable)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	unsigned int others = unreadable->count - 1;

	if (!unreadable->count)
		return;
	error_format(unreadable->why, &text);
	if (others)
		strbuf_printf(&text, "; the same holds for %u other%s", others,
			      plural(others));
	notes_tell(tracking->pythons->notes,
		   "process %d could not be examined, so its frames have no names: %s",
		   (int)unreadable->pid, text.data);
}

static struct error *synthesize_all(struct tracking *tracking,
				    const struct tracking_start *start)
{
	struct unreadable unreadable = {};
	struct pid_list all = {};
	struct error *error = proc_processes(start->root, &all);

	for (size_t i = 0; !error && i < all.count; i++) {
		error = synthesize_process(start->root, all.data[i],
					   start->data_maps, &tracking->files,
					   synthesized, tracking);
		if (!error || error->code == ERROR_NO_MEMORY)
			continue;
		if (unreadable.count++)
			error_destroy(error);
		else
			unreadable = (struct unreadable){ 1, all.data[i],
							  error };
		error = NULL;
	}
	vec_deinit(&all);
	tell_unreadable(tracking, &unreadable);
	error_destroy(unreadable.why);
	return error;
}

struct error *tracking_synthesize(struct tracking *tracking,
				  const struct tracking_start *start)
{
	struct error *error =
		synthesize_kernel(start->kernel, synthesized, tracking);

	tracking->data_maps = start->data_maps;
	tracking->adds_build_ids = start->system_wide;
	if (!error && start->system_wide)
		error = synthesize_all(tracking, start);
	for (size_t i = 0; !error && i < start->processes->count; i++)
		error = synthesize_process(start->root,
					   start->processes->data[i],
					   start->data_maps, &tracking->files,
					   synthesized, tracking);
	if (!error)
		error = loaded_programs_tell(start->programs, synthesized,
					     tracking);
	if (error)
		return error;
	error = output_round(tracking->output);
	return error ? error :
		       perfdata_writer_finished_init(tracking->output->writer);
}
