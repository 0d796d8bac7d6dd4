// SPDX-License-Identifier: GPL-2.0-only
#include "collect/poll_tasks.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "collect/synthesize.h"
#include "sys/file.h"
#include "sys/proc.h"

enum {
	/* A program maps its Python soon after exec, or not for long. */
	MAPS_FIRST_MS = 10,
	MAPS_LAST_MS = 1000,
	MAPS_MAX = 1 << 16,
	CHILDREN_MAX = 1 << 20,
	PROCESSES_MAX = 16384,
	THREADS_MAX = 65536,
};

static void end_thread(struct poll_tasks *tasks, struct polled_thread *thread)
{
	tasks->ended_ran += thread->ran;
	tasks->ended_given += thread->given;
	tasks->ended_kept_off += thread->kept_off;
	task_files_close(&thread->files);
	strbuf_deinit(&thread->stack);
}

static void free_process(struct poll_tasks *tasks,
			 struct polled_process *process)
{
	vec_for_each(thread, &process->threads)
		end_thread(tasks, thread);
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
}

static struct polled_process *find(const struct poll_tasks *tasks, pid_t pid)
{
	for (size_t i = 0; i < tasks->processes.count; i++)
		if (tasks->processes.data[i]->pid == pid)
			return tasks->processes.data[i];
	return NULL;
}

/* --- records --- */

static void tell_task(struct poll_tasks *tasks, uint32_t type, uint16_t misc,
		      const struct record_task *task)
{
	struct record record = {
		.type = type,
		.misc = misc,
		.pid = task->pid,
		.tid = task->tid,
		.time = task->time,
		.task = *task,
	};

	poll_writer_task(tasks->writer, &record);
}

static void tell_thread(struct poll_tasks *tasks, pid_t pid, pid_t tid,
			uint64_t time)
{
	char comm[PROC_COMM_MAX];
	struct error *error = proc_comm(tasks->root, tid, comm);
	struct record record = {
		.type = PERF_RECORD_COMM,
		.pid = (uint32_t)pid,
		.tid = (uint32_t)tid,
		.time = time + 1,
		.comm = { (uint32_t)pid, (uint32_t)tid, comm, 0, false },
	};

	tell_task(tasks, PERF_RECORD_FORK, 0,
		  &(struct record_task){ (uint32_t)pid, (uint32_t)pid,
					 (uint32_t)tid, (uint32_t)pid, time });
	if (!error) {
		record.comm.comm_len = (uint32_t)strlen(comm);
		poll_writer_task(tasks->writer, &record);
	}
	error_destroy(error);
}

static void tell_end(struct poll_tasks *tasks,
		     const struct polled_process *process,
		     struct polled_thread *thread)
{
	pid_t pid = process->pid, tid = thread->tid;

	if (tasks->ending)
		tasks->ending(tasks->arg, process, thread);
	tell_task(tasks, PERF_RECORD_EXIT, 0,
		  &(struct record_task){ (uint32_t)pid, (uint32_t)pid,
					 (uint32_t)tid, (uint32_t)pid,
					 poll_writer_now(tasks->writer) });
}

struct map_telling {
	struct poll_tasks *tasks;
	struct polled_process *process;
	uint64_t time;
	/* The name of the first thread, too: it called exec. */
	bool exec;
};

/* True if it was not told of; what cannot be noted is told again. */
static bool is_new_map(struct polled_process *process, uint64_t start)
{
	for (size_t i = 0; i < process->maps.count; i++)
		if (process->maps.data[i] == start)
			return false;
	return process->maps.count < MAPS_MAX && vec_push(&process->maps, start);
}

static struct error *tell_map(void *arg, const struct record *made)
{
	struct map_telling *telling = arg;
	struct record record = *made;

	record.time = telling->time;
	if (record.type == PERF_RECORD_COMM && telling->exec &&
	    record.pid == record.tid) {
		record.comm.is_exec = true;
		poll_writer_task(telling->tasks->writer, &record);
	}
	if (record.type == PERF_RECORD_MMAP2 &&
	    is_new_map(telling->process, record.mmap.start)) {
		record.time++;
		poll_writer_task(telling->tasks->writer, &record);
	}
	return NULL;
}

