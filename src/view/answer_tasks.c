// SPDX-License-Identifier: GPL-2.0-only
/* Which tasks of asyncio the time was of: by name, whatever they did. */
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/vec.h"
#include "profile/symbol_word.h"
#include "view/answer_screen.h"
#include "view/text.h"

enum {
	TASKS_MAX = 8,
};

struct task {
	/* Not terminated. */
	const char *name;
	size_t length;
	uint64_t period;
};

struct tasks VEC_BODY(struct task);

/* The outermost frame of a task's stack, which the recorder makes (docs/async.md). */
static bool is_task(const struct answer *a, const struct own_entry *entry,
		    struct task *ret)
{
	static const char kind[] = "task";
	const size_t n = sizeof(kind) - 1;
	const char *name = profile_string(a->profile, entry->name, "");
	struct python_symbol python;

	if (!entry->is_python || !python_symbol_parse(name, &python) ||
	    strcmp(python.file, "<asyncio>") != 0 ||
	    python.qualname_length < n || memcmp(python.qualname, kind, n) != 0)
		return false;
	*ret = (struct task){ .period = entry->total.period };
	if (python.qualname_length > n + 1 && python.qualname[n] == ' ') {
		ret->name = python.qualname + n + 1;
		ret->length = python.qualname_length - n - 1;
	}
	return true;
}

uint64_t answer_task_time(const struct answer *a)
{
	struct task task;
	uint64_t time = 0;

	vec_for_each(function, &a->own->functions)
		if (is_task(a, function, &task))
			time += task.period;
	return time;
}

static int compare_tasks(const void *x, const void *y)
{
	const struct task *a = x, *b = y;
	int order = compare_u64(b->period, a->period);
	size_t n = a->length < b->length ? a->length : b->length;

	if (!order && n)
		order = memcmp(a->name, b->name, n);
	return order ? order : compare_u64(a->length, b->length);
}

static void put_row(struct answer *a, const struct task *task)
{
	strbuf_printf(&a->text, "%5.1f%%  %8.2f  ",
		      answer_share(a, task->period), (double)task->period / 1e9);
	if (task->name)
		text_append(&a->text, task->name, task->length);
	else
		strbuf_puts(&a->text, "[tasks without a name, or not read]");
	answer_end_line(a);
}

static void put_rows(struct answer *a, const struct tasks *tasks)
{
	size_t rows = 1, others;
	uint64_t rest = 0;

	while (rows < tasks->count && rows < TASKS_MAX &&
	       answer_share(a, tasks->data[rows].period) >= 1)
		rows++;
	others = tasks->count - rows;
	/* It takes a row, too. */
	if (others == 1) {
		rows++;
		others = 0;
	}
	strbuf_puts(&a->text, "\n total  total, s  task\n");
	for (size_t i = 0; i < rows; i++)
		put_row(a, &tasks->data[i]);
	for (size_t i = rows; i < tasks->count; i++)
		rest += tasks->data[i].period;
	if (others)
		strbuf_printf(&a->text, "%5.1f%%  %8.2f  %zu others\n",
			      answer_share(a, rest), (double)rest / 1e9, others);
}

struct error *answer_put_tasks(struct answer *a)
{
	struct tasks tasks = {};
	struct error *error = NULL;
	struct task task;

	if (a->event->kind != EVENT_TASKS)
		return NULL;
	vec_for_each(function, &a->own->functions)
		if (!error && is_task(a, function, &task) &&
		    !vec_push(&tasks, task))
			error = error_no_memory();
	/* Without any name nothing is told. */
	if (!error && (tasks.count > 1 ||
		       (tasks.count && tasks.data[0].name))) {
		qsort(tasks.data, tasks.count, sizeof(*tasks.data),
		      compare_tasks);
		put_rows(a, &tasks);
	}
	vec_deinit(&tasks);
	return error;
}
