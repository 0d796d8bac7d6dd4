// SPDX-License-Identifier: GPL-2.0-only
/* Whose time without Python code is: mostly of programs that a Python program has started. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/compare.h"
#include "base/map.h"
#include "base/vec.h"
#include "view/answer_screen.h"
#include "view/text.h"

enum {
	NAMES_MAX = 3,
	/* Of all that time, for a name. */
	LEAST_PART = 10,
};

struct program {
	/* A string. */
	uint32_t comm;
	uint64_t period;
};

/* What samples tell of a task. */
struct told {
	bool has_python;
	/* Of samples without Python code. */
	uint64_t period;
};

struct programs {
	VEC(struct program) list;
	/* A string to its place in the list. */
	struct map index;
	/* Processes with Python code, and each with the name that it had then: key_of(). */
	struct map pythons;
	/* Of all samples without Python code. */
	uint64_t all;
};

static void programs_deinit(struct programs *programs)
{
	vec_deinit(&programs->list);
	map_deinit(&programs->index);
	map_deinit(&programs->pythons);
}

static void tell_tasks(const struct answer *a, struct told *tasks)
{
	const struct profile_samples *s = &a->profile->samples;

	for (size_t i = 0; i < s->rows; i++) {
		uint32_t stack = s->stack[i];

		if (s->event[i] != a->event_index)
			continue;
		if (stack != PROFILE_NONE && a->has_python[stack])
			tasks[s->task[i]].has_python = true;
		else
			tasks[s->task[i]].period += s->period[i];
	}
}

static uint64_t key_of(const struct profile_task *task, uint32_t comm)
{
	return (uint64_t)(uint32_t)task->pid << 32 | comm;
}

static struct error *note_python(struct programs *programs,
				 const struct profile_task *task)
{
	return map_insert(&programs->pythons, key_of(task, task->comm), 0, NULL) &&
			       map_insert(&programs->pythons,
					  key_of(task, PROFILE_NONE), 0, NULL) ?
		       NULL :
		       error_no_memory();
}

/*
 * Between fork and exec a program has the Python code of who starts it, and its name.
 * Threads of libraries may have names of their own.
 */
static bool is_of_python(const struct programs *programs,
			 const struct profile_task *task)
{
	return map_find(&programs->pythons,
			key_of(task, task->tid == task->pid ? task->comm :
							      PROFILE_NONE));
}

static struct error *add_program(struct programs *programs,
				 const struct profile_task *task, uint64_t period)
{
	struct program none = { .comm = task->comm };
	uint64_t *at;

	programs->all += period;
	/* Without a number it is of some process outside the container, or ending. */
	if (!period || task->comm == PROFILE_NONE || task->pid <= 0 ||
	    is_of_python(programs, task))
		return NULL;
	at = map_insert(&programs->index, task->comm, programs->list.count, NULL);
	if (!at || (*at == programs->list.count &&
		    !vec_push(&programs->list, none)))
		return error_no_memory();
	programs->list.data[*at].period += period;
	return NULL;
}

static struct error *add_programs(const struct answer *a, const struct told *tasks,
				  struct programs *programs)
{
	const struct profile *p = a->profile;
	struct error *error = NULL;

	for (uint32_t i = 0; !error && i < p->tasks.count; i++)
		if (tasks[i].has_python)
			error = note_python(programs, profile_task(p, i));
	for (uint32_t i = 0; !error && i < p->tasks.count; i++)
		error = add_program(programs, profile_task(p, i),
				    tasks[i].period);
	return error;
}

static int compare_programs(const void *x, const void *y)
{
	const struct program *a = x, *b = y;
	int order = compare_u64(b->period, a->period);

	return order ? order : compare_u64(a->comm, b->comm);
}

/* "of cc1, as"; nothing if less than a half is theirs. */
static void put_programs(const struct answer *a, struct programs *programs,
			 struct strbuf *ret)
{
	uint64_t sum = 0;
	size_t names = 0;

	vec_for_each(program, &programs->list)
		sum += program->period;
	if (sum <= programs->all / 2)
		return;
	qsort(programs->list.data, programs->list.count,
	      sizeof(*programs->list.data), compare_programs);
	while (names < programs->list.count && names < NAMES_MAX &&
	       programs->list.data[names].period >= programs->all / LEAST_PART) {
		strbuf_puts(ret, names ? ", " : "of ");
		text_string(ret, a->profile, programs->list.data[names++].comm, "");
	}
}

struct error *answer_find_programs(const struct answer *a, struct strbuf *ret)
{
	_cleanup_(programs_deinit) struct programs programs = {};
	_cleanup_free_ struct told *tasks =
		calloc(a->profile->tasks.count + 1, sizeof(*tasks));
	struct error *error;

	strbuf_clear(ret);
	if (!tasks)
		return error_no_memory();
	tell_tasks(a, tasks);
	error = add_programs(a, tasks, &programs);
	if (!error)
		put_programs(a, &programs, ret);
	return error;
}
