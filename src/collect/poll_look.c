// SPDX-License-Identifier: GPL-2.0-only
#include "collect/poll_look.h"

#include <unistd.h>

#include "base/clock.h"
#include "collect/poll_tell.h"
#include "sys/proc.h"

enum {
	/*
	 * Looks after the kernel has given a new number: the task with that number
	 * is shown a moment later, and the CPU time of the one that made it may be
	 * as old as the kernel's own tick.
	 */
	LOOKS = 3,
	/* The least time between two looks, by what one takes. */
	COST_FACTOR = 20,
	/*
	 * A look that nothing asks for, in ns: whoever makes a task may lose the CPU
	 * between its number and its showing, for as long as a busy machine likes.
	 */
	AGAIN_NS = 100000000,
	AGAIN_FACTOR = 200,
};

/* --- threads --- */

/* Both lists are ascending, mostly: it stands where the last one was, or behind it. */
static struct polled_thread *find_thread(struct polled_process *process,
					 pid_t tid, size_t *from)
{
	size_t count = process->threads.count;

	for (size_t i = 0; i < count; i++) {
		size_t at = (*from + i) % count;

		if (process->threads.data[at].tid == tid) {
			*from = at + 1;
			return &process->threads.data[at];
		}
	}
	return NULL;
}

/* Of the thread that was added last. */
static void note_new(struct poll_tasks *tasks, struct polled_process *process,
		     uint64_t unseen)
{
	struct polled_thread *thread =
		&process->threads.data[process->threads.count - 1];

	thread->unseen = unseen;
	thread->is_new = true;
	tasks->has_new = true;
}

static void add_thread(struct poll_tasks *tasks, struct polled_process *process,
		       pid_t tid)
{
	if (!tasks->inherit || !poll_tasks_add_thread(tasks, process, tid))
		return;
	note_new(tasks, process, process->unseen);
	poll_tell_thread(tasks, process->pid, tid);
}

/* Children of a thread that has ended are another one's. */
static void drop_unseen(struct poll_tasks *tasks,
			struct polled_process *process)
{
	size_t left = 0, before = process->threads.count;

	vec_for_each(thread, &process->threads) {
		if (thread->seen) {
			process->threads.data[left++] = *thread;
			continue;
		}
		poll_tell_end(tasks, process, thread);
		poll_tasks_end_thread(tasks, thread);
	}
	process->threads.count = left;
	if (left == before)
		return;
	vec_for_each(thread, &process->threads)
		thread->has_children_read = false;
}

static void look_at_threads(struct poll_tasks *tasks,
			    struct polled_process *process,
			    const struct pid_list *now)
{
	size_t from = 0;

	vec_for_each(thread, &process->threads)
		thread->seen = false;
	for (size_t i = 0; i < now->count; i++) {
		struct polled_thread *thread =
			find_thread(process, now->data[i], &from);

		if (thread)
			thread->seen = true;
		else
			add_thread(tasks, process, now->data[i]);
	}
	drop_unseen(tasks, process);
}

/* --- children --- */

static void copy_account(const struct polled_thread *from,
			 struct polled_thread *to)
{
	to->ran = from->ran;
	to->ran_told = from->ran_told;
	to->given = from->given;
	to->kept_off = from->kept_off;
	to->account = from->account;
	to->slices = from->slices;
	to->share = from->share;
}

static void swap_accounts(struct polled_thread *a, struct polled_thread *b)
{
	const struct polled_thread before = *a;

	copy_account(b, a);
	copy_account(&before, b);
}

/* The nearest of those that the account can be a later one of, or NULL. */
static struct polled_thread *find_earlier(const struct polled_process *process,
					  const struct task_run *run)
{
	struct polled_thread *found = NULL;

	vec_for_each(thread, &process->threads)
		if (thread->ran <= run->ran && thread->slices <= run->slices &&
		    (!found || thread->ran > found->ran))
			found = thread;
	return found;
}

/*
 * The thread that called exec has the number of the first one from then on, which
 * is over (Linux, de_thread()): the first one's files tell what that one has run.
 */
static void take_account(struct poll_tasks *tasks,
			 struct polled_process *process)
{
	struct polled_thread *first = process->threads.data, *caller;
	struct polled_thread none = {};
	struct task_run run = {};

	if (!process->threads.count || !task_files_run(&first->files, &run))
		return;
	caller = find_earlier(process, &run);
	if (!caller) {
		/* One that nobody has seen. */
		swap_accounts(first, &none);
		tasks->ended_ran += none.ran;
		tasks->ended_given += none.given;
		tasks->ended_kept_off += none.kept_off;
	} else if (caller != first) {
		swap_accounts(first, caller);
	}
}

static void called_exec(struct poll_tasks *tasks,
			struct polled_process *process,
			const struct task_stat *stat)
{
	/* The recording begins with it, and it was some time ago. */
	if (process->waits && process->alive && process->threads.count)
		process->threads.data[0].since_exec =
			(uint64_t)(clock_ns(CLOCK_MONOTONIC) - process->alive);
	process->start_stack = stat->start_stack;
	process->since = poll_writer_now(tasks->writer);
	process->has_python = false;
	process->waits = false;
	/* /proc/PID/mem, where it is open, is that of the program before. */
	remote_memory_deinit(&process->memory);
	take_account(tasks, process);
	vec_for_each(thread, &process->threads)
		thread->pointer = 0;
	poll_tell_exec(tasks, process);
}

/*
 * It has its parent's memory, so its Python is where that one's is. The recorder finds
 * it, too, but may need longer for that than the child lives.
 */
