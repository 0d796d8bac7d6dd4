// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/map.h"
#include "base/vec.h"
#include "view/answer_screen.h"
#include "view/text.h"

enum { THREADS_MAX = 8 };

struct thread {
	uint32_t task;
	uint64_t period;
};

struct threads {
	VEC(struct thread) list;
	struct map index;
	bool processes;
};

static bool has_processes(const struct answer *a)
{
	const struct profile *p = a->profile;
	int32_t pid = 0;
	bool seen = false;

	for (size_t i = 0; i < p->samples.rows; i++) {
		int32_t own = profile_task(p, p->samples.task[i])->pid;

		if (p->samples.event[i] != a->event_index)
			continue;
		if (seen && own != pid)
			return true;
		seen = true;
		pid = own;
	}
	return false;
}

static struct error *gather_threads(const struct answer *a, struct threads *ret)
{
	const struct profile *p = a->profile;

	for (size_t i = 0; i < p->samples.rows; i++) {
		const struct profile_task *task =
			profile_task(p, p->samples.task[i]);
		uint32_t number = (uint32_t)(ret->processes ? task->pid :
							      task->tid);
		struct thread thread = { .task = p->samples.task[i] };
		uint64_t *at;

		if (p->samples.event[i] != a->event_index)
			continue;
		at = map_insert(&ret->index, number, ret->list.count, NULL);
		if (!at || (*at == ret->list.count &&
			    !vec_push(&ret->list, thread)))
			return error_no_memory();
		ret->list.data[*at].period += p->samples.period[i];
		/* The name that it had last. */
		ret->list.data[*at].task = thread.task;
	}
	return NULL;
}

static int compare_threads(const void *x, const void *y)
{
	const struct thread *a = x, *b = y;
	int order = compare_u64(b->period, a->period);

	return order ? order : compare_u64(a->task, b->task);
}

static void put_thread_rows(struct answer *a, const struct threads *threads)
{
	const char *what = threads->processes ? "process" : "thread";
	size_t rows = 1, others;
	uint64_t rest = 0;

	while (rows < threads->list.count && rows < THREADS_MAX &&
	       answer_share(a, threads->list.data[rows].period) >= 1)
		rows++;
	strbuf_printf(&a->text, "\n total          %s\n", what);
	for (size_t i = 0; i < threads->list.count; i++) {
		const struct thread *thread = &threads->list.data[i];
		const struct profile_task *task =
			profile_task(a->profile, thread->task);

		if (i >= rows) {
			rest += thread->period;
			continue;
		}
		strbuf_printf(&a->text, "%5.1f%%          %" PRId32 "  ",
			      answer_share(a, thread->period),
			      threads->processes ? task->pid : task->tid);
		text_string(&a->text, a->profile,
			    threads->processes ? task->comm :
						 profile_task_name(task),
			    "");
		answer_end_line(a);
	}
	others = threads->list.count - rows;
	if (others)
		strbuf_printf(&a->text, "%5.1f%%          %zu other %s%s\n",
			      answer_share(a, rest), others, what,
			      others == 1	 ? "" :
			      threads->processes ? "es" :
						   "s");
}

struct error *answer_put_threads(struct answer *a)
{
	struct threads threads = { .processes = has_processes(a) };
	struct error *error = gather_threads(a, &threads);

	if (!error && threads.list.count > 1) {
		qsort(threads.list.data, threads.list.count,
		      sizeof(*threads.list.data), compare_threads);
		put_thread_rows(a, &threads);
	}
	vec_deinit(&threads.list);
	map_deinit(&threads.index);
	return error;
}
