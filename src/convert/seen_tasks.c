// SPDX-License-Identifier: GPL-2.0-only
#include "convert/seen_tasks.h"

#include <string.h>

#include "base/map.h"

static bool same_name(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool is_task(const void *column, uint32_t handle, const void *key)
{
	const struct seen_task *a = (const struct seen_task *)column + handle;
	const struct seen_task *b = key;

	return a->pid == b->pid && a->tid == b->tid &&
	       a->is_asyncio == b->is_asyncio &&
	       same_name(a->comm, b->comm) && same_name(a->name, b->name);
}

static uint64_t hash_name(const char *name)
{
	return name ? hash_string(name) : 0;
}

static uint64_t hash_task(const struct seen_task *task)
{
	return hash_combine((uint32_t)task->tid,
			    hash_combine(hash_name(task->comm),
					 hash_name(task->name)));
}

static const char *copy_name(struct seen_tasks *tasks, const char *name)
{
	return name ? arena_strndup(&tasks->names, name, strlen(name)) : NULL;
}

static struct error *add(struct seen_tasks *tasks, struct seen_task task,
			 uint64_t hash)
{
	task.comm = copy_name(tasks, task.comm);
	task.name = copy_name(tasks, task.name);
	task.samples = 1;
	if (!vec_push(&tasks->all, task) ||
	    !index_add(&tasks->index, hash, (uint32_t)tasks->all.count - 1))
		return error_no_memory();
	return NULL;
}

struct error *seen_tasks_add(struct seen_tasks *tasks,
			     const struct seen_task *task)
{
	uint64_t hash = hash_task(task);
	uint32_t id = index_find(&tasks->index, hash, is_task,
				 tasks->all.data, task);

	if (id == UINT32_MAX)
		return add(tasks, *task, hash);
	tasks->all.data[id].samples++;
	return NULL;
}

void seen_tasks_deinit(struct seen_tasks *tasks)
{
	vec_deinit(&tasks->all);
	index_deinit(&tasks->index);
	arena_deinit(&tasks->names);
}
