// SPDX-License-Identifier: GPL-2.0-only
#include "collect/poll_walk.h"

#include <stddef.h>
#include <string.h>

#include "collect/self_pointer.h"
#include "collect/task_stack.h"
#include "python/gil_held.h"
#include "sys/proc.h"

struct error *poll_walk_init(struct poll_walk *walk, struct poll_writer *writer)
{
	*walk = (struct poll_walk)POLL_WALK_INIT;
	walk->writer = writer;
	return user_walk_create(&walk->walk);
}

void poll_walk_deinit(struct poll_walk *walk)
{
	user_walk_destroy(walk->walk);
	strbuf_deinit(&walk->stack);
	map_deinit(&walk->tasks);
}

/* --- which thread it is --- */

static bool has_pointer(const struct poll_walk *walk,
			struct polled_process *process,
			struct polled_thread *thread)
{
	if (process->has_python && !thread->pointer) {
		thread->pointer = self_pointer_find(walk->root,
						    &process->memory,
						    &process->python,
						    thread->tid);
		thread->stack_start = 0;
	}
	return process->has_python && thread->pointer;
}

/* A state that runs is told by its mark, which is on its thread's stack: bpf/walk_thread.h. */
static bool has_to_know_stack(const struct polled_process *process,
			      const struct py_memory *memory)
{
	const struct walker_process *python = &process->python;

	return python->layout.flags & PY_CFRAMES &&
	       py_states_of_several(&python->layout, memory, python->runtime);
}

static uint64_t stack_start(const struct poll_walk *walk,
			    const struct polled_process *process,
			    const struct polled_thread *thread)
{
	struct proc_maps maps = PROC_MAPS_INIT;
	struct error *error = proc_maps_read(walk->root, process->pid, &maps);
	uint64_t start = error ? 0 :
				 proc_maps_stack_start(
					 &maps, thread->pointer,
					 thread->tid == process->pid);

	error_destroy(error);
	proc_maps_deinit(&maps);
	return start;
}

/* --- its stack --- */

/* Records of the stack, each behind its size. */
static bool keep_record(struct strbuf *stack, const void *record, size_t size)
{
	uint32_t length = (uint32_t)size;

	strbuf_append(stack, &length, sizeof(length));
	strbuf_append(stack, record, size);
	return !stack->failed;
}

static bool emit_stack(struct poll_walk *walk, const void *record, size_t size)
{
	if (walk->keeps && !keep_record(&walk->stack, record, size))
		return false;
	return walk->defers || poll_writer_walked(walk->writer, record, size);
}

/* Frames that are missing are marked, and those that may be another thread's left out. */
static bool emit_part(struct poll_walk *walk, const struct walker_stack *record,
		      size_t size)
{
	struct walker_stack part;

	if (record->flags & WALKER_NO_FRAMES || size > sizeof(part))
		return emit_stack(walk, record, size);
	memcpy(&part, record, size);
	part.flags |= WALKER_UNREADABLE;
	if (walk->tells == PY_STATES_INNER)
		return emit_stack(walk, &part, size);
	part.flags = WALKER_UNREADABLE;
	part.count = 0;
	return part.before ||
	       emit_stack(walk, &part, offsetof(struct walker_stack, frames));
}

static bool emit(void *arg, const void *record, size_t size)
{
	struct poll_walk *walk = arg;
	const struct walker_header *header = record;

	if (header->type == WALKER_STACK)
		return walk->tells == PY_STATES_ALL ?
			       emit_stack(walk, record, size) :
			       emit_part(walk, record, size);
	walk->told_code = true;
	return poll_writer_walked(walk->writer, record, size);
}

void poll_walk_clear(struct poll_walk *walk)
{
	strbuf_clear(&walk->stack);
	walk->told_code = false;
}

void poll_walk_thread(struct poll_walk *walk, struct polled_process *process,
		      struct polled_thread *thread)
{
	const struct py_memory memory = { remote_memory_callback, &process->memory };
	const struct user_walk_output output = { emit, walk };
	struct user_walk_thread who = { .pid = (uint32_t)process->pid,
					.tid = (uint32_t)thread->tid };

	if (!walk->walk || !has_pointer(walk, process, thread))
		return;
	who.process = process->python;
	who.thread_pointer = thread->pointer;
	if (!thread->stack_start && has_to_know_stack(process, &memory))
		thread->stack_start = stack_start(walk, process, thread);
	who.stack_pointer = thread->stack_start;
	walk->tells = py_states_tell(&process->python.layout, &memory,
				     process->python.runtime, thread->pointer);
	user_walk_thread(walk->walk, &who, &memory, &output);
}

/* The next walk tells of all anew. */
bool poll_walk_forget(struct poll_walk *walk)
{
	struct error *error;

	if (!walk->told_code)
		return true;
	map_clear(&walk->tasks);
	user_walk_destroy(walk->walk);
	walk->walk = NULL;
	error = user_walk_create(&walk->walk);
	error_destroy(error);
	return !error;
}

uint64_t poll_walk_code(struct poll_walk *walk, const struct py_memory *memory,
			uint64_t code)
{
	const struct user_walk_output output = { emit, walk };

	return walk->walk ? user_walk_code(walk->walk, code, memory, &output) :
			    0;
}

bool poll_walk_tell_task(struct poll_walk *walk,
			 const struct polled_process *process, uint64_t key,
			 const char *words)
{
	struct walker_code code;
	size_t size;
	bool is_new;

	if (!map_insert(&walk->tasks, key, 0, &is_new))
		return false;
	if (!is_new)
		return true;
	task_stack_code((uint32_t)process->pid, key, words, &code, &size);
	return emit(walk, &code, size);
}

void poll_walk_again(struct poll_walk *walk, const char *records, size_t size)
{
	uint32_t length;

	for (size_t at = 0; at < size; at += sizeof(length) + length) {
		memcpy(&length, records + at, sizeof(length));
		if (!poll_writer_walked(walk->writer,
					records + at + sizeof(length), length))
			return;
	}
}

/* --- its GIL --- */

bool poll_walk_has_gil(struct poll_walk *walk, struct polled_process *process,
		       struct polled_thread *thread)
{
	const struct py_memory memory = { remote_memory_callback, &process->memory };
	bool held;

	return has_pointer(walk, process, thread) &&
	       py_gil_is_held(&process->python, &memory, thread->pointer,
			      &held) &&
	       held;
}
