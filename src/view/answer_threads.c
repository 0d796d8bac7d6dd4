// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/compare.h"
#include "base/map.h"
#include "base/name_match.h"
#include "base/path_name.h"
#include "base/vec.h"
#include "view/alike_name.h"
#include "view/answer_screen.h"
#include "view/own_name.h"
#include "view/process_words.h"
#include "view/text.h"

enum {
	THREADS_MAX = 8,
	/* Of those that have no row. */
	NAMES_MAX = 3,
	/* A number, and what is between it and the name. */
	NUMBER_WIDTH = 9,
};

struct thread {
	uint32_t task;
	uint64_t period;
	/* Samples of it have different names. */
	bool has_names;
	bool has_python;
	/* Of the row: itself, and others: processes that are no Python, or threads. */
	size_t members;
	/* Of several threads: which numbers in their names differ. */
	uint64_t differing;
};

struct threads {
	VEC(struct thread) list;
	/* By process and thread; by process. */
	struct map index;
	struct map processes;
	/* All that were ending, which are none of these; without members: none were. */
	struct thread ending;
	struct process_words words;
};

static bool are_processes(const struct threads *threads)
{
	return profile_lists_processes(threads->processes.count,
				       threads->index.count);
}

static struct error *gather_threads(const struct answer *a, struct threads *ret)
{
	const struct profile *p = a->profile;

	for (size_t i = 0; i < p->samples.rows; i++) {
		uint32_t stack = p->samples.stack[i];
		const struct profile_task *task =
			profile_task(p, p->samples.task[i]);
		struct thread thread = { .task = p->samples.task[i],
					 .members = 1 };
		uint32_t pid = (uint32_t)task->pid, tid = (uint32_t)task->tid;
		struct thread *known;
		uint64_t *at;

		if (p->samples.event[i] != a->event_index)
			continue;
		if (profile_task_is_ending(task)) {
			thread.period = ret->ending.period +
					p->samples.period[i];
			ret->ending = thread;
			continue;
		}
		at = map_insert(&ret->index, (uint64_t)pid << 32 | tid,
				ret->list.count, NULL);
		if (!at || !map_insert(&ret->processes, pid, 0, NULL) ||
		    (*at == ret->list.count &&
		     !vec_push(&ret->list, thread)))
			return error_no_memory();
		known = &ret->list.data[*at];
		known->period += p->samples.period[i];
		known->has_python |= stack != PROFILE_NONE &&
				     a->has_python[stack];
		known->has_names |=
			profile_task(p, known->task)->comm != task->comm;
		/* A thread goes by the name that it had last. */
		known->task = thread.task;
	}
	return NULL;
}

/*
 * A shell that looks for the program to run starts dozens of others: those of one
 * name, which nobody needs to tell apart, become one row.
 */
static struct error *join_helpers(const struct answer *a,
				  struct threads *threads)
{
	_cleanup_(map_deinit) struct map names = {};
	size_t kept = 0;

	vec_for_each(thread, &threads->list) {
		const struct profile_task *task =
			profile_task(a->profile, thread->task);
		uint64_t *at = NULL;
		bool is_new = true;

		if (!thread->has_python && task->pid == task->tid && task->pid &&
		    task->comm != PROFILE_NONE) {
			at = map_insert(&names, task->comm, kept, &is_new);
			if (!at)
				return error_no_memory();
		}
		if (is_new) {
			threads->list.data[kept++] = *thread;
			continue;
		}
		threads->list.data[*at].period += thread->period;
		threads->list.data[*at].members++;
	}
	threads->list.count = kept;
	return NULL;
}

/* --- Threads of alike names --- */

static const char *name_of(const struct answer *a, const struct thread *thread)
{
	return profile_string(a->profile,
			      profile_task_name(profile_task(a->profile,
							     thread->task)),
			      "");
}

static uint64_t pid_of(const struct answer *a, const struct thread *thread)
{
	return (uint32_t)profile_task(a->profile, thread->task)->pid;
}

