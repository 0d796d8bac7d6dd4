// SPDX-License-Identifier: GPL-2.0-only
/*
 * speedscope's own format: file-format-schema.json of its release. Each profile is
 * a thread; kaa's name says which one, and of which event, and its first profile
 * of an event, all threads together, has what the others have.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/vec.h"
#include "import/import_format.h"
#include "import/json_in.h"
#include "import/lines_in.h"

struct speedscope {
	struct json_in in;
	struct import_model *model;
	const json_t *frames;
	/* Of each frame its place. */
	uint32_t *places;
	/* Of the profile that is read; its number is in messages. */
	size_t number;
	uint32_t thread;
	uint32_t event;
	uint64_t scale;
	/* As kaa writes it; with the names of events; without lines but those of defs. */
	bool is_kaa;
	bool has_events;
	bool has_defs;
};

bool import_is_speedscope(const struct import_input *input)
{
	const json_t *shared = json_object_get(input->json, "shared");

	return strstr(json_in_text(json_object_get(input->json, "$schema")),
		      "speedscope") ||
	       (json_is_array(json_object_get(shared, "frames")) &&
		json_is_array(json_object_get(input->json, "profiles")));
}

static struct error *read_frames(struct speedscope *s, const json_t *root)
{
	const json_t *shared = json_in_object(&s->in, root, "", "shared");
	const json_t *frame;
	struct error *error = NULL;
	size_t i;

	s->frames = json_in_list(&s->in, shared, "shared", "frames");
	s->places = calloc(json_array_size(s->frames) + 1, sizeof(*s->places));
	if (!s->places)
		return error_no_memory();
	json_array_foreach((json_t *)s->frames, i, frame) {
		uint32_t line = (uint32_t)json_in_number(
			json_object_get(frame, "line"), 1);
		struct import_step step = {
			.name = json_in_text(json_object_get(frame, "name")),
			.file = json_in_text(json_object_get(frame, "file")),
			.def_line = s->has_defs ? line : 0,
			.line = s->has_defs ? 0 : line,
			.kind = IMPORT_GUESS,
		};

		error = import_place(s->model, &step, &s->places[i]);
		if (error)
			return error;
	}
	return NULL;
}

/* --- a profile --- */

static const struct unit {
	const char *name;
	enum event_unit unit;
	uint64_t scale;
} units[] = {
	{ "nanoseconds", EVENT_NANOSECONDS, 1 },
	{ "microseconds", EVENT_NANOSECONDS, 1000 },
	{ "milliseconds", EVENT_NANOSECONDS, 1000000 },
	{ "seconds", EVENT_NANOSECONDS, 1000000000 },
	{ "bytes", EVENT_BYTES, 1 },
	{ "none", EVENT_COUNT, 1 },
};

static const struct unit *unit_of(const json_t *profile)
{
	const char *name = json_in_text(json_object_get(profile, "unit"));
	const struct unit *unit = units;

	while (strcmp(unit->name, name) && unit->unit != EVENT_COUNT)
		unit++;
	return unit;
}

/* "name (4242)", "name (process 4242, thread 4243)", as kaa has it. */
static bool parse_label(const char *label, size_t *length, int64_t *pid,
			int64_t *tid)
{
	const char *bracket = strrchr(label, '(');
	int end = 0;

	if (!bracket || bracket == label || bracket[-1] != ' ')
		return false;
	*length = (size_t)(bracket - label) - 1;
	if (sscanf(bracket, "(process %" SCNd64 ", thread %" SCNd64 ")%n", pid,
		   tid, &end) == 2 &&
	    end && !bracket[end])
		return true;
	end = 0;
	if (sscanf(bracket, "(%" SCNd64 ")%n", tid, &end) != 1 || !end ||
	    bracket[end])
		return false;
	*pid = 0;
	return true;
}

