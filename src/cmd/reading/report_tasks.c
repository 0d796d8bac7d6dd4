// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/reading/report_tasks.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"

enum {
	COMM_MAX = 16,
	TASKS_MAX = 1 << 21,
	/* A chain of parents that long is a circle. */
	LEVELS_MAX = 10000,
	NONE = -1,
};

struct task {
	int32_t pid;
	int32_t tid;
	/* The thread that started it; NONE: not known. */
	int32_t ppid;
	char comm[COMM_MAX];
	/* Indices, NONE at the end; children by tid. */
	int64_t first_child;
	int64_t next;
};

struct tasks {
	VEC(struct task) all;
	/* tid -> index */
	struct map by_tid;
	struct strbuf text;
};

/* The thread, which is new if no record spoke of it. */
static struct task *get_task(struct tasks *tasks, uint32_t pid, uint32_t tid)
{
	struct task task = { .pid = (int32_t)pid,
			     .tid = (int32_t)tid,
			     .ppid = NONE };
	bool is_new;
	uint64_t *id;

	if (tasks->all.count >= TASKS_MAX)
		return NULL;
	id = map_insert(&tasks->by_tid, tid, tasks->all.count, &is_new);
	snprintf(task.comm, sizeof(task.comm), ":%d", task.tid);
	if (!id || (is_new && !vec_push(&tasks->all, task)))
		return NULL;
	return &tasks->all.data[*id];
}

static void set_comm(struct task *task, const char *comm)
{
	snprintf(task->comm, sizeof(task->comm), "%s", comm);
}

static bool see_fork(struct tasks *tasks, const struct record_task *fork)
{
	struct task *parent = get_task(tasks, fork->ppid, fork->ptid);
	char comm[COMM_MAX];
	struct task *child;

	if (!parent)
		return false;
	memcpy(comm, parent->comm, sizeof(comm));
	child = get_task(tasks, fork->pid, fork->tid);
	if (!child)
		return false;
	child->pid = (int32_t)fork->pid;
	child->ppid = fork->tid == fork->ptid ? NONE : (int32_t)fork->ptid;
	set_comm(child, comm);
	return true;
}

static bool see_record(struct tasks *tasks, const struct record *record)
{
	struct task *task;

	if (record->type == PERF_RECORD_FORK)
		return see_fork(tasks, &record->task);
	if (record->type != PERF_RECORD_COMM)
		return true;
	task = get_task(tasks, record->comm.pid, record->comm.tid);
	if (task)
		set_comm(task, record->comm.comm);
	return task;
}

static int compare_tids(const void *left, const void *right)
{
	const struct task *a = left, *b = right;

	return (a->tid > b->tid) - (a->tid < b->tid);
}

/* The list that a task belongs to: its parent's, or that of the roots. */
static int64_t *list_of(struct tasks *tasks, const struct task *task,
			int64_t *roots)
{
	uint64_t *parent =
		task->ppid > 0 ? map_find(&tasks->by_tid,
					  (uint32_t)task->ppid)
			       : NULL;

	return parent ? &tasks->all.data[*parent].first_child : roots;
}

/* Sorts, and links tasks to their parents; *roots is the first without. */
static struct error *link_tasks(struct tasks *tasks, int64_t *roots)
{
	size_t count = tasks->all.count;

	*roots = NONE;
	if (count)
		qsort(tasks->all.data, count, sizeof(*tasks->all.data),
		      compare_tids);
	map_clear(&tasks->by_tid);
	for (size_t i = 0; i < count; i++) {
		struct task *task = &tasks->all.data[i];

		task->first_child = NONE;
		if (!map_insert(&tasks->by_tid, (uint32_t)task->tid, i, NULL))
			return error_no_memory();
	}
	for (size_t i = count; i-- > 0;) {
		struct task *task = &tasks->all.data[i];
		int64_t *list = list_of(tasks, task, roots);

		task->next = *list;
		*list = (int64_t)i;
	}
	return NULL;
}

static void put_name(struct strbuf *out, const char *name)
{
	for (; *name; name++)
		strbuf_putc(out, (unsigned char)*name < 0x20 || *name == 0x7f
					 ? '?'
					 : *name);
}

static void put_task(struct tasks *tasks, const struct task *task, int level)
{
	strbuf_printf(&tasks->text, "  %8d %8d %8d |%*s", task->pid, task->tid,
		      task->ppid, level, "");
	put_name(&tasks->text, task->comm);
	strbuf_putc(&tasks->text, '\n');
}

/* A circle of parents has no root, so that this ends. */
static void put_tasks(struct tasks *tasks, int64_t first, int level)
{
	for (int64_t i = first; i != NONE && level < LEVELS_MAX;
	     i = tasks->all.data[i].next) {
		put_task(tasks, &tasks->all.data[i],
			 tasks->all.data[i].tid ? level : 0);
		put_tasks(tasks, tasks->all.data[i].first_child, level + 1);
	}
}

static struct error *collect(struct tasks *tasks,
			     struct perfdata_reader *reader)
{
	struct task *idle = get_task(tasks, 0, 0);
	const struct record *record;
	struct error *error;

	if (!idle)
		return error_no_memory();
	set_comm(idle, "swapper");
	while (!(error = perfdata_reader_next(reader, &record)) && record)
		if (!see_record(tasks, record))
			return error_create(
				ERROR_LIMIT,
				"the recording has too many threads to list");
	return error;
}

struct error *report_tasks(struct perfdata_reader *reader, FILE *out)
{
	struct tasks tasks = { .text = STRBUF_INIT };
	int64_t roots = NONE;
	struct error *error = collect(&tasks, reader);

	if (!error)
		error = link_tasks(&tasks, &roots);
	if (!error) {
		strbuf_printf(&tasks.text, "# %8s %8s %8s  %s\n", "pid", "tid",
			      "ppid", "comm");
		put_tasks(&tasks, roots, 1);
		error = strbuf_error(&tasks.text);
	}
	if (!error && fputs(tasks.text.data, out) < 0)
		error = error_os(errno, NULL, "cannot write the report");
	vec_deinit(&tasks.all);
	map_deinit(&tasks.by_tid);
	strbuf_deinit(&tasks.text);
	return error;
}
