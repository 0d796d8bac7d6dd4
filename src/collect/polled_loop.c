// SPDX-License-Identifier: GPL-2.0-only
#include "collect/polled_loop.h"

#include <stdlib.h>

#include "base/compare.h"
#include "base/map.h"

enum {
	/*
	 * A list is read again when so many times what that took have passed; a long one
	 * of a thread that is kept from running, later, while less than one of so many
	 * tasks in it is another by now.
	 */
	LISTING_PART = 20,
	LISTING_PART_AWAKE = 200,
	LISTING_LONG_NS = 300000,
	REPLACED_PART = 16,
};

struct polled_loop *polled_loop_create(uint64_t era)
{
	struct polled_loop *loop = calloc(1, sizeof(*loop));

	if (loop)
		loop->era = era;
	return loop;
}

void polled_loop_destroy(struct polled_loop *loop)
{
	if (!loop)
		return;
	code_names_deinit(&loop->names);
	vec_deinit(&loop->tasks);
	task_times_deinit(&loop->times);
	free(loop);
}

uint64_t polled_loop_place(uint64_t task)
{
	return hash_combine(task, 0);
}

static int compare_tasks(const void *a, const void *b)
{
	return compare_u64(polled_loop_place(*(const uint64_t *)a),
			   polled_loop_place(*(const uint64_t *)b));
}

/* Both are in order. */
static size_t count_new(const struct py_task_list *tasks,
			const struct py_task_list *before)
{
	size_t count = 0, at = 0;

	vec_for_each(task, tasks) {
		while (at < before->count &&
		       compare_tasks(&before->data[at], task) < 0)
			at++;
		count += at == before->count || before->data[at] != *task;
	}
	return count;
}

/* How long it takes until one of REPLACED_PART is another. */
static uint64_t how_long(const struct py_task_list *tasks,
			 const struct py_task_list *before, uint64_t between)
{
	size_t count = count_new(tasks, before);

	if (!before->count)
		return 0;
	if (!count)
		return UINT64_MAX;
	return (uint64_t)((double)between * (double)tasks->count /
			  (double)(count * REPLACED_PART));
}

void polled_loop_take(struct polled_loop *loop, struct py_task_list *tasks,
		      uint64_t now)
{
	struct py_task_list before = loop->tasks;

	if (tasks->count)
		qsort(tasks->data, tasks->count, sizeof(tasks->data[0]),
		      compare_tasks);
	loop->lasts_ns = how_long(tasks, &before, now - loop->listed_at);
	loop->tasks = *tasks;
	*tasks = before;
}

bool polled_loop_is_listed(const struct polled_loop *loop, uint64_t now,
			   bool asleep)
{
	uint64_t age = now - loop->listed_at;

	if (!loop->listed_at)
		return false;
	if (age < LISTING_PART * loop->listing_ns)
		return true;
	return !asleep && loop->listing_ns >= LISTING_LONG_NS &&
	       age < LISTING_PART_AWAKE * loop->listing_ns &&
	       age < loop->lasts_ns;
}
