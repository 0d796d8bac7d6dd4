// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which tasks of asyncio the time was of, whatever they did: by name, and by their
 * coroutine where they have none.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/compare.h"
#include "base/map.h"
#include "base/vec.h"
#include "profile/symbol_word.h"
#include "view/alike_name.h"
#include "view/answer_screen.h"
#include "view/text.h"

enum {
	TASKS_MAX = 8,
};

struct task {
	/* Not terminated; of tasks without a name their coroutine's, or NULL. */
	const char *name;
	size_t length;
	uint64_t period;
	bool is_nameless;
	/* Of the row: how many names there are, and which of their numbers differ. */
	size_t names;
	uint64_t differing;
};

struct tasks {
	VEC(struct task) list;
	/* There are tasks with names, so those without may be of them, too (docs/async.md). */
	bool has_names;
};

/* The outermost frame of a task's stack, which the recorder makes (docs/async.md). */
static bool is_task(const struct answer *a, const struct own_entry *entry,
		    struct task *ret)
{
	struct task task = { .period = entry->total.period };

	if (!own_entry_is_task(a->profile, entry, &task.name, &task.length))
		return false;
	task.is_nameless = !task.name;
	*ret = task;
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

/* --- Tasks without a name --- */

/* Of a stack: it is of none of them; of one, whose coroutine is not in it. Others are strings. */
#define OF_NONE PROFILE_NONE
#define NO_COROUTINE (PROFILE_NONE - 1)

/* Of each stack the coroutine that such a task was made of; NULL: no memory. */
static uint32_t *find_coroutines(const struct profile *p, uint32_t nameless)
{
	uint32_t *coroutines =
		calloc(p->stack_parents.count + 1, sizeof(*coroutines));

	for (size_t i = 0; coroutines && i < p->stack_parents.count; i++) {
		uint32_t parent = p->stack_parents.data[i];
		const struct profile_frame *frame =
			profile_frame(p, p->stack_frames.data[i]);
		const struct profile_symbol *symbol =
			profile_symbol(p, frame->symbol);

		coroutines[i] = parent == PROFILE_NONE ? OF_NONE :
							 coroutines[parent];
		if (frame->kind != PROFILE_FRAME_PYTHON || !symbol)
			continue;
		if (parent == PROFILE_NONE && symbol->name == nameless)
			coroutines[i] = NO_COROUTINE;
		else if (coroutines[i] == NO_COROUTINE)
			coroutines[i] = symbol->name;
	}
	return coroutines;
}

static struct task task_of_coroutine(const struct profile *p, uint32_t coroutine)
{
	struct task task = { .is_nameless = true };
	struct python_symbol python;

	if (coroutine != NO_COROUTINE &&
	    python_symbol_parse(profile_string(p, coroutine, ""), &python)) {
		task.name = python.qualname;
		task.length = python.qualname_length;
	}
	return task;
}

/* nameless: what the outermost frame of all of them is called. */
static struct error *add_nameless(const struct answer *a, uint32_t nameless,
				  struct tasks *ret)
{
	const struct profile_samples *s = &a->profile->samples;
	_cleanup_free_ uint32_t *coroutines =
		find_coroutines(a->profile, nameless);
	_cleanup_(map_deinit) struct map index = {};

	if (!coroutines)
		return error_no_memory();
	for (size_t i = 0; i < s->rows; i++) {
		uint32_t coroutine = s->stack[i] == PROFILE_NONE ?
					     OF_NONE :
					     coroutines[s->stack[i]];
		uint64_t *at;

		if (s->event[i] != a->event_index || coroutine == OF_NONE)
			continue;
		at = map_insert(&index, coroutine, ret->list.count, NULL);
		if (!at || (*at == ret->list.count &&
			    !vec_push(&ret->list, task_of_coroutine(a->profile,
								    coroutine))))
			return error_no_memory();
		ret->list.data[*at].period += s->period[i];
	}
	return NULL;
}

/* --- Names that are alike --- */

/* NULL: the task has a row of its own. */
static struct alike_name *alike_of(const struct alike_names *names,
				   const struct task *task)
{
	struct alike_name *name =
		task->is_nameless ? NULL :
				    alike_names_find(names, 0, task->name,
						     task->length);

	return name && name->count > TASKS_MAX ? name : NULL;
}

/* Names that differ in their numbers alone are one row, if they are more than have rows. */
static struct error *join_alike(struct tasks *tasks)
{
	_cleanup_(alike_names_deinit) struct alike_names names = {};
	struct task *rows = tasks->list.data;
	struct error *error = NULL;
	size_t kept = 0;