/* Those that a process has begun with are told apart by their processes. */
static bool may_be_joined(const struct answer *a, const struct thread *thread)
{
	const struct profile_task *task = profile_task(a->profile, thread->task);

	return thread->members == 1 && task->pid > 0 && task->tid > 0 &&
	       task->tid != task->pid && *name_of(a, thread);
}

/* Of the threads of a process. */
static struct error *find_alike(const struct answer *a,
				const struct threads *threads,
				struct alike_names *ret)
{
	struct error *error = NULL;

	vec_for_each(thread, &threads->list) {
		const char *name = name_of(a, thread);

		if (!error && may_be_joined(a, thread))
			error = alike_names_add(
				ret, pid_of(a, thread), name, strlen(name));
	}
	return error;
}

/* NULL: the thread has a row of its own. */
static struct alike_name *alike_of(const struct answer *a,
				   const struct alike_names *names,
				   const struct thread *thread)
{
	const char *text = name_of(a, thread);
	struct alike_name *name =
		may_be_joined(a, thread) ?
			alike_names_find(names, pid_of(a, thread), text,
					 strlen(text)) :
			NULL;

	return name && name->count > THREADS_MAX ? name : NULL;
}

/*
 * A server has a thread for each request: those of a process whose names differ in numbers
 * alone become one row, if they are more than have rows.
 */
static struct error *join_alike(const struct answer *a, struct threads *threads)
{
	_cleanup_(alike_names_deinit) struct alike_names names = {};
	struct error *error = find_alike(a, threads, &names);
	struct thread *rows = threads->list.data;
	size_t kept = 0;

	for (size_t i = 0; !error && i < threads->list.count; i++) {
		struct alike_name *name = alike_of(a, &names, &rows[i]);

		if (name && name->row != ALIKE_NO_ROW) {
			rows[name->row].period += rows[i].period;
			rows[name->row].members++;
			continue;
		}
		if (name) {
			name->row = kept;
			rows[i].differing = name->differing;
		}
		rows[kept++] = rows[i];
	}
	if (!error)
		threads->list.count = kept;
	return error;
}

/* --- Children that are alike --- */

/* How they are called where they have rows of their own. */
static uint32_t row_name(const struct answer *a, const struct threads *threads,
			 const struct thread *thread)
{
	const struct profile_task *task = profile_task(a->profile, thread->task);

	return are_processes(threads) ? task->comm : profile_task_name(task);
}

/* The rows that would say the same have the same one; 0: the row is of no child. */
static uint64_t alike_key(const struct answer *a, const struct threads *threads,
			  const struct thread *thread)
{
	const struct profile_task *task = profile_task(a->profile, thread->task);
	struct answer_process process = answer_process(&threads->words.workers, task->pid);
	uint64_t hash;

	if (task->pid <= 0 || task->pid != task->tid || thread->members > 1 ||
	    (!process.parent && !process.is_worker))
		return 0;
	hash = hash_combine(process.is_worker, (uint32_t)process.parent);
	hash = hash_combine(hash, row_name(a, threads, thread));
	return hash_combine(hash, process_words_script(&threads->words, task->pid)) | 1;
}

/* By key, how many there are. */
static struct error *count_children(const struct answer *a,
				    const struct threads *threads,
				    struct map *ret)
{
	vec_for_each(thread, &threads->list) {
		uint64_t key = alike_key(a, threads, thread);
		uint64_t *count = key ? map_insert(ret, key, 0, NULL) : NULL;

		if (key && !count)
			return error_no_memory();
		if (count)
			++*count;
	}
	return NULL;
}

/*
 * A program starts a process for each piece of its work: children of one process that
 * are called alike and run the same script become one row, if they are more than have rows.
 */
static struct error *join_children(const struct answer *a,
				   struct threads *threads)
{
	_cleanup_(map_deinit) struct map counts = {}, kept_at = {};
	struct error *error = count_children(a, threads, &counts);
	struct thread *rows = threads->list.data;
	size_t kept = 0;

