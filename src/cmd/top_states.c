// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/top_states.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/map.h"
#include "sys/proc.h"
#include "sys/task_stat.h"

enum {
	/* Of more only threads with samples are shown. */
	PROCESSES_MAX = 8,
	/* /proc/PID/task/TID/stat takes some 300 bytes. */
	STAT_MAX = 1024,
};

/* What is looked at, by tid. */
struct reading {
	struct profile *profile;
	struct own_states *states;
	/* tid to the task that it was last, in the order of the profile. */
	struct map tasks;
	/* Processes and threads with samples. */
	struct map pids;
	struct map tids;
};

static char read_state(int32_t pid, int32_t tid)
{
	char path[64], text[STAT_MAX];
	struct task_stat stat;
	_cleanup_close_ int fd = -1;
	size_t got;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fd_read(fd, text, sizeof(text) - 1, &got))
		return 0;
	text[got] = '\0';
	return task_stat_parse(text, &stat) ? stat.state : 0;
}

static struct error *add_thread(struct reading *r, int32_t pid, int32_t tid,
				uint32_t task)
{
	const struct own_thread thread = { .tid = tid,
					   .state = read_state(pid, tid),
					   .task = task };

	return vec_push(&r->states->threads, thread) ? NULL : error_no_memory();
}

/* --- Threads with samples -------------------------------------------------- */

static bool note_tasks(struct reading *r)
{
	const struct profile *p = r->profile;

	for (uint32_t i = 0; i < p->tasks.count; i++) {
		uint64_t *at = map_insert(&r->tasks,
					  (uint32_t)p->tasks.data[i].tid, i,
					  NULL);

		if (!at)
			return false;
		*at = i;
	}
	return true;
}

static struct error *add_sampled(struct reading *r)
{
	const struct profile *p = r->profile;
	struct error *error = NULL;

	for (size_t i = 0; i < p->samples.rows && !error; i++) {
		uint32_t task = p->samples.task[i];
		int32_t pid = p->tasks.data[task].pid;
		int32_t tid = p->tasks.data[task].tid;
		bool is_new;

		if (!map_insert(&r->pids, (uint32_t)pid, 0, NULL) ||
		    !map_insert(&r->tids, (uint32_t)tid, 0, &is_new))
			return error_no_memory();
		if (is_new)
			error = add_thread(r, pid, tid, task);
	}
	return error;
}

/* --- The others of their processes ----------------------------------------- */

/* One that never had a sample is called as the kernel calls it. */
static struct error *find_task(struct reading *r, int32_t pid, int32_t tid,
			       uint32_t *ret)
{
	const uint64_t *known = map_find(&r->tasks, (uint32_t)tid);
	struct profile_task task = { .pid = pid,
				     .tid = tid,
				     .name = PROFILE_NONE };
	char comm[PROC_COMM_MAX];
	struct error *error;

	if (known && r->profile->tasks.data[*known].pid == pid) {
		*ret = (uint32_t)*known;
		return NULL;
	}
	error = proc_comm("", tid, comm);
	if (error) {
		error_destroy(error);
		snprintf(comm, sizeof(comm), ":%d", tid);
	}
	error = profile_intern(r->profile, comm, &task.comm);
	return error ? error : profile_intern_task(r->profile, &task, ret);
}

static struct error *add_process(struct reading *r, int32_t pid)
{
	struct pid_list tids = {};
	struct error *error = proc_threads("", pid, &tids);

	/* It has ended. */
	if (error && error->code != ERROR_NO_MEMORY) {
		error_destroy(error);
		error = NULL;
	}
	for (size_t i = 0; i < tids.count && !error; i++) {
		uint32_t task = 0;

		if (map_find(&r->tids, (uint32_t)tids.data[i]))
			continue;
		error = find_task(r, pid, tids.data[i], &task);
		if (!error)
			error = add_thread(r, pid, tids.data[i], task);
	}
	vec_deinit(&tids);
	return error;
}

static struct error *add_others(struct reading *r)
{
	struct error *error = NULL;
	struct map done = {};
	size_t rows = r->profile->samples.rows;

	if (r->pids.count > PROCESSES_MAX)
		return NULL;
	for (size_t i = 0; i < rows && !error; i++) {
		int32_t pid = r->profile->tasks
				      .data[r->profile->samples.task[i]]
				      .pid;
		bool is_new = false;

		if (!map_insert(&done, (uint32_t)pid, 0, &is_new))
			error = error_no_memory();
		if (!error && is_new)
			error = add_process(r, pid);
	}
	map_deinit(&done);
	return error;
}

struct error *top_states_read(struct profile *profile, struct own_states *ret)
{
	struct reading r = { .profile = profile, .states = ret };
	struct error *error = note_tasks(&r) ? NULL : error_no_memory();

	if (!error)
		error = add_sampled(&r);
	if (!error)
		error = add_others(&r);
	map_deinit(&r.tasks);
	map_deinit(&r.pids);
	map_deinit(&r.tids);
	own_states_sort(ret);
	return error;
}