/* 'Thread 4243 "name"', 'Process 4242 Thread 4243 "name"', as py-spy has it. */
static bool parse_py_spy(const char **label, size_t *length, int64_t *pid,
			 int64_t *tid)
{
	const char *quote = strchr(*label, '"');
	size_t n = strlen(*label);
	int end = 0;

	*pid = 0;
	if (!quote || (*label)[n - 1] != '"' || quote == *label + n - 1)
		return false;
	if (sscanf(*label, "Process %" SCNd64 " Thread %" SCNd64 " %n", pid, tid,
		   &end) < 2 &&
	    sscanf(*label, "Thread %" SCNd64 " %n", tid, &end) < 1)
		return false;
	if (*label + end != quote)
		return false;
	*label = quote + 1;
	*length = n - (size_t)end - 2;
	return true;
}

/* The thread of a process that was named before, or its first one. */
static int64_t process_of(const struct speedscope *s, int64_t tid)
{
	return s->model->threads.count ? s->model->threads.data[0].pid : tid;
}

static struct error *begin_thread(struct speedscope *s, const char *label)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	int64_t pid = 0, tid = 0;
	size_t length = strlen(label);

	if (parse_label(label, &length, &pid, &tid) ||
	    parse_py_spy(&label, &length, &pid, &tid)) {
		pid = pid ? pid : process_of(s, tid);
	} else {
		tid = (int64_t)s->number + 1;
		pid = 1;
	}
	strbuf_append(&name, label, length);
	return name.failed ? error_no_memory() :
			     import_thread(s->model, pid, tid, name.data, NULL,
					   &s->thread);
}

/* Where events are said it is "event: thread". */
static const char *split_title(const char *title, struct strbuf *event)
{
	const char *colon = strstr(title, ": ");

	if (!colon)
		return title;
	strbuf_append(event, title, (size_t)(colon - title));
	return colon + 2;
}

static struct error *begin_profile(struct speedscope *s, const json_t *profile,
				   bool *is_all)
{
	_cleanup_strbuf_ struct strbuf event = STRBUF_INIT;
	const char *title = json_in_text(json_object_get(profile, "name"));
	const struct unit *unit = unit_of(profile);
	struct error *error;

	if (s->has_events)
		title = split_title(title, &event);
	*is_all = s->is_kaa && !strcmp(title, "all threads");
	if (*is_all)
		return NULL;
	s->scale = unit->scale;
	if (!event.len)
		strbuf_puts(&event, unit->unit == EVENT_NANOSECONDS ?
					    (s->is_kaa ? "cpu" : "time") :
				    unit->unit == EVENT_BYTES ? "bytes" :
								"samples");
	error = strbuf_error(&event);
	if (!error)
		error = import_event(s->model, event.data, unit->unit,
				     &s->event);
	return error ? error : begin_thread(s, title);
}

static struct error *put_sample(struct speedscope *s, uint32_t node,
				uint64_t weight)
{
	return import_sample(s->model, &(struct import_sample){
					       .weight = weight,
					       .count = 1,
					       .node = node,
					       .thread = s->thread,
					       .event = s->event });
}

/* --- stacks with weights --- */

/* py-spy's steps for a process and a thread, which stand in front. */
static bool is_function(const struct speedscope *s, uint32_t frame)
{
	const char *name = json_in_text(
		json_object_get(json_array_get(s->frames, frame), "name"));
	size_t n = strnlen(name, IMPORT_TEXT_MAX);
	struct line rest;
	int64_t number;

	return !lines_in_thread(name, n, &number, &rest) &&
	       !lines_in_process(name, n, &number, &rest);
}

static struct error *read_stack(struct speedscope *s, const json_t *stack,
				uint32_t *ret)
{
	struct error *error = NULL;

	*ret = PROFILE_NONE;
	for (size_t i = 0; !error && i < json_array_size(stack); i++) {
		uint32_t frame = json_in_index(&s->in, stack, "a sample's frames",
					       i, json_array_size(s->frames),
					       false);

		if (s->in.error)
			return NULL;
		if (*ret != PROFILE_NONE || is_function(s, frame))
			error = import_node(s->model, *ret, s->places[frame],
					    ret);
	}
	return error;
}

static struct error *read_sampled(struct speedscope *s, const json_t *profile)
{
	const json_t *samples =
		json_in_list(&s->in, profile, "a profile", "samples");
	const json_t *weights =
		json_in_list(&s->in, profile, "a profile", "weights");
	struct error *error = NULL;
	uint32_t node;

