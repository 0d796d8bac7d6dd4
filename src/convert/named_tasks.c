// SPDX-License-Identifier: GPL-2.0-only
#include "convert/named_tasks.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "base/thread_match.h"
#include "profile/profile_window.h"

/* Of what was recorded, its threads are listed, and not its processes. */
static struct error *lists_threads(const struct seen_tasks *seen, bool *ret)
{
	_cleanup_(map_deinit) struct map processes = {}, threads = {};

	vec_for_each(task, &seen->all)
		if (!map_insert(&processes, (uint32_t)task->pid, 0, NULL) ||
		    !map_insert(&threads,
				(uint64_t)(uint32_t)task->pid << 32 |
					(uint32_t)task->tid,
				0, NULL))
			return error_no_memory();
	*ret = threads.count > 1 &&
	       !profile_lists_processes(processes.count, threads.count);
	return NULL;
}

static bool is_listed(const struct seen_tasks *seen, const char *name)
{
	vec_for_each(task, &seen->all) {
		const char *listed = task->name ? task->name : task->comm;

		if (listed && !task->is_asyncio && !strcmp(listed, name))
			return true;
	}
	return false;
}

/*
 * What has passed of it are samples of its tasks; of one whose comm was asked for, too,
 * all of them.
 */
static bool has_task(const struct profile_task *thread,
		     const struct seen_tasks *seen,
		     const struct name_list *names)
{
	vec_for_each(task, &seen->all)
		if (task->is_asyncio && task->pid == thread->pid &&
		    task->tid == thread->tid &&
		    thread_list_passes(names, task->name))
			return true;
	return false;
}

/* It has passed: by its name, by the comm that it is listed by, or by another's name. */
static bool is_meant(const struct profile *profile,
		     const struct profile_task *task,
		     const struct seen_tasks *seen,
		     const struct name_list *names)
{
	const char *name = profile_string(profile, task->name, NULL);
	const char *comm = profile_string(profile, task->comm, "");

	return !name || thread_list_passes(names, name) ||
	       !is_listed(seen, comm) || has_task(task, seen, names);
}

struct error *named_tasks_keep(struct profile *profile, uint32_t recording,
			       const struct seen_tasks *seen,
			       const struct name_list *names)
{
	_cleanup_free_ bool *keep = NULL;
	bool are_threads = false;
	struct error *error;

	if (!names->count)
		return NULL;
	error = lists_threads(seen, &are_threads);
	if (error || !are_threads)
		return error;
	keep = calloc(profile->tasks.count + 1, sizeof(*keep));
	if (!keep)
		return error_no_memory();
	for (size_t i = 0; i < profile->tasks.count; i++) {
		const struct profile_task *task = &profile->tasks.data[i];

		keep[i] = task->recording != recording ||
			  is_meant(profile, task, seen, names);
	}
	profile_keep_tasks(profile, keep);
	return NULL;
}
