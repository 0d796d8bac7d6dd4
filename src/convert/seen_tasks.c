// SPDX-License-Identifier: GPL-2.0-only
#include "convert/seen_tasks.h"

#include <string.h>

#include "base/map.h"

static bool is_task(const void *column, uint32_t handle, const void *key)
{
	const struct seen_task *a = (const struct seen_task *)column + handle;
	const struct seen_task *b = key;

	return a->pid == b->pid && a->tid == b->tid &&
	       !a->comm == !b->comm &&
	       (!a->comm || !strcmp(a->comm, b->comm));
}

static uint64_t hash_task(const struct seen_task *task)
{
	return hash_combine((uint32_t)task->tid,
			    task->comm ? hash_string(task->comm) : 0);
}

static struct error *add(struct seen_tasks *tasks, struct seen_task task,
			 uint64_t hash)
{
	if (task.comm)
		task.comm = arena_strndup(&tasks->names, task.comm,
					  strlen(task.comm));
	task.samples = 1;
	if (!vec_push(&tasks->all, task) ||
	    !index_add(&tasks->index, hash, (uint32_t)tasks->all.count - 1))
		return error_no_memory();
	return NULL;
}

struct error *seen_tasks_add(struct seen_tasks *tasks, int32_t pid,
			     int32_t tid, const char *comm)
{
	const struct seen_task task = { .pid = pid, .tid = tid, .comm = comm };
	uint64_t hash = hash_task(&task);
	uint32_t id = index_find(&tasks->index, hash, is_task,
				 tasks->all.data, &task);

	if (id == UINT32_MAX)
		return add(tasks, task, hash);
	tasks->all.data[id].samples++;
	return NULL;
}

void seen_tasks_deinit(struct seen_tasks *tasks)
{
	vec_deinit(&tasks->all);
	index_deinit(&tasks->index);
	arena_deinit(&tasks->names);
}
