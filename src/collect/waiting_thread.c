// SPDX-License-Identifier: GPL-2.0-only
#include "collect/waiting_thread.h"

#include "base/cleanup.h"
#include "collect/self_pointer.h"

void waiting_thread_deinit(struct waiting_thread *thread)
{
	python_stack_deinit(&thread->python);
	error_destroy(thread->error);
}

void waiting_thread_look(struct waiting_thread *thread)
{
	struct source_state *source = thread->source;

	thread->waited = source->source->ring->waits(source, thread->tid,
						     &thread->since);
}

static bool emit(void *arg, const void *record, size_t size)
{
	struct waiting_thread *thread = arg;
	struct error *error = python_stack_take(&thread->python, thread->codes,
						record, size);

	if (error && !thread->error)
		thread->error = error;
	else
		error_destroy(error);
	return true;
}

static void walk(struct waiting_thread *thread)
{
	struct target *target = thread->target;
	struct remote_memory *remote = &target->memory;
	const struct py_memory memory = { remote_memory_callback, remote, NULL };
	const struct user_walk_output output = { emit, thread };
	struct user_walk_thread who = {
		.process = target->python,
		.pid = target->pid,
		.tid = (uint32_t)thread->tid,
		.stack_pointer = thread->call.stack_pointer,
	};

	python_stack_clear(&thread->python);
	if (target->state != PYTHON_FOUND)
		return;
	/* What tells it from others that have had its pid. */
	who.process.birth = target->since;
	who.thread_pointer = self_pointer_find(thread->root, remote,
					       &who.process, thread->tid);
	if (who.thread_pointer)
		user_walk_thread(thread->walk, &who, &memory, &output);
}

bool waiting_thread_read(struct waiting_thread *thread)
{
	if (!task_syscall_read(thread->root, (pid_t)thread->target->pid,
			       thread->tid, &thread->call))
		return false;
	walk(thread);
	return true;
}

struct error *waiting_thread_error(struct waiting_thread *thread)
{
	return take_ptr(thread->error);
}
