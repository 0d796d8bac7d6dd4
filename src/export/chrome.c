// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trace events, which Perfetto (https://ui.perfetto.dev) and Chrome's
 * about:tracing read: the "Trace Event Format" of the Chromium project.
 *
 * Each thread is a row of slices that contain each other: a function begins (B)
 * with the first sample that has it at that depth, and ends (E) with the last one
 * in a row. A sample stands for the time before it, as much as it weighs; a gap
 * that is shorter than half of that is none. Times are those of the recording's
 * clock. A slice has the number of its samples and what they weigh, which add up;
 * its length need not.
 */
#include <inttypes.h>

#include "base/vec.h"
#include "export/format.h"
#include "export/groups.h"
#include "export/json.h"
#include "export/stacks.h"

/* A slice that has begun. */
struct slice {
	uint32_t place;
	uint64_t samples;
	uint64_t weight;
};

enum {
	/* Samples from which to which the progress is told. */
	TELL_EVERY = 256,
};

struct chrome {
	struct export_groups *groups;
	const struct export_options *options;
	const struct export_stacks *stacks;
	const struct export_thread *thread;
	struct json json;
	/* ns that a sample stands for where its weight is no time. */
	uint64_t nominal;
	/* From the outermost on; the sample's places, from the leaf on. */
	VEC(struct slice) open;
	VEC(uint32_t) steps;
	/* When the last sample was. */
	uint64_t end;
	/* Samples written so far, and all. */
	uint64_t done;
	uint64_t size;
	bool failed;
};

static void begin_event(struct chrome *c, const char *phase, const char *name)
{
	json_line(&c->json);
	json_begin(&c->json, '{');
	json_member_string(&c->json, "ph", phase);
	if (name)
		json_member_string(&c->json, "name", name);
	json_key(&c->json, "pid");
	json_i64(&c->json, c->thread->pid);
	json_key(&c->json, "tid");
	/* Perfetto takes the number below 0 of a thread that has ended for the main thread. */
	json_i64(&c->json, (uint32_t)c->thread->tid);
}

static void put_name(struct chrome *c, const char *what, const char *name)
{
	begin_event(c, "M", what);
	json_key(&c->json, "args");
	json_begin(&c->json, '{');
	json_member_string(&c->json, "name", name);
	json_end(&c->json, '}');
	json_end(&c->json, '}');
}

static void put_time(struct chrome *c, uint64_t ns)
{
	json_key(&c->json, "ts");
	json_us(&c->json, ns);
}

static void begin_slice(struct chrome *c, uint32_t number, uint64_t time)
{
	const struct export_place *place = &c->stacks->places.data[number];
	const struct export_function *function =
		&c->stacks->functions.data[place->function];
	const char *file = export_function_file(c->stacks, function);
	struct slice slice = { .place = number };

	begin_event(c, "B", export_function_name(c->stacks, function));
	json_member_string(&c->json, "cat", export_function_kind(function));
	put_time(c, time);
	json_key(&c->json, "args");
	json_begin(&c->json, '{');
	if (*file)
		json_member_string(&c->json, "file", file);
	if (place->line)
		json_member_u64(&c->json, "line", place->line);
	json_end(&c->json, '}');
	json_end(&c->json, '}');
	c->failed |= !vec_push(&c->open, slice);
}

/* Those from that depth on, the innermost first. */
static void end_slices(struct chrome *c, size_t depth)
{
	while (c->open.count > depth) {
		const struct slice *slice = vec_last(&c->open);

		begin_event(c, "E", NULL);
		put_time(c, c->end);
		json_key(&c->json, "args");
		json_begin(&c->json, '{');
		json_member_u64(&c->json, "samples", slice->samples);
		json_member_u64(&c->json, "weight", slice->weight);
		json_end(&c->json, '}');
		json_end(&c->json, '}');
		c->open.count--;
	}
}

static void find_steps(struct chrome *c, uint32_t node)
{
	vec_clear(&c->steps);
	for (; node != PROFILE_NONE; node = c->stacks->nodes.data[node].parent)
		c->failed |= !vec_push(&c->steps,
				       c->stacks->nodes.data[node].place);
}

