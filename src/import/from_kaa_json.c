// SPDX-License-Identifier: GPL-2.0-only
/* kaa's own JSON: docs/formats/export-json.md. */
#include <stdlib.h>
#include <string.h>

#include "import/import_format.h"
#include "import/json_in.h"

struct kaa_file {
	struct json_in in;
	const json_t *root;
	struct import_model *model;
	/* By the numbers of the file, those of the model. */
	uint32_t *events;
	uint32_t *threads;
	uint32_t *nodes;
};

bool import_is_json(const struct import_input *input)
{
	return !strcmp(json_in_text(json_object_get(input->json, "format")),
		       "kaa");
}

static const char *member(const json_t *row, const char *key)
{
	return json_in_text(json_object_get(row, key));
}

static json_int_t number(const json_t *row, const char *key)
{
	return json_integer_value(json_object_get(row, key));
}

static enum event_unit unit_of(const char *name)
{
	return !strcmp(name, "nanoseconds") ? EVENT_NANOSECONDS :
	       !strcmp(name, "bytes")	    ? EVENT_BYTES :
					      EVENT_COUNT;
}

static struct error *read_events(struct kaa_file *f)
{
	const json_t *list = json_in_list(&f->in, f->root, "", "events"), *row;
	struct error *error = NULL;
	size_t i;

	f->events = calloc(json_array_size(list) + 1, sizeof(*f->events));
	if (!f->events)
		return error_no_memory();
	json_array_foreach((json_t *)list, i, row) {
		struct import_event *event;

		error = import_event(f->model, member(row, "name"),
				     unit_of(member(row, "unit")),
				     &f->events[i]);
		if (error)
			return error;
		event = &f->model->events.data[f->events[i]];
		event->is_freq = json_object_get(row, "frequency") != NULL;
		event->python_only =
			json_is_true(json_object_get(row, "python_only"));
		event->period = json_in_number(
			json_object_get(row, event->is_freq ? "frequency" :
							      "period"),
			1);
	}
	return NULL;
}

static struct error *read_threads(struct kaa_file *f)
{
	const json_t *list = json_in_list(&f->in, f->root, "", "threads"), *row;
	struct error *error = NULL;
	size_t i;

	f->threads = calloc(json_array_size(list) + 1, sizeof(*f->threads));
	if (!f->threads)
		return error_no_memory();
	json_array_foreach((json_t *)list, i, row) {
		error = import_thread(f->model, number(row, "pid"),
				      number(row, "tid"), member(row, "name"),
				      member(row, "process"), &f->threads[i]);
		if (error)
			return error;
	}
	return NULL;
}

static uint32_t kind_of(const char *name)
{
	return !strcmp(name, "python") ? PROFILE_FRAME_PYTHON :
	       !strcmp(name, "native") ? PROFILE_FRAME_NATIVE :
	       !strcmp(name, "kernel") ? PROFILE_FRAME_KERNEL :
					 IMPORT_GUESS;
}

static struct error *read_node(struct kaa_file *f, const json_t *function,
			       uint32_t parent, uint64_t line, uint32_t *ret)
{
	const char *file = member(function, "file");
	struct import_step step = {
		.name = member(function, "name"),
		.file = *file ? file : member(function, "object"),
		.def_line = (uint32_t)json_in_number(
			json_object_get(function, "line"), 1),
		.line = (uint32_t)line,
		.kind = kind_of(member(function, "kind")),
	};
	uint32_t place;
	struct error *error = import_place(f->model, &step, &place);

	return error ? error : import_node(f->model, parent, place, ret);
}

static struct error *read_stacks(struct kaa_file *f)
{
	const json_t *stacks = json_in_object(&f->in, f->root, "", "stacks");
	const json_t *functions = json_in_list(&f->in, f->root, "", "functions");
	const json_t *parents = json_in_list(&f->in, stacks, "stacks", "parent");
	const json_t *chosen = json_in_list(&f->in, stacks, "stacks", "function");
	const json_t *lines = json_in_list(&f->in, stacks, "stacks", "line");
	size_t count = json_array_size(parents);
	struct error *error = NULL;

	f->nodes = calloc(count + 1, sizeof(*f->nodes));
	if (!f->nodes)
		return error_no_memory();
	for (size_t i = 0; !error && !f->in.error && i < count; i++) {
		uint32_t parent = json_in_index(&f->in, parents, "stacks.parent",
						i, i, true);
		uint32_t function =
			json_in_index(&f->in, chosen, "stacks.function", i,
				      json_array_size(functions), false);

		if (!f->in.error)
			error = read_node(
				f, json_array_get(functions, function),
				parent == UINT32_MAX ? PROFILE_NONE :
						       f->nodes[parent],
				json_in_number(json_array_get(lines, i), 1),
				&f->nodes[i]);
	}
	return error;
}

/* The numbers that a column of samples has from its table. */
static uint32_t column(struct kaa_file *f, const json_t *samples,
		       const char *key, const char *table, size_t i)
{
	const json_t *of = json_object_get(f->root, table);
	size_t count = json_array_size(
		json_is_object(of) ? json_object_get(of, "parent") : of);

	return json_in_index(&f->in, json_object_get(samples, key), key, i,
			     count, false);
}

static struct error *read_samples(struct kaa_file *f)
{
	const json_t *samples = json_in_object(&f->in, f->root, "", "samples");
	const json_t *stacks = json_in_list(&f->in, samples, "samples", "stack");
	const json_t *times = json_in_list(&f->in, samples, "samples", "time");
	const json_t *weights =
		json_in_list(&f->in, samples, "samples", "weight");
	struct error *error = NULL;

	for (size_t i = 0; !error && i < json_array_size(stacks); i++) {
		uint32_t event = column(f, samples, "event", "events", i);
		uint32_t thread = column(f, samples, "thread", "threads", i);
		uint32_t stack = column(f, samples, "stack", "stacks", i);

		if (f->in.error)
			break;
		error = import_sample(
			f->model,
			&(struct import_sample){
				.time = json_in_number(
					json_array_get(times, i), 1),
				.weight = json_in_number(
					json_array_get(weights, i), 1),
				.count = 1,
				.node = f->nodes[stack],
				.thread = f->threads[thread],
				.event = f->events[event] });
	}
	return error;
}

static struct error *read_recording(struct kaa_file *f)
{
	const json_t *row = json_array_get(
		json_object_get(f->root, "recordings"), 0);
	const char *command = member(row, "command");
	const char *hostname = member(row, "hostname");
	struct error *error = NULL;

	f->model->has_times = true;
	f->model->says_python_only = true;
	f->model->start = json_in_number(json_object_get(f->root, "start"), 1);
	if (*command)
		error = texts_intern(&f->model->texts, command,
				     &f->model->command);
	if (!error && *hostname)
		error = texts_intern(&f->model->texts, hostname,
				     &f->model->hostname);
	return error;
}

struct error *import_json(const struct import_input *input,
			  struct import_model *ret)
{
	struct kaa_file f = { .in = { input->path },
			      .root = input->json,
			      .model = ret };
	struct error *error = read_recording(&f);

	if (json_integer_value(json_object_get(f.root, "version")) != 1)
		json_in_fail(&f.in, "kaa reads version 1 of its JSON");
	if (!error && !f.in.error)
		error = read_events(&f);
	if (!error && !f.in.error)
		error = read_threads(&f);
	if (!error && !f.in.error)
		error = read_stacks(&f);
	if (!error && !f.in.error)
		error = read_samples(&f);
	free(f.events);
	free(f.threads);
	free(f.nodes);
	if (error)
		error_destroy(f.in.error);
	return error ? error : f.in.error;
}
