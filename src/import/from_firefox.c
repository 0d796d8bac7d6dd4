// SPDX-License-Identifier: GPL-2.0-only
/*
 * The processed format of the Firefox Profiler: tables of columns. They are shared
 * by all threads from version 56 or so on, and each thread's own before; what else
 * changed and is read here: docs-developer/CHANGELOG-formats.md of
 * github.com/firefox-devtools/profiler. What Firefox itself hands out, the "gecko"
 * format, is another one.
 */
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "import/import_format.h"
#include "import/json_in.h"

/* The tables that a thread's stacks are in. */
struct tables {
	/* The object that has them. */
	const json_t *object;
	size_t stack_count;
	/* Of each row of stackTable its node. */
	uint32_t *nodes;
	/* Of each row of frameTable its place, or PROFILE_NONE. */
	uint32_t *places;
};

struct firefox {
	struct json_in in;
	const json_t *root;
	struct import_model *model;
	struct tables shared;
	size_t number;
	/* Names of threads end in those of events. */
	bool has_events;
};

bool import_is_firefox(const struct import_input *input)
{
	const json_t *meta = json_object_get(input->json, "meta");

	return json_object_get(meta, "preprocessedProfileVersion") &&
	       json_is_array(json_object_get(input->json, "threads"));
}

static void tables_deinit(struct tables *t)
{
	free(t->nodes);
	free(t->places);
}

/* --- functions --- */

static const json_t *cell(const json_t *object, const char *table,
			  const char *column, size_t row)
{
	return json_array_get(json_object_get(json_object_get(object, table),
					      column),
			      row);
}

static const char *string_at(const struct tables *t, const json_t *index)
{
	const json_t *strings = json_object_get(t->object, "stringArray");

	if (!strings)
		strings = json_object_get(t->object, "stringTable");
	return json_is_integer(index) && json_integer_value(index) >= 0 ?
		       json_in_text(json_array_get(
			       strings, (size_t)json_integer_value(index))) :
		       "";
}

static size_t row_number(const json_t *index)
{
	return json_is_integer(index) && json_integer_value(index) >= 0 ?
		       (size_t)json_integer_value(index) :
		       SIZE_MAX;
}

/* The source, or the library that holds the function. */
static const char *file_of(const struct firefox *f, const struct tables *t,
			   size_t function)
{
	size_t source = row_number(cell(t->object, "funcTable", "source",
					function));
	size_t resource = row_number(cell(t->object, "funcTable", "resource",
					  function));
	const char *file =
		string_at(t, cell(t->object, "sources", "filename", source));
	size_t lib;

	if (!*file)
		file = string_at(t, cell(t->object, "funcTable", "fileName",
					 function));
	if (*file)
		return file;
	lib = row_number(cell(t->object, "resourceTable", "lib", resource));
	file = json_in_text(json_object_get(
		json_array_get(json_object_get(f->root, "libs"), lib), "path"));
	return *file ? file :
		       string_at(t, cell(t->object, "resourceTable", "name",
					 resource));
}

/* As kaa has them; of other files, what the step itself tells. */
static uint32_t kind_of(const struct firefox *f, const struct tables *t,
			size_t frame)
{
	const json_t *meta = json_object_get(f->root, "meta");
	size_t number = row_number(cell(t->object, "frameTable", "category",
					frame));
	const char *name = json_in_text(json_object_get(
		json_array_get(json_object_get(meta, "categories"), number),
		"name"));

	return !strcmp(name, "Python") ? PROFILE_FRAME_PYTHON :
	       !strcmp(name, "Kernel") ? PROFILE_FRAME_KERNEL :
	       !strcmp(name, "Native") ? PROFILE_FRAME_NATIVE :
					 IMPORT_GUESS;
}

static struct error *read_place(struct firefox *f, const struct tables *t,
				size_t frame, uint32_t *ret)
{
	size_t function =
		row_number(cell(t->object, "frameTable", "func", frame));
	const char *name =
		string_at(t, cell(t->object, "funcTable", "name", function));
	struct import_step step = {
		.file = file_of(f, t, function),
		.name = name,
		.def_line = (uint32_t)json_in_number(
			cell(t->object, "funcTable", "lineNumber", function), 1),
		.line = (uint32_t)json_in_number(
			cell(t->object, "frameTable", "line", frame), 1),
		.kind = kind_of(f, t, frame),
	};
	_cleanup_strbuf_ struct strbuf qualname = STRBUF_INIT;
	const char *colon = NULL;

	/* Names of perf maps, as samply has them. */
	if (!strncmp(name, "py::", 4))
		colon = memchr(name + 4, ':',
			       strnlen(name + 4, IMPORT_TEXT_MAX));
	if (colon) {
		strbuf_append(&qualname, name + 4, (size_t)(colon - name) - 4);
		step.name = qualname.data;
		step.file = colon + 1;
		step.kind = PROFILE_FRAME_PYTHON;
	}
	if (qualname.failed)
		return error_no_memory();
	return import_place(f->model, &step, ret);
}

