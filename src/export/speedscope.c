// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file format of speedscope (https://www.speedscope.app, whose
 * file-format-schema.json describes it): frames, and profiles that are lists of
 * stacks with weights.
 *
 * First stands a profile of all threads, where each is a frame at the bottom of
 * its stacks: a stack stands there once, since samples of several threads have
 * no common order that could be looked at. Then each thread has a profile, in
 * the order of time; samples of one stack in a row are one.
 */
#include <stdlib.h>

#include "base/vec.h"
#include "export/format.h"
#include "export/groups.h"
#include "export/json.h"
#include "export/stacks.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

struct speedscope {
	struct export_groups *groups;
	const struct export_stacks *stacks;
	struct json json;
	/* Scratch: a stack's places; the sums of a group; a label. */
	VEC(uint32_t) steps;
	struct export_sums sums;
	struct strbuf text;
	bool failed;
};

static void put_frame(struct speedscope *s, const char *name, const char *file,
		      uint32_t line)
{
	json_line(&s->json);
	json_begin(&s->json, '{');
	json_member_string(&s->json, "name", name);
	if (*file)
		json_member_string(&s->json, "file", file);
	if (line)
		json_member_u64(&s->json, "line", line);
	json_end(&s->json, '}');
}

static const char *label_of(struct speedscope *s,
			    const struct export_thread *thread)
{
	strbuf_clear(&s->text);
	export_thread_label(s->groups, thread, &s->text);
	return s->text.data;
}

/* Places, and behind them the threads. */
static void put_frames(struct speedscope *s)
{
	json_key(&s->json, "shared");
	json_begin(&s->json, '{');
	json_key(&s->json, "frames");
	json_begin(&s->json, '[');
	vec_for_each(place, &s->stacks->places) {
		const struct export_function *function =
			&s->stacks->functions.data[place->function];

		put_frame(s, export_function_name(s->stacks, function),
			  export_function_file(s->stacks, function),
			  place->line);
	}
	vec_for_each(thread, &s->groups->threads)
		put_frame(s, label_of(s, thread), "", 0);
	json_end(&s->json, ']');
	json_end(&s->json, '}');
}

/* thread: the one at the bottom, or PROFILE_NONE. */
static void put_stack(struct speedscope *s, uint32_t thread, uint32_t node)
{
	vec_clear(&s->steps);
	for (; node != PROFILE_NONE; node = s->stacks->nodes.data[node].parent)
		s->failed |= !vec_push(&s->steps,
				       s->stacks->nodes.data[node].place);
	json_begin(&s->json, '[');
	if (thread != PROFILE_NONE)
		json_u64(&s->json, s->stacks->places.count + thread);
	for (size_t i = s->steps.count; i-- > 0;)
		json_u64(&s->json, s->steps.data[i]);
	json_end(&s->json, ']');
}

/* --- profiles --- */

/* As the schema has it for what a weight counts. */
static const char *unit_of(const struct speedscope *s,
			   const struct export_group *group)
{
	enum event_unit unit =
		s->stacks->profile->events.data[group->event].unit;

	if (group->by_samples)
		return "none";
	return unit == EVENT_NANOSECONDS ? "nanoseconds" :
	       unit == EVENT_BYTES	 ? "bytes" :
					   "none";
}

/* Where it is to be said, each profile says which event it is of. */
static const char *title(struct speedscope *s, const struct export_group *group,
			 const struct export_thread *thread)
{
	strbuf_clear(&s->text);
	if (export_event_is_said(s->groups, group))
		strbuf_printf(&s->text, "%s: ",
			      export_event_name(s->groups, group));
	if (thread)
		export_thread_label(s->groups, thread, &s->text);
	else
		strbuf_puts(&s->text, "all threads");
	return s->text.data;
}

static void begin_profile(struct speedscope *s, const struct export_group *group,
			  const struct export_thread *thread, uint64_t weight)
{
	json_line(&s->json);
	json_begin(&s->json, '{');
	json_member_string(&s->json, "type", "sampled");
	json_member_string(&s->json, "name", title(s, group, thread));
	json_member_string(&s->json, "unit", unit_of(s, group));
	json_member_u64(&s->json, "startValue", 0);
	json_member_u64(&s->json, "endValue", weight);
}

