// SPDX-License-Identifier: GPL-2.0-only
#include "collect/task_times.h"

#define SHARED UINT64_MAX

void task_times_deinit(struct task_times *times)
{
	map_deinit(&times->now);
	map_deinit(&times->before);
	map_deinit(&times->names);
}

uint64_t task_times_key(const char *name, uint64_t coroutine, uint64_t address)
{
	return hash_combine(hash_combine(hash_string(name), coroutine), address);
}

/* --- names --- */

bool task_times_note_name(struct task_times *times, uint64_t name, uint64_t task)
{
	uint64_t *whose;

	if (times->names.count == TASK_TIMES_MAX)
		map_clear(&times->names);
	whose = map_insert(&times->names, name, task, NULL);
	if (!whose)
		return false;
	if (*whose != task)
		*whose = SHARED;
	return *whose == SHARED;
}

void task_times_settle_names(const struct task_times *times,
			     struct poll_parts *parts)
{
	vec_for_each(task, &parts->tasks) {
		const uint64_t *whose = map_find(&times->names, task->name);

		if (whose && *whose == SHARED)
			task->others = task->own;
	}
}

/* --- accounts --- */

/* One that was not read before begins now. NULL: there is no memory. */
static uint64_t *account(struct task_times *times, uint64_t task, uint64_t now)
{
	uint64_t *found = map_find(&times->now, task);
	uint64_t since;

	if (found)
		return found;
	found = map_find(&times->before, task);
	since = found ? *found : now;
	if (times->now.count == TASK_TIMES_MAX) {
		struct map oldest = times->before;

		times->before = times->now;
		times->now = oldest;
		map_clear(&times->now);
	}
	return map_insert(&times->now, task, since, NULL);
}

/* Of tasks that have an account. */
struct sums {
	/* What they are to have, and what they may have under their names. */
	double due;
	double unspent;
};

static struct sums add_up(struct task_times *times, struct poll_parts *parts,
			  bool runs, double period)
{
	uint64_t until = parts->until;
	struct sums sums = {};

	vec_for_each(task, &parts->tasks) {
		const uint64_t *since;

		if (task->runs != runs)
			continue;
		since = account(times, task->key, until);
		task->unspent = since && until > *since ?
					(double)(until - *since) :
					0;
		if (!task->unspent)
			continue;
		sums.unspent += task->unspent;
		sums.due += task->share * period;
	}
	return sums;
}

static void spend(struct task_times *times, uint64_t task, uint64_t until,
		  double time)
{
	uint64_t *since = account(times, task, until);

	if (since)
		*since += (uint64_t)time;
}

/* So much less than its part of the look does a task have that has all of its account. */
static double lack(const struct poll_part_task *task, double period)
{
	double lack = task->share * period - task->unspent;

	return lack > 0 ? lack : 0;
}

static double all_lacks(const struct poll_parts *parts, bool runs,
			double period)
{
	double all = 0;

	vec_for_each(task, &parts->tasks)
		if (task->runs == runs && task->unspent)
			all += lack(task, period);
	return all;
}

/*
 * A task without an account has its part of the look: those that live for short would
 * have too little if accounts were balanced with it, and others too much.
 */
static void divide(struct task_times *times, struct poll_parts *parts,
		   bool runs, double period)
{
	struct sums sums = add_up(times, parts, runs, period);
	double part = sums.unspent > sums.due ? sums.due / sums.unspent : 1;
	/* More than 0 where each has all of its account. */
	double rest = sums.due - sums.unspent;
	double lacks = all_lacks(parts, runs, period);

	vec_for_each(task, &parts->tasks) {
		double time = task->unspent * part, others = 0;

		if (task->runs != runs)
			continue;
		if (!task->unspent)
			others = task->share * period;
		else if (rest > 0 && lacks > 0)
			others = rest * lack(task, period) / lacks;
		spend(times, task->key, parts->until, time);
		parts->list.data[task->own].tasks_ns += time;
		parts->list.data[task->others].tasks_ns += others;
	}
}

void task_times_divide(struct task_times *times, struct poll_parts *parts,
		       uint64_t runs, uint64_t waits)
{
	vec_for_each(part, &parts->list)
		part->tasks_ns = 0;
	divide(times, parts, true, (double)runs);
	divide(times, parts, false, (double)waits);
}