/* --- stacks --- */

/* The row of the caller, or UINT32_MAX; a caller stands before. */
static uint32_t parent_of(struct firefox *f, const json_t *table, size_t i)
{
	const json_t *offsets = json_object_get(table, "prefixOffset");
	json_int_t offset;

	if (!offsets)
		return json_in_index(&f->in, json_object_get(table, "prefix"),
				     "stackTable.prefix", i, i, true);
	offset = json_integer_value(json_array_get(offsets, i));
	if (offset < 0 || (uint64_t)offset > i)
		json_in_fail(&f->in, "stackTable.prefixOffset[%zu] leads out of the table",
			     i);
	return offset > 0 && (uint64_t)offset <= i ?
		       (uint32_t)(i - (uint64_t)offset) :
		       UINT32_MAX;
}

static struct error *read_stack(struct firefox *f, struct tables *t,
				const json_t *table, size_t frames, size_t i)
{
	uint32_t parent = parent_of(f, table, i);
	uint32_t frame = json_in_index(&f->in, json_object_get(table, "frame"),
				       "stackTable.frame", i, frames, false);
	struct error *error = NULL;

	if (f->in.error)
		return NULL;
	if (t->places[frame] == PROFILE_NONE)
		error = read_place(f, t, frame, &t->places[frame]);
	return error ? error :
		       import_node(f->model,
				   parent == UINT32_MAX ? PROFILE_NONE :
							  t->nodes[parent],
				   t->places[frame], &t->nodes[i]);
}

static struct error *read_tables(struct firefox *f, struct tables *t,
				 const json_t *object)
{
	const json_t *stacks = json_in_object(&f->in, object, "", "stackTable");
	const json_t *frames = json_in_object(&f->in, object, "", "frameTable");
	size_t frame_count = json_array_size(
		json_in_list(&f->in, frames, "frameTable", "func"));
	struct error *error = NULL;

	t->object = object;
	t->stack_count = json_array_size(
		json_in_list(&f->in, stacks, "stackTable", "frame"));
	t->nodes = calloc(t->stack_count + 1, sizeof(*t->nodes));
	t->places = malloc((frame_count + 1) * sizeof(*t->places));
	if (!t->nodes || !t->places)
		return error_no_memory();
	memset(t->places, 0xff, (frame_count + 1) * sizeof(*t->places));
	for (size_t i = 0; !error && !f->in.error && i < t->stack_count; i++)
		error = read_stack(f, t, stacks, frame_count, i);
	return error;
}

/* --- a thread --- */

/* "1234", 1234, and "1234.1" of a second one of that number. */
static int64_t number_of(const json_t *value)
{
	return json_is_string(value) ?
		       strtoll(json_string_value(value), NULL, 10) :
		       (int64_t)json_number_value(value);
}

/* Where events are said kaa's name is "thread [event]". */
static void split_name(const char *name, bool is_kaa, struct strbuf *thread,
		       struct strbuf *event)
{
	const char *bracket = strrchr(name, '[');
	size_t n = strlen(name);

	if (is_kaa && bracket > name + 1 && bracket[-1] == ' ' &&
	    name[n - 1] == ']') {
		strbuf_append(thread, name, (size_t)(bracket - name) - 1);
		strbuf_append(event, bracket + 1,
			      n - (size_t)(bracket - name) - 2);
	} else {
		strbuf_puts(thread, name);
	}
}

static bool is_of_kaa(const struct firefox *f)
{
	const json_t *meta = json_object_get(f->root, "meta");

	return !strcmp(json_in_text(json_object_get(meta, "importedFrom")),
		       "kaa");
}

/* Only then do the names of all threads end in one. */
static bool has_event_names(const struct firefox *f)
{
	const json_t *thread;
	size_t i;

	if (!is_of_kaa(f))
		return false;
	json_array_foreach((json_t *)json_object_get(f->root, "threads"), i,
			   thread) {
		const char *name = json_in_text(json_object_get(thread, "name"));
		size_t n = strlen(name);

		if (!n || name[n - 1] != ']')
			return false;
	}
	return true;
}

