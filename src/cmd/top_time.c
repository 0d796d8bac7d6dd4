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

static int64_t distance(int64_t a, int64_t b)
{
	return a > b ? a - b : b - a;
}

/* The one next to where the window begins; NULL: none yet. */
static const struct top_time_point *
begin_of(const struct top_time *time, int32_t pid, int64_t from)
{
	const struct top_time_point *found = NULL;

	vec_for_each(point, &time->points)
		if (point->pid == pid &&
		    (!found ||
		     distance(point->at, from) < distance(found->at, from)))
			found = point;
	return found;
}

/*
 * What samples stood for counts from the same point on, unless that lies before the
 * window, whose samples alone are in the profile.
 */
static uint64_t missing_of(const struct top_time_point *begin,
			   const struct top_time_point *now, int64_t from)
{
	uint64_t ran = now->ran - begin->ran;
	uint64_t sampled = now->sampled;

	if (begin->at > from)
		sampled -= begin->sampled < sampled ? begin->sampled : sampled;
	return ran > sampled ? ran - sampled : 0;
}

static struct error *add_process(struct top_time *time, int64_t at,
				 int64_t from, int32_t pid, uint64_t sampled,
				 uint64_t *missing)
{
	struct top_time_point now = { .pid = pid, .at = at, .sampled = sampled };
	const struct top_time_point *begin = begin_of(time, pid, from);

	if (!process_ran("", pid, &now.ran))
		return NULL;
	if (begin && now.ran >= begin->ran)
		*missing += missing_of(begin, &now, from);
	return vec_push(&time->points, now) ? NULL : error_no_memory();
}

struct error *top_time_add(struct top_time *time, struct profile *profile,
			   uint64_t window)
{
	uint32_t event = polled_event(profile);
	_cleanup_(map_deinit) struct map sums = {};
	int64_t now = clock_ns(CLOCK_MONOTONIC);
	int64_t from = window ? now - (int64_t)window : 0;
	uint64_t missing = 0;
	struct error *error;

	if (event == PROFILE_NONE || !profile->recordings.count)
		return NULL;
	error = sum_samples(profile, event, &sums);
	if (error || sums.count > PROCESSES_MAX)
		return error;
	forget_old(time);
	for (size_t i = 0; i < sums.capacity && !error; i++)
		if (sums.used[i])
			error = add_process(time, now, from,
					    (int32_t)sums.entries[i].key,
					    sums.entries[i].value, &missing);
	if (error || !missing)
		return error;
	return faults_add(&profile->recordings.data[0].faults, FAULT_OF_RECORDER,
			  missing / 1000, FAULT_WITHOUT_SAMPLES);
}