static void inherit_python(struct polled_process *child,
			   const struct polled_process *parent)
{
	if (!parent->has_python)
		return;
	child->has_python = true;
	child->python = parent->python;
	child->python.birth = child->since;
}

static void add_child(struct poll_tasks *tasks,
		      const struct polled_process *parent, pid_t pid)
{
	uint64_t stack = parent->start_stack;
	struct polled_process *child;
	struct task_stat stat;
	pid_t ppid = parent->pid;

	/* A program may have started kaa itself, which does not record what it does. */
	if (pid == getpid() || poll_tasks_find(tasks, pid))
		return;
	child = poll_tasks_make(tasks, pid);
	if (!child)
		return;
	note_new(tasks, child, parent->unseen);
	stat = (struct task_stat){ .start_stack = child->start_stack };
	child->since = poll_writer_now(tasks->writer);
	poll_tell_child(tasks, ppid, pid, child->since);
	if (stack != stat.start_stack)
		called_exec(tasks, child, &stat);
	else
		inherit_python(child, parent);
}

static void read_children(struct poll_tasks *tasks,
			  const struct polled_process *process, pid_t tid)
{
	struct pid_list children = {};
	struct error *error = proc_children(tasks->root, process->pid, tid,
					    &children);

	error_destroy(error);
	vec_for_each(child, &children)
		add_child(tasks, process, *child);
	vec_deinit(&children);
}

/* A thread that has not run has no new ones. */
static bool may_have_children(struct polled_thread *thread)
{
	struct task_run run = {};
	bool may = !task_files_run(&thread->files, &run) ||
		   !thread->has_children_read ||
		   run.ran != thread->ran_before_children ||
		   run.slices != thread->slices_before_children;

	thread->has_children_read = true;
	thread->ran_before_children = run.ran;
	thread->slices_before_children = run.slices;
	return may;
}

static void look_at_children(struct poll_tasks *tasks,
			     struct polled_process *process)
{
	for (size_t i = 0; tasks->inherit && i < process->threads.count; i++)
		if (may_have_children(&process->threads.data[i]))
			read_children(tasks, process,
				      process->threads.data[i].tid);
}

/* --- a process --- */

static void end_process(struct poll_tasks *tasks,
			struct polled_process *process)
{
	/* Until somebody has waited for it, the kernel has its time. */
	poll_tasks_note_total(tasks, process);
	vec_for_each(thread, &process->threads)
		poll_tell_end(tasks, process, thread);
	process->ended = true;
}

/* By its first thread, which stays until the process is waited for. */
static bool look_at_program(struct poll_tasks *tasks,
			    struct polled_process *process, size_t threads)
{
	size_t from = 0;
	struct polled_thread *first = find_thread(process, process->pid, &from);
	struct task_stat stat;

	if (!first || !task_files_stat(&first->files, &stat) ||
	    (poll_tasks_has_ended(&stat) && threads < 2)) {
		end_process(tasks, process);
		return false;
	}
	if (!poll_tasks_has_ended(&stat) && stat.start_stack &&
	    stat.start_stack != process->start_stack)
		called_exec(tasks, process, &stat);
	return true;
}

static void look_at_list(struct poll_tasks *tasks,
			 struct polled_process *process)
{
	struct pid_list threads = {};
	struct error *error = proc_threads(tasks->root, process->pid, &threads);

	poll_tasks_note_total(tasks, process);
	if (error) {
		/* Else there are no descriptors or no memory: the next look has them. */
		if (error->code == ERROR_NOT_FOUND)
			end_process(tasks, process);
		error_destroy(error);
	} else if (look_at_program(tasks, process, threads.count)) {
		process->listed = threads.count;
		look_at_threads(tasks, process, &threads);
		look_at_children(tasks, process);
		poll_tell_maps(tasks, process);
	}
	vec_deinit(&threads);
}

void poll_look_at(struct poll_tasks *tasks, struct polled_process *process)
{
	int64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID), took, now;

	look_at_list(tasks, process);
	took = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
	now = clock_ns(CLOCK_MONOTONIC);
	process->looked = now;
	process->look_at = now + COST_FACTOR * took;
	process->again_at = now + AGAIN_NS + AGAIN_FACTOR * took;
	if (process->looks)
		process->looks--;
}

/* asked: when there was no new number yet; a look that was due then came too late. */
static void look(struct poll_tasks *tasks, struct polled_process *process,
		 bool is_new, int64_t asked)
{
	size_t count = proc_thread_count(tasks->root, process->pid);
	int64_t now = clock_ns(CLOCK_MONOTONIC);
	int64_t since = process->looks ? process->looked : asked;

	process->unseen = since && now > since ? (uint64_t)(now - since) : 0;

	if (is_new || count != process->listed)
		process->looks = LOOKS;
	if ((process->looks && now >= process->look_at) ||
	    now >= process->again_at)
		poll_look_at(tasks, process);
	else if (look_at_program(tasks, process, count))
		poll_tell_maps(tasks, process);
	process->alive = now;
}

void poll_look_at_all(struct poll_tasks *tasks, bool is_due)
{
	pid_t newest = proc_newest(&tasks->newest_file, tasks->root);
	bool is_new = newest < 0 || newest != tasks->newest;
	int64_t asked = tasks->asked;

	tasks->newest = newest;
	tasks->asked = clock_ns(CLOCK_MONOTONIC);
	if (!is_due && (newest < 0 || !is_new))
		return;
	for (size_t i = 0; i < tasks->processes.count; i++)
		look(tasks, tasks->processes.data[i], is_new, asked);
	poll_tasks_drop_ended(tasks);
}