static struct error *find_thread(struct firefox *f, const json_t *thread,
				 struct import_sample *sample,
				 const json_t *samples)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT, event = STRBUF_INIT;
	const char *type = json_in_text(json_object_get(samples, "weightType"));
	bool is_time = !strcmp(type, "tracing-ms");
	struct error *error;

	split_name(json_in_text(json_object_get(thread, "name")),
		   f->has_events, &name, &event);
	if (!event.len)
		strbuf_puts(&event,
			    is_time ? (is_of_kaa(f) ? "cpu" : "time") :
			    !strcmp(type, "bytes") ? "bytes" :
						     "samples");
	if (name.failed || event.failed)
		return error_no_memory();
	error = import_event(f->model, event.data,
			     is_time		    ? EVENT_NANOSECONDS :
			     !strcmp(type, "bytes") ? EVENT_BYTES :
						      EVENT_COUNT,
			     &sample->event);
	if (error)
		return error;
	return import_thread(
		f->model, number_of(json_object_get(thread, "pid")),
		number_of(json_object_get(thread, "tid")), name.data,
		json_in_text(json_object_get(thread, "processName")),
		&sample->thread);
}

static uint64_t weight_of(const json_t *weights, size_t i, bool is_time)
{
	const json_t *weight = json_array_get(weights, i);

	if (!json_is_array(weights))
		return 1;
	return json_in_number(weight, is_time ? 1000000 : 1);
}

/* Of a thread all samples have a place in time, or each the time since the last. */
static uint64_t time_of(const json_t *samples, size_t i, uint64_t last)
{
	const json_t *times = json_object_get(samples, "time");

	if (json_is_array(times))
		return json_in_number(json_array_get(times, i), 1000000);
	return last + json_in_number(json_array_get(json_object_get(samples,
								    "timeDeltas"),
						    i),
				     1000000);
}

static struct error *read_samples(struct firefox *f, const struct tables *t,
				  const json_t *thread, const json_t *samples)
{
	const json_t *stacks = json_in_list(&f->in, samples, "samples", "stack");
	const json_t *weights = json_object_get(samples, "weight");
	bool is_time = !strcmp(json_in_text(json_object_get(samples,
							    "weightType")),
			       "tracing-ms");
	struct import_sample sample = { .count = 1 };
	struct error *error = find_thread(f, thread, &sample, samples);

	for (size_t i = 0; !error && !f->in.error && i < json_array_size(stacks);
	     i++) {
		uint32_t stack = json_in_index(&f->in, stacks, "samples.stack", i,
					       t->stack_count, true);

		sample.node = stack == UINT32_MAX ? PROFILE_NONE :
						    t->nodes[stack];
		sample.time = time_of(samples, i, sample.time);
		sample.weight = weight_of(weights, i, is_time);
		if (!f->in.error)
			error = import_sample(f->model, &sample);
	}
	return error;
}

static struct error *read_thread(struct firefox *f, const json_t *thread)
{
	const json_t *samples = json_in_object(&f->in, thread, "a thread", "samples");
	struct tables own = {};
	const struct tables *tables = &f->shared;
	struct error *error = NULL;

	if (!tables->object) {
		error = read_tables(f, &own, thread);
		tables = &own;
	}
	if (!error && !f->in.error)
		error = read_samples(f, tables, thread, samples);
	tables_deinit(&own);
	return error;
}

/* --- the file --- */

static struct error *read_meta(struct firefox *f)
{
	const json_t *meta = json_in_object(&f->in, f->root, "", "meta");
	const char *product = json_in_text(json_object_get(meta, "product"));
	uint64_t start = json_in_number(json_object_get(meta, "startTime"),
					1000000);

	f->model->has_times = true;
	f->model->start = start < IMPORT_SUM_MAX ? start : 0;
	if (!*product)
		return NULL;
	return texts_intern(&f->model->texts, product, &f->model->command);
}

struct error *import_firefox(const struct import_input *input,
			     struct import_model *ret)
{
	struct firefox f = { .in = { input->path },
			     .root = input->json,
			     .model = ret };
	const json_t *threads = json_in_list(&f.in, f.root, "", "threads");
	const json_t *shared = json_object_get(f.root, "shared");
	struct error *error = read_meta(&f);

	f.has_events = has_event_names(&f);
	if (!error && json_is_object(json_object_get(shared, "stackTable")))
		error = read_tables(&f, &f.shared, shared);
	for (; !error && !f.in.error && f.number < json_array_size(threads);
	     f.number++)
		error = read_thread(&f, json_array_get(threads, f.number));
	tables_deinit(&f.shared);
	if (error)
		error_destroy(f.in.error);
	return error ? error : f.in.error;
}
