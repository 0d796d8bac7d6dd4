// SPDX-License-Identifier: GPL-2.0-only
#include "collect/exits.h"

#include "base/clock.h"
#include "sys/task_stat.h"

enum {
	/* Without a sample: one round at least, where rounds are not hurried. */
	WAIT_MS = 50,
	/* A thread that is at its end for longer does not wait for a CPU. */
	ENDING_MS = 5000,
};

void exits_deinit(struct exits *exits)
{
	vec_deinit(&exits->list);
	map_deinit(&exits->by_tid);
}

static struct waiting_exit *find(struct exits *exits, uint32_t tid)
{
	const uint64_t *place =
		exits->list.count ? map_find(&exits->by_tid, tid) : NULL;

	return place && *place ? &exits->list.data[*place - 1] : NULL;
}

/* Readers have handled what was before `settled`. */
static struct error *write_exit(struct exits *exits, struct waiting_exit *waiting)
{
	struct record *record = &waiting->record;

	if (record->time < exits->output->settled)
		record->time = exits->output->settled;
	record->task.time = record->time;
	*map_find(&exits->by_tid, record->task.tid) = 0;
	waiting->is_written = true;
	return output_record(exits->output, record);
}

struct error *exits_hold(struct exits *exits, const struct record *record)
{
	struct waiting_exit *before = find(exits, record->task.tid);
	struct waiting_exit waiting = { .record = *record, .seen = clock_ms() };
	uint64_t *place;
	/* The FORK in between was lost. */
	struct error *error = before ? write_exit(exits, before) : NULL;

	if (error)
		return error;
	waiting.record.event = NULL;
	waiting.record.raw = NULL;
	if (!vec_push(&exits->list, waiting))
		return error_no_memory();
	place = map_insert(&exits->by_tid, record->task.tid, 0, NULL);
	if (!place)
		return error_no_memory();
	*place = exits->list.count;
	return NULL;
}

void exits_sampled(struct exits *exits, uint32_t tid, uint64_t time)
{
	struct waiting_exit *waiting = find(exits, tid);

	if (!waiting)
		return;
	waiting->seen = clock_ms();
	if (waiting->record.time <= time)
		waiting->record.time = time + 1;
}

struct error *exits_number_taken(struct exits *exits, uint32_t tid,
				 uint64_t time)
{
	struct waiting_exit *waiting = find(exits, tid);

	if (!waiting)
		return NULL;
	/* Its last samples may be in the rings yet. */
	waiting->record.time = time - 1;
	return write_exit(exits, waiting);
}

/* Names and the summary are written under its number when the recording is over. */
static bool is_needed(const struct exits *exits,
		      const struct waiting_exit *waiting)
{
	return waiting->record.task.tid == exits->output->first_pid;
}

/* On a busy machine it may wait for a CPU before it has released all. */
static bool is_ending(uint32_t tid)
{
	return process_lives(NULL, (pid_t)tid);
}

/* time: what was seen last before it has waited long; INT64_MAX: all has. */
static bool has_waited(const struct exits *exits,
		       const struct waiting_exit *waiting, int64_t time)
{
	if (time == INT64_MAX)
		return true;
	if (waiting->seen >= time || is_needed(exits, waiting))
		return false;
	return waiting->seen < time - ENDING_MS ||
	       !is_ending(waiting->record.task.tid);
}

static struct error *write_those_before(struct exits *exits, int64_t time)
{
	struct error *error = NULL;
	size_t kept = 0;

	for (size_t i = 0; !error && i < exits->list.count; i++) {
		struct waiting_exit *waiting = &exits->list.data[i];

		if (waiting->is_written)
			continue;
		if (has_waited(exits, waiting, time)) {
			error = write_exit(exits, waiting);
			continue;
		}
		*map_find(&exits->by_tid, waiting->record.task.tid) = kept + 1;
		exits->list.data[kept++] = *waiting;
	}
	if (error)
		return error;
	exits->list.count = kept;
	/* A number that nothing waits for keeps its place until then. */
	if (!kept)
		map_clear(&exits->by_tid);
	return NULL;
}

struct error *exits_end_round(struct exits *exits)
{
	return write_those_before(exits, clock_ms() - WAIT_MS);
}

struct error *exits_end(struct exits *exits)
{
	return write_those_before(exits, INT64_MAX);
}
