// SPDX-License-Identifier: GPL-2.0-only
#include "collect/poll_tasks.h"

#include <errno.h>
#include <stdlib.h>

#include "collect/polled_loop.h"
#include "sys/perf_event.h"
#include "sys/proc.h"

enum {
	PROCESSES_MAX = 16384,
	THREADS_MAX = 65536,
};

void poll_tasks_end_thread(struct poll_tasks *tasks,
			   struct polled_thread *thread)
{
	tasks->ended_ran += thread->ran;
	tasks->ended_given += thread->given;
	tasks->ended_kept_off += thread->kept_off;
	task_files_close(&thread->files);
	strbuf_deinit(&thread->stack);
	poll_native_deinit(&thread->native);
	poll_parts_deinit(&thread->parts);
	polled_loop_destroy(thread->loop);
}

static void free_process(struct poll_tasks *tasks,
			 struct polled_process *process)
{
	vec_for_each(thread, &process->threads)
		poll_tasks_end_thread(tasks, thread);
	tasks->ended_total += process->total - process->total_before;
	vec_deinit(&process->threads);
	vec_deinit(&process->maps);
	remote_memory_deinit(&process->memory);
	free(process);
}

void poll_tasks_deinit(struct poll_tasks *tasks)
{
	vec_for_each(process, &tasks->processes)
		free_process(tasks, *process);
	vec_deinit(&tasks->processes);
	proc_newest_deinit(&tasks->newest_file);
}

struct polled_process *poll_tasks_find(const struct poll_tasks *tasks,
				       pid_t pid)
{
	for (size_t i = 0; i < tasks->processes.count; i++)
		if (tasks->processes.data[i]->pid == pid)
			return tasks->processes.data[i];
	return NULL;
}

/* --- threads --- */

/* Each thread takes some descriptors: more than a user has without asking. */
static bool open_files(const struct poll_tasks *tasks, pid_t pid, pid_t tid,
		       struct task_files *ret)
{
	return task_files_open(tasks->root, pid, tid, ret) ||
	       (errno == EMFILE && !open_files_raise_limit() &&
		task_files_open(tasks->root, pid, tid, ret));
}

bool poll_tasks_add_thread(struct poll_tasks *tasks,
			   struct polled_process *process, pid_t tid)
{
	struct polled_thread thread = { .tid = tid,
					.seen = true,
					.stack = STRBUF_INIT,
					.native = POLL_NATIVE_INIT,
					.parts = POLL_PARTS_INIT };

	if (process->threads.count >= THREADS_MAX) {
		tasks->too_many++;
		return false;
	}
	if (open_files(tasks, process->pid, tid, &thread.files)) {
		if (vec_push(&process->threads, thread))
			return true;
		task_files_close(&thread.files);
	} else if (errno == EMFILE || errno == ENFILE) {
		tasks->missed++;
	}
	return false;
}

/* --- processes --- */

bool poll_tasks_has_ended(const struct task_stat *stat)
{
	return stat->state == 'Z' || stat->state == 'X';
}

struct polled_process *poll_tasks_make(struct poll_tasks *tasks, pid_t pid)
{
	bool has_room = tasks->processes.count < PROCESSES_MAX;
	struct polled_process *process =
		has_room ? calloc(1, sizeof(*process)) : NULL;
	struct task_stat stat;

	tasks->too_many += !has_room;
	if (!process)
		return NULL;
	process->pid = pid;
	process->memory = remote_memory_init(pid);
	if (poll_tasks_add_thread(tasks, process, pid) &&
	    task_files_stat(&process->threads.data[0].files, &stat) &&
	    !poll_tasks_has_ended(&stat) && vec_push(&tasks->processes, process)) {
		process->start_time = stat.start_time;
		process->start_stack = stat.start_stack;
		return process;
	}
	free_process(tasks, process);
	return NULL;
}

void poll_tasks_drop_ended(struct poll_tasks *tasks)
{
	size_t left = 0;

	for (size_t i = 0; i < tasks->processes.count; i++) {
		struct polled_process *process = tasks->processes.data[i];

		if (process->ended)
			free_process(tasks, process);
		else
			tasks->processes.data[left++] = process;
	}
	tasks->processes.count = left;
}

bool poll_tasks_add(struct poll_tasks *tasks, pid_t pid, bool waits)
{
	struct polled_process *process = poll_tasks_make(tasks, pid);
	struct pid_list threads = {};
	struct error *error;

	if (!process)
		return false;
	process->waits = waits;
	error = proc_threads(tasks->root, pid, &threads);
	for (size_t i = 0; !error && i < threads.count; i++)
		if (threads.data[i] != pid)
			(void)poll_tasks_add_thread(tasks, process,
						    threads.data[i]);
	error_destroy(error);
	vec_deinit(&threads);
	return true;
}

void poll_tasks_begin(struct poll_tasks *tasks)
{
	struct task_run run;
	uint64_t ran, given;

	tasks->ended_total = 0;
	for (size_t i = 0; i < tasks->processes.count; i++) {
		struct polled_process *process = tasks->processes.data[i];

		poll_tasks_note_total(tasks, process);
		process->total_before = process->total;
		vec_for_each(thread, &process->threads) {
			if (!task_files_run(&thread->files, &run))
				continue;
			thread->ran = thread->given = thread->ran_told =
				run.ran;
			thread->kept_off = run.kept_off;
		}
	}
	poll_tasks_time(tasks, &ran, &given);
	/* What was before counts as minus. */
	tasks->ended_kept_off -= poll_tasks_kept_off(tasks);
	tasks->ended_ran -= ran;
	tasks->ended_given -= given;
}

void poll_tasks_set_python(struct poll_tasks *tasks, pid_t pid, uint64_t since,
			   const struct walker_process *python)
{
	struct polled_process *process = poll_tasks_find(tasks, pid);

	if (!process || process->since != since)
		return;
	process->has_python = python != NULL;
	if (!python)
		return;
	process->python = *python;
	/* Those that sleep were read without. */
	vec_for_each(thread, &process->threads) {
		thread->sleeps = false;
		thread->quiet = thread->skip = 0;
	}
}

void poll_tasks_time(const struct poll_tasks *tasks, uint64_t *ran,
		     uint64_t *given)
{
	*ran = tasks->ended_ran;
	*given = tasks->ended_given;
	for (size_t i = 0; i < tasks->processes.count; i++) {
		vec_for_each(thread, &tasks->processes.data[i]->threads) {
			*ran += thread->ran;
			*given += thread->given;
		}
	}
}

void poll_tasks_note_total(const struct poll_tasks *tasks,
			   struct polled_process *process)
{
	uint64_t total;

	/* Of one that is just being waited for the kernel may say 0. */
	if (process_ran(tasks->root, process->pid, process->start_time, &total) &&
	    total > process->total)
		process->total = total;
}

uint64_t poll_tasks_total(const struct poll_tasks *tasks)
{
	uint64_t sum = tasks->ended_total;

	vec_for_each(process, &tasks->processes)
		sum += (*process)->total - (*process)->total_before;
	return sum;
}

uint64_t poll_tasks_kept_off(const struct poll_tasks *tasks)
{
	uint64_t sum = tasks->ended_kept_off;

	for (size_t i = 0; i < tasks->processes.count; i++)
		vec_for_each(thread, &tasks->processes.data[i]->threads)
			sum += thread->kept_off;
	return sum;
}