static void tell_maps(struct poll_tasks *tasks, struct polled_process *process,
		      uint64_t time, bool exec)
{
	struct map_telling telling = { tasks, process, time, exec };

	error_destroy(synthesize_process(tasks->root, process->pid, false, NULL,
					 tell_map, &telling));
}

/* Until the recorder has found a Python: less and less often. */
static void look_at_maps(struct poll_tasks *tasks,
			 struct polled_process *process)
{
	int64_t now = clock_ms();

	if (process->has_python || process->waits || now < process->maps_at)
		return;
	tell_maps(tasks, process, poll_writer_now(tasks->writer), false);
	process->maps_wait *= 2;
	if (process->maps_wait < MAPS_FIRST_MS)
		process->maps_wait = MAPS_FIRST_MS;
	if (process->maps_wait > MAPS_LAST_MS)
		process->maps_wait = MAPS_LAST_MS;
	process->maps_at = now + process->maps_wait;
}

/* --- threads --- */

static struct polled_thread *find_thread(struct polled_process *process,
					 pid_t tid)
{
	vec_for_each(thread, &process->threads)
		if (thread->tid == tid)
			return thread;
	return NULL;
}

static bool add_thread(struct poll_tasks *tasks, struct polled_process *process,
		       pid_t tid)
{
	struct polled_thread thread = { .tid = tid,
					.seen = true,
					.stack = STRBUF_INIT };

	if (process->threads.count < THREADS_MAX &&
	    task_files_open(tasks->root, process->pid, tid, &thread.files)) {
		if (vec_push(&process->threads, thread))
			return true;
		task_files_close(&thread.files);
	} else if (errno == EMFILE || errno == ENFILE) {
		tasks->missed++;
	}
	return false;
}

static void look_at_threads(struct poll_tasks *tasks,
			    struct polled_process *process,
			    const struct pid_list *now)
{
	size_t left = 0;

	vec_for_each(thread, &process->threads)
		thread->seen = false;
	for (size_t i = 0; i < now->count; i++) {
		struct polled_thread *thread =
			find_thread(process, now->data[i]);

		if (thread)
			thread->seen = true;
		else if (tasks->inherit &&
			 add_thread(tasks, process, now->data[i]))
			tell_thread(tasks, process->pid, now->data[i],
				    poll_writer_now(tasks->writer));
	}
	vec_for_each(thread, &process->threads) {
		if (thread->seen) {
			process->threads.data[left++] = *thread;
			continue;
		}
		tell_end(tasks, process, thread);
		end_thread(tasks, thread);
	}
	process->threads.count = left;
}

/* --- processes --- */

static bool has_ended(const struct task_stat *stat)
{
	return stat->state == 'Z' || stat->state == 'X';
}

static void end_process(struct poll_tasks *tasks,
			struct polled_process *process)
{
	vec_for_each(thread, &process->threads)
		tell_end(tasks, process, thread);
	process->ended = true;
}

static struct polled_process *make_process(struct poll_tasks *tasks, pid_t pid)
{
	struct polled_process *process = calloc(1, sizeof(*process));
	struct task_stat stat;

	if (!process)
		return NULL;
	process->pid = pid;
	process->memory = remote_memory_init(pid);
	if (tasks->processes.count < PROCESSES_MAX &&
	    add_thread(tasks, process, pid) &&
	    task_files_stat(&process->threads.data[0].files, &stat) &&
	    !has_ended(&stat) && vec_push(&tasks->processes, process)) {
		process->start_time = stat.start_time;
		process->start_stack = stat.start_stack;
		return process;
	}
	free_process(tasks, process);
	return NULL;
}

static void called_exec(struct poll_tasks *tasks,
			struct polled_process *process,
			const struct task_stat *stat)
{
	process->start_stack = stat->start_stack;
	process->since = poll_writer_now(tasks->writer);
	process->has_python = false;
	process->waits = false;
	vec_for_each(thread, &process->threads)
		thread->pointer = 0;
	vec_clear(&process->maps);
	tell_maps(tasks, process, process->since, true);
	process->maps_at = process->maps_wait = 0;
}