	for (size_t i = 0; !error && i < threads->list.count; i++) {
		uint64_t key = alike_key(a, threads, &rows[i]);
		const uint64_t *count = key ? map_find(&counts, key) : NULL;
		bool is_new = true;
		uint64_t *at = NULL;

		if (count && *count > THREADS_MAX) {
			at = map_insert(&kept_at, key, kept, &is_new);
			if (!at)
				return error_no_memory();
		}
		if (!is_new) {
			rows[*at].period += rows[i].period;
			rows[*at].members++;
			continue;
		}
		rows[kept++] = rows[i];
	}
	if (!error)
		threads->list.count = kept;
	return error;
}

/* --- Rows --- */

static int compare_threads(const void *x, const void *y)
{
	const struct thread *a = x, *b = y;
	int order = compare_u64(b->period, a->period);

	return order ? order : compare_u64(a->task, b->task);
}

/* All that have no number in the recorder's PID namespace have the number 0. */
static bool is_outside(const struct profile_task *task,
		       const struct thread *thread)
{
	return !task->pid && thread->has_names;
}

static void put_pattern(struct answer *a, const char *name,
			const struct thread *thread)
{
	alike_name_put(name, strlen(name), thread->differing, &a->text);
}

/*
 * "python3 (orders.py)", "MainThread (orders.py), worker of 1234",
 * "Thread-N (serve), 120 threads"
 */
static void put_name(struct answer *a, const struct threads *threads,
		     const struct thread *thread)
{
	const struct profile_task *task = profile_task(a->profile, thread->task);
	bool is_process = are_processes(threads);

	if (is_process)
		text_string(&a->text, a->profile, task->comm, "");
	else
		put_pattern(a, name_of(a, thread), thread);
	if (thread->members > 1)
		strbuf_printf(&a->text, ", %zu threads", thread->members);
	if (threads->processes.count < 2)
		return;
	if (is_process || task->pid == task->tid)
		process_words_put_script(&threads->words, a->names, task, &a->text);
	process_words_put_parent(&threads->words, task->pid, &a->text);
}

/* ", 100 children of 609", ", 12 workers" */
static void put_children(struct answer *a, const struct threads *threads,
			 const struct thread *thread)
{
	int32_t pid = profile_task(a->profile, thread->task)->pid;
	struct answer_process process = answer_process(&threads->words.workers, pid);

	strbuf_printf(&a->text, ", %zu %s", thread->members,
		      process.is_worker ? "workers" : "children");
	if (process.parent)
		strbuf_printf(&a->text, " of %" PRId32, process.parent);
}

/*
 * They have no number in common: "         bash (24 processes)",
 * "         python3 (orders.py), 100 children of 609".
 */
static void put_joined(struct answer *a, const struct threads *threads,
		       const struct thread *thread)
{
	strbuf_fill(&a->text, ' ',
		    are_processes(threads) ? NUMBER_WIDTH : 2 * NUMBER_WIDTH);
	text_string(&a->text, a->profile, row_name(a, threads, thread), "");
	if (thread->has_python) {
		process_words_put_script(&threads->words, a->names,
					 profile_task(a->profile, thread->task), &a->text);
		put_children(a, threads, thread);
	} else {
		strbuf_printf(&a->text, " (%zu processes)", thread->members);
	}
	answer_end_line(a);
}

static void put_thread(struct answer *a, const struct threads *threads,
		       const struct thread *thread)
{
	const struct profile_task *task = profile_task(a->profile, thread->task);
	bool is_process = are_processes(threads);

	strbuf_printf(&a->text, "%5.1f%%          ",
		      answer_share(a, thread->period));
	if (thread->members > 1 && task->pid == task->tid) {
		put_joined(a, threads, thread);
		return;
	}
	if (threads->processes.count > 1)
		strbuf_printf(&a->text, "%-7" PRId32 "  ", task->pid);
	if (thread->members > 1 ||
	    (!is_process && profile_task_is_ending(task)))
		strbuf_fill(&a->text, ' ', NUMBER_WIDTH);
	else if (!is_process)
		strbuf_printf(&a->text, "%-7" PRId32 "  ", task->tid);
	if (is_outside(task, thread))
		strbuf_puts(&a->text, "[processes outside this container]");
	else if (profile_task_is_ending(task))
		strbuf_puts(&a->text, OWN_NAME_ENDING);
	else
		put_name(a, threads, thread);
	answer_end_line(a);
}

