// SPDX-License-Identifier: GPL-2.0-only
#include "dump/async_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "dump/async_awaits.h"
#include "dump/frame_text.h"
#include "view/fit.h"
#include "view/printable.h"

enum {
	/* Columns of the table. */
	NAME_WIDTH = 18,
	DOES_WIDTH = 38,
	/* Columns by which a task stands in from the one that awaits it, and at most. */
	STEP = 4,
	INDENT_MAX = 20,
};

/* A task that is to be printed. */
struct place {
	uint32_t task;
	uint32_t depth;
};

struct tree {
	const struct dump_tasks *tasks;
	const struct dump_words *words;
	struct strbuf *out;
	/* For each task: it was printed. */
	bool *seen;
	VEC(struct place) stack;
	bool failed;
};

const char *async_state_word(enum dump_task_state state)
{
	static const char *const words[] = {
		[DUMP_TASK_RUNNING] = "running",
		[DUMP_TASK_WAITING] = "waiting",
		[DUMP_TASK_SCHEDULED] = "scheduled",
		[DUMP_TASK_DONE] = "done",
	};

	return words[state];
}

const char *async_wait_word(enum py_wait wait)
{
	static const char *const words[] = {
		[PY_WAIT_TASKS] = "tasks",	 [PY_WAIT_SLEEP] = "sleep",
		[PY_WAIT_LOCK] = "lock",	 [PY_WAIT_QUEUE] = "queue",
		[PY_WAIT_SOCKET] = "socket",	 [PY_WAIT_PROCESS] = "process",
		[PY_WAIT_THREAD] = "thread",	 [PY_WAIT_FUTURE] = "future",
	};

	return words[wait];
}

static const char *name_of(const struct dump_task *task)
{
	return task->name ? task->name : "[no name]";
}

/* --- what one does --- */

static void put_tasks(const struct dump_tasks *tasks, uint32_t index,
		      struct strbuf *out)
{
	size_t count;
	const struct dump_await *awaits =
		async_awaits_of(tasks, index, &count);

	if (count == 1)
		strbuf_printf(out, "task %s",
			      name_of(&tasks->list.data[awaits->awaited]));
	else
		strbuf_printf(out, "%zu tasks", count);
}

/* Of what more is not known. */
static const char *wait_noun(enum py_wait wait)
{
	static const char *const nouns[] = {
		[PY_WAIT_LOCK] = "a lock",
		[PY_WAIT_QUEUE] = "a queue",
		[PY_WAIT_SOCKET] = "a socket",
		[PY_WAIT_PROCESS] = "a process",
		[PY_WAIT_THREAD] = "another thread",
		[PY_WAIT_FUTURE] = "a future",
	};

	return nouns[wait];
}

/* seconds: as Python writes the number; NULL: not known. */
static void put_sleep(const char *seconds, struct strbuf *out)
{
	char *end = NULL;
	double number = seconds ? strtod(seconds, &end) : 0;

	strbuf_puts(out, "sleeps");
	if (end && end != seconds && !*end)
		strbuf_printf(out, number < 1000 ? " for %.3g s" : " for %.0f s",
			      number);
	else if (seconds)
		strbuf_printf(out, " for %s", seconds);
}

static void put_wait(const struct dump_tasks *tasks, uint32_t index,
		     struct strbuf *out)
{
	const struct dump_task *task = &tasks->list.data[index];

	if (task->wait == PY_WAIT_SLEEP) {
		put_sleep(task->waits_for, out);
		return;
	}
	strbuf_puts(out, "waits for ");
	if (task->wait == PY_WAIT_TASKS)
		put_tasks(tasks, index, out);
	else
		strbuf_puts(out, task->waits_for ? task->waits_for :
						   wait_noun(task->wait));
}

static void put_does(const struct dump_tasks *tasks, uint32_t index,
		     struct strbuf *out)
{
	const struct dump_task *task = &tasks->list.data[index];

	if (!dump_task_is_read(task))
		strbuf_puts(out, "not read");
	else if (task->state == DUMP_TASK_WAITING)
		put_wait(tasks, index, out);
	else if (task->state == DUMP_TASK_DONE)
		strbuf_puts(out, "done, not collected");
	else
		strbuf_puts(out, async_state_word(task->state));
}