	for (size_t i = 0; !error && i < tasks->list.count; i++)
		if (!rows[i].is_nameless)
			error = alike_names_add(&names, 0, rows[i].name,
						rows[i].length);
	for (size_t i = 0; !error && i < tasks->list.count; i++) {
		struct alike_name *name = alike_of(&names, &rows[i]);

		if (name && name->row != ALIKE_NO_ROW) {
			rows[name->row].period += rows[i].period;
			continue;
		}
		if (name) {
			name->row = kept;
			rows[i].names = name->count;
			rows[i].differing = name->differing;
		}
		rows[kept++] = rows[i];
	}
	if (!error)
		tasks->list.count = kept;
	return error;
}

/* --- Rows --- */

static int compare_tasks(const void *x, const void *y)
{
	const struct task *a = x, *b = y;
	int order = compare_u64(b->period, a->period);
	size_t n = a->length < b->length ? a->length : b->length;

	if (!order && n)
		order = memcmp(a->name, b->name, n);
	return order ? order : compare_u64(a->length, b->length);
}

static void put_name(struct answer *a, const struct tasks *tasks,
		     const struct task *task)
{
	if (!task->is_nameless) {
		alike_name_put(task->name, task->length, task->differing,
			       &a->text);
		if (task->names)
			strbuf_printf(&a->text, ", %zu names", task->names);
		return;
	}
	strbuf_puts(&a->text, "[tasks");
	if (task->name) {
		strbuf_puts(&a->text, " of ");
		text_append(&a->text, task->name, task->length);
	}
	if (tasks->has_names)
		strbuf_puts(&a->text, " without a name, or not read");
	strbuf_putc(&a->text, ']');
}

static void put_row(struct answer *a, const struct tasks *tasks,
		    const struct task *task)
{
	strbuf_printf(&a->text, "%5.1f%%  %8.2f  ",
		      answer_share(a, task->period), (double)task->period / 1e9);
	put_name(a, tasks, task);
	answer_end_line(a);
}

static void put_rows(struct answer *a, const struct tasks *tasks)
{
	size_t rows = 1, others;
	uint64_t rest = 0;

	while (rows < tasks->list.count && rows < TASKS_MAX &&
	       answer_share(a, tasks->list.data[rows].period) >= 1)
		rows++;
	others = tasks->list.count - rows;
	/* It takes a row, too. */
	if (others == 1) {
		rows++;
		others = 0;
	}
	strbuf_puts(&a->text, "\n total  total, s  task\n");
	for (size_t i = 0; i < rows; i++)
		put_row(a, tasks, &tasks->list.data[i]);
	for (size_t i = rows; i < tasks->list.count; i++)
		rest += tasks->list.data[i].period;
	if (others)
		strbuf_printf(&a->text, "%5.1f%%  %8.2f  %zu others\n",
			      answer_share(a, rest), (double)rest / 1e9, others);
}

static struct error *gather_tasks(const struct answer *a, struct tasks *ret)
{
	struct error *error = NULL;
	struct task task;

	vec_for_each(function, &a->own->functions) {
		if (error || !is_task(a, function, &task))
			continue;
		if (task.is_nameless)
			error = add_nameless(a, function->name, ret);
		else if (!vec_push(&ret->list, task))
			error = error_no_memory();
		ret->has_names |= !task.is_nameless;
	}
	return error;
}

struct error *answer_put_tasks(struct answer *a)
{
	struct tasks tasks = {};
	struct error *error;

	if (a->event->kind != EVENT_TASKS)
		return NULL;
	error = gather_tasks(a, &tasks);
	/* Of the tasks of one coroutine nothing is told that functions do not tell. */
	if (!error)
		error = join_alike(&tasks);
	if (!error && tasks.list.count && (tasks.list.count > 1 || tasks.has_names)) {
		qsort(tasks.list.data, tasks.list.count,
		      sizeof(*tasks.list.data), compare_tasks);
		put_rows(a, &tasks);
	}
	vec_deinit(&tasks.list);
	return error;
}