	if (json_array_size(samples) != json_array_size(weights))
		json_in_fail(&s->in,
			     "profiles[%zu] has %zu samples, but %zu weights",
			     s->number, json_array_size(samples),
			     json_array_size(weights));
	for (size_t i = 0; !error && !s->in.error && i < json_array_size(samples);
	     i++) {
		error = read_stack(s, json_array_get(samples, i), &node);
		if (!error && !s->in.error)
			error = put_sample(s, node,
					   json_in_number(json_array_get(weights,
									 i),
							  s->scale));
	}
	return error;
}

/* --- frames that open and close --- */

struct open_frames VEC_BODY(uint32_t);

static struct error *open_or_close(struct speedscope *s, const json_t *event,
				   struct open_frames *open)
{
	const char *type = json_in_text(json_object_get(event, "type"));
	const json_t *frame = json_object_get(event, "frame");
	json_int_t number = json_integer_value(frame);
	uint32_t node, parent = open->count ? *vec_last(open) : PROFILE_NONE;
	struct error *error;

	if (!json_is_integer(frame) || number < 0 ||
	    (uint64_t)number >= json_array_size(s->frames)) {
		json_in_fail(&s->in, "profiles[%zu]: an event has no frame",
			     s->number);
		return NULL;
	}
	if (!strcmp(type, "C")) {
		if (open->count)
			open->count--;
		else
			json_in_fail(&s->in,
				     "profiles[%zu] closes a frame that is not open",
				     s->number);
		return NULL;
	}
	error = import_node(s->model, parent, s->places[number], &node);
	return error || vec_push(open, node) ? error : error_no_memory();
}

static struct error *read_evented(struct speedscope *s, const json_t *profile)
{
	const json_t *events =
		json_in_list(&s->in, profile, "a profile", "events");
	struct open_frames open = {};
	struct error *error = NULL;
	uint64_t last = 0;

	for (size_t i = 0; !error && !s->in.error && i < json_array_size(events);
	     i++) {
		const json_t *event = json_array_get(events, i);
		uint64_t at = json_in_number(json_object_get(event, "at"),
					     s->scale);

		if (open.count && at > last)
			error = put_sample(s, *vec_last(&open), at - last);
		last = at;
		if (!error)
			error = open_or_close(s, event, &open);
	}
	vec_deinit(&open);
	return error;
}

/* --- the file --- */

static struct error *read_profile(struct speedscope *s, const json_t *profile)
{
	const char *type = json_in_text(json_object_get(profile, "type"));
	bool is_all;
	struct error *error = begin_profile(s, profile, &is_all);

	if (error || is_all)
		return error;
	if (!strcmp(type, "evented"))
		return read_evented(s, profile);
	if (!strcmp(type, "sampled"))
		return read_sampled(s, profile);
	json_in_fail(&s->in, "profiles[%zu] is neither sampled nor evented",
		     s->number);
	return NULL;
}

static void see_exporter(struct speedscope *s, const json_t *root)
{
	const json_t *first =
		json_array_get(json_object_get(root, "profiles"), 0);
	const char *exporter = json_in_text(json_object_get(root, "exporter"));

	s->has_defs = !strcmp(exporter, "kaa");
	s->is_kaa = s->has_defs || !strcmp(exporter, "kaa --lines");
	s->has_events = s->is_kaa &&
			strcmp(json_in_text(json_object_get(first, "name")),
			       "all threads");
}

struct error *import_speedscope(const struct import_input *input,
				struct import_model *ret)
{
	struct speedscope s = { .in = { input->path }, .model = ret };
	const json_t *profiles =
		json_in_list(&s.in, input->json, "", "profiles");
	struct error *error;

	see_exporter(&s, input->json);
	error = read_frames(&s, input->json);
	for (; !error && !s.in.error && s.number < json_array_size(profiles);
	     s.number++)
		error = read_profile(&s, json_array_get(profiles, s.number));
	free(s.places);
	if (error)
		error_destroy(s.in.error);
	return error ? error : s.in.error;
}