static void add_child(struct poll_tasks *tasks,
		      const struct polled_process *parent, pid_t pid)
{
	uint64_t stack = parent->start_stack;
	struct polled_process *child;
	struct task_stat stat;
	pid_t ppid = parent->pid;

	if (find(tasks, pid))
		return;
	child = make_process(tasks, pid);
	if (!child)
		return;
	stat = (struct task_stat){ .start_stack = child->start_stack };
	child->since = poll_writer_now(tasks->writer);
	tell_task(tasks, PERF_RECORD_FORK, 0,
		  &(struct record_task){ (uint32_t)pid, (uint32_t)ppid,
					 (uint32_t)pid, (uint32_t)ppid,
					 child->since });
	if (stack != stat.start_stack)
		called_exec(tasks, child, &stat);
}

static void look_at_children(struct poll_tasks *tasks,
			     const struct polled_process *process, pid_t tid)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char path[64], *p, *end;
	struct error *error;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children",
		 (int)process->pid, (int)tid);
	error = file_read(tasks->root, path, CHILDREN_MAX, &text);
	if (error) {
		error_destroy(error);
		return;
	}
	for (p = text.data;; p = end) {
		long pid = strtol(p, &end, 10);

		if (end == p || pid <= 0 || pid > INT32_MAX)
			return;
		add_child(tasks, process, (pid_t)pid);
	}
}

/* By its first thread, which stays until the process is waited for. */
static bool look_at_program(struct poll_tasks *tasks,
			    struct polled_process *process, size_t threads)
{
	struct polled_thread *first = find_thread(process, process->pid);
	struct task_stat stat;

	if (!first || !task_files_stat(&first->files, &stat) ||
	    (has_ended(&stat) && threads < 2)) {
		end_process(tasks, process);
		return false;
	}
	if (!has_ended(&stat) && stat.start_stack &&
	    stat.start_stack != process->start_stack)
		called_exec(tasks, process, &stat);
	return true;
}

void poll_tasks_look_at(struct poll_tasks *tasks,
			struct polled_process *process)
{
	struct pid_list threads = {};
	struct error *error = proc_threads(tasks->root, process->pid, &threads);

	if (error) {
		error_destroy(error);
		end_process(tasks, process);
	} else if (look_at_program(tasks, process, threads.count)) {
		look_at_threads(tasks, process, &threads);
		look_at_maps(tasks, process);
		for (size_t i = 0; tasks->inherit && i < threads.count; i++)
			look_at_children(tasks, process, threads.data[i]);
	}
	vec_deinit(&threads);
}

void poll_tasks_look(struct poll_tasks *tasks)
{
	size_t left = 0;

	for (size_t i = 0; i < tasks->processes.count; i++)
		poll_tasks_look_at(tasks, tasks->processes.data[i]);
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
	struct polled_process *process = make_process(tasks, pid);
	struct pid_list threads = {};
	struct error *error;

	if (!process)
		return false;
	process->waits = waits;
	error = proc_threads(tasks->root, pid, &threads);
	for (size_t i = 0; !error && i < threads.count; i++)
		if (threads.data[i] != pid)
			(void)add_thread(tasks, process, threads.data[i]);
	error_destroy(error);
	vec_deinit(&threads);
	return true;
}

void poll_tasks_begin(struct poll_tasks *tasks)
{
	struct task_run run;
	uint64_t ran, given;

	for (size_t i = 0; i < tasks->processes.count; i++) {
		vec_for_each(thread, &tasks->processes.data[i]->threads) {
			if (!task_files_run(&thread->files, &run))
				continue;
			thread->ran = thread->given = run.ran;
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
	struct polled_process *process = find(tasks, pid);

	if (!process || process->since != since)
		return;
	process->has_python = python != NULL;
	if (python)
		process->python = *python;
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

uint64_t poll_tasks_kept_off(const struct poll_tasks *tasks)
{
	uint64_t sum = tasks->ended_kept_off;

	for (size_t i = 0; i < tasks->processes.count; i++)
		vec_for_each(thread, &tasks->processes.data[i]->threads)
			sum += thread->kept_off;
	return sum;
}