/* --- how many --- */

static void put_count(struct strbuf *out, const char **separator, size_t count,
		      const char *word)
{
	if (!count)
		return;
	strbuf_printf(out, "%s%zu %s", *separator, count, word);
	*separator = ", ";
}

static void put_states(const struct dump_tasks *tasks, struct strbuf *out)
{
	size_t counts[DUMP_TASK_DONE + 1] = {}, unread = 0;
	const char *separator = ": ";

	vec_for_each(task, &tasks->list)
		if (dump_task_is_read(task))
			counts[task->state]++;
		else
			unread++;
	for (size_t i = 0; i <= DUMP_TASK_DONE; i++)
		put_count(out, &separator, counts[i],
			  async_state_word((enum dump_task_state)i));
	put_count(out, &separator, unread, "not read");
}

static void put_waits(const struct dump_tasks *tasks, struct strbuf *out)
{
	size_t counts[PY_WAIT_FUTURE + 1] = {};
	const char *separator = "waiting for: ";

	vec_for_each(task, &tasks->list)
		counts[task->wait]++;
	for (size_t i = PY_WAIT_TASKS; i <= PY_WAIT_FUTURE; i++)
		if (counts[i]) {
			strbuf_printf(out, "%s%s %zu", separator,
				      async_wait_word((enum py_wait)i),
				      counts[i]);
			separator = ", ";
		}
}

static void put_head(const struct dump_tasks *tasks, size_t width,
		     struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;

	if (!tasks->list.count && !tasks->unknown && !tasks->is_cut)
		strbuf_puts(&line, "no task of asyncio exists in this process");
	else
		strbuf_printf(&line, "%zu task%s", tasks->list.count,
			      plural(tasks->list.count));
	put_states(tasks, &line);
	frame_text_line(out, line.data, width);
	strbuf_clear(&line);
	put_waits(tasks, &line);
	fit_lines(out, line.data, width);
	if (tasks->unknown)
		strbuf_printf(out,
			      "[%zu task%s not read: this build of asyncio is not known]\n",
			      tasks->unknown, plural(tasks->unknown));
	if (tasks->is_cut)
		strbuf_puts(out,
			    "[there may be more: lists changed at each try, or were not read to their end]\n");
}

/* --- the table --- */

static void put_column(struct strbuf *out, const char *text, size_t width)
{
	size_t before = out->len, shown;

	fit_begin(out, text, strlen(text), width);
	shown = printable_width(out->data + before, out->len - before);
	strbuf_fill(out, ' ', (shown < width ? width - shown : 0) + 1);
}

/* The innermost function that is not asyncio's own says most. */
static const struct dump_frame *own_frame(const struct dump_tasks *tasks,
					  const struct dump_task *task)
{
	const struct dump_frame *first = &tasks->frames.data[task->first_frame];

	if (!task->frame_count)
		return NULL;
	for (uint32_t i = 0; i < task->frame_count; i++)
		if (!strstr(first[i].file, "/asyncio/"))
			return &first[i];
	return first;
}

static void put_row(const struct dump_tasks *tasks, uint32_t index,
		    size_t width, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf does = STRBUF_INIT, place = STRBUF_INIT;
	const struct dump_task *task = &tasks->list.data[index];
	const struct dump_frame *frame = own_frame(tasks, task);

	put_does(tasks, index, &does);
	put_column(out, name_of(task), NAME_WIDTH);
	if (!frame) {
		frame_text_line(out, does.data, width - NAME_WIDTH - 1);
		return;
	}
	put_column(out, does.data, DOES_WIDTH);
	strbuf_printf(&place, "%s:%" PRIu32, frame->function, frame->line);
	frame_text_line(out, place.data, width - NAME_WIDTH - DOES_WIDTH - 2);
}

/* --- the tree --- */

static void put_note(const char *note, size_t indent, struct strbuf *out)
{
	strbuf_fill(out, ' ', indent);
	strbuf_puts(out, note);
	strbuf_putc(out, '\n');
}