/* How many of the open slices the sample has, too. */
static size_t common_depth(const struct chrome *c)
{
	size_t depth = 0;

	while (depth < c->open.count && depth < c->steps.count &&
	       c->open.data[depth].place ==
		       c->steps.data[c->steps.count - 1 - depth])
		depth++;
	return depth;
}

/* When what the sample stands for began; *joins: where the last one ended. */
static uint64_t begin_of(const struct chrome *c, uint64_t time, uint64_t length,
			 bool *joins)
{
	uint64_t begin = time > length ? time - length : 0;

	*joins = c->open.count && begin <= c->end + length / 2;
	return *joins || begin < c->end ? c->end : begin;
}

static void put_sample(struct chrome *c, const struct export_group *group,
		       uint32_t row)
{
	const struct profile_samples *s = &c->stacks->profile->samples;
	uint64_t weight = export_row_weight(c->groups, group, row);
	uint64_t length = c->nominal ? c->nominal : weight, begin;
	bool joins;

	find_steps(c, export_row_node(c->groups, row));
	begin = begin_of(c, s->time[row], length, &joins);
	end_slices(c, joins ? common_depth(c) : 0);
	for (size_t i = c->open.count; i < c->steps.count && !c->failed; i++)
		begin_slice(c, c->steps.data[c->steps.count - 1 - i], begin);
	vec_for_each(slice, &c->open) {
		slice->samples += s->count[row];
		slice->weight += weight;
	}
	c->end = s->time[row];
}

static void tell_progress(struct chrome *c)
{
	if (c->options->progress && c->done % TELL_EVERY == 0)
		c->options->progress(c->options->progress_arg, c->done,
				     c->size);
	c->done++;
}

static void put_thread(struct chrome *c, const struct export_group *group)
{
	c->thread = &c->groups->threads.data[group->thread];
	if (c->thread->first == group->thread)
		put_name(c, "process_name",
			 export_process_name(c->groups, c->thread));
	put_name(c, "thread_name",
		 profile_string(c->stacks->profile, c->thread->name,
				"[unknown]"));
	c->end = 0;
	for (size_t i = 0; i < group->count; i++) {
		tell_progress(c);
		put_sample(c, group, c->groups->rows[group->first + i]);
	}
	end_slices(c, 0);
}

/* ERROR_UNSUPPORTED: the event's samples stand for no time. */
static struct error *find_length(struct chrome *c)
{
	const struct export_group *group = c->groups->all.data;
	const struct profile_event *event =
		&c->stacks->profile->events.data[group->event];

	if (event->unit == EVENT_NANOSECONDS && !group->by_samples)
		return NULL;
	if (event->is_freq && event->sample_period &&
	    event->kind != EVENT_OCCURRENCE) {
		c->nominal = 1000000000 / event->sample_period;
		return NULL;
	}
	return error_create(
		ERROR_UNSUPPORTED,
		"chrome shows how long functions run, and samples of %s stand for no time: choose another event with --event, or another format",
		export_event_name(c->groups, group));
}

static void put_file(struct chrome *c)
{
	vec_for_each(group, &c->groups->all)
		c->size += group->count;
	json_begin(&c->json, '{');
	json_member_string(&c->json, "displayTimeUnit", "ms");
	json_key(&c->json, "traceEvents");
	json_begin(&c->json, '[');
	vec_for_each(group, &c->groups->all)
		put_thread(c, group);
	json_end(&c->json, ']');
	json_end(&c->json, '}');
}

struct error *export_chrome(const struct profile *profile,
			    const struct export_options *options, FILE *out)
{
	_cleanup_export_groups_ struct export_groups *groups = NULL;
	struct chrome c = { .options = options, .json = JSON_INIT(out) };
	struct error *error = export_groups_create(
		profile, &options->stacks, options->event, &groups);

	if (error)
		return error;
	c.groups = groups;
	c.stacks = groups->stacks;
	error = find_length(&c);
	if (error)
		return error;
	put_file(&c);
	error = json_finish(&c.json);
	if (!error && c.failed)
		error = error_no_memory();
	vec_deinit(&c.open);
	vec_deinit(&c.steps);
	return error;
}