/*
 * The last row from `from` on that has the same stack; *weight: of those between,
 * both included.
 */
static size_t end_of_run(const struct speedscope *s,
			 const struct export_group *group, size_t from,
			 uint64_t *weight)
{
	const uint32_t *rows = s->groups->rows + group->first;
	uint32_t node = export_row_node(s->groups, rows[from]);
	size_t at = from;

	*weight = 0;
	do
		*weight += export_row_weight(s->groups, group, rows[at]);
	while (++at < group->count &&
	       export_row_node(s->groups, rows[at]) == node);
	return at - 1;
}

static void put_thread(struct speedscope *s, const struct export_group *group)
{
	const uint32_t *rows = s->groups->rows + group->first;
	uint64_t weight;

	begin_profile(s, group, &s->groups->threads.data[group->thread],
		      group->weight);
	json_key(&s->json, "samples");
	json_begin(&s->json, '[');
	for (size_t i = 0; i < group->count; i++) {
		i = end_of_run(s, group, i, &weight);
		put_stack(s, PROFILE_NONE, export_row_node(s->groups, rows[i]));
	}
	json_end(&s->json, ']');
	json_key(&s->json, "weights");
	json_begin(&s->json, '[');
	for (size_t i = 0; i < group->count; i++) {
		i = end_of_run(s, group, i, &weight);
		json_u64(&s->json, weight);
	}
	json_end(&s->json, ']');
	json_end(&s->json, '}');
}

/* The stacks of the groups [first, end), or what they weigh. */
static void put_sums(struct speedscope *s, size_t first, size_t end,
		     bool weights)
{
	json_key(&s->json, weights ? "weights" : "samples");
	json_begin(&s->json, '[');
	for (size_t i = first; i < end; i++) {
		const struct export_group *group = &s->groups->all.data[i];

		s->failed |= !export_group_sums(s->groups, group, &s->sums);
		vec_for_each(sum, &s->sums) {
			if (weights)
				json_u64(&s->json, sum->weight);
			else
				put_stack(s, group->thread, sum->node);
		}
	}
	json_end(&s->json, ']');
}

static void put_all(struct speedscope *s, size_t first, size_t end)
{
	uint64_t weight = 0;

	for (size_t i = first; i < end; i++)
		weight += s->groups->all.data[i].weight;
	begin_profile(s, &s->groups->all.data[first], NULL, weight);
	put_sums(s, first, end, false);
	put_sums(s, first, end, true);
	json_end(&s->json, '}');
}

static void put_profiles(struct speedscope *s)
{
	size_t end;

	json_key(&s->json, "profiles");
	json_begin(&s->json, '[');
	for (size_t i = 0; i < s->groups->all.count; i = end) {
		end = export_groups_end(s->groups, i);
		put_all(s, i, end);
		for (size_t at = i; at < end; at++)
			put_thread(s, &s->groups->all.data[at]);
	}
	json_end(&s->json, ']');
}

/* Its name says what a line of a frame is, for kaa import: without that it is the def's. */
static void put_file(struct speedscope *s, bool with_lines)
{
	json_begin(&s->json, '{');
	json_member_string(&s->json, "$schema", SCHEMA);
	json_member_string(&s->json, "exporter",
			   with_lines ? "kaa --lines" : "kaa");
	json_member_u64(&s->json, "activeProfileIndex", 0);
	put_frames(s);
	put_profiles(s);
	json_end(&s->json, '}');
}

struct error *export_speedscope(const struct profile *profile,
				const struct export_options *options, FILE *out)
{
	_cleanup_export_groups_ struct export_groups *groups = NULL;
	struct speedscope s = { .json = JSON_INIT(out), .text = STRBUF_INIT };
	struct error *error = export_groups_create(
		profile, &options->stacks, options->event, &groups);

	if (error)
		return error;
	s.groups = groups;
	s.stacks = groups->stacks;
	put_file(&s, options->stacks.lines);
	error = json_finish(&s.json);
	if (!error && (s.failed || s.text.failed))
		error = error_no_memory();
	vec_deinit(&s.steps);
	vec_deinit(&s.sums);
	strbuf_deinit(&s.text);
	return error;
}
