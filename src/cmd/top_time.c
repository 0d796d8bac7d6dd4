// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/top_time.h"

#include "base/clock.h"
#include "base/faults.h"
#include "base/map.h"
#include "sys/task_stat.h"

enum {
	/* As many processes as have their threads shown. */
	PROCESSES_MAX = 8,
	/* Of each some minutes at one a second; older ones go. */
	POINTS_MAX = 4096,
};

void top_time_deinit(struct top_time *time)
{
	vec_deinit(&time->points);
}

/* The first event of polled CPU time; PROFILE_NONE: there is none. */
static uint32_t polled_event(const struct profile *p)
{
	for (uint32_t i = 0; i < p->events.count; i++)
		if (p->events.data[i].python_only &&
		    p->events.data[i].kind == EVENT_ON_CPU)
			return i;
	return PROFILE_NONE;
}

/* By pid, in ns. */
static struct error *sum_samples(const struct profile *p, uint32_t event,
				 struct map *ret)
{
	for (size_t i = 0; i < p->samples.rows; i++) {
		uint32_t pid = (uint32_t)p->tasks.data[p->samples.task[i]].pid;
		uint64_t *sum = map_insert(ret, pid, 0, NULL);

		if (!sum)
			return error_no_memory();
		if (p->samples.event[i] == event)
			*sum += p->samples.period[i];
	}
	return NULL;
}

static void forget_old(struct top_time *time)
{
	size_t gone = time->points.count / 2;

	if (time->points.count < POINTS_MAX)
		return;
	for (size_t i = gone; i < time->points.count; i++)
		time->points.data[i - gone] = time->points.data[i];
	time->points.count -= gone;
}

struct error *top_time_note(struct top_time *time, int32_t pid, int64_t at,
			    uint64_t ran)
{
	const struct top_time_point point = { pid, at, ran };

	forget_old(time);
	return vec_push(&time->points, point) ? NULL : error_no_memory();
}

/*
 * Points lie a refresh apart, and the window begins between two of them: what was run
 * there is taken to be even.
 */
uint64_t top_time_ran(const struct top_time *time, int32_t pid, uint64_t window)
{
	const struct top_time_point *last = NULL, *begin = NULL;
	double length;

	vec_for_each(point, &time->points)
		if (point->pid == pid)
			last = point;
	vec_for_each(point, &time->points)
		if (last && point->pid == pid &&
		    point->at <= last->at - (int64_t)window)
			begin = point;
	if (!begin || begin->ran > last->ran || begin->at == last->at)
		return 0;
	length = (double)(last->at - begin->at);
	return (uint64_t)((double)(last->ran - begin->ran) * (double)window /
			  length);
}

static struct error *add_process(struct top_time *time, int64_t now,
				 uint64_t window, int32_t pid,
				 uint64_t sampled, uint64_t *missing)
{
	struct error *error;
	uint64_t ran;

	if (!process_ran("", pid, 0, &ran))
		return NULL;
	error = top_time_note(time, pid, now, ran);
	ran = top_time_ran(time, pid, window);
	if (ran > sampled)
		*missing += ran - sampled;
	return error;
}

struct error *top_time_add(struct top_time *time, struct profile *profile,
			   uint64_t window)
{
	uint32_t event = polled_event(profile);
	_cleanup_(map_deinit) struct map sums = {};
	int64_t now = clock_ns(CLOCK_MONOTONIC);
	uint64_t missing = 0;
	struct error *error;

	if (event == PROFILE_NONE || !profile->recordings.count)
		return NULL;
	error = sum_samples(profile, event, &sums);
	if (error || sums.count > PROCESSES_MAX)
		return error;
	for (size_t i = 0; i < sums.capacity && !error; i++)
		if (sums.used[i])
			error = add_process(time, now, window,
					    (int32_t)sums.entries[i].key,
					    sums.entries[i].value, &missing);
	if (error || !window || !missing)
		return error;
	return faults_add(&profile->recordings.data[0].faults, FAULT_OF_RECORDER,
			  missing / 1000, FAULT_WITHOUT_SAMPLES);
}