/* ": bash, sed, ...": the heaviest that have names, each once, and that there are more. */
static void put_names_of_others(struct answer *a, const struct threads *threads,
				size_t first)
{
	uint32_t shown[NAMES_MAX];
	bool is_all = true;
	size_t count = 0, i;

	for (; first < threads->list.count; first++) {
		const struct thread *thread = &threads->list.data[first];
		const struct profile_task *task =
			profile_task(a->profile, thread->task);
		uint32_t name = row_name(a, threads, thread);

		for (i = 0; i < count && shown[i] != name; i++)
			;
		if (i < count || profile_task_is_ending(task))
			continue;
		if (count == NAMES_MAX || name == PROFILE_NONE) {
			is_all = false;
			continue;
		}
		strbuf_puts(&a->text, count ? ", " : ": ");
		put_pattern(a, profile_string(a->profile, name, ""), thread);
		shown[count++] = name;
	}
	if (count && !is_all)
		strbuf_puts(&a->text, ", ...");
}

static void put_title(struct answer *a, const struct threads *threads)
{
	strbuf_puts(&a->text, "\n total          ");
	if (threads->processes.count > 1)
		strbuf_puts(&a->text, "process  ");
	if (!are_processes(threads))
		strbuf_puts(&a->text, "thread   ");
	strbuf_puts(&a->text, "name\n");
}

/* Of a row; what was ending is a part of some thread, but not known of which. */
static size_t count_threads(const struct answer *a, const struct thread *thread)
{
	return profile_task_is_ending(profile_task(a->profile, thread->task)) ? 0 :
								   thread->members;
}

static void put_thread_rows(struct answer *a, const struct threads *threads)
{
	const char *what = are_processes(threads) ? "processes" : "threads";
	size_t rows = 1, others = 0;
	uint64_t rest = 0;

	while (rows < threads->list.count && rows < THREADS_MAX &&
	       answer_share(a, threads->list.data[rows].period) >= 1)
		rows++;
	/* One takes a row, too. */
	if (threads->list.count - rows <= (threads->ending.members ? 2 : 1))
		rows = threads->list.count;
	for (size_t i = rows; i < threads->list.count; i++)
		others += count_threads(a, &threads->list.data[i]);
	put_title(a, threads);
	for (size_t i = 0; i < rows; i++)
		put_thread(a, threads, &threads->list.data[i]);
	for (size_t i = rows; i < threads->list.count; i++)
		rest += threads->list.data[i].period;
	if (!others)
		return;
	strbuf_printf(&a->text, "%5.1f%%          %zu other %s",
		      answer_share(a, rest), others, what);
	put_names_of_others(a, threads, rows);
	strbuf_putc(&a->text, '\n');
}

struct error *answer_put_threads(struct answer *a)
{
	struct threads threads = {};
	struct error *error = gather_threads(a, &threads);
	bool is_told;

	if (!error)
		error = join_helpers(a, &threads);
	if (!error && threads.processes.count > 1)
		error = process_words_init(&threads.words, a->profile,
					   a->event_index);
	if (!error && threads.processes.count > 1)
		error = join_children(a, &threads);
	is_told = threads.list.count + threads.ending.members > 1;
	if (!error && is_told && !are_processes(&threads))
		error = join_alike(a, &threads);
	if (!error && threads.ending.members &&
	    !vec_push(&threads.list, threads.ending))
		error = error_no_memory();
	if (!error && is_told) {
		qsort(threads.list.data, threads.list.count,
		      sizeof(*threads.list.data), compare_threads);
		put_thread_rows(a, &threads);
	}
	vec_deinit(&threads.list);
	map_deinit(&threads.index);
	map_deinit(&threads.processes);
	process_words_deinit(&threads.words);
	return error;
}