static void put_problem(const struct dump_task *task, size_t indent,
			struct strbuf *out)
{
	static const char *const words[] = {
		[DUMP_TASK_RAN_ON] = "[not read: its thread ran on at each try]",
		[DUMP_TASK_THREAD_ENDED] = "[not read: its thread has ended]",
		[DUMP_TASK_NOT_READ] = "[not read: kaa has read as much as it does]",
		[DUMP_TASK_UNREADABLE] = "[the frames beyond could not be read]",
		[DUMP_TASK_TOO_DEEP] = "[goes on: more frames than kaa reads]",
		[DUMP_TASK_FOREIGN] =
			"[goes on in a coroutine of another kind, whose frames are not known]",
	};

	if (task->problem)
		put_note(words[task->problem], indent, out);
	if (task->is_unproven)
		put_note("[read without proof: no thread is known that runs its loop]",
			 indent, out);
	if (task->no_locals && task->frame_count)
		put_note("[variables not read: its thread ran on, or there are too many]",
			 indent, out);
}

static size_t indent_of(uint32_t depth)
{
	return depth < INDENT_MAX / STEP ? depth * STEP : INDENT_MAX;
}

static void put_title(struct tree *tree, const struct place *at, bool again)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;

	strbuf_fill(&line, ' ', indent_of(at->depth));
	if (at->depth)
		strbuf_puts(&line, "< ");
	strbuf_printf(&line, "%s (",
		      name_of(&tree->tasks->list.data[at->task]));
	if (again)
		strbuf_puts(&line, "see above");
	else
		put_does(tree->tasks, at->task, &line);
	strbuf_putc(&line, ')');
	frame_text_line(tree->out, line.data, tree->words->width);
}

/* The last one that is pushed is the first one that is printed. */
static void push_awaited(struct tree *tree, const struct place *at)
{
	size_t count;
	const struct dump_await *awaits =
		async_awaits_of(tree->tasks, at->task, &count);

	while (count-- > 0)
		tree->failed |= !vec_push(&tree->stack,
					  (struct place){ awaits[count].awaited,
							  at->depth + 1 });
}

static void put_task(struct tree *tree, const struct place *at)
{
	const struct dump_task *task = &tree->tasks->list.data[at->task];
	size_t indent = indent_of(at->depth) + STEP;
	bool again = tree->seen[at->task];

	put_title(tree, at, again);
	if (again)
		return;
	tree->seen[at->task] = true;
	for (uint32_t i = 0; i < task->frame_count; i++) {
		const struct dump_frame *frame =
			&tree->tasks->frames.data[task->first_frame + i];

		frame_text(frame, tree->words, indent, tree->out);
		frame_text_locals(&tree->tasks->locals, frame,
				  tree->words->width, indent + STEP, tree->out);
	}
	put_problem(task, indent, tree->out);
	push_awaited(tree, at);
}

static void put_from(struct tree *tree, uint32_t root)
{
	struct place at = { .task = root };

	strbuf_putc(tree->out, '\n');
	put_task(tree, &at);
	while (tree->stack.count) {
		at = tree->stack.data[--tree->stack.count];
		put_task(tree, &at);
	}
}

/* What awaits each other in a circle has no root: any of it is as good. */
static void put_tree(struct tree *tree)
{
	for (int circles = 0; circles < 2; circles++) {
		for (uint32_t i = 0; i < tree->tasks->list.count; i++) {
			const struct dump_task *task =
				&tree->tasks->list.data[i];

			if (tree->seen[i] || task->state == DUMP_TASK_DONE ||
			    (!circles && task->is_awaited))
				continue;
			put_from(tree, i);
		}
	}
}

void async_text(const struct dump *dump, const struct dump_words *words,
		struct strbuf *out)
{
	const struct dump_tasks *tasks = &dump->tasks;
	struct tree tree = { .tasks = tasks, .words = words, .out = out };

	put_head(tasks, words->width, out);
	if (!tasks->list.count)
		return;
	strbuf_putc(out, '\n');
	for (uint32_t i = 0; i < tasks->list.count; i++)
		put_row(tasks, i, words->width, out);
	tree.seen = calloc(tasks->list.count, sizeof(*tree.seen));
	if (tree.seen)
		put_tree(&tree);
	out->failed |= !tree.seen || tree.failed;
	free(tree.seen);
	vec_deinit(&tree.stack);
}
